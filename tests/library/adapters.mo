package Joined "Ours and those of the Modelica Standard Library in one model, and the same by ours alone"
  model Swing "A hinge of ours with a box of ours, in a world of ours"
    inner Kilohertz.MultiBody.World world(g=9.81, n={0, -1, 0});
    Kilohertz.MultiBody.Joints.Revolute hinge(n={0, 0, 1}, phi(start=0.5, fixed=true), w(start=0, fixed=true));
    Kilohertz.MultiBody.Shapes.Box box(r={0.5, 0, 0}, width=0.05);
    Kilohertz.MultiBody.Frame b;
  equation
    connect(world.b, hinge.a);
    connect(hinge.b, box.a);
    connect(box.b, b);
  end Swing;

  model Mixed "Half of each part is theirs"
    Kilohertz.Rotational.Sources.ConstantTorque torque(tau=2);
    Kilohertz.Rotational.Inertia rotor(J=1, phi(start=0, fixed=true), w(start=0, fixed=true));
    Kilohertz.Adapters.Rotational shaft;
    Modelica.Mechanics.Rotational.Components.SpringDamper spring(c=50, d=0.5);
    Modelica.Mechanics.Rotational.Components.Inertia load(J=2, phi(start=0, fixed=true), w(start=0, fixed=true));

    Kilohertz.Translational.ConstantForce push(f=3);
    Kilohertz.Translational.Mass mass(m=2, s(start=0, fixed=true), v(start=0, fixed=true));
    Kilohertz.Adapters.Translational rod;
    Modelica.Mechanics.Translational.Components.SpringDamper foot(c=20, d=1);
    Modelica.Mechanics.Translational.Components.Fixed wall;

    Kilohertz.Electrical.SineVoltage source(V=1, f=2);
    Kilohertz.Electrical.Ground ground;
    Kilohertz.Electrical.Resistor resistor(R=10);
    Kilohertz.Adapters.Electrical wire;
    Modelica.Electrical.Analog.Basic.Capacitor capacitor(C=1e-2, v(start=0, fixed=true));
    Modelica.Electrical.Analog.Basic.Ground earth;

    Kilohertz.Thermal.Capacity hot(C=5, T(start=350));
    Kilohertz.Adapters.Thermal joint;
    Modelica.Thermal.HeatTransfer.Components.ThermalConductor wall_G(G=2);
    Modelica.Thermal.HeatTransfer.Components.HeatCapacitor cold(C=3, T(start=300, fixed=true));

    inner Modelica.Mechanics.MultiBody.World world(g=9.81, n={0, -1, 0});
    Swing swing;
    Kilohertz.Adapters.MultiBody frame;
    Modelica.Mechanics.MultiBody.Parts.BodyBox box(r={0.5, 0, 0}, width=0.06);
  equation
    connect(torque.b, rotor.a);
    connect(rotor.b, shaft.ours);
    connect(shaft.theirs, spring.flange_a);
    connect(spring.flange_b, load.flange_a);
    connect(push.b, mass.a);
    connect(mass.b, rod.ours);
    connect(rod.theirs, foot.flange_a);
    connect(foot.flange_b, wall.flange);
    connect(source.n, ground.p);
    connect(source.p, resistor.p);
    connect(resistor.n, wire.ours);
    connect(wire.theirs, capacitor.p);
    connect(capacitor.n, earth.p);
    connect(hot.a, joint.ours);
    connect(joint.theirs, wall_G.port_a);
    connect(wall_G.port_b, cold.port);
    connect(swing.b, frame.ours);
    connect(frame.theirs, box.frame_a);
    annotation(experiment(StopTime=2));
  end Mixed;

  model Ours "The same by ours alone"
    Kilohertz.Rotational.Sources.ConstantTorque torque(tau=2);
    Kilohertz.Rotational.Inertia rotor(J=1, phi(start=0, fixed=true), w(start=0, fixed=true));
    Kilohertz.Rotational.SpringDamper spring(c=50, d=0.5);
    Kilohertz.Rotational.Inertia load(J=2, phi(start=0, fixed=true), w(start=0, fixed=true));
    Kilohertz.Translational.ConstantForce push(f=3);
    Kilohertz.Translational.Mass mass(m=2, s(start=0, fixed=true), v(start=0, fixed=true));
    Kilohertz.Translational.SpringDamper foot(c=20, d=1);
    Kilohertz.Translational.Fixed wall;
    Kilohertz.Electrical.SineVoltage source(V=1, f=2);
    Kilohertz.Electrical.Ground ground;
    Kilohertz.Electrical.Resistor resistor(R=10);
    Kilohertz.Electrical.Capacitor capacitor(C=1e-2);
    Kilohertz.Thermal.Capacity hot(C=5, T(start=350));
    Kilohertz.Thermal.Resistor wall_R(R=0.5);
    Kilohertz.Thermal.Capacity cold(C=3, T(start=300));
    Swing swing;
    inner Kilohertz.MultiBody.World world(g=9.81, n={0, -1, 0});
    Kilohertz.MultiBody.Shapes.Box box(r={0.5, 0, 0}, width=0.06);
  equation
    connect(torque.b, rotor.a);
    connect(rotor.b, spring.a);
    connect(spring.b, load.a);
    connect(push.b, mass.a);
    connect(mass.b, foot.a);
    connect(foot.b, wall.a);
    connect(source.n, ground.p);
    connect(source.p, resistor.p);
    connect(resistor.n, capacitor.p);
    connect(capacitor.n, ground.p);
    connect(hot.a, wall_R.a);
    connect(wall_R.b, cold.a);
    connect(swing.b, box.a);
    annotation(experiment(StopTime=2));
  end Ours;
end Joined;
