within Kilohertz.Blocks;
package Sampled "Blocks that work at the instants of a clock, as programs of controllers do"
  partial block Clocked "Works at the instants of a clock"
    parameter Units.Time period(min=1e-9) = 1e-3 "From one instant to the next";
    parameter Units.Time first = 0 "The first instant";
  protected
    Boolean ticks(start=false, fixed=true) "An instant of the clock";
  equation
    ticks = sample(first, period);
  end Clocked;

  block Hold "Takes its input at each instant and holds it"
    extends Signal;
    extends Clocked;
  protected
    discrete Real held(start=0, fixed=true) "What was taken last";
  equation
    when ticks then
      held = u;
    end when;
    y = held;
    annotation(Icon(graphics={Line(points={{-80,-40},{-40,-40},{-40,10},{0,10},{0,40},{40,40},{40,20},{80,20}}, color={0,0,127})}),
      Documentation(info="<html><p><code>y = u</code> at each instant of the clock, held in between; 0 before the first.</p></html>"));
  end Hold;

  block Delay "What its input was one instant ago"
    extends Signal;
    extends Clocked;
  protected
    discrete Real taken(start=0, fixed=true) "Input of this instant";
    discrete Real shown(start=0, fixed=true) "Input of the instant before";
  equation
    when ticks then
      shown = pre(taken);
      taken = u;
    end when;
    y = shown;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="1/z")}),
      Documentation(info="<html><p><code>y[k] = u[k-1]</code>.</p></html>"));
  end Delay;

  block FirstOrder "A low pass of first order"
    extends Signal;
    extends Clocked;
    parameter Real k = 1 "Gain";
    parameter Units.Time T(min=1e-12) = 1 "Time constant";
  protected
    final parameter Real a = exp(-period/T) "What is left after a period";
    discrete Real x(start=0, fixed=true) "State";
  equation
    when ticks then
      x = a*pre(x) + (1 - a)*k*u;
    end when;
    y = x;
    annotation(Icon(graphics={Line(points={{-80,-40},{-40,-40},{-40,10},{0,10},{0,40},{40,40},{40,20},{80,20}}, color={0,0,127})}),
      Documentation(info="<html><p><code>y[k] = a y[k-1] + (1 - a) k u[k]</code> with <code>a = exp(-period/T)</code>: exact where the input is held.</p></html>"));
  end FirstOrder;

  block PID "Control with limits at the instants of a clock"
    extends Feedback;
    extends Clocked;
    parameter Real k = 1 "Gain";
    parameter Units.Time Ti(min=1e-12) = 1 "Time of the integral part";
    parameter Units.Time Td(min=0) = 0 "Time of the derivative part";
    parameter Real N(min=1) = 10 "The derivative is filtered with Td/N";
    parameter Real b = 1 "Weight of the reference in the proportional part";
    parameter Real y_max = 1e60 "Upper limit of the output";
    parameter Real y_min = -y_max "Lower limit of the output";
    parameter Real y_start = 0 "Integral part at the start";
  protected
    discrete Real I(start=y_start, fixed=true) "Integral part";
    discrete Real D(start=0, fixed=true) "Derivative part";
    discrete Real last(start=0, fixed=true) "Measurement of the instant before";
    discrete Real wanted(start=0, fixed=true) "Output without its limits";
    discrete Real out(start=0, fixed=true) "Output";
    Boolean begun(start=false, fixed=true) "There was an instant before";
  equation
    assert(y_min < y_max, "the limits of a controller must enclose something: y_min < y_max");
    when ticks then
      begun = true;
      last = measured;
      D = (Td*pre(D) - (if pre(begun) then k*Td*N*(measured - pre(last)) else 0))/(Td + N*period);
      wanted = k*(b*reference - measured) + pre(I) + D;
      out = if wanted > y_max then y_max elseif wanted < y_min then y_min else wanted;
      I = if out <> wanted and (out - wanted)*k*(reference - measured) < 0 then pre(I) else pre(I) + k*period/Ti*(reference - measured);
    end when;
    y = out;
    annotation(Icon(graphics={Text(extent={{-90,70},{90,10}}, textString="PID"), Line(points={{-80,-60},{-40,-60},{-40,-40},{0,-40},{0,-20},{40,-20},{40,-30},{80,-30}}, color={0,0,127})}),
      Documentation(info="<html><p>The integral part stands still while the output is at a limit that the error pushes against. The derivative is that of the measurement, by backward differences, filtered with <code>Td/N</code>.</p></html>"));
  end PID;
end Sampled;
