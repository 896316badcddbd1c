package StepCost "Five models of 2 to 150 states whose fastest modes suit steps of 1 ms, or do not"
  model Oscillator "Van der Pol, 2 states"
    parameter Real mu = 5;
    Real x(start = 2, fixed = true);
    Real v(start = 0, fixed = true);
  equation
    der(x) = v;
    der(v) = mu*(1 - x^2)*v - x;
  end Oscillator;

  model Valve "a spool, two chambers and a piston, 6 states; stiff from 1 ms on"
    parameter Real E = 1.4e9, V = 2e-4, A = 3e-3, m = 300, d = 4000, K = 3.5e-7, pS = 16e6, w0 = 377, D = 0.9;
    parameter Real R = 2e9 "line";
    Real x(start = 0, fixed = true), v(start = 0, fixed = true);
    Real p1(start = 8e6, fixed = true, nominal = 1e5), p2(start = 8e6, fixed = true, nominal = 1e5);
    Real y(start = 0, fixed = true), w(start = 0, fixed = true);
  protected
    Real q1 = K*y*sqrt(abs(pS - p1) + 1e4), q2 = K*y*sqrt(abs(p2) + 1e4);
  equation
    der(x) = v;
    m*der(v) = A*(p1 - p2) - d*v - 2e4*x;
    der(p1) = E/V*(q1 - A*v - (p1 - p2)/R*400);
    der(p2) = E/V*(A*v - q2 + (p1 - p2)/R*400);
    der(y) = w;
    der(w) = w0^2*(0.3*sin(6*time) - y) - 2*D*w0*w;
  end Valve;

  model Chain "masses and hardening springs, 30 states"
    constant Integer n = 15;
    Real x[n](each start = 0, each fixed = true);
    Real v[n](each start = 0, each fixed = true);
  protected
    Real f[n + 1];
  equation
    f[1] = 400*(0.05*sin(20*time) - x[1]) + 2e4*(0.05*sin(20*time) - x[1])^3;
    for i in 2:n loop
      f[i] = 400*(x[i - 1] - x[i]) + 2e4*(x[i - 1] - x[i])^3;
    end for;
    f[n + 1] = 0;
    for i in 1:n loop
      der(x[i]) = v[i];
      der(v[i]) = f[i] - f[i + 1] - 0.2*v[i];
    end for;
  end Chain;

  model Rod "heat conduction that depends on the temperature, 60 states; stiff"
    constant Integer n = 60;
    Real T[n](each start = 300, each fixed = true, each nominal = 100);
  protected
    Real q[n + 1];
  equation
    q[1] = 2e3*(400 + 50*sin(3*time) - T[1]);
    for i in 2:n loop
      q[i] = 2e3*(1 + 1e-3*(T[i - 1] + T[i]))*(T[i - 1] - T[i]);
    end for;
    q[n + 1] = 10*(T[n] - 300) + 5e-8*(T[n]^4 - 300^4);
    for i in 1:n loop
      der(T[i]) = q[i] - q[i + 1];
    end for;
  end Rod;

  model Line "a lossy transmission line with a nonlinear load, 150 states"
    constant Integer n = 75;
    Real u[n](each start = 0, each fixed = true);
    Real i[n](each start = 0, each fixed = true);
  equation
    for k in 1:n loop
      der(i[k]) = 300*((if k == 1 then sin(30*time) else u[k - 1]) - u[k]) - 2*i[k];
      der(u[k]) = 300*(i[k] - (if k == n then u[n] + u[n]^3 else i[k + 1]));
    end for;
  end Line;
end StepCost;
