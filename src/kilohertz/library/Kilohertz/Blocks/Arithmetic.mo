within Kilohertz.Blocks;
package Arithmetic "Sums, products and curves"
  block Gain "A multiple of its input"
    extends Signal;
    parameter Real k = 1 "Factor";
  equation
    y = k*u;
    annotation(Icon(graphics={Polygon(points={{-80,80},{80,0},{-80,-80},{-80,80}}, lineColor={0,0,127}), Text(extent={{-90,20},{90,-20}}, textString="%k")}),
      Documentation(info="<html><p><code>y = k u</code>.</p></html>"));
  end Gain;

  block Sum "The weighted sum of two inputs"
    extends TwoSignals;
    parameter Real k1 = 1 "Weight of u1";
    parameter Real k2 = 1 "Weight of u2";
  equation
    y = k1*u1 + k2*u2;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="+")}),
      Documentation(info="<html><p><code>y = k1 u1 + k2 u2</code>.</p></html>"));
  end Sum;

  block Difference "The first input less the second"
    extends TwoSignals;
  equation
    y = u1 - u2;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="-")}),
      Documentation(info="<html><p><code>y = u1 - u2</code>.</p></html>"));
  end Difference;

  block Product "The product of two inputs"
    extends TwoSignals;
  equation
    y = u1*u2;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="x")}),
      Documentation(info="<html><p><code>y = u1 u2</code>.</p></html>"));
  end Product;

  block Curve "A function given by points"
    extends Signal;
    parameter Real x[:] = {0, 1} "Rising places";
    parameter Real values[size(x, 1)] = {0, 1} "Values there";
  equation
    assert(Math.rising(x), "the places of a curve must rise: x");
    y = Math.interpolate(x, values, u);
    annotation(Icon(graphics={Line(points={{-80,80},{-80,-80}}, color={190,190,190}), Line(points={{-80,-60},{80,-60}}, color={190,190,190}), Line(points={{-70,-40},{-30,10},{10,20},{60,70}}, color={0,0,127})}),
      Documentation(info="<html><p>Straight lines between the points, the end values beyond them.</p></html>"));
  end Curve;
end Arithmetic;
