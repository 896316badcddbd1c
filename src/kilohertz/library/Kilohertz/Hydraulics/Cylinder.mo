within Kilohertz.Hydraulics;
model Cylinder "A differential cylinder with end stops, dry friction of its seals and leakage"
  Port a "At the piston side: pressure pushes out" annotation(Placement(transformation(extent={{-80,-110},{-60,-90}})));
  Port b "At the rod side: pressure pulls in" annotation(Placement(transformation(extent={{30,-110},{50,-90}})));
  Translational.Flange flange "End of the rod" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  parameter Units.Length d_piston = 0.063 "Diameter of the piston";
  parameter Units.Length d_rod = 0.045 "Diameter of the rod";
  parameter Units.Length stroke = 0.5 "From one end to the other";
  parameter Units.Volume V_a = 1e-4 "Dead volume of the piston side";
  parameter Units.Volume V_b = 1e-4 "Dead volume of the rod side";
  parameter Units.HydraulicConductance G = 1e-13 "Leakage past the piston";
  parameter Units.BulkModulus E = 1.4e9 "Bulk modulus";
  parameter Units.TranslationalStiffness c_stop = 1e8 "Stiffness of the end stops";
  parameter Units.TranslationalDamping d_stop = 1e5 "Damping of the end stops";
  parameter Units.Force f_seal(min=0) = 0 "Dry friction of the seals; 0: none";
  parameter Boolean steady = false "The pressures rest at the start";
  Translational.EndStop stop(s_min=0, s_max=stroke, c=c_stop, d=d_stop) "End stops" annotation(Placement(transformation(extent={{50,-50},{70,-30}})));
  Translational.Fixed housing "Takes up what the stops and seals take" annotation(Placement(transformation(extent={{10,-10},{30,10}})));
  replaceable model Law = Translational.Friction.StickSlip constrainedby Translational.Friction.Contact "How the seals stick"
    annotation(choices(choice(redeclare model Law = Kilohertz.Translational.Friction.StickSlip "Sticks and slides, with events"),
      choice(redeclare model Law = Kilohertz.Translational.Friction.Smooth "Creeps, without events")));
  Law seal(level=f_seal) if f_seal > 0 "Seals" annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
  DifferentialCylinder core(d_piston=d_piston, d_rod=d_rod, stroke=stroke, V_a=V_a, V_b=V_b, G=G, E=E, steady=steady,
    s(min=-V_a/core.A_a, max=stroke + V_b/core.A_b)) "Chambers; the stops give way, at most by the dead volumes" annotation(Placement(transformation(extent={{-30,-50},{-10,-30}})));
  Units.Pressure p_a = core.p_a "Pressure of the piston side";
  Units.Pressure p_b = core.p_b "Pressure of the rod side";
  Units.Length s = core.s "How far the rod is out";
  Units.Velocity v = core.v "Velocity of the rod";
equation
  connect(a, core.a) annotation(Line(points={{-70,-100},{-70,-75},{-27,-75},{-27,-50}}, color={0,80,160}));
  connect(b, core.b) annotation(Line(points={{40,-100},{40,-75},{-16,-75},{-16,-50}}, color={0,80,160}));
  connect(core.flange, flange) annotation(Line(points={{-10,-40},{45,-40},{45,0},{100,0}}, color={0,127,0}));
  connect(housing.a, stop.a) annotation(Line(points={{20,0},{16,0},{16,-40},{50,-40}}, color={0,127,0}));
  connect(stop.b, flange) annotation(Line(points={{70,-40},{85,-40},{85,0},{100,0}}, color={0,127,0}));
  connect(housing.a, seal.b) annotation(Line(points={{20,0},{-10,0}}, color={0,127,0}));
  connect(seal.a, flange) annotation(Line(points={{-30,0},{100,0}}, color={0,127,0}));
  annotation(Icon(graphics={Rectangle(extent={{-90,40},{60,-40}}, lineColor={0,80,160}, fillColor={230,240,250}, fillPattern=FillPattern.Solid), Rectangle(extent={{-30,40},{-15,-40}}, fillColor={150,150,150}, fillPattern=FillPattern.Solid), Rectangle(extent={{-15,8},{95,-8}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Rectangle(extent={{-90,20},{-75,-20}}, fillColor={80,80,80}, fillPattern=FillPattern.Solid), Rectangle(extent={{45,30},{60,12}}, fillColor={80,80,80}, fillPattern=FillPattern.Solid), Rectangle(extent={{45,-12},{60,-30}}, fillColor={80,80,80}, fillPattern=FillPattern.Solid), Line(points={{-70,-90},{-70,-40}}, color={0,80,160}), Line(points={{40,-90},{40,-40}}, color={0,80,160}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p>The chambers of <code>DifferentialCylinder</code>, between stops at <code>0</code> and <code>stroke</code>: spring and damper, which push back and never hold. The dead volumes must be larger than what the stops give way.</p></html>"));
end Cylinder;
