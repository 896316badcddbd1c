within Kilohertz.Examples;
package SaturatingInductors "Two saturating inductors in series, and what a capacitor between them does to their loops"
  model Original "A sine source drives both inductors with one current"
    Electrical.SineVoltage source(V=100, f=50) annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    Electrical.SaturatingInductor first(L_zero=0.2, L_inf=0.04, I_half=1.5) annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
    Electrical.SaturatingInductor second(L_zero=0.1, L_inf=0.02, I_half=1, psi(fixed=false)) annotation(Placement(transformation(extent={{-30,-50},{-10,-30}})));
    Electrical.Ground ground annotation(Placement(transformation(extent={{10,-50},{30,-30}})));
    Units.Voltage v_B = second.p.v "Voltage between the inductors";
  equation
    connect(source.p, first.p) annotation(Line(points={{-30,0},{-70,0}}, color={0,0,255}));
    connect(first.n, second.p) annotation(Line(points={{-50,0},{-40,0},{-40,-40},{-30,-40}}, color={0,0,255}));
    connect(second.n, source.n) annotation(Line(points={{-10,-40},{-6,-40},{-6,0},{-10,0}}, color={0,0,255}));
    connect(source.n, ground.p) annotation(Line(points={{-10,0},{20,0},{20,-30}}, color={0,0,255}));
    annotation(experiment(StopTime=0.2, Tolerance=1e-8, Interval=1e-4), Documentation(info="<html><p>Case 1 of Huhn et al.
      2011 with our own parameters. The two fluxes are tied by the common current, so one is a state: one nonlinear loop
      for the current, and a linear one for the two voltages, which is solved in closed form here.</p></html>"));
  end Original;

  model WithCapacitor "A small capacitor between the inductors makes both fluxes states"
    extends Original(second(psi(fixed=true)));
    Electrical.Capacitor capacitor(C=1e-7) annotation(Placement(transformation(extent={{-50,30},{-30,50}})));
    Electrical.Resistor damper(R=200) "Damps the oscillation that the capacitor brings" annotation(Placement(transformation(extent={{-10,30},{10,50}})));
  equation
    connect(capacitor.p, first.n) annotation(Line(points={{-50,40},{-54,40},{-54,20},{-46,20},{-46,0},{-50,0}}, color={0,0,255}));
    connect(capacitor.n, damper.p) annotation(Line(points={{-30,40},{-10,40}}, color={0,0,255}));
    connect(damper.n, ground.p) annotation(Line(points={{10,40},{20,40},{20,-30}}, color={0,0,255}));
    annotation(experiment(StopTime=0.2, Tolerance=1e-8, Interval=1e-4), Documentation(info="<html><p>Two nonlinear loops,
      one for each inductor, that do not depend on one another; the price is a fast oscillation of
      <code>v_B</code>.</p></html>"));
  end WithCapacitor;
end SaturatingInductors;
