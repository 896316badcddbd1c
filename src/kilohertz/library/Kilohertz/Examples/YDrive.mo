within Kilohertz.Examples;
model YDrive "An electric drive brings a beam to the leg of a platform, a cylinder presses it on while the sea moves"
  Blocks.Sources.Ramp approach(height=2.3, duration=9, starts=1) "Where the carriage should be";
  Control.Cascade position(K_x=6, K_ff=0, K_v=4000, Ti=0.2, y_max=4000, v_max=0.6) "Position control of the carriage, on the side of the motor";
  Rotational.Sources.Torque motor "Motor with current control: its torque is what is asked for";
  Rotational.Inertia rotor(J=2, phi(start=0, fixed=true), w(start=0, fixed=true));
  Rotational.LossyGear gear(ratio=20, eta=0.92, eta_back=0.9);
  Rotational.SpringDamper shaft(c=5e6, d=2e4) "Elasticity of gear and shaft";
  Rotational.Inertia pinion(J=5, phi(start=0, fixed=true), w(start=0, fixed=true));
  Translational.RackAndPinion rack(r=0.2);
  Translational.Mass carriage(m=15000);
  Translational.Guide guide(f_0=3000);
  Translational.Sensors.Position carriage_position;
  Translational.Sensors.Speed carriage_speed;
  Hydraulics.PressureSource supply(p=2.1e7);
  Hydraulics.Tank tank;
  Hydraulics.Valves.Valve32 valve(q_nominal=1000e-3/60, rounding=0.05, f=40, y(fixed=false));
  Hydraulics.IncompressibleActuator cylinder(d_piston=0.16, d_rod=0.11, stroke=1.2, G=2e-11);
  Translational.Sensors.Force force "Between cylinder and beam";
  Translational.Mass beam(m=6000, d=500, s(start=cylinder.stroke + wanted.offset/cylinder.c_stop, fixed=true), v(start=0, fixed=true)) "Pushed out as far as it goes";
  Translational.ElasticGap contact(gap=0, c=2e7, d=4e5) "Clamp against leg";
  Translational.Sources.Speed leg(T=0.01, s(start=3)) "The platform, as the ship sees it";
  Blocks.Sources.Sine sea(amplitude=0.1256637, f=0.2);
  Control.Force pressing(k=2e-5, Ti=0.1, y_max=1, I(fixed=false)) "Force control of the cylinder, by its pressures";
  Blocks.Sources.Ramp wanted(height=4e4, duration=1, offset=1e4, starts=12) "Force asked for";
initial equation
  der(valve.w) = 0;
  cylinder.f_fluid = wanted.y;
equation
  connect(approach.y, position.x_ref);
  position.v_ref = 0;
  connect(carriage_position.s, position.x);
  connect(carriage_speed.v, position.v);
  connect(position.y, motor.tau);
  connect(motor.b, rotor.a);
  connect(rotor.b, gear.a);
  connect(gear.b, shaft.a);
  connect(shaft.b, pinion.a);
  connect(pinion.b, rack.a);
  connect(rack.b, carriage.a);
  connect(carriage.b, guide.a);
  connect(carriage_position.a, carriage.b);
  connect(carriage_speed.a, carriage.b);
  connect(carriage.b, cylinder.a);
  connect(supply.a, valve.p);
  connect(tank.a, valve.t);
  connect(valve.a, cylinder.p);
  connect(cylinder.t, tank.a);
  connect(cylinder.b, force.a);
  connect(force.b, beam.a);
  connect(beam.b, contact.a);
  connect(contact.b, leg.b);
  connect(sea.y, leg.v_ref);
  connect(wanted.y, pressing.reference);
  pressing.measured = cylinder.f_fluid;
  valve.u = 10*pressing.y;
  annotation(experiment(StopTime=20, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>After the application of Worschech and Mikelsons 2012, with our own
    parameters. The rod of the cylinder rests on its stop until the beam meets the leg; from then on it gives way, so that drive and sea do not
    hammer on the leg. The drive has position control, the cylinder force control through a 3/2 valve; the fluid is incompressible, so that the
    pressure of the piston side is an unknown of a nonlinear loop. Friction of the guide and losses of the gear make a loop of Real and discrete unknowns.</p></html>"));
end YDrive;
