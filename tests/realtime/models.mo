package Models "Small models with inputs and outputs for the tests of the real-time room"
  model Lag "A first-order lag"
    input Real u;
    output Real y(start = 0, fixed = true);
    parameter Real T = 0.05;
    parameter Real rate = 1/T "Depends on T";
  equation
    der(y) = rate*(u - y);
  end Lag;

  model Gain "Output follows the input at once"
    input Real u;
    output Real y;
    parameter Real k = 2;
  equation
    y = k*u;
  end Gain;

  model Clock "Knows the time"
    output Real y(start = 0, fixed = true);
  equation
    der(y) = 1;
  end Clock;

  model Ends "Ends by itself"
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
    when x > 0.05 then
      terminate("enough");
    end when;
  end Ends;
end Models;
