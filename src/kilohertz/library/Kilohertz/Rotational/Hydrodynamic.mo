within Kilohertz.Rotational;
model Hydrodynamic "Pump and turbine joined by oil"
  extends TwoFlanges;
  parameter Real nu[:] = {0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1, 1.2, 1.5} "Speed of the turbine over speed of the pump";
  parameter Real torque_ratio[size(nu, 1)] = {2, 1.78, 1.56, 1.33, 1.1, 1, 1, 1, 1, 1} "Torque of the turbine over torque of the pump";
  parameter Real capacity[size(nu, 1)](each unit="N.m.s2/rad2") = 1e-3*{2.4, 2.4, 2.35, 2.2, 1.75, 1.2, 0.75, 0, -1.2, -2.4}
    "Torque of the pump over the square of its speed";
  parameter Units.AngularVelocity w_min(min=1e-6) = 5 "Below this speed of the pump the speed ratio is taken at it";
  Units.AngularVelocity w_pump "Speed of the pump";
  Units.AngularVelocity w_turbine "Speed of the turbine";
  Real speed_ratio "Speed of the turbine over speed of the pump";
  Units.Torque tau_pump "Torque of the oil against the pump";
  Units.Torque tau_turbine "Torque of the oil onto the turbine";
equation
  assert(Math.rising(nu), "the speed ratios of a torque converter must rise: nu");
  w_pump = der(a.phi);
  w_turbine = der(b.phi);
  speed_ratio = w_turbine/noEvent(max(w_pump, w_min));
  tau_pump = Math.interpolate(nu, capacity, speed_ratio)*noEvent(abs(w_pump))*w_pump;
  tau_turbine = Math.interpolate(nu, torque_ratio, speed_ratio)*tau_pump;
  a.tau = tau_pump;
  b.tau = -tau_turbine;
  annotation(Icon(graphics={Ellipse(extent={{-60,60},{0,-60}}, fillColor={190,210,235}, fillPattern=FillPattern.Solid), Ellipse(extent={{0,60},{60,-60}}, fillColor={220,230,245}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-60,0}}), Line(points={{60,0},{90,0}})}),
    Documentation(info="<html><p>With the speed ratio <code>nu = w_turbine/w_pump</code>, the pump takes
      <code>capacity(nu) w_pump^2</code> and the turbine gives <code>torque_ratio(nu)</code> times that; both are straight lines
      between the points of the tables. Above <code>nu = 1</code> the turbine drives the pump.</p></html>"));
end Hydrodynamic;
