package Balls
  model Plain "point mass over a flat floor"
    parameter Real g = 9.81;
    parameter Real e = 0.7;
    parameter Real h0 = 1;
    Real h(start = h0, fixed = true);
    Real v(start = 0, fixed = true);
    discrete Real bounced(start = -1, fixed = true) "when";
  equation
    der(h) = v;
    der(v) = -g;
    when h <= 0 then
      reinit(v, -e*pre(v));
      bounced = time;
    end when;
  end Plain;

  model Drag "quadratic drag, and a floor that moves"
    parameter Real g = 9.81;
    parameter Real e = 0.7;
    parameter Real h0 = 1;
    parameter Real k = 0.3;
    Real h(start = h0, fixed = true);
    Real v(start = 0, fixed = true);
    Real floor = 0.02*sin(12*time);
    Real speed = 0.24*cos(12*time);
    discrete Real bounced(start = -1, fixed = true);
  equation
    der(h) = v;
    der(v) = -g - k*v*abs(v);
    when h <= floor then
      reinit(v, speed - e*(pre(v) - speed));
      bounced = time;
    end when;
  end Drag;

  model Oscillator "a hysteresis whose state turns three to four times within a millisecond"
    parameter Real slope = 3500;
    Real x(start = 0, fixed = true);
    Boolean up(start = true, fixed = true);
    Integer turns(start = 0, fixed = true);
    discrete Real turned(start = 0, fixed = true) "when it turned last";
  equation
    der(x) = if up then slope else -slope;
    up = if pre(up) then not x > 1 else x < 0;
    when {up, not up} then
      turns = pre(turns) + 1;
      turned = time;
    end when;
  end Oscillator;

  model Fires "starts anew whenever it has reached one"
    parameter Real slope = 3500;
    Real x(start = 0, fixed = true);
    Integer fires(start = 0, fixed = true);
    discrete Real fired(start = 0, fixed = true);
  equation
    der(x) = slope;
    when x >= 1 then
      reinit(x, 0);
      fires = pre(fires) + 1;
      fired = time;
    end when;
  end Fires;

  model Sampled "four ticks and a switch by time in a millisecond"
    Real x(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
    discrete Real last(start = -1, fixed = true);
  equation
    der(x) = n + (if time > 0.00112 then 1 else 0);
    when sample(0.0001, 0.0003) then
      n = pre(n) + 1;
      last = time;
    end when;
  end Sampled;

  model Cascade "an event shortly after the one that causes it"
    Real x(start = 0, fixed = true);
    Real y(start = 0, fixed = true);
    discrete Real first(start = 0, fixed = true), second(start = 0, fixed = true);
  equation
    der(x) = exp(-x) "x = log(1 + t)";
    der(y) = if x > 0.1 then 10*cos(10*(time - first)) else 0 "y = sin(10*(t - first))";
    when x > 0.1 then
      first = time;
    end when;
    when y > 0.002 then
      second = time;
    end when;
  end Cascade;
end Balls;
