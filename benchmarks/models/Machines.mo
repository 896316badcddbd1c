model Machines "What may come out differently on another machine: events, loops, functions, tables, all elementary functions"
  parameter Real k = 3;
  parameter Real table[:, 2] = [0, 0; 0.2, 1; 0.5, -0.5; 1, 2; 2, 0.3];
  Real x(start = 1, fixed = true);
  Real w(start = 0, fixed = true);
  Real h(start = 1, fixed = true) "a ball";
  Real v(start = 0, fixed = true);
  Real z(start = 0.3) "nonlinear loop";
  Real a, b "linear loop";
  Real n[4] "a larger linear loop";
  Real f[8] "elementary functions";
  Real mean;
  discrete Real ticks(start = 0, fixed = true);
  discrete Integer count(start = 0, fixed = true);
  Boolean up(start = true, fixed = true);

  function interpolated "Linear between the rows of a table, held beyond"
    input Real rows[:, 2];
    input Real at;
    output Real y;
  protected
    Integer i = 1;
  algorithm
    while i < size(rows, 1) - 1 and at > rows[i + 1, 1] loop
      i := i + 1;
    end while;
    y := rows[i, 2] + (rows[i + 1, 2] - rows[i, 2])*min(1, max(0, (at - rows[i, 1])/(rows[i + 1, 1] - rows[i, 1])));
  end interpolated;

  function average "A loop over an array"
    input Real u[:];
    output Real y;
  algorithm
    y := 0;
    for i in 1:size(u, 1) loop
      y := y + (if i > 2 then u[i]^2 else u[i]);
    end for;
    y := y/size(u, 1);
  end average;
equation
  der(x) = w;
  der(w) = -k*x - 0.02*w + (if x > 0 then -0.1 else 0.1) + 0.1*z + 0.01*mean;
  der(h) = v;
  der(v) = -9.81 + 0.1*interpolated(table, mod(time, 2));
  when h < 0 then
    reinit(v, -0.8*pre(v));
    count = pre(count) + 1;
  end when;
  z + 0.2*sin(z) = 0.5*cos(3*time) + 0.1*x;
  a + 2*b*x = 1;
  3*a*x - b = w;
  n[1] + x*n[2] + n[3] + n[4] = 1;
  x*n[1] + 3*n[2] - n[3] + w*n[4] = 2;
  n[1] - n[2] + (2 + x)*n[3] - n[4] = x;
  3*n[1] + 2*n[2] - n[3] + (7 + w)*n[4] = 1;
  f = {sin(x), cos(w), tan(0.3*x), atan2(w, 2 + x), exp(-x), log(2 + x), sqrt(3 + w), (2 + x)^1.7};
  mean = average(f);
  when sample(0, 0.0033) then
    ticks = pre(ticks) + a;
  end when;
  up = x > 0.5 or pre(up) and x > -0.5;
  annotation(experiment(StopTime = 2));
end Machines;
