within Kilohertz.Vehicles;
model Drag "Resistance of the air"
  MultiBody.Frame a "Where it acts" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
  parameter Units.Area cdA = 0.66 "Drag coefficient times area";
  parameter Units.Density rho = 1.2 "Density of the air";
  Units.Velocity v[3] "Speed, in components of a";
  Units.Velocity v_x = v[1] "Forward";
  Units.Force F "Force forward";
equation
  v = MultiBody.Frames.toLocal(a.R, der(a.r_0));
  F = -rho/2*cdA*v_x*noEvent(abs(v_x));
  a.f = {-F, 0, 0};
  a.t = zeros(3);
  annotation(Icon(graphics={Line(points={{90,40},{0,40},{-60,20},{-90,20}}, color={0,127,200}, smooth=Smooth.Bezier), Line(points={{90,0},{-90,0}}, color={0,127,200}), Line(points={{90,-40},{0,-40},{-60,-20},{-90,-20}}, color={0,127,200}, smooth=Smooth.Bezier), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p><code>F = -rho/2 cdA v_x |v_x|</code> along the x axis; the air stands still in the world.</p></html>"));
end Drag;
