package MadeStep "What a step can meet: events of every kind, inputs, delays, loops"
  model Lorenz
    Real x(start = 1, fixed = true), y(start = 1, fixed = true), z(start = 1, fixed = true);
  equation
    der(x) = 10*(y - x);
    der(y) = x*(28 - z) - y;
    der(z) = x*y - 8/3*z;
  end Lorenz;

  model Hybrid "state events, samples, delays, assertions"
    Real h(start = 1, fixed = true), v(start = 0, fixed = true);
    Real late = delay(h, 0.05);
    discrete Real seen(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
    Boolean high = h > 0.5;
  equation
    der(h) = v;
    der(v) = -9.81 - (if high then 0.1*late else 0);
    when h <= 0 then
      n = pre(n) + 1;
      reinit(v, -0.9*pre(v));
    end when;
    when sample(0, 0.02) then
      seen = h + pre(seen)/2;
    end when;
    assert(n < 5, "five", AssertionLevel.warning);
  end Hybrid;

  model Stiff "loops, linear and not; a mode"
    Real a(start = 1, fixed = true), b(start = 0, fixed = true), i, j, k;
    Boolean on(start = false);
  equation
    i + j = a - b;
    2*i - j = b;
    k^3 + k = i;
    on = a - b > 0.3;
    der(a) = -1000*(a - cos(20*time)) - (if on then 10*k else 0);
    der(b) = 50*j;
  end Stiff;
end MadeStep;
