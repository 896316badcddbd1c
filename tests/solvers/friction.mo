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
  model Clutch "two surfaces that are pressed together from an instant on, free before"
    parameter Real f0 = 1 "sliding friction";
    parameter Real peak(min = 1) = 1.1;
    parameter Real on = 0 "instant";
    Real v "relative speed";
    Real a "its derivative";
    Real f "friction force";
    Real s(final start = 0) "path parameter";
    Boolean free(start = true, fixed = true);
    Boolean forward(start = false, fixed = true);
    Boolean backward(start = false, fixed = true);
    Boolean locked(start = false);
    Integer mode(start = 2, fixed = true) "1 forward, 0 stuck, -1 backward, 2 free";
  equation
    free = time < on;
    forward = not free and pre(mode) == 0 and (s > peak*f0 or pre(forward) and s > f0);
    backward = not free and pre(mode) == 0 and (s < -peak*f0 or pre(backward) and s < -f0);
    locked = not (free or pre(mode) == 1 or forward or pre(mode) == -1 or backward);
    a = if locked then 0 elseif free then s elseif forward or pre(mode) == 1 and not backward then s - f0 else s + f0;
    f = if locked then s elseif free then 0 elseif forward or pre(mode) == 1 and not backward then f0 else -f0;
    mode = if free then 2 elseif (pre(mode) == 1 or pre(mode) == 2 or forward) and v > 0 then 1 elseif (pre(mode) == -1 or pre(mode) == 2 or backward) and v < 0 then -1 else 0;
  end Clutch;

  model TwoBrakes "on one shaft: it stops at 5/3 s, and both hold it"
    Kilohertz.Rotational.Inertia shaft(J = 1, phi(start = 0, fixed = true), w(start = 5, fixed = true));
    Kilohertz.Rotational.Bearing bearing(tau_0 = 1);
    Kilohertz.Rotational.Brake brake(tau_max = 2);
  equation
    brake.u = 1;
    connect(shaft.b, bearing.a);
    connect(bearing.b, brake.a);
  end TwoBrakes;

  model TwoClutches "in parallel: the second is pressed when the first has locked"
    Clutch first(f0 = 30, on = 0.1);
    Clutch second(f0 = 20, on = 0.6);
    parameter Real load = 6;
    parameter Real push = 0 "more of it from 0.8 on";
    Real w1(start = 10, fixed = true), w2(start = 0, fixed = true);
  equation
    der(w1) = load + (if time < 0.8 then 0 else push) - first.f - second.f;
    2*der(w2) = first.f + second.f;
    first.v = w1 - w2;
    second.v = w1 - w2;
    first.a = der(first.v);
    second.a = der(second.v);
  end TwoClutches;
end Friction;
