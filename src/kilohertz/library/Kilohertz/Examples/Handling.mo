within Kilohertz.Examples;
package Handling "Cars in space: tyres on a rig, lane changes, driving off and stopping, a fall"
  model Carriage "Leads a carrier straight along the road, steered, at a given height"
    MultiBody.Frame b "The carrier" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    parameter Units.Velocity v = 20 "Speed along x";
    parameter Units.Length height = 0.3 "Of the carrier above the road";
    input Units.Angle delta "Steer angle, positive to the left";
    Units.Length x(start=0, fixed=true) "Way";
  equation
    der(x) = v;
    Connections.root(b.R);
    b.r_0 = {x, 0, height};
    b.R = MultiBody.Frames.about({0, 0, 1}, delta, der(delta));
    annotation(Icon(graphics={Rectangle(extent={{-80,30},{80,-30}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid)}), Documentation(info="<html><p>For tyres on a rig.</p></html>"));
  end Carriage;

  model SideSlip "A wheel on a rig: side force over slip angle, from 0 to 12 degrees"
    inner MultiBody.World world(n={0, 0, -1}) annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
    inner Vehicles.Roads.Road road annotation(Placement(transformation(extent={{-30,-50},{-10,-30}})));
    parameter Units.Force load = 4000 "Of the wheel";
    replaceable model Tyre = Vehicles.Tyres.TMeasy constrainedby Vehicles.Tyres.Tyre "Its tyre";
    Carriage rig(v=20, height=0.318 - load/220e3, delta=-Math.pi/15*time/20) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    Vehicles.Wheel wheel(redeclare model Tyre = Tyre, w_start=64.3) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
    Units.Angle alpha = -rig.delta "Slip angle";
  equation
    connect(rig.b, wheel.hub) annotation(Line(points={{-10,0},{10,0}}, color={95,95,95}));
    annotation(experiment(StopTime=20, Tolerance=1e-8), Documentation(info="<html><p>So slow that the deflections follow: <code>wheel.tyre.F_y</code> over <code>alpha</code> is the curve of the tyre.</p></html>"));
  end SideSlip;

  model MagicSlip "The same with the Magic Formula"
    extends SideSlip(redeclare model Tyre = Vehicles.Tyres.MagicFormula);
    annotation(experiment(StopTime=20, Tolerance=1e-8), Documentation(info="<html><p>Side force over slip angle of Pacejka's tyre.</p></html>"));
  end MagicSlip;

  model BrakeSlip "A wheel on a rig: force along it over slip, from locked to spinning"
    inner MultiBody.World world(n={0, 0, -1}) annotation(Placement(transformation(extent={{-10,-50},{10,-30}})));
    inner Vehicles.Roads.Road road annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    parameter Units.Force load = 4000 "Of the wheel";
    replaceable model Tyre = Vehicles.Tyres.TMeasy constrainedby Vehicles.Tyres.Tyre "Its tyre";
    Carriage rig(v=20, height=0.318 - load/220e3, delta=0) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Vehicles.Wheel wheel(redeclare model Tyre = Tyre) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Rotational.Sources.Speed motor annotation(Placement(transformation(extent={{-10,30},{10,50}})));
  equation
    motor.w_ref = 6.5*time;
    connect(rig.b, wheel.hub) annotation(Line(points={{10,0},{30,0}}, color={95,95,95}));
    connect(motor.b, wheel.shaft) annotation(Line(points={{10,40},{36,40},{36,10}}, color={70,70,70}));
    annotation(experiment(StopTime=20, Tolerance=1e-8), Documentation(info="<html><p>The wheel is locked at the start, rolls freely at about 10 s and spins at twice its speed in the end.</p></html>"));
  end BrakeSlip;

  partial model LaneChange "Double lane change at 80 km/h, in idle gear"
    inner MultiBody.World world(n={0, 0, -1}) annotation(Placement(transformation(extent={{50,30},{70,50}})));
    inner Vehicles.Roads.Road road annotation(Placement(transformation(extent={{50,-10},{70,10}})));
    replaceable Vehicles.Car car(v_start=80/3.6) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Vehicles.Drivers.LaneChange hands annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    Powertrain.Driver driver "Would hold the speed; the car rolls in idle gear" annotation(Placement(transformation(extent={{-50,30},{-30,50}})));
  equation
    connect(hands.y, car.steer) annotation(Line(points={{-29,0},{-12,0}}, color={0,0,127}));
    driver.v_ref = car.chassis.v_x;
    driver.v = car.chassis.v_x;
    annotation(Documentation(info="<html><p>After Elmqvist et al. 2004, with our own parameters. The hand wheel follows four half-waves; the car moves 3.5 m to the left and back.</p></html>"));
  end LaneChange;

  model LaneChange1 "Double lane change at 80 km/h, axles by tables"
    extends LaneChange;
    annotation(experiment(StopTime=8, Tolerance=1e-8, Interval=1e-2), Documentation(info="<html><p>15 degrees of freedom, 40 states, one linear system of 10, as in Elmqvist et al. 2004.</p></html>"));
  end LaneChange1;

  model Travel "A MacPherson axle on a rig: wheels pressed up and let down, the rack moved"
    inner MultiBody.World world(n={0, 0, -1}) annotation(Placement(transformation(extent={{-50,30},{-30,50}})));
    Vehicles.Axles.MacPherson axle annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Vehicles.Steering.Rigid steering annotation(Placement(transformation(extent={{-50,-50},{-30,-30}})));
    Blocks.Sources.Sine hands(amplitude=5, f=0.05, starts=10) annotation(Placement(transformation(extent={{-90,-50},{-70,-30}})));
    MultiBody.Forces.WorldForce lift_left annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    MultiBody.Forces.WorldForce lift_right annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Units.Force lift = 3832 + 1100*sin(2*Math.pi*0.1*time) "Force onto each carrier";
    Units.Length z = axle.left.r_0[3] "Travel of the left wheel";
    Units.Angle toe = atan2(-axle.left.R.T[2, 1], axle.left.R.T[2, 2]) "Steer angle of the left wheel";
    Units.Angle camber = asin(axle.left.R.T[2, 3]) "Camber of the left wheel";
    Units.Length outward = axle.left.r_0[2] - 0.75 "Way of the left wheel outward";
  equation
    lift_left.force = {0, 0, lift};
    lift_right.force = {0, 0, lift};
    connect(world.b, axle.body) annotation(Line(points={{-30,40},{0,40},{0,10}}, color={95,95,95}));
    connect(hands.y, steering.command) annotation(Line(points={{-69,-40},{-52,-40}}, color={0,0,127}));
    connect(steering.rack, axle.rack) annotation(Line(points={{-30,-40},{0,-40},{0,-10}}, color={0,127,0}));
    connect(lift_left.b, axle.left) annotation(Line(points={{-30,0},{-10,0}}, color={95,95,95}));
    connect(lift_right.b, axle.right) annotation(Line(points={{50,0},{10,0}}, color={95,95,95}));
    annotation(experiment(StopTime=30, Tolerance=1e-8), Documentation(info="<html><p>For ten seconds the wheels go up and down with the rack in the middle: <code>toe</code>, <code>camber</code> and <code>outward</code> over <code>z</code> are the tables of level 1. Then the rack moves as well.</p></html>"));
  end Travel;

  model LaneChange2 "Double lane change at 80 km/h, ideal linkages"
    extends LaneChange(redeclare Vehicles.LinkageCar car(v_start=80/3.6));
    annotation(experiment(StopTime=8, Tolerance=1e-8, Interval=1e-2), Documentation(info="<html><p>Like <code>LaneChange1</code> with a linkage on each side: the same 15 degrees of freedom, 40 states and one linear system of 10, nothing iterated.</p></html>"));
  end LaneChange2;

  model LaneChange3 "Double lane change at 80 km/h, bushings with rods that have no mass"
    extends LaneChange(redeclare Vehicles.BushingCar car(v_start=80/3.6));
    annotation(experiment(StopTime=8, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>36 degrees of freedom, 118 states: the six rods of the rear axle give linear systems of 6 for their velocities. Stiff: implicit Euler at 1 ms.</p></html>"));
  end LaneChange3;

  model LaneChange4 "Double lane change at 80 km/h, bushings with rods that have mass"
    extends LaneChange(redeclare Vehicles.BushingCar car(redeclare model Rod = Vehicles.Bushings.HeavyLink, heavy=true, v_start=80/3.6));
    annotation(experiment(StopTime=8, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>72 degrees of freedom, 154 states; the fastest has 15 us. The side acceleration is that of <code>LaneChange3</code> within 0.2 % of its peak.</p></html>"));
  end LaneChange4;

  partial model Steered "80 km/h, held by a driver; the hand wheel is turned from outside"
    inner MultiBody.World world(n={0, 0, -1}) annotation(Placement(transformation(extent={{50,30},{70,50}})));
    inner Vehicles.Roads.Road road annotation(Placement(transformation(extent={{50,70},{70,90}})));
    input Units.Angle hand_wheel(start=0) "Angle of the hand wheel, positive to the left";
    parameter Units.Velocity v = 80/3.6 "Speed to be held";
    parameter Units.Torque tau_max = 1200 "Torque of both rear wheels, accelerator fully pressed";
    replaceable Vehicles.Car car(v_start=v) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Powertrain.Driver driver "Holds the speed" annotation(Placement(transformation(extent={{-90,-70},{-70,-50}})));
    Rotational.Sources.Torque drive annotation(Placement(transformation(extent={{-50,-70},{-30,-50}})));
    Vehicles.Driveline.Differential differential(ratio=1) annotation(Placement(transformation(extent={{-10,-70},{10,-50}})));
  equation
    car.steer = hand_wheel;
    driver.v_ref = v;
    driver.v = car.chassis.v_x;
    drive.tau = tau_max*driver.throttle;
    connect(drive.b, differential.a) annotation(Line(points={{-30,-60},{-10,-60}}, color={70,70,70}));
    connect(differential.left, car.shaft_left) annotation(Line(points={{0,-50},{0,-30},{-4,-30},{-4,-10}}, color={70,70,70}));
    connect(differential.right, car.shaft_right) annotation(Line(points={{0,-70},{0,-76},{16,-76},{16,-20},{4,-20},{4,-10}}, color={70,70,70}));
    connect(differential.housing, car.mount) annotation(Line(points={{10,-60},{30,-60},{30,-10},{10,-10}}, color={95,95,95}));
    annotation(Documentation(info="<html><p>For a hand wheel that comes over a device or from a formula of time. The two states of the driver, which rest in <code>LaneChange</code>, hold the speed here.</p></html>"));
  end Steered;

  model Steered1 "80 km/h, the hand wheel turned from outside, axles by tables"
    extends Steered;
    annotation(experiment(StopTime=8, Tolerance=1e-8, Interval=1e-2), Documentation(info="<html><p>40 states, one linear system of 10.</p></html>"));
  end Steered1;

  model Steered2 "80 km/h, the hand wheel turned from outside, ideal linkages"
    extends Steered(redeclare Vehicles.LinkageCar car(v_start=v));
    annotation(experiment(StopTime=8, Tolerance=1e-8, Interval=1e-2), Documentation(info="<html><p>40 states, one linear system of 10.</p></html>"));
  end Steered2;

  model Steered3 "80 km/h, the hand wheel turned from outside, bushings with rods that have no mass"
    extends Steered(redeclare Vehicles.BushingCar car(v_start=v));
    annotation(experiment(StopTime=8, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>118 states; stiff.</p></html>"));
  end Steered3;

  model Steered4 "80 km/h, the hand wheel turned from outside, bushings with rods that have mass"
    extends Steered(redeclare Vehicles.BushingCar car(redeclare model Rod = Vehicles.Bushings.HeavyLink, heavy=true, v_start=v));
    annotation(experiment(StopTime=8, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>154 states; stiff.</p></html>"));
  end Steered4;

  model Drive "Ideal linkages with engine, converter and six-speed gearbox: off, up to 80 km/h, lane change, to rest"
    inner MultiBody.World world(n={0, 0, -1}) annotation(Placement(transformation(extent={{-110,50},{-90,70}})));
    inner Vehicles.Roads.Road road annotation(Placement(transformation(extent={{-110,10},{-90,30}})));
    Vehicles.LinkageCar car(braked=true) annotation(Placement(transformation(extent={{50,10},{70,30}})));
    Vehicles.Driveline.Differential differential(ratio=3.5) annotation(Placement(transformation(extent={{50,-50},{70,-30}})));
    Powertrain.Engine engine annotation(Placement(transformation(extent={{-70,-50},{-50,-30}})));
    Rotational.TorqueConverter converter(tau_lock=500) annotation(Placement(transformation(extent={{-30,-50},{-10,-30}})));
    Powertrain.SixSpeedGearbox gearbox annotation(Placement(transformation(extent={{10,-50},{30,-30}})));
    Powertrain.ShiftLogic shift annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    Powertrain.Driver driver annotation(Placement(transformation(extent={{-70,50},{-50,70}})));
    Blocks.Sources.Table profile(t={1, 20, 33, 45}, values={0, 22.2, 22.2, 0}) annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    Vehicles.Drivers.LaneChange hands(starts={25, 25.9, 27.5, 28.4}) annotation(Placement(transformation(extent={{10,10},{30,30}})));
  initial equation
    gearbox.small.phi = 0;
    gearbox.large.phi = 0;
    gearbox.small.w = 0;
    gearbox.large.w = 0;
    gearbox.input_shaft.phi = 0;
    gearbox.input_shaft.w = 0;
  equation
    driver.v = car.chassis.v_x;
    shift.v = car.chassis.v_x;
    connect(profile.y, driver.v_ref) annotation(Line(points={{-49,20},{-45,20},{-45,43},{-76,43},{-76,66},{-72,66}}, color={0,0,127}));
    connect(driver.throttle, engine.throttle) annotation(Line(points={{-49,66},{-45,66},{-45,13},{-76,13},{-76,-40},{-72,-40}}, color={0,0,127}));
    connect(driver.brake, car.brake) annotation(Line(points={{-49,54},{60,54},{60,32}}, color={0,0,127}));
    connect(hands.y, car.steer) annotation(Line(points={{31,20},{48,20}}, color={0,0,127}));
    connect(engine.b, converter.a) annotation(Line(points={{-50,-40},{-30,-40}}, color={70,70,70}));
    connect(converter.b, gearbox.a) annotation(Line(points={{-10,-40},{10,-40}}, color={70,70,70}));
    connect(gearbox.b, differential.a) annotation(Line(points={{30,-40},{50,-40}}, color={70,70,70}));
    connect(shift.u, gearbox.u) annotation(Line(points={{-9,6},{20,6},{20,-29}}, color={0,0,127}));
    connect(shift.lock, converter.u) annotation(Line(points={{-9,-6},{-5,-6},{-5,-25},{-20,-25},{-20,-29}}, color={0,0,127}));
    connect(differential.left, car.shaft_left) annotation(Line(points={{60,-30},{60,-10},{56,-10},{56,10}}, color={70,70,70}));
    connect(differential.right, car.shaft_right) annotation(Line(points={{60,-50},{60,-54},{64,-54},{64,10}}, color={70,70,70}));
    connect(differential.housing, car.mount) annotation(Line(points={{70,-40},{74,-40},{74,10},{70,10}}, color={95,95,95}));
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=50, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>The car of <code>LaneChange2</code> with the transmission of <code>Car.SixSpeeds</code>, after the last example of Elmqvist et al. 2004: a driver holds the speed
      while the car changes lanes.</p></html>"));
  end Drive;

  model Track "The driver follows the lanes of ISO 3888-1 at 80 km/h, axles by tables"
    inner MultiBody.World world(n={0, 0, -1}) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
    inner Vehicles.Roads.Road road annotation(Placement(transformation(extent={{-30,-50},{-10,-30}})));
    Vehicles.Car car(v_start=80/3.6, r_start={-18.629, 0, 0.2997}) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    Vehicles.Drivers.Path driver annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
  equation
    driver.place = {car.chassis.x, car.chassis.y};
    driver.yaw = car.chassis.yaw;
    driver.v = {car.chassis.v_x, car.chassis.v_y};
    connect(driver.y, car.steer) annotation(Line(points={{-49,0},{-32,0}}, color={0,0,127}));
    annotation(experiment(StopTime=7.5, Tolerance=1e-8, Interval=1e-2), Documentation(info="<html><p>Closed loop: the car starts 20 m before the first section and must touch no edge of the lanes.</p></html>"));
  end Track;

  model StopAndGo "Drives off, brakes to a stop on a slope, stands, rolls back"
    inner MultiBody.World world(n={0, 0, -1}) annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    inner Vehicles.Roads.Road road(redeclare function surface = Vehicles.Roads.plane(slope=0.05)) annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
    Vehicles.Car car(braked=true) annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
    Vehicles.Driveline.Differential differential annotation(Placement(transformation(extent={{10,-70},{30,-50}})));
    Rotational.Inertia engine(J=0.3) annotation(Placement(transformation(extent={{-30,-70},{-10,-50}})));
    Rotational.Sources.Torque drive annotation(Placement(transformation(extent={{-70,-70},{-50,-50}})));
    Blocks.Sources.Table torque(t={0.5, 1, 5, 5.2}, values={0, 400, 400, 0}) annotation(Placement(transformation(extent={{-110,-70},{-90,-50}})));
    Blocks.Sources.Table pedal(t={5.5, 6, 12, 12.2}, values={0, 0.4, 0.4, 0}) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    Blocks.Sources.Constant straight(k=0) annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
  equation
    connect(straight.y, car.steer) annotation(Line(points={{-9,-20},{8,-20}}, color={0,0,127}));
    connect(torque.y, drive.tau) annotation(Line(points={{-89,-60},{-72,-60}}, color={0,0,127}));
    connect(drive.b, engine.a) annotation(Line(points={{-50,-60},{-30,-60}}, color={70,70,70}));
    connect(engine.b, differential.a) annotation(Line(points={{-10,-60},{10,-60}}, color={70,70,70}));
    connect(differential.left, car.shaft_left) annotation(Line(points={{20,-50},{20,-40},{16,-40},{16,-30}}, color={70,70,70}));
    connect(differential.right, car.shaft_right) annotation(Line(points={{20,-70},{20,-74},{24,-74},{24,-30}}, color={70,70,70}));
    connect(differential.housing, car.mount) annotation(Line(points={{30,-60},{34,-60},{34,-30},{30,-30}}, color={95,95,95}));
    connect(pedal.y, car.brake) annotation(Line(points={{-9,20},{20,20},{20,-8}}, color={0,0,127}));
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=15, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>Nothing in a tyre is divided by its speed and the brakes stick: the car stands on the slope until the brakes are released, and rolls back.</p></html>"));
  end StopAndGo;

  model Fall "Falls from a height of one metre onto its wheels, the hand wheel at full lock"
    inner MultiBody.World world(n={0, 0, -1}) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
    inner Vehicles.Roads.Road road(redeclare function grip = Vehicles.Roads.split(left=0, right=1)) annotation(Placement(transformation(extent={{-30,-50},{-10,-30}})));
    Vehicles.Car car(r_start={0, 0, 1.3}, v_start=5) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    Blocks.Sources.Constant lock(k=7) annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
  equation
    connect(lock.y, car.steer) annotation(Line(points={{-49,0},{-32,0}}, color={0,0,127}));
    annotation(experiment(StopTime=5, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>Tyres and stops far beyond what a road gives, ice under the left wheels: forces stay finite and the car comes to rest on its springs.</p></html>"));
  end Fall;

  model Bumps "Over a bump, with an elastic rack"
    inner MultiBody.World world(n={0, 0, -1}) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
    inner Vehicles.Roads.Road road(redeclare function surface = Vehicles.Roads.profile(places={0, 5, 5.5, 6, 6.5, 7}, heights={0, 0, 0.04, 0.04, 0, 0}), redeclare function grip = Vehicles.Roads.uniform(level=0.8)) annotation(Placement(transformation(extent={{-30,-50},{-10,-30}})));
    Vehicles.Car car(v_start=10, redeclare model Rack = Vehicles.Steering.Elastic) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    Blocks.Sources.Constant straight(k=0) annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
  equation
    connect(straight.y, car.steer) annotation(Line(points={{-49,0},{-32,0}}, color={0,0,127}));
    annotation(experiment(StopTime=3, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>A rounded step of 4 cm, one metre long. The rack has its own mass.</p></html>"));
  end Bumps;
end Handling;
