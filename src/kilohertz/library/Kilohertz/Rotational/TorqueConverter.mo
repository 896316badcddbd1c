within Kilohertz.Rotational;
model TorqueConverter "Pump and turbine joined by oil, with a lock-up clutch beside them"
  extends TwoFlanges;
  parameter Units.Torque tau_lock(min=0) = 400 "Torque of the lock-up clutch when fully pressed";
  Blocks.RealInput u "Lock-up: 0 open, 1 fully pressed" annotation(Placement(transformation(extent={{-20,-20},{20,20}}, origin={0,110}, rotation=-90)));
  replaceable model Law = Friction.StickSlip constrainedby Friction.Contact "How the lock-up clutch sticks"
    annotation(choices(choice(redeclare model Law = Kilohertz.Rotational.Friction.StickSlip "Sticks and slides, with events"),
      choice(redeclare model Law = Kilohertz.Rotational.Friction.Smooth "Creeps, without events")));
  Hydrodynamic oil "Pump and turbine" annotation(Placement(transformation(extent={{-10,-30},{10,-10}})));
  Law lock(level=tau_lock*u) "Lock-up clutch" annotation(Placement(transformation(extent={{-10,10},{10,30}})));
equation
  connect(a, oil.a) annotation(Line(points={{-100,0},{-55,0},{-55,-20},{-10,-20}}, color={70,70,70}));
  connect(oil.b, b) annotation(Line(points={{10,-20},{55,-20},{55,0},{100,0}}, color={70,70,70}));
  connect(a, lock.a) annotation(Line(points={{-100,0},{-55,0},{-55,20},{-10,20}}, color={70,70,70}));
  connect(lock.b, b) annotation(Line(points={{10,20},{55,20},{55,0},{100,0}}, color={70,70,70}));
  annotation(Icon(graphics={Ellipse(extent={{-60,60},{0,-60}}, fillColor={190,210,235}, fillPattern=FillPattern.Solid), Ellipse(extent={{0,60},{60,-60}}, fillColor={220,230,245}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-60,0}}), Line(points={{60,0},{90,0}}), Line(points={{-75,0},{-75,75},{-10,75}}), Line(points={{75,0},{75,75},{10,75}}), Line(points={{-10,90},{-10,65}}), Line(points={{10,90},{10,65}})}),
    Documentation(info="<html><p>The oil as in <code>Hydrodynamic</code>; the lock-up clutch joins both sides by friction and carries, once
      it sticks, up to <code>tau_lock u</code>.</p></html>"));
end TorqueConverter;
