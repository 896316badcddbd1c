package Problems "The three problems of the order tests, and two whose stability is known"
  model A "non-autonomous, nonlinear; solution y1 = 1 + cos(t)/2, y2 = 1/2 + sin(2t)/2"
    Real y1(start = 1.5, fixed = true);
    Real y2(start = 0.5, fixed = true);
  protected
    Real p1 = 1 + 0.5*cos(time);
    Real p2 = 0.5 + 0.5*sin(2*time);
  equation
    der(y1) = -0.5*sin(time) + (1 + time/2)*(y1*y2 - p1*p2);
    der(y2) = cos(2*time) - (y1^2 - p1^2) + sin(time)*(y1*y2 - p1*p2);
  end A;

  model VanDerPol "mu = 5 from (2, 0)"
    parameter Real mu = 5;
    Real x(start = 2, fixed = true);
    Real v(start = 0, fixed = true);
  equation
    der(x) = v;
    der(v) = mu*(1 - x^2)*v - x;
  end VanDerPol;

  model Mixed "slow x and y, fast z; solution x = 1 + cos(t)/2, y = cos(3t), z = 1/2 + sin(2t)/2"
    parameter Real lambda = 20;
    Real x(start = 1.5, fixed = true);
    Real y(start = 1, fixed = true);
    Real z(start = 0.5, fixed = true);
  protected
    Real px = 1 + 0.5*cos(time);
    Real py = cos(3*time);
    Real pz = 0.5 + 0.5*sin(2*time);
  equation
    der(x) = -0.5*sin(time) + (x*z - px*pz) - 0.5*(y^2 - py^2);
    der(y) = -3*sin(3*time) - (y*z - py*pz) + (x - px);
    der(z) = cos(2*time) - lambda*(z^2*x - pz^2*px) + 0.5*(y - py);
  end Mixed;

  model ProtheroRobinson "stiff; solution y = sin(t + 1)"
    parameter Real lambda = -1e6;
    Real y(start = sin(1), fixed = true);
  equation
    der(y) = lambda*(y - sin(time + 1)) + cos(time + 1);
  end ProtheroRobinson;

  model Linear "y' = lambda*y"
    parameter Real lambda = -1;
    Real y(start = 1, fixed = true);
  equation
    der(y) = lambda*y;
  end Linear;
end Problems;
