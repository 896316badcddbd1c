within Kilohertz.Examples;
model DriveTrain "A motor turns a load through a gear and an elastic shaft"
  Rotational.StepTorque motor(tau=10, starts=0.1) annotation(Placement(transformation(extent={{-90,-50},{-70,-30}})));
  Rotational.Inertia rotor(J=0.1, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
  Rotational.Gear gear(ratio=5) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
  Rotational.Inertia shaft(J=0.5) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
  Rotational.SpringDamper spring(c=2000, d=5) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
  Rotational.Inertia load(J=5, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{70,-10},{90,10}})));
equation
  connect(motor.b, rotor.a) annotation(Line(points={{-70,-40},{-66,-40},{-66,-20},{-94,-20},{-94,0},{-90,0}}, color={70,70,70}));
  connect(rotor.b, gear.a) annotation(Line(points={{-70,0},{-50,0}}, color={70,70,70}));
  connect(gear.b, shaft.a) annotation(Line(points={{-30,0},{-10,0}}, color={70,70,70}));
  connect(shaft.b, spring.a) annotation(Line(points={{10,0},{30,0}}, color={70,70,70}));
  connect(spring.b, load.a) annotation(Line(points={{50,0},{70,0}}, color={70,70,70}));
  annotation(experiment(StopTime=2, Tolerance=1e-6));
end DriveTrain;
