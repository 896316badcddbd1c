package Clocked "Continuous equations, whens and algorithms in clocked partitions"
  model Oscillator "Its exact solution is cos(2*t)"
    parameter String method = "ExplicitEuler";
    Real one = if time < -1 then 2 else 1 "an input, so that there is a partition";
    Real x(start = 1), v(start = 0);
    Real y = hold(x);
  equation
    der(x) = v*sample(one, Clock(Clock(1, 40), solverMethod = method));
    der(v) = -4*x;
  end Oscillator;

  model Driven "x' = u - x with u = time: the exact solution is a polynomial and an exponential"
    parameter String method = "ExplicitEuler";
    Real u = time;
    Real x(start = 1);
    Real y = hold(x);
  equation
    der(x) = sample(u, Clock(Clock(1, 20), solverMethod = method)) - x;
  end Driven;

  model Inverse "A filter makes the derivatives that the inverse of m*s'' + d*s' + c*s = f needs"
    parameter Real m = 2, d = 3, c = 5;
    Real u = sin(time);
    Real p(start = 0), q(start = 0), s, v, a;
    Real force = hold(f);
    Real f;
  equation
    der(p) = 20*(sample(u, Clock(Clock(1, 1000), solverMethod = "ImplicitTrapezoid")) - p);
    der(q) = 20*(p - q);
    s = q;
    v = der(s);
    a = der(v);
    f = m*a + d*v + c*s;
  end Inverse;

  model Geared "Two inertias behind a gear: one of their angles is a state, and its start counts"
    parameter Real ratio = 3;
    Real torque = 2;
    Real phi1, w1, phi2(start = 0.5, stateSelect = StateSelect.always), w2(start = 0.25);
    Real tau;
    Real angle = hold(phi2);
  equation
    phi1 = ratio*phi2;
    der(phi1) = w1;
    der(phi2) = w2;
    der(w1) = sample(torque, Clock(Clock(0.5), solverMethod = "ImplicitEuler")) - tau;
    3*der(w2) = ratio*tau;
  end Geared;

  model Reset "x' = 1, set back where the input rises; what a when sets is kept"
    Real u = if time > 0.45 and time < 0.75 then 1 else 0;
    Real x(start = 2);
    Boolean up;
    discrete Integer n(start = 0);
    discrete Real at(start = -1);
    Real y = hold(x);
    Integer count = hold(n);
    Real last = hold(at);
  equation
    der(x) = if up then 1 else 1.0;
    up = sample(u, Clock(Clock(0.1), solverMethod = "ExplicitEuler")) > 0.5;
    when up then
      reinit(x, 5);
      n = pre(n) + 1;
      at = previous(x);
    end when;
  end Reset;

  model Algorithms "An algorithm with a when, and one that does not unroll"
    Clock c = Clock(0.1);
    Integer n(start = 0), steps(start = 0), turns(start = 0);
    Boolean third;
    Integer total = hold(steps), rounds = hold(turns);
  equation
    n = sample(1, c) + previous(n);
    third = mod(n, 3) == 0;
  algorithm
    when third then
      turns := previous(turns) + 1;
    end when;
  algorithm
    steps := 0;
    while steps*steps < n loop
      steps := steps + 1;
    end while;
  end Algorithms;

  function both
    input Real x;
    output Real y;
    output Real z;
  algorithm
    y := x^3;
    z := 3*x^2;
    for i in 1:2 loop
      z := z + 1;
    end for;
    annotation(Inline = false, LateInline = false);
  end both;

  model CallInLoop "Results of a call that are needed for its argument, at a clock: x^3 + x = u"
    Real u = 10;
    Real x(start = 1), y, z;
    Real root = hold(x), slope = hold(z);
  equation
    (y, z) = both(x);
    y + x = sample(u, Clock(0.1));
  end CallInLoop;

  model SteadyStart "The initial equation holds at the first tick"
    Real u = 4;
    Real x(start = 1, fixed = false);
    Real y = hold(x);
  initial equation
    der(x) = 0;
  equation
    2*der(x) = sample(u, Clock(Clock(0.1), solverMethod = "ImplicitEuler")) - x;
  end SteadyStart;

  model FixedRate "What is fixed holds at the first tick, though it is no state"
    Real u = 4;
    Real x(start = 7), v(start = 0.5, fixed = true);
    Real y = hold(x);
  equation
    der(x) = v;
    2*v = sample(u, Clock(Clock(0.1), solverMethod = "ImplicitEuler")) - x;
  end FixedRate;

  model SaidTwice "A fixed start that an initial equation says again"
    parameter Real p = 3;
    Real u = 4;
    Real x(start = p, fixed = true);
    Real y = hold(x);
  initial equation
    x = p;
  equation
    2*der(x) = sample(u, Clock(Clock(0.1), solverMethod = "ImplicitEuler")) - x;
  end SaidTwice;

  model InitialAlgorithm "x = 5 at the first tick"
    Real u = 4;
    Real x(start = 1);
    Real y = hold(x);
  initial algorithm
    x := 2;
    while x < u loop
      x := 2*x + 1;
    end while;
  equation
    der(x) = sample(u, Clock(Clock(0.1), solverMethod = "ImplicitEuler")) - x;
  end InitialAlgorithm;

  model Inferred "A partition without a method takes that of its neighbour"
    Real u = 1;
    Real x(start = 0), z(start = 1);
    Real y = hold(z);
  equation
    der(x) = sample(u, Clock(Clock(0.1), solverMethod = "ImplicitEuler"));
    der(z) = subSample(x, 2) - subSample(x, 2) - z;
  end Inferred;

  model OfAnInput "The derivative of what comes from outside"
    Real u = time;
    Real x(start = 0);
  equation
    x = der(w);
    w = sample(u, Clock(Clock(0.1), solverMethod = "ImplicitEuler"));
  protected
    Real w;
  end OfAnInput;

  model Directly
    Real u = time, x(start = 0), y(start = 0);
  equation
    der(y) = subSample(x, 2) + der(subSample(x, 2));
    der(x) = sample(u, Clock(Clock(0.1), solverMethod = "ImplicitEuler"));
  end Directly;

  model Pendulum "In Cartesian coordinates: which of them is a state changes on the way"
    Real x(start = 1), y(start = 0), vx(start = 0), vy(start = 0), f;
    Real g = 9.81;
  equation
    der(x) = vx;
    der(y) = vy;
    der(vx) = -f*x;
    der(vy) = -f*y - sample(g, Clock(Clock(0.01), solverMethod = "ImplicitEuler"));
    x^2 + y^2 = 1;
  end Pendulum;

  model ResetByItself
    Real u = 1, x(start = 0);
  equation
    der(x) = sample(u, Clock(Clock(0.1), solverMethod = "ImplicitEuler"));
    when x > 0.45 then
      reinit(x, 0);
    end when;
  end ResetByItself;

  model ResetToItself
    Real u = 1, x(start = 0), z;
  equation
    der(x) = sample(u, Clock(Clock(0.1), solverMethod = "ExplicitEuler"));
    z = 2*x;
    when sample(time) > 0.45 then
      reinit(x, -z);
    end when;
  end ResetToItself;

  model ResetByLast "At 0.6, when x was 0.5 a tick before"
    Real u = 1, x(start = 0);
    Real y = hold(x);
  equation
    der(x) = sample(u, Clock(Clock(0.1), solverMethod = "ImplicitEuler"));
    when previous(x) > 0.45 then
      reinit(x, -0.5*previous(x));
    end when;
  end ResetByLast;

  model TooManyStarts
    Real u = 4;
    Real x(start = 1, fixed = true);
  initial equation
    der(x) = 0;
  equation
    der(x) = sample(u, Clock(Clock(0.1), solverMethod = "ImplicitEuler")) - x;
  end TooManyStarts;

  impure function counted "How often it was called"
    input Real x;
    output Integer n;
    external "C" n = count_call() annotation(Include = "static int count_call(void) { static int n = 0; return ++n; }");
  end counted;

  impure function note
    input Real x;
  algorithm
    assert(counted(x) < 100, "called too often");
  end note;

  model CallsInAlgorithm "An algorithm that calls, and reads values of the tick before: those of its own results too"
    Boolean on(start = false, fixed = true);
    Integer calls(start = 0), n(start = 0);
    Real v[3](each start = 0), since(start = 0);
    Real u = sample(time, Clock(0.1));
  algorithm
    if not on then
      note(-1);
      on := true;
    else
      on := previous(on);
    end if;
    note(u);
    calls := counted(u);
    n := previous(n);
    while n < 2*previous(n) + 1 loop
      n := n + 1;
    end while;
    for i in 1:3 loop
      v[i] := previous(v[i]) + i*u;
    end for;
    since := if firstTick() then u + 1 else previous(since) + interval();
  end CallsInAlgorithm;
end Clocked;
