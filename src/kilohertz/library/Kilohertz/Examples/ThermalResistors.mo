within Kilohertz.Examples;
package ThermalResistors "Two temperature-dependent resistors between two sources, and what a capacity does to their loop"
  model Original "Nothing stores heat between the resistors: their temperature is the root of a nonlinear equation"
    Thermal.SineTemperature hot(T_mean=373.15);
    Thermal.SineTemperature cold(T_mean=293.15);
    Thermal.TemperatureDependentResistor first(R_ref=1, alpha=8e-3);
    Thermal.TemperatureDependentResistor second(R_ref=2, alpha=-6e-3);
    Units.Temperature T_A = first.b.T "Temperature between the resistors";
  equation
    connect(hot.a, first.a);
    connect(first.b, second.a);
    connect(second.b, cold.a);
    annotation(experiment(StopTime=10, Tolerance=1e-8, Interval=1e-2), Documentation(info="<html><p>Case 2 of Huhn et al.
      2011 with our own parameters: purely algebraic, one nonlinear loop.</p></html>"));
  end Original;

  model WithCapacity "A small body between the resistors: its temperature is a state, the loop is gone"
    extends Original;
    Thermal.Capacity capacity(C=0.02, T(start=334.7834));
    Thermal.Loss loss(G=1e-4);
  equation
    connect(first.b, capacity.a);
    connect(first.b, loss.a);
    annotation(experiment(StopTime=10, Tolerance=1e-8, Interval=1e-2), Documentation(info="<html><p>No loop is left; the
      price is a small delay of <code>T_A</code> and a small loss to the surroundings.</p></html>"));
  end WithCapacity;
end ThermalResistors;
