within Kilohertz.Examples.Robot;
block Controller "Opens the brakes and leads the joints along a move there and back: a program of its own"
  constant Integer N = 7 "Joints";
  input Units.Angle phi[N](start=ratio.*home) "Angles of the motors";
  output Units.Current i[N] "Currents asked for";
  output Real brakes "1: the brakes hold";
  parameter Units.Time period = 1e-3 "From one instant to the next" annotation(Evaluate=true);
  parameter Units.Time opens = 0.2 "When the brakes open";
  parameter Units.Time starts = 0.4 "When the move begins";
  parameter Units.Time T = 4 "How long it takes, there and back";
  parameter Units.Angle stroke[N] = {0.6, 0.5, -0.5, -0.6, 0.7, 0.5, 1} "How far the joints go";
  parameter Real K_x(unit="1/s") = 6 "Gain of the position";
  parameter Real K_v(unit="1/s") = 30 "Gain of the speed: a motor that is free within its play must bear it three times, with the delay of two periods";
  constant Real ratio[N] = {160, 160, 120, 120, 100, 100, 100} "Reductions";
  constant Units.Angle home[N] = {0, 0.6, 0, -1.2, 0, 0.6, 0} "Where the joints stand at the start";
  constant Real k[N] = {0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.1} "Torque for a current, N.m/A";
  constant Units.Inertia J[N] = {1.5e-3, 1.5e-3, 2e-4, 6e-4, 6e-5, 1e-4, 5e-5} "Inertias that the motors see: rotor, and arm over the square of the reduction";
  constant Units.Inertia J_v[N] = {6e-4, 6e-4, 2e-4, 3e-4, 6e-5, 1e-4, 5e-5} "Inertias that the gain of the speed is made for";
  constant Units.Current i_max[N] = {12, 12, 10, 10, 8, 8, 8} "Limits of the currents";
  Units.Angle x_ref[N] "Where the motors should be";
  Units.AngularVelocity w_ref[N] "How fast they should turn";
protected
  discrete Units.Angle last[N](start=ratio.*home, each fixed=true) "Angles one instant ago";
  discrete Units.AngularVelocity w[N](each start=0, each fixed=true) "Speeds, by differences";
  discrete Units.Current held[N](each start=0, each fixed=true) "Currents of this instant";
  discrete Real part(start=0, fixed=true) "Part of the move that is made";
  discrete Real rate(start=0, fixed=true, unit="1/s") "Its rate";
  discrete Real rise(start=0, fixed=true, unit="1/s2") "The rate of that";
  Real way "Part of the time of the move";
equation
  way = max(0, min(1, (time - starts)/T));
  x_ref = ratio.*(home + stroke*part);
  w_ref = ratio.*stroke*rate;
  when sample(0, period) then
    part = (1 - cos(2*Math.pi*way))/2;
    rate = if way > 0 and way < 1 then Math.pi/T*sin(2*Math.pi*way) else 0;
    rise = if way > 0 and way < 1 then 2*(Math.pi/T)^2*cos(2*Math.pi*way) else 0;
    last = phi;
    w = 0.5*pre(w) + 0.5*(phi - pre(last))/period;
    held = {max(-i_max[j], min(i_max[j], (J_v[j]*K_v*(K_x*(ratio[j]*(home[j] + stroke[j]*part) - phi[j]) + ratio[j]*stroke[j]*rate - w[j]) + J[j]*ratio[j]*stroke[j]*rise)/k[j])) for j in 1:N};
  end when;
  i = held;
  brakes = if time < opens then 1 else 0;
  annotation(Documentation(info="<html><p>For each joint a speed is asked for, <code>K_x</code> times the error of the angle plus the speed of the move; the current is in proportion to what
    the speed lacks, plus what the acceleration of the move needs. Speeds are differences of angles, filtered, as a controller has them.</p></html>"),
    Icon(graphics={Rectangle(extent={{-100,100},{100,-100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid)}));
end Controller;
