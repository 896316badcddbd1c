within Kilohertz.Examples;
package Slides "Rods, stops and friction: what each component of Translational does"
  model StickSlip "A mass pulled through a spring creeps by jerks"
    Translational.Sources.Speed pull(T=1e-3) annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
    Translational.SpringDamper spring(c=2000, d=1) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    Translational.Mass mass(m=1, s(start=0, fixed=true), v(start=0, fixed=true)) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Translational.Guide guide(f_0=20, peak=2) annotation(Placement(transformation(extent={{70,-10},{90,10}})));
    Translational.Sensors.Force force annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
  equation
    pull.v_ref = 0.1;
    connect(pull.b, spring.a) annotation(Line(points={{-70,0},{-50,0}}, color={0,127,0}));
    connect(spring.b, force.a) annotation(Line(points={{-30,0},{-10,0}}, color={0,127,0}));
    connect(force.b, mass.a) annotation(Line(points={{10,0},{30,0}}, color={0,127,0}));
    connect(mass.b, guide.a) annotation(Line(points={{50,0},{70,0}}, color={0,127,0}));
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>It sticks until the spring has 40 N, slips against 20 N, and
      sticks again.</p></html>"));
  end StickSlip;

  model Creeping "The same with the smooth law"
    extends StickSlip(guide(redeclare model Law = Translational.Friction.Smooth));
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Without a peak of the force the jerks are gone: what a law
      leaves out is part of the choice.</p></html>"));
  end Creeping;

  model BetweenStops "A mass thrown against a stop and back, braked at last"
    Translational.Mass mass(m=2, s(start=0.5, fixed=true), v(start=1, fixed=true)) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Translational.EndStop stop(s_min=0, s_max=1, c=1e5, d=100) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    Translational.Brake brake(f_max=10) annotation(Placement(transformation(extent={{30,-50},{50,-30}})));
    Translational.Fixed wall annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
    Translational.Sensors.Position position annotation(Placement(transformation(extent={{30,30},{50,50}})));
    Translational.Sensors.Speed speed annotation(Placement(transformation(extent={{30,-10},{50,10}})));
  equation
    brake.u = if time < 2 then 0 else 1;
    connect(wall.a, stop.a) annotation(Line(points={{-80,0},{-50,0}}, color={0,127,0}));
    connect(stop.b, mass.a) annotation(Line(points={{-30,0},{-10,0}}, color={0,127,0}));
    connect(mass.b, brake.a) annotation(Line(points={{10,0},{20,0},{20,-40},{30,-40}}, color={0,127,0}));
    connect(position.a, mass.b) annotation(Line(points={{30,40},{20,40},{20,0},{10,0}}, color={0,127,0}));
    connect(speed.a, mass.b) annotation(Line(points={{30,0},{10,0}}, color={0,127,0}));
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Each blow leaves the speed that spring and damper of the stop
      leave; the brake stops it at a constant deceleration.</p></html>"));
  end BetweenStops;

  model Buffer "A rack drives a mass against a buffer"
    Rotational.Sources.ConstantTorque drive(tau=5) annotation(Placement(transformation(extent={{-90,-30},{-70,-10}})));
    Rotational.Inertia pinion(J=0.05, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-50,-30},{-30,-10}})));
    Translational.RackAndPinion rack(r=0.1) annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    Translational.Rod rod(L=0.2) annotation(Placement(transformation(extent={{-10,10},{10,30}})));
    Translational.Mass mass(m=5) annotation(Placement(transformation(extent={{30,10},{50,30}})));
    Translational.ElasticGap buffer(gap=0.3, c=1e4, d=200) annotation(Placement(transformation(extent={{70,10},{90,30}})));
    Translational.Fixed wall(s=1) annotation(Placement(transformation(extent={{110,10},{130,30}})));
    Translational.Sources.Force wind annotation(Placement(transformation(extent={{30,50},{50,70}})));
    Translational.Damper air(d=2) annotation(Placement(transformation(extent={{30,-30},{50,-10}})));
    Translational.Fixed ground annotation(Placement(transformation(extent={{-10,-30},{10,-10}})));
  equation
    wind.f = -10;
    connect(drive.b, pinion.a) annotation(Line(points={{-70,-20},{-50,-20}}, color={70,70,70}));
    connect(pinion.b, rack.a) annotation(Line(points={{-30,-20},{-26,-20},{-26,0},{-54,0},{-54,20},{-50,20}}, color={70,70,70}));
    connect(rack.b, rod.a) annotation(Line(points={{-30,20},{-10,20}}, color={0,127,0}));
    connect(rod.b, mass.a) annotation(Line(points={{10,20},{30,20}}, color={0,127,0}));
    connect(mass.b, buffer.a) annotation(Line(points={{50,20},{70,20}}, color={0,127,0}));
    connect(buffer.b, wall.a) annotation(Line(points={{90,20},{120,20}}, color={0,127,0}));
    connect(wind.b, mass.b) annotation(Line(points={{50,60},{54,60},{54,20},{50,20}}, color={0,127,0}));
    connect(ground.a, air.a) annotation(Line(points={{0,-20},{30,-20}}, color={0,127,0}));
    connect(air.b, mass.b) annotation(Line(points={{50,-20},{54,-20},{54,20},{50,20}}, color={0,127,0}));
    annotation(Diagram(coordinateSystem(extent={{-140,-140},{140,140}})), experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>50 N at the rack against 10 N of wind; it rests where the
      buffer takes 40 N.</p></html>"));
  end Buffer;

  model Play "A mass pushed to and fro through a coupling with play"
    Translational.Sources.Force push annotation(Placement(transformation(extent={{-10,-50},{10,-30}})));
    Translational.Mass first(m=1, s(start=0, fixed=true), v(start=0, fixed=true)) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Translational.ElasticBacklash coupling(c=1e4, d=5, play=0.02) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Translational.Mass second(m=2, d=5, s(start=0, fixed=true), v(start=0, fixed=true)) annotation(Placement(transformation(extent={{70,-10},{90,10}})));
    Blocks.Sources.Sine signal(amplitude=20, f=1) annotation(Placement(transformation(extent={{-50,-50},{-30,-30}})));
  equation
    connect(signal.y, push.f) annotation(Line(points={{-29,-40},{-12,-40}}, color={0,0,127}));
    connect(push.b, first.a) annotation(Line(points={{10,-40},{14,-40},{14,-20},{-14,-20},{-14,0},{-10,0}}, color={0,127,0}));
    connect(first.b, coupling.a) annotation(Line(points={{10,0},{30,0}}, color={0,127,0}));
    connect(coupling.b, second.a) annotation(Line(points={{50,0},{70,0}}, color={0,127,0}));
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Each time the force turns, the play is run through, and the second mass coasts.</p></html>"));
  end Play;
end Slides;
