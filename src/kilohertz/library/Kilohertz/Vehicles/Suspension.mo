within Kilohertz.Vehicles;
package Suspension "Springs, dampers and stops of axles"
  model Strut "Spring, damper and stops side by side"
    extends Translational.Compliance;
    parameter Real ratio(min=1e-3) = 1 "Travel of spring and damper over that of the flanges";
    parameter Units.Length s_design = 0 "Distance of b from a in the design position";
    parameter Units.Force F_design = 0 "Force of the spring in the design position: pushes the flanges apart";
    parameter Units.TranslationalStiffness c = 29e3 "Stiffness of the spring";
    parameter Units.Velocity v_points[:] = {-1.5, -0.6, -0.3, -0.1, 0, 0.1, 0.3, 0.6, 1.5} "Rising speeds of the damper; positive: it is pressed together";
    parameter Units.Force F_points[size(v_points, 1)] = {-2400, -1250, -720, -260, 0, 130, 360, 600, 1150} "Its forces there";
    parameter Units.Length bump = 0.05 "Travel at which the stop pushes";
    parameter Units.Length rebound = 0.07 "Travel apart at which the stop holds back";
    parameter Real c_stop(unit="N/m2") = 4e6 "Force of a stop over the square of how far it is pressed in";
    Units.Length travel = s_design - s_rel "How far the flanges are nearer than in the design position";
    Units.Force F_spring "Force of the spring";
    Units.Force F_damper "Force of the damper";
    Units.Force F_stop "Force of the stops, at the flanges";
  protected
    Real curve[2] "Force and slope of the damper";
  equation
    assert(Math.rising(v_points), "the speeds of a damper must rise: v_points");
    F_spring = F_design + c*ratio*travel;
    curve = Math.smooth(v_points, F_points, -ratio*v_rel);
    F_damper = curve[1];
    F_stop = c_stop*noEvent(max(0, travel - bump)^2 - max(0, -rebound - travel)^2);
    f = -ratio*(F_spring + F_damper) - F_stop;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0},{-60,40},{-45,40},{-35,60},{-15,20},{5,60},{25,20},{45,60},{55,40},{60,40},{60,0},{90,0}}, color={0,127,0}), Line(points={{-60,0},{-60,-40},{-20,-40}}, color={0,127,0}), Line(points={{20,-20},{-20,-20},{-20,-60},{20,-60}}, color={0,127,0}), Line(points={{5,-40},{60,-40},{60,0}}, color={0,127,0}), Line(points={{5,-25},{5,-55}}, color={0,127,0}), Polygon(points={{50,-60},{70,-80},{30,-80},{50,-60}}, lineColor={60,60,60}, fillColor={60,60,60}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>Pushes its flanges apart with <code>ratio (F_design + c ratio travel + F_d(ratio der(travel)))</code>, where <code>F_d</code> is a smooth curve through the points of the damper,
        and with the stops <code>c_stop (travel - bump)^2</code> beyond the free travel. No events.</p></html>"));
  end Strut;
end Suspension;
