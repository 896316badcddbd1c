model Mass "A mass on rails, moved by a force from outside"
  parameter Real m = 1 "mass in kg";
  parameter Real d = 2 "friction in N.s/m";
  input Real force "in N";
  output Real position(start = 0, fixed = true) "in m";
  output Real velocity(start = 0, fixed = true) "in m/s";
equation
  der(position) = velocity;
  m*der(velocity) = force - d*velocity;
end Mass;
