within Kilohertz.Vehicles;
package Driveline "Between gearbox and wheels"
  model Differential "Final drive and open differential"
    Rotational.Flange a "From the gearbox" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Rotational.Flange left "To the left wheel" annotation(Placement(transformation(extent={{-10,90},{10,110}})));
    Rotational.Flange right "To the right wheel" annotation(Placement(transformation(extent={{-10,-110},{10,-90}})));
    MultiBody.Frame housing "On the body" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    parameter Real ratio = 3.5 "Turns of a for one of the wheels";
  equation
    a.phi = ratio*(left.phi + right.phi)/2;
    left.tau = right.tau;
    left.tau + right.tau + ratio*a.tau = 0;
    housing.f = zeros(3);
    housing.t = {-a.tau, -left.tau - right.tau, 0};
    annotation(Icon(graphics={Ellipse(extent={{-50,50},{50,-50}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-20,0}}), Line(points={{0,90},{0,30}}), Line(points={{0,-90},{0,-30}}), Line(points={{-20,30},{-20,-30}}), Line(points={{-15,30},{15,30}}), Line(points={{-15,-30},{15,-30}}), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>Both wheels have the same torque, and the gearbox turns with their mean: <code>a.phi = ratio (left.phi + right.phi)/2</code>. What the shafts turn with, the housing holds: about x for the shaft from the gearbox,
        about y for the wheels.</p></html>"));
  end Differential;
end Driveline;
