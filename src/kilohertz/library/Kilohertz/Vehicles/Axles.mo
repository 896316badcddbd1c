within Kilohertz.Vehicles;
package Axles "What joins wheels to the body, by levels of detail"
  partial model Axle "Both sides of an axle"
    MultiBody.Frame body "On the body, at the middle of the axle line in the design position" annotation(Placement(transformation(extent={{-16,84},{16,116}})));
    MultiBody.Frame left "Left carrier, at the wheel centre" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    MultiBody.Frame right "Right carrier, at the wheel centre" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    parameter Units.Length r_start[3] = {0, 0, 0} "Place of body at the start: for parts with coordinates of their own";
    parameter Units.Velocity v_start = 0 "Speed at the start, along x";
    annotation(Icon(graphics={Line(points={{-90,0},{90,0}}, thickness=1), Line(points={{-60,0},{0,80}}), Line(points={{60,0},{0,80}}), Rectangle(extent={{-30,30},{30,-30}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}));
  end Axle;

  partial model SteeredAxle "An axle with a rack"
    extends Axle;
    Translational.Flange rack "Shift of the rack, to the left" annotation(Placement(transformation(extent={{-10,-110},{10,-90}})));
  end SteeredAxle;

  model Guide "A carrier with one coordinate: place and turn are polynomials of the travel"
    extends MultiBody.TwoFrames;
    Translational.Flange travel "Moves with the travel" annotation(Placement(transformation(extent={{-10,90},{10,110}})));
    parameter Integer side(min=-1, max=1) = 1 "1: left, -1: right" annotation(Evaluate=true);
    parameter Units.Length r[3] = {0, side*0.75, 0} "From a to b in the design position, in components of a";
    parameter Real toe[3] = {0, 0, 0} "Steer angle of a left wheel, times travel, its square and its cube";
    parameter Real camber[3] = {0, 0, 0} "Camber, positive where the top leans inward, times travel, its square and its cube";
    parameter Real outward[2] = {0, 0} "Way outward, times travel and its square";
    parameter Real steer[2] = {0, 0} "Steer angle of a left wheel, times the shift of the rack and its square";
    input Units.Length u "Shift of the rack, to the left";
    Units.Length z(start=0, fixed=true, stateSelect=StateSelect.always) "Travel: up against the body";
    Units.Velocity v(start=0, fixed=true, stateSelect=StateSelect.always) = der(z) "Its rate";
    Units.Angle delta "Steer angle: positive to the left";
    Units.Angle gamma "Camber: positive where the top leans to the right";
    Units.Force f_rack "Force of the rack onto the carrier";
  protected
    Units.Length r_rel[3] "From a to b, in components of a";
    MultiBody.Orientation R_rel "From a to b";
    Units.Torque t_a[3] "Torque onto it at b, in components of a";
    Real dr[3] "Rate of the place over that of the travel";
  equation
    Connections.branch(a.R, b.R);
    delta = side*z*(toe[1] + z*(toe[2] + z*toe[3])) + u*(steer[1] + side*steer[2]*u);
    gamma = side*z*(camber[1] + z*(camber[2] + z*camber[3]));
    r_rel = r + {0, side*z*(outward[1] + z*outward[2]), z};
    dr = {0, side*(outward[1] + 2*z*outward[2]), 1};
    R_rel = MultiBody.Frames.turned(MultiBody.Frames.about({0, 0, 1}, delta, der(delta)), MultiBody.Frames.about({1, 0, 0}, gamma, der(gamma)));
    b.r_0 = a.r_0 + MultiBody.Frames.toWorld(a.R, r_rel);
    b.R = MultiBody.Frames.turned(a.R, R_rel);
    a.f = -MultiBody.Frames.toWorld(R_rel, b.f);
    t_a = MultiBody.Frames.toWorld(R_rel, b.t);
    a.t = cross(r_rel, a.f) - t_a;
    travel.s = z;
    travel.f = dr*a.f - side*(t_a[3]*(toe[1] + z*(2*toe[2] + 3*z*toe[3])) + b.t[1]*(camber[1] + z*(2*camber[2] + 3*z*camber[3])));
    f_rack = -t_a[3]*(steer[1] + 2*side*steer[2]*u);
    annotation(Icon(graphics={Line(points={{-90,0},{90,0}}), Line(points={{40,-60},{50,-20},{50,20},{40,60}}, smooth=Smooth.Bezier, color={0,0,127}), Polygon(points={{40,60},{35,45},{48,48},{40,60}}, fillColor={0,0,127}, fillPattern=FillPattern.Solid), Polygon(points={{40,-60},{35,-45},{48,-48},{40,-60}}, fillColor={0,0,127}, fillPattern=FillPattern.Solid), Rectangle(extent={{40,20},{60,-20}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Line(points={{0,90},{0,0}}, color={0,127,0})}),
      Documentation(info="<html><p>A joint with one coordinate <code>z</code> and a given shift <code>u</code> of the rack: <code>r_rel = r + (0, outward(z), z)</code>, turned by <code>delta(z, u)</code> about z and by
        <code>gamma(z)</code> about the turned x axis. It takes up no power, so the force along the travel is that of all loads of the carrier along their directions:
        <code>travel.f + f (0, outward', 1) + t_z toe' + t_x camber' = 0</code>, and that of the rack <code>f_rack + t_z delta_u = 0</code>.</p></html>"));
  end Guide;

  partial model ByTables "Level 1: a guide for each wheel, spring and damper at its travel, a bar between both"
    extends Axle;
    parameter Units.Mass m = 27.62 "Mass of a carrier and of what moves with it, at the wheel centre";
    parameter Real I[3,3](each unit="kg.m2") = diagonal({0.75, 0.75, 0.25}) "Its inertia";
    parameter Units.Length track = 1.5 "From wheel to wheel";
    parameter Real toe[3] = {0.009471, 0.16017, 1.5396} "Steer angle of the left wheel, times travel, its square and its cube";
    parameter Real camber[3] = {0.30631, -1.8074, -2.7921} "Camber, positive where the top leans inward, times travel, its square and its cube";
    parameter Real outward[2] = {0.0234, -1.231} "Way outward, times travel and its square";
    parameter Real steer[2] = {-7.7501, 5.959} "Steer angle of the left wheel, times the shift of the rack and its square";
    parameter Real ratio = 0.9477 "Travel of the spring over that of the wheel";
    parameter Units.Force F_design = 3756 "Force of the spring in the design position";
    parameter Units.TranslationalStiffness c = 29e3 "Stiffness of a spring";
    parameter Units.TranslationalStiffness c_bar = 12742 "Stiffness of the anti-roll bar: force at a wheel over the difference of both travels";
    parameter Units.Time T_bar = 0.01 "Damping of the bar over its stiffness";
    Guide guide_left(side=1, r={0, track/2, 0}, toe=toe, camber=camber, outward=outward, steer=steer, u=u) "Left" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    Guide guide_right(side=-1, r={0, -track/2, 0}, toe=toe, camber=camber, outward=outward, steer=steer, u=u) "Right" annotation(Placement(transformation(extent={{30,10},{50,30}})));
    Suspension.Strut strut_left(ratio=ratio, F_design=F_design, c=c) "Left" annotation(Placement(transformation(extent={{-50,50},{-30,70}})));
    Suspension.Strut strut_right(ratio=ratio, F_design=F_design, c=c) "Right" annotation(Placement(transformation(extent={{30,50},{50,70}})));
    Translational.SpringDamper bar(c=c_bar, d=T_bar*c_bar) "Anti-roll bar" annotation(Placement(transformation(extent={{-10,-50},{10,-30}})));
    Translational.Fixed tower "Holds the struts: the travel is one against the body" annotation(Placement(transformation(extent={{-10,50},{10,70}})));
    MultiBody.Body carrier_left(m=m, I=I) "Left" annotation(Placement(transformation(extent={{-50,-50},{-30,-30}})));
    MultiBody.Body carrier_right(m=m, I=I) "Right" annotation(Placement(transformation(extent={{30,-50},{50,-30}})));
  protected
    Units.Length u "Shift of the rack";
  equation
    connect(body, guide_left.a) annotation(Line(points={{0,100},{0,96},{-54,96},{-54,20},{-50,20}}, color={95,95,95}));
    connect(body, guide_right.a) annotation(Line(points={{0,100},{0,20},{30,20}}, color={95,95,95}));
    connect(guide_left.b, left) annotation(Line(points={{-30,20},{-26,20},{-26,0},{-100,0}}, color={95,95,95}));
    connect(guide_right.b, right) annotation(Line(points={{50,20},{75,20},{75,0},{100,0}}, color={95,95,95}));
    connect(guide_left.b, carrier_left.a) annotation(Line(points={{-30,20},{-26,20},{-26,-10},{-54,-10},{-54,-40},{-50,-40}}, color={95,95,95}));
    connect(guide_right.b, carrier_right.a) annotation(Line(points={{50,20},{54,20},{54,-10},{26,-10},{26,-40},{30,-40}}, color={95,95,95}));
    connect(guide_left.travel, strut_left.a) annotation(Line(points={{-40,30},{-40,34},{-54,34},{-54,60},{-50,60}}, color={0,127,0}));
    connect(guide_right.travel, strut_right.a) annotation(Line(points={{40,30},{40,34},{26,34},{26,60},{30,60}}, color={0,127,0}));
    connect(strut_left.b, tower.a) annotation(Line(points={{-30,60},{0,60}}, color={0,127,0}));
    connect(strut_right.b, tower.a) annotation(Line(points={{50,60},{54,60},{54,76},{-4,76},{-4,60},{0,60}}, color={0,127,0}));
    connect(guide_left.travel, bar.a) annotation(Line(points={{-40,30},{-40,34},{-14,34},{-14,-40},{-10,-40}}, color={0,127,0}));
    connect(guide_right.travel, bar.b) annotation(Line(points={{40,30},{40,34},{14,34},{14,-40},{10,-40}}, color={0,127,0}));
  end ByTables;

  model SteeredTables "Level 1, steered: place and turn of the wheels by polynomials of travel and rack"
    extends SteeredAxle;
    extends ByTables;
  equation
    rack.s = u;
    rack.f = guide_left.f_rack + guide_right.f_rack;
    annotation(Documentation(info="<html><p>Two guides, whose polynomials come from a linkage; mass of carrier and of its share of arms and rods at the wheel centre; springs, dampers and stops at the travel, an anti-roll
      bar between both. The numbers are those of a MacPherson axle.</p></html>"));
  end SteeredTables;

  model Tables "Level 1, not steered: place and turn of the wheels by polynomials of travel"
    extends ByTables(m=30.05, I=diagonal({0.55, 1.3, 1.3}), toe={-0.059620, -0.45951, -0.0093}, camber={0.41950, -0.0634, 0.0118}, outward={0.0256, -0.211}, steer={0, 0}, ratio=1.0971, F_design=3203, c=23e3, c_bar=9338);
  equation
    u = 0;
    annotation(Documentation(info="<html><p>Like <code>SteeredTables</code>, without a rack. The numbers are those of a semi-trailing arm.</p></html>"));
  end Tables;

  model StrutGuide "A carrier on a ball joint, a strut and a tie rod: solved in closed form"
    MultiBody.Frame body "Carries the top of the strut and the rack" annotation(Placement(transformation(extent={{-16,84},{16,116}})));
    MultiBody.Frame arm "Tip of the arm: the ball joint" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    MultiBody.Frame carrier "The carrier, at the ball joint; stands like body in the design position" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    Translational.Flange slide "Moves with the top of the strut against the carrier" annotation(Placement(transformation(extent={{-50,90},{-30,110}})));
    parameter Units.Length B[3] = {0, 0.7, -0.115} "Ball joint, in the design position; all points from body, in its components";
    parameter Units.Length S[3] = {-0.05, 0.56, 0.5} "Top of the strut, on body";
    parameter Units.Length P[3] = {-0.005, 0.63, 0} "A second point of the axis of the strut, in the design position";
    parameter Units.Length R[3] = {-0.14, 0.33, -0.055} "Inner end of the tie rod, in the design position";
    parameter Units.Length T[3] = {-0.135, 0.665, -0.07} "Outer end of the tie rod, in the design position";
    input Units.Length b[3] "Where the ball joint is, from body";
    input Units.Length u "Shift of the inner end of the tie rod along y";
    Units.Length s "Where the top of the strut is on its axis";
    Units.Force f_rod "Force of the tie rod: pushes both ends apart";
    Units.Force f_rack "Force of the rack onto the tie rod, along y";
    final parameter Units.Length s_design = (S - B)*g "s in the design position";
  protected
    final parameter Real g[3] = Math.unit(S - P) "Axis of the strut, in components of carrier";
    final parameter Units.Length p[3] = (P - B) - g*((P - B)*g) "From the ball joint to the foot of the perpendicular on that axis";
    final parameter Units.Length t[3] = T - B "From the ball joint to the outer end of the tie rod";
    final parameter Units.Length L = Math.length(T - R) "Length of the tie rod";
    final parameter Real side = if cross(S - B, R - B)*t >= 0 then 1 else -1 "On which side of the rod's inner end the outer one is";
    Units.Velocity v_b[3] = der(b) "Its rate";
    Units.Velocity v_u = der(u) "Rate of u";
    Units.Length d[3] = S - b "From the ball joint to the top of the strut";
    Units.Length length = sqrt(d*d) "Its length";
    Real e[3] = d/length "Its direction: the line the carrier turns about";
    Real e_c[3] = (p + s*g)/length "The same in components of carrier";
    Units.Length along = e_c*t "Of t, along this line";
    Units.Length across = sqrt(t*t - along^2) "Of t, across this line";
    Real m_c[3] = (t - along*e_c)/across "Direction of t across the line, in components of carrier";
    Units.Length r[3] = R + {0, u, 0} - b "From the ball joint to the inner end of the tie rod";
    Units.Length r_along = e*r "Of r, along the line";
    Units.Length r_across = sqrt(r*r - r_along^2) "Of r, across the line";
    Real a[3] = (r - r_along*e)/r_across "Direction of r across the line";
    Real cosine "Of the angle between both directions: the triangle closes";
    Real m[3] "Direction of t across the line";
    Units.Length t_b[3] "From the ball joint to the outer end of the tie rod";
    Units.Length rod[3] = t_b - r "From the inner to the outer end";
    Real g_b[3] "Axis of the strut";
    Units.Velocity s_d "Rate of s";
    Units.AngularVelocity w_across[3] "Angular velocity across the line";
    Units.AngularVelocity w_b[3] "Angular velocity against body";
    MultiBody.Orientation R_rel "From body to carrier";
    Real Q[3,3] "Turns components of carrier into those of body";
    Units.Torque t_load[3] "Torque of the load on the carrier about the ball joint";
    Units.Force f_load[3] "Force of the load on the carrier";
    Units.Torque t_across[3] "What the strut must bear";
    Units.Force f_top[3] "Force of the strut onto body";
    Units.Force f_side[3] "Its part that bears t_across";
    Units.Force f_end[3] "Force of the tie rod onto the rack";
    Units.Force f_ball[3] "Force of the carrier onto the arm";
  equation
    Connections.branch(body.R, carrier.R);
    s = sqrt(d*d - p*p);
    cosine = ((along - r_along)^2 + across^2 + r_across^2 - L^2)/(2*across*r_across);
    assert(cosine^2 < 1, "the tie rod cannot close: it is too long, or too short, for where its ends are", AssertionLevel.error);
    m = cosine*a + side*sqrt(noEvent(max(1 - cosine^2, 1e-30)))*cross(e, a);
    Q = [e, m, cross(e, m)]*transpose([e_c, m_c, cross(e_c, m_c)]);
    t_b = along*e + across*m;
    g_b = Q*g;
    s_d = -(d*v_b)/s;
    w_across = cross(d, -v_b - s_d*g_b)/(d*d);
    w_b = w_across - e*(rod*(v_b + cross(w_across, t_b) - {0, v_u, 0}))/(rod*cross(e, t_b));
    R_rel.T = transpose(Q);
    R_rel.w = R_rel.T*w_b;
    carrier.R = MultiBody.Frames.turned(body.R, R_rel);
    carrier.r_0 = arm.r_0;
    slide.s = s;
    f_load = MultiBody.Frames.toWorld(R_rel, carrier.f);
    t_load = MultiBody.Frames.toWorld(R_rel, carrier.t);
    f_end = -rod*(e*t_load)/(e*cross(rod, t_b));
    f_rod = -(f_end*rod)/L;
    t_across = t_load - cross(t_b, f_end);
    f_side = cross(t_across, d)/(d*d);
    f_top = f_side + e*(slide.f - f_side*g_b)/(e*g_b);
    f_ball = f_load - f_top - f_end;
    f_rack = -f_end[2];
    arm.f = -MultiBody.Frames.toLocal(arm.R, MultiBody.Frames.toWorld(body.R, f_ball));
    arm.t = zeros(3);
    body.f = -f_top - f_end;
    body.t = -cross(S, f_top) - cross(b + r, f_end);
    annotation(Icon(graphics={Line(points={{-90,0},{60,0}}), Line(points={{40,-60},{-20,80}}, thickness=1), Ellipse(extent={{-10,10},{10,-10}}, fillColor={160,160,160}, fillPattern=FillPattern.Solid), Ellipse(extent={{-28,88},{-12,72}}, fillColor={160,160,160}, fillPattern=FillPattern.Solid), Rectangle(extent={{50,50},{80,-50}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Line(points={{-80,-50},{60,-40}}), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>Ball joint and top of the strut give the line <code>e</code> that the carrier can turn about, and its slider place <code>s = sqrt(d d - p p)</code>. The angle about it follows from the triangle of the tie rod across the
        line: <code>cosine = ((along - r_along)^2 + across^2 + r_across^2 - L^2)/(2 across r_across)</code>; on which side is known from the design position. Nothing is iterated.</p>
        <p>Angular velocity: the part across the line follows from the ends of the line and the slide, that about it from the tie rod. Forces the other way round: moments about the line give the tie rod, those across it the side forces
        of the strut, spring and damper at <code>slide</code> the force along it, the balance of forces the ball joint.</p></html>"));
  end StrutGuide;

  partial model Side "One side of a MacPherson axle: strut, tie rod, carrier; the arm is somebody else's"
    MultiBody.Frame body "Middle of the axle line" annotation(Placement(transformation(extent={{-16,84},{16,116}})));
    MultiBody.Frame hub "Carrier at the wheel centre" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    MultiBody.Frame link "Carrier at the link of the anti-roll bar" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    parameter Integer side(min=-1, max=1) = 1 "1: left, -1: right" annotation(Evaluate=true);
    parameter Units.Length W[3] = {0, 0.75, 0} "Wheel centre; all points are those of the left side";
    parameter Units.Length A1[3] = {0.1, 0.36, -0.095} "Front bearing of the arm";
    parameter Units.Length A2[3] = {-0.2, 0.36, -0.095} "Rear bearing of the arm";
    parameter Units.Length B[3] = {0, 0.7, -0.115} "Ball joint";
    parameter Units.Length S[3] = {-0.05, 0.56, 0.5} "Top of the strut";
    parameter Units.Length P[3] = {-0.005, 0.63, 0} "A second point of the axis of the strut";
    parameter Units.Length R[3] = {-0.14, 0.33, -0.055} "Inner end of the tie rod";
    parameter Units.Length T[3] = {-0.135, 0.665, -0.07} "Outer end of the tie rod";
    parameter Units.Length L[3] = {-0.02, 0.6, -0.09} "Link of the anti-roll bar, on the carrier";
    parameter Units.Mass m = 26 "Mass of carrier, strut and brake";
    parameter Units.Length r_CM[3] = {-0.01, 0.68, 0.02} "Their centre of mass";
    parameter Real I[3,3](each unit="kg.m2") = diagonal({0.75, 0.75, 0.25}) "Their inertia";
    parameter Units.Mass m_arm = 2.7 "Mass of the arm, at the mean of its three points";
    parameter Real I_arm[3,3](each unit="kg.m2") = diagonal({0.015, 0.021, 0.036}) "Its inertia";
    parameter Units.Force F_design = 3756 "Force of the spring in the design position";
    parameter Units.TranslationalStiffness c = 29e3 "Stiffness of the spring";
    parameter Real ratio = 0.9477 "Travel of the strut over that of the wheel, about: for the stops";
    input Units.Length u "Shift of the rack";
    StrutGuide guide(B=q.*B, S=q.*S, P=q.*P, R=q.*R, T=q.*T, b=b, u=u) "Carrier, strut, tie rod" annotation(Placement(transformation(extent={{-10,10},{10,30}})));
    Suspension.Strut strut(s_design=guide.s_design, F_design=F_design, c=c, bump=0.05*ratio, rebound=0.07*ratio, c_stop=4e6/ratio^3) "Spring and damper" annotation(Placement(transformation(extent={{-50,50},{-30,70}})));
    Translational.Fixed foot "Of the strut, on the carrier" annotation(Placement(transformation(extent={{-90,50},{-70,70}})));
    MultiBody.Body knuckle(m=m, r_CM=q.*(r_CM - B), I=I) "Carrier" annotation(Placement(transformation(extent={{30,50},{50,70}})));
    MultiBody.Translation to_hub(r=q.*(W - B)) "To the wheel centre" annotation(Placement(transformation(extent={{30,10},{50,30}})));
    MultiBody.Translation to_link(r=q.*(L - B)) "To the link of the bar" annotation(Placement(transformation(extent={{30,-30},{50,-10}})));
  protected
    final parameter Real q[3](each unit="1") = {1, side, 1} "Mirrors points";
    Units.Length b[3] "Where the ball joint is, from body";
  equation
    connect(body, guide.body) annotation(Line(points={{0,100},{0,30}}, color={95,95,95}));
    connect(guide.carrier, knuckle.a) annotation(Line(points={{10,20},{20,20},{20,60},{30,60}}, color={95,95,95}));
    connect(guide.carrier, to_hub.a) annotation(Line(points={{10,20},{30,20}}, color={95,95,95}));
    connect(guide.carrier, to_link.a) annotation(Line(points={{10,20},{20,20},{20,-20},{30,-20}}, color={95,95,95}));
    connect(to_hub.b, hub) annotation(Line(points={{50,20},{75,20},{75,0},{100,0}}, color={95,95,95}));
    connect(to_link.b, link) annotation(Line(points={{50,-20},{54,-20},{54,0},{-100,0}}, color={95,95,95}));
    connect(foot.a, strut.a) annotation(Line(points={{-80,60},{-50,60}}, color={0,127,0}));
    connect(strut.b, guide.slide) annotation(Line(points={{-30,60},{-4,60},{-4,30}}, color={0,127,0}));
    annotation(Icon(graphics={Line(points={{40,-60},{-20,80}}, thickness=1), Line(points={{-90,0},{60,-40}}), Rectangle(extent={{50,50},{80,-50}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}));
  end Side;

  model HingedSide "Its arm turns about the line through both bearings"
    extends Side;
    MultiBody.Translation bearing(r=q.*A2) "Rear bearing" annotation(Placement(transformation(extent={{-90,10},{-70,30}})));
    MultiBody.Joints.Revolute hinge(n=A1 - A2, phi(start=0, fixed=true, stateSelect=StateSelect.always), w(start=0, fixed=true, stateSelect=StateSelect.always)) "Axis of the arm" annotation(Placement(transformation(extent={{-90,-30},{-70,-10}})));
    MultiBody.Body arm(m=m_arm, r_CM=q.*((A1 + A2 + B)/3 - A2), I=I_arm) "Arm" annotation(Placement(transformation(extent={{-50,-30},{-30,-10}})));
    MultiBody.Translation tip(r=q.*(B - A2)) "To the ball joint" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
  protected
    final parameter Real e[3] = Math.unit(A1 - A2) "Axis of the arm";
    final parameter Units.Length h[3] = q.*(B - A2) "From the bearing to the ball joint where the angle is zero";
  equation
    b = q.*A2 + e*(e*h) + (h - e*(e*h))*cos(hinge.phi) + cross(e, h)*sin(hinge.phi);
    connect(body, bearing.a) annotation(Line(points={{0,100},{0,96},{-94,96},{-94,20},{-90,20}}, color={95,95,95}));
    connect(bearing.b, hinge.a) annotation(Line(points={{-70,20},{-66,20},{-66,0},{-94,0},{-94,-20},{-90,-20}}, color={95,95,95}));
    connect(hinge.b, arm.a) annotation(Line(points={{-70,-20},{-50,-20}}, color={95,95,95}));
    connect(hinge.b, tip.a) annotation(Line(points={{-70,-20},{-60,-20},{-60,20},{-50,20}}, color={95,95,95}));
    connect(tip.b, guide.arm) annotation(Line(points={{-30,20},{-10,20}}, color={95,95,95}));
    annotation(Documentation(info="<html><p>One coordinate, the angle of the arm. The line through its bearings lies along x here; both sides may have the same direction of it.</p></html>"));
  end HingedSide;

  model MacPherson "Level 2, steered: arms on hinges, struts, tie rods, ideal"
    extends SteeredAxle;
    parameter Units.TranslationalStiffness c_bar = 14e3 "Stiffness of the anti-roll bar at its links";
    HingedSide side_left(side=1, u=rack.s) "Left" annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    HingedSide side_right(side=-1, u=rack.s) "Right" annotation(Placement(transformation(extent={{30,-10},{50,10}})));
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
    annotation(Documentation(info="<html><p>Two sides with one coordinate each, an anti-roll bar between their carriers. The loops of strut and tie rod are solved in closed form.</p></html>"));
  end MacPherson;

  model TrailingSide "A carrier on an oblique arm"
    MultiBody.Frame body "Middle of the axle line" annotation(Placement(transformation(extent={{-16,84},{16,116}})));
    MultiBody.Frame hub "Carrier at the wheel centre" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    MultiBody.Frame link "Carrier at the link of the anti-roll bar" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    parameter Integer side(min=-1, max=1) = 1 "1: left, -1: right" annotation(Evaluate=true);
    parameter Units.Length W[3] = {0, 0.75, 0} "Wheel centre; all points are those of the left side";
    parameter Units.Length D[3] = {0.43, 0.6, 0} "A point of the axis of the arm";
    parameter Real n[3] = {0.189, 0.9816, -0.0269} "Direction of the axis";
    parameter Units.Length S[3] = {-0.09, 0.56, 0.4} "Top of the strut";
    parameter Units.Length P[3] = {-0.075, 0.63, -0.08} "Foot of the strut";
    parameter Units.Length L[3] = {-0.1, 0.6, -0.1} "Link of the anti-roll bar";
    parameter Units.Mass m = 30.05 "Mass of carrier, arm and brake";
    parameter Units.Length r_CM[3] = {0.05, 0.68, 0} "Their centre of mass";
    parameter Real I[3,3](each unit="kg.m2") = diagonal({0.55, 1.3, 1.3}) "Their inertia";
    parameter Units.Force F_design = 3203 "Force of the spring in the design position";
    parameter Units.TranslationalStiffness c = 23e3 "Stiffness of the spring";
    parameter Real ratio = 1.0971 "Travel of the strut over that of the wheel, about: for the stops";
    MultiBody.Translation bearing(r=q.*D) "Bearing of the arm" annotation(Placement(transformation(extent={{-90,10},{-70,30}})));
    MultiBody.Joints.Revolute hinge(n={n[1], side*n[2], n[3]}, phi(start=0, fixed=true, stateSelect=StateSelect.always), w(start=0, fixed=true, stateSelect=StateSelect.always)) "Axis of the arm" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    MultiBody.Body arm(m=m, r_CM=q.*(r_CM - D), I=I) "Carrier and arm" annotation(Placement(transformation(extent={{-10,10},{10,30}})));
    MultiBody.Translation to_hub(r=q.*(W - D)) "To the wheel centre" annotation(Placement(transformation(extent={{30,10},{50,30}})));
    MultiBody.Translation to_foot(r=q.*(P - D)) "To the foot of the strut" annotation(Placement(transformation(extent={{30,-30},{50,-10}})));
    MultiBody.Translation to_link(r=q.*(L - D)) "To the link of the bar" annotation(Placement(transformation(extent={{-50,-30},{-30,-10}})));
    MultiBody.Translation tower(r=q.*S) "To the top of the strut" annotation(Placement(transformation(extent={{-10,-30},{10,-10}})));
    Suspension.Line line "Of the strut" annotation(Placement(transformation(extent={{-10,-70},{10,-50}})));
    Suspension.Strut strut(s_design=Math.length(S - P), F_design=F_design, c=c, bump=0.05*ratio, rebound=0.07*ratio, c_stop=4e6/ratio^3) "Spring and damper" annotation(Placement(transformation(extent={{30,-70},{50,-50}})));
  protected
    final parameter Real q[3](each unit="1") = {1, side, 1} "Mirrors points";
  equation
    connect(body, bearing.a) annotation(Line(points={{0,100},{0,96},{-94,96},{-94,20},{-90,20}}, color={95,95,95}));
    connect(bearing.b, hinge.a) annotation(Line(points={{-70,20},{-50,20}}, color={95,95,95}));
    connect(hinge.b, arm.a) annotation(Line(points={{-30,20},{-10,20}}, color={95,95,95}));
    connect(hinge.b, to_hub.a) annotation(Line(points={{-30,20},{30,20}}, color={95,95,95}));
    connect(hinge.b, to_foot.a) annotation(Line(points={{-30,20},{0,20},{0,-20},{30,-20}}, color={95,95,95}));
    connect(hinge.b, to_link.a) annotation(Line(points={{-30,20},{-26,20},{-26,0},{-54,0},{-54,-20},{-50,-20}}, color={95,95,95}));
    connect(to_hub.b, hub) annotation(Line(points={{50,20},{75,20},{75,0},{100,0}}, color={95,95,95}));
    connect(to_link.b, link) annotation(Line(points={{-30,-20},{-26,-20},{-26,0},{-100,0}}, color={95,95,95}));
    connect(body, tower.a) annotation(Line(points={{0,100},{0,96},{-14,96},{-14,-20},{-10,-20}}, color={95,95,95}));
    connect(to_foot.b, line.a) annotation(Line(points={{50,-20},{54,-20},{54,-40},{-14,-40},{-14,-60},{-10,-60}}, color={95,95,95}));
    connect(tower.b, line.b) annotation(Line(points={{10,-20},{14,-20},{14,-60},{10,-60}}, color={95,95,95}));
    connect(line.flange_a, strut.a) annotation(Line(points={{-4,-50},{-4,-46},{26,-46},{26,-60},{30,-60}}, color={0,127,0}));
    connect(line.flange_b, strut.b) annotation(Line(points={{4,-50},{4,-46},{54,-46},{54,-60},{50,-60}}, color={0,127,0}));
    annotation(Icon(graphics={Line(points={{-60,60},{60,0}}, thickness=1), Line(points={{60,0},{20,80}}), Rectangle(extent={{50,40},{80,-40}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>One revolute joint whose axis is chosen so that toe and camber follow the travel as those of a multilink axle do; the strut acts along the line between its ends.</p></html>"));
  end TrailingSide;

  model TrailingArms "Level 2, not steered: a carrier on an oblique arm on each side, ideal"
    extends Axle;
    parameter Units.TranslationalStiffness c_bar = 7e3 "Stiffness of the anti-roll bar at its links";
    TrailingSide side_left(side=1) "Left" annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    TrailingSide side_right(side=-1) "Right" annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Suspension.Bar bar(c=c_bar) "Anti-roll bar" annotation(Placement(transformation(extent={{-10,30},{10,50}})));
  equation
    connect(body, side_left.body) annotation(Line(points={{0,100},{0,55},{-40,55},{-40,10}}, color={95,95,95}));
    connect(body, side_right.body) annotation(Line(points={{0,100},{0,55},{40,55},{40,10}}, color={95,95,95}));
    connect(body, bar.body) annotation(Line(points={{0,100},{0,50}}, color={95,95,95}));
    connect(side_left.hub, left) annotation(Line(points={{-30,0},{-100,0}}, color={95,95,95}));
    connect(side_right.hub, right) annotation(Line(points={{50,0},{100,0}}, color={95,95,95}));
    connect(side_left.link, bar.left) annotation(Line(points={{-50,0},{-54,0},{-54,40},{-10,40}}, color={95,95,95}));
    connect(side_right.link, bar.right) annotation(Line(points={{30,0},{20,0},{20,40},{10,40}}, color={95,95,95}));
    annotation(Documentation(info="<html><p>Two arms with one coordinate each, struts, an anti-roll bar between the carriers.</p></html>"));
  end TrailingArms;
end Axles;
