within Kilohertz.Examples;
package Signals "Blocks and controllers: what each of them does"
  model Sources "One of each source"
    Blocks.Sources.Constant constant_(k=2);
    Blocks.Sources.Step step(height=3, offset=1, starts=0.5);
    Blocks.Sources.Ramp ramp(height=2, duration=0.5, offset=-1, starts=0.25);
    Blocks.Sources.Sine sine(amplitude=2, f=3, phase=0.5, offset=1, starts=0.1);
    Blocks.Sources.Pulse pulse(amplitude=4, period=0.2, width=0.25, starts=0.1);
    Blocks.Sources.Table table(t={0.1, 0.3, 0.6, 0.8}, values={1, 3, 2, 5});
    Blocks.Sources.Table steps(t={0.1, 0.3, 0.6, 0.8}, values={1, 3, 2, 5}, hold=true);
    Blocks.Continuous.Integrator area "Integral of the table: exact, since no step goes over a corner";
  equation
    connect(table.y, area.u);
    annotation(experiment(StopTime=1, Tolerance=1e-8), Documentation(info="<html><p>Corners and jumps are events.</p></html>"));
  end Sources;

  model Filters "Step responses, and what a sine of one frequency becomes"
    Blocks.Sources.Step step;
    Blocks.Sources.Sine sine(f=2);
    Blocks.Continuous.FirstOrder first(k=2, T=0.1);
    Blocks.Continuous.SecondOrder second(f=2, damping=0.3);
    Blocks.Continuous.LowPass low(n=3, f=2);
    Blocks.Continuous.Derivative rate(T=0.001);
    Blocks.Continuous.TransferFunction ratio(b={1, 2}, a={0.1, 1, 5});
    Blocks.Continuous.LimitedIntegrator limited(k=3, y_max=0.2);
    Blocks.Continuous.PI pi(k=2, Ti=0.5);
    Blocks.Limits.Limiter limiter(y_max=0.5);
    Blocks.Limits.SmoothLimiter rounded(y_max=0.5);
    Blocks.Limits.DeadZone zone(u_max=0.5);
    Blocks.Limits.RateLimiter slow(rate=2, fall=4);
    Blocks.Limits.Quantizer steps(q=0.25);
    Blocks.Arithmetic.Gain gain(k=3);
    Blocks.Arithmetic.Sum sum_(k1=2, k2=-1);
    Blocks.Arithmetic.Difference difference;
    Blocks.Arithmetic.Product product_;
    Blocks.Arithmetic.Curve curve(x={-1, 0, 1}, values={1, 0, 2});
  equation
    connect(step.y, first.u);
    connect(step.y, second.u);
    connect(step.y, ratio.u);
    connect(step.y, pi.u);
    connect(sine.y, low.u);
    connect(sine.y, rate.u);
    connect(sine.y, limited.u);
    connect(sine.y, limiter.u);
    connect(sine.y, rounded.u);
    connect(sine.y, zone.u);
    connect(sine.y, slow.u);
    connect(sine.y, steps.u);
    connect(sine.y, gain.u);
    connect(sine.y, sum_.u1);
    connect(step.y, sum_.u2);
    connect(sine.y, difference.u1);
    connect(step.y, difference.u2);
    connect(sine.y, product_.u1);
    connect(gain.y, product_.u2);
    connect(sine.y, curve.u);
    annotation(experiment(StopTime=3, Tolerance=1e-9), Documentation(info="<html><p>The left half answers a step, the right half a sine of
      2 Hz.</p></html>"));
  end Filters;

  model Decisions "Thresholds, switches, timers and counters on a sine"
    Blocks.Sources.Sine sine(f=1);
    Blocks.Sources.Constant high(k=1), low(k=-1);
    Blocks.Logic.Threshold above(on=0.5, off=-0.5);
    Blocks.Logic.Not below;
    Blocks.Logic.Switch choice;
    Blocks.Logic.OnDelay late(T=0.2);
    Blocks.Logic.Counter count;
    Blocks.Logic.Threshold peak(on=0.9, off=0.8);
    Blocks.Logic.Latch latch;
    Blocks.Logic.And both;
    Blocks.Logic.Or either;
  equation
    connect(sine.y, above.u);
    connect(above.y, below.u);
    connect(above.y, choice.u2);
    connect(high.y, choice.u1);
    connect(low.y, choice.u3);
    connect(above.y, late.u);
    connect(above.y, count.u);
    connect(sine.y, peak.u);
    connect(peak.y, latch.set);
    connect(below.y, latch.reset);
    connect(above.y, both.u1);
    connect(late.y, both.u2);
    connect(below.y, either.u1);
    connect(peak.y, either.u2);
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Hysteresis from -0.5 to 0.5.</p></html>"));
  end Decisions;

  model Saturated "A controller at its limit: the integral part does not wind up"
    Blocks.Sources.Step step(height=1, starts=0.5);
    Blocks.Continuous.PID controller(k=5, Ti=0.5, Td=0.05, y_max=1.2);
    Blocks.Continuous.FirstOrder plant(T=1);
    Blocks.Continuous.PID windup(k=5, Ti=0.5, Td=0.05, y_max=1.2, Tt=1e6) "The same without leading back";
    Blocks.Continuous.FirstOrder plant_too(T=1);
  equation
    connect(step.y, controller.reference);
    connect(plant.y, controller.measured);
    connect(controller.y, plant.u);
    connect(step.y, windup.reference);
    connect(plant_too.y, windup.measured);
    connect(windup.y, plant_too.u);
    annotation(experiment(StopTime=10, Tolerance=1e-8), Documentation(info="<html><p><code>plant_too</code> overshoots far, since its controller&apos;s
      integral part grows while the output cannot.</p></html>"));
  end Saturated;

  model SampledLoop "A sampled controller on a continuous plant"
    Blocks.Sources.Step step(height=1, starts=0.095);
    Blocks.Sampled.PID controller(period=0.01, k=2, Ti=0.5, Td=0.02, y_max=3);
    Blocks.Sampled.Hold converter(period=0.01);
    Blocks.Continuous.FirstOrder plant(T=0.5);
    Blocks.Sampled.Delay late(period=0.01);
    Blocks.Sampled.FirstOrder filtered(period=0.01, T=0.1);
  equation
    connect(step.y, controller.reference);
    connect(converter.y, controller.measured);
    connect(plant.y, converter.u);
    connect(controller.y, plant.u);
    connect(plant.y, late.u);
    connect(plant.y, filtered.u);
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Everything but the plant happens at 100 Hz.</p></html>"));
  end SampledLoop;

  model Servo "A drive under cascade control follows a profile"
    Control.Profile profile(stroke=10, T=2);
    replaceable Control.Cascade controller(K_x=20, K_v=2, Ti=0.05, y_max=50) constrainedby Control.PositionControl(K_x=20, K_v=2, Ti=0.05, y_max=50);
    Rotational.Sources.Torque motor;
    Rotational.Inertia rotor(J=0.05, phi(start=0, fixed=true), w(start=0, fixed=true));
    Rotational.Bearing bearing(tau_0=1, d=0.01);
    Rotational.Sensors.Angle angle;
    Rotational.Sensors.Speed speed;
  equation
    connect(profile.x, controller.x_ref);
    connect(profile.v, controller.v_ref);
    connect(angle.phi, controller.x);
    connect(speed.w, controller.v);
    connect(controller.y, motor.tau);
    connect(motor.b, rotor.a);
    connect(rotor.b, bearing.a);
    connect(angle.a, rotor.b);
    connect(speed.a, rotor.b);
    annotation(experiment(StopTime=4, Tolerance=1e-8), Documentation(info="<html><p>Friction is felt where the speed changes its sign.</p></html>"));
  end Servo;

  model SampledServo "The same with the controller at 1 kHz"
    extends Servo(redeclare Control.SampledCascade controller);
    annotation(experiment(StopTime=4, Tolerance=1e-8), Documentation(info="<html><p>One switch: the continuous controller is exchanged for the sampled one, with the same
      parameters.</p></html>"));
  end SampledServo;
end Signals;
