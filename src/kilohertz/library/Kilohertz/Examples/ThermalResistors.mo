within Kilohertz.Examples;
package ThermalResistors "Two temperature-dependent resistors between two sources, and what a capacity does to their loop"
  model Original "Nothing stores heat between the resistors: their temperature is the root of a nonlinear equation"
    Thermal.SineTemperature hot(T_mean=373.15) annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
    Thermal.SineTemperature cold(T_mean=293.15) annotation(Placement(transformation(extent={{10,-50},{30,-30}})));
    Thermal.TemperatureDependentResistor first(R_ref=1, alpha=8e-3) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    Thermal.TemperatureDependentResistor second(R_ref=2, alpha=-6e-3) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
    Units.Temperature T_A = first.b.T "Temperature between the resistors";
  equation
    connect(hot.a, first.a) annotation(Line(points={{-50,0},{-30,0}}, color={191,0,0}));
    connect(first.b, second.a) annotation(Line(points={{-10,0},{10,0}}, color={191,0,0}));
    connect(second.b, cold.a) annotation(Line(points={{30,0},{34,0},{34,-40},{30,-40}}, color={191,0,0}));
    annotation(experiment(StopTime=10, Tolerance=1e-8, Interval=1e-2), Documentation(info="<html><p>Case 2 of Huhn et al.
      2011 with our own parameters: purely algebraic, one nonlinear loop.</p></html>"));
  end Original;

  model WithCapacity "A small body between the resistors: its temperature is a state, the loop is gone"
    extends Original;
    Thermal.Capacity capacity(C=0.02, T(start=334.7834)) annotation(Placement(transformation(extent={{-10,30},{10,50}})));
    Thermal.Loss loss(G=1e-4) annotation(Placement(transformation(extent={{30,30},{50,50}})));
  equation
    connect(first.b, capacity.a) annotation(Line(points={{-10,0},{0,0},{0,30}}, color={191,0,0}));
    connect(first.b, loss.a) annotation(Line(points={{-10,0},{10,0},{10,40},{30,40}}, color={191,0,0}));
    annotation(experiment(StopTime=10, Tolerance=1e-8, Interval=1e-2), Documentation(info="<html><p>No loop is left; the
      price is a small delay of <code>T_A</code> and a small loss to the surroundings.</p></html>"));
  end WithCapacity;
end ThermalResistors;
