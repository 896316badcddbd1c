within ;
package Shared "Models that other tools run as well: no library, no external code"
  model VanDerPol "A stiff oscillator"
    parameter Real mu = 5;
    Real x(start=2, fixed=true);
    Real y(start=0, fixed=true);
  equation
    der(x) = y;
    der(y) = mu*(1 - x^2)*y - x;
    annotation(experiment(StopTime=20, Tolerance=1e-6));
  end VanDerPol;

  model Lorenz "Three states, over a short time so that chaos does not show"
    Real x(start=1, fixed=true);
    Real y(start=1, fixed=true);
    Real z(start=1, fixed=true);
  equation
    der(x) = 10*(y - x);
    der(y) = x*(28 - z) - y;
    der(z) = x*y - 8/3*z;
    annotation(experiment(StopTime=2, Tolerance=1e-6));
  end Lorenz;

  model HeatRod "A rod in 100 pieces"
    parameter Integer n = 100;
    parameter Real k = 400;
    Real T[n](each start=20, each fixed=true);
    Real q[n + 1];
  equation
    q[1] = k*(100 - T[1]);
    for i in 2:n loop
      q[i] = k*(T[i - 1] - T[i]);
    end for;
    q[n + 1] = k*(T[n] - 20);
    for i in 1:n loop
      der(T[i]) = q[i] - q[i + 1];
    end for;
    annotation(experiment(StopTime=5, Tolerance=1e-6));
  end HeatRod;

  model PredatorPrey "Two species"
    Real prey(start=10, fixed=true);
    Real predators(start=5, fixed=true);
  equation
    der(prey) = 1.1*prey - 0.4*prey*predators;
    der(predators) = 0.1*prey*predators - 0.4*predators;
    annotation(experiment(StopTime=40, Tolerance=1e-6));
  end PredatorPrey;

  model Tanks "Ten tanks in a row, one empties into the next"
    parameter Integer n = 10;
    Real h[n](start=fill(1, n), each fixed=true);
    Real q[n + 1];
  equation
    q[1] = 0.5 + 0.1*sin(time);
    for i in 1:n loop
      q[i + 1] = 0.6*sqrt(h[i] + 1e-3);
      der(h[i]) = q[i] - q[i + 1];
    end for;
    annotation(experiment(StopTime=30, Tolerance=1e-6));
  end Tanks;

  model Diode "A nonlinear loop in every step"
    Real i(start=0);
    Real u(start=0);
    Real v(start=0, fixed=true);
  equation
    i = 1e-6*(exp(u/0.05) - 1);
    5*sin(10*time) = u + 100*i + v;
    1e-4*der(v) = i - v/1e4;
    annotation(experiment(StopTime=2, Tolerance=1e-6));
  end Diode;
end Shared;
