package NonlinearLoops "Hydraulic nets whose flows need nonlinear loops"
  connector Port
    Real p(nominal = 1e5);
    flow Real q(nominal = 1e-4);
  end Port;

  model Orifice "Turbulent, laminar near zero"
    Port a, b;
    parameter Real k = 2e-8;
    parameter Real small = 1e4;
  protected
    Real dp = a.p - b.p;
  equation
    a.q = k*dp/(dp^2 + small^2)^0.25;
    a.q + b.q = 0;
  end Orifice;

  model Volume
    Port a;
    parameter Real C = 1e-12;
    Real p(start = 1e6, fixed = true, nominal = 1e5) = a.p;
  equation
    C*der(p) = a.q;
  end Volume;

  model Supply
    Port a;
  equation
    a.p = 5e6 + 1e6*sin(2*3.141592653589793*2*time);
  end Supply;

  model Tank
    Port a;
  equation
    a.p = 1e5;
  end Tank;

  model Pipeline "Volumes in a row, three orifices in series between neighbours: a loop for each pair"
    parameter Integer n = 10;
    Supply supply;
    Tank tank;
    Volume v[n](p(start = linspace(4.5e6, 6e5, n)));
    Orifice o1[n + 1], o2[n + 1](each k = 1.5e-8), o3[n + 1](each k = 1e-8);
  equation
    for i in 1:n + 1 loop
      connect(o1[i].b, o2[i].a);
      connect(o2[i].b, o3[i].a);
    end for;
    connect(supply.a, o1[1].a);
    for i in 1:n loop
      connect(o3[i].b, v[i].a);
      connect(v[i].a, o1[i + 1].a);
    end for;
    connect(o3[n + 1].b, tank.a);
  end Pipeline;

  model Mesh "Two volumes at the corners of a mesh of orifices: one loop for all its nodes"
    parameter Integer n = 4;
    Supply supply;
    Tank tank;
    Volume first(p(start = 3.5e6)), last(C = 3e-12, p(start = 1.5e6));
    Orifice across[n, n - 1](each k = 1e-8), down[n - 1, n](each k = 1.5e-8), inlet, outlet;
  equation
    for i in 1:n - 1 loop
      for j in 1:n - 1 loop
        connect(across[i, j].a, down[i, j].a);
        connect(across[i, j].b, down[i, j + 1].a);
        connect(across[i + 1, j].a, down[i, j].b);
        connect(across[i + 1, j].b, down[i, j + 1].b);
      end for;
    end for;
    connect(supply.a, inlet.a);
    connect(inlet.b, first.a);
    connect(first.a, across[1, 1].a);
    connect(across[n, n - 1].b, last.a);
    connect(last.a, outlet.a);
    connect(outlet.b, tank.a);
  end Mesh;
end NonlinearLoops;
