package Balls
  model Plain "point mass over a flat floor"
    parameter Real g = 9.81;
    parameter Real e = 0.7;
    parameter Real h0 = 1;
    Real h(start = h0, fixed = true);
    Real v(start = 0, fixed = true);
    discrete Real bounced(start = -1, fixed = true) "when";
  equation
    der(h) = v;
    der(v) = -g;
    when h <= 0 then
      reinit(v, -e*pre(v));
      bounced = time;
    end when;
  end Plain;

  model Drag "quadratic drag, and a floor that moves"
    parameter Real g = 9.81;
    parameter Real e = 0.7;
    parameter Real h0 = 1;
    parameter Real k = 0.3;
    Real h(start = h0, fixed = true);
    Real v(start = 0, fixed = true);
    Real floor = 0.02*sin(12*time);
    Real speed = 0.24*cos(12*time);
    discrete Real bounced(start = -1, fixed = true);
  equation
    der(h) = v;
    der(v) = -g - k*v*abs(v);
    when h <= floor then
      reinit(v, speed - e*(pre(v) - speed));
      bounced = time;
    end when;
  end Drag;
end Balls;
