within Kilohertz.Examples.Robot;
model Chain "Seven revolute joints: shoulder, upper arm, elbow, forearm, wrist"
  outer MultiBody.World world;
  MultiBody.Frame a "Where it stands" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
  MultiBody.Frame b "Its hand" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
  Rotational.Flange axis[7] "Of the joints" annotation(Placement(transformation(extent={{-10,90},{10,110}})));
  constant Real n[7,3] = [0, 0, 1; 0, 1, 0; 1, 0, 0; 0, 1, 0; 1, 0, 0; 0, 1, 0; 1, 0, 0] "Axes: yaw, pitch, roll, pitch, roll, pitch, roll";
  constant Units.Length r[7,3] = [0.15, 0, 0; 0.12, 0, 0; 0.75, 0, 0; 0.12, 0, 0; 0.65, 0, 0; 0.1, 0, 0; 0.15, 0, 0] "From each joint to the next";
  constant Units.Mass m[7] = {7, 6, 9, 5, 6, 3, 2} "Masses of the links";
  constant Units.Length width[7] = {0.18, 0.16, 0.14, 0.14, 0.12, 0.1, 0.1} "Widths of the links";
  parameter Units.Mass load = 5 "Mass in the hand";
  MultiBody.Joints.Revolute joint[7](n=n, each driven=true);
  MultiBody.Translation link[7](r=r);
  MultiBody.Body body[7](m=m, r_CM=r/2, I={m[i]/12*diagonal({2*width[i]^2, width[i]^2 + r[i, :]*r[i, :], width[i]^2 + r[i, :]*r[i, :]}) for i in 1:7});
  MultiBody.Body hand(m=load, I=load*0.01*identity(3));
equation
  connect(a, joint[1].a);
  for i in 1:7 loop
    connect(axis[i], joint[i].axis);
    connect(joint[i].b, link[i].a);
    connect(joint[i].b, body[i].a);
  end for;
  for i in 1:6 loop
    connect(link[i].b, joint[i + 1].a);
  end for;
  connect(link[7].b, hand.a);
  connect(link[7].b, b);
  annotation(Icon(graphics={Line(points={{-90,0},{-50,0},{-20,60},{40,40},{70,0},{90,0}}), Ellipse(extent={{-58,8},{-42,-8}}, fillColor={150,170,200}, fillPattern=FillPattern.Solid), Ellipse(extent={{-28,68},{-12,52}}, fillColor={150,170,200}, fillPattern=FillPattern.Solid), Ellipse(extent={{32,48},{48,32}}, fillColor={150,170,200}, fillPattern=FillPattern.Solid)}),
    Documentation(info="<html><p>Links are boxes of uniform density between the joints.</p></html>"));
end Chain;
