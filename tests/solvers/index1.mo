package Index1 "Models whose derivatives need nonlinear loops"
  model Known "y = 2 + cos(t), z = 1 + sin(2t)/2"
    Real y(start = 3, fixed = true);
    Real z(start = 1);
  protected
    Real yk = 2 + cos(time);
    Real zk = 1 + 0.5*sin(2*time);
  equation
    der(y) = -y*z - sin(time) + yk*zk;
    z + 0.1*z^3 - y*(1 + 0.2*sin(time)) = zk + 0.1*zk^3 - yk*(1 + 0.2*sin(time));
  end Known;

  connector Pin
    Real v;
    flow Real i;
  end Pin;

  partial model TwoPin
    Pin p, n;
    Real v = p.v - n.v;
    Real i = p.i;
  equation
    p.i + n.i = 0;
  end TwoPin;

  model Resistor
    extends TwoPin;
    parameter Real R = 1;
  equation
    v = R*i;
  end Resistor;

  model Capacitor
    extends TwoPin;
    parameter Real C = 1e-4;
    Real u(start = 0, fixed = true) = v;
  equation
    C*der(u) = i;
  end Capacitor;

  model Diode "Exponential, continued linearly above 15 thermal voltages"
    extends TwoPin;
    parameter Real Ids = 1e-6;
    parameter Real Vt = 0.04;
  protected
    Real e = v/Vt;
  equation
    i = Ids*(noEvent(if e > 15 then exp(15)*(1 + e - 15) else exp(e)) - 1) + v/1e8;
  end Diode;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Source
    extends TwoPin;
    parameter Real f = 50;
  equation
    v = 10*sin(2*3.141592653589793*f*time);
  end Source;

  model Rectifier "A bridge of four diodes with a resistance before it and an RC filter behind it"
    Source source;
    Resistor line(R = 0.5), load(R = 100), filter(R = 5);
    Capacitor c1(C = 4e-4), c2(C = 2e-4);
    Diode d1, d2, d3, d4;
    Ground ground;
  equation
    connect(source.p, line.p);
    connect(line.n, d1.p);
    connect(line.n, d2.n);
    connect(source.n, d3.p);
    connect(source.n, d4.n);
    connect(d1.n, c1.p);
    connect(d3.n, c1.p);
    connect(d2.p, ground.p);
    connect(d4.p, ground.p);
    connect(c1.n, ground.p);
    connect(c1.p, filter.p);
    connect(filter.n, c2.p);
    connect(c2.n, ground.p);
    connect(filter.n, load.p);
    connect(load.n, ground.p);
    annotation(experiment(StopTime = 0.06));
  end Rectifier;

  connector Port
    Real p(nominal = 1e5);
    flow Real q(nominal = 1e-4);
  end Port;

  model Orifice "Turbulent, laminar near zero"
    Port a, b;
    parameter Real k = 2e-8;
    parameter Real small = 1e3;
  protected
    Real dp = a.p - b.p;
  equation
    a.q = k*dp/(dp^2 + small^2)^0.25;
    a.q + b.q = 0;
  end Orifice;

  model Volume
    Port a;
    parameter Real C = 1e-12;
    Real p(start = 1e6, fixed = true, nominal = 1e5) = a.p;
  equation
    C*der(p) = a.q;
  end Volume;

  model Supply
    Port a;
  equation
    a.p = 5e6 + 3e6*sin(2*3.141592653589793*5*time);
  end Supply;

  model Tank
    Port a;
  equation
    a.p = 1e5;
  end Tank;

  model Orifices "Two volumes joined by a net of turbulent orifices without volumes between them"
    Supply supply;
    Volume v1, v2(C = 3e-12);
    Orifice o1, o2(k = 1.5e-8), o3(k = 1e-8), o4, o5(k = 1.2e-8), o6(k = 0.8e-8);
    Tank tank;
  equation
    connect(supply.a, o1.a);
    connect(o1.b, o2.a);
    connect(o2.b, v1.a);
    connect(o1.b, o5.a);
    connect(v1.a, o3.a);
    connect(o3.b, o4.a);
    connect(o4.b, v2.a);
    connect(o5.b, o3.b);
    connect(v2.a, o6.a);
    connect(o6.b, tank.a);
    annotation(experiment(StopTime = 0.5));
  end Orifices;

  model Valve "The loop itself changes at events, and at a sampled instant"
    Real x(start = 1, fixed = true);
    Real q(start = 0.5), z(start = 0.5);
    Boolean closed(start = false, fixed = true);
    discrete Real k(start = 1, fixed = true);
  equation
    when {x < 0.4, x > 0.9} then
      closed = not pre(closed);
    end when;
    when sample(0.13, 0.13) then
      k = 1 + 0.1*pre(k);
    end when;
    q + 0.3*q^3 + 0.1*z = k*x;
    z + 0.2*exp(z) = if closed then 1.2 - q else q;
    der(x) = (if closed then 2*z else -q) + 0.1*sin(30*time);
    annotation(experiment(StopTime = 1));
  end Valve;

  model Driven "The loop reads an input"
    input Real u(start = 0);
    output Real z(start = 0);
    Real x(start = 0, fixed = true);
  equation
    z + z^3 = u - x;
    der(x) = 20*z;
  end Driven;

  model Implicit "A derivative is the unknown of the loop"
    Real x(start = 1, fixed = true);
    Real v(start = 0, fixed = true);
  equation
    der(x) = v;
    der(v) + 0.2*sin(der(v)) + 0.1*der(v)^3 = -4*x - 0.3*v + sin(3*time);
    annotation(experiment(StopTime = 2));
  end Implicit;

  model Switched "A loop with a relation in it: mixed"
    Real x(start = 1, fixed = true);
    Real i(start = 0.1);
  equation
    i + 0.2*i^3 = sin(8*time) - x - (if i > 0 then 0.1*i else 2*i);
    der(x) = 5*i;
    annotation(experiment(StopTime = 2));
  end Switched;

  model NoLoop
    Real x(start = 1, fixed = true);
  equation
    der(x) = -x;
  end NoLoop;
end Index1;
