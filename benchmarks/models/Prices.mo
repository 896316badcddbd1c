package Prices "Models in which one kind of instruction prevails"
  model Functions "Elementary functions, each of several arguments"
    parameter Integer n = 6;
    Real x[n](start = {0.1*i for i in 1:n}, each fixed = true);
  equation
    for i in 1:n loop
      der(x[i]) = sin(x[i]) + cos(2*x[i]) + exp(-x[i]) + tanh(x[i]) + atan(x[i]) + log(2 + x[i]) + tan(0.3*x[i])
        + asin(0.5*sin(x[i])) + sinh(0.2*x[i]) + atan2(x[i], 2.0) - (1.5 + sin(x[i]))^1.3 - 2*x[i];
    end for;
  end Functions;

  model Polynomials "Arithmetic alone"
    parameter Integer n = 12;
    Real x[n](start = {0.1*i for i in 1:n}, each fixed = true);
  equation
    for i in 1:n loop
      der(x[i]) = 0.1*x[i]*(1 + x[i]*(0.2 + x[i]*(0.3 - x[i]))) - x[i] + 0.05*x[if i == n then 1 else i + 1]
        + (1 + x[i])/(2 + x[i]*x[i]) - 0.3*x[i]^3;
    end for;
  end Polynomials;
end Prices;
