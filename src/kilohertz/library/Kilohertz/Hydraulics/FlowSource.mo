within Kilohertz.Hydraulics;
model FlowSource "A flow given by a signal"
  Port b "Where it comes out" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  Blocks.RealInput q(unit="m3/s") "Flow" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
equation
  b.q = -q;
  annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, lineColor={0,80,160}, fillColor={230,240,250}, fillPattern=FillPattern.Solid), Line(points={{-40,0},{40,0},{20,12}}, color={0,80,160}), Line(points={{60,0},{90,0}}, color={0,80,160}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p><code>b.q = -q</code>, whatever the pressure.</p></html>"));
end FlowSource;
