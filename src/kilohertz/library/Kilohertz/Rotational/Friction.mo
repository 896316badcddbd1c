within Kilohertz.Rotational;
package Friction "Dry friction between two shafts: the laws to choose from"
  partial model Contact "Friction between two shafts, pressed together from outside"
    extends TwoFlanges;
    input Units.Torque level "Torque of sliding, at rest; 0 or less: not pressed";
    Units.Angle phi_rel "a against b";
    Units.AngularVelocity w_rel "Speed of a against b";
    Units.AngularAcceleration a_rel "Acceleration of a against b";
    Units.Torque tau "Torque from a to b";
    Units.Power loss "Heat";
  equation
    phi_rel = a.phi - b.phi;
    w_rel = der(phi_rel);
    a_rel = der(w_rel);
    a.tau = tau;
    b.tau = -tau;
    loss = tau*w_rel;
    annotation(Icon(graphics={Rectangle(extent={{-30,60},{-5,-60}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid),
      Rectangle(extent={{5,60},{30,-60}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-30,0}}), Line(points={{30,0},{90,0}})}));
  end Contact;

  model StickSlip "Sticks and slides, with events"
    extends Contact;
    extends Kilohertz.Friction.StickSlip(pressed = level > 0, v(unit="rad/s") = w_rel, acc(unit="rad/s2") = a_rel, f(unit="N.m") = tau,
      up(unit="N.m") = max(level, 0), down(unit="N.m") = -max(level, 0), v_fall=1);
    annotation(Documentation(info="<html><p><code>Kilohertz.Friction.StickSlip</code> between two shafts.</p></html>"));
  end StickSlip;

  model Smooth "Creeps instead of sticking, without events"
    extends Contact;
    extends Kilohertz.Friction.Smooth(v(unit="rad/s") = w_rel, acc(unit="rad/s2") = a_rel, f(unit="N.m") = tau,
      up(unit="N.m") = noEvent(max(level, 0)), down(unit="N.m") = -noEvent(max(level, 0)), v_fall=1, v_0=0.01);
    annotation(Documentation(info="<html><p><code>Kilohertz.Friction.Smooth</code> between two shafts.</p></html>"));
  end Smooth;
end Friction;
