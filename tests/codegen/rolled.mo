model Rolled "arrays of equations that differ in places and numbers: regular and not, at events, in branches"
  parameter Integer n = 24;
  final parameter Integer other[n] = {max(1, i - mod(i, 3)) for i in 1:n};
  parameter Real k = 0.3, area = 2;
  parameter Real size[n] = {0.5 + 0.1*i for i in 1:n};
  final parameter Real room[n] = size*area*k;
  Real x[n](start = {i/n for i in 1:n}, each fixed = true, nominal = {1 + i for i in 1:n});
  Real q[n + 1], drift[n], gain[n], mixed[n];
  Boolean above[n];
  discrete Real held[n](each start = 0, each fixed = true);
  Integer crossed[n](each start = 0, each fixed = true);
equation
  q[1] = 1 + 0.2*sin(3*time);
  for i in 2:n loop
    q[i] = k*(x[i - 1] - x[i])*abs(x[i - 1] - x[i] + 0.1) + 2*x[i]^2;
  end for;
  q[n + 1] = 0;
  for i in 1:n loop
    above[i] = x[i] > 0.4 + 0.02*i;
    gain[i] = if above[i] then 1 + 0.001*i else 0.99;
    mixed[i] = exp(-x[other[i]]/(1 + i))*cos(k*time) + x[i]^3*i;
    drift[i] = if noEvent(x[i] > 0.3) then sqrt(x[i] - 0.3) + mixed[i] else gain[i]*mixed[i];
    der(x[i]) = (q[i] - q[i + 1])/room[i] - gain[i]*drift[i] + held[i]*0.01;
    when above[i] then
      held[i] = x[i] + pre(held[i]);
      crossed[i] = pre(crossed[i]) + 1;
    end when;
  end for;
  annotation(experiment(StopTime = 1));
end Rolled;
