within Kilohertz.Examples;
package InRealTime "Models that say themselves how they run in real time"
  model Heater "A heated body between a controller and two devices"
    input Real power(start=0, unit="W") "Heating, from the controller";
    output Units.Temperature T = body.T "Temperature, to the controller";
    Thermal.Capacity body(C=50, T(start=293.15));
    Thermal.HeatSource heating;
    Thermal.Resistor wall(R=0.5);
    Thermal.SineTemperature outside(amplitude=5, w=0.01);
    RealTime rt(step=1e-2, solver="rk4", duration=2, priority=0);
    Device controller(driver="shm", settings={"segment=/khz_heater", "simulated=true"}, receive={"power gain=1 min=0 max=2000 safe=0"}, send={"T offset=-273.15"});
    Device logger(driver="udp", settings={"remote=:5599"}, send={"wall.Q", "outside.a.T"});
  equation
    heating.Q = power;
    connect(heating.b, body.a);
    connect(body.a, wall.a);
    connect(wall.b, outside.a);
    annotation(experiment(StopTime=20, Tolerance=1e-8), Documentation(info="<html><p><code>khz run Kilohertz.Examples.InRealTime.Heater</code> runs it at
      100 Hz for two seconds: power comes from a segment of shared memory (here with a simulated peer that sends back what it gets), the
      temperature goes there in degrees Celsius, and a logger gets two more signals over UDP.</p></html>"));
  end Heater;

  model Resonance "A circuit that rings, at a rate of its own"
    Electrical.SineVoltage source(V=1, f=50);
    Electrical.Resistor resistor(R=1);
    Electrical.Inductor inductor(L=1e-2);
    Electrical.Capacitor capacitor(C=1e-3);
    Electrical.Ground ground;
    RealTime rt(step=1e-3, solver="lie", duration=1, priority=0);
  equation
    connect(source.p, resistor.p);
    connect(resistor.n, inductor.p);
    connect(inductor.n, capacitor.p);
    connect(capacitor.n, source.n);
    connect(source.n, ground.p);
    annotation(experiment(StopTime=0.5, Tolerance=1e-8), Documentation(info="<html><p>Its own frequency is <code>1/(2 pi sqrt(L C))</code>, 50.3 Hz.</p></html>"));
  end Resonance;
end InRealTime;
