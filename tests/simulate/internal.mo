package Internal "Models for internal steps and for the trial of `auto`"
  model Chopper "Step-down converter: switched at 4 kHz, with a diode; many events in a millisecond"
    parameter Real f = 4e3;
    parameter Real duty = 0.35;
    Real i(start = 0, fixed = true) "inductor";
    Real u(start = 0, fixed = true) "capacitor";
    Boolean on;
    Boolean conducts(start = true, fixed = true);
    Real v;
  equation
    on = mod(time*f, 1.0) < duty;
    conducts = on or i > 0;
    v = if on then 100 else 0;
    1e-3*der(i) = if conducts then v - u else 0;
    1e-4*der(u) = i - u/10;
  end Chopper;

  model Stiff "Linear: one mode of 1e5 1/s beside one of 1 1/s"
    Real x(start = 1, fixed = true);
    Real y(start = 0, fixed = true);
  equation
    der(x) = -x + 0.1*y;
    der(y) = 1e5*(sin(3*time) + x - y);
  end Stiff;

  model Oscillator "Not stiff, weakly damped"
    Real x(start = 1, fixed = true);
    Real v(start = 0, fixed = true);
  equation
    der(x) = v;
    der(v) = -40*x - 0.05*v;
  end Oscillator;

  model Fast "A wave of 150 Hz: too fast for one step of a millisecond, not stiff"
    parameter Real w = 942;
    Real x(start = 1, fixed = true);
    Real v(start = 0, fixed = true);
  equation
    der(x) = w*v;
    der(v) = -w*x;
  end Fast;

  model Steep "Stages of methods of higher order leave the domain of the logarithm on their way from the start"
    Real x(start = 2, fixed = true);
    Real y(start = 0, fixed = true);
  equation
    der(x) = -1e9*(log(x) - 0.3*sin(3*time));
    der(y) = x - y;
  end Steep;

  model Driven "An input, so that its samples matter"
    input Real u(start = 0);
    output Real y(start = 0, fixed = true);
  equation
    der(y) = 300*(u - y);
  end Driven;

  model Knocked "A force at instants that are in no step's end; what follows dies away within some steps"
    Real x(start = 0, fixed = true);
    discrete Real to(start = 1, fixed = true);
    Real force;
  equation
    der(x) = 700*(to - x);
    force = 700*(to - x) + sin(5*time);
    when sample(0.0303, 0.0707) then
      to = -pre(to);
    end when;
  end Knocked;
end Internal;
