within Kilohertz.Hydraulics;
model IncompressibleCylinder "A differential cylinder whose fluid gives way to nothing"
  Port a "At the piston side: pressure pushes out" annotation(Placement(transformation(extent={{-80,-110},{-60,-90}})));
  Port b "At the rod side: pressure pulls in" annotation(Placement(transformation(extent={{30,-110},{50,-90}})));
  Translational.Flange flange "End of the rod" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  parameter Units.Length d_piston = 0.063 "Diameter of the piston";
  parameter Units.Length d_rod = 0.045 "Diameter of the rod";
  parameter Units.HydraulicConductance G = 0 "Leakage past the piston";
  final parameter Units.Area A_a = Math.pi/4*d_piston^2 "Area of the piston side";
  final parameter Units.Area A_b = Math.pi/4*(d_piston^2 - d_rod^2) "Area of the rod side";
  Units.Length s "How far the rod is out";
  Units.Velocity v "Velocity of the rod";
  Units.Force f "Force of the fluid onto the rod";
  Units.VolumeFlow q_leak "From the piston side to the rod side";
equation
  flange.s = s;
  v = der(s);
  f = A_a*a.p - A_b*b.p;
  flange.f = -f;
  q_leak = G*(a.p - b.p);
  a.q = A_a*v + q_leak;
  b.q = -A_b*v - q_leak;
  annotation(Icon(graphics={Rectangle(extent={{-90,40},{60,-40}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Rectangle(extent={{-30,40},{-15,-40}}, fillColor={150,150,150}, fillPattern=FillPattern.Solid), Rectangle(extent={{-15,8},{95,-8}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Line(points={{-70,-90},{-70,-40}}, color={0,80,160}), Line(points={{40,-90},{40,-40}}, color={0,80,160}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p><code>a.q = A_a v + q_leak</code>, <code>b.q = -A_b v - q_leak</code>: speed and flow are one, and the pressures follow from what drives the flow. No pressure is a state.</p></html>"));
end IncompressibleCylinder;
