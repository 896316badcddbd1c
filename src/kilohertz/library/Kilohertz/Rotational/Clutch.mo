within Kilohertz.Rotational;
model Clutch "Two shafts pressed together by a command"
  extends TwoFlanges;
  parameter Units.Torque tau_max(min=0) = 100 "Torque it slides at when fully pressed";
  parameter Real peak(min=1) = 1 "Torque that breaks away, over the torque of sliding";
  Blocks.RealInput u "Pressure: 0 open, 1 fully pressed" annotation(Placement(transformation(extent={{-20,-20},{20,20}}, origin={0,110}, rotation=-90)));
  replaceable model Law = Friction.StickSlip constrainedby Friction.Contact "How it sticks"
    annotation(choices(choice(redeclare model Law = Kilohertz.Rotational.Friction.StickSlip "Sticks and slides, with events"),
      choice(redeclare model Law = Kilohertz.Rotational.Friction.Smooth "Creeps, without events")));
  Law law(level=tau_max*u, peak=peak) "Between the plates" annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
  Units.AngularVelocity w_rel = law.w_rel "Slip: speed of a against b";
  Units.Torque tau = law.tau "Torque from a to b";
equation
  connect(a, law.a) annotation(Line(points={{-100,0},{-65,0},{-65,-20},{-30,-20}}, color={70,70,70}));
  connect(law.b, b) annotation(Line(points={{-10,-20},{45,-20},{45,0},{100,0}}, color={70,70,70}));
  annotation(Icon(graphics={Rectangle(extent={{-30,60},{-10,-60}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid),
    Rectangle(extent={{10,60},{30,-60}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-30,0}}), Line(points={{30,0},{90,0}}), Line(points={{0,100},{0,70},{-10,80}}, color={0,0,127})}),
    Documentation(info="<html><p>Slides at <code>tau_max u</code> and carries, once it sticks, any torque up to
      <code>peak tau_max u</code>. With <code>u</code> at zero or below it is open.</p></html>"));
end Clutch;
