within Kilohertz.MultiBody;
model World "The frame that stands still, and gravity: every model has one, `inner MultiBody.World world`"
  Frame b "The world" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
  parameter Units.Acceleration g = 9.81 "Acceleration of gravity; 0: none";
  parameter Real n[3] = {0, -1, 0} "Direction of gravity" annotation(Evaluate=true);
  final parameter Units.Acceleration gravity[3] = g*Math.unit(n) "Gravity as a vector";
equation
  Connections.root(b.R);
  b.r_0 = zeros(3);
  b.R = Frames.aligned();
  annotation(defaultComponentName="world", defaultComponentPrefixes="inner",
    Icon(graphics={Line(points={{-80,-80},{-80,60},{-88,40}}), Line(points={{-80,60},{-72,40}}), Line(points={{-80,-80},{80,-80},{60,-72}}), Line(points={{80,-80},{60,-88}}), Line(points={{0,60},{0,-20},{-10,5}}, color={0,127,0}), Line(points={{0,-20},{10,5}}, color={0,127,0}), Text(extent={{20,40},{80,0}}, textString="g=%g", textColor={0,127,0}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p>Position zero, no turn. Gravity is the same everywhere: <code>g</code> along <code>n</code>, by default against y.</p></html>"));
end World;
