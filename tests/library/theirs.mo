package Theirs "The car of level 2 on joints and bodies of the Modelica Standard Library; wheels, struts and bars are ours"
  model FrontSide "A carrier on a hinged arm, a strut and a tie rod: two loops, closed by the standard library's joints"
    Kilohertz.MultiBody.Frame body "Middle of the axle line";
    Kilohertz.MultiBody.Frame hub "Carrier at the wheel centre";
    Kilohertz.MultiBody.Frame link "Carrier at the link of the anti-roll bar";
    Kilohertz.Translational.Flange rack "Shift of the rack";
    parameter Integer side = 1 "1: left, -1: right" annotation(Evaluate=true);
    parameter Real q[3] = {1, side, 1} "Mirrors points";
    parameter Real W[3] = {0, 0.75, 0};
    parameter Real A1[3] = {0.1, 0.36, -0.095};
    parameter Real A2[3] = {-0.2, 0.36, -0.095};
    parameter Real B[3] = {0, 0.7, -0.115};
    parameter Real S[3] = {-0.05, 0.56, 0.5};
    parameter Real P[3] = {-0.005, 0.63, 0};
    parameter Real R[3] = {-0.14, 0.33, -0.055};
    parameter Real T[3] = {-0.135, 0.665, -0.07};
    parameter Real L[3] = {-0.02, 0.6, -0.09};
    final parameter Real g[3] = (S - P)/sqrt((S - P)*(S - P)) "Axis of the strut";
    final parameter Real p[3] = (P - B) - g*((P - B)*g) "From the ball joint to the foot of the perpendicular";
    final parameter Real s_design = (S - B)*g;
    inner Modelica.Mechanics.MultiBody.World world(g=9.81, n={0, 0, -1}, enableAnimation=false);
    Kilohertz.Adapters.MultiBody at_body, at_hub, at_link;
    Kilohertz.Adapters.Translational at_rack, at_slide;
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation bearing(r=q.*A2, animation=false);
    Modelica.Mechanics.MultiBody.Joints.Revolute hinge(n={1, 0, 0}, animation=false, stateSelect=StateSelect.always, phi(start=0, fixed=true), w(start=0, fixed=true));
    Modelica.Mechanics.MultiBody.Parts.Body arm(m=2.7, r_CM=q.*((A1 + A2 + B)/3 - A2), I_11=0.015, I_22=0.021, I_33=0.036, animation=false);
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation tip(r=q.*(B - A2), animation=false);
    Modelica.Mechanics.MultiBody.Joints.Revolute ball_x(n={1, 0, 0}, animation=false, stateSelect=StateSelect.avoid);
    Modelica.Mechanics.MultiBody.Joints.Revolute ball_y(n={0, 1, 0}, animation=false, stateSelect=StateSelect.avoid);
    Modelica.Mechanics.MultiBody.Joints.Revolute ball_z(n={0, 0, 1}, animation=false, stateSelect=StateSelect.avoid);
    Modelica.Mechanics.MultiBody.Parts.Body knuckle(m=26, r_CM=q.*({-0.01, 0.68, 0.02} - B), I_11=0.75, I_22=0.75, I_33=0.25, animation=false);
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation to_hub(r=q.*(W - B), animation=false);
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation to_link(r=q.*(L - B), animation=false);
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation foot(r=q.*p, animation=false);
    Modelica.Mechanics.MultiBody.Joints.Prismatic slide(n=q.*g, useAxisFlange=true, animation=false, stateSelect=StateSelect.avoid, s(start=s_design));
    Modelica.Mechanics.MultiBody.Joints.Spherical top(animation=false);
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation tower(r=q.*S, animation=false);
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation inner_end(r=q.*R, animation=false);
    Modelica.Mechanics.MultiBody.Joints.Prismatic shift(n={0, 1, 0}, useAxisFlange=true, animation=false, stateSelect=StateSelect.avoid);
    Modelica.Mechanics.MultiBody.Joints.SphericalSpherical tie_rod(rodLength=sqrt((T - R)*(T - R)), animation=false, showMass=false);
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation outer_end(r=q.*(T - B), animation=false);
    Kilohertz.Vehicles.Suspension.Strut strut(s_design=s_design, F_design=3756, c=29e3, bump=0.05*0.9477, rebound=0.07*0.9477, c_stop=4e6/0.9477^3);
    Kilohertz.Translational.Fixed ground;
  equation
    connect(body, at_body.ours);
    connect(at_body.theirs, bearing.frame_a);
    connect(bearing.frame_b, hinge.frame_a);
    connect(hinge.frame_b, arm.frame_a);
    connect(hinge.frame_b, tip.frame_a);
    connect(tip.frame_b, ball_x.frame_a);
    connect(ball_x.frame_b, ball_y.frame_a);
    connect(ball_y.frame_b, ball_z.frame_a);
    connect(ball_z.frame_b, knuckle.frame_a);
    connect(ball_z.frame_b, to_hub.frame_a);
    connect(ball_z.frame_b, to_link.frame_a);
    connect(to_hub.frame_b, at_hub.theirs);
    connect(at_hub.ours, hub);
    connect(to_link.frame_b, at_link.theirs);
    connect(at_link.ours, link);
    connect(ball_z.frame_b, foot.frame_a);
    connect(foot.frame_b, slide.frame_a);
    connect(slide.frame_b, top.frame_a);
    connect(at_body.theirs, tower.frame_a);
    connect(tower.frame_b, top.frame_b);
    connect(ground.a, strut.a);
    connect(strut.b, at_slide.ours);
    connect(at_slide.theirs, slide.axis);
    connect(at_body.theirs, inner_end.frame_a);
    connect(inner_end.frame_b, shift.frame_a);
    connect(rack, at_rack.ours);
    connect(at_rack.theirs, shift.axis);
    connect(shift.frame_b, tie_rod.frame_a);
    connect(tie_rod.frame_b, outer_end.frame_b);
    connect(ball_z.frame_b, outer_end.frame_a);
  end FrontSide;

  model Front
    extends Kilohertz.Vehicles.Axles.SteeredAxle;
    FrontSide side_left(side=1), side_right(side=-1);
    Kilohertz.Vehicles.Suspension.Bar bar(c=14e3);
  equation
    connect(body, side_left.body);
    connect(body, side_right.body);
    connect(body, bar.body);
    connect(rack, side_left.rack);
    connect(rack, side_right.rack);
    connect(side_left.hub, left);
    connect(side_right.hub, right);
    connect(side_left.link, bar.left);
    connect(side_right.link, bar.right);
  end Front;

  model RearSide "A carrier on an oblique arm"
    Kilohertz.MultiBody.Frame body, hub, link, foot, tower;
    parameter Integer side = 1 annotation(Evaluate=true);
    parameter Real q[3] = {1, side, 1};
    parameter Real D[3] = {0.43, 0.6, 0};
    inner Modelica.Mechanics.MultiBody.World world(g=9.81, n={0, 0, -1}, enableAnimation=false);
    Kilohertz.Adapters.MultiBody at_body, at_hub, at_link, at_foot, at_tower;
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation bearing(r=q.*D, animation=false);
    Modelica.Mechanics.MultiBody.Joints.Revolute hinge(n={0.189, side*0.9816, -0.0269}, animation=false, stateSelect=StateSelect.always, phi(start=0, fixed=true), w(start=0, fixed=true));
    Modelica.Mechanics.MultiBody.Parts.Body arm(m=30.05, r_CM=q.*({0.05, 0.68, 0} - D), I_11=0.55, I_22=1.3, I_33=1.3, animation=false);
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation to_hub(r=q.*({0, 0.75, 0} - D), animation=false);
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation to_link(r=q.*({-0.1, 0.6, -0.1} - D), animation=false);
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation to_foot(r=q.*({-0.075, 0.63, -0.08} - D), animation=false);
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation to_tower(r=q.*{-0.09, 0.56, 0.4}, animation=false);
  equation
    connect(body, at_body.ours);
    connect(at_body.theirs, bearing.frame_a);
    connect(at_body.theirs, to_tower.frame_a);
    connect(bearing.frame_b, hinge.frame_a);
    connect(hinge.frame_b, arm.frame_a);
    connect(hinge.frame_b, to_hub.frame_a);
    connect(hinge.frame_b, to_link.frame_a);
    connect(hinge.frame_b, to_foot.frame_a);
    connect(to_hub.frame_b, at_hub.theirs);
    connect(to_link.frame_b, at_link.theirs);
    connect(to_foot.frame_b, at_foot.theirs);
    connect(to_tower.frame_b, at_tower.theirs);
    connect(at_hub.ours, hub);
    connect(at_link.ours, link);
    connect(at_foot.ours, foot);
    connect(at_tower.ours, tower);
  end RearSide;

  model Rear
    extends Kilohertz.Vehicles.Axles.Axle;
    RearSide sides[2](side={1, -1});
    Kilohertz.Vehicles.Suspension.Bar bar(c=7e3);
    Kilohertz.Vehicles.Suspension.Line lines[2];
    Kilohertz.Vehicles.Suspension.Strut struts[2](each s_design=sqrt(0.015^2 + 0.07^2 + 0.48^2), each F_design=3203, each c=23e3, each bump=0.05*1.0971, each rebound=0.07*1.0971, each c_stop=4e6/1.0971^3);
  equation
    for i in 1:2 loop
      connect(body, sides[i].body);
      connect(sides[i].foot, lines[i].a);
      connect(sides[i].tower, lines[i].b);
      connect(lines[i].flange_a, struts[i].a);
      connect(lines[i].flange_b, struts[i].b);
    end for;
    connect(body, bar.body);
    connect(sides[1].hub, left);
    connect(sides[2].hub, right);
    connect(sides[1].link, bar.left);
    connect(sides[2].link, bar.right);
  end Rear;

  model Hull "Mass of the body"
    Kilohertz.MultiBody.Frame front "Middle of the front axle line";
    inner Modelica.Mechanics.MultiBody.World world(g=9.81, n={0, 0, -1}, enableAnimation=false);
    Kilohertz.Adapters.MultiBody at_front;
    Modelica.Mechanics.MultiBody.Parts.Body body(m=1439.84, r_CM={-1.371, 0, 0.206}, I_11=572, I_22=2487, I_33=2768, animation=false);
  equation
    connect(front, at_front.ours);
    connect(at_front.theirs, body.frame_a);
  end Hull;

  model Car "Our chassis has the coordinates, theirs the mass"
    extends Kilohertz.Vehicles.Car(redeclare model Front = Theirs.Front, redeclare model Rear = Theirs.Rear, chassis(m=0, I=zeros(3, 3)));
    Hull hull;
  equation
    connect(chassis.front, hull.front);
  end Car;

  model LaneChange
    extends Kilohertz.Examples.Handling.LaneChange(redeclare Theirs.Car car(v_start=80/3.6));
    annotation(experiment(StopTime=8, Tolerance=1e-8));
  end LaneChange;
end Theirs;
