within Kilohertz.Examples;
package Oil "Hydraulic circuits: what each component of Hydraulics does"
  model PowerUnit "A motor, a pump, a check valve, an accumulator and a relief valve hold a pressure"
    Rotational.Sources.Speed motor(T=0.02);
    Hydraulics.Pump pump(D=1e-5, G=1e-13);
    Hydraulics.Tank tank;
    Hydraulics.Volume outlet(V=1e-4, p(start=2e5, fixed=true));
    Hydraulics.Valves.Relief relief(dp_set=1.5e7, dp_rise=5e5, q_nominal=6e-4);
    Hydraulics.Valves.Check check;
    Hydraulics.Accumulator store(V_0=5e-4, p_0=5e6);
    Hydraulics.Orifice load(A=1e-6);
    Hydraulics.Sensors.Pressure pressure;
    Hydraulics.Sensors.Flow meter;
  equation
    motor.w_ref = if time < 4 then 150 else 0;
    connect(motor.b, pump.shaft);
    connect(tank.a, pump.a);
    connect(pump.b, outlet.a);
    connect(outlet.a, relief.a);
    connect(relief.b, tank.a);
    connect(outlet.a, check.a);
    connect(check.b, store.a);
    connect(store.a, pressure.a);
    connect(store.a, meter.a);
    connect(meter.b, load.a);
    connect(load.b, tank.a);
    annotation(experiment(StopTime=6, Tolerance=1e-8), Documentation(info="<html><p>The accumulator is filled until the relief valve takes what the
      load does not; when the motor stops, the check valve closes and the accumulator alone feeds the load.</p></html>"));
  end PowerUnit;

  model Hammer "A line is closed at its end: the wave runs to and fro"
    Hydraulics.PressureSource supply(p=5e6);
    Hydraulics.LongLine line(n=20, length=20, p_start=5e6);
    Hydraulics.FlowSource end_valve;
  equation
    end_valve.q = if time < 0.05 then -2e-4*time/0.05 elseif time < 0.3 then -2e-4 else 0;
    connect(supply.a, line.a);
    connect(line.b, end_valve.b);
    annotation(experiment(StopTime=0.6, Tolerance=1e-8), Documentation(info="<html><p>A flow that is stopped at once raises the pressure by
      <code>sqrt(E rho) q/A</code>; the wave comes back after <code>2 length/sqrt(E/rho)</code>.</p></html>"));
  end Hammer;

  model Bubbles "The same volume is filled with and without air in the fluid"
    Hydraulics.FlowSource feed, feed_too;
    Hydraulics.Volume clean(V=1e-4, p(start=1e5, fixed=true));
    Hydraulics.AiryVolume airy(V=1e-4, air=0.02, p(start=1e5, fixed=true));
    Hydraulics.LaminarResistance leak(R=1e14), leak_too(R=1e14);
    Hydraulics.Tank tank(p=1e5);
  equation
    feed.q = 1e-6;
    feed_too.q = 1e-6;
    connect(feed.b, clean.a);
    connect(feed_too.b, airy.a);
    connect(clean.a, leak.a);
    connect(leak.b, tank.a);
    connect(airy.a, leak_too.a);
    connect(leak_too.b, tank.a);
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>First the air is pressed together, then the pressure rises as
      steeply as without it.</p></html>"));
  end Bubbles;

  model Lift "A 3/2 valve lifts a weight, a 2/2 valve lets it down"
    Hydraulics.PressureSource supply(p=1.6e7);
    Hydraulics.Tank tank;
    Hydraulics.Valves.Valve32 raise;
    Hydraulics.Valves.Valve22 lower;
    Hydraulics.Cylinder cylinder(stroke=0.4, f_seal=500, core(p_a(start=1.2e7, fixed=true), p_b(start=2e5, fixed=true)));
    Translational.Mass mass(m=1500, s(start=0.01, fixed=true), v(start=0, fixed=true));
    Translational.ConstantForce weight(f=-14715);
    Hydraulics.LaminarResistance vent(R=1e8);
  equation
    raise.u = if time < 0.2 then 0 elseif time < 1.2 then 4 else 0;
    lower.u = if time < 1.6 then 0 else 5;
    connect(supply.a, raise.p);
    connect(tank.a, raise.t);
    connect(raise.a, cylinder.a);
    connect(cylinder.a, lower.a);
    connect(lower.b, tank.a);
    connect(cylinder.b, vent.a);
    connect(vent.b, tank.a);
    connect(cylinder.flange, mass.a);
    connect(mass.b, weight.b);
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Down it goes until the piston meets its stop.</p></html>"));
  end Lift;

  model Press "Force control with a fluid that gives way to nothing"
    Hydraulics.PressureSource supply(p=1.6e7);
    Hydraulics.Tank tank;
    Hydraulics.Valve43 valve(rounding=0.05);
    Hydraulics.IncompressibleCylinder cylinder(G=1e-12);
    Translational.Mass ram(m=200, d=5000, s(start=0, fixed=true), v(start=0, fixed=true));
    Translational.Sensors.Force force;
    Translational.ElasticGap work(gap=0, c=5e6, d=5e4);
    Translational.Fixed table(s=0.05);
    replaceable Control.Force controller(k=2e-5, Ti=0.05, y_max=1) constrainedby Blocks.Feedback;
    Blocks.Sources.Ramp reference(height=2e4, duration=0.5, starts=0.5);
  equation
    connect(reference.y, controller.reference);
    connect(force.f, controller.measured);
    valve.u = 10*controller.y;
    connect(supply.a, valve.p);
    connect(tank.a, valve.t);
    connect(valve.a, cylinder.a);
    connect(valve.b, cylinder.b);
    connect(cylinder.flange, ram.a);
    connect(ram.b, force.a);
    connect(force.b, work.a);
    connect(work.b, table.a);
    annotation(experiment(StopTime=2, Tolerance=1e-8), Documentation(info="<html><p>The ram meets the workpiece and presses with what is asked for;
      the pressures are unknowns of a nonlinear loop, not states.</p></html>"));
  end Press;

  model SampledPress "The same with the controller at 1 kHz"
    extends Press(redeclare Control.SampledForce controller(k=2e-5, Ti=0.05, y_max=1, period=1e-3));
    annotation(experiment(StopTime=2, Tolerance=1e-8), Documentation(info="<html><p>What a program of the controller does.</p></html>"));
  end SampledPress;
end Oil;
