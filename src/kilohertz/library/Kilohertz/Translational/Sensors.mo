within Kilohertz.Translational;
package Sensors "What is measured at a rod, without any effect on it"
  partial model AtOne "One rod looked at"
    Flange a "The rod" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    annotation(Icon(graphics={Rectangle(extent={{-60,40},{60,-40}}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-60,0}}, color={0,127,0}), Line(points={{60,0},{100,0}}, color={0,0,127}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end AtOne;

  model Position "Position of a rod"
    extends AtOne;
    Blocks.RealOutput s(unit="m") "Position" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    s = a.s;
    a.f = 0;
    annotation(Icon(graphics={Text(extent={{-40,20},{40,-20}}, textString="s")}), Documentation(info="<html><p><code>s = a.s</code>.</p></html>"));
  end Position;

  model Speed "Speed of a rod"
    extends AtOne;
    Blocks.RealOutput v(unit="m/s") "Speed" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    v = der(a.s);
    a.f = 0;
    annotation(Icon(graphics={Text(extent={{-40,20},{40,-20}}, textString="v")}), Documentation(info="<html><p><code>v = der(a.s)</code>.</p></html>"));
  end Speed;

  model Force "Force in a rod"
    extends TwoFlanges;
    Blocks.RealOutput f(unit="N") "Force from a to b" annotation(Placement(transformation(extent={{-10,-10},{10,10}}, origin={0,-110}, rotation=-90)));
  equation
    a.s = b.s;
    a.f + b.f = 0;
    f = a.f;
    annotation(Icon(graphics={Rectangle(extent={{-60,40},{60,-40}}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{90,0}}, color={0,127,0}), Text(extent={{-40,-5},{40,-35}}, textString="f"), Line(points={{0,-40},{0,-100}}, color={0,0,127})}), Documentation(info="<html><p><code>f = a.f</code>.</p></html>"));
  end Force;
end Sensors;
