model Row "heat conduction in many cells, heated where they are cold: equations that become loops in C"
  constant Integer n = 70;
  parameter Real power[n] = {1 + 0.01*i for i in 1:n};
  Real T[n](start = {300 + 0.1*i for i in 1:n}, each fixed = true);
  Real q[n + 1];
equation
  q[1] = 5*sin(3*time);
  for i in 2:n loop
    q[i] = 20*(1 + 1e-3*(T[i - 1] + T[i]))*(T[i - 1] - T[i]);
  end for;
  q[n + 1] = 0;
  for i in 1:n loop
    der(T[i]) = q[i] - q[i + 1] + (if T[i] < 301 then power[i]*exp(-time) else 0);
  end for;
end Row;
