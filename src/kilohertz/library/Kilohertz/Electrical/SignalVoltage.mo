within Kilohertz.Electrical;
model SignalVoltage "A voltage that a signal gives"
  extends TwoPin;
  Blocks.RealInput u(unit="V") "Voltage" annotation(Placement(transformation(extent={{-20,-20},{20,20}}, origin={0,110}, rotation=-90)));
equation
  v = u;
  annotation(Icon(graphics={Line(points={{-90,0},{-50,0}}, color={0,0,255}), Line(points={{50,0},{90,0}}, color={0,0,255}), Ellipse(extent={{-50,50},{50,-50}}, lineColor={0,0,255}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Line(points={{-50,0},{50,0}}, color={0,0,255})}),
    Documentation(info="<html><p><code>v = u</code>, whatever current is drawn.</p></html>"));
end SignalVoltage;
