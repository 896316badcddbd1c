model WalkingSkeleton "One state and one connection: the smallest model that visits every room"
  connector Pin
    Real v;
    flow Real i;
  end Pin;

  model Resistor
    Pin p;
    Pin n;
    parameter Real R = 1;
  equation
    p.v - n.v = R*p.i;
    p.i + n.i = 0;
  end Resistor;

  Resistor r1(R=1);
  Resistor r2(R=3);
  Real x(start=1, fixed=true);
equation
  der(x) = -x;
  connect(r1.n, r2.p);
  r1.p.v = 4*x;
  r2.n.v = 0;
  annotation(experiment(StopTime=2, Tolerance=1e-8));
end WalkingSkeleton;
