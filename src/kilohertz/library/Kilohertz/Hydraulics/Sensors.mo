within Kilohertz.Hydraulics;
package Sensors "What is measured, without any effect on it"
  model Pressure "Pressure at a port"
    Port a "Where it is measured" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Blocks.RealOutput p(unit="Pa") "Pressure" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    p = a.p;
    a.q = 0;
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, lineColor={0,80,160}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Line(points={{0,0},{25,35}}, color={0,0,0}), Line(points={{-90,0},{-60,0}}, color={0,80,160}), Line(points={{60,0},{100,0}}, color={0,0,127}), Text(extent={{-90,-15},{90,-45}}, textString="p"), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>p = a.p</code>.</p></html>"));
  end Pressure;

  model Flow "Flow through a line"
    extends TwoPorts;
    Blocks.RealOutput y(unit="m3/s") "Flow from a to b" annotation(Placement(transformation(extent={{-10,-10},{10,10}}, origin={0,-110}, rotation=-90)));
  equation
    dp = 0;
    y = q;
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, lineColor={0,80,160}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{90,0}}, color={0,80,160}), Line(points={{0,-60},{0,-100}}, color={0,0,127}), Text(extent={{-90,-15},{90,-45}}, textString="q")}),
      Documentation(info="<html><p><code>y = q</code>; no pressure is lost.</p></html>"));
  end Flow;
end Sensors;
