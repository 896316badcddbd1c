model Late "y follows u ten seconds later"
  Real u = sin(time);
  Real y = delay(u, 10);
  Real x(start = 0, fixed = true);
equation
  der(x) = y;
end Late;
