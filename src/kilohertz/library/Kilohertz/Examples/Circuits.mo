within Kilohertz.Examples;
package Circuits "Diodes, pulses and motors: what the components of Electrical do"
  model Rectifier "Four diodes charge a capacitor"
    Electrical.SineVoltage source(V=20, f=50);
    Electrical.Resistor wire(R=0.5);
    Electrical.Switches.Diode upper[2], lower[2];
    Electrical.Capacitor capacitor(C=1e-3);
    Electrical.Resistor load(R=50);
    Electrical.Sensors.Voltage output_voltage;
    Electrical.Ground ground;
  equation
    connect(source.p, wire.p);
    connect(wire.n, upper[1].p);
    connect(source.n, upper[2].p);
    connect(lower[1].n, wire.n);
    connect(lower[2].n, source.n);
    connect(upper[1].n, capacitor.p);
    connect(upper[2].n, capacitor.p);
    connect(lower[1].p, capacitor.n);
    connect(lower[2].p, capacitor.n);
    connect(load.p, capacitor.p);
    connect(load.n, capacitor.n);
    connect(output_voltage.p, capacitor.p);
    connect(output_voltage.n, capacitor.n);
    connect(capacitor.n, ground.p);
    annotation(experiment(StopTime=0.1, Tolerance=1e-8), Documentation(info="<html><p>Two diodes conduct at a time, near the peaks of the voltage; which ones is found together with the currents.</p></html>"));
  end Rectifier;

  model Chopper "A contact and a diode lower a voltage"
    Electrical.ConstantVoltage battery(V=24);
    Electrical.Switches.Contact contact;
    Electrical.Switches.Diode freewheel;
    Electrical.Inductor inductor(L=5e-3);
    Electrical.Resistor load(R=2);
    Electrical.Ground ground;
    Blocks.Sources.Pulse pulse(period=1e-3, width=0.4);
  equation
    contact.closed = pulse.y > 0.5;
    connect(battery.p, contact.p);
    connect(contact.n, inductor.p);
    connect(freewheel.n, contact.n);
    connect(freewheel.p, ground.p);
    connect(inductor.n, load.p);
    connect(load.n, ground.p);
    connect(battery.n, ground.p);
    annotation(experiment(StopTime=0.05, Tolerance=1e-8), Documentation(info="<html><p>The current goes on through the diode while the contact is open: its mean is <code>0.4 V/R</code>.</p></html>"));
  end Chopper;

  model Pulses "A DC motor under current control, fed by pulses"
    replaceable Control.Current control(R=1, L=1e-3, f=200, V=48) constrainedby Blocks.Feedback;
    replaceable Electrical.Converters.Pulsed bridge(V=48, f=5e3) constrainedby Electrical.Converters.Bridge(V=48);
    Electrical.Sensors.Current sensor;
    Electrical.Machines.DCMotor motor(R=1, L=1e-3, k=0.1, J=1e-3, d=1e-3, i(fixed=true), phi(fixed=true), w(fixed=true));
    Electrical.Ground ground;
    Blocks.Sources.Step wanted(height=5, starts=0.01);
  equation
    connect(wanted.y, control.reference);
    connect(sensor.y, control.measured);
    connect(control.y, bridge.u);
    connect(bridge.p, sensor.p);
    connect(sensor.n, motor.p);
    connect(motor.n, ground.p);
    connect(bridge.n, ground.p);
    annotation(experiment(StopTime=0.1, Tolerance=1e-8), Documentation(info="<html><p>Five thousand pulses in a second; the current follows what is asked for with a ripple.</p></html>"));
  end Pulses;

  model Averages "The same without pulses"
    extends Pulses(redeclare Electrical.Converters.Averaged bridge);
    annotation(experiment(StopTime=0.1, Tolerance=1e-8), Documentation(info="<html><p>One line of the model is another: for steps longer than a pulse.</p></html>"));
  end Averages;

  model SampledAverages "The same with the controller at 20 kHz"
    extends Averages(redeclare Control.SampledCurrent control(R=1, L=1e-3, f=200, V=48, period=5e-5));
    annotation(experiment(StopTime=0.1, Tolerance=1e-8), Documentation(info="<html><p>What a program of the drive does.</p></html>"));
  end SampledAverages;

  model Motor "A DC motor on a source that a signal gives"
    Electrical.SignalVoltage source;
    Electrical.Machines.DCMotor motor(R=1, L=1e-2, k=0.1, J=1e-3, d=0, i(fixed=true), phi(fixed=true), w(fixed=true));
    Electrical.Ground ground;
  equation
    source.u = if time < 0.5 then 12 else -6;
    connect(source.p, motor.p);
    connect(source.n, ground.p);
    connect(motor.n, ground.p);
    annotation(experiment(StopTime=1, Tolerance=1e-9), Documentation(info="<html><p><code>L J s^2 + R J s + k^2</code>: two real poles, -11.27 and -88.73 1/s.</p></html>"));
  end Motor;

  model Joint "A servo turns an inertia through a transmission with play"
    Servos.Servo servo(motor(phi(fixed=true), w(fixed=true)));
    Rotational.Inertia arm(J=2, phi(start=0, fixed=true), w(start=0, fixed=true));
  equation
    servo.brake_on = if time < 0.05 or time > 0.8 then 1 else 0;
    servo.i_ref = if time < 0.1 then 0 elseif time < 0.3 then 1 elseif time < 0.5 then -1 else 0;
    connect(servo.b, arm.a);
    annotation(experiment(StopTime=1, Tolerance=1e-8), Documentation(info="<html><p>The brake opens, a torque there and one back, the brake closes.</p></html>"));
  end Joint;
end Circuits;
