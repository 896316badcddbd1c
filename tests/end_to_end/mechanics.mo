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
end Mechanics;
