within Kilohertz.Hydraulics;
model AiryVolume "A chamber whose fluid carries a little air: soft at low pressure"
  Port a "Into the chamber" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
  parameter Units.Volume V = 1e-4 "Volume";
  parameter Units.BulkModulus E = 1.4e9 "Bulk modulus of the fluid without air";
  parameter Real air(min=0, max=0.5) = 0.01 "Part of the volume that is air at p_0";
  parameter Units.Pressure p_0 = 1e5 "Pressure at which the air is given";
  parameter Real n(min=1) = 1.4 "Polytropic exponent of the air";
  Units.Pressure p(start=5e6, nominal=1e6, stateSelect=StateSelect.prefer) "Pressure, absolute";
  Units.BulkModulus E_mix "Bulk modulus of the mixture";
protected
  Real bubbles "Volume of the air over that of the fluid at this pressure";
equation
  a.p = p;
  bubbles = air/(1 - air)*(p_0/p)^(1/n);
  E_mix = (1 + bubbles)/(1/E + bubbles/(n*p));
  der(p) = E_mix/V*a.q;
  annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, lineColor={0,80,160}, fillColor={190,215,240}, fillPattern=FillPattern.Solid), Ellipse(extent={{-30,30},{-10,10}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Ellipse(extent={{10,0},{25,-15}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-60,0}}, color={0,80,160}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p><code>1/E_mix</code> is the mean of <code>1/E</code> of the fluid and <code>1/(n p)</code> of the air, by their volumes; the air shrinks by <code>(p_0/p)^(1/n)</code>.</p></html>"));
end AiryVolume;
