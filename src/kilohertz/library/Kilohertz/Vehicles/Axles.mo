within Kilohertz.Vehicles;
package Axles "What joins wheels to the body, by levels of detail"
  partial model Axle "Both sides of an axle"
    MultiBody.Frame body "On the body, at the middle of the axle line in the design position" annotation(Placement(transformation(extent={{-16,84},{16,116}})));
    MultiBody.Frame left "Left carrier, at the wheel centre" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    MultiBody.Frame right "Right carrier, at the wheel centre" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    annotation(Icon(graphics={Line(points={{-90,0},{90,0}}, thickness=1), Line(points={{-60,0},{0,80}}), Line(points={{60,0},{0,80}}), Rectangle(extent={{-30,30},{30,-30}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Text(extent={{-150,-60},{150,-100}}, textString="%name", textColor={0,0,255})}));
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
    parameter Units.TranslationalStiffness c_bar = 8960 "Stiffness of the anti-roll bar: force at a wheel over the difference of both travels";
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
    extends ByTables(m=30.05, I=diagonal({0.55, 1.3, 1.3}), toe={-0.059620, -0.45951, -0.0093}, camber={0.41950, -0.0634, 0.0118}, outward={0.0256, -0.211}, steer={0, 0}, ratio=1.0971, F_design=3203, c=23e3, c_bar=4480);
  equation
    u = 0;
    annotation(Documentation(info="<html><p>Like <code>SteeredTables</code>, without a rack. The numbers are those of a semi-trailing arm.</p></html>"));
  end Tables;
end Axles;
