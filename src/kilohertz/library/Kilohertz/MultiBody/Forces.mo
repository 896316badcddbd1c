within Kilohertz.MultiBody;
package Forces "Forces between frames, and from outside"
  model WorldForce "A given force, in components of the world"
    Frame b "Where it acts" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    Blocks.RealInput force[3](each unit="N") "Force" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
  equation
    b.f = -Frames.toLocal(b.R, force);
    b.t = zeros(3);
    annotation(Icon(graphics={Polygon(points={{-100,10},{30,10},{30,35},{90,0},{30,-35},{30,-10},{-100,-10},{-100,10}}, lineColor={0,127,0}, fillColor={200,230,200}, fillPattern=FillPattern.Solid), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>Acts at the frame, whatever way it stands.</p></html>"));
  end WorldForce;

  model WorldTorque "A given torque, in components of the world"
    Frame b "Where it acts" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    Blocks.RealInput torque[3](each unit="N.m") "Torque" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
  equation
    b.f = zeros(3);
    b.t = -Frames.toLocal(b.R, torque);
    annotation(Icon(graphics={Line(points={{-90,0},{-60,60},{0,75},{60,50},{80,10}}, smooth=Smooth.Bezier, color={0,127,0}), Polygon(points={{80,10},{60,30},{92,38},{80,10}}, lineColor={0,127,0}, fillColor={0,127,0}, fillPattern=FillPattern.Solid), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>Acts at the frame, whatever way it stands.</p></html>"));
  end WorldTorque;

  model SpringDamper "Linear spring and damper along the line between two points"
    extends TwoFrames;
    parameter Units.TranslationalStiffness c = 1 "Stiffness";
    parameter Units.TranslationalDamping d = 0 "Damping";
    parameter Units.Length s_0 = 0 "Length at rest";
    parameter Units.Length s_small(min=1e-12) = 1e-6 "The direction of a shorter line is not its own: the points must not meet";
    Units.Length r_0[3] "From a to b, in the world";
    Units.Length s "Length";
    Units.Velocity v = der(s) "Its rate";
    Units.Force f "Pulls the ends together";
  equation
    r_0 = b.r_0 - a.r_0;
    s = Math.length(r_0);
    f = c*(s - s_0) + d*v;
    a.f = -Frames.toLocal(a.R, r_0)*f/noEvent(max(s, s_small));
    b.f = Frames.toLocal(b.R, r_0)*f/noEvent(max(s, s_small));
    a.t = zeros(3);
    b.t = zeros(3);
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0},{-60,40},{-45,40},{-35,60},{-15,20},{5,60},{25,20},{45,60},{55,40},{60,40},{60,0},{90,0}}), Line(points={{-60,0},{-60,-40},{-20,-40}}), Line(points={{20,-20},{-20,-20},{-20,-60},{20,-60}}), Line(points={{5,-40},{60,-40},{60,0}}), Line(points={{5,-25},{5,-55}})}),
      Documentation(info="<html><p><code>f = c (s - s_0) + d der(s)</code> along the line from a to b; no torque.</p></html>"));
  end SpringDamper;

  model Bushing "Linear springs and dampers in six directions"
    extends TwoFrames;
    parameter Units.TranslationalStiffness c[3] = {1e6, 1e6, 1e6} "Stiffness along the axes of a";
    parameter Units.TranslationalDamping d[3] = {500, 500, 500} "Damping along them";
    parameter Units.Stiffness c_phi[3] = {500, 500, 500} "Stiffness about the axes of a";
    parameter Units.Damping d_phi[3] = {1, 1, 1} "Damping about them";
    Units.Length r[3] "From a to b, in components of a";
    Units.Velocity v[3] "Its rate";
    Units.Angle phi[3] "Small angles of b against a";
    Units.AngularVelocity w[3] "Angular velocity of b against a, in components of a";
    Units.Force f[3] "Pulls b back, in components of a";
    Units.Torque t[3] "Turns b back, in components of a";
  protected
    Orientation R_rel "From a to b";
  equation
    r = Frames.toLocal(a.R, b.r_0 - a.r_0);
    v = der(r);
    R_rel = Frames.between(a.R, b.R);
    phi = Frames.smallAngles(R_rel);
    w = Frames.toWorld(R_rel, R_rel.w);
    f = c.*r + d.*v;
    t = c_phi.*phi + d_phi.*w;
    b.f = Frames.toLocal(R_rel, f);
    b.t = Frames.toLocal(R_rel, t);
    a.f = -f;
    a.t = -t - cross(r, f);
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, lineColor={95,95,95}, fillColor={90,90,90}, fillPattern=FillPattern.Solid), Ellipse(extent={{-30,30},{30,-30}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-60,0}}), Line(points={{0,0},{90,0}})}),
      Documentation(info="<html><p>Rubber between two frames: forces along and torques about the axes of a, in proportion to how far b is displaced and turned, and
        how fast. The angles are the axis of the turn times the sine of its angle: exact for small turns, less than the angle for large ones.</p></html>"));
  end Bushing;
end Forces;
