within Kilohertz.Blocks;
package Logic "Truth values and decisions"
  block And "Both of two truth values"
    extends Box;
    BooleanInput u1 "First" annotation(Placement(transformation(extent={{-140,40},{-100,80}})));
    BooleanInput u2 "Second" annotation(Placement(transformation(extent={{-140,-80},{-100,-40}})));
    BooleanOutput y "Result" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    y = u1 and u2;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="and")}),
      Documentation(info="<html><p><code>y = u1 and u2</code>.</p></html>"));
  end And;

  block Or "Either of two truth values"
    extends Box;
    BooleanInput u1 "First" annotation(Placement(transformation(extent={{-140,40},{-100,80}})));
    BooleanInput u2 "Second" annotation(Placement(transformation(extent={{-140,-80},{-100,-40}})));
    BooleanOutput y "Result" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    y = u1 or u2;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="or")}),
      Documentation(info="<html><p><code>y = u1 or u2</code>.</p></html>"));
  end Or;

  block Not "The other truth value"
    extends Box;
    BooleanInput u "Input" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    BooleanOutput y "Result" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    y = not u;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="not")}),
      Documentation(info="<html><p><code>y = not u</code>.</p></html>"));
  end Not;

  block Threshold "Whether a number is above a bound, with hysteresis"
    extends Box;
    RealInput u "Input" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    BooleanOutput y(start=false, fixed=true) "Above" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
    parameter Real on = 1 "Becomes true above this";
    parameter Real off = 0 "Becomes false below this";
  equation
    assert(off <= on, "a threshold must not turn off above where it turns on: off <= on");
    y = u > on or pre(y) and u >= off;
    annotation(Icon(graphics={Line(points={{-80,-60},{40,-60},{40,60},{80,60}}, color={255,0,255}), Line(points={{40,60},{-40,60},{-40,-60}}, color={255,0,255})}),
      Documentation(info="<html><p>True above <code>on</code>, false below <code>off</code>, as it was in between.</p></html>"));
  end Threshold;

  block Switch "One number or the other"
    extends Box;
    RealInput u1 "Passed on where the condition holds" annotation(Placement(transformation(extent={{-140,60},{-100,100}})));
    BooleanInput u2 "Condition" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    RealInput u3 "Passed on where it does not" annotation(Placement(transformation(extent={{-140,-100},{-100,-60}})));
    RealOutput y "Output" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    y = if u2 then u1 else u3;
    annotation(Icon(graphics={Line(points={{-100,80},{-30,80},{20,10}}, color={0,0,127}), Line(points={{-100,-80},{-30,-80}}, color={0,0,127}), Line(points={{20,10},{100,0}}, color={0,0,127})}),
      Documentation(info="<html><p><code>y = if u2 then u1 else u3</code>.</p></html>"));
  end Switch;

  block Latch "Set by one signal, reset by another"
    extends Box;
    BooleanInput set "Sets it" annotation(Placement(transformation(extent={{-140,40},{-100,80}})));
    BooleanInput reset "Resets it, and wins" annotation(Placement(transformation(extent={{-140,-80},{-100,-40}})));
    BooleanOutput y(start=false, fixed=true) "State" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    y = not reset and (set or pre(y));
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="S R")}),
      Documentation(info="<html><p>True from <code>set</code> on until <code>reset</code>.</p></html>"));
  end Latch;

  block OnDelay "True once its input has been true for a while"
    extends Box;
    BooleanInput u "Input" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    BooleanOutput y(start=false, fixed=true) "Result" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
    parameter Units.Time T(min=0) = 1 "How long";
  protected
    discrete Units.Time since(start=0, fixed=true) "When the input became true";
  equation
    when u then
      since = time;
    end when;
    y = u and time >= since + T;
    annotation(Icon(graphics={Line(points={{-80,-60},{-40,-60},{-40,60},{80,60}}, color={190,190,190}), Line(points={{-80,-60},{20,-60},{20,40},{80,40}}, color={255,0,255})}),
      Documentation(info="<html><p><code>y</code> becomes true <code>T</code> after <code>u</code> did, if it still is, and false with it.</p></html>"));
  end OnDelay;

  block Counter "How often its input became true"
    extends Box;
    BooleanInput u "Input" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    IntegerOutput y(start=0, fixed=true) "Count" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    when u then
      y = pre(y) + 1;
    end when;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="123")}),
      Documentation(info="<html><p>One more at each rising edge.</p></html>"));
  end Counter;
end Logic;
