package RightHandSides "Models put together from components, whose right-hand sides stand beside them in hand-written C"
  connector Pin "Electrical pin"
    Real v;
    flow Real i;
  end Pin;

  connector Port "Hydraulic port"
    Real p;
    flow Real q;
  end Port;

  connector Flange "Shaft or rod"
    Real s;
    flow Real f;
  end Flange;

  connector Frame "Point and direction in the plane"
    Real x;
    Real y;
    Real phi;
    flow Real fx;
    flow Real fy;
    flow Real t;
  end Frame;

  // ---------------------------------------------------------------------------------------------------- electrical

  partial model TwoPins
    Pin p;
    Pin n;
    Real v;
    Real i;
  equation
    v = p.v - n.v;
    p.i = i;
    p.i + n.i = 0;
  end TwoPins;

  model Resistor
    extends TwoPins;
    parameter Real R = 1;
  equation
    v = R * i;
  end Resistor;

  model Inductor
    extends TwoPins(i(start = 0, fixed = true));
    parameter Real L = 1;
  equation
    L * der(i) = v;
  end Inductor;

  model Capacitor
    extends TwoPins(v(start = 0, fixed = true));
    parameter Real C = 1;
  equation
    C * der(v) = i;
  end Capacitor;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Source
    extends TwoPins;
    parameter Real V = 10;
  equation
    v = V;
  end Source;

  model Section "Resistor and inductor in line, capacitor and leak to ground"
    Pin a;
    Pin b;
    Resistor line(R = 0.1);
    Inductor coil(L = 1e-3);
    Capacitor capacitor(C = 1e-5);
    Resistor leak(R = 1e5);
    Ground ground;
  equation
    connect(a, line.p);
    connect(line.n, coil.p);
    connect(coil.n, b);
    connect(b, capacitor.p);
    connect(capacitor.n, ground.p);
    connect(b, leak.p);
    connect(leak.n, ground.p);
  end Section;

  model Ladder "Twenty sections of a transmission line: forty states, linear"
    parameter Integer n = 20;
    Source source(V = 10);
    Ground ground;
    Section section[n];
    Resistor load(R = 50);
    Ground earth;
  equation
    connect(source.n, ground.p);
    connect(source.p, section[1].a);
    for k in 1:n - 1 loop
      connect(section[k].b, section[k + 1].a);
    end for;
    connect(section[n].b, load.p);
    connect(load.n, earth.p);
  end Ladder;

  // ----------------------------------------------------------------------------------------------------- hydraulic

  model Chamber "Oil under pressure; its volume grows with the way of the piston"
    Port port;
    parameter Real beta = 1.4e9 "bulk modulus";
    parameter Real V0 = 1e-4 "volume at the middle";
    parameter Real A = 1e-3 "area, negative on the other side of the piston";
    parameter Real leak = 1e-13;
    Real p(start = 5e6, fixed = true);
    Real V;
    Flange rod;
  equation
    p = port.p;
    V = V0 + A * rod.s;
    V / beta * der(p) = port.q - A * der(rod.s) - leak * p;
    rod.f = -A * p;
  end Chamber;

  model Edge "Orifice with turbulent flow, smooth about zero"
    Port a;
    Port b;
    parameter Real k = 1e-7;
    parameter Real dp0 = 1e4;
    input Real opening;
    Real dp;
  equation
    dp = a.p - b.p;
    a.q = k * opening * dp / (dp * dp + dp0 * dp0) ^ 0.25;
    a.q + b.q = 0;
  end Edge;

  model Pressure "Supply or tank"
    Port port;
    parameter Real p = 2e7;
  equation
    port.p = p;
  end Pressure;

  model Piston "Mass with friction against a spring"
    Flange a;
    parameter Real m = 30;
    parameter Real d = 400;
    parameter Real c = 2e4;
    parameter Real fc = 120 "Coulomb friction";
    parameter Real v0 = 1e-3;
    Real s(start = 0, fixed = true);
    Real v(start = 0, fixed = true);
  equation
    s = a.s;
    v = der(s);
    m * der(v) = a.f - d * v - fc * tanh(v / v0) - c * s;
  end Piston;

  model Axis "Servo valve, cylinder and mass: five states, not linear"
    parameter Real T = 2e-3 "time constant of the valve";
    parameter Real u = 0.3 "command";
    Real y(start = 0, fixed = true) "way of the spool";
    Pressure supply(p = 2e7);
    Pressure tank(p = 1e5);
    Edge supplyA(opening = 0.5 * (1 + tanh(8 * y)));
    Edge tankA(opening = 0.5 * (1 - tanh(8 * y)));
    Edge supplyB(opening = 0.5 * (1 - tanh(8 * y)));
    Edge tankB(opening = 0.5 * (1 + tanh(8 * y)));
    Chamber left(A = 1e-3);
    Chamber right(A = -0.8e-3);
    Piston piston;
  equation
    T * der(y) + y = u;
    connect(supply.port, supplyA.a);
    connect(supply.port, supplyB.a);
    connect(supplyA.b, left.port);
    connect(left.port, tankA.a);
    connect(supplyB.b, right.port);
    connect(right.port, tankB.a);
    connect(tankA.b, tank.port);
    connect(tankB.b, tank.port);
    connect(left.rod, piston.a);
    connect(right.rod, piston.a);
  end Axis;

  // ------------------------------------------------------------------------------------------------- planar mechanics

  model World
    Frame frame;
  equation
    frame.x = 0;
    frame.y = 0;
    frame.phi = 0;
  end World;

  model Revolute "Joint with viscous friction"
    Frame a;
    Frame b;
    parameter Real d = 0.1;
    parameter Real phi0 = 0;
    Real phi(start = phi0, fixed = true);
    Real w(start = 0, fixed = true);
  equation
    w = der(phi);
    a.x = b.x;
    a.y = b.y;
    b.phi = a.phi + phi;
    a.fx + b.fx = 0;
    a.fy + b.fy = 0;
    a.t + b.t = 0;
    b.t = d * w;
  end Revolute;

  model Rod "Massive rod: centre of mass in its middle"
    Frame a;
    Frame b;
    parameter Real L = 1;
    parameter Real m = 1;
    parameter Real J = 0.1;
    parameter Real g = 9.81;
    Real x;
    Real y;
    Real vx;
    Real vy;
    Real phi(stateSelect = StateSelect.always);
    Real w(stateSelect = StateSelect.always);
    Real s;
    Real c;
  equation
    phi = a.phi;
    s = sin(phi);
    c = cos(phi);
    x = a.x + L / 2 * s;
    y = a.y - L / 2 * c;
    b.x = a.x + L * s;
    b.y = a.y - L * c;
    b.phi = a.phi;
    vx = der(x);
    vy = der(y);
    w = der(phi);
    m * der(vx) = a.fx + b.fx;
    m * der(vy) = a.fy + b.fy - m * g;
    J * der(w) = a.t + b.t + L / 2 * (s * (b.fy - a.fy) + c * (b.fx - a.fx));
  end Rod;

  model FreeEnd
    Frame a;
  equation
    a.fx = 0;
    a.fy = 0;
    a.t = 0;
  end FreeEnd;

  model Pendulum "Two rods on two joints: four states, one linear loop"
    World world;
    Revolute shoulder(phi0 = 1);
    Rod upper(L = 1, m = 2, J = 0.2);
    Revolute elbow(phi0 = 0.5);
    Rod lower(L = 0.8, m = 1.5, J = 0.1);
    FreeEnd hand;
  equation
    connect(world.frame, shoulder.a);
    connect(shoulder.b, upper.a);
    connect(upper.b, elbow.a);
    connect(elbow.b, lower.a);
    connect(lower.b, hand.a);
  end Pendulum;
end RightHandSides;
