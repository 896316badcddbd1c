within Kilohertz.MultiBody;
package Loops "Joints that close a loop and are solved in closed form: nothing is iterated"
  partial model RevoluteArm "An arm that turns about an axis of b; its tip has a given distance from a"
    Frame a "Where the rod begins" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    Frame b "Carries the axis" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    Frame arm "On the arm, at the axis" annotation(Placement(transformation(extent={{44,84},{76,116}})));
    parameter Units.Length L(min=0) = 1 "Distance of the tip from a: the length of the rod";
    parameter Real n[3] = {0, 0, 1} "Axis, in components of b" annotation(Evaluate=true);
    parameter Units.Length r[3] = {1, 0, 0} "From the axis to the tip, in components of the arm";
    parameter Units.Angle phi_guess = 0 "Of the two angles that close the loop, the one next to this at the start";
    Units.Angle phi "Angle of the arm against b, less than half a turn from its guess";
    Units.AngularVelocity w = der(phi) "Its rate";
    Units.Length r_b[3] "From b to a, in components of b";
    Units.Length p[3] "From b to the tip, in components of b";
    Units.Force f_b[3] "Force of the rod onto the tip, in components of b";
  protected
    parameter Real e[3](each final unit="1") = Math.unit(n) "Unit vector of the axis" annotation(Evaluate=true);
    parameter Real side(fixed=false) "1 or -1: which of the two";
    Real A "The loop closes where A cos(phi) + B sin(phi) = C";
    Real B;
    Real C;
    Real k "Zero where both angles are one: the loop is stretched out";
    Real c_phi "cos(phi)";
    Real s_phi "sin(phi)";
    Orientation R_arm "From b to the arm";
  initial equation
    side = if cos(atan2(B, A) + atan2(k, C) - phi_guess) >= cos(atan2(B, A) - atan2(k, C) - phi_guess) then 1 else -1;
  equation
    Connections.branch(b.R, arm.R);
    r_b = Frames.toLocal(b.R, a.r_0 - b.r_0);
    A = r_b*r - (e*r_b)*(e*r);
    B = r_b*cross(e, r);
    C = (r_b*r_b + r*r - L*L)/2 - (e*r_b)*(e*r);
    assert(A*A + B*B > C*C, "the loop cannot be closed: the rod is too long, or too short, for where its ends are", AssertionLevel.error);
    k = sqrt(noEvent(max(A*A + B*B - C*C, 1e-30)));
    c_phi = (A*C - side*B*k)/(A*A + B*B);
    s_phi = (B*C + side*A*k)/(A*A + B*B);
    phi = phi_guess + atan2(s_phi*cos(phi_guess) - c_phi*sin(phi_guess), c_phi*cos(phi_guess) + s_phi*sin(phi_guess));
    R_arm = Frames.about(e, phi, w);
    arm.R = Frames.turned(b.R, R_arm);
    arm.r_0 = b.r_0;
    p = Frames.toWorld(R_arm, r);
    0 = e*(arm.t + cross(r, Frames.toLocal(R_arm, f_b)));
    b.f = -Frames.toWorld(R_arm, arm.f) - f_b;
    b.t = -Frames.toWorld(R_arm, arm.t) - cross(p, f_b);
    annotation(Icon(graphics={Line(points={{-90,0},{0,60}}), Line(points={{0,60},{90,0}}), Ellipse(extent={{-8,68},{8,52}}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Rectangle(extent={{75,12},{90,-12}}, fillColor={160,160,160}, fillPattern=FillPattern.Solid), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>With <code>r_b</code> and <code>r</code>, <code>|r_b - tip| = L</code> is <code>A cos(phi) + B sin(phi) = C</code>,
        which has two solutions; the one at the start stays. The force along the rod follows from the balance of torques about the axis.</p></html>"));
  end RevoluteArm;

  partial model PrismaticArm "A slide along an axis of b; its tip has a given distance from a"
    Frame a "Where the rod begins" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    Frame b "Carries the axis" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    Frame arm "On the slide" annotation(Placement(transformation(extent={{44,84},{76,116}})));
    parameter Units.Length L(min=0) = 1 "Distance of the tip from a: the length of the rod";
    parameter Real n[3] = {1, 0, 0} "Direction of the slide, in components of b" annotation(Evaluate=true);
    parameter Units.Length r[3] = {0, 0, 0} "From the slide to the tip, in components of b";
    parameter Units.Length s_guess = 0 "Of the two places that close the loop, the one next to this at the start";
    Units.Length s "How far the slide is from b";
    Units.Velocity v = der(s) "Its rate";
    Units.Length r_b[3] "From b to a, in components of b";
    Units.Length p[3] "From b to the tip, in components of b";
    Units.Force f_b[3] "Force of the rod onto the tip, in components of b";
  protected
    parameter Real e[3](each final unit="1") = Math.unit(n) "Unit vector of the axis" annotation(Evaluate=true);
    parameter Real side(fixed=false) "1 or -1: which of the two";
    Units.Length d[3] "From the tip at s = 0 to a";
    Units.Length k "Zero where both places are one: the rod stands across the slide";
  initial equation
    side = if s_guess >= e*d then 1 else -1;
  equation
    Connections.branch(b.R, arm.R);
    r_b = Frames.toLocal(b.R, a.r_0 - b.r_0);
    d = r_b - r;
    assert((e*d)^2 + L*L > d*d, "the loop cannot be closed: the rod is too short for where its ends are", AssertionLevel.error);
    k = sqrt(noEvent(max((e*d)^2 + L*L - d*d, 1e-30)));
    s = e*d + side*k;
    p = r + e*s;
    arm.R = b.R;
    arm.r_0 = b.r_0 + Frames.toWorld(b.R, e*s);
    0 = e*(arm.f + f_b);
    b.f = -arm.f - f_b;
    b.t = -arm.t - cross(e*s, arm.f) - cross(p, f_b);
    annotation(Icon(graphics={Line(points={{-90,0},{20,0}}), Ellipse(extent={{12,8},{28,-8}}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Rectangle(extent={{20,25},{70,-25}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Line(points={{10,-30},{90,-30}}), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>|r_b - tip| = L</code> is a quadratic equation of <code>s</code>; the solution at the start stays. The force
        along the rod follows from the balance of forces along the slide.</p></html>"));
  end PrismaticArm;

  partial model BareRod "A rod with a ball at each end and nothing fixed to it"
    Frame a "Ball of the rod" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    Frame b "Carries what the rod moves" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    parameter Units.Length L(min=0) = 1 "Length of the rod";
    Units.Length r_b[3] "From b to a, in components of b";
    Units.Length p[3] "From b to the tip, in components of b";
    Units.Force f_b[3] "Force of the rod onto the tip, in components of b";
    Units.Force f_rod "Tension";
  equation
    f_b = (r_b - p)/L*f_rod;
    a.f = Frames.toLocal(a.R, Frames.toWorld(b.R, f_b));
  end BareRod;

  model RodRevolute "Ball, rod, ball, arm, revolute joint"
    extends RevoluteArm;
    extends BareRod;
  equation
    a.t = zeros(3);
    annotation(Documentation(info="<html><p>For linkages whose coupler has no mass of its own: a four-bar, the tie rod of an axle. The
      angle of the arm is an expression of where a and b are.</p></html>"));
  end RodRevolute;

  model RodPrismatic "Ball, rod, ball, prismatic joint"
    extends PrismaticArm;
    extends BareRod;
  equation
    a.t = zeros(3);
    annotation(Documentation(info="<html><p>For a slide that a massless rod moves. Where the slide is, is an expression of where a and b are.</p></html>"));
  end RodPrismatic;

  model UniversalRevolute "Universal joint, rod with a frame, ball, arm, revolute joint"
    extends RevoluteArm;
    extends Joints.RodFrame;
  equation
    r_a = Frames.toLocal(a.R, Frames.toWorld(b.R, p - r_b));
    f_b = -Frames.toLocal(b.R, Frames.toWorld(a.R, f_tip));
    annotation(Documentation(info="<html><p>Like <code>RodRevolute</code>, and bodies may be fixed to the frame <code>rod</code>. With
      <code>n_a</code> along the axis of the arm it is the planar loop of three revolute joints.</p></html>"));
  end UniversalRevolute;

  model UniversalPrismatic "Universal joint, rod with a frame, ball, prismatic joint"
    extends PrismaticArm;
    extends Joints.RodFrame;
  equation
    r_a = Frames.toLocal(a.R, Frames.toWorld(b.R, p - r_b));
    f_b = -Frames.toLocal(b.R, Frames.toWorld(a.R, f_tip));
    annotation(Documentation(info="<html><p>Like <code>RodPrismatic</code>, and bodies may be fixed to the frame <code>rod</code>: connecting rod and piston of an engine,
      with <code>n_a</code> along the axis of the crank.</p></html>"));
  end UniversalPrismatic;
end Loops;
