// Further kinds of models with answers known by hand; `test_known_answers.py` has the numbers at time 1.
package FurtherAnswers
  connector Pipe
    Real p;
    flow Real m;
    stream Real h;
  end Pipe;

  model Source
    Pipe f;
    parameter Real m = 1;
    parameter Real h = 1;
  equation
    f.m = -m*(1 + time);
    f.h = h;
  end Source;

  model Sink
    Pipe f;
    Real hin = inStream(f.h);
    Real a = actualStream(f.h);
  equation
    f.p = 1;
    f.h = 99;
  end Sink;

  model RingOfDerivatives "Each state is the derivative of the other"
    Real u(start = 1, fixed = true);
    Real v(start = 0, fixed = true);
    Real a(start = 1, fixed = true);
    Real b(start = 0, fixed = true);
    Real c(start = 0, fixed = true);
    Real y = u + v + a + b + c;
  equation
    der(u) = v;
    der(v) = u;
    der(c) = a;
    der(a) = b;
    der(b) = c;
  end RingOfDerivatives;

  model StreamsMeet
    Source a(m = 1, h = 10);
    Source b(m = 3, h = 20);
    Sink s;
    Real y(start = 0, fixed = true);
  equation
    connect(a.f, s.f);
    connect(b.f, s.f);
    der(y) = s.a*s.f.m;
  end StreamsMeet;

  model SubSampled
    Real u = sample(time, Clock(1, 10));
    Real a = subSample(u, 2);
    Real b = superSample(a, 2);
    Real c = shiftSample(u, 1, 2);
    Real d = backSample(shiftSample(u, 1), 1, 2);
    Real v[2](each start = 0);
    Real y;
  equation
    when Clock(1, 10) then
      v = previous(v) + {interval(), u};
    end when;
    y = hold(a) + 10*hold(v[2]);
  end SubSampled;

  model EulerOnAClock
    Real x(start = 1, fixed = true);
    Real xs;
    Real y;
  equation
    when Clock(Clock(1, 100), solverMethod = "ExplicitEuler") then
      der(x) = -2*x;
    end when;
    xs = x;
    y = hold(xs);
  end EulerOnAClock;

  function column "arrays, integers, strings in C"
    input Real a[:, :];
    input Integer k;
    output Real s;
    output Integer n;
    external "C" column_of(a, size(a, 1), size(a, 2), k, s, n) annotation(Include="static void column_of(const double *a, size_t n, size_t m, int k, double *s, int *r) { *s = 0; for (size_t i = 0; i < n; i++) *s += a[i*m + k - 1]; *r = (int)(n*10 + m); }");
  end column;

  model ArraysInC
    Real s;
    Integer n;
    Real y;
  equation
    (s, n) = column([1, 2, 3; 4, 5, 6*time], 3);
    y = s + 100*n;
  end ArraysInC;

  model FlowThatTurns
    Real v = if time < 0.5 then 1 else -1;
    Real s(start = 0, fixed = true);
    Real o0;
    Real o1;
    Real y;
  equation
    der(s) = v;
    (o0, o1) = spatialDistribution(time, -5, s, v >= 0, {0, 1}, {10, 20});
    y = o0;
  end FlowThatTurns;

  type Level = enumeration(lo, mid, hi);

  model ByEnumeration
    parameter Real t[Level] = {1, 10, 100};
    Level e[3] = {if time > 0.3 then Level.hi else Level.lo, Level.mid, Level.lo};
    Integer n = sum(Integer(k) for k in Level);
    Real y;
  equation
    y = t[e[1]] + t[e[2]] + 1000*(if e[1] > e[2] then 1 else 0) + sum(t[k]*Integer(k) for k in Level.mid:Level.hi) + 10000*n + (if max(e[1], Level.mid) == Level.hi then 100000.0 else 0);
  end ByEnumeration;

  model Iterators
    Real m[2, 3] = {10*i + j for j in 1:3, i in 1:2};
    Real y = m[2, 3] + sum(i*j for i in 1:2, j in 1:3) + product(k for k in {1, 2, 3}) + max(i^2 - 3*i for i in 0:5);
  end Iterators;

  function three
    input Real x;
    input Real k = 2*x;
    input Integer n = 3;
    output Real a;
    output Real b;
    output Real c;
  algorithm
    a := x;
    b := k;
    c := k*n;
  end three;

  model ResultsLeftOut
    Real a;
    Real c;
    Real d;
    Real y;
  equation
    (a, , c) = three(time, n = 5);
    (, d) = three(x = 2, k = 7);
    y = a + 10*c + 100*d;
  end ResultsLeftOut;

  function smallest
    input Real x;
    output Integer n;
  algorithm
    n := 0;
    while true loop
      n := n + 1;
      for i in 1:10 loop
        if i > n then
          break;
        end if;
        if n*i > x then
          return;
        end if;
      end for;
    end while;
  end smallest;

  model BreakAndReturn
    Real y = smallest(20*time + 0.5);
  end BreakAndReturn;

  model DerivativesOfExpressions
    Real x(start = 1, fixed = true);
    Real w(start = 2, fixed = true);
    Real m[2, 2] = [x, w; x*w, x^2];
    Real d[2, 2] = der(m);
    Real y;
  equation
    der(x) = 1;
    der(w) = -1;
    y = d[2, 1] + 10*d[2, 2] + 100*der(x*w + time*x);
  end DerivativesOfExpressions;

  model Matrices
    Real a[3] = {1, 2, time};
    Real y;
  equation
    y = sum(cross(a, {0, 1, 1})) + sum(skew(a)*{1, 1, 1}) + sum(outerProduct(a, a)) + sum(transpose([a, 2*a])*{1, 1, 1}) + sum(symmetric([1, 2; 3, 4])) + sum(cat(1, a, {4})) + ndims([a, a])*1000 + sum(diagonal(a)*identity(3)) + sum([1, 2; 3, 4]^3);
  end Matrices;

  function ones_and_zeros "Constructors whose size is not known; they give Integers, which become Reals where those are"
    input Real x;
    input Integer n;
    output Real y;
  protected
    Integer one[n, n] = identity(n);
    Integer d[n, n] = diagonal(ones(n));
    Real a[n, n] = x*identity(n);
    Real b[:, :] = identity(n);
  algorithm
    a := a - identity(n)/2 + 3*identity(n);
    a := if x > 100 then identity(n) else a + identity(n);
    a[1, :] := one[2, :]*0.5;
    b := [a, identity(n)];
    y := sum(b) + sum(identity(n)*a) + sum(identity(n)^2) + div(sum(identity(n)) + one[1, 1] + d[2, 2], 2) + sum(zeros(n) + fill(2, n));
    annotation(Inline = false);
  end ones_and_zeros;

  model IntegerMatrices
    parameter Integer one[50, 50] = identity(50);
    parameter Real more[50, 50] = 2.5*identity(50) - one;
    Real y = ones_and_zeros(2*time, 3) + sum(more);
  end IntegerMatrices;

  model Part
    parameter Real k[2] = {1, 2};
    parameter Real j = 3;
    Real s = k[1] + 10*k[2] + 100*j;
  end Part;

  model EachAndArrays
    Part q[2](each k = {4, 5}, j = {6, 7});
    Part r[3](k = [1, 2; 3, 4; 5, 6]);
    Part w[2, 2](j = [1, 2; 3, 4]);
    Real y = q[1].s + q[2].s + r[3].s + w[2, 1].s;
  end EachAndArrays;

  model SamplesThatMeet
    Integer a(start = 0, fixed = true);
    Integer b(start = 0, fixed = true);
    Integer c(start = 0, fixed = true);
    Real y;
  equation
    when sample(0.05, 0.1) then
      a = pre(a) + 1;
    end when;
    when sample(0.1, 0.2) then
      b = pre(b) + a;
    end when;
    when {sample(0.05, 0.1), sample(0.1, 0.2)} then
      c = pre(c) + 1;
    end when;
    y = a + 100*b + 10000*c;
  end SamplesThatMeet;

  model Hysteresis
    Real u = 2*sin(6.283185307179586*time*3);
    Boolean on(start = false, fixed = true);
    Integer n(start = 0, fixed = true);
    Real y = n;
  equation
    on = u > 1 or pre(on) and u > -1;
    when change(on) then
      n = pre(n) + 1;
    end when;
  end Hysteresis;

  model Rectified
    Real s;
    Real v;
    Real i;
    Real u = sin(6.283185307179586*time);
    Boolean off = s < 0;
    Real y(start = 0, fixed = true);
  equation
    v = s*(if off then 1 else 0);
    i = s*(if off then 0 else 1);
    u = i*2 + v;
    der(y) = i;
  end Rectified;

  function bent
    input Real x[2];
    output Real r;
  algorithm
    r := 0;
    for i in 1:2 loop
      if x[i] > 0 then
        r := r + x[i]^2;
      else
        r := r - x[i];
      end if;
    end for;
  end bent;

  model ConstraintInAFunction
    Real a(start = 0.6);
    Real b(start = 0.8);
    Real va;
    Real vb;
    Real l;
    Real y = a^2 + b^2;
  equation
    der(a) = va;
    der(b) = vb;
    der(va) = -l*a;
    der(vb) = -l*b;
    bent({a, b}) = 1;
  initial equation
    a = 0.6;
    va = 0.1;
  end ConstraintInAFunction;

  model OfASteadyState
    parameter Real k(fixed = false, start = 1);
    Real x(start = 4, fixed = true);
    Real y = k + x;
  equation
    der(x) = 8 - k*x;
  initial equation
    der(x) = 0;
  end OfASteadyState;

  model InitialAlgorithm
    Integer n(start = 3);
    Real z;
    Real y = n + 10*z;
  initial algorithm
    n := 5;
    z := 2;
    for i in 1:3 loop
      n := n + i;
    end for;
  equation
    when time > 0.5 then
      n = pre(n)*2;
      z = pre(z) + n;
    end when;
  end InitialAlgorithm;

  partial package Fluid
    constant Integer nX = 1;
    constant Real ref[nX] = ones(nX);
    replaceable partial function h
      input Real T;
      input Real X[nX];
      output Real h;
    end h;
  end Fluid;

  package Gas
    extends Fluid(nX = 2, ref = {3, 4});
    redeclare function extends h
    algorithm
      h := T*X*ref;
    end h;
  end Gas;

  model Volume
    replaceable package Medium = Fluid;
    Real X[Medium.nX] = {i*1.0 for i in 1:Medium.nX};
    Real h = Medium.h(time, X);
  end Volume;

  model Packages
    Volume v(redeclare package Medium = Gas);
    Real y = v.h;
  end Packages;

  model EventClock
    Real x(start = 0, fixed = true);
    Integer n(start = 0);
    Real y = hold(n);
  equation
    der(x) = 10;
    when Clock(sin(x) > 0.5, 0.0) then
      n = previous(n) + 1;
    end when;
  end EventClock;

  model RotatingVector
    discrete Real v[3](start = {1, 2, 3}, each fixed = true);
    Real y = v*{1, 10, 100};
  equation
    when sample(0.25, 0.25) then
      v = {pre(v[3]), pre(v[1]), pre(v[2])} .+ 1;
    end when;
  end RotatingVector;

  model IfOfParameters
    parameter Integer k = 2;
    Real a;
    Real b;
    Real y = a + 10*b;
  equation
    if k == 1 then
      a = 1;
      b = a;
    elseif k == 2 then
      a + b = 5*time;
      a - b = 1;
    else
      a = 0;
      b = 0;
    end if;
  end IfOfParameters;

  model TableInAnAlgorithm
    Real t[4] = {0, 1, 4, 9};
    Real u = 2.5*time;
    Real y;
  protected
    Integer i;
  algorithm
    i := 1;
    for k in 1:3 loop
      if u >= k - 1 then
        i := k;
      end if;
    end for;
    y := t[i] + (t[i + 1] - t[i])*(u - (i - 1));
  end TableInAnAlgorithm;

  model CapacitorsInParallel
    Real v1(start = 2, fixed = true);
    Real v2;
    Real i1;
    Real i2;
    Real y = v2;
  equation
    der(v1)*1 = i1;
    der(v2)*3 = i2;
    v1 = v2;
    i1 + i2 = -v1;
  end CapacitorsInParallel;

  model BooleansOfFunctions
    Boolean b[4] = {time > 0.2*k for k in 1:4};
    Integer n = sum(if b[k] then 1 else 0 for k in 1:4);
    Real y = n + (if par(b) then 10 else 0);
    function par
      input Boolean b[:];
      output Boolean r = false;
    algorithm
      for k in 1:size(b, 1) loop
        r := r and not b[k] or not r and b[k];
      end for;
    end par;
  end BooleansOfFunctions;

  model RecordInAWhen
    record S
      Real a(start = 1);
      Integer n(start = 0);
    end S;
    S s;
    Real y = s.a + 10*s.n;
    function nx
      input S s;
      output S r;
    algorithm
      r := S(a = 2*s.a, n = s.n + 1);
    end nx;
  equation
    when sample(0.3, 0.3) then
      s = nx(pre(s));
    end when;
  end RecordInAWhen;

  model LoopWithBranches
    Real x(start = 1);
    Real z;
    Real y = x;
  equation
    z = if x > 2 then x - 1 else x/2;
    x^2 + z = 6*time + 5;
  end LoopWithBranches;

  record Pair
    Real a(start = 0);
    Real b(start = 0);
  end Pair;

  model OperatorsOfRecords
    function plus
      input Pair u;
      input Pair v;
      output Pair w = Pair(u.a + v.a, u.b + v.b);
    algorithm
    end plus;
    Pair u = Pair(time, 3*time);
    Pair late = delay(u, 0.25);
    Pair total = plus(previous(total), sample(u, Clock(1, 10)));
    Pair held = hold(total);
    Pair last;
    Real y = late.a + 10*held.b + 1000*last.a;
  equation
    when sample(0.5, 1) then
      last = pre(late);
    end when;
  end OperatorsOfRecords;

  model All
    RingOfDerivatives ring_of_derivatives;
    StreamsMeet streams_meet;
    SubSampled sub_sampled;
    EulerOnAClock euler_on_a_clock;
    ArraysInC arrays_in_c;
    FlowThatTurns flow_that_turns;
    ByEnumeration by_enumeration;
    Iterators iterators;
    ResultsLeftOut results_left_out;
    BreakAndReturn break_and_return;
    DerivativesOfExpressions derivatives_of_expressions;
    Matrices matrices;
    EachAndArrays each_and_arrays;
    SamplesThatMeet samples_that_meet;
    Hysteresis hysteresis;
    Rectified rectified;
    ConstraintInAFunction constraint_in_a_function;
    OfASteadyState of_a_steady_state;
    InitialAlgorithm initial_algorithm;
    Packages packages;
    EventClock event_clock;
    RotatingVector rotating_vector;
    IfOfParameters if_of_parameters;
    TableInAnAlgorithm table_in_an_algorithm;
    CapacitorsInParallel capacitors_in_parallel;
    BooleansOfFunctions booleans_of_functions;
    RecordInAWhen record_in_a_when;
    LoopWithBranches loop_with_branches;
    OperatorsOfRecords operators_of_records;
    IntegerMatrices integer_matrices;
    annotation(experiment(StopTime = 1));
  end All;
end FurtherAnswers;
