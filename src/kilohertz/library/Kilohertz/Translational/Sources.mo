within Kilohertz.Translational;
package Sources "What moves a rod"
  model Force "The force of a signal"
    Flange b "The driven rod" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Blocks.RealInput f(unit="N") "Force onto the rod" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
  equation
    b.f = -f;
    annotation(Icon(graphics={Polygon(points={{-80,15},{30,15},{30,40},{85,0},{30,-40},{30,-15},{-80,-15},{-80,15}}, lineColor={0,127,0}, fillColor={200,225,200}, fillPattern=FillPattern.Solid), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>b.f = -f</code>.</p></html>"));
  end Force;

  model Speed "The speed of a signal, followed with a small delay"
    Flange b "The driven rod" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Blocks.RealInput v_ref(unit="m/s") "Speed asked for" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    parameter Units.Time T(min=1e-9) = 1e-3 "Time constant of the delay";
    Units.Length s(start=0, fixed=true, stateSelect=StateSelect.prefer) "Position";
    Units.Velocity v(stateSelect=StateSelect.prefer) "Speed";
  initial equation
    v = v_ref;
  equation
    b.s = s;
    der(s) = v;
    T*der(v) = v_ref - v;
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-50,30},{50,-30}}, textString="v"), Line(points={{60,0},{90,0}}, color={0,127,0}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>T der(v) = v_ref - v</code>.</p></html>"));
  end Speed;
end Sources;
