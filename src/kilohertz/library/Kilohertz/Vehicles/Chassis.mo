within Kilohertz.Vehicles;
model Chassis "The body of a car: mass, drag of the air, what is measured"
  MultiBody.Frame front "Middle of the front axle line" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
  MultiBody.Frame rear "Middle of the rear axle line" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
  parameter Units.Mass m = 1442 "Mass";
  parameter Units.Length r_CM[3] = {-1.371, 0, 0.206} "From the front axle to the centre of mass";
  parameter Real I[3,3](each unit="kg.m2") = diagonal({572, 2487, 2768}) "Inertia about the centre of mass";
  parameter Units.Length wheelbase = 2.76 "From axle to axle";
  parameter Units.Length low = 0.2 "Height of the roll axis below the axle lines";
  parameter Units.Area cdA = 0.66 "Drag coefficient times area";
  parameter Units.Density rho = 1.2 "Density of the air";
  parameter Units.Length r_start[3] = {0, 0, 0.2997} "Place of the front axle line at the start";
  parameter Units.Velocity v_start = 0 "Speed at the start, forward";
  parameter Units.Angle angles_start[3] = {0, 0, 0} "Yaw, pitch and roll at the start";
  MultiBody.Body body(m=m, r_CM=r_CM, I=I, coordinates=MultiBody.Coordinates.Angles, sequence={3, 2, 1}, states=true, angles_fixed=true, angles_start=angles_start, w_fixed=true,
    r_0(start=r_start, each fixed=true), v_0(start=v_start*{cos(angles_start[1])*cos(angles_start[2]), sin(angles_start[1])*cos(angles_start[2]), -sin(angles_start[2])}, each fixed=true)) "Mass" annotation(Placement(transformation(extent={{30,30},{50,50}})));
  MultiBody.Translation floor(r={-wheelbase, 0, 0}) "From axle to axle" annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
  MultiBody.Translation centre(r=r_CM) "To the centre of mass" annotation(Placement(transformation(extent={{30,-50},{50,-30}})));
  Drag drag(cdA=cdA, rho=rho) "Of the air" annotation(Placement(transformation(extent={{70,-50},{90,-30}})));
  Units.Length x "Place of the roll axis below the centre of mass";
  Units.Length y "Place of that point";
  Units.Velocity v_x "Its speed, forward";
  Units.Velocity v_y "Its speed, to the left";
  Units.Acceleration a_y "Acceleration of the centre of mass to the left, without gravity";
  Units.Angle yaw "Angle of the car about the vertical";
  Units.Angle roll "Angle of roll, positive to the right";
  Units.AngularVelocity yaw_rate = front.R.w[3] "About the z axis of the body";
protected
  final parameter Units.Length r_low[3] = {r_CM[1], r_CM[2], -low} "From the front axle to the roll axis below the centre of mass";
  Units.Velocity v[3] "Speed of that point, in components of the body";
equation
  x = front.r_0[1] + front.R.T[:, 1]*r_low;
  y = front.r_0[2] + front.R.T[:, 2]*r_low;
  v = MultiBody.Frames.toLocal(front.R, body.v_0) + cross(body.w, r_low);
  v_x = v[1];
  v_y = v[2];
  a_y = front.R.T[2, :]*body.a_0 + (cross(body.z, r_CM) + cross(body.w, cross(body.w, r_CM)))*{0, 1, 0};
  yaw = atan2(front.R.T[1, 2], front.R.T[1, 1]);
  roll = atan2(front.R.T[2, 3], front.R.T[3, 3]);
  connect(body.a, front) annotation(Line(points={{30,40},{26,40},{26,0},{100,0}}, color={95,95,95}));
  connect(front, floor.a) annotation(Line(points={{100,0},{-10,0}}, color={95,95,95}));
  connect(floor.b, rear) annotation(Line(points={{10,0},{-100,0}}, color={95,95,95}));
  connect(front, centre.a) annotation(Line(points={{100,0},{26,0},{26,-40},{30,-40}}, color={95,95,95}));
  connect(centre.b, drag.a) annotation(Line(points={{50,-40},{70,-40}}, color={95,95,95}));
  annotation(Icon(graphics={Polygon(points={{-90,-30},{-90,0},{-50,5},{-25,40},{35,40},{60,5},{90,0},{90,-30},{-90,-30}}, fillColor={200,215,235}, fillPattern=FillPattern.Solid), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p>A rigid body whose coordinates are the place of the middle of the front axle line and the angles of yaw, pitch and roll, one after another; a pitch of a right angle is out of reach.
      <code>a_y</code> is that of the centre of mass in components of the body; <code>x</code>, <code>y</code>, <code>v_x</code>, <code>v_y</code> are those of a point below it at the height of the roll axis, which roll moves little.</p></html>"));
end Chassis;
