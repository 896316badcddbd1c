within Kilohertz.Examples;
package Bodies "Rigid bodies in space: what each component of MultiBody does"
  model Pendulum "A rod that swings"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
    MultiBody.Sensors.Cut cut "Force and torque of the bearing" annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    MultiBody.Joints.Revolute joint(phi(start=0.01, fixed=true), w(start=0, fixed=true), phi_offset=-Math.pi/2) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    MultiBody.Shapes.Box rod(r={1, 0, 0}, width=0.02) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    MultiBody.Sensors.Position tip annotation(Placement(transformation(extent={{70,-10},{90,10}})));
  equation
    connect(world.b, cut.a) annotation(Line(points={{-70,0},{-50,0}}, color={95,95,95}));
    connect(cut.b, joint.a) annotation(Line(points={{-30,0},{-10,0}}, color={95,95,95}));
    connect(joint.b, rod.a) annotation(Line(points={{10,0},{30,0}}, color={95,95,95}));
    connect(rod.b, tip.a) annotation(Line(points={{50,0},{70,0}}, color={95,95,95}));
    annotation(experiment(StopTime=10, Tolerance=1e-8), Documentation(info="<html><p>For small angles its period is <code>2 pi sqrt(2 L/(3 g))</code>.</p></html>"));
  end Pendulum;

  model DoublePendulum "Two rods, one hanging from the other"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-90,-50},{-70,-30}})));
    MultiBody.Joints.Revolute upper(phi(start=1, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
    MultiBody.Shapes.Cylinder first(r={0.5, 0, 0}, diameter=0.05, bore=0.03) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    MultiBody.Joints.Revolute lower(phi(start=0.5, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    MultiBody.Shapes.Box second(r={0.6, 0, 0}, width=0.05, height=0.02) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    MultiBody.Sensors.Velocity tip annotation(Placement(transformation(extent={{70,-10},{90,10}})));
    Real energy(unit="J") = kinetic + potential "Stays";
    Real kinetic(unit="J") = motion[1] + motion[2] "Of motion";
    Real potential(unit="J") = first.m*world.g*centre[1, 2] + second.m*world.g*centre[2, 2] "Of height";
    Units.Length centre[2, 3] = {first.body.r_0 + MultiBody.Frames.toWorld(first.body.a.R, first.body.r_CM), second.body.r_0 + MultiBody.Frames.toWorld(second.body.a.R, second.body.r_CM)} "Centres of mass";
    Units.Velocity speed[2, 3] = der(centre) "Their velocities";
    Real motion[2](each unit="J") = {first.m*speed[1]*speed[1]/2 + first.body.w*first.body.I*first.body.w/2, second.m*speed[2]*speed[2]/2 + second.body.w*second.body.I*second.body.w/2} "Energy of motion of each";
  equation
    connect(world.b, upper.a) annotation(Line(points={{-70,-40},{-66,-40},{-66,-20},{-94,-20},{-94,0},{-90,0}}, color={95,95,95}));
    connect(upper.b, first.a) annotation(Line(points={{-70,0},{-50,0}}, color={95,95,95}));
    connect(first.b, lower.a) annotation(Line(points={{-30,0},{-10,0}}, color={95,95,95}));
    connect(lower.b, second.a) annotation(Line(points={{10,0},{30,0}}, color={95,95,95}));
    connect(second.b, tip.a) annotation(Line(points={{50,0},{70,0}}, color={95,95,95}));
    annotation(experiment(StopTime=5, Tolerance=1e-8), Documentation(info="<html><p>Chaotic, but its energy stays: a measure of a method.</p></html>"));
  end DoublePendulum;

  model Top "A heavy top that spins about a fixed point"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
    parameter Units.Angle tilt = 0.5 "Of its axis against the vertical";
    parameter Units.AngularVelocity spin = 100 "About its axis";
    final parameter Real J(unit="kg.m2") = top.I[1, 1] + top.m*top.r_CM[2]^2 "Inertia about the tip, across its axis";
    final parameter Units.AngularVelocity round = (top.I[2, 2]*spin - sqrt((top.I[2, 2]*spin)^2 - 4*J*cos(tilt)*top.m*world.g*top.r_CM[2]))/(2*J*cos(tilt)) "The slower of the two rates at which it goes round without nodding";
    MultiBody.Joints.Ball tip(angles_start={tilt, 0, 0}, angles_fixed=true, w_start={0, spin, -round*sin(tilt)}, w_fixed=true) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    MultiBody.Body top(m=0.5, r_CM={0, 0.05, 0}, I=diagonal({4e-4, 6e-4, 4e-4})) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
    MultiBody.Sensors.Angles attitude annotation(Placement(transformation(extent={{10,-50},{30,-30}})));
    Real L(unit="N.m.s") = momentum*{0, 1, 0} "Angular momentum about the vertical: stays";
    Real momentum[3](each unit="N.m.s") = MultiBody.Frames.toWorld(top.a.R, top.I*top.w + top.m*cross(top.r_CM, cross(top.w, top.r_CM))) "Angular momentum about the tip";
    Real energy(unit="J") = (top.w*top.I*top.w + top.m*cross(top.w, top.r_CM)*cross(top.w, top.r_CM))/2 - top.m*world.gravity*MultiBody.Frames.toWorld(top.a.R, top.r_CM) "Stays";
  equation
    connect(world.b, tip.a) annotation(Line(points={{-50,0},{-30,0}}, color={95,95,95}));
    connect(tip.b, top.a) annotation(Line(points={{-10,0},{10,0}}, color={95,95,95}));
    connect(top.a, attitude.a) annotation(Line(points={{10,0},{6,0},{6,-40},{10,-40}}, color={95,95,95}));
    annotation(experiment(StopTime=2, Tolerance=1e-8), Documentation(info="<html><p>Started at the right rate it goes round and keeps its tilt: <code>J cos(tilt) round^2 - I spin round + m g s = 0</code>.</p></html>"));
  end Top;

  model FreeBody "A body that tumbles without any force: three ways to describe how it stands"
    inner MultiBody.World world(g=0) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    MultiBody.Body quaternions(I=I, angles_fixed=true, w_start=w, w_fixed=true, r_0(each fixed=true), v_0(start={1, 0, 0}, each fixed=true)) annotation(Placement(transformation(extent={{-10,30},{10,50}})));
    MultiBody.Body unit(I=I, coordinates=MultiBody.Coordinates.UnitQuaternions, angles_fixed=true, w_start=w, w_fixed=true, r_0(each fixed=true), v_0(start={1, 0, 0}, each fixed=true)) annotation(Placement(transformation(extent={{-10,-50},{10,-30}})));
    MultiBody.Body angles(I=I, coordinates=MultiBody.Coordinates.Angles, angles_fixed=true, w_start=w, w_fixed=true, r_0(each fixed=true), v_0(start={1, 0, 0}, each fixed=true)) annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
    MultiBody.Joints.Free motion(angles_fixed=true, w_start=w, w_fixed=true, r_rel(each fixed=true), v_rel(start={1, 0, 0}, each fixed=true)) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    MultiBody.Body joined(I=I) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    parameter Real I[3,3](each unit="kg.m2") = diagonal({2e-3, 1e-3, 1e-3}) "Inertia: of a symmetric body";
    parameter Units.AngularVelocity w[3] = {10, 3, 0} "Angular velocity at the start";
  equation
    connect(world.b, motion.a) annotation(Line(points={{-30,0},{-10,0}}, color={95,95,95}));
    connect(motion.b, joined.a) annotation(Line(points={{10,0},{30,0}}, color={95,95,95}));
    annotation(experiment(StopTime=2, Tolerance=1e-9), Documentation(info="<html><p>Seen from the body, the angular velocity goes round the axis of symmetry at the rate <code>(I_1 - I_2)/I_2 w_1</code>.</p></html>"));
  end FreeBody;

  model FourBar "A crank moves a rocker through a massless coupler: the loop is solved in closed form"
    inner MultiBody.World world(g=0) annotation(Placement(transformation(extent={{-90,-50},{-70,-30}})));
    MultiBody.Joints.Revolute crank(phi(start=0.3, fixed=true), w(start=4, fixed=true)) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    MultiBody.Shapes.Box link(r={0.2, 0, 0}, width=0.03) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    MultiBody.Translation ground(r={0.7, 0, 0}) annotation(Placement(transformation(extent={{30,-50},{50,-30}})));
    MultiBody.Loops.RodRevolute rocker(L=0.6, r={0.4, 0, 0}, phi_guess=1.5) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    MultiBody.Shapes.Box beam(r={0.4, 0, 0}, width=0.03) annotation(Placement(transformation(extent={{70,30},{90,50}})));
  equation
    connect(world.b, crank.a) annotation(Line(points={{-70,-40},{-60,-40},{-60,0},{-50,0}}, color={95,95,95}));
    connect(crank.b, link.a) annotation(Line(points={{-30,0},{-10,0}}, color={95,95,95}));
    connect(link.b, rocker.a) annotation(Line(points={{10,0},{30,0}}, color={95,95,95}));
    connect(world.b, ground.a) annotation(Line(points={{-70,-40},{30,-40}}, color={95,95,95}));
    connect(ground.b, rocker.b) annotation(Line(points={{50,-40},{54,-40},{54,0},{50,0}}, color={95,95,95}));
    connect(rocker.arm, beam.a) annotation(Line(points={{46,10},{46,40},{70,40}}, color={95,95,95}));
    annotation(experiment(StopTime=3, Tolerance=1e-9), Documentation(info="<html><p>No state of the rocker, no loop of equations that is nonlinear: its angle is an expression of that of the crank.</p></html>"));
  end FourBar;

  model FourBarIterated "The same with a rod whose length is a constraint"
    inner MultiBody.World world(g=0) annotation(Placement(transformation(extent={{-110,-30},{-90,-10}})));
    MultiBody.Joints.Revolute crank(phi(start=0.3, fixed=true, stateSelect=StateSelect.always), w(start=4, fixed=true, stateSelect=StateSelect.always)) annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
    MultiBody.Shapes.Box link(r={0.2, 0, 0}, width=0.03) annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    MultiBody.Translation ground(r={0.7, 0, 0}) annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    MultiBody.Joints.Rod rod(L=0.6) annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
    MultiBody.Joints.Revolute rocker(phi(start=1.5)) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    MultiBody.Shapes.Box beam(r={0.4, 0, 0}, width=0.03) annotation(Placement(transformation(extent={{10,10},{30,30}})));
  equation
    connect(world.b, crank.a) annotation(Line(points={{-90,-20},{-70,-20}}, color={95,95,95}));
    connect(crank.b, link.a) annotation(Line(points={{-50,-20},{-30,-20}}, color={95,95,95}));
    connect(link.b, rod.a) annotation(Line(points={{-10,-20},{10,-20}}, color={95,95,95}));
    connect(world.b, ground.a) annotation(Line(points={{-90,-20},{-80,-20},{-80,20},{-70,20}}, color={95,95,95}));
    connect(ground.b, rocker.a) annotation(Line(points={{-50,20},{-30,20}}, color={95,95,95}));
    connect(rocker.b, beam.a) annotation(Line(points={{-10,20},{10,20}}, color={95,95,95}));
    connect(beam.b, rod.b) annotation(Line(points={{30,20},{34,20},{34,-20},{30,-20}}, color={95,95,95}));
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=3, Tolerance=1e-9), Documentation(info="<html><p>The angle of the rocker is an unknown of a nonlinear loop.</p></html>"));
  end FourBarIterated;

  model SliderCrank "Crank, connecting rod with mass, piston on a spring"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-10,-30},{10,-10}})));
    MultiBody.Joints.Revolute crank(n={0, 0, 1}, driven=true, phi(start=0.2, fixed=true), w(start=20, fixed=true)) annotation(Placement(transformation(extent={{-90,-30},{-70,-10}})));
    Rotational.Sources.ConstantTorque drive(tau=2) annotation(Placement(transformation(extent={{-130,10},{-110,30}})));
    MultiBody.Shapes.Cylinder web(r={0.05, 0, 0}, diameter=0.04) annotation(Placement(transformation(extent={{-50,-30},{-30,-10}})));
    MultiBody.Loops.UniversalPrismatic piston(L=0.15, n={1, 0, 0}, n_a={0, 0, 1}, s_guess=0.2) annotation(Placement(transformation(extent={{-10,-70},{10,-50}})));
    MultiBody.Body rod(m=0.5, r_CM={0.06, 0, 0}, I=diagonal({1e-4, 1e-3, 1e-3})) annotation(Placement(transformation(extent={{30,-70},{50,-50}})));
    MultiBody.Body mass(m=0.8) annotation(Placement(transformation(extent={{70,-70},{90,-50}})));
    MultiBody.Fixed head(r={0.4, 0, 0}) annotation(Placement(transformation(extent={{-10,50},{10,70}})));
    MultiBody.Forces.SpringDamper gas(c=500, d=1, s_0=0.25) annotation(Placement(transformation(extent={{-10,10},{10,30}})));
    MultiBody.Sensors.RelativePosition stroke annotation(Placement(transformation(extent={{30,-30},{50,-10}})));
  equation
    connect(drive.b, crank.axis) annotation(Line(points={{-110,20},{-80,20},{-80,-10}}, color={70,70,70}));
    connect(world.b, crank.a) annotation(Line(points={{10,-20},{14,-20},{14,-4},{-94,-4},{-94,-20},{-90,-20}}, color={95,95,95}));
    connect(crank.b, web.a) annotation(Line(points={{-70,-20},{-50,-20}}, color={95,95,95}));
    connect(web.b, piston.a) annotation(Line(points={{-30,-20},{-20,-20},{-20,-60},{-10,-60}}, color={95,95,95}));
    connect(world.b, piston.b) annotation(Line(points={{10,-20},{14,-20},{14,-60},{10,-60}}, color={95,95,95}));
    connect(piston.rod, rod.a) annotation(Line(points={{0,-50},{0,-46},{26,-46},{26,-60},{30,-60}}, color={95,95,95}));
    connect(piston.arm, mass.a) annotation(Line(points={{6,-50},{6,-46},{66,-46},{66,-60},{70,-60}}, color={95,95,95}));
    connect(piston.arm, gas.a) annotation(Line(points={{6,-50},{6,-46},{-14,-46},{-14,20},{-10,20}}, color={95,95,95}));
    connect(gas.b, head.b) annotation(Line(points={{10,20},{14,20},{14,60},{10,60}}, color={95,95,95}));
    connect(world.b, stroke.a) annotation(Line(points={{10,-20},{30,-20}}, color={95,95,95}));
    connect(stroke.b, piston.arm) annotation(Line(points={{50,-20},{54,-20},{54,-46},{6,-46},{6,-50}}, color={95,95,95}));
    annotation(Diagram(coordinateSystem(extent={{-140,-140},{140,140}})), experiment(StopTime=1, Tolerance=1e-9), Documentation(info="<html><p><code>s = r cos(phi) + sqrt(L^2 - r^2 sin(phi)^2)</code>.</p></html>"));
  end SliderCrank;

  model SliderCrankIterated "The same from simple joints"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-130,-70},{-110,-50}})));
    MultiBody.Joints.Revolute crank(n={0, 0, 1}, driven=true, phi(start=0.2, fixed=true, stateSelect=StateSelect.always), w(start=20, fixed=true, stateSelect=StateSelect.always)) annotation(Placement(transformation(extent={{-90,-70},{-70,-50}})));
    Rotational.Sources.ConstantTorque drive(tau=2) annotation(Placement(transformation(extent={{-130,-30},{-110,-10}})));
    MultiBody.Shapes.Cylinder web(r={0.05, 0, 0}, diameter=0.04) annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    MultiBody.Joints.UniversalRod connecting(L=0.15, n_a={0, 0, 1}, b(r_0(start={0.2, 0, 0}))) annotation(Placement(transformation(extent={{-10,10},{10,30}})));
    MultiBody.Body rod(m=0.5, r_CM={0.06, 0, 0}, I=diagonal({1e-4, 1e-3, 1e-3})) annotation(Placement(transformation(extent={{30,50},{50,70}})));
    MultiBody.Joints.Prismatic slide(n={1, 0, 0}, driven=true, s(start=0.2)) annotation(Placement(transformation(extent={{-10,-30},{10,-10}})));
    Translational.SpringDamper gas(c=500, d=1, s_0=0.25) annotation(Placement(transformation(extent={{30,10},{50,30}})));
    Translational.Fixed head(s=0.4) annotation(Placement(transformation(extent={{70,10},{90,30}})));
    MultiBody.Body mass(m=0.8) annotation(Placement(transformation(extent={{30,-30},{50,-10}})));
  equation
    connect(drive.b, crank.axis) annotation(Line(points={{-110,-20},{-80,-20},{-80,-50}}, color={70,70,70}));
    connect(world.b, crank.a) annotation(Line(points={{-110,-60},{-90,-60}}, color={95,95,95}));
    connect(crank.b, web.a) annotation(Line(points={{-70,-60},{-60,-60},{-60,20},{-50,20}}, color={95,95,95}));
    connect(web.b, connecting.a) annotation(Line(points={{-30,20},{-10,20}}, color={95,95,95}));
    connect(connecting.b, slide.b) annotation(Line(points={{10,20},{14,20},{14,-20},{10,-20}}, color={95,95,95}));
    connect(connecting.rod, rod.a) annotation(Line(points={{0,30},{0,60},{30,60}}, color={95,95,95}));
    connect(world.b, slide.a) annotation(Line(points={{-110,-60},{-60,-60},{-60,-20},{-10,-20}}, color={95,95,95}));
    connect(slide.b, mass.a) annotation(Line(points={{10,-20},{30,-20}}, color={95,95,95}));
    connect(slide.axis, gas.a) annotation(Line(points={{8,-14},{19,-14},{19,20},{30,20}}, color={0,127,0}));
    connect(gas.b, head.a) annotation(Line(points={{50,20},{80,20}}, color={0,127,0}));
    annotation(Diagram(coordinateSystem(extent={{-140,-140},{140,140}})), experiment(StopTime=1, Tolerance=1e-9), Documentation(info="<html><p>The length of the rod is a constraint; spring and damper act on the flange of the slide.</p></html>"));
  end SliderCrankIterated;

  model Rocker "A driven crank, a coupler with a mass, a rocker: three revolute joints solved in closed form"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    MultiBody.Joints.Revolute crank(phi(start=0.3, fixed=true), w(start=4, fixed=true)) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    MultiBody.Shapes.Box link(r={0.2, 0, 0}, width=0.03) annotation(Placement(transformation(extent={{10,10},{30,30}})));
    MultiBody.Fixed ground(r={0.7, 0, 0}) annotation(Placement(transformation(extent={{10,-70},{30,-50}})));
    MultiBody.Loops.UniversalRevolute closing(L=0.6, r={0.4, 0, 0}, phi_guess=1.5, n_a={0, 0, 1}) annotation(Placement(transformation(extent={{50,-70},{70,-50}})));
    MultiBody.Body coupler(m=2, r_CM={0.3, 0, 0}, I=diagonal({1e-3, 0.06, 0.06})) annotation(Placement(transformation(extent={{90,-30},{110,-10}})));
    MultiBody.Shapes.Box beam(r={0.4, 0, 0}, width=0.03) annotation(Placement(transformation(extent={{90,10},{110,30}})));
  equation
    connect(world.b, crank.a) annotation(Line(points={{-50,20},{-30,20}}, color={95,95,95}));
    connect(crank.b, link.a) annotation(Line(points={{-10,20},{10,20}}, color={95,95,95}));
    connect(link.b, closing.a) annotation(Line(points={{30,20},{40,20},{40,-60},{50,-60}}, color={95,95,95}));
    connect(ground.b, closing.b) annotation(Line(points={{30,-60},{70,-60}}, color={95,95,95}));
    connect(closing.rod, coupler.a) annotation(Line(points={{60,-50},{60,-20},{90,-20}}, color={95,95,95}));
    connect(closing.arm, beam.a) annotation(Line(points={{66,-50},{66,20},{90,20}}, color={95,95,95}));
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=3, Tolerance=1e-9), Documentation(info="<html><p>The planar four-bar with mass in every link.</p></html>"));
  end Rocker;

  model Linkage "A pendulum on a slanted rail that pushes a slide through a massless rod"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-50,-50},{-30,-30}})));
    MultiBody.Rotation slant(angles={0.2, 0, 0}) annotation(Placement(transformation(extent={{-10,-50},{10,-30}})));
    MultiBody.Joints.Revolute swing(n={0, 0, 1}, phi(start=0.5, fixed=true), w(start=0, fixed=true), phi_offset=-Math.pi/2) annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
    MultiBody.Shapes.Cylinder arm(r={0.4, 0, 0}, diameter=0.03) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    MultiBody.Loops.RodPrismatic slide(L=0.8, n={1, 0, 0}, s_guess=0.7) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    MultiBody.Body cart(m=3) annotation(Placement(transformation(extent={{30,30},{50,50}})));
  equation
    connect(world.b, slant.a) annotation(Line(points={{-30,-40},{-10,-40}}, color={95,95,95}));
    connect(slant.b, swing.a) annotation(Line(points={{10,-40},{14,-40},{14,-20},{-94,-20},{-94,0},{-90,0}}, color={95,95,95}));
    connect(swing.b, arm.a) annotation(Line(points={{-70,0},{-50,0}}, color={95,95,95}));
    connect(arm.b, slide.a) annotation(Line(points={{-30,0},{-10,0}}, color={95,95,95}));
    connect(slant.b, slide.b) annotation(Line(points={{10,-40},{14,-40},{14,0},{10,0}}, color={95,95,95}));
    connect(slide.arm, cart.a) annotation(Line(points={{6,10},{6,40},{30,40}}, color={95,95,95}));
    annotation(experiment(StopTime=3, Tolerance=1e-9), Documentation(info="<html><p><code>s = x + sqrt(L^2 - y^2)</code>, where the end of the arm is at <code>(x, y)</code> of the rail.</p></html>"));
  end Linkage;

  model Gimbal "A rotor on a universal joint, and a nut that falls along a turning screw"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    MultiBody.Joints.Universal gimbal(n_a={1, 0, 0}, n_b={0, 0, 1}, first(phi(start=0.5, fixed=true), w(start=0, fixed=true)), second(phi(start=0.3, fixed=true), w(start=4, fixed=true))) annotation(Placement(transformation(extent={{-10,-50},{10,-30}})));
    MultiBody.Body rotor(m=1, r_CM={0, -0.2, 0}, I=diagonal({0.02, 0.03, 0.02})) annotation(Placement(transformation(extent={{30,-50},{50,-30}})));
    MultiBody.Joints.Cylindrical rod(n={0, 1, 0}, slides(s(start=0, fixed=true), v(start=1, fixed=true)), turns(phi(start=0, fixed=true), w(start=3, fixed=true))) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    MultiBody.Body nut(m=0.1) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Real energy(unit="J") = (rotor.w*rotor.I*rotor.w + rotor.m*cross(rotor.w, rotor.r_CM)*cross(rotor.w, rotor.r_CM))/2 - rotor.m*world.gravity*MultiBody.Frames.toWorld(rotor.a.R, rotor.r_CM) "Of the rotor: stays";
  equation
    connect(world.b, gimbal.a) annotation(Line(points={{-30,0},{-20,0},{-20,-40},{-10,-40}}, color={95,95,95}));
    connect(gimbal.b, rotor.a) annotation(Line(points={{10,-40},{30,-40}}, color={95,95,95}));
    connect(world.b, rod.a) annotation(Line(points={{-30,0},{-10,0}}, color={95,95,95}));
    connect(rod.b, nut.a) annotation(Line(points={{10,0},{30,0}}, color={95,95,95}));
    annotation(experiment(StopTime=3, Tolerance=1e-9), Documentation(info="<html><p>The rotor keeps its energy; the nut falls and turns as if it were alone.</p></html>"));
  end Gimbal;

  model SphericalPendulum "A weight on a massless rod that goes round, its position the only state"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
    MultiBody.Joints.Rod rod(L=1) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    MultiBody.Body weight(m=2, r_0(start={0.6, -0.8, 0}), v_0(start={0, 0, 2.1009521651}), angles_fixed=true, w_fixed=true) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
  initial equation
    weight.r_0[1] = 0.6;
    weight.r_0[3] = 0;
    weight.v_0[1] = 0;
    weight.v_0[3] = 0.6*sqrt(world.g/0.8);
  equation
    connect(world.b, rod.a) annotation(Line(points={{-50,0},{-30,0}}, color={95,95,95}));
    connect(rod.b, weight.a) annotation(Line(points={{-10,0},{10,0}}, color={95,95,95}));
    annotation(experiment(StopTime=5, Tolerance=1e-9), Documentation(info="<html><p>At the rate <code>sqrt(g/h)</code> it goes round at a height <code>h</code> below its support: a conical pendulum.</p></html>"));
  end SphericalPendulum;

  model Chain "Two bodies on balls, a wind that pushes, a spring that holds"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    MultiBody.Joints.Ball top(angles_start={0.2, 0, 0.3}, angles_fixed=true, w_fixed=true) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    MultiBody.Shapes.Cylinder first(r={0, -0.5, 0}, diameter=0.03) annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
    MultiBody.Joints.Ball middle(angles_start={0, 0, 0.3}, angles_fixed=true, w_fixed=true) annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    MultiBody.Shapes.Cylinder second(r={0, -0.5, 0}, diameter=0.03) annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
    MultiBody.Forces.WorldForce wind annotation(Placement(transformation(extent={{10,10},{30,30}})));
    MultiBody.Forces.SpringDamper spring(c=50, d=5, s_0=0.5) annotation(Placement(transformation(extent={{50,-30},{70,-10}})));
    MultiBody.Fixed wall(r={1, -1, 0}) annotation(Placement(transformation(extent={{50,10},{70,30}})));
  equation
    wind.force = {0, 0, 5};
    connect(world.b, top.a) annotation(Line(points={{-50,20},{-30,20}}, color={95,95,95}));
    connect(top.b, first.a) annotation(Line(points={{-10,20},{-6,20},{-6,0},{-74,0},{-74,-20},{-70,-20}}, color={95,95,95}));
    connect(first.b, middle.a) annotation(Line(points={{-50,-20},{-30,-20}}, color={95,95,95}));
    connect(middle.b, second.a) annotation(Line(points={{-10,-20},{10,-20}}, color={95,95,95}));
    connect(second.b, wind.b) annotation(Line(points={{30,-20},{34,-20},{34,20},{30,20}}, color={95,95,95}));
    connect(second.b, spring.a) annotation(Line(points={{30,-20},{50,-20}}, color={95,95,95}));
    connect(spring.b, wall.b) annotation(Line(points={{70,-20},{74,-20},{74,20},{70,20}}, color={95,95,95}));
    annotation(experiment(StopTime=5, Tolerance=1e-8), Documentation(info="<html><p>Balls with coordinates of their own: twice three degrees of freedom and no constraint.</p></html>"));
  end Chain;

  model Hanging "A body on a ball without coordinates: those of the body remain"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
    MultiBody.Joints.Spherical top annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    MultiBody.Body body(m=1, r_CM={0, -0.3, 0}, I=diagonal({0.03, 0.001, 0.03}), angles_start={0.5, 0, 0}, angles_fixed=true, w_fixed=true) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
  equation
    connect(world.b, top.a) annotation(Line(points={{-50,0},{-30,0}}, color={95,95,95}));
    connect(top.b, body.a) annotation(Line(points={{-10,0},{10,0}}, color={95,95,95}));
    annotation(experiment(StopTime=3, Tolerance=1e-9), Documentation(info="<html><p>A pendulum that swings in a plane: <code>(I + m s^2) der(w) = -m g s sin(phi)</code>.</p></html>"));
  end Hanging;

  model Mounted "A block on a rubber mount, pushed and turned"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    MultiBody.Forces.Bushing mount(c={1e5, 2e5, 1e5}, d={300, 300, 300}, c_phi={1e3, 1e3, 2e3}, d_phi={10, 10, 10}) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    MultiBody.Body mass(m=20, I=diagonal({0.2, 0.3, 0.4}), coordinates=MultiBody.Coordinates.Angles, r_0(each fixed=true), v_0(each fixed=true), angles_fixed=true, w_fixed=true) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    MultiBody.Forces.WorldForce push annotation(Placement(transformation(extent={{-10,-50},{10,-30}})));
    MultiBody.Forces.WorldTorque turn annotation(Placement(transformation(extent={{-10,30},{10,50}})));
  equation
    push.force = {100, 0, 50};
    turn.torque = {0, 0, 20};
    connect(world.b, mount.a) annotation(Line(points={{-30,0},{-10,0}}, color={95,95,95}));
    connect(mount.b, mass.a) annotation(Line(points={{10,0},{30,0}}, color={95,95,95}));
    connect(push.b, mass.a) annotation(Line(points={{10,-40},{20,-40},{20,0},{30,0}}, color={95,95,95}));
    connect(turn.b, mass.a) annotation(Line(points={{10,40},{20,40},{20,0},{30,0}}, color={95,95,95}));
    annotation(experiment(StopTime=2, Tolerance=1e-8), Documentation(info="<html><p>It comes to rest where the springs carry force, weight and torque.</p></html>"));
  end Mounted;

  model Suspended "A carrier on rods with masses, each between two rubber mounts"
    inner MultiBody.World world annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
    parameter Integer N = 3 "Rods" annotation(Evaluate=true);
    MultiBody.Body carrier(m=40, I=identity(3), coordinates=MultiBody.Coordinates.Angles, r_0(each fixed=true), v_0(each fixed=true), angles_fixed=true, w_fixed=true) annotation(Placement(transformation(extent={{10,-70},{30,-50}})));
    MultiBody.Body rod[N](each m=1, each r_CM={0, 0.2, 0}, each I=diagonal({0.02, 0.001, 0.02}), each coordinates=MultiBody.Coordinates.Angles, r_0(start={{0.2*i, -0.4, 0.05*i^2} for i in 1:N}, each fixed=true), each v_0(each fixed=true), each angles_fixed=true, each w_fixed=true) annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    MultiBody.Forces.Bushing inside[N](each c={2e6, 2e6, 2e6}) annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    MultiBody.Forces.Bushing outside[N](each c={2e6, 2e6, 2e6}) annotation(Placement(transformation(extent={{10,10},{30,30}})));
    MultiBody.Fixed ground[N](r={{0.2*i, -0.4, 0.05*i^2} for i in 1:N}) annotation(Placement(transformation(extent={{-110,10},{-90,30}})));
    MultiBody.Translation length[N](each r={0, 0.4, 0}) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    MultiBody.Translation arm[N](r={{0.2*i, 0, 0.05*i^2} for i in 1:N}) annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
    MultiBody.Forces.WorldForce push annotation(Placement(transformation(extent={{-30,-70},{-10,-50}})));
  equation
    push.force = {1000, 2000, 500}*sin(4*Math.pi*time);
    connect(push.b, carrier.a) annotation(Line(points={{-10,-60},{10,-60}}, color={95,95,95}));
    for i in 1:N loop
      connect(ground[i].b, inside[i].a) annotation(Line(points={{-90,20},{-70,20}}, color={95,95,95}));
      connect(inside[i].b, rod[i].a) annotation(Line(points={{-50,20},{-40,20},{-40,-20},{-30,-20}}, color={95,95,95}));
      connect(rod[i].a, length[i].a) annotation(Line(points={{-30,-20},{-34,-20},{-34,20},{-30,20}}, color={95,95,95}));
      connect(length[i].b, outside[i].a) annotation(Line(points={{-10,20},{10,20}}, color={95,95,95}));
      connect(outside[i].b, arm[i].b) annotation(Line(points={{30,20},{34,20},{34,-20},{30,-20}}, color={95,95,95}));
      connect(arm[i].a, carrier.a) annotation(Line(points={{10,-20},{6,-20},{6,-60},{10,-60}}, color={95,95,95}));
    end for;
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=1, Tolerance=1e-6, Interval=1e-3), Documentation(info="<html><p>What axles with rubber mounts are made of: stiff, no loop that is nonlinear, twelve states for each body.</p></html>"));
  end Suspended;
end Bodies;
