within Kilohertz.Rotational;
model Brake "A shaft held against the housing by a command"
  extends TwoFlanges;
  parameter Units.Torque tau_max(min=0) = 100 "Torque it slides at when fully pressed";
  parameter Real peak(min=1) = 1 "Torque that breaks away, over the torque of sliding";
  Blocks.RealInput u "Pressure: 0 open, 1 fully pressed" annotation(Placement(transformation(extent={{-20,-20},{20,20}}, origin={0,110}, rotation=-90)));
  replaceable model Law = Friction.StickSlip constrainedby Friction.Contact "How it sticks"
    annotation(choices(choice(redeclare model Law = Kilohertz.Rotational.Friction.StickSlip "Sticks and slides, with events"),
      choice(redeclare model Law = Kilohertz.Rotational.Friction.Smooth "Creeps, without events")));
  Law law(level=tau_max*u, peak=peak) "Between shaft and housing" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
  Fixed housing "Takes up the torque" annotation(Placement(transformation(extent={{-10,10},{10,30}})));
  Units.AngularVelocity w = law.w_rel "Speed of the shaft";
  Units.Torque tau = law.tau "Torque that brakes";
equation
  connect(a, b) annotation(Line(points={{-100,0},{100,0}}, color={70,70,70}));
  connect(a, law.a) annotation(Line(points={{-100,0},{-75,0},{-75,20},{-50,20}}, color={70,70,70}));
  connect(law.b, housing.a) annotation(Line(points={{-30,20},{0,20}}, color={70,70,70}));
  annotation(Icon(graphics={Rectangle(extent={{-90,10},{90,-10}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid),
    Rectangle(extent={{-10,60},{10,-60}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Line(points={{-30,60},{-15,60},{-15,30}}), Line(points={{30,60},{15,60},{15,30}}), Line(points={{-40,-80},{40,-80}}), Line(points={{-30,60},{-40,60},{-40,-80}}), Line(points={{30,60},{40,60},{40,-80}})}),
    Documentation(info="<html><p>A clutch whose other side stands still: slides at <code>tau_max u</code>, holds up to
      <code>peak tau_max u</code>.</p></html>"));
end Brake;
