within Kilohertz.Examples.Robot;
model Plant "The arm with its servos: currents and brakes in, angles of the motors out"
  constant Integer N = 7 "Joints";
  input Units.Current i[N](each start=0) "Currents asked for";
  input Real brakes(start=1) "1: all brakes hold, 0: they are open";
  output Units.Angle phi[N](each start=0) = servo.phi "Angles of the motors";
  constant Units.Angle home[N] = {0, 0.6, 0, -1.2, 0, 0.6, 0} "Where the joints stand at the start";
  inner MultiBody.World world(g=0) "In orbit" annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
  Chain arm(joint(phi(start=home, each fixed=true), w(each fixed=true))) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
  replaceable model Servo = Servos.Servo constrainedby Servos.Servo "What drives a joint";
  Servo servo[N](ratio=ratio, k=k, J=J, c=c, d=d, tau_brake=tau_brake, motor(phi(start=ratio.*home, each fixed=moves), w(each fixed=moves))) annotation(Placement(transformation(extent={{-30,30},{-10,50}})));
  Units.Length hand[3] = arm.b.r_0 "Where the hand is";
protected
  constant Boolean moves = true "The angle of a motor is a coordinate of its own";
  constant Real ratio[N] = {160, 160, 120, 120, 100, 100, 100} "Reductions";
  constant Real k[N] = {0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.1} "Torque for a current, N.m/A";
  constant Units.Inertia J[N] = {2e-4, 2e-4, 1e-4, 1e-4, 5e-5, 5e-5, 5e-5} "Inertias of the rotors";
  constant Units.Stiffness c[N] = {6e4, 6e4, 3e4, 3e4, 1e4, 1e4, 1e4} "Stiffness of the transmissions";
  constant Units.Damping d[N] = {300, 300, 100, 100, 20, 20, 20} "Their damping";
  constant Units.Torque tau_brake[N] = {3, 3, 2, 2, 1, 1, 1} "Torques of the brakes";
equation
  connect(world.b, arm.a) annotation(Line(points={{-10,0},{10,0}}, color={95,95,95}));
  connect(servo.b, arm.axis) annotation(Line(points={{-10,40},{20,40},{20,10}}, color={70,70,70}));
  servo.i_ref = i;
  servo.brake_on = fill(brakes, N);
  annotation(experiment(StopTime=2, Tolerance=1e-6, Interval=1e-3), Documentation(info="<html><p>What runs in real time: seven currents and one signal for the brakes come in, seven angles go out. The arm stands in orbit: no gravity.</p></html>"));
end Plant;
