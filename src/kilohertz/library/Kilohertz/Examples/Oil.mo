within Kilohertz.Examples;
package Oil "Hydraulic circuits: what each component of Hydraulics does"
  model PowerUnit "A motor, a pump, a check valve, an accumulator and a relief valve hold a pressure"
    Rotational.Sources.Speed motor(T=0.02) annotation(Placement(transformation(extent={{-50,-30},{-30,-10}})));
    Hydraulics.Pump pump(D=1e-5, G=1e-13) annotation(Placement(transformation(extent={{-10,-30},{10,-10}})));
    Hydraulics.Tank tank annotation(Placement(transformation(extent={{-10,-70},{10,-50}})));
    Hydraulics.Volume outlet(V=1e-4, p(start=2e5, fixed=true)) annotation(Placement(transformation(extent={{-90,-30},{-70,-10}})));
    Hydraulics.Valves.Relief relief(dp_set=1.5e7, dp_rise=5e5, q_nominal=6e-4) annotation(Placement(transformation(extent={{-90,-70},{-70,-50}})));
    Hydraulics.Valves.Check check annotation(Placement(transformation(extent={{-90,10},{-70,30}})));
    Hydraulics.Accumulator store(V_0=5e-4, p_0=5e6) annotation(Placement(transformation(extent={{-50,50},{-30,70}})));
    Hydraulics.Orifice load(A=1e-6) annotation(Placement(transformation(extent={{30,10},{50,30}})));
    Hydraulics.Sensors.Pressure pressure annotation(Placement(transformation(extent={{-10,50},{10,70}})));
    Hydraulics.Sensors.Flow meter annotation(Placement(transformation(extent={{-10,10},{10,30}})));
  equation
    motor.w_ref = if time < 4 then 150 else 0;
    connect(motor.b, pump.shaft) annotation(Line(points={{-30,-20},{-10,-20}}, color={70,70,70}));
    connect(tank.a, pump.a) annotation(Line(points={{0,-50},{0,-30}}, color={0,80,160}));
    connect(pump.b, outlet.a) annotation(Line(points={{0,-10},{0,-6},{-94,-6},{-94,-20},{-90,-20}}, color={0,80,160}));
    connect(outlet.a, relief.a) annotation(Line(points={{-90,-20},{-94,-20},{-94,-60},{-90,-60}}, color={0,80,160}));
    connect(relief.b, tank.a) annotation(Line(points={{-70,-60},{-66,-60},{-66,-46},{0,-46},{0,-50}}, color={0,80,160}));
    connect(outlet.a, check.a) annotation(Line(points={{-90,-20},{-94,-20},{-94,20},{-90,20}}, color={0,80,160}));
    connect(check.b, store.a) annotation(Line(points={{-70,20},{-40,20},{-40,50}}, color={0,80,160}));
    connect(store.a, pressure.a) annotation(Line(points={{-40,50},{-40,46},{-14,46},{-14,60},{-10,60}}, color={0,80,160}));
    connect(store.a, meter.a) annotation(Line(points={{-40,50},{-40,20},{-10,20}}, color={0,80,160}));
    connect(meter.b, load.a) annotation(Line(points={{10,20},{30,20}}, color={0,80,160}));
    connect(load.b, tank.a) annotation(Line(points={{50,20},{54,20},{54,-46},{0,-46},{0,-50}}, color={0,80,160}));
    annotation(experiment(StopTime=6, Tolerance=1e-8), Documentation(info="<html><p>The accumulator is filled until the relief valve takes what the
      load does not; when the motor stops, the check valve closes and the accumulator alone feeds the load.</p></html>"));
  end PowerUnit;

  model Hammer "A line is closed at its end: the wave runs to and fro"
    Hydraulics.PressureSource supply(p=5e6) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    Hydraulics.LongLine line(n=20, length=20, p_start=5e6) annotation(Placement(transformation(extent={{10,30},{30,50}})));
    Hydraulics.FlowSource end_valve annotation(Placement(transformation(extent={{10,-10},{30,10}})));
  equation
    end_valve.q = if time < 0.05 then -2e-4*time/0.05 elseif time < 0.3 then -2e-4 else 0;
    connect(supply.a, line.a) annotation(Line(points={{-20,10},{-20,40},{10,40}}, color={0,80,160}));
    connect(line.b, end_valve.b) annotation(Line(points={{30,40},{34,40},{34,0},{30,0}}, color={0,80,160}));
    annotation(experiment(StopTime=0.6, Tolerance=1e-8), Documentation(info="<html><p>A flow that is stopped at once raises the pressure by
      <code>sqrt(E rho) q/A</code>; the wave comes back after <code>2 length/sqrt(E/rho)</code>.</p></html>"));
  end Hammer;

  model Bubbles "The same volume is filled with and without air in the fluid"
    Hydraulics.FlowSource feed annotation(Placement(transformation(extent={{-70,-30},{-50,-10}}))), feed_too annotation(Placement(transformation(extent={{-110,10},{-90,30}})));
    Hydraulics.Volume clean(V=1e-4, p(start=1e5, fixed=true)) annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    Hydraulics.AiryVolume airy(V=1e-4, air=0.02, p(start=1e5, fixed=true)) annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    Hydraulics.LaminarResistance leak(R=1e14) annotation(Placement(transformation(extent={{-30,10},{-10,30}}))), leak_too(R=1e14) annotation(Placement(transformation(extent={{-70,50},{-50,70}})));
    Hydraulics.Tank tank(p=1e5) annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
  equation
    feed.q = 1e-6;
    feed_too.q = 1e-6;
    connect(feed.b, clean.a) annotation(Line(points={{-50,-20},{-30,-20}}, color={0,80,160}));
    connect(feed_too.b, airy.a) annotation(Line(points={{-90,20},{-70,20}}, color={0,80,160}));
    connect(clean.a, leak.a) annotation(Line(points={{-30,-20},{-34,-20},{-34,20},{-30,20}}, color={0,80,160}));
    connect(leak.b, tank.a) annotation(Line(points={{-10,20},{20,20},{20,-10}}, color={0,80,160}));
    connect(airy.a, leak_too.a) annotation(Line(points={{-70,20},{-74,20},{-74,60},{-70,60}}, color={0,80,160}));
    connect(leak_too.b, tank.a) annotation(Line(points={{-50,60},{20,60},{20,-10}}, color={0,80,160}));
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>First the air is pressed together, then the pressure rises as
      steeply as without it.</p></html>"));
  end Bubbles;

  model Lift "A 3/2 valve lifts a weight, a 2/2 valve lets it down"
    Hydraulics.PressureSource supply(p=1.6e7) annotation(Placement(transformation(extent={{50,-30},{70,-10}})));
    Hydraulics.Tank tank annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
    Hydraulics.Valves.Valve32 raise annotation(Placement(transformation(extent={{50,10},{70,30}})));
    Hydraulics.Valves.Valve22 lower annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    Hydraulics.Cylinder cylinder(stroke=0.4, f_seal=500, core(p_a(start=1.2e7, fixed=true), p_b(start=2e5, fixed=true))) annotation(Placement(transformation(extent={{-70,50},{-50,70}})));
    Translational.Mass mass(m=1500, s(start=0.01, fixed=true), v(start=0, fixed=true)) annotation(Placement(transformation(extent={{-30,50},{-10,70}})));
    Translational.ConstantForce weight(f=-14715) annotation(Placement(transformation(extent={{10,50},{30,70}})));
    Hydraulics.LaminarResistance vent(R=1e8) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
  equation
    raise.u = if time < 0.2 then 0 elseif time < 1.2 then 4 else 0;
    lower.u = if time < 1.6 then 0 else 5;
    connect(supply.a, raise.p) annotation(Line(points={{60,-10},{60,0},{56,0},{56,10}}, color={0,80,160}));
    connect(tank.a, raise.t) annotation(Line(points={{20,-10},{20,0},{64,0},{64,10}}, color={0,80,160}));
    connect(raise.a, cylinder.a) annotation(Line(points={{56,30},{56,40},{-67,40},{-67,50}}, color={0,80,160}));
    connect(cylinder.a, lower.a) annotation(Line(points={{-67,50},{-67,-20},{-30,-20}}, color={0,80,160}));
    connect(lower.b, tank.a) annotation(Line(points={{-10,-20},{-6,-20},{-6,-6},{20,-6},{20,-10}}, color={0,80,160}));
    connect(cylinder.b, vent.a) annotation(Line(points={{-56,50},{-56,20},{-30,20}}, color={0,80,160}));
    connect(vent.b, tank.a) annotation(Line(points={{-10,20},{20,20},{20,-10}}, color={0,80,160}));
    connect(cylinder.flange, mass.a) annotation(Line(points={{-50,60},{-30,60}}, color={0,127,0}));
    connect(mass.b, weight.b) annotation(Line(points={{-10,60},{30,60}}, color={0,127,0}));
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Down it goes until the piston meets its stop.</p></html>"));
  end Lift;

  model Press "Force control with a fluid that gives way to nothing"
    Hydraulics.PressureSource supply(p=1.6e7) annotation(Placement(transformation(extent={{-50,-70},{-30,-50}})));
    Hydraulics.Tank tank annotation(Placement(transformation(extent={{-10,-70},{10,-50}})));
    Hydraulics.Valve43 valve(rounding=0.05) annotation(Placement(transformation(extent={{-50,-30},{-30,-10}})));
    Hydraulics.IncompressibleCylinder cylinder(G=1e-12) annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    Translational.Mass ram(m=200, d=5000, s(start=0, fixed=true), v(start=0, fixed=true)) annotation(Placement(transformation(extent={{-10,10},{10,30}})));
    Translational.Sensors.Force force annotation(Placement(transformation(extent={{30,10},{50,30}})));
    Translational.ElasticGap work(gap=0, c=5e6, d=5e4) annotation(Placement(transformation(extent={{70,10},{90,30}})));
    Translational.Fixed table(s=0.05) annotation(Placement(transformation(extent={{110,10},{130,30}})));
    replaceable Control.Force controller(k=2e-5, Ti=0.05, y_max=1) constrainedby Blocks.Feedback annotation(Placement(transformation(extent={{70,-30},{90,-10}})));
    Blocks.Sources.Ramp reference(height=2e4, duration=0.5, starts=0.5) annotation(Placement(transformation(extent={{-10,-30},{10,-10}})));
  equation
    connect(reference.y, controller.reference) annotation(Line(points={{11,-20},{39.5,-20},{39.5,-14},{68,-14}}, color={0,0,127}));
    connect(force.f, controller.measured) annotation(Line(points={{40,9},{40,-26},{68,-26}}, color={0,0,127}));
    valve.u = 10*controller.y;
    connect(supply.a, valve.p) annotation(Line(points={{-40,-50},{-40,-40},{-42,-40},{-42,-30}}, color={0,80,160}));
    connect(tank.a, valve.t) annotation(Line(points={{0,-50},{0,-40},{-38,-40},{-38,-30}}, color={0,80,160}));
    connect(valve.a, cylinder.a) annotation(Line(points={{-42,-10},{-42,0},{-47,0},{-47,10}}, color={0,80,160}));
    connect(valve.b, cylinder.b) annotation(Line(points={{-38,-10},{-38,0},{-36,0},{-36,10}}, color={0,80,160}));
    connect(cylinder.flange, ram.a) annotation(Line(points={{-30,20},{-10,20}}, color={0,127,0}));
    connect(ram.b, force.a) annotation(Line(points={{10,20},{30,20}}, color={0,127,0}));
    connect(force.b, work.a) annotation(Line(points={{50,20},{70,20}}, color={0,127,0}));
    connect(work.b, table.a) annotation(Line(points={{90,20},{120,20}}, color={0,127,0}));
    annotation(Diagram(coordinateSystem(extent={{-140,-140},{140,140}})), experiment(StopTime=2, Tolerance=1e-8), Documentation(info="<html><p>The ram meets the workpiece and presses with what is asked for;
      the pressures are unknowns of a nonlinear loop, not states.</p></html>"));
  end Press;

  model SampledPress "The same with the controller at 1 kHz"
    extends Press(redeclare Control.SampledForce controller(k=2e-5, Ti=0.05, y_max=1, period=1e-3));
    annotation(Diagram(coordinateSystem(extent={{-140,-140},{140,140}})), experiment(StopTime=2, Tolerance=1e-8), Documentation(info="<html><p>What a program of the controller does.</p></html>"));
  end SampledPress;
end Oil;
