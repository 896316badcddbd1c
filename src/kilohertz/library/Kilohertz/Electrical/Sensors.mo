within Kilohertz.Electrical;
package Sensors "What circuits do"
  model Current "Current that flows through"
    extends TwoPin;
    Blocks.RealOutput y(unit="A") "Current from p to n" annotation(Placement(transformation(extent={{-10,-10},{10,10}}, origin={0,-110}, rotation=-90)));
  equation
    v = 0;
    y = i;
    annotation(Icon(graphics={Line(points={{-90,0},{90,0}}, color={0,0,255}), Ellipse(extent={{-50,50},{50,-50}}, lineColor={0,0,255}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-40,30},{40,-30}}, textString="A")}),
      Documentation(info="<html><p>Without a voltage drop.</p></html>"));
  end Current;

  model Voltage "Voltage between two places"
    extends TwoPin;
    Blocks.RealOutput y(unit="V") "Voltage from p to n" annotation(Placement(transformation(extent={{-10,-10},{10,10}}, origin={0,-110}, rotation=-90)));
  equation
    i = 0;
    y = v;
    annotation(Icon(graphics={Line(points={{-90,0},{-50,0}}, color={0,0,255}), Line(points={{50,0},{90,0}}, color={0,0,255}), Ellipse(extent={{-50,50},{50,-50}}, lineColor={0,0,255}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-40,30},{40,-30}}, textString="V")}),
      Documentation(info="<html><p>Draws no current.</p></html>"));
  end Voltage;
end Sensors;
