model Components "Every hydraulic and translational component in a circuit whose solution is known"
  import Kilohertz.Hydraulics.*;
  import Kilohertz.Translational.*;

  model FlowSource
    Port a;
    parameter Real q;
  equation
    a.q = -q;
  end FlowSource;

  model Hand
    Flange a;
  equation
    a.s = 0.1 + 0.05*time;
  end Hand;

  // a volume that is filled at a constant rate
  FlowSource pump(q=1e-5);
  Volume filled(V=2e-4, p(start=1e5, fixed=true));
  // a volume that empties through a resistance
  Volume emptied(V=1e-4, p(start=9e6, fixed=true));
  LaminarResistance drain(R=3e9);
  Tank tank(p=2e5);
  // a line that is closed at its volume and open at its resistance
  Line line(V=5e-5, R=6e9, p(start=8e6, fixed=true));
  // a line at rest has the pressure of what it is connected to
  Line resting(steady=true);
  // a cylinder between two pressures, moved at a constant speed
  PressureSource high(p=1e7), low(p=4e6);
  DifferentialCylinder moved(G=1e-12);
  Hand hand;
  // a closed cylinder that is pulled out: both chambers follow the bulk modulus
  DifferentialCylinder closed(G=0, p_a(start=9e6, fixed=true), p_b(start=3e6, fixed=true));
  // a valve between two pressures, and the step response of its spool
  Valve43 valve(f=20, damping=0.5);
  PressureSource at_a(p=6e6), at_b(p=7e6), supply(p=1.6e7);
  // a mass pushed against friction, and one on a spring
  Mass pushed(m=4, d=2, s(start=0, fixed=true), v(start=0, fixed=true));
  ConstantForce push(f=6);
  Fixed wall(s=0.5);
  SpringDamper spring(c=50, s_0=0.2);
  Mass swung(m=2, s(start=1, fixed=true), v(start=0, fixed=true));
equation
  connect(pump.a, filled.a);
  connect(emptied.a, drain.a);
  connect(drain.b, tank.a);
  connect(line.b, tank.a);
  connect(resting.b, tank.a);
  connect(high.a, moved.a);
  connect(low.a, moved.b);
  connect(moved.flange, hand.a);
  connect(hand.a, closed.flange);
  connect(valve.p, supply.a);
  connect(valve.t, tank.a);
  connect(valve.a, at_a.a);
  connect(valve.b, at_b.a);
  valve.u = 4;
  connect(push.b, pushed.a);
  connect(wall.a, spring.a);
  connect(spring.b, swung.a);
  annotation(experiment(StopTime=0.5, Tolerance=1e-10));
end Components;
