within Kilohertz.Electrical;
package Switches "What conducts or blocks, with an event at each change"
  partial model Ideal "A small resistance while it conducts, a small conductance while it blocks"
    extends TwoPin;
    parameter Units.Resistance R_on(min=0) = 1e-5 "While it conducts";
    parameter Real G_off(unit="S", min=0) = 1e-5 "While it blocks";
    parameter Units.Voltage V_knee = 0 "Voltage at which it begins to conduct";
    Boolean blocks(start=true) "Does not conduct";
  protected
    Real s(start=0) "Counts voltage while it blocks, current while it conducts";
  equation
    v = s*(if blocks then 1 else R_on) + V_knee;
    i = s*(if blocks then G_off else 1) + G_off*V_knee;
    annotation(Documentation(info="<html><p>Voltage and current lie on a curve with a corner; <code>s</code> runs along it, so that which side holds is found together with the circuit.</p></html>"));
  end Ideal;

  model Diode "Conducts one way"
    extends Ideal;
  equation
    blocks = s < 0;
    annotation(Icon(graphics={Line(points={{-90,0},{90,0}}, color={0,0,255}), Polygon(points={{-40,40},{40,0},{-40,-40},{-40,40}}, lineColor={0,0,255}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Line(points={{40,40},{40,-40}}, color={0,0,255})}),
      Documentation(info="<html><p>Conducts from p to n from <code>V_knee</code> on, blocks below. Several of them are found together, as one loop of numbers and truth values.</p></html>"));
  end Diode;

  model Contact "Conducts while it is told to"
    extends Ideal(final V_knee=0);
    Blocks.BooleanInput closed "Conducts" annotation(Placement(transformation(extent={{-20,-20},{20,20}}, origin={0,110}, rotation=-90)));
  equation
    blocks = not closed;
    annotation(Icon(graphics={Line(points={{-90,0},{-40,0},{40,45}}, color={0,0,255}), Line(points={{40,0},{90,0}}, color={0,0,255}), Line(points={{0,90},{0,25}}, color={255,0,255}), Ellipse(extent={{-45,5},{-35,-5}}, lineColor={0,0,255})}),
      Documentation(info="<html><p><code>v = R_on i</code> while <code>closed</code>, <code>i = G_off v</code> otherwise.</p></html>"));
  end Contact;
end Switches;
