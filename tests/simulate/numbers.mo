package Numbers "Models for steps in single precision"
  model Lorenz
    parameter Real rho = 28;
    output Real x(start=1, fixed=true), y(start=2, fixed=true), z(start=20, fixed=true);
  equation
    der(x) = 10*(y - x);
    der(y) = x*(rho - z) - y;
    der(z) = x*y - 8/3*z;
  end Lorenz;

  model Hybrid "Time events at decimals, samples, a state event, a nonlinear and a linear loop, a function"
    parameter Real begins = 0.1;
    parameter Real mass = 2;
    parameter Real every = 0.01;
    Real x(start=0.4, fixed=true), v(start=0, fixed=true), w, q, a, b;
    Real phase = sin(6.28*time);
    discrete Real sum(start=0, fixed=true);
    discrete Integer n(start=0, fixed=true);
    output Boolean has_begun = time >= begins;
  protected
    function spring
      input Real s[2];
      output Real f;
    algorithm
      f := 33.3*s[1] + 0.7*tanh(s[2]);
    end spring;
  equation
    der(x) = v;
    mass*der(v) = -spring({x, v}) + (if has_begun then 0.7 else 0.2) + 0.1*q + 0.05*w + 0.01*a;
    q + 0.1*q^3 = x;
    w = mod(time, 0.3);
    2*a + 0.5*b = x;
    a*mass - b = v;
    when sample(0.05, every) then
      sum = pre(sum) + x;
      n = pre(n) + 1;
    end when;
    when x < -0.1 then
      reinit(v, -0.5*pre(v));
    end when;
  end Hybrid;

  model Stiff "A row of cells with friction at its end"
    Real T[12](each start=300, each fixed=true);
    Real f;
  equation
    der(T[1]) = 50*(T[2] - T[1]) + 200*(400 - T[1]);
    for i in 2:11 loop
      der(T[i]) = 50*(T[i - 1] - 2*T[i] + T[i + 1]);
    end for;
    der(T[12]) = 50*(T[11] - T[12]) - f;
    f = if T[12] > 320 then 3*(T[12] - 320) else 0;
  end Stiff;

  model Outside
    function f
      input Real x;
      output Real y;
      external "C" y = cbrt(x) annotation(Include="#include <math.h>");
    end f;
    Real x(start=1, fixed=true);
  equation
    der(x) = -f(x);
  end Outside;
end Numbers;
