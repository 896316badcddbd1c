package Friction "Dry friction with states Forward, Stuck, Backward, written out"
  model Contact "a mass on a belt: sticking needs a force above peak*f to break loose"
    parameter Real f0 = 1 "sliding friction";
    parameter Real peak(min = 1) = 1.5;
    Real v "speed relative to the belt";
    Real a "its derivative";
    Real f "friction force";
    Real s(final start = 0) "path parameter: acceleration while sliding, force while stuck";
    Boolean forward(start = false, fixed = true) "starts to slide forward";
    Boolean backward(start = false, fixed = true);
    Boolean locked(start = false);
    Integer mode(start = 0, fixed = true) "1 forward, 0 stuck, -1 backward, 2 free to decide";
  equation
    forward = pre(mode) == 0 and (s > peak*f0 or pre(forward) and s > f0);
    backward = pre(mode) == 0 and (s < -peak*f0 or pre(backward) and s < -f0);
    locked = not (pre(mode) == 1 or forward or pre(mode) == -1 or backward);
    a = if locked then 0 else if forward then s - f0 else if backward then s + f0 else if pre(mode) == 1 then s - f0 else s + f0;
    f = if locked then s else if forward then f0 else if backward then -f0 else if pre(mode) == 1 then f0 else -f0;
    mode = if (pre(mode) == 1 or forward) and v > 0 then 1 else if (pre(mode) == -1 or backward) and v < 0 then -1 else 0;
  end Contact;

  model StickSlip "a mass on a moving belt, held by a spring"
    extends Contact;
    parameter Real m = 1;
    parameter Real c = 10;
    parameter Real belt = 0.1;
    Real x(start = 0, fixed = true);
    Real w(start = belt, fixed = true) "speed of the mass: at first that of the belt";
  equation
    der(x) = w;
    v = w - belt;
    a = der(w);
    m*a = -c*x - f;
  end StickSlip;
end Friction;
