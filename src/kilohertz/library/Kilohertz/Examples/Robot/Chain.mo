within Kilohertz.Examples.Robot;
model Chain "Seven revolute joints: shoulder, upper arm, elbow, forearm, wrist"
  outer MultiBody.World world annotation(Placement(transformation(extent={{-10,-40},{10,-20}})));
  MultiBody.Frame a "Where it stands" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
  MultiBody.Frame b "Its hand" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
  Rotational.Flange axis[7] "Of the joints" annotation(Placement(transformation(extent={{-10,90},{10,110}})));
  constant Real n[7,3] = [0, 0, 1; 0, 1, 0; 1, 0, 0; 0, 1, 0; 1, 0, 0; 0, 1, 0; 1, 0, 0] "Axes: yaw, pitch, roll, pitch, roll, pitch, roll";
  constant Units.Length r[7,3] = [0.15, 0, 0; 0.12, 0, 0; 0.75, 0, 0; 0.12, 0, 0; 0.65, 0, 0; 0.1, 0, 0; 0.15, 0, 0] "From each joint to the next";
  constant Units.Mass m[7] = {7, 6, 9, 5, 6, 3, 2} "Masses of the links";
  constant Units.Length width[7] = {0.18, 0.16, 0.14, 0.14, 0.12, 0.1, 0.1} "Widths of the links";
  parameter Units.Mass load = 5 "Mass in the hand";
  MultiBody.Joints.Revolute joint[7](n=n, each driven=true) annotation(Placement(transformation(extent={{-40,-10},{-20,10}})));
  MultiBody.Translation link[7](r=r) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
  MultiBody.Body body[7](m=m, r_CM=r/2, I={m[i]/12*diagonal({2*width[i]^2, width[i]^2 + r[i, :]*r[i, :], width[i]^2 + r[i, :]*r[i, :]}) for i in 1:7}) annotation(Placement(transformation(extent={{-10,20},{10,40}})));
  MultiBody.Body hand(m=load, I=load*0.01*identity(3)) annotation(Placement(transformation(extent={{20,-40},{40,-20}})));
equation
  connect(a, joint[1].a) annotation(Line(points={{-100,0},{-40,0}}, color={95,95,95}));
  for i in 1:7 loop
    connect(axis[i], joint[i].axis) annotation(Line(points={{0,100},{0,55},{-30,55},{-30,10}}, color={70,70,70}));
    connect(joint[i].b, link[i].a) annotation(Line(points={{-20,0},{-10,0}}, color={95,95,95}));
    connect(joint[i].b, body[i].a) annotation(Line(points={{-20,0},{-15,0},{-15,30},{-10,30}}, color={95,95,95}));
  end for;
  for i in 1:6 loop
    connect(link[i].b, joint[i + 1].a) annotation(Line(points={{10,0},{14,0},{14,16},{-44,16},{-44,0},{-40,0}}, color={95,95,95}));
  end for;
  connect(link[7].b, hand.a) annotation(Line(points={{10,0},{15,0},{15,-30},{20,-30}}, color={95,95,95}));
  connect(link[7].b, b) annotation(Line(points={{10,0},{100,0}}, color={95,95,95}));
  annotation(Icon(graphics={Line(points={{-90,0},{-50,0},{-20,60},{40,40},{70,0},{90,0}}), Ellipse(extent={{-58,8},{-42,-8}}, fillColor={150,170,200}, fillPattern=FillPattern.Solid), Ellipse(extent={{-28,68},{-12,52}}, fillColor={150,170,200}, fillPattern=FillPattern.Solid), Ellipse(extent={{32,48},{48,32}}, fillColor={150,170,200}, fillPattern=FillPattern.Solid)}),
    Documentation(info="<html><p>Links are boxes of uniform density between the joints.</p></html>"));
end Chain;
