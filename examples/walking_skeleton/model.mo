model WalkingSkeleton "One state and one connection of two resistors: the smallest model that visits every room"
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

  model Source
    Pin p;
    Real v;
  equation
    p.v = v;
  end Source;

  Resistor r1(R=1);
  Resistor r2(R=3);
  Source high(v=4*x);
  Source low(v=0);
  Real x(start=1, fixed=true);
equation
  der(x) = -x;
  connect(high.p, r1.p);
  connect(r1.n, r2.p);
  connect(r2.n, low.p);
  annotation(experiment(StopTime=2, Tolerance=1e-8));
end WalkingSkeleton;
