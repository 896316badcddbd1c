within Kilohertz.Blocks;
package Continuous "Blocks with continuous states"
  block Integrator "The integral of its input"
    extends Signal;
    parameter Real k = 1 "Gain";
    parameter Real y_start = 0 "Output at the start";
  initial equation
    y = y_start;
  equation
    der(y) = k*u;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="k/s")}),
      Documentation(info="<html><p><code>der(y) = k u</code>.</p></html>"));
  end Integrator;

  block LimitedIntegrator "An integral that stops at its limits"
    extends Signal;
    parameter Real k = 1 "Gain";
    parameter Real y_start = 0 "Output at the start";
    parameter Real y_max = 1 "Upper limit";
    parameter Real y_min = -y_max "Lower limit";
  initial equation
    y = y_start;
  equation
    assert(y_min < y_max, "the limits of an integrator must enclose something: y_min < y_max");
    der(y) = if y >= y_max and k*u > 0 or y <= y_min and k*u < 0 then 0 else k*u;
    annotation(Icon(graphics={Text(extent={{-90,40},{90,-20}}, textString="k/s"), Line(points={{20,60},{90,60}}, color={0,0,127}), Line(points={{-90,-60},{-20,-60}}, color={0,0,127})}),
      Documentation(info="<html><p><code>der(y) = k u</code>, and 0 where that would lead beyond a limit: it leaves a limit at once when the input changes sign.</p></html>"));
  end LimitedIntegrator;

  block FirstOrder "A low pass of first order"
    extends Signal;
    parameter Real k = 1 "Gain";
    parameter Units.Time T(min=1e-12) = 1 "Time constant";
    parameter Real y_start = 0 "Output at the start";
  initial equation
    y = y_start;
  equation
    T*der(y) = k*u - y;
    annotation(Icon(graphics={Line(points={{-80,80},{-80,-80}}, color={190,190,190}), Line(points={{-80,-60},{80,-60}}, color={190,190,190}), Line(points={{-80,-60},{-60,20},{0,40},{80,45}}, color={0,0,127}, smooth=Smooth.Bezier)}),
      Documentation(info="<html><p><code>T der(y) = k u - y</code>.</p></html>"));
  end FirstOrder;

  block SecondOrder "An oscillator driven by its input"
    extends Signal;
    parameter Real k = 1 "Gain";
    parameter Units.Frequency f(min=1e-12) = 1 "Natural frequency";
    parameter Real damping(min=0) = 1 "Damping ratio";
    Real yd(start=0, fixed=true) "Rate of the output";
  protected
    final parameter Real omega(unit="rad/s") = 2*Math.pi*f "Natural angular frequency";
  initial equation
    y = 0;
  equation
    der(y) = yd;
    der(yd) = omega^2*(k*u - y) - 2*damping*omega*yd;
    annotation(Icon(graphics={Line(points={{-80,80},{-80,-80}}, color={190,190,190}), Line(points={{-80,-60},{80,-60}}, color={190,190,190}), Line(points={{-80,-60},{-50,90},{-10,10},{30,50},{80,40}}, color={0,0,127}, smooth=Smooth.Bezier)}),
      Documentation(info="<html><p><code>der(der(y)) = omega^2 (k u - y) - 2 damping omega der(y)</code>.</p></html>"));
  end SecondOrder;

  block Derivative "The rate of its input, filtered"
    extends Signal;
    parameter Real k = 1 "Gain";
    parameter Units.Time T(min=1e-12) = 0.01 "Time constant of the filter";
    Real x "The filtered input";
  initial equation
    x = u;
  equation
    der(x) = (u - x)/T;
    y = k*(u - x)/T;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="k s/(1+T s)")}),
      Documentation(info="<html><p><code>y = k der(x)</code> with <code>T der(x) = u - x</code>; 0 at the start.</p></html>"));
  end Derivative;

  block LowPass "Equal poles in a row: a filter that does not overshoot"
    extends Signal;
    parameter Integer n(min=1) = 2 "Order" annotation(Evaluate=true);
    parameter Units.Frequency f(min=1e-12) = 1 "Frequency at which it has lost half the power";
    Real x[n] "Outputs of the stages";
  protected
    final parameter Units.Time T = sqrt(2^(1/n) - 1)/(2*Math.pi*f) "Time constant of each stage";
  initial equation
    x = fill(u, n);
  equation
    T*der(x[1]) = u - x[1];
    for i in 2:n loop
      T*der(x[i]) = x[i - 1] - x[i];
    end for;
    y = x[n];
    annotation(Icon(graphics={Line(points={{-80,80},{-80,-80}}, color={190,190,190}), Line(points={{-80,-60},{80,-60}}, color={190,190,190}), Line(points={{-80,40},{10,40},{40,20},{70,-60}}, color={0,0,127}, smooth=Smooth.Bezier)}),
      Documentation(info="<html><p><code>n</code> stages <code>T der(x_i) = x_(i-1) - x_i</code>, with <code>T</code> such that at <code>f</code> the gain is one over the root of two. It begins at rest.</p></html>"));
  end LowPass;

  block TransferFunction "A ratio of two polynomials of s"
    extends Signal;
    parameter Real b[:] = {1} "Numerator, highest power first";
    parameter Real a[:] = {1, 1} "Denominator, highest power first";
    Real x[size(a, 1) - 1](each start=0, each fixed=true) "State of the controller form, highest derivative first";
  protected
    final parameter Integer n = size(a, 1) - 1 "Order";
    final parameter Real c[n + 1] = cat(1, zeros(n + 1 - size(b, 1)), b) "Numerator of the same length";
    Real top "Highest derivative";
  equation
    assert(size(b, 1) <= size(a, 1), "a transfer function must not have more zeros than poles: size(b, 1) <= size(a, 1)");
    top = (u - a[2:n + 1]*x)/a[1];
    der(x[1]) = top;
    for i in 2:n loop
      der(x[i]) = x[i - 1];
    end for;
    y = c[1]*top + c[2:n + 1]*x;
    annotation(Icon(graphics={Text(extent={{-90,70},{90,10}}, textString="b(s)"), Line(points={{-60,0},{60,0}}, color={0,0,127}), Text(extent={{-90,-10},{90,-70}}, textString="a(s)")}),
      Documentation(info="<html><p>Controller form: <code>a_1 top + a_2 x_1 + ... = u</code>, each state is the integral of the one before.</p></html>"));
  end TransferFunction;

  block PI "Proportional and integral control"
    extends Signal;
    parameter Real k = 1 "Gain";
    parameter Units.Time Ti(min=1e-12) = 1 "Time of the integral part";
    Real x(start=0, fixed=true) "Integral of the input over Ti";
  equation
    der(x) = u/Ti;
    y = k*(u + x);
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="PI")}),
      Documentation(info="<html><p><code>y = k (u + integral(u)/Ti)</code>.</p></html>"));
  end PI;

  block PID "Control with limits: the integral does not wind up"
    extends Feedback;
    parameter Real k = 1 "Gain";
    parameter Units.Time Ti(min=1e-12) = 1 "Time of the integral part";
    parameter Units.Time Td(min=0) = 0 "Time of the derivative part";
    parameter Real N(min=1) = 10 "The derivative is filtered with Td/N";
    parameter Real b = 1 "Weight of the reference in the proportional part";
    parameter Real y_max = 1e60 "Upper limit of the output";
    parameter Real y_min = -y_max "Lower limit of the output";
    parameter Units.Time Tt(min=1e-12) = Ti "Time in which the integral part is led back at a limit";
    parameter Real y_start = 0 "Integral part at the start";
    Real P "Proportional part";
    Real I(start=y_start, fixed=true) "Integral part";
    Real D "Derivative part";
    Real wanted "Output without its limits";
  protected
    final parameter Units.Time T_filter = if Td > 0 then Td/N else Ti "Without a derivative part any will do: a slow one stiffens nothing";
    Real x "Filtered measurement";
  initial equation
    x = measured;
  equation
    assert(y_min < y_max, "the limits of a controller must enclose something: y_min < y_max");
    P = k*(b*reference - measured);
    der(I) = k/Ti*(reference - measured) + (y - wanted)/Tt;
    der(x) = (measured - x)/T_filter;
    D = -k*Td*der(x);
    wanted = P + I + D;
    y = if wanted > y_max then y_max elseif wanted < y_min then y_min else wanted;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="PID")}),
      Documentation(info="<html><p><code>wanted = k (b r - m) + I + D</code>, <code>y</code> is that within its limits. The integral part is led back by <code>(y - wanted)/Tt</code>, so that it does not grow at a limit. The derivative is that of the measurement, filtered with <code>Td/N</code>: a jump of the reference makes no kick.</p></html>"));
  end PID;
end Continuous;
