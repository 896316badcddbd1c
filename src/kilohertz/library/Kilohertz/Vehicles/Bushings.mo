within Kilohertz.Vehicles;
package Bushings "Axles in rubber: levels 3 and 4"
  model Afloat "What bushings alone hold: six coordinates against a, all of them states"
    extends MultiBody.Joints.Free(coordinates=MultiBody.Coordinates.Angles, sequence={3, 2, 1}, angles_fixed=true, w_fixed=true, phi(each stateSelect=StateSelect.always), phi_d(each stateSelect=StateSelect.always),
      r_rel(each fixed=true, each stateSelect=StateSelect.always), v_rel(each start=0, each fixed=true, each stateSelect=StateSelect.always));
    parameter Units.Length r_tip[3] = {0, 0, 0} "A point from b, in components of b";
    Units.Length tip[3] = r_rel + MultiBody.Frames.toWorld(R_own, r_tip) "Where that point is from a, in components of a";
    annotation(Documentation(info="<html><p>A joint without constraints, for a part in bushings. Its coordinates are those against the body: what hangs on <code>tip</code> in closed form is a function of them alone, not of where the body is.</p></html>"));
  end Afloat;

  model SoftSide "Its arm hangs in two bushings"
    extends Axles.Side(c=28.2e3);
    parameter Units.TranslationalStiffness c_1[3] = {2e6, 18e6, 18e6} "Front bushing, along the axes of the body";
    parameter Units.Stiffness c_1_phi[3] = {40, 250, 250} "Front bushing, about them";
    parameter Units.TranslationalStiffness c_2[3] = {0.8e6, 2e6, 3e6} "Rear bushing, along the axes of the body";
    parameter Units.Stiffness c_2_phi[3] = {60, 250, 250} "Rear bushing, about them";
    parameter Units.Time T_bush = 1e-3 "Damping of bushings over their stiffness";
    MultiBody.Translation seat_1(r=q.*A1) "Front bearing" annotation(Placement(transformation(extent={{-90,10},{-70,30}})));
    MultiBody.Translation seat_2(r=q.*A2) "Rear bearing" annotation(Placement(transformation(extent={{-90,-30},{-70,-10}})));
    MultiBody.Forces.Bushing bush_1(c=c_1, d=T_bush*c_1, c_phi=c_1_phi, d_phi=T_bush*c_1_phi) "Front" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    MultiBody.Forces.Bushing bush_2(c=c_2, d=T_bush*c_2, c_phi=c_2_phi, d_phi=T_bush*c_2_phi) "Rear" annotation(Placement(transformation(extent={{-50,-30},{-30,-10}})));
    Afloat hang(r_rel(start=q.*(A1 + A2 + B)/3), r_tip=q.*(B - (A1 + A2 + B)/3)) "Where the arm is against the body" annotation(Placement(transformation(extent={{-90,-50},{-70,-30}})));
    MultiBody.Body arm(m=m_arm, I=I_arm) "Arm, at its centre of mass" annotation(Placement(transformation(extent={{-50,-100},{-30,-80}})));
    MultiBody.Translation to_1(r=q.*(A1 - (A1 + A2 + B)/3)) "To the front bearing" annotation(Placement(transformation(extent={{-50,-70},{-30,-50}})));
    MultiBody.Translation to_2(r=q.*(A2 - (A1 + A2 + B)/3)) "To the rear bearing" annotation(Placement(transformation(extent={{-10,-70},{10,-50}})));
    MultiBody.Translation tip(r=q.*(B - (A1 + A2 + B)/3)) "To the ball joint" annotation(Placement(transformation(extent={{-10,-30},{10,-10}})));
  equation
    b = hang.tip;
    connect(body, hang.a) annotation(Line(points={{0,100},{0,96},{-94,96},{-94,-40},{-90,-40}}, color={95,95,95}));
    connect(hang.b, arm.a) annotation(Line(points={{-70,-40},{-60,-40},{-60,-90},{-50,-90}}, color={95,95,95}));
    connect(body, seat_1.a) annotation(Line(points={{0,100},{0,96},{-94,96},{-94,20},{-90,20}}, color={95,95,95}));
    connect(body, seat_2.a) annotation(Line(points={{0,100},{0,96},{-94,96},{-94,-20},{-90,-20}}, color={95,95,95}));
    connect(seat_1.b, bush_1.a) annotation(Line(points={{-70,20},{-50,20}}, color={95,95,95}));
    connect(seat_2.b, bush_2.a) annotation(Line(points={{-70,-20},{-50,-20}}, color={95,95,95}));
    connect(hang.b, to_1.a) annotation(Line(points={{-70,-40},{-60,-40},{-60,-60},{-50,-60}}, color={95,95,95}));
    connect(hang.b, to_2.a) annotation(Line(points={{-70,-40},{-14,-40},{-14,-60},{-10,-60}}, color={95,95,95}));
    connect(hang.b, tip.a) annotation(Line(points={{-70,-40},{-14,-40},{-14,-20},{-10,-20}}, color={95,95,95}));
    connect(to_1.b, bush_1.b) annotation(Line(points={{-30,-60},{-26,-60},{-26,20},{-30,20}}, color={95,95,95}));
    connect(to_2.b, bush_2.b) annotation(Line(points={{10,-60},{14,-60},{14,-20},{-30,-20}}, color={95,95,95}));
    connect(tip.b, guide.arm) annotation(Line(points={{10,-20},{14,-20},{14,0},{-14,0},{-14,20},{-10,20}}, color={95,95,95}));
    annotation(Diagram(coordinateSystem(extent={{-110,-110},{110,110}})), Documentation(info="<html><p>The arm has six coordinates against the body; two bushings hold it, the carrier follows from where its tip is.</p></html>"));
  end SoftSide;

  model SoftMacPherson "Steered: arms in bushings, struts and tie rods ideal"
    extends Axles.SteeredAxle;
    parameter Units.TranslationalStiffness c_bar = 14e3 "Stiffness of the anti-roll bar at its links";
    SoftSide side_left(side=1, u=rack.s) "Left" annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    SoftSide side_right(side=-1, u=rack.s) "Right" annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Suspension.Bar bar(c=c_bar) "Anti-roll bar" annotation(Placement(transformation(extent={{-10,30},{10,50}})));
  equation
    rack.f = side_left.guide.f_rack + side_right.guide.f_rack;
    connect(body, side_left.body) annotation(Line(points={{0,100},{0,55},{-40,55},{-40,10}}, color={95,95,95}));
    connect(body, side_right.body) annotation(Line(points={{0,100},{0,55},{40,55},{40,10}}, color={95,95,95}));
    connect(body, bar.body) annotation(Line(points={{0,100},{0,50}}, color={95,95,95}));
    connect(side_left.hub, left) annotation(Line(points={{-30,0},{-100,0}}, color={95,95,95}));
    connect(side_right.hub, right) annotation(Line(points={{50,0},{100,0}}, color={95,95,95}));
    connect(side_left.link, bar.left) annotation(Line(points={{-50,0},{-54,0},{-54,40},{-10,40}}, color={95,95,95}));
    connect(side_right.link, bar.right) annotation(Line(points={{30,0},{20,0},{20,40},{10,40}}, color={95,95,95}));
    annotation(Documentation(info="<html><p>Like <code>Axles.MacPherson</code>, with six coordinates for each arm instead of one.</p></html>"));
  end SoftMacPherson;

  model Weightless "A part without mass that springs hold: forces onto it sum to zero"
    extends MultiBody.Attitude(coordinates=MultiBody.Coordinates.Angles, sequence={3, 2, 1}, angles_fixed=true, phi(each stateSelect=StateSelect.always));
    Units.Length r_0[3](each stateSelect=StateSelect.always) = a.r_0 "Place";
  equation
    Connections.root(a.R);
    a.R = R_own;
    a.f = zeros(3);
    a.t = zeros(3);
    annotation(Icon(graphics={Rectangle(extent={{-90,12},{70,-12}}, lineColor={95,95,95}, pattern=LinePattern.Dash), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>Six coordinates, of which only the first derivatives matter: the dampers around it give linear equations for its velocities. It needs dampers in all six directions.</p></html>"));
  end Weightless;

  partial model Link "A rod between two bushings"
    extends MultiBody.TwoFrames;
    parameter Units.Length r[3] = {0, 0.3, 0} "From a to b in the design position";
    parameter Units.Mass m = 1 "Mass of the rod";
    parameter Units.Length radius = 0.014 "Its radius";
    parameter Units.TranslationalStiffness c[3] = {1.5e6, 10e6, 10e6} "Stiffness of a bushing along the axes of a and of b";
    parameter Units.Stiffness c_phi[3] = {30, 250, 250} "Stiffness about them";
    parameter Units.Time T_bush = 1e-3 "Damping of bushings over their stiffness";
    parameter Units.Length r_start[3] = {0, 0, 0} "Place of a at the start";
    parameter Units.Velocity v_start = 0 "Speed at the start, along x";
    MultiBody.Forces.Bushing bush_a(c=c, d=T_bush*c, c_phi=c_phi, d_phi=T_bush*c_phi) "At a" annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
    MultiBody.Forces.Bushing bush_b(c=c, d=T_bush*c, c_phi=c_phi, d_phi=T_bush*c_phi) "At b" annotation(Placement(transformation(extent={{50,-10},{70,10}})));
    MultiBody.Translation half_a(r=-r/2) "From the middle to a" annotation(Placement(transformation(extent={{-40,-10},{-20,10}})));
    MultiBody.Translation half_b(r=r/2) "From the middle to b" annotation(Placement(transformation(extent={{20,-10},{40,10}})));
  equation
    connect(a, bush_a.a) annotation(Line(points={{-100,0},{-70,0}}, color={95,95,95}));
    connect(b, bush_b.a) annotation(Line(points={{100,0},{50,0}}, color={95,95,95}));
    connect(half_a.b, bush_a.b) annotation(Line(points={{-20,0},{-50,0}}, color={95,95,95}));
    connect(half_b.b, bush_b.b) annotation(Line(points={{40,0},{70,0}}, color={95,95,95}));
    connect(half_a.a, half_b.a) annotation(Line(points={{-40,0},{20,0}}, color={95,95,95}));
    annotation(Icon(graphics={Rectangle(extent={{-60,8},{60,-8}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Ellipse(extent={{-90,25},{-40,-25}}, lineColor={95,95,95}, fillColor={90,90,90}, fillPattern=FillPattern.Solid), Ellipse(extent={{40,25},{90,-25}}, lineColor={95,95,95}, fillColor={90,90,90}, fillPattern=FillPattern.Solid)}));
  end Link;

  model LightLink "A rod without mass between two bushings"
    extends Link;
    Weightless rod(r_0(start=r_start + r/2, each fixed=true)) "The rod" annotation(Placement(transformation(extent={{-10,30},{10,50}})));
  equation
    connect(rod.a, half_a.a) annotation(Line(points={{-10,40},{-44,40},{-44,0},{-40,0}}, color={95,95,95}));
    annotation(Documentation(info="<html><p>Its place follows from both bushings: six linear equations for its velocities.</p></html>"));
  end LightLink;

  model HeavyLink "A slender rod with mass between two bushings"
    extends Link;
    MultiBody.Body rod(m=m, I=m*(r*r)/12*(identity(3) - [r]*transpose([r])/(r*r)) + m*radius^2/2*[r]*transpose([r])/(r*r), coordinates=MultiBody.Coordinates.Angles, sequence={3, 2, 1}, states=true, angles_fixed=true, w_fixed=true,
      r_0(start=r_start + r/2, each fixed=true), v_0(start={v_start, 0, 0}, each fixed=true)) "The rod" annotation(Placement(transformation(extent={{-10,30},{10,50}})));
  equation
    connect(rod.a, half_a.a) annotation(Line(points={{-10,40},{-44,40},{-44,0},{-40,0}}, color={95,95,95}));
    annotation(Documentation(info="<html><p>A free body with <code>m radius^2/2</code> about its axis and <code>m l^2/12</code> across it.</p></html>"));
  end HeavyLink;

  model MultilinkSide "A carrier with a trailing blade on one bushing and three rods"
    MultiBody.Frame body "Middle of the axle line" annotation(Placement(transformation(extent={{-16,84},{16,116}})));
    MultiBody.Frame hub "Carrier at the wheel centre" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    MultiBody.Frame link "Carrier at the link of the anti-roll bar" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    replaceable model Rod = LightLink constrainedby Link "Its rods"
    annotation(choices(choice(redeclare model Rod = Kilohertz.Vehicles.Bushings.LightLink "Level 3"), choice(redeclare model Rod = Kilohertz.Vehicles.Bushings.HeavyLink "Level 4")));
    parameter Integer side(min=-1, max=1) = 1 "1: left, -1: right" annotation(Evaluate=true);
    parameter Units.Length W[3] = {0, 0.75, 0} "Wheel centre; all points are those of the left side";
    parameter Units.Length D[3] = {0.43, 0.6, 0} "Bushing of the blade";
    parameter Units.Length on_body[3, 3] = [0, 0.323, 0.082; -0.15, 0.161, -0.136; 0.12, 0.47, -0.107] "Rods at the body: upper, lower, toe";
    parameter Units.Length on_carrier[3, 3] = [0.01, 0.65, 0.125; -0.13, 0.66, -0.125; 0.12, 0.66, -0.095] "Rods at the carrier";
    parameter Units.Mass m_rods[3] = {1, 2.2, 0.9} "Masses of the rods";
    parameter Units.Length S[3] = {-0.09, 0.56, 0.4} "Top of the strut";
    parameter Units.Length P[3] = {-0.075, 0.63, -0.08} "Foot of the strut";
    parameter Units.Length L[3] = {-0.1, 0.6, -0.1} "Link of the anti-roll bar";
    parameter Units.Mass m = 30.05 "Mass of carrier, blade and brake";
    parameter Units.Length r_CM[3] = {0.05, 0.68, 0} "Their centre of mass";
    parameter Real I[3,3](each unit="kg.m2") = diagonal({0.55, 1.3, 1.3}) "Their inertia";
    parameter Units.Force F_design = 3203 "Force of the spring in the design position";
    parameter Units.TranslationalStiffness c = 18.5e3 "Stiffness of the spring";
    parameter Real ratio = 1.0971 "Travel of the strut over that of the wheel, about: for the stops";
    parameter Units.TranslationalStiffness c_D[3] = {1.5e6, 0.15e6, 2.5e6} "Bushing of the blade, along the axes of the body";
    parameter Units.Stiffness c_D_phi[3] = {100, 60, 100} "Bushing of the blade, about them";
    parameter Units.Time T_bush = 1e-3 "Damping of bushings over their stiffness";
    parameter Units.Length r_start[3] = {0, 0, 0} "Place of body at the start";
    parameter Units.Velocity v_start = 0 "Speed at the start, along x";
    MultiBody.Body carrier(m=m, I=I, coordinates=MultiBody.Coordinates.Angles, sequence={3, 2, 1}, states=true, angles_fixed=true, w_fixed=true,
      r_0(start=r_start + q.*r_CM, each fixed=true), v_0(start={v_start, 0, 0}, each fixed=true)) "Carrier, at its centre of mass" annotation(Placement(transformation(extent={{-10,10},{10,30}})));
    MultiBody.Translation seat_D(r=q.*D) "Seat of the blade" annotation(Placement(transformation(extent={{-90,50},{-70,70}})));
    MultiBody.Forces.Bushing bush_D(c=c_D, d=T_bush*c_D, c_phi=c_D_phi, d_phi=T_bush*c_D_phi) "Of the blade" annotation(Placement(transformation(extent={{-50,50},{-30,70}})));
    MultiBody.Translation to_D(r=q.*(D - r_CM)) "To the end of the blade" annotation(Placement(transformation(extent={{30,50},{50,70}})));
    MultiBody.Translation seats[3](r={q.*on_body[i] for i in 1:3}) "Seats of the rods" annotation(Placement(transformation(extent={{-90,10},{-70,30}})));
    Rod rods[3](r={q.*(on_carrier[i] - on_body[i]) for i in 1:3}, m=m_rods, r_start={r_start + q.*on_body[i] for i in 1:3}, each v_start=v_start) "Upper, lower and toe rod" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    MultiBody.Translation ends[3](r={q.*(on_carrier[i] - r_CM) for i in 1:3}) "From the carrier to the rods" annotation(Placement(transformation(extent={{-50,-30},{-30,-10}})));
    MultiBody.Translation to_hub(r=q.*(W - r_CM)) "To the wheel centre" annotation(Placement(transformation(extent={{30,10},{50,30}})));
    MultiBody.Translation to_foot(r=q.*(P - r_CM)) "To the foot of the strut" annotation(Placement(transformation(extent={{30,-30},{50,-10}})));
    MultiBody.Translation to_link(r=q.*(L - r_CM)) "To the link of the bar" annotation(Placement(transformation(extent={{-90,-30},{-70,-10}})));
    MultiBody.Translation tower(r=q.*S) "To the top of the strut" annotation(Placement(transformation(extent={{-10,-30},{10,-10}})));
    Suspension.Line line "Of the strut" annotation(Placement(transformation(extent={{-10,-70},{10,-50}})));
    Suspension.Strut strut(s_design=Math.length(S - P), F_design=F_design, c=c, bump=0.05*ratio, rebound=0.07*ratio, c_stop=4e6/ratio^3) "Spring and damper" annotation(Placement(transformation(extent={{30,-70},{50,-50}})));
  protected
    final parameter Real q[3](each unit="1") = {1, side, 1} "Mirrors points";
  equation
    connect(body, seat_D.a) annotation(Line(points={{0,100},{0,96},{-94,96},{-94,60},{-90,60}}, color={95,95,95}));
    connect(seat_D.b, bush_D.a) annotation(Line(points={{-70,60},{-50,60}}, color={95,95,95}));
    connect(bush_D.b, to_D.b) annotation(Line(points={{-30,60},{50,60}}, color={95,95,95}));
    connect(to_D.a, carrier.a) annotation(Line(points={{30,60},{-14,60},{-14,20},{-10,20}}, color={95,95,95}));
    for i in 1:3 loop
      connect(body, seats[i].a) annotation(Line(points={{0,100},{0,96},{-94,96},{-94,20},{-90,20}}, color={95,95,95}));
      connect(seats[i].b, rods[i].a) annotation(Line(points={{-70,20},{-50,20}}, color={95,95,95}));
      connect(rods[i].b, ends[i].b) annotation(Line(points={{-30,20},{-26,20},{-26,-20},{-30,-20}}, color={95,95,95}));
      connect(ends[i].a, carrier.a) annotation(Line(points={{-50,-20},{-54,-20},{-54,20},{-10,20}}, color={95,95,95}));
    end for;
    connect(carrier.a, to_hub.a) annotation(Line(points={{-10,20},{30,20}}, color={95,95,95}));
    connect(carrier.a, to_foot.a) annotation(Line(points={{-10,20},{-14,20},{-14,-20},{30,-20}}, color={95,95,95}));
    connect(carrier.a, to_link.a) annotation(Line(points={{-10,20},{-94,20},{-94,-20},{-90,-20}}, color={95,95,95}));
    connect(to_hub.b, hub) annotation(Line(points={{50,20},{75,20},{75,0},{100,0}}, color={95,95,95}));
    connect(to_link.b, link) annotation(Line(points={{-70,-20},{-66,-20},{-66,0},{-100,0}}, color={95,95,95}));
    connect(body, tower.a) annotation(Line(points={{0,100},{0,96},{-14,96},{-14,-20},{-10,-20}}, color={95,95,95}));
    connect(to_foot.b, line.a) annotation(Line(points={{50,-20},{54,-20},{54,-40},{-14,-40},{-14,-60},{-10,-60}}, color={95,95,95}));
    connect(tower.b, line.b) annotation(Line(points={{10,-20},{14,-20},{14,-60},{10,-60}}, color={95,95,95}));
    connect(line.flange_a, strut.a) annotation(Line(points={{-4,-50},{-4,-46},{26,-46},{26,-60},{30,-60}}, color={0,127,0}));
    connect(line.flange_b, strut.b) annotation(Line(points={{4,-50},{4,-46},{54,-46},{54,-60},{50,-60}}, color={0,127,0}));
    annotation(Icon(graphics={Line(points={{-60,60},{60,20}}), Line(points={{-60,-20},{60,-20}}), Line(points={{-60,-60},{60,-40}}), Rectangle(extent={{50,50},{80,-50}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>The carrier is a free body; a bushing at the front end of its blade, soft to the side, and three rods between bushings leave it one soft direction: up and down.</p></html>"));
  end MultilinkSide;

  model Multilink "Not steered: multilink axle in bushings"
    extends Axles.Axle;
    replaceable model Rod = LightLink constrainedby Link "Its rods"
    annotation(choices(choice(redeclare model Rod = Kilohertz.Vehicles.Bushings.LightLink "Level 3"), choice(redeclare model Rod = Kilohertz.Vehicles.Bushings.HeavyLink "Level 4")));
    parameter Units.TranslationalStiffness c_bar = 7e3 "Stiffness of the anti-roll bar at its links";
    parameter Units.Mass m = 30.05 "Mass of carrier, blade and brake; without mass of the rods, half of it is here";
    MultilinkSide side_left(redeclare model Rod = Rod, side=1, m=m, r_start=r_start, v_start=v_start) "Left" annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    MultilinkSide side_right(redeclare model Rod = Rod, side=-1, m=m, r_start=r_start, v_start=v_start) "Right" annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Suspension.Bar bar(c=c_bar) "Anti-roll bar" annotation(Placement(transformation(extent={{-10,30},{10,50}})));
  equation
    connect(body, side_left.body) annotation(Line(points={{0,100},{0,55},{-40,55},{-40,10}}, color={95,95,95}));
    connect(body, side_right.body) annotation(Line(points={{0,100},{0,55},{40,55},{40,10}}, color={95,95,95}));
    connect(body, bar.body) annotation(Line(points={{0,100},{0,50}}, color={95,95,95}));
    connect(side_left.hub, left) annotation(Line(points={{-30,0},{-100,0}}, color={95,95,95}));
    connect(side_right.hub, right) annotation(Line(points={{50,0},{100,0}}, color={95,95,95}));
    connect(side_left.link, bar.left) annotation(Line(points={{-50,0},{-54,0},{-54,40},{-10,40}}, color={95,95,95}));
    connect(side_right.link, bar.right) annotation(Line(points={{30,0},{20,0},{20,40},{10,40}}, color={95,95,95}));
    annotation(Documentation(info="<html><p>Two carriers on three rods and a blade each, an anti-roll bar between them. With <code>LightLink</code> it is level 3, with <code>HeavyLink</code> level 4.</p></html>"));
  end Multilink;
end Bushings;
