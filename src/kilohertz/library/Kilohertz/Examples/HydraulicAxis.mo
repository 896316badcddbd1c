within Kilohertz.Examples;
package HydraulicAxis "A differential cylinder moves a mass: 4/3 valve, lines, position control"
  partial model Axis "The plant, with the valve's command left open"
    Hydraulics.PressureSource supply(p=1.6e7) annotation(Placement(transformation(extent={{-70,-70},{-50,-50}})));
    Hydraulics.Tank tank(p=2e5) annotation(Placement(transformation(extent={{-30,-70},{-10,-50}})));
    Hydraulics.Valve43 valve annotation(Placement(transformation(extent={{-70,-30},{-50,-10}})));
    Hydraulics.Line line_a(steady=true) annotation(Placement(transformation(extent={{-70,10},{-50,30}})));
    Hydraulics.Line line_b(steady=true) annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    Hydraulics.DifferentialCylinder cylinder(steady=true) annotation(Placement(transformation(extent={{-30,10},{-10,30}})));
    Translational.Mass mass(m=500, d=6000, s(start=0.25, fixed=true)) annotation(Placement(transformation(extent={{10,10},{30,30}})));
    Translational.ConstantForce load(f=-5000) "Pushes against the piston" annotation(Placement(transformation(extent={{10,-30},{30,-10}})));
  initial equation
    der(mass.v) = 0;
  equation
    connect(supply.a, valve.p) annotation(Line(points={{-60,-50},{-60,-40},{-62,-40},{-62,-30}}, color={0,80,160}));
    connect(tank.a, valve.t) annotation(Line(points={{-20,-50},{-20,-40},{-58,-40},{-58,-30}}, color={0,80,160}));
    connect(valve.a, line_a.a) annotation(Line(points={{-62,-10},{-62,-6},{-74,-6},{-74,20},{-70,20}}, color={0,80,160}));
    connect(valve.b, line_b.a) annotation(Line(points={{-58,-10},{-58,-6},{-34,-6},{-34,-20},{-30,-20}}, color={0,80,160}));
    connect(line_a.b, cylinder.a) annotation(Line(points={{-50,20},{-46,20},{-46,6},{-27,6},{-27,10}}, color={0,80,160}));
    connect(line_b.b, cylinder.b) annotation(Line(points={{-10,-20},{-6,-20},{-6,6},{-16,6},{-16,10}}, color={0,80,160}));
    connect(cylinder.flange, mass.a) annotation(Line(points={{-10,20},{10,20}}, color={0,127,0}));
    connect(mass.b, load.b) annotation(Line(points={{30,20},{34,20},{34,-20},{30,-20}}, color={0,127,0}));
  end Axis;

  model OpenLoop "The valve driven by a sine"
    extends Axis;
    parameter Real amplitude(unit="V") = 2;
    parameter Units.Frequency frequency = 0.5;
  protected
    constant Real pi = 3.141592653589793;
  equation
    valve.u = amplitude*sin(2*pi*frequency*time);
    annotation(experiment(StopTime=4, Tolerance=1e-8));
  end OpenLoop;

  model Plant "The axis alone, as a controller sees it"
    extends Axis;
    input Real u(start=0, unit="V") "Command to the valve";
    output Units.Length x = mass.s "Position";
    output Units.Velocity v = mass.v "Velocity";
    output Units.Pressure p_a = cylinder.p_a "Pressure of the piston side";
    output Units.Pressure p_b = cylinder.p_b "Pressure of the rod side";
  equation
    valve.u = u;
    annotation(experiment(StopTime=10, Tolerance=1e-8, Interval=1e-3));
  end Plant;

  block Controller "Position control: P, velocity feed-forward, active damping"
    input Units.Length x(start=0.25) "Measured position";
    input Units.Pressure p_a(start=59.712625e5) "Measured pressure of the piston side";
    input Units.Pressure p_b(start=89.144465e5) "Measured pressure of the rod side";
    output Real u(unit="V") "Command to the valve";
    output Units.Length x_ref "Where the axis should be";
    parameter Real K_p(unit="V/m") = 300 "Gain of the position error";
    parameter Real K_ff(unit="V.s/m") = 32 "Feed-forward of the velocity";
    parameter Real K_d(unit="V/Pa") = 2e-7 "Gain of the active damping";
    parameter Units.Time T = 0.05 "The active damping leaves pressures alone that last longer";
    parameter Real ratio = 1 - (0.045/0.063)^2 "Area of the rod side over that of the piston side";
    parameter Units.Length x_0 = 0.25 "Position at the start";
    parameter Units.Length amplitude = 0.05 "Half the way";
    parameter Units.Time period = 4 "There and back";
    Units.Velocity v_ref "How fast it should move";
    Units.Pressure p_load "Pressure difference, as seen by the piston side";
    Units.Pressure p_slow(nominal=1e6) "Its slow part";
  protected
    constant Real pi = 3.141592653589793;
  initial equation
    p_slow = p_load;
  equation
    x_ref = x_0 + amplitude*(1 - cos(2*pi*time/period));
    v_ref = amplitude*2*pi/period*sin(2*pi*time/period);
    p_load = p_a - ratio*p_b;
    T*der(p_slow) = p_load - p_slow;
    u = K_p*(x_ref - x) + K_ff*v_ref - K_d*(p_load - p_slow);
    annotation(experiment(StopTime=10, Interval=1e-3));
  end Controller;

  model Controlled "Plant and controller in one model"
    Plant plant;
    Controller controller;
  equation
    plant.u = controller.u;
    controller.x = plant.x;
    controller.p_a = plant.p_a;
    controller.p_b = plant.p_b;
    annotation(experiment(StopTime=10, Tolerance=1e-8, Interval=1e-3));
  end Controlled;

  model ClosedLoop "The same without active damping: the benchmark for solvers"
    extends Controlled(controller(K_d=0));
    annotation(experiment(StopTime=4, Tolerance=1e-8));
  end ClosedLoop;

  model EndStops "The valve driven so far that the piston meets its stops"
    extends OpenLoop(amplitude=10, cylinder(s(min=-0.01, max=0.51)));
    Translational.EndStop stop(s_min=0, s_max=0.5, c=1e8, d=1e5) "Ends of the stroke" annotation(Placement(transformation(extent={{30,50},{50,70}})));
    Translational.Fixed housing "Takes up what the stops take" annotation(Placement(transformation(extent={{-10,50},{10,70}})));
  equation
    connect(housing.a, stop.a) annotation(Line(points={{0,60},{30,60}}, color={0,127,0}));
    connect(stop.b, cylinder.flange) annotation(Line(points={{50,60},{54,60},{54,20},{-10,20}}, color={0,127,0}));
    annotation(experiment(StopTime=4, Tolerance=1e-8), Documentation(info="<html><p>The benchmark axis with the ends of its stroke, which give way a little: contact is an
      event. Without the stops the same command drives it to 0.55 m of a stroke of 0.5 m.</p></html>"));
  end EndStops;

  model WithComponents "Plant and controller of the library: the same axis from reusable parts"
    Hydraulics.PressureSource supply(p=1.6e7) annotation(Placement(transformation(extent={{-150,-90},{-130,-70}})));
    Hydraulics.Tank tank(p=2e5) annotation(Placement(transformation(extent={{-110,-90},{-90,-70}})));
    Hydraulics.Valve43 valve annotation(Placement(transformation(extent={{-150,-50},{-130,-30}})));
    Hydraulics.Line line_a(steady=true) annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Hydraulics.Line line_b(steady=true) annotation(Placement(transformation(extent={{-110,30},{-90,50}})));
    Hydraulics.Cylinder cylinder(steady=true) annotation(Placement(transformation(extent={{-70,30},{-50,50}})));
    Translational.Mass mass(m=500, d=6000, s(start=0.25, fixed=true)) annotation(Placement(transformation(extent={{-30,70},{-10,90}})));
    Translational.ConstantForce load(f=-5000) annotation(Placement(transformation(extent={{10,70},{30,90}})));
    Translational.Sensors.Position position annotation(Placement(transformation(extent={{10,30},{30,50}})));
    Hydraulics.Sensors.Pressure pressure_a annotation(Placement(transformation(extent={{-30,-10},{-10,10}})));
    Hydraulics.Sensors.Pressure pressure_b annotation(Placement(transformation(extent={{-30,-50},{-10,-30}})));
    Control.Profile profile(x_0=0.25, stroke=0.1, T=4) annotation(Placement(transformation(extent={{-30,30},{-10,50}})));
    replaceable Control.HydraulicAxis controller(ratio=1 - (0.045/0.063)^2) annotation(Placement(transformation(extent={{10,-10},{30,10}})));
  initial equation
    der(mass.v) = 0;
  equation
    connect(supply.a, valve.p) annotation(Line(points={{-140,-70},{-140,-60},{-142,-60},{-142,-50}}, color={0,80,160}));
    connect(tank.a, valve.t) annotation(Line(points={{-100,-70},{-100,-60},{-138,-60},{-138,-50}}, color={0,80,160}));
    connect(valve.a, line_a.a) annotation(Line(points={{-142,-30},{-142,0},{-110,0}}, color={0,80,160}));
    connect(valve.b, line_b.a) annotation(Line(points={{-138,-30},{-138,40},{-110,40}}, color={0,80,160}));
    connect(line_a.b, cylinder.a) annotation(Line(points={{-90,0},{-67,0},{-67,30}}, color={0,80,160}));
    connect(line_b.b, cylinder.b) annotation(Line(points={{-90,40},{-86,40},{-86,26},{-56,26},{-56,30}}, color={0,80,160}));
    connect(cylinder.flange, mass.a) annotation(Line(points={{-50,40},{-40,40},{-40,80},{-30,80}}, color={0,127,0}));
    connect(mass.b, load.b) annotation(Line(points={{-10,80},{30,80}}, color={0,127,0}));
    connect(position.a, mass.b) annotation(Line(points={{10,40},{0,40},{0,80},{-10,80}}, color={0,127,0}));
    connect(pressure_a.a, cylinder.a) annotation(Line(points={{-30,0},{-67,0},{-67,30}}, color={0,80,160}));
    connect(pressure_b.a, cylinder.b) annotation(Line(points={{-30,-40},{-56,-40},{-56,30}}, color={0,80,160}));
    connect(profile.x, controller.x_ref) annotation(Line(points={{-9,46},{-0.5,46},{-0.5,8},{8,8}}, color={0,0,127}));
    connect(profile.v, controller.v_ref) annotation(Line(points={{-9,34},{-0.5,34},{-0.5,4},{8,4}}, color={0,0,127}));
    connect(position.s, controller.x) annotation(Line(points={{31,40},{35,40},{35,20},{4,20},{4,0},{8,0}}, color={0,0,127}));
    connect(pressure_a.p, controller.p_a) annotation(Line(points={{-9,0},{-0.5,0},{-0.5,-4},{8,-4}}, color={0,0,127}));
    connect(pressure_b.p, controller.p_b) annotation(Line(points={{-9,-40},{-0.5,-40},{-0.5,-8},{8,-8}}, color={0,0,127}));
    valve.u = controller.u;
    annotation(Diagram(coordinateSystem(extent={{-160,-160},{160,160}})), experiment(StopTime=10, Tolerance=1e-8, Interval=1e-3), Documentation(info="<html><p>Agrees with <code>Controlled</code>: the stops are
      not reached, the command not limited.</p></html>"));
  end WithComponents;

  model SampledControl "The same with the controller at 1 kHz"
    extends WithComponents(redeclare Control.SampledHydraulicAxis controller(period=1e-3));
    annotation(Diagram(coordinateSystem(extent={{-160,-160},{160,160}})), experiment(StopTime=4, Tolerance=1e-8, Interval=1e-3), Documentation(info="<html><p>What a program of the controller does, in one model
      with the plant.</p></html>"));
  end SampledControl;
end HydraulicAxis;
