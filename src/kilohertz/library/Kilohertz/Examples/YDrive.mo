within Kilohertz.Examples;
model YDrive "An electric drive brings a beam to the leg of a platform, a cylinder presses it on while the sea moves"
  Blocks.Sources.Ramp approach(height=2.3, duration=9, starts=1) "Where the carriage should be" annotation(Placement(transformation(extent={{10,-70},{30,-50}})));
  Control.Cascade position(K_x=6, K_ff=0, K_v=4000, Ti=0.2, y_max=4000, v_max=0.6) "Position control of the carriage, on the side of the motor" annotation(Placement(transformation(extent={{50,-30},{70,-10}})));
  Rotational.Sources.Torque motor "Motor with current control: its torque is what is asked for" annotation(Placement(transformation(extent={{90,-30},{110,-10}})));
  Rotational.Inertia rotor(J=2, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-150,10},{-130,30}})));
  Rotational.LossyGear gear(ratio=20, eta=0.92, eta_back=0.9) annotation(Placement(transformation(extent={{-110,10},{-90,30}})));
  Rotational.SpringDamper shaft(c=5e6, d=2e4) "Elasticity of gear and shaft" annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
  Rotational.Inertia pinion(J=5, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-110,-30},{-90,-10}})));
  Translational.RackAndPinion rack(r=0.2) annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
  Translational.Mass carriage(m=15000) annotation(Placement(transformation(extent={{-30,50},{-10,70}})));
  Translational.Guide guide(f_0=3000) annotation(Placement(transformation(extent={{10,90},{30,110}})));
  Translational.Sensors.Position carriage_position annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
  Translational.Sensors.Speed carriage_speed annotation(Placement(transformation(extent={{10,10},{30,30}})));
  Hydraulics.PressureSource supply(p=2.1e7) annotation(Placement(transformation(extent={{-150,-30},{-130,-10}})));
  Hydraulics.Tank tank annotation(Placement(transformation(extent={{-30,-70},{-10,-50}})));
  Hydraulics.Valves.Valve32 valve(q_nominal=1000e-3/60, rounding=0.05, f=40, y(fixed=false)) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
  Hydraulics.IncompressibleActuator cylinder(d_piston=0.16, d_rod=0.11, stroke=1.2, G=2e-11) annotation(Placement(transformation(extent={{10,50},{30,70}})));
  Translational.Sensors.Force force "Between cylinder and beam" annotation(Placement(transformation(extent={{50,50},{70,70}})));
  Translational.Mass beam(m=6000, d=500, s(start=cylinder.stroke + wanted.offset/cylinder.c_stop, fixed=true), v(start=0, fixed=true)) "Pushed out as far as it goes" annotation(Placement(transformation(extent={{90,50},{110,70}})));
  Translational.ElasticGap contact(gap=0, c=2e7, d=4e5) "Clamp against leg" annotation(Placement(transformation(extent={{130,50},{150,70}})));
  Translational.Sources.Speed leg(T=0.01, s(start=3)) "The platform, as the ship sees it" annotation(Placement(transformation(extent={{130,-110},{150,-90}})));
  Blocks.Sources.Sine sea(amplitude=0.1256637, f=0.2) annotation(Placement(transformation(extent={{90,-110},{110,-90}})));
  Control.Force pressing(k=2e-5, Ti=0.1, y_max=1, I(fixed=false)) "Force control of the cylinder, by its pressures" annotation(Placement(transformation(extent={{90,10},{110,30}})));
  Blocks.Sources.Ramp wanted(height=4e4, duration=1, offset=1e4, starts=12) "Force asked for" annotation(Placement(transformation(extent={{50,10},{70,30}})));
initial equation
  der(valve.w) = 0;
  cylinder.f_fluid = wanted.y;
equation
  connect(approach.y, position.x_ref) annotation(Line(points={{31,-60},{39.5,-60},{39.5,-12},{48,-12}}, color={0,0,127}));
  position.v_ref = 0;
  connect(carriage_position.s, position.x) annotation(Line(points={{31,-20},{39.5,-20},{39.5,-23},{48,-23}}, color={0,0,127}));
  connect(carriage_speed.v, position.v) annotation(Line(points={{31,20},{39.5,20},{39.5,-28},{48,-28}}, color={0,0,127}));
  connect(position.y, motor.tau) annotation(Line(points={{71,-20},{88,-20}}, color={0,0,127}));
  connect(motor.b, rotor.a) annotation(Line(points={{110,-20},{114,-20},{114,0},{-154,0},{-154,20},{-150,20}}, color={70,70,70}));
  connect(rotor.b, gear.a) annotation(Line(points={{-130,20},{-110,20}}, color={70,70,70}));
  connect(gear.b, shaft.a) annotation(Line(points={{-90,20},{-70,20}}, color={70,70,70}));
  connect(shaft.b, pinion.a) annotation(Line(points={{-50,20},{-46,20},{-46,0},{-114,0},{-114,-20},{-110,-20}}, color={70,70,70}));
  connect(pinion.b, rack.a) annotation(Line(points={{-90,-20},{-70,-20}}, color={70,70,70}));
  connect(rack.b, carriage.a) annotation(Line(points={{-50,-20},{-40,-20},{-40,60},{-30,60}}, color={0,127,0}));
  connect(carriage.b, guide.a) annotation(Line(points={{-10,60},{0,60},{0,100},{10,100}}, color={0,127,0}));
  connect(carriage_position.a, carriage.b) annotation(Line(points={{10,-20},{0,-20},{0,60},{-10,60}}, color={0,127,0}));
  connect(carriage_speed.a, carriage.b) annotation(Line(points={{10,20},{0,20},{0,60},{-10,60}}, color={0,127,0}));
  connect(carriage.b, cylinder.a) annotation(Line(points={{-10,60},{10,60}}, color={0,127,0}));
  connect(supply.a, valve.p) annotation(Line(points={{-140,-10},{-140,0},{-24,0},{-24,10}}, color={0,80,160}));
  connect(tank.a, valve.t) annotation(Line(points={{-20,-50},{-20,-20},{-16,-20},{-16,10}}, color={0,80,160}));
  connect(valve.a, cylinder.p) annotation(Line(points={{-24,30},{-24,40},{13,40},{13,50}}, color={0,80,160}));
  connect(cylinder.t, tank.a) annotation(Line(points={{24,50},{24,0},{-20,0},{-20,-50}}, color={0,80,160}));
  connect(cylinder.b, force.a) annotation(Line(points={{30,60},{50,60}}, color={0,127,0}));
  connect(force.b, beam.a) annotation(Line(points={{70,60},{90,60}}, color={0,127,0}));
  connect(beam.b, contact.a) annotation(Line(points={{110,60},{130,60}}, color={0,127,0}));
  connect(contact.b, leg.b) annotation(Line(points={{150,60},{154,60},{154,-100},{150,-100}}, color={0,127,0}));
  connect(sea.y, leg.v_ref) annotation(Line(points={{111,-100},{128,-100}}, color={0,0,127}));
  connect(wanted.y, pressing.reference) annotation(Line(points={{71,20},{79.5,20},{79.5,26},{88,26}}, color={0,0,127}));
  pressing.measured = cylinder.f_fluid;
  valve.u = 10*pressing.y;
  annotation(Diagram(coordinateSystem(extent={{-160,-160},{160,160}})), experiment(StopTime=20, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>After the application of Worschech and Mikelsons 2012, with our own
    parameters. The rod of the cylinder rests on its stop until the beam meets the leg; from then on it gives way, so that drive and sea do not
    hammer on the leg. The drive has position control, the cylinder force control through a 3/2 valve; the fluid is incompressible, so that the
    pressure of the piston side is an unknown of a nonlinear loop. Friction of the guide and losses of the gear make a loop of Real and discrete unknowns.</p></html>"));
end YDrive;
