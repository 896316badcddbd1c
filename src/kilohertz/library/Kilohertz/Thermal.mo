within Kilohertz;
package Thermal "Heat between bodies of uniform temperature"
  connector HeatPort "A place where heat enters a component"
    Units.Temperature T "Temperature";
    flow Units.HeatFlow Q "Heat flow into the component";
  end HeatPort;

  partial model TwoPort "What flows in at one side flows out at the other"
    HeatPort a;
    HeatPort b;
    Units.HeatFlow Q "Heat flow from a to b";
  equation
    Q = a.Q;
    a.Q + b.Q = 0;
  end TwoPort;

  model Resistor "Heat flows in proportion to the difference of temperature"
    extends TwoPort;
    parameter Units.ThermalResistance R(min=0) = 1;
  equation
    a.T - b.T = R*Q;
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
  end TemperatureDependentResistor;

  model Capacity "A body that stores heat"
    HeatPort a;
    parameter Units.HeatCapacity C = 1;
    Units.Temperature T(start=293.15, fixed=true) "Temperature of the body";
  equation
    T = a.T;
    C*der(T) = a.Q;
  end Capacity;

  model Loss "Heat that goes to surroundings of a given temperature"
    HeatPort a;
    parameter Units.ThermalConductance G = 1;
    parameter Units.Temperature T = 293.15 "Of the surroundings";
  equation
    a.Q = G*(a.T - T);
  end Loss;

  model SineTemperature "A source whose temperature swings about a mean"
    HeatPort a;
    parameter Units.Temperature T_mean = 293.15;
    parameter Units.TemperatureDifference amplitude = 1;
    parameter Units.AngularVelocity w = 1 "Angular frequency";
  equation
    a.T = T_mean + amplitude*sin(w*time);
  end SineTemperature;
end Thermal;
