package Views "What nobody needs but who looks"
  model Wheel "Driven, with a stop that it leaves at once; power and energy are views"
    input Real u(start = 0);
    output Real w(start = 1, fixed = true);
    Real phi(start = 0, fixed = true);
    Real power = u*w;
    Real energy = 0.5*w*w + power*0;
    Real age = time + energy;
    Boolean far = phi > 0.05;
  equation
    der(phi) = w;
    der(w) = u - 0.1*w + (if far then -1 else 0);
    when far then
      reinit(w, 0.5*pre(w));
    end when;
  end Wheel;

  model Kept "What must be computed in every step whoever looks"
    Real x(start = 1, fixed = true);
    Real y "checked";
    Real z(start = 1) "by iteration, from its last value";
    Real v = z + y "view";
    Integer n = integer(10*x) "changes at events";
    Real late = delay(x, 0.01);
    Real q = sqrt(0.5 - x) "no number until x is small";
  equation
    der(x) = -x;
    y = 2*x;
    z + 0.1*z^3 = x;
    assert(y < 100, "too large");
  end Kept;
end Views;
