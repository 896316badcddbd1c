within Kilohertz;
package Translational "Things that move along a line"
  connector Flange "An end of a rod"
    Units.Length s "Position";
    flow Units.Force f "Force onto the component";
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,127,0}, fillColor={0,127,0}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>Position and force; forces that meet sum to zero.</p></html>"));
  end Flange;

  partial model TwoFlanges "A component between two rods"
    Flange a "Left end" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Flange b "Right end" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    annotation(Icon(graphics={Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end TwoFlanges;

  partial model Compliance "Two rods whose positions differ: the force between them follows from the difference"
    extends TwoFlanges;
    Units.Length s_rel "b against a";
    Units.Velocity v_rel "Speed of b against a";
    Units.Force f "Force between the flanges: pulls b back";
  equation
    s_rel = b.s - a.s;
    v_rel = der(s_rel);
    b.f = f;
    a.f = -f;
  end Compliance;

  model Fixed "A flange held at a place"
    Flange a annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    parameter Units.Length s = 0 "Position";
  equation
    a.s = s;
    annotation(Icon(graphics={Line(points={{0,0},{0,-40}}), Line(points={{-60,-40},{60,-40}}), Line(points={{-60,-40},{-80,-65}}),
      Line(points={{-20,-40},{-40,-65}}), Line(points={{20,-40},{0,-65}}), Line(points={{60,-40},{40,-65}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>a.s = s</code>: the ground that takes up whatever force comes.</p></html>"));
  end Fixed;

  model RodEnd "An end of a rod whose position and force are variables of the model around it"
    Flange a "The end" annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    input Units.Length s "Position";
    output Units.Force f "Force onto it; 0 where nothing is connected";
  equation
    a.s = s;
    f = a.f;
    annotation(Icon(graphics={Rectangle(extent={{-40,40},{40,-40}}, lineColor={95,95,95}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>For flanges that a component has only if it is asked to: one that is not there gives no force.</p></html>"));
  end RodEnd;

  model Mass "A rigid body that slides against viscous friction"
    Flange a annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Flange b annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    parameter Units.Mass m = 1 "Mass";
    parameter Units.TranslationalDamping d = 0 "Viscous friction against the ground";
    Units.Length s(stateSelect=StateSelect.prefer) "Position";
    Units.Velocity v(stateSelect=StateSelect.prefer) "Velocity";
    Units.Acceleration acc "Acceleration";
  equation
    a.s = s;
    b.s = s;
    v = der(s);
    acc = der(v);
    m*acc = a.f + b.f - d*v;
    annotation(Icon(graphics={Rectangle(extent={{-60,40},{60,-40}}, fillColor={200,225,200}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-60,0}}, color={0,127,0}), Line(points={{60,0},{90,0}}, color={0,127,0}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255}), Text(extent={{-150,-50},{150,-90}}, textString="m=%m")}),
      Documentation(info="<html><p><code>m der(v) = a.f + b.f - d v</code>, <code>v = der(s)</code>.</p></html>"));
  end Mass;

  model SpringDamper "Linear spring and damper side by side"
    Flange a annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Flange b annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    parameter Units.TranslationalStiffness c = 1 "Stiffness";
    parameter Units.TranslationalDamping d = 0 "Damping";
    parameter Units.Length s_0 = 0 "Length at rest";
    Units.Length s_rel "b against a";
    Units.Velocity v_rel "Speed of b against a";
  equation
    s_rel = b.s - a.s;
    v_rel = der(s_rel);
    b.f = c*(s_rel - s_0) + d*v_rel;
    a.f + b.f = 0;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0},{-60,40},{-45,40},{-35,60},{-15,20},{5,60},{25,20},{45,60},{55,40},{60,40},{60,0},{90,0}}, color={0,127,0}),
      Line(points={{-60,0},{-60,-40},{-20,-40}}, color={0,127,0}), Line(points={{20,-20},{-20,-20},{-20,-60},{20,-60}}, color={0,127,0}), Line(points={{5,-40},{60,-40},{60,0}}, color={0,127,0}), Line(points={{5,-25},{5,-55}}, color={0,127,0}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>f = c (s_rel - s_0) + d der(s_rel)</code>.</p></html>"));
  end SpringDamper;

  model ConstantForce "A force that never changes"
    Flange b annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    parameter Units.Force f = 1 "Force onto what is connected, along the axis";
  equation
    b.f = -f;
    annotation(Icon(graphics={Polygon(points={{-80,15},{30,15},{30,40},{85,0},{30,-40},{30,-15},{-80,-15},{-80,15}}, lineColor={0,127,0}, fillColor={200,225,200}, fillPattern=FillPattern.Solid), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>b.f = -f</code>.</p></html>"));
  end ConstantForce;

  model Rod "A rigid, massless rod"
    extends TwoFlanges;
    parameter Units.Length L = 0 "Length";
  equation
    b.s = a.s + L;
    a.f + b.f = 0;
    annotation(Icon(graphics={Rectangle(extent={{-90,8},{90,-8}}, lineColor={0,127,0}, fillColor={200,225,200}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p><code>b.s = a.s + L</code>.</p></html>"));
  end Rod;

  model Damper "Force in proportion to the difference of the speeds"
    extends Compliance;
    parameter Units.TranslationalDamping d = 1 "Damping";
  equation
    f = d*v_rel;
    annotation(Icon(graphics={Line(points={{-90,0},{-20,0}}, color={0,127,0}), Line(points={{40,-30},{-20,-30},{-20,30},{40,30}}), Line(points={{10,0},{90,0}}, color={0,127,0}), Line(points={{10,-22},{10,22}})}),
      Documentation(info="<html><p><code>f = d der(s_rel)</code>.</p></html>"));
  end Damper;

  model ElasticGap "A buffer: pushes once the gap is closed, never pulls"
    extends Compliance;
    parameter Units.Length gap = 0 "Distance of b from a at which they touch";
    parameter Units.TranslationalStiffness c = 1e6 "Stiffness in contact";
    parameter Units.TranslationalDamping d = 1e3 "Damping in contact";
    Boolean touches "In contact";
  equation
    touches = s_rel < gap;
    f = if touches then min(c*(s_rel - gap) + d*v_rel, 0) else 0;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0},{-50,25},{-35,-25},{-20,25},{-5,-25},{5,0},{20,0}}, color={0,127,0}), Line(points={{20,-30},{20,30}}), Line(points={{40,-30},{40,30}}), Line(points={{40,0},{90,0}}, color={0,127,0})}),
      Documentation(info="<html><p><code>f = c (s_rel - gap) + d der(s_rel)</code> where the gap is closed and this pushes; else nothing.
        The force ends where it would pull, which may be before the parts separate.</p></html>"));
  end ElasticGap;

  model ElasticBacklash "A spring with play: no force until the play is used up"
    extends Compliance;
    parameter Units.TranslationalStiffness c = 1e6 "Stiffness in contact";
    parameter Units.TranslationalDamping d = 1e3 "Damping in contact";
    parameter Units.Length play(min=0) = 1e-3 "Free way from one side to the other";
    parameter Units.Length s_0 = 0 "Distance of b from a in the middle of the play";
    Units.Force push "What spring and damper would give in contact";
    Integer side "Which side is in contact: 1, -1, or 0 for none";
  equation
    side = if s_rel - s_0 > play/2 then 1 elseif s_rel - s_0 < -play/2 then -1 else 0;
    push = c*(s_rel - s_0 - side*play/2) + d*v_rel;
    f = if side == 1 then max(push, 0) elseif side == -1 then min(push, 0) else 0;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0},{-50,25},{-35,-25},{-20,25},{-5,-25},{5,0},{20,0}}, color={0,127,0}), Line(points={{20,-30},{20,30}}), Line(points={{60,-30},{0,-30},{0,-45},{75,-45},{75,30},{40,30},{40,-10}}), Line(points={{75,0},{90,0}}, color={0,127,0}),
      Text(extent={{-150,-60},{150,-100}}, textString="play=%play")}),
      Documentation(info="<html><p>Beyond half the play on either side spring and damper, which push back and never hold: the force ends where it would change its
        sign, which may be before the parts separate. Making and losing contact are events.</p></html>"));
  end ElasticBacklash;

  model EndStop "Elastic stops that keep b between two distances from a"
    extends Compliance;
    parameter Units.Length s_max = 1 "Distance at the upper stop";
    parameter Units.Length s_min = 0 "Distance at the lower stop";
    parameter Units.TranslationalStiffness c = 1e6 "Stiffness of the stops";
    parameter Units.TranslationalDamping d = 1e3 "Damping of the stops";
  equation
    assert(s_min <= s_max, "the lower stop lies above the upper one: s_min <= s_max");
    f = if s_rel > s_max then max(c*(s_rel - s_max) + d*v_rel, 0) elseif s_rel < s_min then min(c*(s_rel - s_min) + d*v_rel, 0) else 0;
    annotation(Icon(graphics={Line(points={{-90,0},{-70,0},{-70,40},{70,40},{70,20}}, color={0,127,0}), Line(points={{-70,0},{-70,-40},{70,-40},{70,-20}}, color={0,127,0}), Rectangle(extent={{-20,15},{20,-15}}, fillColor={200,225,200}, fillPattern=FillPattern.Solid), Line(points={{20,0},{90,0}}, color={0,127,0})}),
      Documentation(info="<html><p>Nothing between the stops; beyond one, spring and damper, which push back and never hold.</p></html>"));
  end EndStop;

  model RackAndPinion "A pinion that rolls on a rack: turns into travel"
    Rotational.Flange a "Shaft of the pinion" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Flange b "The rack" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    parameter Units.Length r(min=1e-9) = 0.1 "Radius of the pinion";
  equation
    b.s = r*a.phi;
    a.tau + r*b.f = 0;
    annotation(Icon(graphics={Ellipse(extent={{-50,60},{50,-40}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Rectangle(extent={{-80,-40},{80,-60}}, lineColor={0,127,0}, fillColor={200,225,200}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{0,10}}), Line(points={{80,-50},{90,0}}, color={0,127,0}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>b.s = r a.phi</code>, <code>a.tau + r b.f = 0</code>.</p></html>"));
  end RackAndPinion;
end Translational;
