within Kilohertz.Examples;
package Car "Cars along a straight road"
  model GearRatios "The gearbox in each of its gears: one after the other, driven at a constant speed"
    Rotational.Sources.Speed drive(T=1e-3) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    Powertrain.SixSpeedGearbox gearbox annotation(Placement(transformation(extent={{10,-10},{30,10}})));
    Rotational.Sources.SpeedDependentTorque load(tau_nominal=20, w_nominal=100) annotation(Placement(transformation(extent={{10,-50},{30,-30}})));
    parameter Integer gear = 1 "Gear: 1 to 6" annotation(Evaluate=true);
    Real ratio "Speed of the input over speed of the output";
  protected
    constant Real closed[6, 5] = [1, 0, 0, 1, 0; 1, 0, 1, 0, 0; 1, 1, 0, 0, 0; 1, 0, 0, 0, 1; 0, 1, 0, 0, 1; 0, 0, 1, 0, 1] "Who is pressed, by gears";
  initial equation
    gearbox.second.small.phi = 0;
    gearbox.second.large.phi = 0;
    gearbox.small.w = 0;
    gearbox.large.w = 0;
  equation
    drive.w_ref = if time < 0.01 then 0 else min(100, 200*(time - 0.01));
    gearbox.u = closed[gear];
    ratio = gearbox.input_shaft.w/max(gearbox.output_shaft.w, 1e-3);
    connect(drive.b, gearbox.a) annotation(Line(points={{-10,0},{10,0}}, color={70,70,70}));
    connect(gearbox.b, load.b) annotation(Line(points={{30,0},{34,0},{34,-40},{30,-40}}, color={70,70,70}));
    annotation(experiment(StopTime=2, Tolerance=1e-8), Documentation(info="<html><p><code>khz simulate \"Kilohertz.Examples.Car.GearRatios(gear=4)\"</code>
      shows another gear.</p></html>"));
  end GearRatios;

  model SixSpeeds "Engine, converter, six-speed gearbox, car and driver on a profile of the speed"
    Powertrain.Engine engine annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
    Rotational.TorqueConverter converter(tau_lock=500) annotation(Placement(transformation(extent={{50,-30},{70,-10}})));
    Powertrain.SixSpeedGearbox gearbox annotation(Placement(transformation(extent={{90,-30},{110,-10}})));
    Rotational.Gear final_drive(ratio=3.5) annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
    Powertrain.Vehicle car(body(s(start=0, fixed=true), v(start=0, fixed=true))) annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    Powertrain.ShiftLogic shift annotation(Placement(transformation(extent={{10,10},{30,30}})));
    Powertrain.Driver driver annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    Blocks.Sources.Table profile(t={1, 20, 35, 50, 60, 75, 85}, values={0, 22, 34, 34, 20, 20, 0}) annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
  initial equation
    gearbox.small.phi = 0;
    gearbox.large.phi = 0;
    gearbox.small.w = 0;
    gearbox.large.w = 0;
    gearbox.input_shaft.phi = 0;
    gearbox.input_shaft.w = 0;
  equation
    connect(profile.y, driver.v_ref) annotation(Line(points={{-49,20},{-40.5,20},{-40.5,26},{-32,26}}, color={0,0,127}));
    connect(car.v, driver.v) annotation(Line(points={{-9,-20},{-5,-20},{-5,-3},{-36,-3},{-36,14},{-32,14}}, color={0,0,127}));
    connect(driver.throttle, engine.throttle) annotation(Line(points={{-9,26},{-0.5,26},{-0.5,-20},{8,-20}}, color={0,0,127}));
    connect(driver.brake, car.brake) annotation(Line(points={{-9,14},{-5,14},{-5,-5},{-20,-5},{-20,-9}}, color={0,0,127}));
    connect(engine.b, converter.a) annotation(Line(points={{30,-20},{50,-20}}, color={70,70,70}));
    connect(converter.b, gearbox.a) annotation(Line(points={{70,-20},{90,-20}}, color={70,70,70}));
    connect(gearbox.b, final_drive.a) annotation(Line(points={{110,-20},{114,-20},{114,0},{-74,0},{-74,-20},{-70,-20}}, color={70,70,70}));
    connect(final_drive.b, car.a) annotation(Line(points={{-50,-20},{-30,-20}}, color={70,70,70}));
    connect(car.v, shift.v) annotation(Line(points={{-9,-20},{-0.5,-20},{-0.5,20},{8,20}}, color={0,0,127}));
    connect(shift.u, gearbox.u) annotation(Line(points={{31,26},{100,26},{100,-9}}, color={0,0,127}));
    connect(shift.lock, converter.u) annotation(Line(points={{31,14},{60,14},{60,-9}}, color={0,0,127}));
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=90, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>After the transmission benchmark of Elmqvist et al. 2004, with
      our own parameters: up through six gears, down again, and to rest. Every shift lets one clutch go and engages another; each sticking
      and each breaking away is an event.</p></html>"));
  end SixSpeeds;
end Car;
