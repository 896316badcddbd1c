within Kilohertz.Examples;
package Signals "Blocks and controllers: what each of them does"
  model Sources "One of each source"
    Blocks.Sources.Constant constant_(k=2) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    Blocks.Sources.Step step(height=3, offset=1, starts=0.5) annotation(Placement(transformation(extent={{10,10},{30,30}})));
    Blocks.Sources.Ramp ramp(height=2, duration=0.5, offset=-1, starts=0.25) annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
    Blocks.Sources.Sine sine(amplitude=2, f=3, phase=0.5, offset=1, starts=0.1) annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    Blocks.Sources.Pulse pulse(amplitude=4, period=0.2, width=0.25, starts=0.1) annotation(Placement(transformation(extent={{-30,-70},{-10,-50}})));
    Blocks.Sources.Table table(t={0.1, 0.3, 0.6, 0.8}, values={1, 3, 2, 5}) annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    Blocks.Sources.Table steps(t={0.1, 0.3, 0.6, 0.8}, values={1, 3, 2, 5}, hold=true) annotation(Placement(transformation(extent={{-30,50},{-10,70}})));
    Blocks.Continuous.Integrator area "Integral of the table: exact, since no step goes over a corner" annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
  equation
    connect(table.y, area.u) annotation(Line(points={{-9,-20},{8,-20}}, color={0,0,127}));
    annotation(experiment(StopTime=1, Tolerance=1e-8), Documentation(info="<html><p>Corners and jumps are events.</p></html>"));
  end Sources;

  model Filters "Step responses, and what a sine of one frequency becomes"
    Blocks.Sources.Step step annotation(Placement(transformation(extent={{-90,10},{-70,30}})));
    Blocks.Sources.Sine sine(f=2) annotation(Placement(transformation(extent={{-50,-30},{-30,-10}})));
    Blocks.Continuous.FirstOrder first(k=2, T=0.1) annotation(Placement(transformation(extent={{-50,90},{-30,110}})));
    Blocks.Continuous.SecondOrder second(f=2, damping=0.3) annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    Blocks.Continuous.LowPass low(n=3, f=2) annotation(Placement(transformation(extent={{70,-70},{90,-50}})));
    Blocks.Continuous.Derivative rate(T=0.001) annotation(Placement(transformation(extent={{-10,-110},{10,-90}})));
    Blocks.Continuous.TransferFunction ratio(b={1, 2}, a={0.1, 1, 5}) annotation(Placement(transformation(extent={{-50,50},{-30,70}})));
    Blocks.Continuous.LimitedIntegrator limited(k=3, y_max=0.2) annotation(Placement(transformation(extent={{70,50},{90,70}})));
    Blocks.Continuous.PI pi(k=2, Ti=0.5) annotation(Placement(transformation(extent={{-50,-110},{-30,-90}})));
    Blocks.Limits.Limiter limiter(y_max=0.5) annotation(Placement(transformation(extent={{-10,-70},{10,-50}})));
    Blocks.Limits.SmoothLimiter rounded(y_max=0.5) annotation(Placement(transformation(extent={{-10,50},{10,70}})));
    Blocks.Limits.DeadZone zone(u_max=0.5) annotation(Placement(transformation(extent={{70,90},{90,110}})));
    Blocks.Limits.RateLimiter slow(rate=2, fall=4) annotation(Placement(transformation(extent={{70,-110},{90,-90}})));
    Blocks.Limits.Quantizer steps(q=0.25) annotation(Placement(transformation(extent={{70,10},{90,30}})));
    Blocks.Arithmetic.Gain gain(k=3) annotation(Placement(transformation(extent={{30,-30},{50,-10}})));
    Blocks.Arithmetic.Sum sum_(k1=2, k2=-1) annotation(Placement(transformation(extent={{-50,-70},{-30,-50}})));
    Blocks.Arithmetic.Difference difference annotation(Placement(transformation(extent={{-10,10},{10,30}})));
    Blocks.Arithmetic.Product product_ annotation(Placement(transformation(extent={{70,-30},{90,-10}})));
    Blocks.Arithmetic.Curve curve(x={-1, 0, 1}, values={1, 0, 2}) annotation(Placement(transformation(extent={{-10,90},{10,110}})));
  equation
    connect(step.y, first.u) annotation(Line(points={{-69,20},{-60.5,20},{-60.5,100},{-52,100}}, color={0,0,127}));
    connect(step.y, second.u) annotation(Line(points={{-69,20},{-52,20}}, color={0,0,127}));
    connect(step.y, ratio.u) annotation(Line(points={{-69,20},{-60.5,20},{-60.5,60},{-52,60}}, color={0,0,127}));
    connect(step.y, pi.u) annotation(Line(points={{-69,20},{-60.5,20},{-60.5,-100},{-52,-100}}, color={0,0,127}));
    connect(sine.y, low.u) annotation(Line(points={{-29,-20},{19.5,-20},{19.5,-60},{68,-60}}, color={0,0,127}));
    connect(sine.y, rate.u) annotation(Line(points={{-29,-20},{-20.5,-20},{-20.5,-100},{-12,-100}}, color={0,0,127}));
    connect(sine.y, limited.u) annotation(Line(points={{-29,-20},{19.5,-20},{19.5,60},{68,60}}, color={0,0,127}));
    connect(sine.y, limiter.u) annotation(Line(points={{-29,-20},{-20.5,-20},{-20.5,-60},{-12,-60}}, color={0,0,127}));
    connect(sine.y, rounded.u) annotation(Line(points={{-29,-20},{-20.5,-20},{-20.5,60},{-12,60}}, color={0,0,127}));
    connect(sine.y, zone.u) annotation(Line(points={{-29,-20},{19.5,-20},{19.5,100},{68,100}}, color={0,0,127}));
    connect(sine.y, slow.u) annotation(Line(points={{-29,-20},{19.5,-20},{19.5,-100},{68,-100}}, color={0,0,127}));
    connect(sine.y, steps.u) annotation(Line(points={{-29,-20},{19.5,-20},{19.5,20},{68,20}}, color={0,0,127}));
    connect(sine.y, gain.u) annotation(Line(points={{-29,-20},{28,-20}}, color={0,0,127}));
    connect(sine.y, sum_.u1) annotation(Line(points={{-29,-20},{-25,-20},{-25,-37},{-56,-37},{-56,-54},{-52,-54}}, color={0,0,127}));
    connect(step.y, sum_.u2) annotation(Line(points={{-69,20},{-60.5,20},{-60.5,-66},{-52,-66}}, color={0,0,127}));
    connect(sine.y, difference.u1) annotation(Line(points={{-29,-20},{-20.5,-20},{-20.5,26},{-12,26}}, color={0,0,127}));
    connect(step.y, difference.u2) annotation(Line(points={{-69,20},{-40.5,20},{-40.5,14},{-12,14}}, color={0,0,127}));
    connect(sine.y, product_.u1) annotation(Line(points={{-29,-20},{19.5,-20},{19.5,-14},{68,-14}}, color={0,0,127}));
    connect(gain.y, product_.u2) annotation(Line(points={{51,-20},{59.5,-20},{59.5,-26},{68,-26}}, color={0,0,127}));
    connect(sine.y, curve.u) annotation(Line(points={{-29,-20},{-20.5,-20},{-20.5,100},{-12,100}}, color={0,0,127}));
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=3, Tolerance=1e-9), Documentation(info="<html><p>The left half answers a step, the right half a sine of
      2 Hz.</p></html>"));
  end Filters;

  model Decisions "Thresholds, switches, timers and counters on a sine"
    Blocks.Sources.Sine sine(f=1) annotation(Placement(transformation(extent={{-90,70},{-70,90}})));
    Blocks.Sources.Constant high(k=1) annotation(Placement(transformation(extent={{-50,30},{-30,50}}))), low(k=-1) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    Blocks.Logic.Threshold above(on=0.5, off=-0.5) annotation(Placement(transformation(extent={{-50,-50},{-30,-30}})));
    Blocks.Logic.Not below annotation(Placement(transformation(extent={{-10,30},{10,50}})));
    Blocks.Logic.Switch choice annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Blocks.Logic.OnDelay late(T=0.2) annotation(Placement(transformation(extent={{-50,-90},{-30,-70}})));
    Blocks.Logic.Counter count annotation(Placement(transformation(extent={{-10,-50},{10,-30}})));
    Blocks.Logic.Threshold peak(on=0.9, off=0.8) annotation(Placement(transformation(extent={{-10,70},{10,90}})));
    Blocks.Logic.Latch latch annotation(Placement(transformation(extent={{30,70},{50,90}})));
    Blocks.Logic.And both annotation(Placement(transformation(extent={{-10,-90},{10,-70}})));
    Blocks.Logic.Or either annotation(Placement(transformation(extent={{30,30},{50,50}})));
  equation
    connect(sine.y, above.u) annotation(Line(points={{-69,80},{-60.5,80},{-60.5,-40},{-52,-40}}, color={0,0,127}));
    connect(above.y, below.u) annotation(Line(points={{-29,-40},{-20.5,-40},{-20.5,40},{-12,40}}, color={255,0,255}));
    connect(above.y, choice.u2) annotation(Line(points={{-29,-40},{-20.5,-40},{-20.5,0},{-12,0}}, color={255,0,255}));
    connect(high.y, choice.u1) annotation(Line(points={{-29,40},{-20.5,40},{-20.5,8},{-12,8}}, color={0,0,127}));
    connect(low.y, choice.u3) annotation(Line(points={{-29,0},{-20.5,0},{-20.5,-8},{-12,-8}}, color={0,0,127}));
    connect(above.y, late.u) annotation(Line(points={{-29,-40},{-25,-40},{-25,-60},{-56,-60},{-56,-80},{-52,-80}}, color={255,0,255}));
    connect(above.y, count.u) annotation(Line(points={{-29,-40},{-12,-40}}, color={255,0,255}));
    connect(sine.y, peak.u) annotation(Line(points={{-69,80},{-12,80}}, color={0,0,127}));
    connect(peak.y, latch.set) annotation(Line(points={{11,80},{19.5,80},{19.5,86},{28,86}}, color={255,0,255}));
    connect(below.y, latch.reset) annotation(Line(points={{11,40},{19.5,40},{19.5,74},{28,74}}, color={255,0,255}));
    connect(above.y, both.u1) annotation(Line(points={{-29,-40},{-20.5,-40},{-20.5,-74},{-12,-74}}, color={255,0,255}));
    connect(late.y, both.u2) annotation(Line(points={{-29,-80},{-20.5,-80},{-20.5,-86},{-12,-86}}, color={255,0,255}));
    connect(below.y, either.u1) annotation(Line(points={{11,40},{19.5,40},{19.5,46},{28,46}}, color={255,0,255}));
    connect(peak.y, either.u2) annotation(Line(points={{11,80},{19.5,80},{19.5,34},{28,34}}, color={255,0,255}));
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Hysteresis from -0.5 to 0.5.</p></html>"));
  end Decisions;

  model Saturated "A controller at its limit: the integral part does not wind up"
    Blocks.Sources.Step step(height=1, starts=0.5) annotation(Placement(transformation(extent={{-50,30},{-30,50}})));
    Blocks.Continuous.PID controller(k=5, Ti=0.5, Td=0.05, y_max=1.2) annotation(Placement(transformation(extent={{-10,30},{10,50}})));
    Blocks.Continuous.FirstOrder plant(T=1) annotation(Placement(transformation(extent={{30,30},{50,50}})));
    Blocks.Continuous.PID windup(k=5, Ti=0.5, Td=0.05, y_max=1.2, Tt=1e6) "The same without leading back" annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Blocks.Continuous.FirstOrder plant_too(T=1) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
  equation
    connect(step.y, controller.reference) annotation(Line(points={{-29,40},{-20.5,40},{-20.5,46},{-12,46}}, color={0,0,127}));
    connect(plant.y, controller.measured) annotation(Line(points={{51,40},{55,40},{55,56},{-16,56},{-16,34},{-12,34}}, color={0,0,127}));
    connect(controller.y, plant.u) annotation(Line(points={{11,40},{28,40}}, color={0,0,127}));
    connect(step.y, windup.reference) annotation(Line(points={{-29,40},{-20.5,40},{-20.5,6},{-12,6}}, color={0,0,127}));
    connect(plant_too.y, windup.measured) annotation(Line(points={{51,0},{55,0},{55,16},{-16,16},{-16,-6},{-12,-6}}, color={0,0,127}));
    connect(windup.y, plant_too.u) annotation(Line(points={{11,0},{28,0}}, color={0,0,127}));
    annotation(experiment(StopTime=10, Tolerance=1e-8), Documentation(info="<html><p><code>plant_too</code> overshoots far, since its controller&apos;s
      integral part grows while the output cannot.</p></html>"));
  end Saturated;

  model SampledLoop "A sampled controller on a continuous plant"
    Blocks.Sources.Step step(height=1, starts=0.095) annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
    Blocks.Sampled.PID controller(period=0.01, k=2, Ti=0.5, Td=0.02, y_max=3) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    Blocks.Sampled.Hold converter(period=0.01) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Blocks.Continuous.FirstOrder plant(T=0.5) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Blocks.Sampled.Delay late(period=0.01) annotation(Placement(transformation(extent={{30,30},{50,50}})));
    Blocks.Sampled.FirstOrder filtered(period=0.01, T=0.1) annotation(Placement(transformation(extent={{30,-50},{50,-30}})));
  equation
    connect(step.y, controller.reference) annotation(Line(points={{-69,0},{-60.5,0},{-60.5,6},{-52,6}}, color={0,0,127}));
    connect(converter.y, controller.measured) annotation(Line(points={{51,0},{55,0},{55,16},{-56,16},{-56,-6},{-52,-6}}, color={0,0,127}));
    connect(plant.y, converter.u) annotation(Line(points={{11,0},{28,0}}, color={0,0,127}));
    connect(controller.y, plant.u) annotation(Line(points={{-29,0},{-12,0}}, color={0,0,127}));
    connect(plant.y, late.u) annotation(Line(points={{11,0},{19.5,0},{19.5,40},{28,40}}, color={0,0,127}));
    connect(plant.y, filtered.u) annotation(Line(points={{11,0},{19.5,0},{19.5,-40},{28,-40}}, color={0,0,127}));
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Everything but the plant happens at 100 Hz.</p></html>"));
  end SampledLoop;

  model Servo "A drive under cascade control follows a profile"
    Control.Profile profile(stroke=10, T=2) annotation(Placement(transformation(extent={{-70,50},{-50,70}})));
    replaceable Control.Cascade controller(K_x=20, K_v=2, Ti=0.05, y_max=50) constrainedby Control.PositionControl(K_x=20, K_v=2, Ti=0.05, y_max=50) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    Rotational.Sources.Torque motor annotation(Placement(transformation(extent={{10,10},{30,30}})));
    Rotational.Inertia rotor(J=0.05, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-110,-30},{-90,-10}})));
    Rotational.Bearing bearing(tau_0=1, d=0.01) annotation(Placement(transformation(extent={{-70,-70},{-50,-50}})));
    Rotational.Sensors.Angle angle annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    Rotational.Sensors.Speed speed annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
  equation
    connect(profile.x, controller.x_ref) annotation(Line(points={{-49,66},{-40.5,66},{-40.5,28},{-32,28}}, color={0,0,127}));
    connect(profile.v, controller.v_ref) annotation(Line(points={{-49,54},{-40.5,54},{-40.5,23},{-32,23}}, color={0,0,127}));
    connect(angle.phi, controller.x) annotation(Line(points={{-49,20},{-40.5,20},{-40.5,17},{-32,17}}, color={0,0,127}));
    connect(speed.w, controller.v) annotation(Line(points={{-49,-20},{-40.5,-20},{-40.5,12},{-32,12}}, color={0,0,127}));
    connect(controller.y, motor.tau) annotation(Line(points={{-9,20},{8,20}}, color={0,0,127}));
    connect(motor.b, rotor.a) annotation(Line(points={{30,20},{34,20},{34,0},{-114,0},{-114,-20},{-110,-20}}, color={70,70,70}));
    connect(rotor.b, bearing.a) annotation(Line(points={{-90,-20},{-80,-20},{-80,-60},{-70,-60}}, color={70,70,70}));
    connect(angle.a, rotor.b) annotation(Line(points={{-70,20},{-80,20},{-80,-20},{-90,-20}}, color={70,70,70}));
    connect(speed.a, rotor.b) annotation(Line(points={{-70,-20},{-90,-20}}, color={70,70,70}));
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=4, Tolerance=1e-8), Documentation(info="<html><p>Friction is felt where the speed changes its sign.</p></html>"));
  end Servo;

  model SampledServo "The same with the controller at 1 kHz"
    extends Servo(redeclare Control.SampledCascade controller);
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=4, Tolerance=1e-8), Documentation(info="<html><p>One switch: the continuous controller is exchanged for the sampled one, with the same
      parameters.</p></html>"));
  end SampledServo;

  model Oven "Two-point control of a temperature"
    Thermal.Capacity oven(C=500, T(start=293.15)) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    Thermal.Resistor wall(R=0.5) annotation(Placement(transformation(extent={{10,10},{30,30}})));
    Thermal.FixedTemperature room annotation(Placement(transformation(extent={{10,50},{30,70}})));
    Thermal.HeatSource heater annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
    Thermal.TemperatureSensor sensor annotation(Placement(transformation(extent={{-110,-30},{-90,-10}})));
    Blocks.Logic.Threshold hot(on=333.15, off=331.15) annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
    Blocks.Logic.Switch power annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    Blocks.Sources.Constant none(k=0) annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    Blocks.Sources.Constant full(k=200) annotation(Placement(transformation(extent={{-70,-70},{-50,-50}})));
  equation
    connect(sensor.T, hot.u) annotation(Line(points={{-89,-20},{-72,-20}}, color={0,0,127}));
    connect(hot.y, power.u2) annotation(Line(points={{-49,-20},{-32,-20}}, color={255,0,255}));
    connect(none.y, power.u1) annotation(Line(points={{-49,20},{-40.5,20},{-40.5,-12},{-32,-12}}, color={0,0,127}));
    connect(full.y, power.u3) annotation(Line(points={{-49,-60},{-40.5,-60},{-40.5,-28},{-32,-28}}, color={0,0,127}));
    connect(power.y, heater.Q) annotation(Line(points={{-9,-20},{8,-20}}, color={0,0,127}));
    connect(heater.b, oven.a) annotation(Line(points={{30,-20},{34,-20},{34,6},{-20,6},{-20,10}}, color={191,0,0}));
    connect(sensor.a, oven.a) annotation(Line(points={{-110,-20},{-114,-20},{-114,6},{-20,6},{-20,10}}, color={191,0,0}));
    connect(oven.a, wall.a) annotation(Line(points={{-20,10},{-20,6},{6,6},{6,20},{10,20}}, color={191,0,0}));
    connect(wall.b, room.a) annotation(Line(points={{30,20},{34,20},{34,60},{30,60}}, color={191,0,0}));
    annotation(Diagram(coordinateSystem(extent={{-120,-120},{120,120}})), experiment(StopTime=300, Tolerance=1e-8), Documentation(info="<html><p>Heats until 60 degrees, rests until 58: 8.2 s on, 12.8 s off.</p></html>"));
  end Oven;
end Signals;
