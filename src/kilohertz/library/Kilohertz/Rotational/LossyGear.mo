within Kilohertz.Rotational;
model LossyGear "A gear that loses a part of the power it passes on, and may lock by itself"
  extends TwoFlanges;
  extends Kilohertz.Friction.StickSlip(pressed = true, final peak=1, final fall=0, v(unit="rad/s") = w, acc(unit="rad/s2") = acc_a, f(unit="N.m") = loss,
    up(unit="N.m") = if a.tau >= 0 then (1 - eta)*a.tau else (1 - 1/eta_back)*a.tau,
    down(unit="N.m") = if a.tau >= 0 then (1 - 1/eta_back)*a.tau else (1 - eta)*a.tau);
  parameter Real ratio = 1 "Angle of a over angle of b";
  parameter Real eta(min=1e-3, max=1) = 0.95 "Efficiency where a drives b";
  parameter Real eta_back(min=1e-3, max=1) = 0.95 "Efficiency where b drives a";
  Units.Angle phi "Angle of a";
  Units.AngularVelocity w "Speed of a";
  Units.AngularAcceleration acc_a "Acceleration of a";
  Units.Torque loss "Torque lost, as seen at a";
equation
  phi = a.phi;
  w = der(phi);
  acc_a = der(w);
  a.phi = ratio*b.phi;
  ratio*(a.tau - loss) + b.tau = 0;
  annotation(Icon(graphics={Rectangle(extent={{-90,10},{-40,-10}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid),
    Rectangle(extent={{-40,30},{-10,-30}}, fillColor={240,200,160}, fillPattern=FillPattern.Solid), Rectangle(extent={{-10,60},{40,-60}}, fillColor={240,200,160}, fillPattern=FillPattern.Solid),
    Rectangle(extent={{40,10},{90,-10}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Text(extent={{-150,-65},{150,-100}}, textString="%ratio, %eta")}),
    Documentation(info="<html><p><code>b.tau = -ratio (a.tau - loss)</code>. While it turns, the loss is such that
      <code>eta</code> of the power comes out at b where a drives, and <code>eta_back</code> of it at a where b drives. At rest
      the loss is whatever keeps it at rest, between the two values of turning: both efficiencies below one half of what
      follows from each other make a gear that locks by itself.</p></html>"));
end LossyGear;
