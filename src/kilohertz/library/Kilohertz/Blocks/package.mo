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
end Blocks;
