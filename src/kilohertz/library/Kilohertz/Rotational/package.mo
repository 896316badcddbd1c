within Kilohertz;
package Rotational "Drive trains"
  connector Flange "An end of a shaft"
    Units.Angle phi "Angle";
    flow Units.Torque tau "Torque onto the component";
    annotation(Icon(graphics={Ellipse(extent={{-100,-100},{100,100}}, lineColor={70,70,70}, fillColor={150,150,150}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>Angle and torque; torques that meet sum to zero.</p></html>"));
  end Flange;

  partial model TwoFlanges "A component between two shafts"
    Flange a "Left end" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Flange b "Right end" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    annotation(Icon(graphics={Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end TwoFlanges;

  partial model Compliance "Two shafts whose angles differ: the torque between them follows from the difference"
    extends TwoFlanges;
    Units.Angle phi_rel "b against a";
    Units.AngularVelocity w_rel "Speed of b against a";
    Units.Torque tau "Torque between the flanges: turns b back";
  equation
    phi_rel = b.phi - a.phi;
    w_rel = der(phi_rel);
    b.tau = tau;
    a.tau = -tau;
  end Compliance;

  model Fixed "A flange held at an angle"
    Flange a annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    parameter Units.Angle phi = 0 "Angle";
  equation
    a.phi = phi;
    annotation(Icon(graphics={Line(points={{0,0},{0,-40}}), Line(points={{-60,-40},{60,-40}}), Line(points={{-60,-40},{-80,-65}}),
      Line(points={{-20,-40},{-40,-65}}), Line(points={{20,-40},{0,-65}}), Line(points={{60,-40},{40,-65}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>a.phi = phi</code>: the housing that takes up whatever torque comes.</p></html>"));
  end Fixed;

  model ShaftEnd "An end of a shaft whose angle and torque are variables of the model around it"
    Flange a "The end" annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    input Units.Angle phi "Angle";
    output Units.Torque tau "Torque onto it; 0 where nothing is connected";
  equation
    a.phi = phi;
    tau = a.tau;
    annotation(Icon(graphics={Ellipse(extent={{-40,40},{40,-40}}, lineColor={95,95,95}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>For flanges that a component has only if it is asked to: one that is not there gives no torque.</p></html>"));
  end ShaftEnd;

  model Inertia "A rigid body that turns"
    extends TwoFlanges;
    parameter Units.Inertia J = 1 "Moment of inertia";
    Units.Angle phi(stateSelect=StateSelect.prefer) "Angle";
    Units.AngularVelocity w(stateSelect=StateSelect.prefer) "Speed";
    Units.AngularAcceleration acc "Acceleration";
  equation
    a.phi = phi;
    b.phi = phi;
    w = der(phi);
    acc = der(w);
    J*acc = a.tau + b.tau;
    annotation(Icon(graphics={Rectangle(extent={{-100,10},{-50,-10}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid),
      Rectangle(extent={{50,10},{100,-10}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid),
      Rectangle(extent={{-50,50},{50,-50}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Text(extent={{-150,-60},{150,-100}}, textString="J=%J")}),
      Documentation(info="<html><p><code>J der(w) = a.tau + b.tau</code>, <code>w = der(phi)</code>.</p></html>"));
  end Inertia;

  model SpringDamper "Linear spring and damper side by side"
    extends TwoFlanges;
    parameter Units.Stiffness c = 1 "Stiffness";
    parameter Units.Damping d = 0 "Damping";
    parameter Units.Angle phi_0 = 0 "Angle at rest";
    Units.Angle phi_rel "b against a";
    Units.AngularVelocity w_rel "Speed of b against a";
  equation
    phi_rel = b.phi - a.phi;
    w_rel = der(phi_rel);
    b.tau = c*(phi_rel - phi_0) + d*w_rel;
    a.tau + b.tau = 0;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0},{-60,40},{-45,40},{-35,60},{-15,20},{5,60},{25,20},{45,60},{55,40},{60,40},{60,0},{90,0}}),
      Line(points={{-60,0},{-60,-40},{-20,-40}}), Line(points={{20,-20},{-20,-20},{-20,-60},{20,-60}}), Line(points={{5,-40},{60,-40},{60,0}}), Line(points={{5,-25},{5,-55}}),
      Text(extent={{-150,-65},{150,-100}}, textString="c=%c")}),
      Documentation(info="<html><p><code>tau = c (phi_rel - phi_0) + d der(phi_rel)</code>.</p></html>"));
  end SpringDamper;

  model Gear "An ideal gear without inertia"
    extends TwoFlanges;
    parameter Real ratio = 1 "Angle of a over angle of b";
  equation
    a.phi = ratio*b.phi;
    ratio*a.tau + b.tau = 0;
    annotation(Icon(graphics={Rectangle(extent={{-90,10},{-40,-10}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid),
      Rectangle(extent={{-40,30},{-10,-30}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Rectangle(extent={{-10,60},{40,-60}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid),
      Rectangle(extent={{40,10},{90,-10}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Text(extent={{-150,-65},{150,-100}}, textString="%ratio")}),
      Documentation(info="<html><p><code>a.phi = ratio b.phi</code> and no power is lost: <code>ratio a.tau + b.tau = 0</code>.</p></html>"));
  end Gear;

  model StepTorque "A torque that sets in at an instant"
    Flange b annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    parameter Units.Torque tau = 1 "Torque from `starts` on";
    parameter Units.Time starts = 0 "When it sets in";
  equation
    b.tau = -(if time >= starts then tau else 0);
    annotation(Icon(graphics={Line(points={{-80,-40},{-10,-40},{-10,40},{60,40}}, color={0,0,127}), Line(points={{60,0},{90,0}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>0</code> before <code>starts</code>, <code>tau</code> from then on.</p></html>"));
  end StepTorque;

  model Damper "Torque in proportion to the difference of the speeds"
    extends Compliance;
    parameter Units.Damping d = 1 "Damping";
  equation
    tau = d*w_rel;
    annotation(Icon(graphics={Line(points={{-90,0},{-20,0}}), Line(points={{40,-30},{-20,-30},{-20,30},{40,30}}), Line(points={{10,0},{90,0}}), Line(points={{10,-22},{10,22}}), Text(extent={{-150,-60},{150,-100}}, textString="d=%d")}),
      Documentation(info="<html><p><code>tau = d der(phi_rel)</code>.</p></html>"));
  end Damper;

  partial model Play "Teeth with play between them: what every law of backlash knows"
    extends Compliance;
    parameter Units.Stiffness c = 1e4 "Stiffness of the teeth in contact";
    parameter Units.Damping d = 1 "Damping of the teeth in contact";
    parameter Units.Angle play(min=0) = 1e-3 "Free angle from one side to the other";
  end Play;

  model ElasticBacklash "A spring with play: no torque until the play is used up"
    extends Play;
    Units.Torque push "What spring and damper would give in contact";
    Integer side "Which side is in contact: 1, -1, or 0 for none";
  equation
    side = if phi_rel > play/2 then 1 elseif phi_rel < -play/2 then -1 else 0;
    push = c*(phi_rel - side*play/2) + d*w_rel;
    tau = if side == 1 then max(push, 0) elseif side == -1 then min(push, 0) else 0;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0},{-50,25},{-35,-25},{-20,25},{-5,-25},{5,0},{20,0}}), Line(points={{20,-30},{20,30}}), Line(points={{40,-30},{40,30}}), Line(points={{40,0},{90,0}}),
      Text(extent={{-150,-60},{150,-100}}, textString="play=%play")}),
      Documentation(info="<html><p>With <code>x = phi_rel</code> beyond the play of half its width on either side,
        <code>tau = c x + d der(phi_rel)</code>, but never a torque that pulls the teeth together: it ends where it would change
        sign, which may be before the teeth part. Making and losing contact are events.</p></html>"));
  end ElasticBacklash;

  model SmoothBacklash "Play without events: the stiffness sets in over a small angle"
    extends Play;
    parameter Units.Angle rounding(min=1e-12) = 1e-4 "Over about this angle the contact sets in";
    Units.Angle x "How far the teeth are pressed into one another";
    Real contact "0: free, 1: in contact";
  protected
    Real right, left;
  equation
    right = phi_rel - play/2;
    left = -phi_rel - play/2;
    x = (right + sqrt(right^2 + rounding^2))/2 - (left + sqrt(left^2 + rounding^2))/2;
    contact = (1 + right/sqrt(right^2 + rounding^2))/2 + (1 + left/sqrt(left^2 + rounding^2))/2;
    tau = c*x + d*contact*w_rel;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0},{-50,25},{-35,-25},{-20,25},{-5,-25},{5,0},{20,0}}), Line(points={{20,-30},{24,0},{20,30}}, smooth=Smooth.Bezier),
      Line(points={{40,-30},{36,0},{40,30}}, smooth=Smooth.Bezier), Line(points={{40,0},{90,0}})}),
      Documentation(info="<html><p>The positive part of <code>x</code> is rounded, <code>(x + sqrt(x^2 + rounding^2))/2</code>, and its
        slope weighs the damping. For steps that must not vary; the teeth may pull together by the damping while they part.</p></html>"));
  end SmoothBacklash;

  model EndStop "Elastic stops that keep a shaft between two angles"
    extends Compliance;
    parameter Units.Angle phi_max = 1 "Angle of b against a at the upper stop";
    parameter Units.Angle phi_min = -1 "Angle of b against a at the lower stop";
    parameter Units.Stiffness c = 1e5 "Stiffness of the stops";
    parameter Units.Damping d = 100 "Damping of the stops";
  equation
    assert(phi_min <= phi_max, "the lower stop lies above the upper one: phi_min <= phi_max");
    tau = if phi_rel > phi_max then max(c*(phi_rel - phi_max) + d*w_rel, 0) elseif phi_rel < phi_min then min(c*(phi_rel - phi_min) + d*w_rel, 0) else 0;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0},{-60,40},{60,40}}), Line(points={{60,40},{60,20}}), Line(points={{-60,-40},{60,-40}}), Line(points={{-60,0},{-60,-40}}), Line(points={{60,-40},{60,-20}}), Line(points={{20,0},{90,0}}), Rectangle(extent={{-10,15},{20,-15}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>Nothing between the stops; beyond one, spring and damper, which push back and never hold.</p></html>"));
  end EndStop;
end Rotational;
