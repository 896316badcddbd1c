within Kilohertz.Vehicles;
package Suspension "Springs, dampers and stops of axles"
  model Strut "Spring, damper and stops side by side"
    extends Translational.Compliance;
    parameter Real ratio(min=1e-3) = 1 "Travel of spring and damper over that of the flanges";
    parameter Units.Length s_design = 0 "Distance of b from a in the design position";
    parameter Units.Force F_design = 0 "Force of the spring in the design position: pushes the flanges apart";
    parameter Units.TranslationalStiffness c = 29e3 "Stiffness of the spring";
    parameter Units.Velocity v_points[:] = {-1.5, -0.6, -0.3, -0.1, 0, 0.1, 0.3, 0.6, 1.5} "Rising speeds of the damper; positive: it is pressed together";
    parameter Units.Force F_points[size(v_points, 1)] = {-2400, -1250, -720, -260, 0, 130, 360, 600, 1150} "Its forces there";
    parameter Units.Length bump = 0.05 "Travel at which the stop pushes";
    parameter Units.Length rebound = 0.07 "Travel apart at which the stop holds back";
    parameter Real c_stop(unit="N/m2") = 4e6 "Force of a stop over the square of how far it is pressed in";
    Units.Length travel = s_design - s_rel "How far the flanges are nearer than in the design position";
    Units.Force F_spring "Force of the spring";
    Units.Force F_damper "Force of the damper";
    Units.Force F_stop "Force of the stops, at the flanges";
  protected
    Real curve[2] "Force and slope of the damper";
  equation
    assert(Math.rising(v_points), "the speeds of a damper must rise: v_points");
    F_spring = F_design + c*ratio*travel;
    curve = Math.smooth(v_points, F_points, -ratio*v_rel);
    F_damper = curve[1];
    F_stop = c_stop*noEvent(max(0, travel - bump)^2 - max(0, -rebound - travel)^2);
    f = -ratio*(F_spring + F_damper) - F_stop;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0},{-60,40},{-45,40},{-35,60},{-15,20},{5,60},{25,20},{45,60},{55,40},{60,40},{60,0},{90,0}}, color={0,127,0}), Line(points={{-60,0},{-60,-40},{-20,-40}}, color={0,127,0}), Line(points={{20,-20},{-20,-20},{-20,-60},{20,-60}}, color={0,127,0}), Line(points={{5,-40},{60,-40},{60,0}}, color={0,127,0}), Line(points={{5,-25},{5,-55}}, color={0,127,0}), Polygon(points={{50,-60},{70,-80},{30,-80},{50,-60}}, lineColor={60,60,60}, fillColor={60,60,60}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>Pushes its flanges apart with <code>ratio (F_design + c ratio travel + F_d(ratio der(travel)))</code>, where <code>F_d</code> is a smooth curve through the points of the damper,
        and with the stops <code>c_stop (travel - bump)^2</code> beyond the free travel. No events.</p></html>"));
  end Strut;

  model Line "A rod of Translational along the line between two points"
    extends MultiBody.TwoFrames;
    Translational.Flange flange_a "Its end at a" annotation(Placement(transformation(extent={{-50,90},{-30,110}})));
    Translational.Flange flange_b "Its end at b" annotation(Placement(transformation(extent={{30,90},{50,110}})));
    Units.Length r_0[3] "From a to b, in the world";
    Units.Length s "Distance";
    Units.Force f "Pulls the points together";
  equation
    r_0 = b.r_0 - a.r_0;
    s = Math.length(r_0);
    flange_a.s = 0;
    flange_b.s = s;
    f = -flange_b.f;
    a.f = MultiBody.Frames.toLocal(a.R, r_0)*flange_b.f/s;
    b.f = -MultiBody.Frames.toLocal(b.R, r_0)*flange_b.f/s;
    a.t = zeros(3);
    b.t = zeros(3);
    annotation(Icon(graphics={Line(points={{-90,0},{90,0}}, pattern=LinePattern.Dash), Line(points={{-40,90},{-40,0}}, color={0,127,0}), Line(points={{40,90},{40,0}}, color={0,127,0}), Ellipse(extent={{-46,6},{-34,-6}}, fillColor={95,95,95}, fillPattern=FillPattern.Solid), Ellipse(extent={{34,6},{46,-6}}, fillColor={95,95,95}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>What is connected between the flanges acts between the points, along their line: <code>flange_b.s - flange_a.s</code> is their distance. They must not meet.</p></html>"));
  end Line;

  model Bar "Anti-roll bar: a vertical force for the difference of two heights"
    MultiBody.Frame body "Carries the bar; heights are along its z axis" annotation(Placement(transformation(extent={{-16,84},{16,116}})));
    MultiBody.Frame left "Left link" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    MultiBody.Frame right "Right link" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    parameter Units.TranslationalStiffness c = 14e3 "Force over the difference of the heights";
    parameter Units.Time T = 0.01 "Damping over stiffness";
    Units.Length z_rel "Height of the left link above the right one";
    Units.Velocity v_rel = der(z_rel) "Its rate";
    Units.Force F "Pulls the left link down, the right one up";
  protected
    Units.Length r_left[3] "From body to left, in components of body";
    Units.Length r_right[3] "From body to right, in components of body";
  equation
    r_left = MultiBody.Frames.toLocal(body.R, left.r_0 - body.r_0);
    r_right = MultiBody.Frames.toLocal(body.R, right.r_0 - body.r_0);
    z_rel = r_left[3] - r_right[3];
    F = c*(z_rel + T*v_rel);
    left.f = MultiBody.Frames.toLocal(left.R, MultiBody.Frames.toWorld(body.R, {0, 0, F}));
    right.f = -MultiBody.Frames.toLocal(right.R, MultiBody.Frames.toWorld(body.R, {0, 0, F}));
    left.t = zeros(3);
    right.t = zeros(3);
    body.f = zeros(3);
    body.t = -cross(r_left - r_right, {0, 0, F});
    annotation(Icon(graphics={Line(points={{-90,0},{-70,60},{70,60},{90,0}}, thickness=1), Line(points={{0,60},{0,90}}), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>F = c (z_rel + T der(z_rel))</code>, opposite on both sides; its moment is on the body.</p></html>"));
  end Bar;
end Suspension;
