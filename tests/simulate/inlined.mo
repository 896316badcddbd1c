package Inlined "Small systems whose implicit stages are joined with their equations"
  model Chain "Linear: masses and springs, stiff; nothing is left to iterate on"
    parameter Real c[3] = {10.0, 2e3, 5e5};
    Real s[3](start = {1, 0, 0}, each fixed = true);
    Real v[3](each start = 0, each fixed = true);
    Real f[3];
  equation
    der(s) = v;
    f[1] = c[1]*s[1] + 0.5*v[1];
    for i in 2:3 loop
      f[i] = c[i]*(s[i] - s[i - 1]) + 1e-3*c[i]*(v[i] - v[i - 1]);
    end for;
    der(v) = {f[2] - f[1], f[3] - f[2], sin(3*time) - f[3]};
  end Chain;

  model Pendulum "Two states, one nonlinear unknown after joining"
    Real phi(start = 1.2, fixed = true);
    Real w(start = 0, fixed = true);
    Real a;
  equation
    der(phi) = w;
    der(w) = a;
    a + 9.81*sin(phi) + 0.1*w*abs(w) = 0;
  end Pendulum;

  model Circuit "A diode behind a fast filter: linear part and one nonlinear law"
    Real u[3](each start = 0, each fixed = true);
    Real i;
    Real vd(start = 0.5);
    Real il(start = 0, fixed = true);
  equation
    1e-4*der(u[1]) = (10*sin(20*time) - u[1])/10 - i;
    i = 1e-6*(exp(vd/0.1) - 1);
    vd = u[1] - u[2];
    1e-3*der(u[2]) = i - il - u[2]/100;
    1e-2*der(il) = u[2] - u[3] - 0.5*il;
    1e-5*der(u[3]) = il - u[3]/5;
  end Circuit;

  model Loop "An algebraic loop of its own, and a function"
    function law
      input Real x;
      output Real y;
    algorithm
      y := x;
      for k in 1:3 loop
        y := y + 0.1*sin(y);
      end for;
      annotation(Inline = false);
    end law;
    Real x(start = 1, fixed = true);
    Real y(start = 0.2, fixed = true);
    Real p(start = 0.5);
    Real q(start = 0.5);
  equation
    p + 0.3*q*q = x;
    q + 0.2*sin(p) = y + law(q)*0.1;
    der(x) = -50*law(p) + time;
    der(y) = p - 3*q;
  end Loop;

  model Called "A call with two results inside an algebraic loop"
    function law
      input Real x;
      input Real s;
      output Real y;
      output Integer n;
    algorithm
      y := x;
      n := 0;
      while n < 3 loop
        y := y + s*sin(y);
        n := n + 1;
      end while;
    end law;
    Real x(start = 1, fixed = true);
    Real p(start = 0.4);
    Real q;
    Integer k;
  equation
    (q, k) = law(p, 0.1);
    p + q*q = x;
    der(x) = -q;
  end Called;

  model Bridge "A loop of which a part is asked for by the recorder alone"
    Real x(start = 1, fixed = true);
    Real v[4];
    Real i[4];
  equation
    v = {2.0, 3.0, 4.0, 5.0} .* i;
    v[1] + v[2] = x + sin(10*time);
    i[1] = i[2] + i[3];
    v[3] + v[4] = v[2];
    i[3] = i[4];
    der(x) = -100*i[1] + cos(x);
  end Bridge;

  model Star "Twelve nonlinear branches at one node: a loop large enough to be factorised along its pattern"
    constant Integer n = 12;
    Real u(start = 0, fixed = true);
    Real c[n](each start = 0, each fixed = true);
    Real i[n];
    Real d[n];
  equation
    1e-3*der(u) = (5*sin(20*time) - u)/2 - sum(i);
    for k in 1:n loop
      d[k] + 0.5*i[k] = u - c[k];
      i[k] = 1e-2*(d[k] + d[k]^3*k);
      1e-3*der(c[k]) = i[k] - 1e-3*c[k]*abs(c[k]);
    end for;
  end Star;

  model Switched "Relations rest during a stage"
    Real x(start = 1, fixed = true);
    Real y(start = 0, fixed = true);
    Real f;
  equation
    f = if x > 0.3 then -2*x else -x;
    der(x) = f + 0.1*y;
    der(y) = -100*(y - cos(time));
  end Switched;

  model Drive "A pendulum on a motor: for a given acceleration the circuit is linear, with a constant matrix"
    Real phi(start = 0.3, fixed = true);
    Real w(start = 0, fixed = true);
    Real i[2](each start = 0, each fixed = true);
    Real v(start = 0, fixed = true);
    Real u;
    Real ic;
    Real ir;
  equation
    der(phi) = w;
    0.02*der(w) = 0.5*i[2] - 0.4*sin(phi) - 1e-3*w*abs(w);
    u = 5*sin(30*time) - 2*(phi - 0.3);
    u - v = 0.5*i[1] + 1e-3*der(i[1]);
    i[1] = ic + i[2] + ir;
    1e-4*der(v) = ic;
    v - 0.5*w = 0.8*(i[2] + 0.1*ir) + 2e-3*der(i[2]);
    v = 40*ir + 3*(ic + ir);
  end Drive;

  model Cranks "Two sliders on a shaft: closed loops of the model itself, which stay loops inside the stage"
    parameter Real offset[2] = {0, 1.9};
    Real phi(start = 0.2, fixed = true);
    Real w(start = 4, fixed = true);
    Real b[2](each start = 0.1) "angles of the rods";
    Real s[2](each start = 1);
    Real bd[2];
    Real v[2];
    Real bg[2];
    Real g[2] "of the sliders' positions along the angle";
    Real f[2];
  equation
    der(phi) = w;
    for k in 1:2 loop
      0.3*sin(phi + offset[k]) + 0.02*s[k] = sin(b[k]);
      s[k] = 0.3*cos(phi + offset[k]) + cos(b[k]);
      0.3*w*cos(phi + offset[k]) + 0.02*v[k] = bd[k]*cos(b[k]);
      v[k] = -0.3*w*sin(phi + offset[k]) - bd[k]*sin(b[k]);
      0.3*cos(phi + offset[k]) + 0.02*g[k] = bg[k]*cos(b[k]);
      g[k] = -0.3*sin(phi + offset[k]) - bg[k]*sin(b[k]);
      f[k] = -2*v[k] - 30*(s[k] - 1) - 5*v[k]*abs(v[k]);
    end for;
    0.05*der(w) = g*f - 0.01*w;
  end Cranks;

  model Chopper "A switched circuit at a diode: the linear part has another matrix in each mode"
    discrete Boolean on(start = true, fixed = true);
    Real i(start = 0, fixed = true);
    Real v(start = 0, fixed = true);
    Real c(start = 0, fixed = true);
    Real r;
    Real ia;
    Real ib;
    Real id;
  equation
    when sample(0.02, 0.02) then
      on = not pre(on);
    end when;
    r = if on then 1 else 50;
    i = ia + ib;
    r*ia + 0.5*i = 7*ib + 0.1*v;
    10 - v = r*ia + 2*ib + 0.01*der(i);
    1e-3*der(v) = i - id - (v - c)/5;
    1e-3*der(c) = (v - c)/5 - c/30;
    id = 1e-3*(exp(v/2) - 1);
  end Chopper;
end Inlined;
