within Kilohertz.Electrical;
package Converters "Bridges that make a voltage from a command: averaged, or pulse by pulse"
  partial model Bridge "A full bridge on a constant supply"
    extends TwoPin;
    parameter Units.Voltage V = 48 "Supply";
    Blocks.RealInput u "Part of the supply asked for, -1 to 1" annotation(Placement(transformation(extent={{-20,-20},{20,20}}, origin={0,110}, rotation=-90)));
  protected
    Real duty = max(-1, min(1, u)) "Part of the supply that it gives";
  equation
    annotation(Icon(graphics={Rectangle(extent={{-60,60},{60,-60}}, lineColor={0,0,255}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-60,0}}, color={0,0,255}), Line(points={{60,0},{90,0}}, color={0,0,255})}));
  end Bridge;

  model Averaged "The mean of its pulses: no events, for steps longer than a pulse"
    extends Bridge;
  equation
    v = V*duty;
    annotation(Icon(graphics={Line(points={{-40,-30},{-20,-10},{20,20},{40,20}}, color={0,0,127})}),
      Documentation(info="<html><p><code>v = V u</code> within the supply.</p></html>"));
  end Averaged;

  model Pulsed "Pulses of both signs, as wide as the command asks for"
    extends Bridge;
    parameter Units.Frequency f(min=1e-3) = 10e3 "Pulses in a second";
    Boolean on "The positive half conducts";
  protected
    discrete Units.Time ends(start=0, fixed=true) "When the positive part of this pulse ends";
  equation
    when sample(0, 1/f) then
      ends = time + (1 + duty)/(2*f);
    end when;
    on = time < ends;
    v = if on then V else -V;
    annotation(Icon(graphics={Line(points={{-50,-30},{-50,30},{-20,30},{-20,-30},{10,-30},{10,30},{20,30},{20,-30},{50,-30}}, color={0,0,127})}),
      Documentation(info="<html><p>At the beginning of each pulse the command is read; <code>v = V</code> for the part <code>(1 + u)/2</code> of it and <code>-V</code> for the rest: pulse-width modulation, two events for each pulse.</p></html>"));
  end Pulsed;
end Converters;
