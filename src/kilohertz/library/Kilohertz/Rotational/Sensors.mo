within Kilohertz.Rotational;
package Sensors "What is measured at a shaft, without any effect on it"
  partial model AtOne "One shaft looked at"
    Flange a "The shaft" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-60,0}}), Line(points={{0,0},{25,35}}), Line(points={{60,0},{100,0}}, color={0,0,127}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end AtOne;

  partial model Between "A shaft cut and joined again"
    extends TwoFlanges;
  equation
    a.phi = b.phi;
    a.tau + b.tau = 0;
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{90,0}}), Line(points={{0,0},{25,35}})}));
  end Between;

  model Angle "Angle of a shaft"
    extends AtOne;
    Blocks.RealOutput phi(unit="rad") "Angle" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    phi = a.phi;
    a.tau = 0;
    annotation(Icon(graphics={Text(extent={{-40,-20},{40,-50}}, textString="phi")}), Documentation(info="<html><p><code>phi = a.phi</code>.</p></html>"));
  end Angle;

  model Speed "Speed of a shaft"
    extends AtOne;
    Blocks.RealOutput w(unit="rad/s") "Speed" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    w = der(a.phi);
    a.tau = 0;
    annotation(Icon(graphics={Text(extent={{-40,-20},{40,-50}}, textString="w")}), Documentation(info="<html><p><code>w = der(a.phi)</code>.</p></html>"));
  end Speed;

  model Torque "Torque in a shaft"
    extends Between;
    Blocks.RealOutput tau(unit="N.m") "Torque from a to b" annotation(Placement(transformation(extent={{-10,-10},{10,10}}, origin={0,-110}, rotation=-90)));
  equation
    tau = a.tau;
    annotation(Icon(graphics={Text(extent={{-40,-20},{40,-50}}, textString="tau"), Line(points={{0,-60},{0,-100}}, color={0,0,127})}), Documentation(info="<html><p><code>tau = a.tau</code>.</p></html>"));
  end Torque;

  model Power "Power through a shaft"
    extends Between;
    Blocks.RealOutput P(unit="W") "Power from a to b" annotation(Placement(transformation(extent={{-10,-10},{10,10}}, origin={0,-110}, rotation=-90)));
  equation
    P = a.tau*der(a.phi);
    annotation(Icon(graphics={Text(extent={{-40,-20},{40,-50}}, textString="P"), Line(points={{0,-60},{0,-100}}, color={0,0,127})}), Documentation(info="<html><p><code>P = a.tau der(a.phi)</code>.</p></html>"));
  end Power;
end Sensors;
