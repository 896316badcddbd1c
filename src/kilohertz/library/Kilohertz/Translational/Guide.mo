within Kilohertz.Translational;
model Guide "Dry friction of a rod that slides in its guide"
  extends TwoFlanges;
  parameter Units.Force f_0(min=0) = 1 "Dry friction, sliding at rest";
  parameter Real peak(min=1) = 1 "Force that breaks away, over the force of sliding";
  parameter Real fall(min=0, max=1) = 0 "Part of f_0 that is lost at high speed";
  parameter Units.Velocity v_fall(min=1e-9) = 0.1 "Speed at which about two thirds of this are lost";
  replaceable model Law = Friction.StickSlip constrainedby Friction.Contact "How it sticks"
    annotation(choices(choice(redeclare model Law = Kilohertz.Translational.Friction.StickSlip "Sticks and slides, with events"),
      choice(redeclare model Law = Kilohertz.Translational.Friction.Smooth "Creeps, without events")));
  Law law(level=f_0, peak=peak, fall=fall, v_fall=v_fall) "Between rod and ground" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
  Fixed ground "Takes up the force" annotation(Placement(transformation(extent={{-10,10},{10,30}})));
  Units.Velocity v = law.v_rel "Speed of the rod";
  Units.Force f = law.f_ab "Force against the motion";
equation
  connect(a, b) annotation(Line(points={{-100,0},{100,0}}, color={0,127,0}));
  connect(a, law.a) annotation(Line(points={{-100,0},{-75,0},{-75,20},{-50,20}}, color={0,127,0}));
  connect(law.b, ground.a) annotation(Line(points={{-30,20},{0,20}}, color={0,127,0}));
  annotation(Icon(graphics={Rectangle(extent={{-90,8},{90,-8}}, lineColor={0,127,0}, fillColor={200,225,200}, fillPattern=FillPattern.Solid), Rectangle(extent={{-40,30},{40,12}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Rectangle(extent={{-40,-12},{40,-30}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Line(points={{-60,-45},{60,-45}})}),
    Documentation(info="<html><p>Any force up to <code>peak f_0</code> at rest; sliding, <code>f_0</code>, which may fall with speed by
      <code>fall</code>. The law is a choice: with events, or smooth.</p></html>"));
end Guide;
