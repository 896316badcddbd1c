within Kilohertz.Examples;
package InRealTime "Models that say themselves how they run in real time"
  model Heater "A heated body between a controller and two devices"
    input Real power(start=0, unit="W") "Heating, from the controller";
    output Units.Temperature T = body.T "Temperature, to the controller";
    Thermal.Capacity body(C=50, T(start=293.15)) annotation(Placement(transformation(extent={{-30,50},{-10,70}})));
    Thermal.HeatSource heating annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    Thermal.Resistor wall(R=0.5) annotation(Placement(transformation(extent={{10,10},{30,30}})));
    Thermal.SineTemperature outside(amplitude=5, w=0.01) annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
    RealTime rt(step=1e-2, solver="rk4", duration=2, priority=0) annotation(Placement(transformation(extent={{-30,-70},{-10,-50}})));
    Device controller(driver="shm", settings={"segment=/khz_heater", "simulated=true"}, receive={"power gain=1 min=0 max=2000 safe=0"}, send={"T offset=-273.15"}) annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
    Device logger(driver="udp", settings={"remote=:5599"}, send={"wall.Q", "outside.a.T"}) annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
  equation
    heating.Q = power;
    connect(heating.b, body.a) annotation(Line(points={{-50,20},{-20,20},{-20,50}}, color={191,0,0}));
    connect(body.a, wall.a) annotation(Line(points={{-20,50},{-20,20},{10,20}}, color={191,0,0}));
    connect(wall.b, outside.a) annotation(Line(points={{30,20},{34,20},{34,-20},{30,-20}}, color={191,0,0}));
    annotation(experiment(StopTime=20, Tolerance=1e-8), Documentation(info="<html><p><code>khz run Kilohertz.Examples.InRealTime.Heater</code> runs it at
      100 Hz for two seconds: power comes from a segment of shared memory (here with a simulated peer that sends back what it gets), the
      temperature goes there in degrees Celsius, and a logger gets two more signals over UDP.</p></html>"));
  end Heater;

  model Resonance "A circuit that rings, at a rate of its own"
    Electrical.SineVoltage source(V=1, f=50) annotation(Placement(transformation(extent={{-10,30},{10,50}})));
    Electrical.Resistor resistor(R=1) annotation(Placement(transformation(extent={{-90,-10},{-70,10}})));
    Electrical.Inductor inductor(L=1e-2) annotation(Placement(transformation(extent={{-50,-10},{-30,10}})));
    Electrical.Capacitor capacitor(C=1e-3) annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Electrical.Ground ground annotation(Placement(transformation(extent={{30,-10},{50,10}})));
    RealTime rt(step=1e-3, solver="lie", duration=1, priority=0) annotation(Placement(transformation(extent={{-10,-50},{10,-30}})));
  equation
    connect(source.p, resistor.p) annotation(Line(points={{-10,40},{-94,40},{-94,0},{-90,0}}, color={0,0,255}));
    connect(resistor.n, inductor.p) annotation(Line(points={{-70,0},{-50,0}}, color={0,0,255}));
    connect(inductor.n, capacitor.p) annotation(Line(points={{-30,0},{-10,0}}, color={0,0,255}));
    connect(capacitor.n, source.n) annotation(Line(points={{10,0},{14,0},{14,40},{10,40}}, color={0,0,255}));
    connect(source.n, ground.p) annotation(Line(points={{10,40},{40,40},{40,10}}, color={0,0,255}));
    annotation(experiment(StopTime=0.5, Tolerance=1e-8), Documentation(info="<html><p>Its own frequency is <code>1/(2 pi sqrt(L C))</code>, 50.3 Hz.</p></html>"));
  end Resonance;
end InRealTime;
