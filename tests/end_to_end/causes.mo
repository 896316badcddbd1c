package Causes "One small model for each cause of a wrong result that was mended"
  model LeftLimit "pre of an algebraic variable is its value just before the event"
    Boolean up = time > 1;
    discrete Real target(start = 0, fixed = true);
    discrete Real at(start = 0, fixed = true);
    Real y = target + (if time < at + 1 then time - at else 1);
    discrete Real kept(start = -1, fixed = true);
  equation
    when up then
      target = 10;
      at = time;
      kept = pre(y);
    end when;
  end LeftLimit;

  model ByHomotopy "Of two solutions the one that the simplified model leads to"
    Real x(start = 0);
  equation
    0 = homotopy(sin(x)*(x - 100), x - 100);
  end ByHomotopy;

  record Medium
    String name;
    Real cp;
  end Medium;

  function energy
    input Medium medium;
    input Real T;
    output Real u;
  algorithm
    u := 0;
    for i in 1:integer(medium.cp) loop
      u := u + T;
    end for;
    assert(medium.name <> "", "a medium has a name");
    annotation(Inline = false);
  end energy;

  model RecordWithText "The derivative of a function whose record holds a String"
    parameter Medium medium = Medium("thing", 3);
    Real T(start = 1, fixed = true);
    Real u = energy(medium, T);
  equation
    der(u) = -3*T;
  end RecordWithText;

  model ZeroCapacity "A storage of size zero: its equation holds no derivative"
    parameter Real C = 0;
    parameter Real R = 2;
    Real v, i;
  equation
    C*der(v) = i;
    i = (sin(time) - v)/R;
  end ZeroCapacity;

  model CoupledPerfectly "Two storages that are one: the difference of their equations holds no derivative"
    parameter Real L1 = 2, L2 = 2, M = 2;
    Real i1(start = 1, fixed = true), i2, u, d;
  equation
    u = L1*der(i1) + M*der(i2);
    d = (L1 - M)*der(i1) + (M - L2)*der(i2);
    u = -2*i1;
    u - d = -2*i2;
  end CoupledPerfectly;

  record Device
    Real area = 0;
    Real slope = 3;
  end Device;

  record Flows
    Real i;
    Real c;
  end Flows;

  function flows "A device without area has no capacity at any voltage"
    input Device device;
    input Real v;
    output Flows f;
  protected
    Real width;
  algorithm
    if v > 0 then
      width := sqrt(1 + v);
    else
      width := 1/(1 - v);
    end if;
    f.i := device.slope*v;
    f.c := device.area*width;
    for k in 1:20 loop
      f.i := f.i + 0*k;
    end for;
    annotation(Inline = false);
  end flows;

  model ZeroFromFunction "A capacity that a function gives as zero"
    parameter Device device;
    Flows f = flows(device, v);
    Real v, i;
  equation
    i = f.c*der(v);
    i + f.i = 6*time;
  end ZeroFromFunction;

  function density
    input Real p;
    input Real T;
    output Real d;
  algorithm
    d := p/T + p^3/50;
    annotation(Inline = false);
  end density;

  model PreferredStates "Pressure and temperature are wanted as states; mass and energy are what is balanced"
    parameter Real V = 2;
    Real p(start = 1, stateSelect = StateSelect.prefer);
    Real T(start = 1, stateSelect = StateSelect.prefer);
    Real m, U, d, u;
  initial equation
    p = 1;
    T = 2;
  equation
    d = density(p, T);
    m = V*d;
    u = 3*T;
    U = m*u;
    der(m) = 1;
    der(U) = -1;
  end PreferredStates;

  function cubic
    input Real u;
    output Real y;
  algorithm
    y := u^3;
    annotation(derivative = cubic_1, Inline = false);
  end cubic;

  function cubic_1
    input Real u;
    input Real du;
    output Real dy;
    external "C" dy = cubic_1(u, du) annotation(Include = "static double cubic_1(double u, double du) { return 3*u*u*du; }");
    annotation(derivative(order = 2) = cubic_2);
  end cubic_1;

  function cubic_2
    input Real u;
    input Real du;
    input Real ddu;
    output Real ddy;
  algorithm
    ddy := 3*u^2*ddu + 6*u*du^2;
    annotation(Inline = false);
  end cubic_2;

  model SecondDerivative "A function whose second derivative takes x, der(x), der(der(x))"
    Real u = 1 + time + time^2;
    Real y = cubic(u);
    Real v = der(y);
    Real a = der(v);
  end SecondDerivative;

  model FlowAtRest "A flow that comes to rest at zero: what switches with its sign makes no events"
    Real f(start = 1, fixed = true);
    Real H = semiLinear(f, 3, 2);
    Real G = smooth(0, if f > 0 then 3*f else 2*f);
  equation
    der(f) = -5*f + 1e-12*sin(1e6*time);
  end FlowAtRest;

  function kept "The first n columns: one dimension of the result is known, the other is not"
    input Real a[:, :];
    input Integer n;
    output Real z[size(a, 1), :];
  algorithm
    z := a[:, 1:n];
    annotation(Inline = false);
  end kept;

  function kept_sum
    input Real x;
    input Integer n;
    output Real s;
  protected
    Real z[2, :];
  algorithm
    z := kept([x, 2*x, 4*x; x, x, x], n);
    s := sum(z);
    annotation(Inline = false);
  end kept_sum;

  model GrowingResult
    Real s = kept_sum(time, 2);
  end GrowingResult;

  record Circuits "Matrices as large as one of its own fields says"
    parameter Integer n;
    Real a[2];
    Real L[n, n];
  end Circuits;

  function circuits "The result's size comes from an argument"
    input Integer n;
    input Real k;
    output Circuits c(n = n);
  algorithm
    c.n := n;
    c.a := {k, 2*k};
    c.L := {k*{i + j for i in 1:n} for j in 1:n};
    annotation(Inline = false);
  end circuits;

  model SizedRecord
    parameter Real k = 2;
    final parameter Circuits c = circuits(3, k);
    Real a = c.a[2];
    Real s = sum(c.L)*time;
  end SizedRecord;

  model Buffer "An algorithm whose subscripts and loops are known at run time only"
    Integer n(start = 0, fixed = true);
    Real buffer[100](each start = 0, each fixed = true);
    Real total(start = 0, fixed = true);
    Boolean high;
    Real y;
  protected
    Integer k;
  algorithm
    when sample(0.05, 0.1) then
      n := n + 1;
      buffer[n] := time^2;
      total := 0;
      for i in 1:n loop
        total := total + buffer[i];
      end for;
      if edge(high) then
        total := total + 1000;
      end if;
    end when;
    k := 0;
    while k < pre(n) loop
      k := k + 1;
    end while;
    high := sin(time) > 0.5;
    y := if high then k + 0.5 else -1;
  end Buffer;

  model OneTick "A sample whose period never ends ticks once, not before its time"
    discrete Real at(start = 7, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    when sample(2, 1e60) then
      at = time;
      n = pre(n) + 1;
    end when;
  end OneTick;

  model BriefViolation "An assertion that fails between two recorded points"
    Real x(start = 0, fixed = true);
  equation
    der(x) = cos(time);
    assert(x < 0.9, "x is too large");
  end BriefViolation;

  model PreInAlgorithm "pre of what the algorithm has already set"
    Integer n(start = 0, fixed = true);
    Integer before(start = 0, fixed = true);
    Boolean odd(start = false, fixed = true);
    Integer rises(start = 0, fixed = true);
  algorithm
    when sample(0.5, 1) then
      n := n + 2;
      before := pre(n);
      odd := not odd;
      if edge(odd) then
        rises := rises + 1;
      end if;
    end when;
  end PreInAlgorithm;

  function stepped "A value and the next state"
    input Integer state[2];
    output Real y;
    output Integer next[2];
  algorithm
    next := {state[1] + 1, state[2]*2};
    y := state[1] + state[2];
    annotation(Inline = false);
  end stepped;

  model PreviousOfArray "A clocked partition that hands its state to a function with several results"
    Integer state[2](start = {0, 1});
    Real y, z, u;
  equation
    u = sample(time, Clock(1, 10));
    (y, state) = stepped(previous(state));
    z = y + 1e-9*u;
  end PreviousOfArray;

  model AlmostEmpty "The solution is positive for ever; a solver with coarse steps makes it negative for a while"
    Real x(start = 1, fixed = true);
  equation
    der(x) = -50 * x;
    assert(x > -1e-9, "x is negative");
  end AlmostEmpty;

  model NoModeAgrees "From 0.5 s on y is negative where it is positive, and the other way round"
    model Part
      Real y;
    equation
      y = if time < 0.5 then 1e6 else if y > 0 then -1 - time else 1 + time;
    end Part;
    Part part;
  end NoModeAgrees;

  model KeptAtStart "What only a when sets keeps its value in the initial system, whoever gives it that"
    Integer n(start = 0, fixed = true);
    Integer marks[3](each start = 0, each fixed = true);
    discrete Real drawn;
    Boolean any;
  initial algorithm
    drawn := 0.25;
  algorithm
    any := false;
    when sample(0.5, 1) then
      n := n + 1;
      for i in 1:n loop
        marks[i] := marks[i] + i;
      end for;
      drawn := drawn + n;
    end when;
    any := n > 0;
  end KeptAtStart;

  function rounded "To six digits"
    input Real x;
    output Real y;
  algorithm
    y := if x > 0 then floor(x*1e6 + 0.5)/1e6 else ceil(x*1e6 - 0.5)/1e6;
  end rounded;

  model EventsInArguments "What is rounded or compared in the argument of a call makes events, in the function it does not"
    parameter Real period = 1;
    Real begins = rounded(integer(time/period)*period);
    Real gone = rounded(if time > 4.25 then 1 else 0);
    Boolean on = time < begins + 0.996*period + gone;
    Integer pulses(start = 0, fixed = true);
  equation
    when not on then
      pulses = pre(pulses) + 1;
    end when;
  end EventsInArguments;

  model BeforeTheStart "Values before the start: given by initial equations, or fixed, also of what never changes"
    parameter Boolean p = true;
    Boolean on = true;
    Boolean set = p;
    Boolean off = not on;
    Integer three(start = 5, fixed = true) = 3;
    discrete Real next(start = 0, fixed = true);
    Boolean rose;
    Boolean rose_set;
    Boolean fell_off;
    Integer fell;
    Real x;
    Real y;
  initial equation
    pre(on) = false;
    pre(set) = false;
    pre(off) = not pre(on);
    rose = edge(on);
    rose_set = edge(set);
    fell_off = change(off);
    fell = three - pre(three);
    der(x) = 0;
    x = 2.00001 "one too many, and as good as true";
  equation
    when time > 10 then
      rose = false;
      rose_set = false;
      fell_off = false;
      fell = 0;
    end when;
    when {initial(), time >= 1} then
      next = 3 + pre(next);
    end when;
    y = 2 + max(0, pre(next) - 1)^2;
    der(x) = y - x;
  end BeforeTheStart;

  model StartInWatts "A motor whose start is in W where per unit is meant: nothing is to be found there"
    parameter Real s0 = 3e10;
    Real s(start = s0), x(start = s0), y(start = s0);
  equation
    der(s) = 0.2 - x - 0.01*y*x;
    x + 0.1*x^3 = 0.1*s/(0.01 + s^2) + 0.01*y;
    y + 0.1*y^3 = s*x;
  initial equation
    der(s) = 0;
  end StartInWatts;

  model RatioOfOne "Without a value at the very instant of its event: 0/0, guarded too narrowly"
    Real r = 0.4 + time, t = 1 + (if r >= 1 then 1.25e-4 else 0.8e-4)*(r - 1);
    Real n = if noEvent(abs(r - 1) < 1e-16) then 1 else 1e-4*log(r)/log(t);
    Real x(start = 1), z(start = 0, fixed = true);
  equation
    x + 0.1*x^3 = n;
    der(z) = x;
  end RatioOfOne;

  model NoisyRelation "A relation that takes its own cause away, by no more than the noise of a loop"
    parameter Real noise = 1e-13;
    Real x(start = 0, fixed = true);
    Real y = x + (if pre(b) then -noise else noise);
    Boolean b = y > 0.5;
    Integer n(start = 0, fixed = true) "counts events, not passes";
    Integer k(start = 0, fixed = true) = if b and pre(k) < 30 then pre(k) + 1 else pre(k) "takes 30 passes, at leisure";
    Real z(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(z) = 0;
    when b then
      n = pre(n) + 1;
      reinit(z, pre(z) + 1);
    end when;
  end NoisyRelation;

  function spread "An array that may have one element, and a number"
    input Real x;
    input Integer n;
    output Real y[n];
    output Real z;
  algorithm
    y := fill(x*x, n);
    z := 2*x;
    annotation(Inline = false);
  end spread;

  model ArrayOfOneInLoop
    Real x(start = 0.4);
    Real y[1];
    Real z;
  equation
    (y, z) = spread(x, 1);
    x = 0.5*cos(y[1]) + 0*z;
  end ArrayOfOneInLoop;

  model Belt "spatialDistribution: what enters comes out at the other end, also after the belt has turned"
    Real x(start = 0.25, fixed = true);
    Real v = if time < 1.5 then 1 else -1;
    Real out0, out1, steady0, steady1;
  equation
    der(x) = v;
    (out0, out1) = spatialDistribution(time, -time, x, v >= 0, {0, 0.5, 1}, {1, 2, 4});
    (steady0, steady1) = spatialDistribution(3, 5, 0, true);
  end Belt;

  function power
    input Real x;
    input Real y;
    input Integer n;
    output Real z;
    output Integer m;
    output Real w[2];
  algorithm
    m := n;
    z := 1;
    for i in 1:n loop
      z := z*x + sin(y);
    end for;
    w := {x*y, x^2*y^3};
  end power;
  function power_x = der(power, x);
  function power_xy = der(power, x, y);
  function power_xx = der(power_x, x);

  model PartialDerivatives "der(f, x) of a function with a loop and several outputs"
    Real a, w[2];
    Real b = power_xy(time, 0.5, 3);
    Real c = power_xx(y = 0.5, x = time, n = 3);
  equation
    (a, w) = power_x(time, 2*time, 2);
  end PartialDerivatives;

  model SecondDerivatives "der(der(x)) without a variable for the speed, and with a constraint on it"
    Real x(start = 1, fixed = true);
    Real p(start = 0, fixed = true), q, t;
    Real speed = der(p);
  initial equation
    speed = 0;
    der(x) = 0;
  equation
    der(der(x)) = -x;
    der(der(p)) = 6*time - t;
    2*der(der(q)) = t;
    p = 2*q;
  end SecondDerivatives;

  model ParallelCapacitors "Neither end is grounded: the constraint between the voltages is hidden in two sums"
    Real u1, u2, i1, i2, a, b, i;
  equation
    u1 = a - b;
    u2 = b - a;
    der(u1) = i1;
    der(u2) = i2;
    i = i1 - i2;
    i = 2 - a;
    i = b;
  end ParallelCapacitors;

  model VaryingClock "Each tick says when the next one comes; a clock by a held condition; one that nothing defines"
    Integer n(start = 2);
    Integer count(start = 0), late(start = 0), seconds(start = 0);
    Real since;
    Boolean second = hold(count) >= 2;
  equation
    when Clock(n, 10) then
      n = previous(n) + 1;
      count = previous(count) + 1;
      since = interval();
    end when;
    when Clock(second) then
      late = previous(late) + 1;
    end when;
    when Clock() then
      seconds = previous(seconds) + 1;
    end when;
  end VaryingClock;

  type Dense = Real(start = 1, min = 0);

  model StartOfTheType "A start value that comes with the type is no reason to begin from that unknown"
    Dense d;
    Real T(start = 300);
  equation
    d = 1000 - 0.5*T;
    100/d + 1 - 0.5e-3*T = 100/860 + 0.86;
  end StartOfTheType;

  operator record Pair
    Real a;
    Real b;
    encapsulated operator 'constructor'
      function one
        import Causes.Pair;
        input Real a;
        input Real b = 1;
        output Pair p = Pair(a = a, b = b);
      algorithm
      end one;
    end 'constructor';
  end Pair;

  model OwnConstructor "A constructor may call its record by name; an input with a value is no input"
    input Real u = time;
    Pair p = Pair(u);
  end OwnConstructor;

  record Coefficients
    Real k;
    Real c[:];
  end Coefficients;

  function firstOnes
    input Integer n;
    output Coefficients r(redeclare Real c[n - 1]);
  protected
    Integer m = size(r.c, 1);
  algorithm
    r.k := m;
    for i in 1:m loop
      r.c[i] := i;
    end for;
  end firstOnes;

  model SizedByRedeclaration "The sizes of a record that a function returns are told by its inputs"
    parameter Coefficients r = firstOnes(4);
    Real s = sum(r.c)*r.k;
  end SizedByRedeclaration;

  model DiscreteSteadyState "Discrete Reals that determine each other in the initial system"
    parameter Real a = 0.5;
    Real x(start = 7), y(start = 7);
    flow Real f "not in a connector: nothing is connected to it";
    discrete Real last(start = 0, fixed = true);
  initial equation
    x = a*y + 1;
    y = 2*a*x - 1;
  equation
    when sample(1, 1) then
      x = pre(x) + 1;
      y = pre(y);
    end when;
    f = x + y;
    when terminal() then
      last = x;
    end when;
  end DiscreteSteadyState;

  model ClockedInput "An input of the model in a clocked partition"
    input Real u(start = 2);
    Real y(start = 0);
  equation
    when Clock(0.1) then
      y = previous(y) + u;
    end when;
  end ClockedInput;

  function heaped
    input Real x;
    input Real n;
    output Real y;
  algorithm
    y := 0;
    for i in 1:integer(n) loop
      y := y + x^3;
    end for;
    annotation(Inline = false, inverse(x = unheaped(n = n, y = y)));
  end heaped;

  function unheaped
    input Real y;
    input Real n;
    output Real x;
  algorithm
    x := sign(y)*(abs(y)/integer(n))^(1/3);
    annotation(Inline = false);
  end unheaped;

  model ByInverse "Solved for an input by the inverse that the function names"
    Real x(start = 100);
    parameter Real n = 2;
  equation
    heaped(x, n) = 16*time;
  end ByInverse;

  model ByInverseOfNegative "As one flow enters what another leaves"
    Real x(start = 100), y;
    parameter Real n = 2;
  equation
    heaped(y, n) = -16*time;
    x + y = 0;
  end ByInverseOfNegative;

  model LeftLimitOfOutput "pre of a continuous variable that only whens read: it does not jump"
    Real h(start = 1, fixed = true);
    Real e = 3 - h;
    discrete Real jump(start = 7), before(start = 7);
  equation
    der(h) = -h;
    when sample(0.1, 0.1) then
      jump = e - pre(e);
      before = pre(e);
    end when;
  end LeftLimitOfOutput;
  model Discretised "x' = -x from tick to tick; the method is a parameter behind a parameter"
    parameter String wanted = "ExplicitEuler";
    parameter String method = wanted;
    Clock c = Clock(Clock(0.1), solverMethod = method);
    Real x(start = 1);
    Real y = hold(x);
  equation
    when c then
      der(x) = -x;
    end when;
  end Discretised;

  model DiscretisedImplicit
    extends Discretised(wanted = "ImplicitEuler");
  end DiscretisedImplicit;

  model DiscretisedTrapezoid
    extends Discretised(method = "ImplicitTrapezoid");
  end DiscretisedTrapezoid;

  model DiscretisedByOurName
    extends Discretised(method = "trapezoidal");
  end DiscretisedByOurName;

  model FreeBoolean "a Boolean parameter that the initial system gives, in a loop with Reals: p^3 + 2*p = 5"
    parameter Boolean large(fixed = false);
    parameter Real p(fixed = false, start = 1);
    Real x(start = 1, fixed = true), y(start = 1);
  initial equation
    large = y > 2;
    p^3 + (if large then 1 else 2)*p = 5 + x - y;
  equation
    der(x) = -p*x;
    y = p + x;
  end FreeBoolean;

  function steps "not written out where it is called"
    input Real x;
    output Real y;
  algorithm
    y := x;
    while y < 10 loop
      y := 2*y;
    end while;
  end steps;

  model StartOfCalls "the start of what is iterated on needs temporaries, as a start and as a size"
    parameter Real p = 3;
    Real x(start = steps(p)/(1 + steps(p)), fixed = true);
    Real y(start = steps(p)/(5 + steps(p)), nominal = steps(p)*(1 + steps(p)));
  equation
    der(x) = 0;
    y^3 + y = 10*x/x;
  end StartOfCalls;

  model CurvedLoopInWhen "Each of these needs itself, through a curve"
    Real x(start = 0.5), y;
    Real a(start = 0.5), b(start = 0.5);
  equation
    when sample(0, 0.2) then
      y = cos(x) + time;
      a = 0.5*cos(b) + 0.1*time;
      b = 0.5*sin(a) + 0.2;
    end when;
    x = y;
  end CurvedLoopInWhen;

  model LoopInWhen "discrete numbers in a loop: linear in a when, nonlinear at a clock"
    discrete Real x(start = 1, fixed = true), y;
    Clock c = Clock(0.1);
    Real v(start = 1), w;
  equation
    when sample(0, 0.1) then
      x = 2*y + 1 + pre(x);
      y = 0.9*x + 1;
    end when;
    when c then
      v + 2*w = sample(time);
      v - w^3 = previous(v);
    end when;
  end LoopInWhen;

  model AtTheLimit "An assertion holds up to the rounding of what a solver computes, and not beyond"
    parameter Real slope = 1e-15;
    Real x = -slope*time;
  equation
    assert(x >= 0 and not x < 0, "x is negative");
  end AtTheLimit;

  model OwnSize "A dimension told by another one of the same array"
    Real x[size(x, 2), 3] = ones(3, 3)*time;
    Integer n = size(x, 1);
  end OwnSize;

  record Roots
    Real low;
    Real high;
  end Roots;

  function bothRoots
    input Real x;
    output Roots r;
  algorithm
    assert(x >= 0, "there is no root");
    r.high := 0;
    while r.high*r.high < x loop
      r.high := r.high + 1;
    end while;
    r.low := -r.high;
    annotation(Inline = false);
  end bothRoots;

  function highRoot
    input Real x;
    output Real y;
  protected
    Roots r;
  algorithm
    if x > 0 then
      r := bothRoots(x);
      y := r.high;
    else
      y := -1;
    end if;
  end highRoot;

  model NotTaken "A function that may fail is not called on a path that is not taken"
    Real y = highRoot(time - 1);
  end NotTaken;

  model EventClockAtStart "conditions that hold, and do not hold, at the start"
    Real a = cos(6*time);
    Integer high(start = 0), low(start = 0);
    Integer highs = hold(high), lows = hold(low);
  equation
    when Clock(a > 0.5) then
      high = previous(high) + 1;
    end when;
    when Clock(a < 0.5) then
      low = previous(low) + 1;
    end when;
  end EventClockAtStart;

  model SampleFromInitial "Start and interval of a sample come from the initial equations"
    parameter Real first(fixed = false), every(fixed = false);
    parameter Real second(fixed = false);
    Integer n(start = 0, fixed = true);
    Boolean on(start = false, fixed = true);
  initial equation
    first = 0.3;
    every^3 + every = 0.625;
  initial algorithm
    second := first + 0.1;
    if time < second then
      second := second + 0.1;
    end if;
  equation
    when sample(first, every) then
      n = pre(n) + 1;
    end when;
    when sample(first, 1) then
      on = true;
    elsewhen sample(second, 1) then
      on = false;
    end when;
  end SampleFromInitial;

  model SampleOfNothing "An interval that the initial equations make zero"
    parameter Real every(fixed = false);
    Integer n(start = 0, fixed = true);
  initial equation
    every = 0;
  equation
    when sample(0, every) then
      n = pre(n) + 1;
    end when;
  end SampleOfNothing;

  model SameInstant "Sums of an interval and its multiples are the same instants but for rounding"
    discrete Real next(start = 0.1, fixed = true);
    Integer m(start = 0, fixed = true), together(start = 0, fixed = true);
    Boolean sum = time >= pre(next), product = time >= 0.1*(pre(m) + 1);
  equation
    when {sum, product} then
      next = if sum then pre(next) + 0.1 else pre(next);
      m = if product then pre(m) + 1 else pre(m);
      together = pre(together) + (if sum and product then 1 else 0);
    end when;
  end SameInstant;

  model LoopThroughWhen "Reals and discrete Reals that need each other: taking turns would diverge"
    parameter Real k = 3;
    Real x, y(start = 0, fixed = true);
    Real u(start = 0, fixed = true), v, s(start = 0, fixed = true);
    Real p, q(start = 1, fixed = true);
    Boolean high = p > 2.5;
  equation
    when sample(0, 0.25) then
      y = 7 - 2*x + time;
      u = k*(1 - v);
      q = 4 - (if high then 3 else 1)*p;
    end when;
    x + y = 5;
    v = 2*u + s;
    der(s) = u - s;
    p + p^3 = 2*q;
  end LoopThroughWhen;

  model Unsettled "A condition that turns itself round at every sample"
    Boolean up(start = false, fixed = true);
    Integer n = if up then 1 else 0;
    Real x = n + time;
  equation
    when sample(0.1, 0.25) then
      up = not n == 1;
    end when;
  end Unsettled;
  model TwoResultsConstrained "Both results of a call are in constraints: one of them, differentiated, takes the other along"
    record Properties
      Real a;
      Real b;
    end Properties;
    function properties
      input Real x;
      output Properties p;
    protected
      Real y;
    algorithm
      y := x - 1;
      p.a := x*y;
      p.b := x*y*y;
      annotation(Inline = false);
    end properties;
    Properties p = properties(3 + 2*time^3);
    Real sum = 2*p.a + p.b;
    Real b = p.b;
    Real followsSum;
    Real followsB;
  initial equation
    followsSum = sum;
    followsB = b;
  equation
    der(sum) = der(followsSum);
    der(b) = der(followsB);
  end TwoResultsConstrained;
  partial function OfOne
    input Real x;
    output Real y;
  end OfOne;

  function root "Of a rising function, by bisection"
    input OfOne f;
    input Real low;
    input Real high;
    output Real x;
  protected
    Real a = low;
    Real b = high;
  algorithm
    for i in 1:60 loop
      x := (a + b)/2;
      if f(x) > 0 then
        b := x;
      else
        a := x;
      end if;
    end for;
    annotation(Inline = false);
  end root;

  function shiftedCubic
    extends OfOne;
    input Real h;
  algorithm
    y := x^3 + x - h;
    annotation(Inline = false);
  end shiftedCubic;

  function inverseOfCubic
    input Real h;
    output Real x;
  algorithm
    x := root(function shiftedCubic(h = h), -10, 10);
    annotation(Inline = false);
  end inverseOfCubic;

  model SolvedInside "A function that searches: what it gives has no derivative that its statements tell"
    Real h(start = 4);
  equation
    inverseOfCubic(h) = 1.5 + time;
  end SolvedInside;

  function halved "x^3 + x = h by halving an interval"
    input Real h;
    output Real x;
  protected
    Real a = -10;
    Real b = 10;
    Real off;
  algorithm
    for k in 1:60 loop
      x := (a + b)/2;
      off := x^3 + x - h;
      if off > 0 then
        b := x;
      else
        a := x;
      end if;
    end for;
  end halved;

  function stair "What a table has at or below a number: its derivative is zero"
    input Real u;
    output Real y = 0;
  protected
    Real t[3] = {1, 2, 3};
  algorithm
    for i in 1:3 loop
      if u > t[i] then
        y := y + t[i];
      end if;
    end for;
    annotation(Inline = false);
  end stair;

  model SearchedInside
    Real h(start = 4);
    Real x = stair(1.5 + time);
    Real still = der(x);
  equation
    halved(h) = 1.5 + time;
  end SearchedInside;

  model RateOfSearchedInside
    Real x = halved(2 + time);
    Real speed = der(x);
  end RateOfSearchedInside;

  function oneWayOrAnother
    input Real x;
    input Integer way;
    output Real y;
  protected
    Boolean searching = way == 1;
  algorithm
    if searching then
      y := halved(x);
    elseif x > 100 then
      y := 0;
    else
      y := x^2;
    end if;
    annotation(Inline = false);
  end oneWayOrAnother;

  model RateOfChosenWay "Only the way that is not taken has no derivative"
    Real x = oneWayOrAnother(2 + time, 2);
    Real speed = der(x);
  end RateOfChosenWay;

  model RateOfOtherWay
    Real x = oneWayOrAnother(2 + time, 1);
    Real speed = der(x);
  end RateOfOtherWay;

  function scaledCubic
    extends OfOne;
    input Real k[2];
  algorithm
    y := x^3 + k[2]*x - k[1];
    annotation(Inline = false);
  end scaledCubic;

  function mean "Not a root of what it is handed"
    input OfOne f;
    output Real y = 0;
  algorithm
    for i in 1:10 loop
      y := y + f(i/10)/10;
    end for;
    annotation(Inline = false);
  end mean;

  model RateOfSolvedInside "x^3 + x = h and z^3 + h*z = h"
    Real h = 2 + time;
    Real x = inverseOfCubic(h);
    Real z = root(function scaledCubic(k = {h, h}), -10, 10);
    Real speed = der(x), other = der(z);
  end RateOfSolvedInside;

  model AlwaysAndNot "y follows time as well: it is no state, and that is said"
    Real x(start = 1, fixed = true), y(stateSelect = StateSelect.always);
  equation
    der(x) = -x;
    y = sin(time) + x;
  end AlwaysAndNot;

  model RateOfMean
    Real x = mean(function shiftedCubic(h = time));
    Real speed = der(x);
  end RateOfMean;

  model MeanInJacobian "der(s) = s - 0.8525; its Jacobian takes differences"
    Real s(start = 1, fixed = true);
  equation
    der(s) = -mean(function shiftedCubic(h = s));
  end MeanInJacobian;

  function lookup "Linear between points; fails where they do not increase"
    input Real x[:];
    input Real y[size(x, 1)];
    input Real u;
    output Real v;
    output Integer k = 1 "The interval";
  algorithm
    while k < size(x, 1) - 1 and u > x[k + 1] loop
      k := k + 1;
    end while;
    assert(x[k + 1] > x[k], "the points must increase");
    v := y[k] + (y[k + 1] - y[k])*(u - x[k])/(x[k + 1] - x[k]);
  end lookup;

  function slopes "Fails where the points do not increase"
    input Real x[:];
    input Real y[size(x, 1)];
    output Real d[size(x, 1) - 1];
  algorithm
    for i in 1:size(x, 1) - 1 loop
      assert(x[i + 1] > x[i], "the points must increase");
      d[i] := (y[i + 1] - y[i])/(x[i + 1] - x[i]);
    end for;
  end slopes;

  model ArrayUnderAConditionAtStart "Of two sets of points the one that is chosen has to increase"
    parameter Integer chosen(fixed = false);
    parameter Real a[2](each fixed = false), b[2](each fixed = false);
    parameter Real none[3] = zeros(3);
    Real y = a[2] + b[1];
  initial equation
    chosen = if none[1] < 1 then 1 else 2;
    if chosen == 1 then
      a = slopes({1, 2, 4}, {0, 3, 9});
      b = zeros(2);
    else
      a = zeros(2);
      b = slopes(none, {0, 3, 9});
    end if;
  end ArrayUnderAConditionAtStart;

  model SeveralUnderACondition "A call with several results that fails where the condition around it does not hold"
    Boolean on = time > 0.5;
    Real points[3];
    Real a, w(start = 0, fixed = true);
    Real b = if on then lookup(points, {0, 1, 4}, 2.5) else -2;
  equation
    if on then
      points = {0, 1 + time, 2 + time};
      a = lookup(points, {0, 1, 4}, time);
    else
      points = zeros(3);
      a = -1;
    end if;
    der(w) = a;
  end SeveralUnderACondition;

  function powers "of a number that is not negative"
    input Real x;
    output Powers p;
    output Real half[2];
  algorithm
    assert(x >= 0, "there is no power");
    p.square := x*x;
    p.twice := {2*x, 2*x};
    for i in 1:2 loop
      half[i] := x/2;
    end for;
    annotation(Inline = false);
  end powers;

  record Powers
    Real square;
    Real twice[2];
  end Powers;

  function rooted
    input Real x;
    output Powers p;
  algorithm
    p := powers(x);
    p.twice[2] := sqrt(x);
    annotation(Inline = false);
  end rooted;

  function squareOf
    input Powers p;
    output Real y = p.square;
  algorithm
  end squareOf;

  function firstOf
    input Powers p;
    output Real y = p.twice[1];
  algorithm
  end firstOf;

  function secondOf
    input Powers p;
    output Real y = p.twice[2];
  algorithm
  end secondOf;

  model RecordUnderACondition "A call with a record that fails where no condition around it holds"
    Real x = time - 1;
    Powers p;
    Real a = if time > 2 then firstOf(rooted(x)) else -1;
    Real b = noEvent(if x > 0.5 then secondOf(rooted(x))^2 else -x) "the same call, without events";
    Real h[2], w(start = 0, fixed = true);
    Real nested = if x > 0 then squareOf(rooted(squareOf(rooted(x)))) else 0;
  equation
    if x > 0 then
      p = rooted(x);
      (, h) = powers(x);
    else
      p.square = 0;
      p.twice = {-1, -1};
      h = {3, 3};
    end if;
    der(w) = if time > 1 then firstOf(rooted(w + 1)) else 0;
  end RecordUnderACondition;

  function place "of place, speed and acceleration"
    input Real all[3];
    input Real t;
    output Real x = all[1];
  algorithm
    annotation(derivative(noDerivative = all) = speed, InlineAfterIndexReduction = true);
  end place;

  function speed
    input Real all[3];
    input Real t;
    input Real dt;
    output Real v;
  algorithm
    v := all[2];
    annotation(derivative(noDerivative = all, order = 2) = acceleration, InlineAfterIndexReduction = true);
  end speed;

  function acceleration
    input Real all[3];
    input Real t;
    input Real dt;
    input Real ddt;
    output Real a;
  algorithm
    a := all[3];
  end acceleration;

  model Prescribed "Place, speed and acceleration are handed in together: none is the derivative of another here"
    parameter Real given[3] = {2, 3, 4};
    input Real u[3](start = {5, 6, 7});
    Real x = place(given, time), v = der(x), a = der(v);
    Real xu = place(u, time), vu = der(xu), au = der(vu);
    Real z(start = 1, fixed = true) "what is handed in hangs on a state";
    Real p = place({sin(time), 8, 0.5*f + 1}, time), pv = der(p), f = 4 - der(pv) "it hangs on what it moves";
  equation
    der(z) = -1000*(place({z, 1e6, 0}, time) - 0.5);
  end Prescribed;

  impure function next "1, 2, 3, ... from call to call"
    output Real y;
    external "C" y = khz_test_next() annotation(Include = "
      static double khz_test_next(void) { static double n = 0.0; n += 1.0; return n; }");
  end next;

  impure function twice
    output Real y;
  algorithm
    y := 10*next() - 10*next();
  end twice;

  impure function three
    output Real x;
    output Real y[2];
  algorithm
    x := next();
    y := {next(), next()};
  end three;

  model ImpureCalls "Each is made as often as it is written"
    parameter Real p(fixed = false), q(fixed = false);
    discrete Real first, second, each_[3], x, same, other, d, v[2], f;
    parameter Real r(fixed = false), s[2](each fixed = false);
    Real difference = q - p, further = s[1] - r, last = s[2] - r;
  initial equation
    p = next();
    q = next();
    (r, s) = three();
  algorithm
    when initial() then
      first := next();
      second := next();
      for i in 1:3 loop
        each_[i] := next();
      end for;
    end when;
  algorithm
    when sample(0, 0.5) then
      x := next();
      same := x + 1;
      other := x + 2;
    end when;
  equation
    when sample(0, 0.5) then
      d = next() - 3*next();
      v = next()*{1, 2};
      f = twice();
    elsewhen time > 0.7 then
      d = 0;
      v = {next(), next()};
      f = next();
    end when;
  end ImpureCalls;

  model ImpureForEach
    discrete Real v[3];
    discrete Real w[3];
  equation
    when initial() then
      v = {next() for i in 1:3};
      w = {next()*i + sum(v[j] for j in 1:i) for i in 1:3};
    end when;
  end ImpureForEach;

  model PreOfElement "of the element that a subscript names now; in small arrays, in large ones, in records"
    record Counter
      Integer n(start = 0, fixed = true);
    end Counter;
    parameter Integer size = 3;
    Integer i(start = 1, fixed = true);
    Integer count[size](each start = 0, each fixed = true);
    Counter counters[2];
    Integer before(start = 0, fixed = true), inside(start = 0, fixed = true);
    Boolean late[3] = {time > 0.15, time > 0.35, time > 0.55};
    Integer edges(start = 0, fixed = true);
  equation
    when sample(0.1, 0.1) then
      i = mod(pre(i), 3) + 1;
      before = pre(count[i]);
      inside = pre(counters[if i > 1 then 2 else 1].n);
      for k in 1:size loop
        count[k] = if k == i then pre(count[k]) + 1 else pre(count[k]);
      end for;
      counters[1].n = if i == 1 then pre(counters[1].n) + 1 else pre(counters[1].n);
      counters[2].n = if i > 1 then pre(counters[2].n) + 1 else pre(counters[2].n);
    end when;
    when edge(late[min(1 + integer(5*time), 3)]) then
      edges = pre(edges) + 1;
    end when;
  end PreOfElement;

  model ElementOfMany "of arrays that are too large for a choice"
    parameter Real table[1000] = {sin(k/100) for k in 1:1000};
    parameter Real map[20, 30] = {{10*a + b for b in 1:30} for a in 1:20};
    Real x[300](each start = 0, each fixed = true);
    Integer i = 1 + integer(100*time), j = 1 + integer(8*time);
    Real y = table[i], z = map[j, j + 2], row[30] = map[j, :], moving = x[i], rate = der(moving);
  equation
    der(x) = 1:300;
  end ElementOfMany;

  model CallInMixedLoop "a call of which one result is in a loop with a condition, the others are not"
    function properties
      input Real h;
      output Real d;
      output Real T;
      output Real u;
    algorithm
      d := 1 + h;
      T := h/2;
      u := h*h;
      annotation(Inline = false);
    end properties;
    Real q, h, d, T, u;
  equation
    h = if q > 0 then 1 + 0.1*q else 2;
    (d, T, u) = properties(h);
    q = d*(time - 0.5);
  end CallInMixedLoop;

  model PreferredStart "an amount is the state, what is given is the concentration"
    Real n(stateSelect = StateSelect.prefer);
    Real c(start = 0.25, stateSelect = StateSelect.prefer);
    Real V(start = 2, fixed = true);
    Real g(start = 9);
  equation
    der(V) = 0;
    der(n) = -n;
    c = n/V;
    g = 2*n;
  end PreferredStart;

  model RoundedInFunction "rounding inside of an inlined function makes no events, as its comparisons do not"
    function wrapped
      input Real u;
      output Real y;
      output Integer n;
    algorithm
      n := integer(u);
      y := u;
      if y > 1 then
        y := y - floor(y) + mod(u, 1) + div(u, 1);
      end if;
      annotation(Inline = true);
    end wrapped;
    Real x(start = 0.5, fixed = true);
    Real y = wrapped(x);
  equation
    der(x) = 1;
  end RoundedInFunction;
end Causes;
