within Kilohertz.MultiBody;
package Joints "What two frames may do against one another"
  partial model Joint "A joint between two frames"
    extends TwoFrames;
    annotation(Icon(graphics={Line(points={{-90,0},{-40,0}}), Line(points={{40,0},{90,0}})}));
  end Joint;

  model Revolute "Turns about one axis"
    extends Joint;
    parameter Real n[3] = {0, 0, 1} "Axis, in components of a and of b" annotation(Evaluate=true);
    parameter Boolean driven = false "Has flanges for a drive" annotation(Evaluate=true);
    parameter Units.Angle phi_offset = 0 "Angle of b against a where phi = 0";
    Rotational.Flange axis if driven "Turns with b" annotation(Placement(transformation(extent={{-10,90},{10,110}})));
    Rotational.Flange support if driven "Stands with a" annotation(Placement(transformation(extent={{-60,90},{-40,110}})));
    Units.Angle phi(start=0, stateSelect=StateSelect.prefer) "Angle of b against a";
    Units.AngularVelocity w(start=0, stateSelect=StateSelect.prefer) "Its rate";
    Units.AngularAcceleration acc "The rate of that";
    Units.Torque tau "Torque of the drive, about the axis";
  protected
    parameter Real e[3](each final unit="1") = Math.unit(n) "Unit vector of the axis" annotation(Evaluate=true);
    Orientation R_rel "From the rooted frame to the other";
    Rotational.Fixed housing "Carries the support" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    Rotational.ShaftEnd shaft(phi=phi) "Carries the axis" annotation(Placement(transformation(extent={{-10,10},{10,30}})));
  equation
    Connections.branch(a.R, b.R);
    w = der(phi);
    acc = der(w);
    a.r_0 = b.r_0;
    if Connections.rooted(a.R) then
      R_rel = Frames.about(e, phi_offset + phi, w);
      b.R = Frames.turned(a.R, R_rel);
      a.f = -Frames.toWorld(R_rel, b.f);
      a.t = -Frames.toWorld(R_rel, b.t);
    else
      R_rel = Frames.about(-e, phi_offset + phi, w);
      a.R = Frames.turned(b.R, R_rel);
      b.f = -Frames.toWorld(R_rel, a.f);
      b.t = -Frames.toWorld(R_rel, a.t);
    end if;
    tau = -b.t*e;
    tau = shaft.tau;
    connect(shaft.a, axis) annotation(Line(points={{0,20},{-4,20},{-4,96},{0,96},{0,100}}, color={70,70,70}));
    connect(housing.a, support) annotation(Line(points={{-40,20},{-50,20},{-50,100}}, color={70,70,70}));
    annotation(Icon(graphics={Rectangle(extent={{-40,50},{-5,-50}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Rectangle(extent={{5,50},{40,-50}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Rectangle(extent={{-5,12},{5,-12}}, fillColor={95,95,95}, fillPattern=FillPattern.Solid), Text(extent={{-150,-60},{150,-95}}, textString="n=%n")}),
      Documentation(info="<html><p>Position in common, one angle <code>phi</code> about <code>n</code>. Without a drive no torque acts about the axis;
        with <code>driven=true</code> that of the flange <code>axis</code> against <code>support</code>.</p></html>"));
  end Revolute;

  model Prismatic "Slides along one axis"
    extends Joint;
    parameter Real n[3] = {1, 0, 0} "Direction, in components of a and of b" annotation(Evaluate=true);
    parameter Boolean driven = false "Has flanges for a drive" annotation(Evaluate=true);
    parameter Units.Length s_offset = 0 "Distance where s = 0";
    Translational.Flange axis if driven "Moves with b" annotation(Placement(transformation(extent={{70,50},{90,70}})));
    Translational.Flange support if driven "Stands with a" annotation(Placement(transformation(extent={{-90,50},{-70,70}})));
    Units.Length s(start=0, stateSelect=StateSelect.prefer) "How far b is from a";
    Units.Velocity v(start=0, stateSelect=StateSelect.prefer) "Its rate";
    Units.Acceleration acc "The rate of that";
    Units.Force f "Force of the drive, along the axis";
  protected
    parameter Real e[3](each final unit="1") = Math.unit(n) "Unit vector of the axis" annotation(Evaluate=true);
    Translational.Fixed housing "Carries the support" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    Translational.RodEnd slide(s=s) "Carries the axis" annotation(Placement(transformation(extent={{30,10},{50,30}})));
  equation
    Connections.branch(a.R, b.R);
    v = der(s);
    acc = der(v);
    b.r_0 = a.r_0 + Frames.toWorld(a.R, e*(s_offset + s));
    b.R = a.R;
    zeros(3) = a.f + b.f;
    zeros(3) = a.t + b.t + cross(e*(s_offset + s), b.f);
    f = -e*b.f;
    f = slide.f;
    connect(slide.a, axis) annotation(Line(points={{40,20},{36,20},{36,60},{80,60}}, color={0,127,0}));
    connect(housing.a, support) annotation(Line(points={{-40,20},{-60,20},{-60,60},{-80,60}}, color={0,127,0}));
    annotation(Icon(graphics={Rectangle(extent={{-60,40},{10,-40}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Rectangle(extent={{10,15},{90,-15}}, lineColor={95,95,95}, fillColor={200,200,200}, fillPattern=FillPattern.Solid), Text(extent={{-150,-50},{150,-85}}, textString="n=%n")}),
      Documentation(info="<html><p>Orientation in common, one distance <code>s</code> along <code>n</code>. Without a drive no force acts along it;
        with <code>driven=true</code> that of the flange <code>axis</code> against <code>support</code>.</p></html>"));
  end Prismatic;

  model Cylindrical "Slides along an axis and turns about it"
    extends Joint;
    parameter Real n[3] = {1, 0, 0} "Axis, in components of a and of b" annotation(Evaluate=true);
    Prismatic slides(n=n) "Along the axis" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    Revolute turns(n=n) "About the axis" annotation(Placement(transformation(extent={{-10,10},{10,30}})));
  equation
    connect(a, slides.a) annotation(Line(points={{-100,0},{-75,0},{-75,20},{-50,20}}, color={95,95,95}));
    connect(slides.b, turns.a) annotation(Line(points={{-30,20},{-10,20}}, color={95,95,95}));
    connect(turns.b, b) annotation(Line(points={{10,20},{55,20},{55,0},{100,0}}, color={95,95,95}));
    annotation(Icon(graphics={Rectangle(extent={{-60,40},{10,-40}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Ellipse(extent={{0,15},{20,-15}}, lineColor={95,95,95}, fillColor={200,200,200}, fillPattern=FillPattern.Solid), Rectangle(extent={{10,15},{90,-15}}, lineColor={95,95,95}, fillColor={200,200,200}, fillPattern=FillPattern.Solid), Line(points={{30,40},{50,25},{30,5}}, smooth=Smooth.Bezier)}),
      Documentation(info="<html><p>A prismatic and a revolute joint about one axis: <code>slides.s</code>, <code>turns.phi</code>.</p></html>"));
  end Cylindrical;

  model Universal "Turns about an axis of a and an axis of b, which are a right angle apart"
    extends Joint;
    parameter Real n_a[3] = {1, 0, 0} "First axis, in components of a" annotation(Evaluate=true);
    parameter Real n_b[3] = {0, 1, 0} "Second axis, in components of b" annotation(Evaluate=true);
    Revolute first(n=n_a) "About the axis of a" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    Revolute second(n=n_b) "About the axis of b" annotation(Placement(transformation(extent={{-10,10},{10,30}})));
  equation
    connect(a, first.a) annotation(Line(points={{-100,0},{-75,0},{-75,20},{-50,20}}, color={95,95,95}));
    connect(first.b, second.a) annotation(Line(points={{-30,20},{-10,20}}, color={95,95,95}));
    connect(second.b, b) annotation(Line(points={{10,20},{55,20},{55,0},{100,0}}, color={95,95,95}));
    annotation(Icon(graphics={Line(points={{-40,0},{-40,50},{0,50}}), Line(points={{-40,0},{-40,-50},{0,-50}}), Line(points={{40,0},{40,30},{0,0}}), Line(points={{0,50},{0,-50}}), Line(points={{-20,-20},{20,20}}), Line(points={{40,0},{40,-20},{-20,-20}})}),
      Documentation(info="<html><p>Two revolute joints: <code>first.phi</code> and <code>second.phi</code>. Singular in no place; both axes are given where both angles are zero.</p></html>"));
  end Universal;

  model Spherical "Turns in every way about one point"
    extends Joint;
  equation
    a.r_0 = b.r_0;
    a.t = zeros(3);
    b.t = zeros(3);
    zeros(3) = a.f + Frames.toLocal(a.R, Frames.toWorld(b.R, b.f));
    annotation(Icon(graphics={Ellipse(extent={{-40,40},{40,-40}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Ellipse(extent={{-22,22},{22,-22}}, lineColor={95,95,95}, fillColor={160,160,160}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>Position in common, no torque. It has no coordinates: those of the bodies on both sides remain, or use
        <code>Ball</code>.</p></html>"));
  end Spherical;

  partial model Turning "A joint whose own coordinates describe how b stands against a"
    extends Attitude(final always=true);
    Frame b "What turns" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    Units.AngularVelocity w[3](each stateSelect=if coordinates == Coordinates.Quaternions then StateSelect.prefer else StateSelect.default) = R_own.w "Angular velocity of b against a, in components of b";
  equation
    Connections.branch(a.R, b.R);
    if Connections.rooted(a.R) then
      b.R = Frames.turned(a.R, R_own);
    else
      a.R = Frames.turned(b.R, Frames.back(R_own));
    end if;
    annotation(Icon(graphics={Line(points={{-90,0},{-40,0}}), Line(points={{40,0},{90,0}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end Turning;

  model Ball "Turns in every way about one point, with coordinates of its own"
    extends Turning;
  equation
    a.r_0 = b.r_0;
    zeros(3) = a.f + Frames.toWorld(R_own, b.f);
    a.t = zeros(3);
    b.t = zeros(3);
    annotation(Icon(graphics={Ellipse(extent={{-40,40},{40,-40}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Ellipse(extent={{-22,22},{22,-22}}, lineColor={0,0,127}, fillColor={120,140,200}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>A spherical joint with the coordinates of the motion in it: the bodies after it need none.</p></html>"));
  end Ball;

  model Free "Every motion, with coordinates against a"
    extends Turning;
    Units.Length r_rel[3](each stateSelect=StateSelect.prefer) "From a to b, in components of a";
    Units.Velocity v_rel[3](each stateSelect=StateSelect.prefer) = der(r_rel) "Its rate";
  equation
    b.r_0 = a.r_0 + Frames.toWorld(a.R, r_rel);
    a.f = zeros(3);
    a.t = zeros(3);
    b.f = zeros(3);
    b.t = zeros(3);
    annotation(Icon(graphics={Line(points={{-40,0},{-20,20},{0,-20},{20,20},{40,0}}, smooth=Smooth.Bezier, color={0,0,127}), Ellipse(extent={{-46,6},{-34,-6}}, fillColor={95,95,95}, fillPattern=FillPattern.Solid), Ellipse(extent={{34,6},{46,-6}}, fillColor={95,95,95}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>No force, no torque: it gives a body coordinates of your choice, against the world or against another body.</p></html>"));
  end Free;

  model Rod "A massless rod with a ball at each end"
    extends TwoFrames;
    parameter Units.Length L(min=0) = 1 "Length";
    Units.Length r_0[3] "From a to b, in the world";
    Units.Force f_rod "Tension";
  equation
    r_0 = b.r_0 - a.r_0;
    r_0*r_0 = L*L;
    a.f = -Frames.toLocal(a.R, r_0)*f_rod/L;
    b.f = Frames.toLocal(b.R, r_0)*f_rod/L;
    a.t = zeros(3);
    b.t = zeros(3);
    annotation(Icon(graphics={Rectangle(extent={{-60,8},{60,-8}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Ellipse(extent={{-90,20},{-50,-20}}, lineColor={95,95,95}, fillColor={160,160,160}, fillPattern=FillPattern.Solid), Ellipse(extent={{50,20},{90,-20}}, lineColor={95,95,95}, fillColor={160,160,160}, fillPattern=FillPattern.Solid), Text(extent={{-150,-30},{150,-65}}, textString="L=%L")}),
      Documentation(info="<html><p>Keeps two points at the distance <code>L</code>: one constraint, one force.</p></html>"));
  end Rod;

  model UniversalRod "A massless rod with a universal joint at a, a ball at b, and a frame to fix bodies to"
    extends TwoFrames;
    extends RodFrame;
  equation
    r_a = Frames.toLocal(a.R, b.r_0 - a.r_0);
    r_a*r_a = L*L;
    b.f = Frames.toLocal(b.R, Frames.toWorld(a.R, f_tip));
    b.t = zeros(3);
    annotation(Icon(graphics={Rectangle(extent={{-60,8},{60,-8}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Rectangle(extent={{-85,20},{-60,-20}}, lineColor={95,95,95}, fillColor={160,160,160}, fillPattern=FillPattern.Solid), Ellipse(extent={{50,20},{90,-20}}, lineColor={95,95,95}, fillColor={160,160,160}, fillPattern=FillPattern.Solid), Text(extent={{-150,-30},{150,-65}}, textString="L=%L")}),
      Documentation(info="<html><p>One constraint, the length. The frame <code>rod</code> stands at a, its x axis along the rod, <code>n_a</code> in
        its plane of x and y. Singular where the rod lies along <code>n_a</code>.</p></html>"));
  end UniversalRod;

  partial model RodFrame "A rod at a frame a: a universal joint there, loads on the rod, a force at its tip"
    Frame a "Universal joint" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    Frame rod "On the rod, at a: x along the rod" annotation(Placement(transformation(extent={{-16,84},{16,116}})));
    parameter Units.Length L(min=0) = 1 "Length of the rod";
    parameter Real n_a[3] = {0, 1, 0} "Axis of the universal joint, in components of a" annotation(Evaluate=true);
    Units.Length r_a[3] "From a to the tip, in components of a";
    Units.Force f_rod "Tension at the tip";
    Units.Force f_tip[3] "Force onto the rod at its tip, in components of a";
  protected
    parameter Real e_a[3](each final unit="1") = Math.unit(n_a) annotation(Evaluate=true);
    Real x[3] "Along the rod, in components of a";
    Real y[3] "In the plane of rod and axis";
    Real z[3] "Across both";
    Real x_d[3](each unit="1/s") = der(x) "Rate of x";
    Orientation R_rod "From a to the rod";
    Units.Torque t_x "Torque about the rod that the universal joint gives";
    Units.Force f[3] "Force onto the rod at its tip, in components of the rod";
    Units.Torque t[3] "Torque onto the rod at a, in components of the rod";
  equation
    Connections.branch(a.R, rod.R);
    x = r_a/L;
    z = Math.unit(cross(x, e_a));
    y = cross(z, x);
    R_rod.T = {x, y, z};
    R_rod.w = {-(e_a*x)/(e_a*y)*(x_d*z), -x_d*z, x_d*y};
    rod.R = Frames.turned(a.R, R_rod);
    rod.r_0 = a.r_0;
    t_x = -rod.t[1];
    t = {t_x, -(e_a*x)/(e_a*y)*t_x, 0};
    f = {f_rod, -rod.t[3]/L, (t[2] + rod.t[2])/L};
    f_tip = Frames.toWorld(R_rod, f);
    a.f = -Frames.toWorld(R_rod, rod.f + f);
    a.t = Frames.toWorld(R_rod, t);
    annotation(Documentation(info="<html><p>Both axes of the joint at a, <code>n_a</code> and one across the rod, bear no torque: what is left
      is one torque and three forces at the tip, of which the balance of torques gives two.</p></html>"));
  end RodFrame;
end Joints;
