within Kilohertz.Examples;
model RCCircuit "A capacitor charged through a resistor once the switch closes"
  Electrical.ConstantVoltage source(V=10);
  Electrical.Switch switch(closes=0.1);
  Electrical.Resistor resistor(R=1000);
  Electrical.Capacitor capacitor(C=1e-4);
  Electrical.Ground ground;
equation
  connect(source.p, switch.p);
  connect(switch.n, resistor.p);
  connect(resistor.n, capacitor.p);
  connect(capacitor.n, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime=1, Tolerance=1e-6));
end RCCircuit;
