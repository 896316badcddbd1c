within Kilohertz;
package Powertrain "Cars along a straight road: engine, gearbox, vehicle, driver"
  model Engine "A combustion engine: torque by throttle and speed"
    Rotational.Flange b "Crankshaft" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Blocks.RealInput throttle "0 closed, 1 open" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    parameter Units.AngularVelocity w_points[:] = {0, 60, 100, 200, 300, 400, 500, 600, 680} "Rising speeds of the map";
    parameter Units.Torque tau_full[size(w_points, 1)] = {0, 120, 200, 260, 290, 300, 285, 250, 0} "Torque at these speeds, throttle open";
    parameter Units.Torque tau_drag[size(w_points, 1)] = {0, -15, -18, -25, -33, -42, -52, -65, -80} "Torque at these speeds, throttle closed";
    parameter Units.AngularVelocity w_idle = 80 "Idle speed";
    parameter Real K_idle(unit="N.m.s/rad") = 3 "Torque for each radian per second below the idle speed";
    parameter Units.Inertia J = 0.2 "Inertia of crankshaft and flywheel";
    parameter Units.Time T(min=1e-9) = 0.05 "The torque follows the throttle with this time constant";
    Units.AngularVelocity w(start=80, fixed=true) "Speed";
    Units.Torque tau "Torque of combustion and drag";
    Real filled(start=0, fixed=true) "Throttle as the cylinders have it";
  protected
    Units.Angle phi(start=0, fixed=true) "Angle of the crankshaft";
  equation
    assert(Math.rising(w_points), "the speeds of an engine map must rise: w_points");
    b.phi = phi;
    der(phi) = w;
    T*der(filled) = max(0, min(1, throttle)) - filled;
    tau = filled*Math.interpolate(w_points, tau_full, w) + (1 - filled)*Math.interpolate(w_points, tau_drag, w)
      + (if w < w_idle then K_idle*(w_idle - w) else 0);
    J*der(w) = tau + b.tau;
    annotation(Icon(graphics={Rectangle(extent={{-60,50},{60,-50}}, fillColor={225,225,225}, fillPattern=FillPattern.Solid), Rectangle(extent={{-40,80},{-15,50}}, fillColor={200,200,200}, fillPattern=FillPattern.Solid), Rectangle(extent={{15,80},{40,50}}, fillColor={200,200,200}, fillPattern=FillPattern.Solid), Line(points={{60,0},{90,0}}), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>Between the torques of closed and open throttle at this speed, straight lines between the points of both curves;
        <code>T der(filled) = throttle - filled</code>. An idle control keeps it running.</p></html>"));
  end Engine;

  model Vehicle "A car along a straight road: mass, wheels, air and rolling resistance, brakes"
    Rotational.Flange a "Driven axle" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Blocks.RealInput brake "0 released, 1 fully pressed" annotation(Placement(transformation(extent={{-20,-20},{20,20}}, origin={0,110}, rotation=-90)));
    Blocks.RealOutput v(unit="m/s") "Speed" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
    parameter Units.Mass m = 1600 "Mass";
    parameter Units.Length r(min=1e-3) = 0.31 "Radius of the wheels";
    parameter Units.Inertia J = 4 "Inertia of all wheels";
    parameter Real c_air(unit="N.s2/m2") = 0.42 "Air resistance over the square of the speed";
    parameter Real c_roll = 0.012 "Rolling resistance over weight";
    parameter Units.Force f_brake = 12000 "Force of the brakes, fully pressed";
    parameter Units.Acceleration g = 9.81 "Gravity";
    replaceable model Law = Translational.Friction.StickSlip constrainedby Translational.Friction.Contact "How brakes and tyres hold it at rest"
      annotation(choices(choice(redeclare model Law = Kilohertz.Translational.Friction.StickSlip "Sticks and slides, with events"),
        choice(redeclare model Law = Kilohertz.Translational.Friction.Smooth "Creeps, without events")));
    Rotational.Inertia wheels(J=J) "Wheels" annotation(Placement(transformation(extent={{-70,-10},{-50,10}})));
    Translational.RackAndPinion tyres(r=r) "Wheels that roll without slip" annotation(Placement(transformation(extent={{-40,-10},{-20,10}})));
    Translational.Mass body(m=m) "The car" annotation(Placement(transformation(extent={{-10,-10},{10,10}})));
    Law road(level=c_roll*m*g + f_brake*max(0, min(1, brake))) "Rolling resistance and brakes" annotation(Placement(transformation(extent={{20,-10},{40,10}})));
    Translational.Fixed ground "The road" annotation(Placement(transformation(extent={{50,-10},{70,10}})));
    Units.Force f_air "Air resistance";
    Translational.Sources.Force air "Air resistance onto the car" annotation(Placement(transformation(extent={{-10,20},{10,40}})));
  equation
    v = body.v;
    f_air = c_air*v*noEvent(abs(v));
    air.f = -f_air;
    connect(a, wheels.a) annotation(Line(points={{-100,0},{-70,0}}, color={70,70,70}));
    connect(wheels.b, tyres.a) annotation(Line(points={{-50,0},{-40,0}}, color={70,70,70}));
    connect(tyres.b, body.a) annotation(Line(points={{-20,0},{-10,0}}, color={0,127,0}));
    connect(body.b, road.a) annotation(Line(points={{10,0},{20,0}}, color={0,127,0}));
    connect(road.b, ground.a) annotation(Line(points={{40,0},{60,0}}, color={0,127,0}));
    connect(air.b, body.b) annotation(Line(points={{10,30},{14,30},{14,0},{10,0}}, color={0,127,0}));
    annotation(Icon(graphics={Polygon(points={{-90,-30},{-90,0},{-50,5},{-25,40},{35,40},{60,5},{90,0},{90,-30},{-90,-30}}, fillColor={200,215,235}, fillPattern=FillPattern.Solid), Ellipse(extent={{-65,-10},{-25,-50}}, fillColor={90,90,90}, fillPattern=FillPattern.Solid), Ellipse(extent={{25,-10},{65,-50}}, fillColor={90,90,90}, fillPattern=FillPattern.Solid), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>(m + J/r^2) der(v) = tau/r - c_air v |v| - road</code>, where the road is dry friction of rolling resistance and
        brakes: at rest it holds the car.</p></html>"));
  end Vehicle;

  model SixSpeedGearbox "Lepelletier's gearbox: a planetary gear and a Ravigneaux set, three clutches, two brakes"
    extends Rotational.TwoFlanges;
    Blocks.RealInput u[5] "Pressures of clutches A, B, E and brakes C, D in the order A B C D E: 0 open, 1 pressed" annotation(Placement(transformation(extent={{-20,-20},{20,20}}, origin={0,110}, rotation=-90)));
    parameter Real ratio_first = 71/37 "First gear set: teeth of the ring over teeth of the sun";
    parameter Real ratio_small = 85/31 "Ravigneaux set: teeth of the ring over teeth of the small sun";
    parameter Real ratio_large = 85/38 "Ravigneaux set: teeth of the ring over teeth of the large sun";
    parameter Units.Torque tau_max[5] = {1500, 1200, 1800, 2500, 1500} "What the clutches and brakes slide at, fully pressed, in the order A B C D E";
    parameter Units.Inertia J_in = 0.05 "Inertia at the input";
    parameter Units.Inertia J_reduced = 0.01 "Inertia of the reduced shaft";
    parameter Units.Inertia J_small = 0.005 "Inertia of the small sun";
    parameter Units.Inertia J_large = 0.008 "Inertia of the large sun";
    parameter Units.Inertia J_carrier = 0.015 "Inertia of the Ravigneaux carrier";
    parameter Units.Inertia J_out = 0.05 "Inertia at the output";
    replaceable model Law = Rotational.Friction.StickSlip constrainedby Rotational.Friction.Contact "How clutches and brakes stick"
      annotation(choices(choice(redeclare model Law = Kilohertz.Rotational.Friction.StickSlip "Stick and slide, with events"),
        choice(redeclare model Law = Kilohertz.Rotational.Friction.Smooth "Creep, without events")));
    Rotational.Inertia input_shaft(J=J_in) "Turbine side" annotation(Placement(transformation(extent={{-85,-40},{-65,-20}})));
    Rotational.Planetary first(ratio=ratio_first) "First gear set, its sun held" annotation(Placement(transformation(extent={{-85,-70},{-65,-50}})));
    Rotational.Inertia reduced(J=J_reduced) "Carrier of the first gear set" annotation(Placement(transformation(extent={{-85,-10},{-65,10}})));
    Rotational.Ravigneaux second(ratio_small=ratio_small, ratio_large=ratio_large) "Second gear set, its ring is the output" annotation(Placement(transformation(extent={{35,-40},{55,-20}})));
    Rotational.Inertia small(J=J_small) "Small sun" annotation(Placement(transformation(extent={{5,-70},{25,-50}})));
    Rotational.Inertia large(J=J_large) "Large sun" annotation(Placement(transformation(extent={{5,-10},{25,10}})));
    Rotational.Inertia carrier(J=J_carrier) "Ravigneaux carrier" annotation(Placement(transformation(extent={{-25,-40},{-5,-20}})));
    Rotational.Inertia output_shaft(J=J_out) "Ring of the Ravigneaux set" annotation(Placement(transformation(extent={{65,-10},{85,10}})));
    Rotational.Clutch A(redeclare model Law = Law, tau_max=tau_max[1]) "Reduced shaft to small sun: gears 1 to 4" annotation(Placement(transformation(extent={{-25,20},{-5,40}})));
    Rotational.Clutch B(redeclare model Law = Law, tau_max=tau_max[2]) "Reduced shaft to large sun: gears 3, 5 and back" annotation(Placement(transformation(extent={{-25,-10},{-5,10}})));
    Rotational.Brake C(redeclare model Law = Law, tau_max=tau_max[3]) "Holds the large sun: gears 2 and 6" annotation(Placement(transformation(extent={{35,-10},{55,10}})));
    Rotational.Brake D(redeclare model Law = Law, tau_max=tau_max[4]) "Holds the carrier: gears 1 and back" annotation(Placement(transformation(extent={{5,20},{25,40}})));
    Rotational.Clutch E(redeclare model Law = Law, tau_max=tau_max[5]) "Input to carrier: gears 4 to 6" annotation(Placement(transformation(extent={{-55,-40},{-35,-20}})));
    Rotational.Fixed housing "Holds the first sun" annotation(Placement(transformation(extent={{-55,-70},{-35,-50}})));
  equation
    connect(a, input_shaft.a) annotation(Line(points={{-100,0},{-92.5,0},{-92.5,-30},{-85,-30}}, color={70,70,70}));
    connect(input_shaft.b, first.ring) annotation(Line(points={{-65,-30},{-61,-30},{-61,-60},{-65,-60}}, color={70,70,70}));
    connect(first.sun, housing.a) annotation(Line(points={{-85,-60},{-45,-60}}, color={70,70,70}));
    connect(first.carrier, reduced.a) annotation(Line(points={{-85,-54},{-89,-54},{-89,0},{-85,0}}, color={70,70,70}));
    connect(reduced.b, A.a) annotation(Line(points={{-65,0},{-45,0},{-45,30},{-25,30}}, color={70,70,70}));
    connect(A.b, small.a) annotation(Line(points={{-5,30},{0,30},{0,-60},{5,-60}}, color={70,70,70}));
    connect(small.b, second.small) annotation(Line(points={{25,-60},{30,-60},{30,-36},{35,-36}}, color={70,70,70}));
    connect(reduced.b, B.a) annotation(Line(points={{-65,0},{-25,0}}, color={70,70,70}));
    connect(B.b, large.a) annotation(Line(points={{-5,0},{5,0}}, color={70,70,70}));
    connect(large.b, second.large) annotation(Line(points={{25,0},{30,0},{30,-30},{35,-30}}, color={70,70,70}));
    connect(large.b, C.a) annotation(Line(points={{25,0},{35,0}}, color={70,70,70}));
    connect(input_shaft.b, E.a) annotation(Line(points={{-65,-30},{-55,-30}}, color={70,70,70}));
    connect(E.b, carrier.a) annotation(Line(points={{-35,-30},{-25,-30}}, color={70,70,70}));
    connect(carrier.b, second.carrier) annotation(Line(points={{-5,-30},{15,-30},{15,-24},{35,-24}}, color={70,70,70}));
    connect(carrier.b, D.a) annotation(Line(points={{-5,-30},{0,-30},{0,30},{5,30}}, color={70,70,70}));
    connect(second.ring, output_shaft.a) annotation(Line(points={{55,-30},{60,-30},{60,0},{65,0}}, color={70,70,70}));
    connect(output_shaft.b, b) annotation(Line(points={{85,0},{100,0}}, color={70,70,70}));
    connect(u[1], A.u) annotation(Line(points={{0,110},{0,75.5},{-15,75.5},{-15,41}}, color={0,0,127}));
    connect(u[2], B.u) annotation(Line(points={{0,110},{0,60.5},{-15,60.5},{-15,11}}, color={0,0,127}));
    connect(u[3], C.u) annotation(Line(points={{0,110},{0,60.5},{45,60.5},{45,11}}, color={0,0,127}));
    connect(u[4], D.u) annotation(Line(points={{0,110},{0,75.5},{15,75.5},{15,41}}, color={0,0,127}));
    connect(u[5], E.u) annotation(Line(points={{0,110},{0,45.5},{-45,45.5},{-45,-19}}, color={0,0,127}));
    annotation(Icon(graphics={Rectangle(extent={{-70,50},{70,-50}}, fillColor={225,225,225}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-70,0}}), Line(points={{70,0},{90,0}}), Line(points={{-50,30},{-50,-30}}), Line(points={{-15,30},{-15,-30}}), Line(points={{20,30},{20,0}}), Line(points={{-50,0},{20,0}}), Text(extent={{-60,-55},{60,-85}}, textString="1-6")}),
      Documentation(info="<html><p>The first gear set turns the reduced shaft <code>1 + 1/ratio_first</code> times slower than the input. Gear 1 closes A and D,
        2 A and C, 3 A and B, 4 A and E, 5 B and E, 6 C and E, back B and D. With the tooth numbers given the ratios are 4.17, 2.34, 1.52,
        1.14, 0.87, 0.69 and -3.40.</p></html>"));
  end SixSpeedGearbox;

  block ShiftLogic "Which gear, and the pressures that engage it"
    extends Blocks.Box;
    Blocks.RealInput v(unit="m/s") "Speed of the car" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Blocks.RealOutput u[5](each start=0) "Pressures in the order A B C D E" annotation(Placement(transformation(extent={{100,50},{120,70}})));
    Blocks.RealOutput lock "Pressure of the converter's lock-up clutch" annotation(Placement(transformation(extent={{100,-70},{120,-50}})));
    Blocks.IntegerOutput gear(start=1, fixed=true) "Gear" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
    parameter Units.Velocity v_up[5] = {5, 10, 16, 22, 29} "Up from gears 1 to 5 above these speeds";
    parameter Units.Velocity v_down[5] = {3, 7.5, 13, 18.5, 25} "Down to gears 1 to 5 below these speeds";
    parameter Units.Time pause(min=0) = 1 "From one shift to the next at least";
    parameter Units.Time T(min=1e-9) = 0.08 "Pressures follow with this time constant";
    parameter Real small(min=0) = 0.02 "Below this pressure a clutch is open";
    parameter Integer lock_from = 3 "The converter is locked from this gear on";
    Real pressure[5](start={1, 0, 0, 1, 0}, each fixed=true) "Pressures as the valves give them";
    Real lock_pressure(start=0, fixed=true) "Pressure of the lock-up clutch as its valve gives it";
    discrete Units.Time since(start=-100, fixed=true) "When it shifted last";
  protected
    constant Real closed[6, 5] = [1, 0, 0, 1, 0; 1, 0, 1, 0, 0; 1, 1, 0, 0, 0; 1, 0, 0, 0, 1; 0, 1, 0, 0, 1; 0, 0, 1, 0, 1] "Who is pressed, by gears";
    Boolean up "It should shift up";
    Boolean down "It should shift down";
    Boolean ready "The last shift is long enough ago";
  equation
    ready = time >= pre(since) + pause;
    up = pre(gear) < 6 and v > v_up[min(pre(gear), 5)];
    down = pre(gear) > 1 and v < v_down[max(pre(gear) - 1, 1)];
    when {ready and up, ready and down} then
      gear = if up then pre(gear) + 1 else pre(gear) - 1;
      since = time;
    end when;
    for i in 1:5 loop
      T*der(pressure[i]) = closed[gear, i] - pressure[i];
      u[i] = if pressure[i] > small then pressure[i] else 0;
    end for;
    T*der(lock_pressure) = (if gear >= lock_from and time >= since + pause/2 then 1 else 0) - lock_pressure;
    lock = if lock_pressure > small then lock_pressure else 0;
    annotation(Icon(graphics={Line(points={{-60,50},{-60,-50}}), Line(points={{0,50},{0,-50}}), Line(points={{60,50},{60,-50}}), Line(points={{-60,0},{60,0}})}),
      Documentation(info="<html><p>One gear up above <code>v_up</code>, one down below <code>v_down</code>, at most one shift in a <code>pause</code>. The pressures
        follow like low passes; what is below <code>small</code> counts as open.</p></html>"));
  end ShiftLogic;

  block Driver "Follows a profile of the speed by accelerator and brake"
    extends Blocks.Box;
    Blocks.RealInput v_ref(unit="m/s") "Speed asked for" annotation(Placement(transformation(extent={{-140,40},{-100,80}})));
    Blocks.RealInput v(unit="m/s") "Speed of the car" annotation(Placement(transformation(extent={{-140,-80},{-100,-40}})));
    Blocks.RealOutput throttle "Accelerator: 0 to 1" annotation(Placement(transformation(extent={{100,50},{120,70}})));
    Blocks.RealOutput brake "Brake: 0 to 1" annotation(Placement(transformation(extent={{100,-70},{120,-50}})));
    parameter Real k(unit="s/m") = 0.3 "Gain";
    parameter Units.Time Ti(min=1e-9) = 8 "Time of the integral part";
    parameter Real k_brake = 0.6 "Brake for a unit of negative pedal";
    Blocks.Continuous.PID pedal(k=k, Ti=Ti, y_max=1) "Positive: accelerator, negative: brake" annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
  equation
    connect(v_ref, pedal.reference) annotation(Line(points={{-120,60},{-76,60},{-76,-14},{-32,-14}}, color={0,0,127}));
    connect(v, pedal.measured) annotation(Line(points={{-120,-60},{-76,-60},{-76,-26},{-32,-26}}, color={0,0,127}));
    throttle = if pedal.y > 0 then pedal.y else 0;
    brake = if pedal.y < 0 then -k_brake*pedal.y else 0;
    annotation(Icon(graphics={Ellipse(extent={{-30,70},{30,10}}), Line(points={{0,10},{0,-40}}), Line(points={{-40,-10},{40,-10}}), Line(points={{0,-40},{-25,-75}}), Line(points={{0,-40},{25,-75}})}),
      Documentation(info="<html><p>A PI controller of the speed; what is positive opens the throttle, what is negative presses the brake.</p></html>"));
  end Driver;
end Powertrain;
