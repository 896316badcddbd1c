// Small models whose answer is known by hand: kinds of the language that few others use, all at once in `All`.
package KnownAnswers
  record R
    Real a = 1;
    Real b = 2;
  end R;
  type E = enumeration(one, two, three);

  model PartialModifiers "of records in arrays"
    R r[2](each b = 5);
    R s[2](b = {5, 2}, a = {1, 7});
    Real y = s[1].a + s[1].b + s[2].a + s[2].b + r[1].b + r[2].a;
  end PartialModifiers;

  model EnumerationAsIndex
    parameter Real t[E] = {10, 20, 30};
    E e = if time < 0.5 then E.one else E.three;
    Real y = t[e];
  end EnumerationAsIndex;

  model NegativeIntegers
    Integer a = div(-7, 2), b = mod(-7, 2), c = rem(-7, 2), d = integer(-3.5), e = mod(7, -2);
    Real y = 1000*a + 100*b + 10*c + d + e;
  end NegativeIntegers;

  model NegativeReals
    Real y = 100*div(-7.5, 2.0) + 10*mod(-7.5, 2.0) + rem(-7.5, 2.0);
  end NegativeReals;

  connector C
    Real v;
    flow Real i;
  end C;
  model Cardinality
    model Source
      C p;
    equation
      p.v = 2;
    end Source;
    C c, d;
    Source s, t;
    Real y = cardinality(c) + 10*cardinality(d);
  equation
    connect(s.p, c);
    connect(t.p, d);
  end Cardinality;

  model Texts
    parameter String s = "ab" + String(3) + String(true) + String(1.5);
    Real y = if s == "ab3true1.5" and "abc" < "abd" then 1 else 0;
  end Texts;

  model PreOfAParameter
    parameter Integer p = 4;
    Integer n(start = 1, fixed = true);
    Real y = n;
  equation
    when time > 0.5 then
      n = pre(p) + pre(n);
    end when;
  end PreOfAParameter;

  connector Out = output Real;
  block Four
    parameter Real k = 4;
    Out y = k;
  end Four;
  model ConditionalParts
    parameter Boolean on = false;
    Out o;
    Four c(k = 3) if on;
    Four d if not on;
    Real y = o;
  equation
    connect(c.y, o);
    connect(d.y, o);
  end ConditionalParts;

  model Ranges "backwards, empty, reductions of nothing"
    parameter Real none[0];
    Real y = sum(i for i in 3:-1:1) + 10*sum(i for i in 3:1) + 100*product(i for i in 1:0) + sum(none) + product(none);
  end Ranges;

  model Nested "smooth and noEvent"
    Real x(start = 0, fixed = true);
    Real y = smooth(0, noEvent(if x > 0.5 then x else 0.5));
  equation
    der(x) = 1;
  end Nested;

  model VariableDelay
    Real x(start = 0, fixed = true);
    Real y = delay(x, 0.1 + 0.1*time, 1);
  equation
    der(x) = 1;
  end VariableDelay;

  model Transport
    Real x(start = 0, fixed = true);
    Real left, y;
  equation
    der(x) = 2;
    (left, y) = spatialDistribution(time, 0.0, x, true, {0.0, 1.0}, {0.0, 0.0});
  end Transport;

  model Homotopy
    Real x(start = 1);
    Real y = homotopy(3, 5) + x;
  equation
    homotopy(x^2 - 4, x - 2) = 0;
  end Homotopy;

  connector S
    Real p;
    flow Real m;
    stream Real h;
  end S;
  model Tank
    parameter Real h = 5;
    S s(p = 1);
  equation
    s.h = h;
  end Tank;
  model Closed
    S a, b;
  equation
    a.m + b.m = 0;
    a.m = 0*(a.p - b.p);
    a.h = inStream(b.h);
    b.h = inStream(a.h);
  end Closed;
  model NoFlow "inStream while nothing flows"
    Tank t, u(h = 7);
    Closed p;
    Real y = inStream(p.a.h);
  equation
    connect(t.s, p.a);
    connect(p.b, u.s);
  end NoFlow;

  operator record Number
    Real re;
    Real im;
    encapsulated operator 'constructor'
      function of
        import KnownAnswers.Number;
        input Real re;
        input Real im = 0;
        output Number r(re = re, im = im);
      algorithm
      end of;
    end 'constructor';
    encapsulated operator function '*'
      import KnownAnswers.Number;
      input Number a;
      input Number b;
      output Number c;
    algorithm
      c := Number(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re);
    end '*';
    encapsulated operator '-'
      function negated
        import KnownAnswers.Number;
        input Number a;
        output Number c;
      algorithm
        c := Number(-a.re, -a.im);
      end negated;
      function difference
        import KnownAnswers.Number;
        input Number a;
        input Number b;
        output Number c;
      algorithm
        c := Number(a.re - b.re, a.im - b.im);
      end difference;
    end '-';
  end Number;
  model Overloaded
    Number a = Number(1, 2), b = -(a*a) - Number(1);
    Real y = b.re + 10*b.im;
  end Overloaded;

  function fixed_factor
    input Real x;
    input Real k;
    output Real y;
  algorithm
    y := k*x^2;
    annotation(Inline = false, derivative(noDerivative = k) = factor_rate);
  end fixed_factor;
  function factor_rate
    input Real x;
    input Real k;
    input Real dx;
    output Real dy;
  algorithm
    dy := 2*k*x*dx;
    annotation(Inline = false);
  end factor_rate;
  function moving_factor
    input Real x;
    input Real k;
    output Real y;
  algorithm
    y := k*x^2;
    annotation(Inline = false, derivative(zeroDerivative = k) = factor_rate);
  end moving_factor;
  model WithoutDerivative
    Real x = fixed_factor(time, 3);
    Real y = der(x);
  end WithoutDerivative;
  model NotZeroDerivative "the annotation does not hold: k moves"
    Real x = moving_factor(time, 3*time);
    Real y = der(x);
  end NotZeroDerivative;

  model WhenInitial
    discrete Real n(start = 0, fixed = true);
    Real x(start = 0, fixed = true);
    Real y = n;
  equation
    der(x) = 1;
    when {initial(), x > 0.5} then
      n = pre(n) + 1;
    end when;
  end WhenInitial;

  model ReinitOfAnAlias
    Real x(start = 0, fixed = true), z = x, y = z;
  equation
    der(x) = 1;
    when z > 0.5 then
      reinit(z, 0.1);
    end when;
  end ReinitOfAnAlias;

  model Elsewhen
    Integer n(start = 0, fixed = true);
    Real y = n;
  algorithm
    when time > 0.2 then
      n := 1;
    elsewhen time > 0.6 then
      n := n + 10;
    end when;
  end Elsewhen;

  model LoopInWhen
    Integer n(start = 0, fixed = true);
    Real y = n;
  algorithm
    when sample(0, 0.1) then
      for i in 1:3 loop
        if i == 2 then
          n := n + i;
        end if;
      end for;
    end when;
  end LoopInWhen;

  model Edges
    Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
    Boolean b = sin(20*time) > 0;
    Real y = n + 100*m;
  equation
    when edge(b) then
      n = pre(n) + 1;
    end when;
    when change(b) then
      m = pre(m) + 1;
    end when;
  end Edges;

  model SemiLinear
    Real y = semiLinear(time - 0.5, 2, 4);
  end SemiLinear;

  model Vectors
    Real a[3] = cross({1, 2, 3}, {4, 5, 6});
    Real y = 100*a[1] + 10*a[2] + a[3] + sum(outerProduct({1, 2}, {3, 4})) + sum(abs(skew({1, 2, 3})));
  end Vectors;

  model Joined
    Real a[:] = cat(1, {1, 2}, {3});
    Real b[2, 2] = [1, 2; 3, 4];
    Real y = sum(a) + sum(b*b) + a[end];
  end Joined;

  model Order "of statements"
    Real y, z;
  algorithm
    y := 1;
    z := y + 1;
    y := z + 1;
  end Order;

  model Around "an inner of an array"
    inner Real g = 3;
    model A
      outer Real g;
      Real q = 2*g;
    end A;
    A a[2];
    Real y = a[1].q + a[2].q;
  end Around;

  model RecordsOfAFunction
    function squares
      input Integer n;
      output R r[n];
    algorithm
      for i in 1:n loop
        r[i].a := i;
        r[i].b := i^2;
      end for;
    end squares;
    R r[3] = squares(3);
    Real y = sum(r.a) + sum(r.b);
  end RecordsOfAFunction;

  model Slices
    Real x[2, 2](each start = 1, each fixed = true);
    Real y = sum(x);
  equation
    der(x[1, :]) = {1, 2};
    der(x[2, :]) = {3, 4};
  end Slices;

  function added "Vectors of known and of unknown size, as often as n says"
    input Real a[:];
    input Integer n;
    output Real y[3];
  protected
    Integer k = 0;
  algorithm
    y := zeros(3);
    while k < 2 loop
      k := k + 1;
      y := y + sum(i*a for i in 1:n) + sum({j, i, 1} for i in 1:2, j in 1:n);
    end while;
  end added;

  model SumsOfVectors
    parameter Integer n = 3;
    Real v[3] = added({time, 2, 3}, n) "compiled";
    Real w[3] = added({time, 2, 3}, 3) "written out";
    Real y = {1, 10, 100}*(v + w)/2;
  end SumsOfVectors;

  model All
    PartialModifiers partial_modifiers;
    EnumerationAsIndex enumeration_as_index;
    NegativeIntegers negative_integers;
    NegativeReals negative_reals;
    Cardinality cardinality_of;
    Texts texts;
    PreOfAParameter pre_of_a_parameter;
    ConditionalParts conditional_parts;
    Ranges ranges;
    Nested nested;
    VariableDelay variable_delay;
    Transport transport;
    Homotopy homotopy_of;
    NoFlow no_flow;
    Overloaded overloaded;
    WithoutDerivative without_derivative;
    NotZeroDerivative not_zero_derivative;
    WhenInitial when_initial;
    ReinitOfAnAlias reinit_of_an_alias;
    Elsewhen elsewhen_of;
    LoopInWhen loop_in_when;
    Edges edges;
    SemiLinear semi_linear;
    Vectors vectors;
    Joined joined;
    Order order;
    Around around;
    RecordsOfAFunction records_of_a_function;
    Slices slices;
    SumsOfVectors sums_of_vectors;
  end All;
end KnownAnswers;
