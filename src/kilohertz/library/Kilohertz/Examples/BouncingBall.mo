within Kilohertz.Examples;
model BouncingBall "Events that change a state"
  parameter Real e = 0.7 "Restitution";
  parameter Real g = 9.81 "Gravity";
  Real h(start=1, fixed=true) "Height";
  Real v(start=0, fixed=true) "Velocity";
  Boolean flying(start=true, fixed=true);
  Boolean impact;
  Real v_new(start=0, fixed=true);
equation
  impact = h <= 0;
  der(v) = if flying then -g else 0;
  der(h) = v;
  when {h <= 0 and v <= 0, impact} then
    v_new = if edge(impact) then -e*pre(v) else 0;
    flying = v_new > 0;
    reinit(v, v_new);
  end when;
  annotation(experiment(StopTime=3, Tolerance=1e-6));
end BouncingBall;
