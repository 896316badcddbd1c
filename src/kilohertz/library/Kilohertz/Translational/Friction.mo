within Kilohertz.Translational;
package Friction "Dry friction between two rods: the laws to choose from"
  partial model Contact "Friction between two rods, pressed together from outside"
    extends TwoFlanges;
    input Units.Force level "Force of sliding, at rest; 0 or less: not pressed";
    Units.Length s_rel "a against b";
    Units.Velocity v_rel "Speed of a against b";
    Units.Acceleration a_rel "Acceleration of a against b";
    Units.Force f_ab "Force from a to b";
    Units.Power loss "Heat";
  equation
    s_rel = a.s - b.s;
    v_rel = der(s_rel);
    a_rel = der(v_rel);
    a.f = f_ab;
    b.f = -f_ab;
    loss = f_ab*v_rel;
    annotation(Icon(graphics={Rectangle(extent={{-90,15},{30,0}}, lineColor={0,127,0}, fillColor={200,225,200}, fillPattern=FillPattern.Solid), Rectangle(extent={{-30,0},{90,-15}}, lineColor={0,127,0}, fillColor={225,240,225}, fillPattern=FillPattern.Solid)}));
  end Contact;

  model StickSlip "Sticks and slides, with events"
    extends Contact;
    extends Kilohertz.Friction.StickSlip(pressed = level > 0, v(unit="m/s") = v_rel, acc(unit="m/s2") = a_rel, f(unit="N") = f_ab,
      up(unit="N") = max(level, 0), down(unit="N") = -max(level, 0));
    annotation(Documentation(info="<html><p><code>Kilohertz.Friction.StickSlip</code> between two rods.</p></html>"));
  end StickSlip;

  model Smooth "Creeps instead of sticking, without events"
    extends Contact;
    extends Kilohertz.Friction.Smooth(v(unit="m/s") = v_rel, acc(unit="m/s2") = a_rel, f(unit="N") = f_ab,
      up(unit="N") = noEvent(max(level, 0)), down(unit="N") = -noEvent(max(level, 0)));
    annotation(Documentation(info="<html><p><code>Kilohertz.Friction.Smooth</code> between two rods.</p></html>"));
  end Smooth;
end Friction;
