within Kilohertz;
package Units "Quantities with their units"
  type Voltage = Real(final quantity="ElectricPotential", final unit="V");
  type Current = Real(final quantity="ElectricCurrent", final unit="A");
  type Resistance = Real(final quantity="Resistance", final unit="Ohm");
  type Capacitance = Real(final quantity="Capacitance", final unit="F", min=0);
  type Inductance = Real(final quantity="Inductance", final unit="H");
  type Frequency = Real(final quantity="Frequency", final unit="Hz");
  type Time = Real(final quantity="Time", final unit="s");
  type Angle = Real(final quantity="Angle", final unit="rad", displayUnit="deg");
  type AngularVelocity = Real(final quantity="AngularVelocity", final unit="rad/s");
  type AngularAcceleration = Real(final quantity="AngularAcceleration", final unit="rad/s2");
  type Torque = Real(final quantity="Torque", final unit="N.m");
  type Inertia = Real(final quantity="MomentOfInertia", final unit="kg.m2", min=0);
  type Stiffness = Real(final unit="N.m/rad", min=0);
  type Damping = Real(final unit="N.m.s/rad", min=0);
end Units;
