within Kilohertz.Examples;
package Car "Cars along a straight road"
  model GearRatios "The gearbox in each of its gears: one after the other, driven at a constant speed"
    Rotational.Sources.Speed drive(T=1e-3);
    Powertrain.SixSpeedGearbox gearbox;
    Rotational.Sources.SpeedDependentTorque load(tau_nominal=20, w_nominal=100);
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
    connect(drive.b, gearbox.a);
    connect(gearbox.b, load.b);
    annotation(experiment(StopTime=2, Tolerance=1e-8), Documentation(info="<html><p><code>khz simulate \"Kilohertz.Examples.Car.GearRatios(gear=4)\"</code>
      shows another gear.</p></html>"));
  end GearRatios;

  model SixSpeeds "Engine, converter, six-speed gearbox, car and driver on a profile of the speed"
    Powertrain.Engine engine;
    Rotational.TorqueConverter converter(tau_lock=500);
    Powertrain.SixSpeedGearbox gearbox;
    Rotational.Gear final_drive(ratio=3.5);
    Powertrain.Vehicle car(body(s(start=0, fixed=true), v(start=0, fixed=true)));
    Powertrain.ShiftLogic shift;
    Powertrain.Driver driver;
    Blocks.Sources.Table profile(t={1, 20, 35, 50, 60, 75, 85}, values={0, 22, 34, 34, 20, 20, 0});
  initial equation
    gearbox.small.phi = 0;
    gearbox.large.phi = 0;
    gearbox.small.w = 0;
    gearbox.large.w = 0;
    gearbox.input_shaft.phi = 0;
    gearbox.input_shaft.w = 0;
  equation
    connect(profile.y, driver.v_ref);
    connect(car.v, driver.v);
    connect(driver.throttle, engine.throttle);
    connect(driver.brake, car.brake);
    connect(engine.b, converter.a);
    connect(converter.b, gearbox.a);
    connect(gearbox.b, final_drive.a);
    connect(final_drive.b, car.a);
    connect(car.v, shift.v);
    connect(shift.u, gearbox.u);
    connect(shift.lock, converter.u);
    annotation(experiment(StopTime=90, Tolerance=1e-6, Interval=1e-2), Documentation(info="<html><p>After the transmission benchmark of Elmqvist et al. 2004, with
      our own parameters: up through six gears, down again, and to rest. Every shift lets one clutch go and engages another; each sticking
      and each breaking away is an event.</p></html>"));
  end SixSpeeds;
end Car;
