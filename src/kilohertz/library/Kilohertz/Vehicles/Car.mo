within Kilohertz.Vehicles;
model Car "A car with two axles and four wheels; a level of detail is a choice of its axles"
  Blocks.RealInput steer(unit="rad") "Angle of the hand wheel asked for, positive to the left" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
  Rotational.Flange shaft_left "Of the left rear wheel" annotation(Placement(transformation(extent={{-50,-110},{-30,-90}})));
  Rotational.Flange shaft_right "Of the right rear wheel" annotation(Placement(transformation(extent={{30,-110},{50,-90}})));
  MultiBody.Frame mount "On the body, at the rear axle: for a drive" annotation(Placement(transformation(extent={{84,-116},{116,-84}})));
  parameter Boolean braked = false "Has brakes" annotation(Evaluate=true);
  parameter Units.Torque tau_brake[2](each min=0) = {1800, 900} "Torque of a brake at the front, at the rear, fully pressed";
  Blocks.RealInput brake if braked "Brakes: 0 released, 1 fully pressed" annotation(Placement(transformation(extent={{-20,-20},{20,20}}, origin={0,120}, rotation=-90)));
  parameter Units.Velocity v_start = 0 "Speed at the start";
  parameter Units.Length r_start[3] = {0, 0, 0.2997} "Place of the middle of the front axle at the start";
  replaceable model Front = Axles.SteeredTables constrainedby Axles.SteeredAxle "Front axle"
    annotation(choices(choice(redeclare model Front = Kilohertz.Vehicles.Axles.SteeredTables "Level 1"), choice(redeclare model Front = Kilohertz.Vehicles.Axles.MacPherson "Level 2"), choice(redeclare model Front = Kilohertz.Vehicles.Bushings.SoftMacPherson "Levels 3 and 4")));
  replaceable model Rear = Axles.Tables constrainedby Axles.Axle "Rear axle"
    annotation(choices(choice(redeclare model Rear = Kilohertz.Vehicles.Axles.Tables "Level 1"), choice(redeclare model Rear = Kilohertz.Vehicles.Axles.TrailingArms "Level 2"), choice(redeclare model Rear = Kilohertz.Vehicles.Bushings.Multilink "Levels 3 and 4")));
  replaceable model Rack = Steering.Rigid constrainedby Steering.Column "Steering"
    annotation(choices(choice(redeclare model Rack = Kilohertz.Vehicles.Steering.Rigid "Levels 1 and 2"), choice(redeclare model Rack = Kilohertz.Vehicles.Steering.Elastic "Levels 3 and 4")));
  replaceable model Tyre = Tyres.TMeasy constrainedby Tyres.Tyre "Tyres of all wheels";
  Chassis chassis(v_start=v_start, r_start=r_start) "Body" annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
  Rack steering "Steering" annotation(Placement(transformation(extent={{-50,50},{-30,70}})));
  Front front(r_start=r_start, v_start=v_start) "Front axle" annotation(Placement(transformation(extent={{30,-10},{50,10}})));
  Rear rear(r_start=r_start - {chassis.wheelbase, 0, 0}, v_start=v_start) "Rear axle" annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
  Wheel front_left(redeclare model Tyre = Tyre, w_start=v_start/r_D) "Wheel" annotation(Placement(transformation(extent={{70,30},{90,50}})));
  Wheel front_right(redeclare model Tyre = Tyre, w_start=v_start/r_D) "Wheel" annotation(Placement(transformation(extent={{70,-50},{90,-30}})));
  Wheel rear_left(redeclare model Tyre = Tyre, w_start=v_start/r_D) "Wheel" annotation(Placement(transformation(extent={{-90,30},{-70,50}})));
  Wheel rear_right(redeclare model Tyre = Tyre, w_start=v_start/r_D) "Wheel" annotation(Placement(transformation(extent={{-90,-50},{-70,-30}})));
  Rotational.Brake brakes[4](tau_max={tau_brake[1], tau_brake[1], tau_brake[2], tau_brake[2]}) if braked "Hold the wheels against their carriers" annotation(Placement(transformation(extent={{30,50},{50,70}})));
  Units.Force load[4] = {front_left.tyre.F_z, front_right.tyre.F_z, rear_left.tyre.F_z, rear_right.tyre.F_z} "Loads of the wheels: front left, front right, rear left, rear right";
protected
  parameter Units.Length r_D = 0.3119 "Dynamic radius of a wheel at the start";
equation
  connect(steer, steering.command) annotation(Line(points={{-120,0},{-86,0},{-86,60},{-52,60}}, color={0,0,127}));
  connect(steering.rack, front.rack) annotation(Line(points={{-30,60},{-26,60},{-26,-14},{40,-14},{40,-10}}, color={0,127,0}));
  connect(chassis.front, front.body) annotation(Line(points={{10,0},{14,0},{14,14},{40,14},{40,10}}, color={95,95,95}));
  connect(chassis.rear, rear.body) annotation(Line(points={{-10,0},{-14,0},{-14,14},{-40,14},{-40,10}}, color={95,95,95}));
  connect(front.left, front_left.hub) annotation(Line(points={{30,0},{26,0},{26,40},{70,40}}, color={95,95,95}));
  connect(front.right, front_right.hub) annotation(Line(points={{50,0},{60,0},{60,-40},{70,-40}}, color={95,95,95}));
  connect(rear.left, rear_left.hub) annotation(Line(points={{-50,0},{-94,0},{-94,40},{-90,40}}, color={95,95,95}));
  connect(rear.right, rear_right.hub) annotation(Line(points={{-30,0},{-26,0},{-26,-20},{-94,-20},{-94,-40},{-90,-40}}, color={95,95,95}));
  connect(front_left.disc, brakes[1].a) annotation(Line(points={{84,50},{84,54},{26,54},{26,60},{30,60}}, color={70,70,70}));
  connect(front_right.disc, brakes[2].a) annotation(Line(points={{84,-30},{84,-26},{26,-26},{26,60},{30,60}}, color={70,70,70}));
  connect(rear_left.disc, brakes[3].a) annotation(Line(points={{-76,50},{-76,60},{30,60}}, color={70,70,70}));
  connect(rear_right.disc, brakes[4].a) annotation(Line(points={{-76,-30},{-76,60},{30,60}}, color={70,70,70}));
  for i in 1:4 loop
    connect(brake, brakes[i].u) annotation(Line(points={{0,120},{0,95.5},{40,95.5},{40,71}}, color={0,0,127}));
  end for;
  connect(chassis.rear, mount) annotation(Line(points={{-10,0},{-14,0},{-14,-100},{100,-100}}, color={95,95,95}));
  connect(shaft_left, rear_left.shaft) annotation(Line(points={{-40,-100},{-40,54},{-84,54},{-84,50}}, color={70,70,70}));
  connect(shaft_right, rear_right.shaft) annotation(Line(points={{40,-100},{40,-26},{-84,-26},{-84,-30}}, color={70,70,70}));
  annotation(Icon(graphics={Polygon(points={{-90,-30},{-90,0},{-50,5},{-25,40},{35,40},{60,5},{90,0},{90,-30},{-90,-30}}, fillColor={200,215,235}, fillPattern=FillPattern.Solid), Ellipse(extent={{-65,-10},{-25,-50}}, fillColor={90,90,90}, fillPattern=FillPattern.Solid), Ellipse(extent={{25,-10},{65,-50}}, fillColor={90,90,90}, fillPattern=FillPattern.Solid), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p>Chassis, two axles, four wheels, steering. The shafts of the rear wheels go out: without a drive the car rolls. Brakes hold discs against their carriers by stick and slip; a car without them has no events. Axles, steering and tyres are replaceable.</p></html>"));
end Car;
