package Pairs "Models of ours and equal ones of the Modelica Standard Library"
  import Ours = Kilohertz.Rotational;
  import Theirs = Modelica.Mechanics.Rotational;
  import OursT = Kilohertz.Translational;
  import TheirsT = Modelica.Mechanics.Translational;

  model Clutch
    Ours.Inertia first(J=1, phi(start=0, fixed=true), w(start=10, fixed=true)), second(J=2, phi(start=0, fixed=true), w(start=0, fixed=true));
    Ours.Clutch clutch(tau_max=20, peak=1.2);
    Ours.Sources.Torque drive;
  equation
    drive.tau = 40*sin(2*time);
    clutch.u = if time < 0.2 then 0 else 1;
    connect(drive.b, first.a);
    connect(first.b, clutch.a);
    connect(clutch.b, second.a);
    annotation(experiment(StopTime=4));
  end Clutch;

  model ClutchTheirs
    Theirs.Components.Inertia first(J=1, phi(start=0, fixed=true), w(start=10, fixed=true)), second(J=2, phi(start=0, fixed=true), w(start=0, fixed=true));
    Theirs.Components.Clutch clutch(fn_max=20, mu_pos=[0, 1], peak=1.2);
    Theirs.Sources.Torque drive;
  equation
    drive.tau = 40*sin(2*time);
    clutch.f_normalized = if time < 0.2 then 0 else 1;
    connect(drive.flange, first.flange_a);
    connect(first.flange_b, clutch.flange_a);
    connect(clutch.flange_b, second.flange_a);
    annotation(experiment(StopTime=4));
  end ClutchTheirs;

  model Bearing
    Ours.Inertia rotor(J=1, phi(start=0, fixed=true), w(start=0, fixed=true));
    Ours.Bearing bearing(tau_0=2, peak=1.5);
    Ours.Sources.Torque drive;
  equation
    drive.tau = 5*sin(2*time);
    connect(drive.b, rotor.a);
    connect(rotor.b, bearing.a);
    annotation(experiment(StopTime=10));
  end Bearing;

  model BearingTheirs
    Theirs.Components.Inertia rotor(J=1, phi(start=0, fixed=true), w(start=0, fixed=true));
    Theirs.Components.BearingFriction bearing(tau_pos=[0, 2], peak=1.5);
    Theirs.Sources.Torque drive;
  equation
    drive.tau = 5*sin(2*time);
    connect(drive.flange, rotor.flange_a);
    connect(rotor.flange_b, bearing.flange_a);
    annotation(experiment(StopTime=10));
  end BearingTheirs;

  model Brake
    Ours.Inertia rotor(J=0.5, phi(start=0, fixed=true), w(start=20, fixed=true));
    Ours.Brake brake(tau_max=10);
    Ours.Sources.Torque drive;
  equation
    drive.tau = 12*sin(3*time);
    brake.u = 1;
    connect(drive.b, rotor.a);
    connect(rotor.b, brake.a);
    annotation(experiment(StopTime=6));
  end Brake;

  model BrakeTheirs
    Theirs.Components.Inertia rotor(J=0.5, phi(start=0, fixed=true), w(start=20, fixed=true));
    Theirs.Components.Brake brake(fn_max=10, mu_pos=[0, 1]);
    Theirs.Sources.Torque drive;
  equation
    drive.tau = 12*sin(3*time);
    brake.f_normalized = 1;
    connect(drive.flange, rotor.flange_a);
    connect(rotor.flange_b, brake.flange_a);
    annotation(experiment(StopTime=6));
  end BrakeTheirs;

  model LossyGear
    Ours.Inertia motor(J=0.1, phi(start=0, fixed=true), w(start=0, fixed=true)), load(J=3);
    Ours.LossyGear gear(ratio=5, eta=0.8, eta_back=0.7);
    Ours.Sources.Torque drive;
    Ours.Sources.ConstantTorque weight(tau=-20);
  equation
    drive.tau = 10*sin(3*time);
    connect(drive.b, motor.a);
    connect(motor.b, gear.a);
    connect(gear.b, load.a);
    connect(load.b, weight.b);
    annotation(experiment(StopTime=4));
  end LossyGear;

  model LossyGearTheirs
    Theirs.Components.Inertia motor(J=0.1, phi(start=0, fixed=true), w(start=0, fixed=true)), load(J=3);
    Theirs.Components.LossyGear gear(ratio=5, lossTable=[0, 0.8, 0.7, 0, 0]);
    Theirs.Sources.Torque drive;
    Theirs.Sources.ConstantTorque weight(tau_constant=-20);
  equation
    drive.tau = 10*sin(3*time);
    connect(drive.flange, motor.flange_a);
    connect(motor.flange_b, gear.flange_a);
    connect(gear.flange_b, load.flange_a);
    connect(load.flange_b, weight.flange);
    annotation(experiment(StopTime=4));
  end LossyGearTheirs;

  model Planetary
    Ours.Inertia sun(J=0.1, phi(start=0, fixed=true), w(start=0, fixed=true)), ring(J=1, phi(start=0, fixed=true), w(start=3, fixed=true)), carrier(J=0.5);
    Ours.Planetary gear(ratio=2.4);
    Ours.Sources.Torque drive;
  equation
    drive.tau = sin(5*time);
    connect(drive.b, sun.a);
    connect(sun.b, gear.sun);
    connect(ring.a, gear.ring);
    connect(carrier.a, gear.carrier);
    annotation(experiment(StopTime=3));
  end Planetary;

  model PlanetaryTheirs
    Theirs.Components.Inertia sun(J=0.1, phi(start=0, fixed=true), w(start=0, fixed=true)), ring(J=1, phi(start=0, fixed=true), w(start=3, fixed=true)), carrier(J=0.5);
    Theirs.Components.IdealPlanetary gear(ratio=2.4);
    Theirs.Sources.Torque drive;
  equation
    drive.tau = sin(5*time);
    connect(drive.flange, sun.flange_a);
    connect(sun.flange_b, gear.sun);
    connect(ring.flange_a, gear.ring);
    connect(carrier.flange_a, gear.carrier);
    annotation(experiment(StopTime=3));
  end PlanetaryTheirs;

  model Shaft
    Ours.Inertia motor(J=0.2, phi(start=0, fixed=true), w(start=0, fixed=true)), load(J=3, phi(start=0, fixed=true), w(start=0, fixed=true));
    Ours.Gear gear(ratio=4);
    Ours.SpringDamper spring(c=500, d=2);
    Ours.Damper damper(d=0.5);
    Ours.Fixed housing;
    Ours.Sources.Torque drive;
  equation
    drive.tau = 3*sin(4*time);
    connect(drive.b, motor.a);
    connect(motor.b, gear.a);
    connect(gear.b, spring.a);
    connect(spring.b, load.a);
    connect(load.b, damper.a);
    connect(damper.b, housing.a);
    annotation(experiment(StopTime=5));
  end Shaft;

  model ShaftTheirs
    Theirs.Components.Inertia motor(J=0.2, phi(start=0, fixed=true), w(start=0, fixed=true)), load(J=3, phi(start=0, fixed=true), w(start=0, fixed=true));
    Theirs.Components.IdealGear gear(ratio=4);
    Theirs.Components.SpringDamper spring(c=500, d=2);
    Theirs.Components.Damper damper(d=0.5);
    Theirs.Components.Fixed housing;
    Theirs.Sources.Torque drive;
  equation
    drive.tau = 3*sin(4*time);
    connect(drive.flange, motor.flange_a);
    connect(motor.flange_b, gear.flange_a);
    connect(gear.flange_b, spring.flange_a);
    connect(spring.flange_b, load.flange_a);
    connect(load.flange_b, damper.flange_a);
    connect(damper.flange_b, housing.flange);
    annotation(experiment(StopTime=5));
  end ShaftTheirs;

  model Jerks
    OursT.Sources.Speed pull(T=0.05);
    OursT.SpringDamper spring(c=2000, d=1);
    OursT.Mass mass(m=1, s(start=0, fixed=true), v(start=0, fixed=true));
    OursT.Guide guide(f_0=20, peak=2);
  equation
    pull.v_ref = 0.1;
    connect(pull.b, spring.a);
    connect(spring.b, mass.a);
    connect(mass.b, guide.a);
    annotation(experiment(StopTime=3));
  end Jerks;

  model JerksTheirs
    TheirsT.Sources.ConstantSpeed pull(v_fixed=0.1, s(start=0, fixed=true));
    TheirsT.Components.SpringDamper spring(c=2000, d=1);
    TheirsT.Components.Mass mass(m=1, s(start=0, fixed=true), v(start=0, fixed=true));
    TheirsT.Components.SupportFriction guide(f_pos=[0, 20], peak=2);
  equation
    connect(pull.flange, spring.flange_a);
    connect(spring.flange_b, mass.flange_a);
    connect(mass.flange_b, guide.flange_a);
    annotation(experiment(StopTime=3));
  end JerksTheirs;
end Pairs;
