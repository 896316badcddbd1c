within Kilohertz.Examples;
model RCCircuit "A capacitor charged through a resistor once the switch closes"
  Electrical.ConstantVoltage source(V=10) annotation(Placement(transformation(extent={{-10,30},{10,50}})));
  Electrical.Switch switch(closes=0.1) annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
  Electrical.Resistor resistor(R=1000) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
  Electrical.Capacitor capacitor(C=1e-4) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
  Electrical.Ground ground annotation(Placement(transformation(extent={{30,-10},{50,10}})));
equation
  connect(source.p, switch.p) annotation(Line(points={{-10,40},{-94,40},{-94,0},{-90,0}}, color={0,0,255}));
  connect(switch.n, resistor.p) annotation(Line(points={{-70,0},{-50,0}}, color={0,0,255}));
  connect(resistor.n, capacitor.p) annotation(Line(points={{-30,0},{-10,0}}, color={0,0,255}));
  connect(capacitor.n, source.n) annotation(Line(points={{10,0},{14,0},{14,40},{10,40}}, color={0,0,255}));
  connect(source.n, ground.p) annotation(Line(points={{10,40},{40,40},{40,10}}, color={0,0,255}));
  annotation(experiment(StopTime=1, Tolerance=1e-6));
end RCCircuit;
