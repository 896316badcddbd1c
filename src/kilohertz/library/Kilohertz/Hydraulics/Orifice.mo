within Kilohertz.Hydraulics;
model Orifice "A hole: flow with the root of the pressure drop"
  extends TwoPorts;
  parameter Units.Area A = 1e-6 "Area";
  parameter Real C(min=0) = 0.7 "Discharge coefficient";
  parameter Units.Density rho = 870 "Density of the fluid";
  parameter Units.Pressure dp_turn = 1e4 "Below about this drop the flow is laminar";
equation
  q = C*A*sqrt(2/rho)*rootOf(dp, dp_turn);
  annotation(Icon(graphics={Line(points={{-90,0},{90,0}}, color={0,80,160}), Line(points={{-30,40},{0,10},{30,40}}, color={0,80,160}, smooth=Smooth.Bezier), Line(points={{-30,-40},{0,-10},{30,-40}}, color={0,80,160}, smooth=Smooth.Bezier)}),
    Documentation(info="<html><p><code>q = C A sqrt(2 dp/rho)</code>, with a finite slope at zero.</p></html>"));
end Orifice;
