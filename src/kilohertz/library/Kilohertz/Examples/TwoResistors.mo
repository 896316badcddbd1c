within Kilohertz.Examples;
model TwoResistors "A voltage divider: the middle lies at 20 V"
  Electrical.ConstantVoltage source(V=30);
  Electrical.Resistor upper(R=100);
  Electrical.Resistor lower(R=200);
  Electrical.Ground ground;
  Real x(start=1, fixed=true);
equation
  connect(source.p, upper.p);
  connect(upper.n, lower.p);
  connect(lower.n, source.n);
  connect(source.n, ground.p);
  der(x) = -x;
  annotation(experiment(StopTime=1));
end TwoResistors;
