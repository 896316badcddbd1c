within Kilohertz.Examples;
package SaturatingInductors "Two saturating inductors in series, and what a capacitor between them does to their loops"
  model Original "A sine source drives both inductors with one current"
    Electrical.SineVoltage source(V=100, f=50);
    Electrical.SaturatingInductor first(L_zero=0.2, L_inf=0.04, I_half=1.5);
    Electrical.SaturatingInductor second(L_zero=0.1, L_inf=0.02, I_half=1, psi(fixed=false));
    Electrical.Ground ground;
    Units.Voltage v_B = second.p.v "Voltage between the inductors";
  equation
    connect(source.p, first.p);
    connect(first.n, second.p);
    connect(second.n, source.n);
    connect(source.n, ground.p);
    annotation(experiment(StopTime=0.2, Tolerance=1e-8, Interval=1e-4), Documentation(info="<html><p>Case 1 of Huhn et al.
      2011 with our own parameters. The two fluxes are tied by the common current, so one is a state: one nonlinear loop
      for the current, and a linear one for the two voltages, which is solved in closed form here.</p></html>"));
  end Original;

  model WithCapacitor "A small capacitor between the inductors makes both fluxes states"
    extends Original(second(psi(fixed=true)));
    Electrical.Capacitor capacitor(C=1e-7);
    Electrical.Resistor damper(R=200) "Damps the oscillation that the capacitor brings";
  equation
    connect(capacitor.p, first.n);
    connect(capacitor.n, damper.p);
    connect(damper.n, ground.p);
    annotation(experiment(StopTime=0.2, Tolerance=1e-8, Interval=1e-4), Documentation(info="<html><p>Two nonlinear loops,
      one for each inductor, that do not depend on one another; the price is a fast oscillation of
      <code>v_B</code>.</p></html>"));
  end WithCapacitor;
end SaturatingInductors;
