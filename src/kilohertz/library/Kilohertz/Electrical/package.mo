within Kilohertz;
package Electrical "Lumped circuits"
  connector Pin "A place where current enters a component"
    Units.Voltage v "Potential";
    flow Units.Current i "Current into the component";
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,255}, fillColor={0,0,255}, fillPattern=FillPattern.Solid)}));
  end Pin;

  partial model TwoPin "A component with two pins: what goes in comes out"
    Pin p "Positive pin" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Pin n "Negative pin" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Units.Voltage v "Voltage drop from p to n";
    Units.Current i "Current from p to n";
  equation
    v = p.v - n.v;
    p.i + n.i = 0;
    i = p.i;
    annotation(Icon(graphics={Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end TwoPin;

  model Ground "Potential zero"
    Pin p "To be at zero" annotation(Placement(transformation(extent={{-10,90},{10,110}})));
  equation
    p.v = 0;
    annotation(Icon(graphics={Line(points={{0,90},{0,20}}, color={0,0,255}), Line(points={{-50,20},{50,20}}, color={0,0,255}), Line(points={{-30,0},{30,0}}, color={0,0,255}), Line(points={{-10,-20},{10,-20}}, color={0,0,255})}),
      Documentation(info="<html><p><code>p.v = 0</code>; every circuit needs one.</p></html>"));
  end Ground;

  model Resistor "Ohm's law"
    extends TwoPin;
    parameter Units.Resistance R = 1 "Resistance";
  equation
    v = R*i;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0}}, color={0,0,255}), Line(points={{60,0},{90,0}}, color={0,0,255}), Rectangle(extent={{-60,25},{60,-25}}, lineColor={0,0,255}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,-35},{150,-75}}, textString="R=%R")}),
      Documentation(info="<html><p><code>v = R i</code>.</p></html>"));
  end Resistor;

  model Capacitor "Charge stored against a voltage"
    extends TwoPin(v(start=0, fixed=true));
    parameter Units.Capacitance C = 1 "Capacitance";
  equation
    C*der(v) = i;
    annotation(Icon(graphics={Line(points={{-90,0},{-10,0}}, color={0,0,255}), Line(points={{10,0},{90,0}}, color={0,0,255}), Line(points={{-10,-50},{-10,50}}, color={0,0,255}), Line(points={{10,-50},{10,50}}, color={0,0,255})}),
      Documentation(info="<html><p><code>C der(v) = i</code>; the voltage is a state.</p></html>"));
  end Capacitor;

  model Inductor "Current kept up by a magnetic field"
    extends TwoPin(i(start=0, fixed=true));
    parameter Units.Inductance L = 1 "Inductance";
  equation
    L*der(i) = v;
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0}}, color={0,0,255}), Line(points={{60,0},{90,0}}, color={0,0,255}), Line(points={{-60,0},{-60,30},{-30,30},{-30,0}}, smooth=Smooth.Bezier, color={0,0,255}), Line(points={{-30,0},{-30,30},{0,30},{0,0}}, smooth=Smooth.Bezier, color={0,0,255}), Line(points={{0,0},{0,30},{30,30},{30,0}}, smooth=Smooth.Bezier, color={0,0,255}), Line(points={{30,0},{30,30},{60,30},{60,0}}, smooth=Smooth.Bezier, color={0,0,255})}),
      Documentation(info="<html><p><code>L der(i) = v</code>; the current is a state.</p></html>"));
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
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0}}, color={0,0,255}), Line(points={{60,0},{90,0}}, color={0,0,255}), Line(points={{-60,0},{-60,30},{-30,30},{-30,0}}, smooth=Smooth.Bezier, color={0,0,255}), Line(points={{-30,0},{-30,30},{0,30},{0,0}}, smooth=Smooth.Bezier, color={0,0,255}), Line(points={{0,0},{0,30},{30,30},{30,0}}, smooth=Smooth.Bezier, color={0,0,255}), Line(points={{30,0},{30,30},{60,30},{60,0}}, smooth=Smooth.Bezier, color={0,0,255}), Rectangle(extent={{-60,-15},{60,-25}}, fillColor={120,120,120}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>The flux linkage is the state; the current follows from
      <code>psi = L(i) i</code>, which has no closed solution: one nonlinear loop for each inductor whose flux is a
      state. The flux grows with the current at all currents as long as <code>L_zero &lt; 9 L_inf</code> (the slope is least
      at <code>i = sqrt(3) I_half</code>); beyond that there would be several currents for one flux.</p></html>"));
  end SaturatingInductor;

  model ConstantVoltage "An ideal battery"
    extends TwoPin;
    parameter Units.Voltage V = 1 "Voltage";
  equation
    v = V;
    annotation(Icon(graphics={Line(points={{-90,0},{-10,0}}, color={0,0,255}), Line(points={{10,0},{90,0}}, color={0,0,255}), Line(points={{-10,-60},{-10,60}}, color={0,0,255}), Line(points={{10,-30},{10,30}}, color={0,0,255})}),
      Documentation(info="<html><p><code>v = V</code>, whatever current is drawn.</p></html>"));
  end ConstantVoltage;

  model SineVoltage "An ideal source of alternating voltage"
    extends TwoPin;
    parameter Units.Voltage V = 1 "Amplitude";
    parameter Units.Frequency f = 50 "Frequency";
    constant Real pi = 3.14159265358979 "As its results have it";
  equation
    v = V*sin(2*pi*f*time);
    annotation(Icon(graphics={Line(points={{-90,0},{-60,0}}, color={0,0,255}), Line(points={{60,0},{90,0}}, color={0,0,255}), Ellipse(extent={{-60,60},{60,-60}}, lineColor={0,0,255}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Line(points={{-40,0},{-20,40},{20,-40},{40,0}}, smooth=Smooth.Bezier)}),
      Documentation(info="<html><p><code>v = V sin(2 pi f t)</code>.</p></html>"));
  end SineVoltage;

  model Switch "Opens or closes at an instant"
    extends TwoPin;
    parameter Units.Time closes = 0 "Closed from here on";
    parameter Units.Resistance R_on = 1e-5 "When closed";
    parameter Units.Resistance R_off = 1e5 "When open";
    Boolean on "Closed";
  equation
    on = time >= closes;
    v = (if on then R_on else R_off)*i;
    annotation(Icon(graphics={Line(points={{-90,0},{-40,0},{40,45}}, color={0,0,255}), Line(points={{40,0},{90,0}}, color={0,0,255}), Ellipse(extent={{-45,5},{-35,-5}}, lineColor={0,0,255})}),
      Documentation(info="<html><p><code>v = R_on i</code> from <code>closes</code> on, <code>v = R_off i</code> before.</p></html>"));
  end Switch;
end Electrical;
