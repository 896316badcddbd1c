within Kilohertz.Rotational;
model Bearing "Dry and viscous friction of a shaft against its housing"
  extends TwoFlanges;
  parameter Units.Torque tau_0(min=0) = 1 "Dry friction, sliding at rest";
  parameter Units.Damping d = 0 "Viscous friction";
  parameter Real peak(min=1) = 1 "Torque that breaks away, over tau_0";
  replaceable model Law = Friction.StickSlip constrainedby Friction.Contact "How it sticks"
    annotation(choices(choice(redeclare model Law = Kilohertz.Rotational.Friction.StickSlip "Sticks and slides, with events"),
      choice(redeclare model Law = Kilohertz.Rotational.Friction.Smooth "Creeps, without events")));
  Law law(level=tau_0, peak=peak) "Dry friction" annotation(Placement(transformation(extent={{-70,-50},{-50,-30}})));
  Damper damper(d=d) "Viscous friction" annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
  Fixed housing "Takes up the torque" annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
equation
  connect(a, b) annotation(Line(points={{-100,0},{100,0}}, color={70,70,70}));
  connect(a, law.a) annotation(Line(points={{-100,0},{-85,0},{-85,-40},{-70,-40}}, color={70,70,70}));
  connect(law.b, housing.a) annotation(Line(points={{-50,-40},{-35,-40},{-35,0},{-20,0}}, color={70,70,70}));
  connect(housing.a, damper.a) annotation(Line(points={{-20,0},{-70,0}}, color={70,70,70}));
  connect(damper.b, a) annotation(Line(points={{-50,0},{-100,0}}, color={70,70,70}));
  annotation(Icon(graphics={Rectangle(extent={{-90,10},{90,-10}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid),
    Rectangle(extent={{-40,30},{40,14}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Rectangle(extent={{-40,-14},{40,-30}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Line(points={{-60,-50},{60,-50}}), Line(points={{0,-30},{0,-50}})}),
    Documentation(info="<html><p><code>tau = tau_0 sign(w) + d w</code> while it turns; at rest any torque up to
      <code>peak tau_0</code>. The law of the dry part is a choice: with events, or smooth.</p></html>"));
end Bearing;
