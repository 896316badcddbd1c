package Mechanics "Small planar mechanics, with just what the tests of index reduction need"
  constant Real g = 9.81;

  model Pendulum "A point mass on a rod, in Cartesian coordinates"
    Real x(start = 0.6, fixed = true);
    Real y(start = -0.8);
    Real u;
    Real v(start = 7, fixed = true);
    Real F;
  equation
    der(x) = u;
    der(y) = v;
    der(u) = F*x;
    der(v) = F*y - g;
    x^2 + y^2 = 1;
  end Pendulum;

  model Never "Positions that shall not be states, where there is nothing else"
    extends Pendulum(x(stateSelect = StateSelect.never), y(stateSelect = StateSelect.never));
  end Never;

  model Pushed "The same pendulum, thrown the other way when it comes through the lowest point"
    Real x(start = 0.6, fixed = true);
    Real y(start = -0.8);
    Real u(start = 0, fixed = true);
    Real v;
    Real F;
    discrete Integer n(start = 0, fixed = true);
  equation
    der(x) = u;
    der(y) = v;
    der(u) = F*x;
    der(v) = F*y - g;
    x^2 + y^2 = 1;
    when x < 0 then
      n = pre(n) + 1;
      reinit(u, -2*u);
    end when;
  end Pushed;

  model Carried "Two directions on circles, one of them preferred as a state, and a point that both carry"
    Real q1(start = 1);
    Real q2(start = 0, fixed = true);
    Real w(start = 2, fixed = true);
    Real x(start = 1, stateSelect = StateSelect.prefer);
    Real y(start = 0, fixed = true, stateSelect = StateSelect.prefer);
    Real v(start = 1, fixed = true);
    Real p1(stateSelect = StateSelect.avoid);
    Real p2(stateSelect = StateSelect.avoid);
    Real u1 = der(p1);
    Real u2 = der(p2);
  equation
    q1^2 + q2^2 = 1;
    q1*der(q2) - q2*der(q1) = w;
    der(w) = 0;
    x^2 + y^2 = 1;
    x*der(y) - y*der(x) = v;
    der(v) = 0.5;
    x = p1*(2 + q2) + q1/2;
    y = p2*(2 + q2) + q2/2;
  end Carried;

  connector Frame
    Real x;
    Real y;
    Real phi;
    flow Real fx;
    flow Real fy;
    flow Real t;
  end Frame;

  model Ground
    parameter Real r[2] = {0, 0};
    Frame frame;
  equation
    frame.x = r[1];
    frame.y = r[2];
    frame.phi = 0;
  end Ground;

  model Joint "A hinge"
    Frame a;
    Frame b;
    Real phi;
    Real w;
  equation
    w = der(phi);
    a.x = b.x;
    a.y = b.y;
    b.phi = a.phi + phi;
    a.fx + b.fx = 0;
    a.fy + b.fy = 0;
    a.t + b.t = 0;
    b.t = 0;
  end Joint;

  model Bar "A rigid bar with its mass in the middle"
    parameter Real l = 1;
    parameter Real m = 1;
    parameter Real J = m*l^2/12;
    Frame a;
    Frame b;
    Real x;
    Real y;
    Real vx;
    Real vy;
    Real w;
  equation
    x = a.x + l/2*cos(a.phi);
    y = a.y + l/2*sin(a.phi);
    b.x = a.x + l*cos(a.phi);
    b.y = a.y + l*sin(a.phi);
    b.phi = a.phi;
    vx = der(x);
    vy = der(y);
    w = der(a.phi);
    m*der(vx) = a.fx + b.fx;
    m*der(vy) = a.fy + b.fy - m*g;
    J*der(w) = a.t + b.t - a.fx*(a.y - y) + a.fy*(a.x - x) - b.fx*(b.y - y) + b.fy*(b.x - x);
  end Bar;

  model FourBar "Three bars between two hinges on the ground; every angle swings back at some point"
    Ground left;
    Ground right(r = {2, 0});
    Joint j1(phi(start = 1.2, fixed = true), w(start = 0, fixed = true));
    Joint j2(phi(start = -1));
    Joint j3(phi(start = -1));
    Joint j4;
    Bar b1(l = 1);
    Bar b2(l = 1.2);
    Bar b3(l = 1.1);
  equation
    connect(left.frame, j1.a);
    connect(j1.b, b1.a);
    connect(b1.b, j2.a);
    connect(j2.b, b2.a);
    connect(b2.b, j3.a);
    connect(j3.b, b3.a);
    connect(b3.b, j4.a);
    connect(j4.b, right.frame);
  end FourBar;

  connector Flange
    Real phi;
    flow Real tau;
  end Flange;

  model Wheel
    parameter Real J = 1;
    parameter Real w0 = 0;
    Flange flange;
    Real w(start = w0, fixed = true);
  equation
    w = der(flange.phi);
    J*der(w) = flange.tau;
  end Wheel;

  model Clutch "Dry friction: slips one way or the other, or sticks as long as the torque holds"
    parameter Real largest = 1 "Torque while slipping";
    Flange a;
    Flange b;
    Real w_rel = der(b.phi) - der(a.phi);
    Real a_rel = der(w_rel);
    Real s "Acceleration or torque in units of one: the curve of friction by its length";
    Integer mode(start = 0, fixed = true) "1 slips forward, -1 backward, 0 sticks";
    Boolean starts_forward = pre(mode) == 0 and (s > largest or pre(starts_forward) and s > largest);
    Boolean starts_backward = pre(mode) == 0 and (s < -largest or pre(starts_backward) and s < -largest);
    Boolean sticks = not (starts_forward or starts_backward or mode <> 0);
    Real tau = a.tau;
  equation
    a.tau + b.tau = 0;
    a_rel = if sticks then 0 else if mode == 1 or starts_forward then s - largest else s + largest;
    b.tau = if sticks then s else if mode == 1 or starts_forward then largest else -largest;
    mode = if (pre(mode) == 1 or starts_forward) and w_rel > 0 then 1
      else if (pre(mode) == -1 or starts_backward) and w_rel < 0 then -1 else 0;
  end Clutch;

  model Clutches "A driven chain of wheels with three clutches between them"
    Wheel w1(J = 1, w0 = 10);
    Wheel w2(J = 2);
    Wheel w3(J = 3);
    Wheel w4(J = 4);
    Clutch c1(largest = 10, mode(start = -1));
    Clutch c2(largest = 5);
    Clutch c3(largest = 8);
  equation
    connect(w1.flange, c1.a);
    connect(c1.b, w2.flange);
    connect(w2.flange, c2.a);
    connect(c2.b, w3.flange);
    connect(w3.flange, c3.a);
    connect(c3.b, w4.flange);
  end Clutches;

  function square_told "What it gives is handed in"
    input Real x;
    input Real y;
    input Real told;
    output Real r;
  algorithm
    r := told;
    annotation(derivative(noDerivative = told) = square_rate, Inline = false);
  end square_told;

  function square_rate
    input Real x;
    input Real y;
    input Real told;
    input Real dx;
    input Real dy;
    output Real dr;
  algorithm
    dr := 2*told*(x*dx + y*dy);
    annotation(Inline = false);
  end square_rate;

  model Told "Round and round by a constraint whose derivative is told"
    Real x(start = 1);
    Real y(start = 0);
    Real l;
    Real square = x^2 + y^2;
  equation
    der(x) = l*x - y;
    der(y) = l*y + x;
    square_told(x, y, square) = 1;
  end Told;

  model Given "A pendulum with all of its starts given, where two of its equations say nothing"
    extends Pendulum(x(start = 1), y(start = 0, fixed = true), u(start = 0, fixed = true), v(start = 8));
  end Given;

  model DeadPoint "A crank that starts where the motion of its piston says nothing of its own"
    parameter Real r = 0.5;
    Real phi(start = 0, fixed = true);
    Real w(start = 10, fixed = true);
    Real s(start = 1.5, fixed = true);
    Real v(start = 0, fixed = true);
    Real beta(start = 0, fixed = true);
    Real F;
  equation
    der(phi) = w;
    der(s) = v;
    s = r*cos(phi) + cos(beta);
    r*sin(phi) = sin(beta);
    der(v) = F;
    0.1*der(w) = F*r*(sin(phi) + cos(phi)*tan(beta));
  end DeadPoint;
end Mechanics;
