within Kilohertz;
package Thermal "Heat between bodies of uniform temperature"
  connector HeatPort "A place where heat enters a component"
    Units.Temperature T "Temperature";
    flow Units.HeatFlow Q "Heat flow into the component";
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={191,0,0}, fillColor={191,0,0}, fillPattern=FillPattern.Solid)}));
  end HeatPort;

  partial model TwoPort "What flows in at one side flows out at the other"
    HeatPort a "Left side" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    HeatPort b "Right side" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Units.HeatFlow Q "Heat flow from a to b";
  equation
    Q = a.Q;
    a.Q + b.Q = 0;
    annotation(Icon(graphics={Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end TwoPort;

  model Resistor "Heat flows in proportion to the difference of temperature"
    extends TwoPort;
    parameter Units.ThermalResistance R(min=0) = 1 "Resistance";
  equation
    a.T - b.T = R*Q;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0}}, color={191,0,0}), Line(points={{60,0},{90,0}}, color={191,0,0}), Rectangle(extent={{-60,30},{60,-30}}, lineColor={191,0,0}, fillColor={250,235,235}, fillPattern=FillPattern.Solid), Text(extent={{-150,-35},{150,-75}}, textString="R=%R")}),
      Documentation(info="<html><p><code>a.T - b.T = R Q</code>.</p></html>"));
  end Resistor;

  model TemperatureDependentResistor "A resistor that changes with its mean temperature"
    extends TwoPort;
    parameter Units.ThermalResistance R_ref(min=0) = 1 "Resistance at the reference temperature";
    parameter Units.Temperature T_ref = 293.15 "Reference temperature";
    parameter Real alpha(unit="1/K") = 5e-3 "Growth with temperature: positive as in a PTC, negative as in an NTC";
    Units.ThermalResistance R "Resistance at this temperature";
    Units.Temperature T "Mean temperature";
  equation
    T = (a.T + b.T)/2;
    R = R_ref*exp(alpha*(T - T_ref));
    a.T - b.T = R*Q;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0}}, color={191,0,0}), Line(points={{60,0},{90,0}}, color={191,0,0}), Rectangle(extent={{-60,30},{60,-30}}, lineColor={191,0,0}, fillColor={250,235,235}, fillPattern=FillPattern.Solid), Line(points={{-70,-50},{60,50},{80,50}}, color={191,0,0})}),
      Documentation(info="<html><p><code>a.T - b.T = R(T) Q</code> with <code>R = R_ref exp(alpha (T - T_ref))</code> at the mean of both temperatures; two of them in series are a nonlinear loop.</p></html>"));
  end TemperatureDependentResistor;

  model Capacity "A body that stores heat"
    HeatPort a "Of the body" annotation(Placement(transformation(extent={{-10,-110},{10,-90}})));
    parameter Units.HeatCapacity C = 1 "Heat capacity";
    Units.Temperature T(start=293.15, fixed=true) "Temperature of the body";
  equation
    T = a.T;
    C*der(T) = a.Q;
    annotation(Icon(graphics={Ellipse(extent={{-60,80},{60,-40}}, lineColor={191,0,0}, fillColor={250,235,235}, fillPattern=FillPattern.Solid), Line(points={{0,-40},{0,-90}}, color={191,0,0}), Text(extent={{-50,40},{50,0}}, textString="C=%C")}),
      Documentation(info="<html><p><code>C der(T) = Q</code>.</p></html>"));
  end Capacity;

  model Loss "Heat that goes to surroundings of a given temperature"
    HeatPort a "The body that loses heat" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    parameter Units.ThermalConductance G = 1 "Conductance to the surroundings";
    parameter Units.Temperature T = 293.15 "Of the surroundings";
  equation
    a.Q = G*(a.T - T);
    annotation(Icon(graphics={Line(points={{-90,0},{-40,0}}, color={191,0,0}), Rectangle(extent={{-40,60},{-20,-60}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Line(points={{-10,30},{50,30},{35,40}}, color={191,0,0}), Line(points={{-10,-30},{50,-30},{35,-20}}, color={191,0,0})}),
      Documentation(info="<html><p><code>a.Q = G (a.T - T)</code>.</p></html>"));
  end Loss;

  model SineTemperature "A source whose temperature swings about a mean"
    HeatPort a "Where the temperature holds" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    parameter Units.Temperature T_mean = 293.15 "Mean";
    parameter Units.TemperatureDifference amplitude = 1 "Amplitude";
    parameter Units.AngularVelocity w = 1 "Angular frequency";
  equation
    a.T = T_mean + amplitude*sin(w*time);
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, lineColor={191,0,0}, fillColor={250,235,235}, fillPattern=FillPattern.Solid), Line(points={{-40,0},{-20,40},{20,-40},{40,0}}, smooth=Smooth.Bezier, color={191,0,0}), Line(points={{60,0},{90,0}}, color={191,0,0})}),
      Documentation(info="<html><p><code>T = T_mean + amplitude sin(w t)</code>.</p></html>"));
  end SineTemperature;

  model FixedTemperature "Surroundings whose temperature never changes"
    HeatPort a "Where the temperature holds" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    parameter Units.Temperature T = 293.15 "Temperature";
  equation
    a.T = T;
    annotation(Icon(graphics={Rectangle(extent={{-60,60},{60,-60}}, lineColor={191,0,0}, fillColor={250,235,235}, fillPattern=FillPattern.Solid), Text(extent={{-60,30},{60,-30}}, textString="T"), Line(points={{60,0},{90,0}}, color={191,0,0}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>a.T = T</code>, whatever heat flows.</p></html>"));
  end FixedTemperature;

  model TemperatureSensor "Temperature at a port"
    HeatPort a "Where it is measured" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Blocks.RealOutput T(unit="K") "Temperature" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    a.Q = 0;
    T = a.T;
    annotation(Icon(graphics={Line(points={{-90,0},{-30,0}}, color={191,0,0}), Ellipse(extent={{-15,-35},{15,-65}}, lineColor={191,0,0}, fillColor={191,0,0}, fillPattern=FillPattern.Solid), Rectangle(extent={{-8,60},{8,-35}}, lineColor={191,0,0}), Line(points={{0,-40},{0,20}}, color={191,0,0}), Line(points={{15,0},{100,0}}, color={0,0,127}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>T = a.T</code>; no heat flows into it.</p></html>"));
  end TemperatureSensor;

  model HeatSource "A heat flow given by a signal"
    HeatPort b "Where the heat goes" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Blocks.RealInput Q(unit="W") "Heat flow" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
  equation
    b.Q = -Q;
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, lineColor={191,0,0}, fillColor={250,235,235}, fillPattern=FillPattern.Solid), Line(points={{-40,0},{40,0},{20,12}}, color={191,0,0}), Line(points={{60,0},{90,0}}, color={191,0,0}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>b.Q = -Q</code>.</p></html>"));
  end HeatSource;
end Thermal;
