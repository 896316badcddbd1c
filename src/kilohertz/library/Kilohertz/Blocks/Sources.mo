within Kilohertz.Blocks;
package Sources "Signals of time"
  block Constant "A number that never changes"
    extends Source;
    parameter Real k = 1 "Value";
  equation
    y = k;
    annotation(Icon(graphics={Line(points={{-80,80},{-80,-80}}, color={190,190,190}), Line(points={{-80,-60},{80,-60}}, color={190,190,190}), Line(points={{-80,0},{80,0}}, color={0,0,127}), Text(extent={{-90,-10},{90,-50}}, textString="%k")}),
      Documentation(info="<html><p><code>y = k</code>.</p></html>"));
  end Constant;

  block Step "A jump at an instant"
    extends Source;
    parameter Real height = 1 "Height of the jump";
    parameter Real offset = 0 "Value before it";
    parameter Units.Time starts = 0 "When it jumps";
  equation
    y = offset + (if time >= starts then height else 0);
    annotation(Icon(graphics={Line(points={{-80,80},{-80,-80}}, color={190,190,190}), Line(points={{-80,-60},{80,-60}}, color={190,190,190}), Line(points={{-80,-40},{0,-40},{0,50},{80,50}}, color={0,0,127})}),
      Documentation(info="<html><p><code>y = offset</code> before <code>starts</code>, <code>offset + height</code> from then on.</p></html>"));
  end Step;

  block Ramp "A straight rise between two levels"
    extends Source;
    parameter Real height = 1 "How far it rises";
    parameter Units.Time duration(min=1e-12) = 1 "How long it takes";
    parameter Real offset = 0 "Value before it";
    parameter Units.Time starts = 0 "When it begins";
  equation
    y = offset + (if time < starts then 0 elseif time < starts + duration then height*(time - starts)/duration else height);
    annotation(Icon(graphics={Line(points={{-80,80},{-80,-80}}, color={190,190,190}), Line(points={{-80,-60},{80,-60}}, color={190,190,190}), Line(points={{-80,-40},{-30,-40},{30,50},{80,50}}, color={0,0,127})}),
      Documentation(info="<html><p>From <code>offset</code> to <code>offset + height</code> within <code>duration</code>.</p></html>"));
  end Ramp;

  block Sine "A sine that may begin later"
    extends Source;
    parameter Real amplitude = 1 "Amplitude";
    parameter Units.Frequency f = 1 "Frequency";
    parameter Units.Angle phase = 0 "Phase";
    parameter Real offset = 0 "Mean";
    parameter Units.Time starts = 0 "Before this instant it is at its mean";
  equation
    y = offset + (if time < starts then 0 else amplitude*sin(2*Math.pi*f*(time - starts) + phase));
    annotation(Icon(graphics={Line(points={{-80,80},{-80,-80}}, color={190,190,190}), Line(points={{-80,-60},{80,-60}}, color={190,190,190}), Line(points={{-80,0},{-50,80},{-20,80},{20,-80},{50,-80},{80,0}}, color={0,0,127}, smooth=Smooth.Bezier)}),
      Documentation(info="<html><p><code>y = offset + amplitude sin(2 pi f (t - starts) + phase)</code>.</p></html>"));
  end Sine;

  block Pulse "A train of pulses"
    extends Source;
    parameter Real amplitude = 1 "Height of a pulse";
    parameter Units.Time period(min=1e-9) = 1 "From one pulse to the next";
    parameter Real width(min=0, max=1) = 0.5 "Part of a period that a pulse lasts";
    parameter Real offset = 0 "Value between pulses";
    parameter Units.Time starts = 0 "When the first pulse begins";
  protected
    discrete Units.Time begin(start=0, fixed=true) "When this pulse began";
    Boolean ticks(start=false, fixed=true) "A period begins";
  equation
    ticks = sample(starts, period);
    when ticks then
      begin = time;
    end when;
    y = offset + (if time >= starts and time < begin + width*period then amplitude else 0);
    annotation(Icon(graphics={Line(points={{-80,80},{-80,-80}}, color={190,190,190}), Line(points={{-80,-60},{80,-60}}, color={190,190,190}), Line(points={{-80,-40},{-50,-40},{-50,50},{-10,50},{-10,-40},{30,-40},{30,50},{70,50},{70,-40}}, color={0,0,127})}),
      Documentation(info="<html><p><code>offset + amplitude</code> for <code>width</code> of each <code>period</code>, <code>offset</code> for the rest.</p></html>"));
  end Pulse;

  block Table "Points over time, joined by straight lines or held"
    extends Source;
    parameter Units.Time t[:] = {0, 1} "Rising times";
    parameter Real values[size(t, 1)] = {0, 1} "Values there";
    parameter Boolean hold = false "A value holds until the next time, instead of a line to it" annotation(Evaluate=true);
  protected
    final parameter Integer n = size(t, 1) "Number of points";
    Integer at "The last point that is over; 0 before the first";
  equation
    assert(Math.rising(t), "the times of a table must rise: t");
    at = sum(if time >= t[i] then 1 else 0 for i in 1:n);
    y = if at == 0 then values[1] elseif at == n then values[n] elseif hold then values[max(at, 1)] else
      values[max(at, 1)] + (values[min(at + 1, n)] - values[max(at, 1)])*(time - t[max(at, 1)])/(t[min(at + 1, n)] - t[min(max(at, 1), n - 1)]);
    annotation(Icon(graphics={Line(points={{-80,80},{-80,-80}}, color={190,190,190}), Line(points={{-80,-60},{80,-60}}, color={190,190,190}), Line(points={{-80,-40},{-40,30},{0,-10},{40,60},{80,40}}, color={0,0,127})}),
      Documentation(info="<html><p>Each point is an event, so that no step of a solver goes over a corner. The first and the last value hold beyond the ends.</p></html>"));
  end Table;
end Sources;
