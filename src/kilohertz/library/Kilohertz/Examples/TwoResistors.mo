within Kilohertz.Examples;
model TwoResistors "A voltage divider: the middle lies at 20 V"
  Electrical.ConstantVoltage source(V=30) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
  Electrical.Resistor upper(R=100) annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
  Electrical.Resistor lower(R=200) annotation(Placement(transformation(extent={{-30,-50},{-10,-30}})));
  Electrical.Ground ground annotation(Placement(transformation(extent={{10,-50},{30,-30}})));
  Real x(start=1, fixed=true);
equation
  connect(source.p, upper.p) annotation(Line(points={{-30,0},{-70,0}}, color={0,0,255}));
  connect(upper.n, lower.p) annotation(Line(points={{-50,0},{-40,0},{-40,-40},{-30,-40}}, color={0,0,255}));
  connect(lower.n, source.n) annotation(Line(points={{-10,-40},{-6,-40},{-6,0},{-10,0}}, color={0,0,255}));
  connect(source.n, ground.p) annotation(Line(points={{-10,0},{20,0},{20,-30}}, color={0,0,255}));
  der(x) = -x;
  annotation(experiment(StopTime=1));
end TwoResistors;
