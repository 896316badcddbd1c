within Kilohertz;
package Blocks "Signals: sources, continuous and sampled blocks, limits, logic"
  connector RealInput = input Real "A number that comes in"
    annotation(Icon(graphics={Polygon(points={{-100,100},{100,0},{-100,-100},{-100,100}}, lineColor={0,0,127}, fillColor={0,0,127}, fillPattern=FillPattern.Solid)}));
  connector RealOutput = output Real "A number that goes out"
    annotation(Icon(graphics={Polygon(points={{-100,100},{100,0},{-100,-100},{-100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid)}));
  connector BooleanInput = input Boolean "A truth value that comes in"
    annotation(Icon(graphics={Polygon(points={{-100,100},{100,0},{-100,-100},{-100,100}}, lineColor={255,0,255}, fillColor={255,0,255}, fillPattern=FillPattern.Solid)}));
  connector BooleanOutput = output Boolean "A truth value that goes out"
    annotation(Icon(graphics={Polygon(points={{-100,100},{100,0},{-100,-100},{-100,100}}, lineColor={255,0,255}, fillColor={255,255,255}, fillPattern=FillPattern.Solid)}));
  connector IntegerInput = input Integer "A whole number that comes in"
    annotation(Icon(graphics={Polygon(points={{-100,100},{100,0},{-100,-100},{-100,100}}, lineColor={255,127,0}, fillColor={255,127,0}, fillPattern=FillPattern.Solid)}));
  connector IntegerOutput = output Integer "A whole number that goes out"
    annotation(Icon(graphics={Polygon(points={{-100,100},{100,0},{-100,-100},{-100,100}}, lineColor={255,127,0}, fillColor={255,255,255}, fillPattern=FillPattern.Solid)}));

  partial block Box "The frame of a block"
    annotation(Icon(graphics={Rectangle(extent={{-100,100},{100,-100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end Box;

  partial block Source "One output"
    extends Box;
    RealOutput y "Output" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  end Source;

  partial block Signal "One input, one output"
    extends Box;
    RealInput u "Input" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    RealOutput y "Output" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  end Signal;

  partial block TwoSignals "Two inputs, one output"
    extends Box;
    RealInput u1 "First input" annotation(Placement(transformation(extent={{-140,40},{-100,80}})));
    RealInput u2 "Second input" annotation(Placement(transformation(extent={{-140,-80},{-100,-40}})));
    RealOutput y "Output" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  end TwoSignals;

  partial block Feedback "What should be, what is, what to do"
    extends Box;
    RealInput reference "What should be" annotation(Placement(transformation(extent={{-140,40},{-100,80}})));
    RealInput measured "What is" annotation(Placement(transformation(extent={{-140,-80},{-100,-40}})));
    RealOutput y "What to do about it" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  end Feedback;
end Blocks;
