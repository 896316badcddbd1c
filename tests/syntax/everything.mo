within ;
// one of everything the grammar has
encapsulated package Everything "A package" + " in two parts"
  import Other;
  import O = Other.Inner;
  import Other.Names.*;
  import Other.Names.{first, second};
  extends Other.Base(final k = 2, redeclare replaceable model M = N(a = 1) constrainedby P(b = 2) "why") annotation(x = 1);
  constant Real pi = 3.14159 "the number";
  constant Integer many[:] = {1, 2, 3}, none[0] = fill(0, 0);
  type Length = Real(final quantity = "Length", final unit = "m", min = 0);
  type Angles = Real[3](each unit = "rad");
  type Colour = enumeration(red "like blood", green, 'very blue' "sky") "colours";
  type Any = enumeration(:);
  connector In = input Real "an input";

  expandable connector Bus "grows"
  end Bus;

  connector Pin
    Real v "potential";
    flow Real i;
    stream Real h;
  end Pin;

  operator record Number
    Real re, im = 0;
    encapsulated operator '+'
      function add
        input Number a;
        input Number b;
        output Number c;
      algorithm
        c := Number(a.re + b.re, a.im + b.im);
        annotation(Inline = true);
      end add;
    end '+';
    encapsulated operator function '-'
      input Number a;
      output Number c = Number(-a.re, -a.im);
    end '-';
  end Number;

  pure function both
    input Real x[:, size(x, 1)];
    input Real y = 1;
    output Real z;
    output Integer n;
  protected
    Integer i;
    Real w[3, 2] = [1, 2; 3, 4; 5, 6];
  algorithm
    z := 0;
    n := 0;
    for i in 1:size(x, 1), j in {1, 2} loop
      if x[i, j] > 0 and not y < 0 or i == 2 then
        z := z + x[i, end]^2 "squared";
      elseif x[i, j] <> 0 then
        break;
      else
        return;
      end if;
    end for;
    while n < 10 loop
      n := n + 1;
    end while;
    (z, n) := both(x, y = 2);
    (z,) := both(x);
    (, n) := both(x);
    print("a \"quoted\" text\n");
    annotation(derivative(order = 1, noDerivative = y) = both_der, smoothOrder = 2);
  end both;

  impure function outside
    input Real x;
    output Real y;
    external "C" y = outside_c(x, size({x}, 1)) annotation(Library = "m", Include = "#include <math.h>");
  end outside;

  function plain
    input Real x;
    output Real y;
    external;
  end plain;

  function both_der = der(both, x, y);

  partial model Part
    parameter Integer n(min = 1) = 3 "how many" annotation(Evaluate = true);
    final parameter Boolean on = true;
    inner outer Real world;
    replaceable package Medium = Other.Water constrainedby Other.Fluid(T = 300) "the medium" annotation(choices(choice = 1));
    replaceable Pin p[n] if on constrainedby Pin "many pins";
    discrete Real d(start = 0, fixed = true);
    input Real[3] u[2];
    output .Other.Signal 'the output';
  protected
    Real[n, 2] a, b[4] = zeros(4, n, 2);
  public
    redeclare function extends old(k = 1) "extended"
      input Real more;
    end old;
  end Part;

  block Equations
    extends Part(world(start = 1), p(each v(start = 0)), break connect(a.x, b[1].y), break q, d = break);
    Real x, y, z, q[3];
    Boolean c;
  initial equation
    x = 0;
    der(y) = 0;
  equation
    der(x) = -x*y + 2.5e-3 .* z ./ 4 - (-x)^2 - 2^(-1);
    (x, y) = both({{x}}, 1);
    q = {if i > 1 then 1 elseif i < 0 then 2 else 3 for i in 1:3};
    q[1] = sum(q[i]*k for i in 1:2:3, k in 1:2) + max(i for i);
    y = (both([x])) + (q)[2] + (Number(1, 2)).re;
    z = integrate(function f(a = 1, b = function g()), 0, tolerance = 1e-6);
    if c then
      x = 1;
    elseif not c then
      x = 2;
    else
      x = 3;
    end if "chosen";
    for i in 1:3 loop
      connect(p[i].a, world.b) annotation(Line(points = {{0, 0}, {1, 1}}));
    end for;
    when {initial(), sample(0, 1)} then
      reinit(x, pre(x));
    elsewhen c then
      d = 1;
    end when;
    assert(x > 0, "x is " + String(x), level = AssertionLevel.warning);
    Connections.root(p[1].R);
    1:3 = q .^ 2;
    z = if c then if on then 1 else 2 else 3 "nested";
    (if c then 1 else 2) = z;
  initial algorithm
    x := 1;
  algorithm
    when c then
      x := pre(x);
    elsewhen edge(c) then
      terminate("done");
    end when;
    annotation(experiment(StopTime = 1.5, Tolerance = 1e-6), Documentation(info = "<html>(unbalanced</html>"));
  end Equations;
  annotation(version = "1.2.0", uses(Other(version = "2.0")), a(b(c(d(e(f(g(h(i(j(k(l(m(n(o = 1)))))))))))))));
end Everything;
final model Second
  extends Everything.Part;
end Second;
