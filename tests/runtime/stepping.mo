package Stepping "Models that meet everything a bounded step has to bear"
  model Everything "loops, state and time events, strings apart"
    parameter Real k = 3;
    Real x(start = 1, fixed = true);
    Real w(start = 0, fixed = true);
    Real z(start = 0.3) "nonlinear loop";
    Real a, b "linear loop";
    discrete Real ticks(start = 0, fixed = true);
    Boolean up(start = true, fixed = true);
  equation
    der(x) = w;
    der(w) = -k*x - 0.02*w + (if x > 0 then -0.1 else 0.1) + 0.1*z;
    z + 0.2*sin(z) = 0.5*cos(3*time) + 0.1*x;
    a + 2*b*x = 1;
    3*a*x - b = w;
    when sample(0, 0.0033) then
      ticks = pre(ticks) + a;
    end when;
    up = x > 0.5 or pre(up) and x > -0.5;
  end Everything;

  model Decay "leads to numbers below 1e-308"
    Real y(start = 1e-300, fixed = true);
  equation
    der(y) = -100*y;
  end Decay;

  model Grows "too large for a number after some steps"
    Real x(start = 1e3, fixed = true);
  equation
    der(x) = x^9;
  end Grows;

  model Jumps "an event that calls for itself again"
    model Jumper
      Real x(start = 0, fixed = true);
    equation
      der(x) = 1;
      when x > 0.01 then
        reinit(x, -1);
      elsewhen x < -0.5 then
        reinit(x, 1);
      end when;
    end Jumper;
    Jumper jumper;
  end Jumps;

  model Root "has no value once x is negative"
    Real x(start = 0.0105, fixed = true);
    Real y(start = 0, fixed = true);
    Part part;
  protected
    model Part
      Real u;
      Real r;
    equation
      r = sqrt(u);
    end Part;
  equation
    der(x) = if time < 0.02 then -1 else 1;
    der(y) = part.r;
    part.u = x;
  end Root;

  model Hard "a loop with roots of order five: each iteration leaves four fifths of the error"
    Real y(start = 0, fixed = true);
    Real z(start = 1), w(start = 0);
  equation
    der(y) = z;
    (z + w - (if time < 0.005 then 1 else 3) - 1e-3*y)^5 = 0;
    (z - w - (if time < 0.005 then 1 else 3) - 1e-3*y)^5 = 0;
  end Hard;

  model Selects "the smallest of two, one of which follows the result: from below Newton has no direction"
    Real x(start = 0, fixed = true);
    Real y(start = 0);
  equation
    der(x) = 20*cos(20*time);
    y = min(x, y + 1e-4);
  end Selects;

  model Singular "no solution at t = 1"
    Real y[4];
    Real x(start = 0, fixed = true);
  equation
    y[1] + y[2] + y[3] + y[4] = 1;
    (0.5 + time/2)*y[1] + y[2] + y[3] + y[4] = 2;
    y[1] - y[2] + 2*y[3] - y[4] = x;
    3*y[1] + 2*y[2] - y[3] + y[4]*(1 + x) = 1;
    der(x) = 0.01*y[3];
  end Singular;

  model Flips "an event iteration without an end while x > 0.0105"
    Real x(start = 0, fixed = true);
    Boolean b(start = false, fixed = true);
  equation
    der(x) = 1;
    b = if x > 0.0105 and x < 0.0205 then not pre(b) else false;
  end Flips;

  model Contrary "a condition that no mode agrees with while x > 0.0105"
    Real x(start = 0, fixed = true);
    Real y;
    Boolean c(start = false, fixed = true);
  equation
    der(x) = 1;
    c = y > 0 and x > 0.0105;
    y = if c then -1 - 0.1*y else 1 - 0.1*y;
  end Contrary;

  model Restless "an event iteration without an end, with a mode to be found in each of its passes"
    Real x(start = 0, fixed = true);
    Real y;
    Boolean b(start = false, fixed = true);
    Boolean c(start = false, fixed = true);
  equation
    der(x) = 1;
    b = if x > 0.0105 and x < 0.0205 then not pre(b) else false;
    c = y > 0.5;
    y = if c then (if b then 2 else 1) - 0.1*y else -0.1*y;
  end Restless;

  model Refuses "an event whose new mode has no solution"
    Real x(start = 0, fixed = true);
    Real y(start = 1);
    Boolean on(start = false, fixed = true);
  equation
    der(x) = if time < 0.02 then 1 else -1;
    on = x > 0.0105;
    y*y = if on then -1 - x else 1 + x;
  end Refuses;

  function picky
    input Real u;
    output Real y;
  algorithm
    assert(u < 0.01 or u > 0.02, "u is in the middle");
    y := u;
    annotation(Inline = false);
  end picky;

  model Throws "an event that fails until x is above 0.02"
    Real x(start = 0, fixed = true);
    discrete Real seen(start = 0, fixed = true);
    Real a, b;
  equation
    der(x) = 1;
    when x > 0.0105 then
      seen = picky(x);
    end when;
    a + (if x > 0.0105 then 2 else 1)*b = 1;
    a - b = x;
  end Throws;

  model Chatters "a sliding mode"
    Real x(start = 0.01, fixed = true);
  equation
    der(x) = if x > 0 then -1 else 1.5;
  end Chatters;

  model Ticks "samples that do not fall on the grid of a millisecond"
    discrete Real last(start = -1, fixed = true);
    discrete Real late(start = 0, fixed = true);
    Real x(start = 0, fixed = true);
    discrete Real seen(start = 0, fixed = true);
  equation
    der(x) = 1;
    when sample(0.0005, 0.0033) then
      last = time;
      late = pre(late) + 1;
    end when;
    when x > 0.0115 then
      seen = time;
    end when;
  end Ticks;

  model Several "three events inside one step, one of them caused by another"
    Real x(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
    discrete Real first(start = 0, fixed = true), second(start = 0, fixed = true);
  equation
    der(x) = if n >= 1 then 2 else 1;
    when x > 0.0102 then
      first = time;
    end when;
    when x > 0.0106 then
      second = time;
    end when;
    n = if x > 0.0102 then 1 else 0;
  end Several;

  model Chair "an assertion that fails for a while"
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
    assert(x < 0.0095, "x is too large");
  end Chair;

  model Pushed "conditions on inputs"
    input Real u(start = 0);
    input Boolean button(start = false);
    Integer presses(start = 0, fixed = true);
    Integer releases(start = 0, fixed = true);
    discrete Real high(start = -1, fixed = true);
    Real x(start = 0, fixed = true);
  equation
    der(x) = if u > 0.5 then 1 else 0;
    when button then
      presses = pre(presses) + 1;
    end when;
    releases = if not button and pre(button) then pre(releases) + 1 else pre(releases);
    when u > 0.5 then
      high = time;
    end when;
  end Pushed;
end Stepping;
