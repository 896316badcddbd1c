package Pairs "Models of ours and equal ones of the Modelica Standard Library"
  import Ours = Kilohertz.Rotational;
  import Theirs = Modelica.Mechanics.Rotational;
  import OursT = Kilohertz.Translational;
  import TheirsT = Modelica.Mechanics.Translational;
  import OursM = Kilohertz.MultiBody;
  import TheirsM = Modelica.Mechanics.MultiBody;

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

  model Arm "Three revolute joints about different axes, one of them driven"
    inner OursM.World world;
    OursM.Joints.Revolute first(n={0, 1, 0}, driven=true, phi(start=0, fixed=true), w(start=1, fixed=true)), second(n={0, 0, 1}, phi(start=0.5, fixed=true), w(start=0, fixed=true)), third(n={1, 0, 0}, phi(start=0, fixed=true), w(start=2, fixed=true));
    OursM.Shapes.Box upper(r={0.5, 0, 0}, width=0.1, height=0.05), lower(r={0.2, 0.3, 0}, n={0, 0, 1}, width=0.1, height=0.05);
    OursM.Body load(m=3, r_CM={0.1, 0.2, 0.3}, I=[0.1, 0.01, 0.02; 0.01, 0.2, 0.03; 0.02, 0.03, 0.3]);
    OursM.Rotation bend(r={0.1, 0, 0}, sequence={3, 1, 2}, angles={0.3, -0.4, 0.5});
    Ours.Sources.Torque drive;
  equation
    drive.tau = 20*sin(3*time);
    connect(drive.b, first.axis);
    connect(world.b, first.a);
    connect(first.b, second.a);
    connect(second.b, upper.a);
    connect(upper.b, bend.a);
    connect(bend.b, third.a);
    connect(third.b, lower.a);
    connect(lower.b, load.a);
    annotation(experiment(StopTime=2));
  end Arm;

  model ArmTheirs
    inner TheirsM.World world(enableAnimation=false, g=9.81);
    TheirsM.Joints.Revolute first(n={0, 1, 0}, useAxisFlange=true, phi(start=0, fixed=true), w(start=1, fixed=true)), second(n={0, 0, 1}, phi(start=0.5, fixed=true), w(start=0, fixed=true)), third(n={1, 0, 0}, phi(start=0, fixed=true), w(start=2, fixed=true));
    TheirsM.Parts.BodyBox upper(r={0.5, 0, 0}, width=0.1, height=0.05, density=7700), lower(r={0.2, 0.3, 0}, widthDirection={0, 0, 1}, width=0.1, height=0.05, density=7700);
    TheirsM.Parts.Body load(m=3, r_CM={0.1, 0.2, 0.3}, I_11=0.1, I_22=0.2, I_33=0.3, I_21=0.01, I_31=0.02, I_32=0.03);
    TheirsM.Parts.FixedRotation bend(r={0.1, 0, 0}, rotationType=TheirsM.Types.RotationTypes.PlanarRotationSequence, sequence={3, 1, 2}, angles=180/Modelica.Constants.pi*{0.3, -0.4, 0.5});
    Theirs.Sources.Torque drive;
  equation
    drive.tau = 20*sin(3*time);
    connect(drive.flange, first.axis);
    connect(world.frame_b, first.frame_a);
    connect(first.frame_b, second.frame_a);
    connect(second.frame_b, upper.frame_a);
    connect(upper.frame_b, bend.frame_a);
    connect(bend.frame_b, third.frame_a);
    connect(third.frame_b, lower.frame_a);
    connect(lower.frame_b, load.frame_a);
    annotation(experiment(StopTime=2));
  end ArmTheirs;

  model Tumbling "A free body between two springs"
    inner OursM.World world;
    OursM.Body body(m=2, r_CM={0.1, 0, 0}, I=diagonal({0.05, 0.1, 0.2}), r_0(start={0, 0.1, 0.2}, each fixed=true), v_0(start={1, 0, 0}, each fixed=true), angles_start={0.1, 0.2, 0.3}, angles_fixed=true, w_start={1, 2, 3}, w_fixed=true);
    OursM.Translation edge(r={0.2, 0.1, 0});
    OursM.Forces.SpringDamper left(c=100, d=1, s_0=0.5), right(c=150, d=2, s_0=0.4);
    OursM.Fixed wall(r={0, 1, 0}), post(r={1, 1, 0.5});
  equation
    connect(wall.b, left.a);
    connect(left.b, body.a);
    connect(body.a, edge.a);
    connect(edge.b, right.a);
    connect(right.b, post.b);
    annotation(experiment(StopTime=2));
  end Tumbling;

  model TumblingTheirs
    inner TheirsM.World world(enableAnimation=false, g=9.81);
    TheirsM.Parts.Body body(m=2, r_CM={0.1, 0, 0}, I_11=0.05, I_22=0.1, I_33=0.2, r_0(start={0, 0.1, 0.2}, each fixed=true), v_0(start={1, 0, 0}, each fixed=true), angles_start={0.1, 0.2, 0.3}, angles_fixed=true, w_0_start=TheirsM.Frames.resolve1(TheirsM.Frames.axesRotations({1, 2, 3}, {0.1, 0.2, 0.3}, zeros(3)), {1, 2, 3}), w_0_fixed=true);
    TheirsM.Parts.FixedTranslation edge(r={0.2, 0.1, 0});
    TheirsM.Forces.SpringDamperParallel left(c=100, d=1, s_unstretched=0.5), right(c=150, d=2, s_unstretched=0.4);
    TheirsM.Parts.Fixed wall(r={0, 1, 0}), post(r={1, 1, 0.5});
  equation
    connect(wall.frame_b, left.frame_a);
    connect(left.frame_b, body.frame_a);
    connect(body.frame_a, edge.frame_a);
    connect(edge.frame_b, right.frame_a);
    connect(right.frame_b, post.frame_b);
    annotation(experiment(StopTime=2));
  end TumblingTheirs;

  model Engine "Crank, connecting rod with mass and piston"
    inner OursM.World world;
    OursM.Joints.Revolute crank(n={0, 0, 1}, phi(start=0.2, fixed=true), w(start=20, fixed=true));
    OursM.Shapes.Box web(r={0.05, 0, 0}, width=0.04);
    OursM.Loops.UniversalPrismatic piston(L=0.15, n={1, 0, 0}, n_a={0, 0, 1}, s_guess=0.2);
    OursM.Body rod(m=0.5, r_CM={0.06, 0, 0}, I=diagonal({1e-4, 1e-3, 1e-3})), mass(m=0.8);
  equation
    connect(world.b, crank.a);
    connect(crank.b, web.a);
    connect(web.b, piston.a);
    connect(world.b, piston.b);
    connect(piston.rod, rod.a);
    connect(piston.arm, mass.a);
    annotation(experiment(StopTime=0.5));
  end Engine;

  model EngineTheirs
    inner TheirsM.World world(enableAnimation=false, g=9.81);
    TheirsM.Joints.Revolute crank(n={0, 0, 1}, stateSelect=StateSelect.always, phi(start=0.2, fixed=true), w(start=20, fixed=true));
    TheirsM.Parts.BodyBox web(r={0.05, 0, 0}, width=0.04, density=7700);
    TheirsM.Joints.RevolutePlanarLoopConstraint small(n={0, 0, 1});
    TheirsM.Joints.Revolute big(n={0, 0, 1}, phi(start=-0.27));
    TheirsM.Parts.BodyShape rod(m=0.5, r={0.15, 0, 0}, r_CM={0.06, 0, 0}, I_11=1e-4, I_22=1e-3, I_33=1e-3);
    TheirsM.Joints.Prismatic piston(n={1, 0, 0}, s(start=0.2));
    TheirsM.Parts.Body mass(m=0.8, r_CM={0, 0, 0}, I_11=1e-3, I_22=1e-3, I_33=1e-3);
  equation
    connect(world.frame_b, crank.frame_a);
    connect(crank.frame_b, web.frame_a);
    connect(web.frame_b, big.frame_a);
    connect(big.frame_b, rod.frame_a);
    connect(rod.frame_b, small.frame_a);
    connect(small.frame_b, piston.frame_b);
    connect(world.frame_b, piston.frame_a);
    connect(piston.frame_b, mass.frame_a);
    annotation(experiment(StopTime=0.5));
  end EngineTheirs;

  model Rectifier "Four diodes charge a capacitor"
    extends Kilohertz.Examples.Circuits.Rectifier(lower(each R_on=1e-4), upper(each R_on=1e-4));
    annotation(experiment(StopTime=0.1));
  end Rectifier;

  model RectifierTheirs
    import Modelica.Electrical.Analog;
    Analog.Sources.SineVoltage source(V=20, f=50);
    Analog.Basic.Resistor wire(R=0.5), load(R=50);
    Analog.Ideal.IdealDiode upper[2](each Ron=1e-4, each Goff=1e-5, each Vknee=0), lower[2](each Ron=1e-4, each Goff=1e-5, each Vknee=0);
    Analog.Basic.Capacitor capacitor(C=1e-3, v(start=0, fixed=true));
    Analog.Basic.Ground ground;
  equation
    connect(source.p, wire.p);
    connect(wire.n, upper[1].p);
    connect(source.n, upper[2].p);
    connect(lower[1].n, wire.n);
    connect(lower[2].n, source.n);
    connect(upper[1].n, capacitor.p);
    connect(upper[2].n, capacitor.p);
    connect(lower[1].p, capacitor.n);
    connect(lower[2].p, capacitor.n);
    connect(load.p, capacitor.p);
    connect(load.n, capacitor.n);
    connect(capacitor.n, ground.p);
    annotation(experiment(StopTime=0.1));
  end RectifierTheirs;

  model Motor "A DC motor"
    extends Kilohertz.Examples.Circuits.Motor;
  end Motor;

  model MotorTheirs
    import Modelica.Electrical.Analog;
    Analog.Sources.SignalVoltage source;
    Analog.Basic.Resistor resistor(R=1);
    Analog.Basic.Inductor inductor(L=1e-2, i(start=0, fixed=true));
    Analog.Basic.RotationalEMF emf(k=0.1);
    Analog.Basic.Ground ground;
    Theirs.Components.Inertia motor(J=1e-3, phi(start=0, fixed=true), w(start=0, fixed=true));
  equation
    source.v = if time < 0.5 then 12 else -6;
    connect(source.p, resistor.p);
    connect(resistor.n, inductor.p);
    connect(inductor.n, emf.p);
    connect(emf.n, source.n);
    connect(source.n, ground.p);
    connect(emf.flange, motor.flange_a);
    annotation(experiment(StopTime=1));
  end MotorTheirs;
end Pairs;
