within Kilohertz.Hydraulics;
model Accumulator "A bladder of gas that stores fluid under pressure"
  Port a "Fluid side" annotation(Placement(transformation(extent={{-10,-110},{10,-90}})));
  parameter Units.Volume V_0 = 1e-3 "Volume of the gas before it is filled";
  parameter Units.Pressure p_0 = 5e6 "Pressure of the gas before it is filled, absolute";
  parameter Real n(min=1) = 1.3 "Polytropic exponent";
  Units.Volume V(start=0, fixed=true) "Fluid in it";
  Units.Pressure p "Pressure";
equation
  a.p = p;
  p = p_0*(V_0/(V_0 - V))^n;
  der(V) = a.q;
  annotation(Icon(graphics={Ellipse(extent={{-40,80},{40,-60}}, lineColor={0,80,160}, fillColor={230,240,250}, fillPattern=FillPattern.Solid), Line(points={{-40,10},{40,10}}, color={0,80,160}), Line(points={{0,-60},{0,-90}}, color={0,80,160})}),
    Documentation(info="<html><p><code>p (V_0 - V)^n = p_0 V_0^n</code>, <code>der(V) = a.q</code>. It must not be emptied: below <code>V = 0</code> the law of the gas goes on.</p></html>"));
end Accumulator;
