within Kilohertz.Examples;
model Decay "The smallest model with a state: x(t) = exp(-t)"
  Real x(start=1, fixed=true);
equation
  der(x) = -x;
  annotation(experiment(StopTime=5, Tolerance=1e-6));
end Decay;
