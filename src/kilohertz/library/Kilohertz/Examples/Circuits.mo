within Kilohertz.Examples;
package Circuits "Diodes, pulses and motors: what the components of Electrical do"
  model Rectifier "Four diodes charge a capacitor"
    Electrical.SineVoltage source(V=20, f=50) annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
    Electrical.Resistor wire(R=0.5) annotation(Placement(transformation(extent={{-70,50},{-50,70}})));
    Electrical.Switches.Diode upper[2] annotation(Placement(transformation(extent={{-30,10},{-10,30}}))), lower[2] annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    Electrical.Capacitor capacitor(C=1e-3) annotation(Placement(transformation(extent={{10,10},{30,30}})));
    Electrical.Resistor load(R=50) annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
    Electrical.Sensors.Voltage output_voltage annotation(Placement(transformation(extent={{10,50},{30,70}})));
    Electrical.Ground ground annotation(Placement(transformation(extent={{50,-30},{70,-10}})));
  equation
    connect(source.p, wire.p) annotation(Line(points={{-70,-20},{-74,-20},{-74,60},{-70,60}}, color={0,0,255}));
    connect(wire.n, upper[1].p) annotation(Line(points={{-50,60},{-40,60},{-40,20},{-30,20}}, color={0,0,255}));
    connect(source.n, upper[2].p) annotation(Line(points={{-50,-20},{-40,-20},{-40,20},{-30,20}}, color={0,0,255}));
    connect(lower[1].n, wire.n) annotation(Line(points={{-50,20},{-46,20},{-46,60},{-50,60}}, color={0,0,255}));
    connect(lower[2].n, source.n) annotation(Line(points={{-50,20},{-46,20},{-46,-20},{-50,-20}}, color={0,0,255}));
    connect(upper[1].n, capacitor.p) annotation(Line(points={{-10,20},{10,20}}, color={0,0,255}));
    connect(upper[2].n, capacitor.p) annotation(Line(points={{-10,20},{10,20}}, color={0,0,255}));
    connect(lower[1].p, capacitor.n) annotation(Line(points={{-70,20},{-74,20},{-74,36},{34,36},{34,20},{30,20}}, color={0,0,255}));
    connect(lower[2].p, capacitor.n) annotation(Line(points={{-70,20},{-74,20},{-74,36},{34,36},{34,20},{30,20}}, color={0,0,255}));
    connect(load.p, capacitor.p) annotation(Line(points={{10,-20},{6,-20},{6,20},{10,20}}, color={0,0,255}));
    connect(load.n, capacitor.n) annotation(Line(points={{30,-20},{34,-20},{34,20},{30,20}}, color={0,0,255}));
    connect(output_voltage.p, capacitor.p) annotation(Line(points={{10,60},{6,60},{6,20},{10,20}}, color={0,0,255}));
    connect(output_voltage.n, capacitor.n) annotation(Line(points={{30,60},{34,60},{34,20},{30,20}}, color={0,0,255}));
    connect(capacitor.n, ground.p) annotation(Line(points={{30,20},{60,20},{60,-10}}, color={0,0,255}));
    annotation(experiment(StopTime=0.1, Tolerance=1e-8), Documentation(info="<html><p>Two diodes conduct at a time, near the peaks of the voltage; which ones is found together with the currents.</p></html>"));
  end Rectifier;

  model Chopper "A contact and a diode lower a voltage"
    Electrical.ConstantVoltage battery(V=24) annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
    Electrical.Switches.Contact contact annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    Electrical.Switches.Diode freewheel annotation(Placement(transformation(extent={{-70,50},{-50,70}})));
    Electrical.Inductor inductor(L=5e-3) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    Electrical.Resistor load(R=2) annotation(Placement(transformation(extent={{10,10},{30,30}})));
    Electrical.Ground ground annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    Blocks.Sources.Pulse pulse(period=1e-3, width=0.4) annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
  equation
    contact.closed = pulse.y > 0.5;
    connect(battery.p, contact.p) annotation(Line(points={{-70,-20},{-74,-20},{-74,20},{-70,20}}, color={0,0,255}));
    connect(contact.n, inductor.p) annotation(Line(points={{-50,20},{-30,20}}, color={0,0,255}));
    connect(freewheel.n, contact.n) annotation(Line(points={{-50,60},{-46,60},{-46,20},{-50,20}}, color={0,0,255}));
    connect(freewheel.p, ground.p) annotation(Line(points={{-70,60},{-74,60},{-74,-6},{-20,-6},{-20,-10}}, color={0,0,255}));
    connect(inductor.n, load.p) annotation(Line(points={{-10,20},{10,20}}, color={0,0,255}));
    connect(load.n, ground.p) annotation(Line(points={{30,20},{34,20},{34,-6},{-20,-6},{-20,-10}}, color={0,0,255}));
    connect(battery.n, ground.p) annotation(Line(points={{-50,-20},{-46,-20},{-46,-6},{-20,-6},{-20,-10}}, color={0,0,255}));
    annotation(experiment(StopTime=0.05, Tolerance=1e-8), Documentation(info="<html><p>The current goes on through the diode while the contact is open: its mean is <code>0.4 V/R</code>.</p></html>"));
  end Chopper;

  model Pulses "A DC motor under current control, fed by pulses"
    replaceable Control.Current control(R=1, L=1e-3, f=200, V=48) constrainedby Blocks.Feedback annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    replaceable Electrical.Converters.Pulsed bridge(V=48, f=5e3) constrainedby Electrical.Converters.Bridge(V=48) annotation(Placement(transformation(extent={{-50,-50},{-30,-30}})));
    Electrical.Sensors.Current sensor annotation(Placement(transformation(extent={{-50,30},{-30,50}})));
    Electrical.Machines.DCMotor motor(R=1, L=1e-3, k=0.1, J=1e-3, d=1e-3, i(fixed=true), phi(fixed=true), w(fixed=true)) annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    Electrical.Ground ground annotation(Placement(transformation(extent={{-10,-50},{10,-30}})));
    Blocks.Sources.Step wanted(height=5, starts=0.01) annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
  equation
    connect(wanted.y, control.reference) annotation(Line(points={{-69,0},{-60.5,0},{-60.5,6},{-52,6}}, color={0,0,127}));
    connect(sensor.y, control.measured) annotation(Line(points={{-40,29},{-40,25},{-56,25},{-56,-6},{-52,-6}}, color={0,0,127}));
    connect(control.y, bridge.u) annotation(Line(points={{-29,0},{-25,0},{-25,-25},{-40,-25},{-40,-29}}, color={0,0,127}));
    connect(bridge.p, sensor.p) annotation(Line(points={{-50,-40},{-54,-40},{-54,40},{-50,40}}, color={0,0,255}));
    connect(sensor.n, motor.p) annotation(Line(points={{-30,40},{0,40},{0,4},{30,4}}, color={0,0,255}));
    connect(motor.n, ground.p) annotation(Line(points={{30,-4},{0,-4},{0,-30}}, color={0,0,255}));
    connect(bridge.n, ground.p) annotation(Line(points={{-30,-40},{-26,-40},{-26,-26},{0,-26},{0,-30}}, color={0,0,255}));
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
    Electrical.SignalVoltage source annotation(Placement(transformation(extent={{-70,30},{-50,50}})));
    Electrical.Machines.DCMotor motor(R=1, L=1e-2, k=0.1, J=1e-3, d=0, i(fixed=true), phi(fixed=true), w(fixed=true)) annotation(Placement(transformation(extent={{10,30},{30,50}})));
    Electrical.Ground ground annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
  equation
    source.u = if time < 0.5 then 12 else -6;
    connect(source.p, motor.p) annotation(Line(points={{-70,40},{-74,40},{-74,44},{10,44}}, color={0,0,255}));
    connect(source.n, ground.p) annotation(Line(points={{-50,40},{-20,40},{-20,10}}, color={0,0,255}));
    connect(motor.n, ground.p) annotation(Line(points={{10,36},{-20,36},{-20,10}}, color={0,0,255}));
    annotation(experiment(StopTime=1, Tolerance=1e-9), Documentation(info="<html><p><code>L J s^2 + R J s + k^2</code>: two real poles, -11.27 and -88.73 1/s.</p></html>"));
  end Motor;

  model Joint "A servo turns an inertia through a transmission with play"
    Servos.Servo servo(motor(phi(fixed=true), w(fixed=true))) annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    Rotational.Inertia arm(J=2, phi(start=0, fixed=true), w(start=0, fixed=true)) annotation(Placement(transformation(extent={{-10,10},{10,30}})));
  equation
    servo.brake_on = if time < 0.05 or time > 0.8 then 1 else 0;
    servo.i_ref = if time < 0.1 then 0 elseif time < 0.3 then 1 elseif time < 0.5 then -1 else 0;
    connect(servo.b, arm.a) annotation(Line(points={{-30,20},{-10,20}}, color={70,70,70}));
    annotation(experiment(StopTime=1, Tolerance=1e-8), Documentation(info="<html><p>The brake opens, a torque there and one back, the brake closes.</p></html>"));
  end Joint;
end Circuits;
