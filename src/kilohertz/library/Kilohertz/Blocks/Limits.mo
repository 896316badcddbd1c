within Kilohertz.Blocks;
package Limits "Signals that may not be everything"
  block Limiter "Its input within limits"
    extends Signal;
    parameter Real y_max = 1 "Upper limit";
    parameter Real y_min = -y_max "Lower limit";
  equation
    assert(y_min <= y_max, "the lower limit lies above the upper one: y_min <= y_max");
    y = if u > y_max then y_max elseif u < y_min then y_min else u;
    annotation(Icon(graphics={Line(points={{-80,-60},{-40,-60},{40,60},{80,60}}, color={0,0,127})}),
      Documentation(info="<html><p><code>y = max(y_min, min(y_max, u))</code>, with an event at each limit.</p></html>"));
  end Limiter;

  block SmoothLimiter "The same rounded: no events"
    extends Signal;
    parameter Real y_max(min=1e-60) = 1 "Limit in either direction";
  equation
    y = y_max*tanh(u/y_max);
    annotation(Icon(graphics={Line(points={{-80,-60},{-30,-60},{30,60},{80,60}}, color={0,0,127}, smooth=Smooth.Bezier)}),
      Documentation(info="<html><p><code>y = y_max tanh(u/y_max)</code>.</p></html>"));
  end SmoothLimiter;

  block DeadZone "Nothing near zero"
    extends Signal;
    parameter Real u_max = 1 "Upper end of the zone";
    parameter Real u_min = -u_max "Lower end of the zone";
  equation
    assert(u_min <= u_max, "the ends of the zone are the wrong way round: u_min <= u_max");
    y = if u > u_max then u - u_max elseif u < u_min then u - u_min else 0;
    annotation(Icon(graphics={Line(points={{-80,-60},{-30,0},{30,0},{80,60}}, color={0,0,127})}),
      Documentation(info="<html><p>What the input has beyond the zone.</p></html>"));
  end DeadZone;

  block RateLimiter "Follows its input no faster than it may"
    extends Signal;
    parameter Real rate(min=0) = 1 "Fastest rise";
    parameter Real fall(min=0) = rate "Fastest fall";
    parameter Units.Time T(min=1e-12) = 1e-3 "Time constant of the following";
  initial equation
    y = u;
  equation
    der(y) = if u - y > rate*T then rate elseif u - y < -fall*T then -fall else (u - y)/T;
    annotation(Icon(graphics={Line(points={{-80,-60},{-20,-60},{30,60},{80,60}}, color={0,0,127}), Line(points={{-80,-60},{-20,-60},{-20,60},{80,60}}, color={190,190,190})}),
      Documentation(info="<html><p><code>der(y) = (u - y)/T</code> within <code>-fall</code> and <code>rate</code>.</p></html>"));
  end RateLimiter;

  block Quantizer "Rounds to multiples of a step, as a converter does"
    extends Signal;
    parameter Real q(min=1e-60) = 0.1 "Step";
  equation
    y = q*floor(u/q + 0.5);
    annotation(Icon(graphics={Line(points={{-80,-60},{-40,-60},{-40,-20},{0,-20},{0,20},{40,20},{40,60},{80,60}}, color={0,0,127})}),
      Documentation(info="<html><p><code>y = q floor(u/q + 1/2)</code>; each change is an event.</p></html>"));
  end Quantizer;
end Limits;
