within Kilohertz.MultiBody;
model Fixed "A place that stands still in the world"
  Frame b "The place" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
  parameter Units.Length r[3] = {0, 0, 0} "Position in the world";
equation
  Connections.root(b.R);
  b.r_0 = r;
  b.R = Frames.aligned();
  annotation(Icon(graphics={Line(points={{90,0},{20,0},{20,-60}}), Line(points={{-40,-60},{80,-60}}), Line(points={{-40,-60},{-60,-85}}), Line(points={{0,-60},{-20,-85}}), Line(points={{40,-60},{20,-85}}), Line(points={{80,-60},{60,-85}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p><code>b.r_0 = r</code>, oriented like the world.</p></html>"));
end Fixed;
