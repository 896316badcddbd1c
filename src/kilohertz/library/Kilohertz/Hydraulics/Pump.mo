within Kilohertz.Hydraulics;
model Pump "Moves a volume for each turn of its shaft"
  Port a "Suction" annotation(Placement(transformation(extent={{-10,-110},{10,-90}})));
  Port b "Pressure side" annotation(Placement(transformation(extent={{-10,90},{10,110}})));
  Rotational.Flange shaft "Drives it" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
  parameter Units.Volume D = 1e-5 "Displacement for a turn";
  parameter Units.HydraulicConductance G = 1e-13 "Leakage back";
  Units.AngularVelocity w "Speed of the shaft";
  Units.Pressure dp "Rise of the pressure";
  Units.VolumeFlow q "Flow out of port b";
equation
  w = der(shaft.phi);
  dp = b.p - a.p;
  q = D/(2*Math.pi)*w - G*dp;
  a.q = q;
  b.q = -q;
  shaft.tau = D/(2*Math.pi)*dp;
  annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, lineColor={0,80,160}, fillColor={230,240,250}, fillPattern=FillPattern.Solid), Polygon(points={{0,58},{-18,30},{18,30},{0,58}}, lineColor={0,80,160}, fillColor={0,80,160}, fillPattern=FillPattern.Solid), Line(points={{0,60},{0,90}}, color={0,80,160}), Line(points={{0,-60},{0,-90}}, color={0,80,160}), Line(points={{-90,0},{-60,0}}, color={0,0,0}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p><code>q = D w/(2 pi) - G dp</code>, <code>tau = D dp/(2 pi)</code>; turned by the fluid, it is a motor.</p></html>"));
end Pump;
