within Kilohertz.Examples;
package Drives "Shafts, gears and friction: what each component of Rotational does"
  model ClutchEngages "A clutch takes a load along until both turn as one"
    Rotational.Inertia engine(J=1, phi(start=0, fixed=true), w(start=10, fixed=true)) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
    Rotational.Clutch clutch(tau_max=20) annotation(Placement(transformation(extent={{50,-10},{70,10}})));
    Rotational.Inertia load(J=2, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{50,-50},{70,-30}})));
    Rotational.Sources.Torque drive annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
  equation
    clutch.u = if time < 0.2 then 0 else 1;
    drive.tau = if time < 1 then 0 else 25*sin(2*(time - 1));
    connect(drive.b, engine.a) annotation(Line(points={{-10,0},{10,0}}, color={70,70,70}));
    connect(engine.b, clutch.a) annotation(Line(points={{30,0},{50,0}}, color={70,70,70}));
    connect(clutch.b, load.a) annotation(Line(points={{70,0},{74,0},{74,-20},{46,-20},{46,-40},{50,-40}}, color={70,70,70}));
    annotation(experiment(StopTime=4, Tolerance=1e-8), Documentation(info="<html><p>Sliding at 20 N.m from 0.2 s, the speeds meet after
      another third of a second; the drive that sets in later never asks for more torque than the clutch holds.</p></html>"));
  end ClutchEngages;

  model SmoothClutch "The same without events"
    extends ClutchEngages(clutch(redeclare model Law = Rotational.Friction.Smooth));
    annotation(experiment(StopTime=4, Tolerance=1e-8), Documentation(info="<html><p>Look at <code>clutch.w_rel</code>: it creeps where the
      clutch above sticks.</p></html>"));
  end SmoothClutch;

  model StickingBearing "A torque swings about the friction of a bearing"
    Rotational.Inertia rotor(J=1, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
    Rotational.Bearing bearing(tau_0=2, peak=1.5) annotation(Placement(transformation(extent={{50,-10},{70,10}})));
    Rotational.Sources.Torque drive annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
  equation
    drive.tau = 3.2*sin(2*time);
    connect(drive.b, rotor.a) annotation(Line(points={{-10,0},{10,0}}, color={70,70,70}));
    connect(rotor.b, bearing.a) annotation(Line(points={{30,0},{50,0}}, color={70,70,70}));
    annotation(experiment(StopTime=10, Tolerance=1e-8), Documentation(info="<html><p>It rests until the torque exceeds 3 N.m, turns against
      2 N.m, comes to rest, and waits for the other half of the swing.</p></html>"));
  end StickingBearing;

  model Braked "A brake stops a rotor and holds it against a torque"
    Rotational.Inertia rotor(J=0.5, phi(start=0, fixed=true), w(start=20, fixed=true)) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
    Rotational.Brake brake(tau_max=10) annotation(Placement(transformation(extent={{50,-10},{70,10}})));
    Rotational.Sources.ConstantTorque push(tau=4) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
  equation
    brake.u = if time < 2.5 then 1 else 0;
    connect(push.b, rotor.a) annotation(Line(points={{-10,0},{10,0}}, color={70,70,70}));
    connect(rotor.b, brake.a) annotation(Line(points={{30,0},{50,0}}, color={70,70,70}));
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>At rest after 1.67 s; released at 2.5 s.</p></html>"));
  end Braked;

  model Backlash "A drive swings through the play of its coupling"
    Rotational.Inertia motor(J=0.01, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    replaceable Rotational.ElasticBacklash coupling constrainedby Rotational.Play(c=1000, d=0.5, play=0.02) "How the teeth meet"
      annotation(Placement(transformation(extent={{-10,-10},{10,10}})), choices(choice(redeclare Kilohertz.Rotational.ElasticBacklash coupling "With events"), choice(redeclare Kilohertz.Rotational.SmoothBacklash coupling "Rounded, without events")));
    Rotational.Inertia load(J=0.1, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Rotational.Damper friction(d=0.1) annotation(Placement(transformation(extent={{70,-10},{90,10}})));
    Rotational.Fixed housing annotation(Placement(transformation(extent={{70,-50},{90,-30}})));
    Rotational.Sources.Torque drive annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
  equation
    drive.tau = sin(10*time);
    connect(drive.b, motor.a) annotation(Line(points={{-70,0},{-50,0}}, color={70,70,70}));
    connect(motor.b, coupling.a) annotation(Line(points={{-30,0},{-10,0}}, color={70,70,70}));
    connect(coupling.b, load.a) annotation(Line(points={{10,0},{30,0}}, color={70,70,70}));
    connect(load.b, friction.a) annotation(Line(points={{50,0},{70,0}}, color={70,70,70}));
    connect(friction.b, housing.a) annotation(Line(points={{90,0},{94,0},{94,-20},{76,-20},{76,-40},{80,-40}}, color={70,70,70}));
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Each change of sign of the torque lets the motor cross
      the play and hit the other side.</p></html>"));
  end Backlash;

  model RoundedBacklash "The same without events"
    extends Backlash(redeclare Rotational.SmoothBacklash coupling(rounding=5e-4));
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>For fixed steps; the blows are rounder.</p></html>"));
  end RoundedBacklash;

  model Hoist "A gear with losses lifts a weight, lets it down, and holds it"
    Rotational.Inertia motor(J=0.1, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    Rotational.LossyGear gear(ratio=5, eta=0.8, eta_back=0.7) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Rotational.Inertia drum(J=3) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Rotational.Sources.Torque drive annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
    Rotational.Sources.ConstantTorque weight(tau=-20) annotation(Placement(transformation(extent={{30,-50},{50,-30}})));
  equation
    drive.tau = if time < 1 then 8 elseif time < 2 then 3.5 else 2;
    connect(drive.b, motor.a) annotation(Line(points={{-70,0},{-50,0}}, color={70,70,70}));
    connect(motor.b, gear.a) annotation(Line(points={{-30,0},{-10,0}}, color={70,70,70}));
    connect(gear.b, drum.a) annotation(Line(points={{10,0},{30,0}}, color={70,70,70}));
    connect(drum.b, weight.b) annotation(Line(points={{50,0},{54,0},{54,-40},{50,-40}}, color={70,70,70}));
    annotation(experiment(StopTime=6, Tolerance=1e-8), Documentation(info="<html><p>20 N.m at the drum take 4 N.m at the motor without losses,
      5 N.m to lift and 2.8 N.m to let down: at 3.5 N.m it slows down and rests, at 2 N.m it sinks.</p></html>"));
  end Hoist;

  model PlanetaryStages "A simple planetary gear and a Ravigneaux set, each with one member held"
    Rotational.Inertia sun(J=0.1, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    Rotational.Planetary simple(ratio=2) annotation(Placement(transformation(extent={{-10,10},{10,30}})));
    Rotational.Inertia carrier(J=1) annotation(Placement(transformation(extent={{-10,50},{10,70}})));
    Rotational.Inertia first(J=0.1, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-50,-30},{-30,-10}})));
    Rotational.Ravigneaux double(ratio_small=2.8, ratio_large=2.2) annotation(Placement(transformation(extent={{-10,-30},{10,-10}})));
    Rotational.Inertia out(J=2) annotation(Placement(transformation(extent={{30,-30},{50,-10}})));
    Rotational.Inertia idle(J=0.05) "Turns along with the large sun" annotation(Placement(transformation(extent={{-10,-70},{10,-50}})));
    Rotational.Fixed held annotation(Placement(transformation(extent={{30,10},{50,30}})));
    Rotational.Sources.ConstantTorque push(tau=1) annotation(Placement(transformation(extent={{-90,10},{-70,30}}))), press(tau=1) annotation(Placement(transformation(extent={{-90,-30},{-70,-10}})));
  equation
    connect(push.b, sun.a) annotation(Line(points={{-70,20},{-50,20}}, color={70,70,70}));
    connect(sun.b, simple.sun) annotation(Line(points={{-30,20},{-10,20}}, color={70,70,70}));
    connect(simple.ring, held.a) annotation(Line(points={{10,20},{40,20}}, color={70,70,70}));
    connect(simple.carrier, carrier.a) annotation(Line(points={{-10,26},{-14,26},{-14,60},{-10,60}}, color={70,70,70}));
    connect(press.b, first.a) annotation(Line(points={{-70,-20},{-50,-20}}, color={70,70,70}));
    connect(first.b, double.small) annotation(Line(points={{-30,-20},{-20,-20},{-20,-26},{-10,-26}}, color={70,70,70}));
    connect(double.carrier, held.a) annotation(Line(points={{-10,-14},{-14,-14},{-14,20},{40,20}}, color={70,70,70}));
    connect(double.ring, out.a) annotation(Line(points={{10,-20},{30,-20}}, color={70,70,70}));
    connect(double.large, idle.a) annotation(Line(points={{-10,-20},{-14,-20},{-14,-60},{-10,-60}}, color={70,70,70}));
    annotation(experiment(StopTime=2, Tolerance=1e-8), Documentation(info="<html><p>Ring held: sun over carrier is 3. Carrier held: small sun
      over ring is 2.8, the large sun turns back 2.2 times as fast as the ring.</p></html>"));
  end PlanetaryStages;

  model Overrun "A freewheel lets a rotor run ahead of its drive"
    Rotational.Sources.Speed drive(T=1e-3) annotation(Placement(transformation(extent={{-90,-50},{-70,-30}})));
    Rotational.Inertia shaft(J=0.01) annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
    Rotational.Freewheel freewheel annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    Rotational.Inertia rotor(J=1, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Rotational.Damper friction(d=0.2) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Rotational.Fixed housing annotation(Placement(transformation(extent={{70,-10},{90,10}})));
  equation
    drive.w_ref = 5*sin(time);
    connect(drive.b, shaft.a) annotation(Line(points={{-70,-40},{-66,-40},{-66,-20},{-94,-20},{-94,0},{-90,0}}, color={70,70,70}));
    connect(shaft.b, freewheel.a) annotation(Line(points={{-70,0},{-50,0}}, color={70,70,70}));
    connect(freewheel.b, rotor.a) annotation(Line(points={{-30,0},{-10,0}}, color={70,70,70}));
    connect(rotor.b, friction.a) annotation(Line(points={{10,0},{30,0}}, color={70,70,70}));
    connect(friction.b, housing.a) annotation(Line(points={{50,0},{80,0}}, color={70,70,70}));
    annotation(experiment(StopTime=12, Tolerance=1e-8), Documentation(info="<html><p>The rotor follows the drive up, runs out against its
      friction, and is taken along again by the next swing.</p></html>"));
  end Overrun;

  model Converter "A torque converter starts a vehicle and is locked"
    Rotational.Inertia engine(J=0.3, phi(start=0, fixed=true), w(start=100, fixed=true)) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    Rotational.TorqueConverter converter(tau_lock=300) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Rotational.Inertia vehicle(J=6, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{70,-10},{90,10}})));
    Rotational.Sources.ConstantTorque drive(tau=150) annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
    Rotational.Sources.SpeedDependentTorque air(tau_nominal=40, w_nominal=300) annotation(Placement(transformation(extent={{70,-50},{90,-30}})));
    Rotational.Sensors.Power power annotation(Placement(transformation(extent={{30,-10},{50,10}})));
  equation
    converter.u = if time < 6 then 0 else min(1, (time - 6)/0.5);
    connect(drive.b, engine.a) annotation(Line(points={{-70,0},{-50,0}}, color={70,70,70}));
    connect(engine.b, converter.a) annotation(Line(points={{-30,0},{-10,0}}, color={70,70,70}));
    connect(converter.b, power.a) annotation(Line(points={{10,0},{30,0}}, color={70,70,70}));
    connect(power.b, vehicle.a) annotation(Line(points={{50,0},{70,0}}, color={70,70,70}));
    connect(vehicle.b, air.b) annotation(Line(points={{90,0},{94,0},{94,-40},{90,-40}}, color={70,70,70}));
    annotation(experiment(StopTime=10, Tolerance=1e-8), Documentation(info="<html><p>At the start the turbine has twice the torque of the pump;
      from 6 s the lock-up clutch joins them.</p></html>"));
  end Converter;

  model Pendulum "A shaft on a torsion spring between two stops"
    Rotational.Inertia bar(J=1, phi(start=0, fixed=true), w(start=3, fixed=true)) annotation(Placement(transformation(extent={{50,-30},{70,-10}})));
    Rotational.SpringDamper spring(c=2, d=0) annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    Rotational.EndStop stop(phi_max=1, phi_min=-0.5, c=1e4, d=20) annotation(Placement(transformation(extent={{50,10},{70,30}})));
    Rotational.Fixed housing annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    Rotational.Sensors.Angle angle annotation(Placement(transformation(extent={{90,-30},{110,-10}})));
    Rotational.Sensors.Speed speed annotation(Placement(transformation(extent={{90,10},{110,30}})));
    Rotational.Sensors.Torque torque annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
  equation
    connect(housing.a, spring.a) annotation(Line(points={{-20,20},{-34,20},{-34,-20},{-30,-20}}, color={70,70,70}));
    connect(spring.b, torque.a) annotation(Line(points={{-10,-20},{10,-20}}, color={70,70,70}));
    connect(torque.b, bar.a) annotation(Line(points={{30,-20},{50,-20}}, color={70,70,70}));
    connect(housing.a, stop.a) annotation(Line(points={{-20,20},{50,20}}, color={70,70,70}));
    connect(stop.b, bar.b) annotation(Line(points={{70,20},{74,20},{74,-20},{70,-20}}, color={70,70,70}));
    connect(angle.a, bar.b) annotation(Line(points={{90,-20},{70,-20}}, color={70,70,70}));
    connect(speed.a, bar.b) annotation(Line(points={{90,20},{80,20},{80,-20},{70,-20}}, color={70,70,70}));
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=5, Tolerance=1e-8), Documentation(info="<html><p>Between the stops it swings with <code>sqrt(c/J)</code>; each stop
      takes a part of its energy.</p></html>"));
  end Pendulum;
end Drives;
