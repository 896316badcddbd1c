within Kilohertz;
package Electrical "Lumped circuits"
  connector Pin "A place where current enters a component"
    Units.Voltage v "Potential";
    flow Units.Current i "Current into the component";
  end Pin;

  partial model TwoPin "A component with two pins: what goes in comes out"
    Pin p "Positive pin";
    Pin n "Negative pin";
    Units.Voltage v "Voltage drop from p to n";
    Units.Current i "Current from p to n";
  equation
    v = p.v - n.v;
    p.i + n.i = 0;
    i = p.i;
  end TwoPin;

  model Ground "Potential zero"
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Resistor "Ohm's law"
    extends TwoPin;
    parameter Units.Resistance R = 1 "Resistance";
  equation
    v = R*i;
  end Resistor;

  model Capacitor "Charge stored against a voltage"
    extends TwoPin(v(start=0, fixed=true));
    parameter Units.Capacitance C = 1 "Capacitance";
  equation
    C*der(v) = i;
  end Capacitor;

  model Inductor "Current kept up by a magnetic field"
    extends TwoPin(i(start=0, fixed=true));
    parameter Units.Inductance L = 1 "Inductance";
  equation
    L*der(i) = v;
  end Inductor;

  model SaturatingInductor "An inductor whose iron saturates: its inductance falls as the current grows"
    extends TwoPin;
    parameter Units.Inductance L_zero = 0.2 "Inductance near zero current";
    parameter Units.Inductance L_inf = 0.04 "Inductance at large current";
    parameter Units.Current I_half(min=1e-9) = 1 "Current at which it has fallen half way";
    Units.Inductance L "Inductance at this current";
    Units.MagneticFlux psi(start=0, fixed=true) "Flux linkage";
  equation
    assert(L_zero < 9*L_inf, "the flux must grow with the current: L_zero < 9*L_inf");
    L = L_inf + (L_zero - L_inf)/(1 + (i/I_half)^2);
    psi = L*i;
    v = der(psi);
    annotation(Documentation(info="<html><p>The flux linkage is the state; the current follows from
      <code>psi = L(i) i</code>, which has no closed solution: one nonlinear loop for each inductor whose flux is a
      state. The flux grows with the current at all currents as long as <code>L_zero &lt; 9 L_inf</code> (the slope is least
      at <code>i = sqrt(3) I_half</code>); beyond that there would be several currents for one flux.</p></html>"));
  end SaturatingInductor;

  model ConstantVoltage "An ideal battery"
    extends TwoPin;
    parameter Units.Voltage V = 1 "Voltage";
  equation
    v = V;
  end ConstantVoltage;

  model SineVoltage "An ideal source of alternating voltage"
    extends TwoPin;
    parameter Units.Voltage V = 1 "Amplitude";
    parameter Units.Frequency f = 50 "Frequency";
    constant Real pi = 3.14159265358979;
  equation
    v = V*sin(2*pi*f*time);
  end SineVoltage;

  model Switch "Opens or closes at an instant"
    extends TwoPin;
    parameter Units.Time closes = 0 "Closed from here on";
    parameter Units.Resistance R_on = 1e-5 "When closed";
    parameter Units.Resistance R_off = 1e5 "When open";
    Boolean on;
  equation
    on = time >= closes;
    v = (if on then R_on else R_off)*i;
  end Switch;
end Electrical;
