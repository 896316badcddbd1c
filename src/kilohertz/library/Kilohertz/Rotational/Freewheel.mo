within Kilohertz.Rotational;
model Freewheel "Lets b run ahead of a, and takes it along otherwise"
  extends TwoFlanges;
  parameter Units.Time settle(min=1e-9) = 0.01 "What is left of the slip when it takes hold dies out with this time constant";
  Units.Angle phi_rel "b against a";
  Units.AngularVelocity w_rel "Speed of b against a";
  Units.AngularAcceleration a_rel "Acceleration of b against a";
  Units.Torque tau(start=0) "Torque from a to b; never negative";
  Boolean holds(start=false, fixed=true) "b does not run ahead";
protected
  Real s "Torque where it holds; below zero it counts acceleration";
  constant Real unit = 1 "Acceleration for one unit of s";
equation
  phi_rel = b.phi - a.phi;
  w_rel = der(phi_rel);
  a_rel = der(w_rel);
  holds = s > 0 and (pre(holds) or w_rel <= 0);
  a_rel = if holds then -w_rel/settle else -unit*s;
  tau = if holds then s else 0;
  a.tau = tau;
  b.tau = -tau;
  annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}), Ellipse(extent={{-35,35},{35,-35}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-60,0}}), Line(points={{35,0},{90,0}}), Line(points={{25,25},{45,35}}), Line(points={{-25,25},{-5,57}})}),
    Documentation(info="<html><p>Either the speeds are equal and the torque from a to b is positive, or b turns faster and there is no
      torque. It opens where the torque would become negative and takes hold where b would fall behind.</p></html>"));
end Freewheel;
