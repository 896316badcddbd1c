within Kilohertz.Hydraulics;
model IncompressibleActuator "A differential cylinder between two flanges, whose fluid gives way to nothing"
  extends Translational.TwoFlanges;
  Port p "At the piston side: pressure pushes b away from a" annotation(Placement(transformation(extent={{-80,-110},{-60,-90}})));
  Port t "At the rod side: pressure pulls b towards a" annotation(Placement(transformation(extent={{30,-110},{50,-90}})));
  parameter Units.Length d_piston = 0.2 "Diameter of the piston";
  parameter Units.Length d_rod = 0.14 "Diameter of the rod";
  parameter Units.Length stroke = 1 "From one end to the other";
  parameter Units.HydraulicConductance G = 0 "Leakage past the piston";
  parameter Units.TranslationalStiffness c_stop = 1e8 "Stiffness of the end stops";
  parameter Units.TranslationalDamping d_stop = 1e6 "Damping of the end stops";
  final parameter Units.Area A_p = Math.pi/4*d_piston^2 "Area of the piston side";
  final parameter Units.Area A_t = Math.pi/4*(d_piston^2 - d_rod^2) "Area of the rod side";
  Units.Length s "How far the rod is out";
  Units.Velocity v "Velocity of the rod against the housing";
  Units.Force f_fluid "Force of the fluid";
  Units.Force f_stop "Force of the end stops";
  Units.VolumeFlow q_leak "From the piston side to the rod side";
equation
  s = b.s - a.s;
  v = der(s);
  f_fluid = A_p*p.p - A_t*t.p;
  f_stop = if s > stroke then max(c_stop*(s - stroke) + d_stop*v, 0) elseif s < 0 then min(c_stop*s + d_stop*v, 0) else 0;
  b.f = f_stop - f_fluid;
  a.f = -b.f;
  q_leak = G*(p.p - t.p);
  p.q = A_p*v + q_leak;
  t.q = -A_t*v - q_leak;
  annotation(Icon(graphics={Rectangle(extent={{-90,40},{60,-40}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Rectangle(extent={{-30,40},{-15,-40}}, fillColor={150,150,150}, fillPattern=FillPattern.Solid), Rectangle(extent={{-15,8},{95,-8}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Line(points={{-70,-90},{-70,-40}}, color={0,80,160}), Line(points={{40,-90},{40,-40}}, color={0,80,160})}),
    Documentation(info="<html><p>As <code>IncompressibleCylinder</code>, with a housing that moves and with end stops at <code>0</code> and <code>stroke</code>.</p></html>"));
end IncompressibleActuator;
