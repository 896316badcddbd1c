model Servo "Servo drive: DC motor, gear with backlash, bearing friction, cascade control with a sampled encoder"
  parameter Real Jmotor = 2.5e-4 "Inertia of the motor, kg.m2";
  parameter Real Jload = 0.02 "Inertia of the load, kg.m2";
  parameter Real ratio = 10 "Of the gear";
  parameter Real backlash = 0.005 "Of the gear, rad";
  parameter Real c = 2e3 "Stiffness of the coupling, N.m/rad";
  parameter Real d = 1 "Its damping, N.m.s/rad";
  parameter Real R = 0.8 "Of the armature, Ohm";
  parameter Real L = 1.2e-3 "Of the armature, H";
  parameter Real k = 0.06 "Of the motor, N.m/A";
  parameter Real friction = 0.012 "Torque of the bearing, N.m";
  parameter Real kp = 25 "Gain of the position";
  parameter Real kSpeed = 0.35 "Gain of the speed";
  parameter Real TSpeed = 0.05 "Integration time of the speed, s";
  parameter Real vMax = 20 "Supply, V";
  parameter Real disturbance = -0.5 "Torque on the load after 1.5 s, N.m";
  constant Real lsb = 2*3.141592653589793/8192 "Of the encoder, rad";
  constant Real Ts = 1e-3 "Of the encoder, s";
  Real i(start=0, fixed=true) "Current";
  Real phi(start=0, fixed=true) "Angle of the motor";
  Real w(start=0, fixed=true) "Speed of the motor";
  Real loadAngle(start=0, fixed=true);
  Real wLoad(start=0, fixed=true);
  Real integral(start=0, fixed=true);
  Real v "Voltage", tau "Torque of the coupling", gap "Angle in the coupling", rate, demand, command;
  Real reference "Angle that is asked for", speed "Its derivative";
  discrete Real angle(start=0, fixed=true) "Of the encoder";
  discrete Real encoderSpeed(start=0, fixed=true);
  output Real err = reference - loadAngle;
protected
  constant Real a = 20 "Acceleration", s = 3 "Speed", t0 = 0.1;
  constant Real t1 = t0 + s/a, t2 = t0 + 2/s, t3 = t2 + s/a;
equation
  speed = if time < t0 then 0 elseif time < t1 then a*(time - t0) elseif time < t2 then s
    elseif time < t3 then s - a*(time - t2) else 0;
  reference = if time < t0 then 0 elseif time < t1 then a*(time - t0)^2/2
    elseif time < t2 then s^2/(2*a) + s*(time - t1)
    elseif time < t3 then s^2/(2*a) + s*(t2 - t1) + s*(time - t2) - a*(time - t2)^2/2 else 2;
  when sample(0, Ts) then
    angle = lsb*floor(phi/lsb + 0.5);
    encoderSpeed = (angle - pre(angle))/Ts;
  end when;
  demand = ratio*(kp*(reference - angle/ratio) + speed - encoderSpeed/ratio);
  command = kSpeed*(demand + integral);
  v = if command > vMax then vMax elseif command < -vMax then -vMax else command;
  der(integral) = (demand + (v - command)/(0.9*kSpeed))/TSpeed;
  L*der(i) = v - R*i - k*w;
  der(phi) = w;
  gap = phi/ratio - loadAngle;
  rate = w/ratio - wLoad;
  tau = if gap > backlash/2 then c*(gap - backlash/2) + d*rate
    elseif gap < -backlash/2 then c*(gap + backlash/2) + d*rate else 0;
  Jmotor*der(w) = k*i - friction*tanh(w/0.1) - tau/ratio;
  der(loadAngle) = wLoad;
  Jload*der(wLoad) = tau + (if time > 1.5 then disturbance else 0);
  annotation(experiment(StopTime=3, Interval=0.001));
end Servo;
