within Kilohertz.Examples;
model DriveTrain "A motor turns a load through a gear and an elastic shaft"
  Rotational.StepTorque motor(tau=10, starts=0.1);
  Rotational.Inertia rotor(J=0.1, phi(start=0, fixed=true), w(start=0, fixed=true));
  Rotational.Gear gear(ratio=5);
  Rotational.Inertia shaft(J=0.5);
  Rotational.SpringDamper spring(c=2000, d=5);
  Rotational.Inertia load(J=5, phi(start=0, fixed=true), w(start=0, fixed=true));
equation
  connect(motor.b, rotor.a);
  connect(rotor.b, gear.a);
  connect(gear.b, shaft.a);
  connect(shaft.b, spring.a);
  connect(spring.b, load.a);
  annotation(experiment(StopTime=2, Tolerance=1e-6));
end DriveTrain;
