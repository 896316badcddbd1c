within Kilohertz;
package Control "Controllers for axes and drives"
  block HydraulicAxis "Position control of a hydraulic axis: P, velocity feed-forward, active damping"
    extends Blocks.Box;
    Blocks.RealInput x_ref(unit="m") "Where the axis should be" annotation(Placement(transformation(extent={{-140,60},{-100,100}})));
    Blocks.RealInput v_ref(unit="m/s") "How fast it should move" annotation(Placement(transformation(extent={{-140,20},{-100,60}})));
    Blocks.RealInput x(unit="m") "Measured position" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Blocks.RealInput p_a(unit="Pa") "Measured pressure of the piston side" annotation(Placement(transformation(extent={{-140,-60},{-100,-20}})));
    Blocks.RealInput p_b(unit="Pa") "Measured pressure of the rod side" annotation(Placement(transformation(extent={{-140,-100},{-100,-60}})));
    Blocks.RealOutput u(unit="V") "Command to the valve" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
    parameter Real K_p(unit="V/m") = 300 "Gain of the position error";
    parameter Real K_ff(unit="V.s/m") = 32 "Feed-forward of the velocity";
    parameter Real K_d(unit="V/Pa") = 2e-7 "Gain of the active damping";
    parameter Units.Time T(min=1e-9) = 0.05 "The active damping leaves pressures alone that last longer";
    parameter Real ratio = 0.4898 "Area of the rod side over that of the piston side";
    parameter Real u_max(unit="V") = 10 "Limit of the command";
    Units.Pressure p_load "Pressure difference, as seen by the piston side";
    Units.Pressure p_slow(nominal=1e6) "Its slow part";
    Real wanted(unit="V") "Command without its limit";
  initial equation
    p_slow = p_load;
  equation
    p_load = p_a - ratio*p_b;
    T*der(p_slow) = p_load - p_slow;
    wanted = K_p*(x_ref - x) + K_ff*v_ref - K_d*(p_load - p_slow);
    u = if wanted > u_max then u_max elseif wanted < -u_max then -u_max else wanted;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="P + v + damping")}),
      Documentation(info="<html><p><code>u = K_p (x_ref - x) + K_ff v_ref - K_d (p_load - p_slow)</code> within <code>u_max</code>: the fast part of the load pressure is fed back, which damps the oscillation of mass and fluid and leaves the position alone.</p></html>"));
  end HydraulicAxis;

  block SampledHydraulicAxis "The same at the instants of a clock, as a controller runs it"
    extends Blocks.Box;
    extends Blocks.Sampled.Clocked;
    Blocks.RealInput x_ref(unit="m") "Where the axis should be" annotation(Placement(transformation(extent={{-140,60},{-100,100}})));
    Blocks.RealInput v_ref(unit="m/s") "How fast it should move" annotation(Placement(transformation(extent={{-140,20},{-100,60}})));
    Blocks.RealInput x(unit="m") "Measured position" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Blocks.RealInput p_a(unit="Pa") "Measured pressure of the piston side" annotation(Placement(transformation(extent={{-140,-60},{-100,-20}})));
    Blocks.RealInput p_b(unit="Pa") "Measured pressure of the rod side" annotation(Placement(transformation(extent={{-140,-100},{-100,-60}})));
    Blocks.RealOutput u(unit="V") "Command to the valve" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
    parameter Real K_p(unit="V/m") = 300 "Gain of the position error";
    parameter Real K_ff(unit="V.s/m") = 32 "Feed-forward of the velocity";
    parameter Real K_d(unit="V/Pa") = 2e-7 "Gain of the active damping";
    parameter Units.Time T(min=1e-9) = 0.05 "The active damping leaves pressures alone that last longer";
    parameter Real ratio = 0.4898 "Area of the rod side over that of the piston side";
    parameter Real u_max(unit="V") = 10 "Limit of the command";
  protected
    final parameter Real left = exp(-period/T) "What is left of the slow part after a period";
    discrete Units.Pressure p_load(start=0, fixed=true) "Pressure difference, as seen by the piston side";
    discrete Units.Pressure p_slow(start=0, fixed=true) "Its slow part";
    discrete Real out(start=0, fixed=true, unit="V") "Command";
    Boolean begun(start=false, fixed=true) "There was an instant before";
  equation
    when ticks then
      begun = true;
      p_load = p_a - ratio*p_b;
      p_slow = if pre(begun) then left*pre(p_slow) + (1 - left)*p_load else p_load;
      out = max(-u_max, min(u_max, K_p*(x_ref - x) + K_ff*v_ref - K_d*(p_load - p_slow)));
    end when;
    u = out;
    annotation(Icon(graphics={Text(extent={{-90,50},{90,0}}, textString="P + v + damping"), Line(points={{-80,-60},{-40,-60},{-40,-40},{0,-40},{0,-20},{40,-20},{40,-30},{80,-30}}, color={0,0,127})}),
      Documentation(info="<html><p>As <code>HydraulicAxis</code>; the slow part of the load pressure is exact where the pressure is held between two instants.</p></html>"));
  end SampledHydraulicAxis;

  block Force "Force control: the force asked for, and an integral of what is missing"
    extends Blocks.Feedback;
    parameter Real K_ff = 0 "Command for a unit of force asked for";
    parameter Real k = 1e-4 "Gain of the force error";
    parameter Units.Time Ti(min=1e-12) = 0.1 "Time of the integral part";
    parameter Real y_max = 1 "Limit of the command";
    Real I(start=0, fixed=true) "Integral part";
    Real wanted "Command without its limit";
  equation
    wanted = K_ff*reference + k*(reference - measured) + I;
    y = if wanted > y_max then y_max elseif wanted < -y_max then -y_max else wanted;
    der(I) = k/Ti*(reference - measured) + (y - wanted)/Ti;
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="F")}),
      Documentation(info="<html><p><code>y = K_ff r + k (r - m) + I</code> within <code>y_max</code>; the integral is led back at a limit.</p></html>"));
  end Force;

  block SampledForce "The same at the instants of a clock"
    extends Blocks.Feedback;
    extends Blocks.Sampled.Clocked;
    parameter Real K_ff = 0 "Command for a unit of force asked for";
    parameter Real k = 1e-4 "Gain of the force error";
    parameter Units.Time Ti(min=1e-12) = 0.1 "Time of the integral part; more than a period";
    parameter Real y_max = 1 "Limit of the command";
  protected
    discrete Real I(start=0, fixed=true) "Integral part";
    discrete Real wanted(start=0, fixed=true) "Command without its limit";
    discrete Real out(start=0, fixed=true) "Command";
  equation
    assert(period < Ti, "the integral of a sampled controller needs several instants: period < Ti");
    when ticks then
      wanted = K_ff*reference + k*(reference - measured) + pre(I);
      out = max(-y_max, min(y_max, wanted));
      I = pre(I) + period/Ti*(k*(reference - measured) + out - wanted);
    end when;
    y = out;
    annotation(Icon(graphics={Text(extent={{-90,70},{90,10}}, textString="F"), Line(points={{-80,-60},{-40,-60},{-40,-40},{0,-40},{0,-20},{40,-20},{40,-30},{80,-30}}, color={0,0,127})}),
      Documentation(info="<html><p>As <code>Force</code>, its integral by forward differences.</p></html>"));
  end SampledForce;

  block Current "Control of the current in a winding: PI, made from resistance and inductance"
    extends Blocks.Feedback;
    parameter Units.Resistance R(min=1e-12) = 1 "Resistance of the winding";
    parameter Units.Inductance L(min=1e-12) = 1e-3 "Its inductance";
    parameter Units.Frequency f(min=1e-3) = 300 "Bandwidth";
    parameter Units.Voltage V = 48 "Largest voltage";
    Units.Voltage I(start=0, fixed=true) "Integral part";
    Units.Voltage wanted "Voltage without its limit";
  protected
    parameter Units.Resistance k = 2*Math.pi*f*L "Gain";
  equation
    wanted = k*(reference - measured) + I;
    y = max(-1, min(1, wanted/V));
    der(I) = R/L*(k*(reference - measured) + y*V - wanted);
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="i")}),
      Documentation(info="<html><p>Gain <code>2 pi f L</code>, integral time <code>L/R</code>: the integral part cancels the lag of the winding, and the current
        follows with <code>1/(2 pi f)</code>. The output is the part of <code>V</code> for a bridge; at its limit the integral is led back.</p></html>"));
  end Current;

  block SampledCurrent "The same at the instants of a clock"
    extends Blocks.Feedback;
    extends Blocks.Sampled.Clocked(period=1e-4);
    parameter Units.Resistance R(min=1e-12) = 1 "Resistance of the winding";
    parameter Units.Inductance L(min=1e-12) = 1e-3 "Its inductance";
    parameter Units.Frequency f(min=1e-3) = 300 "Bandwidth";
    parameter Units.Voltage V = 48 "Largest voltage";
  protected
    parameter Units.Resistance k = 2*Math.pi*f*L "Gain";
    discrete Units.Voltage I(start=0, fixed=true) "Integral part";
    discrete Units.Voltage wanted(start=0, fixed=true) "Voltage without its limit";
    discrete Real out(start=0, fixed=true) "Part of the voltage";
  equation
    assert(period < L/R, "the integral of a sampled controller needs several instants: period < L/R");
    when ticks then
      wanted = k*(reference - measured) + pre(I);
      out = max(-1, min(1, wanted/V));
      I = pre(I) + period*R/L*(k*(reference - measured) + out*V - wanted);
    end when;
    y = out;
    annotation(Icon(graphics={Text(extent={{-90,70},{90,10}}, textString="i"), Line(points={{-80,-60},{-40,-60},{-40,-40},{0,-40},{0,-20},{40,-20},{40,-30},{80,-30}}, color={0,0,127})}),
      Documentation(info="<html><p>As <code>Current</code>, its integral by forward differences: ten instants in <code>1/(2 pi f)</code> are many.</p></html>"));
  end SampledCurrent;

  block Commutation "A current for the torque of a brushless motor, turned to its windings"
    extends Blocks.Box;
    parameter Integer pairs(min=1) = 4 "Pairs of poles";
    Blocks.RealInput i(unit="A") "Current across the magnets" annotation(Placement(transformation(extent={{-140,40},{-100,80}})));
    Blocks.RealInput phi(unit="rad") "Angle of the rotor" annotation(Placement(transformation(extent={{-140,-80},{-100,-40}})));
    Blocks.RealOutput i_a(unit="A") "For the first winding" annotation(Placement(transformation(extent={{100,50},{120,70}})));
    Blocks.RealOutput i_b(unit="A") "For the second winding" annotation(Placement(transformation(extent={{100,-70},{120,-50}})));
  equation
    i_a = -i*sin(pairs*phi);
    i_b = i*cos(pairs*phi);
    annotation(Icon(graphics={Line(points={{-80,0},{-40,50},{0,0},{40,-50},{80,0}}, smooth=Smooth.Bezier, color={0,0,127}), Line(points={{-80,50},{-40,0},{0,-50},{40,0},{80,50}}, smooth=Smooth.Bezier, color={127,0,0})}),
      Documentation(info="<html><p><code>i_a = -i sin(pairs phi)</code>, <code>i_b = i cos(pairs phi)</code>: all of the current makes torque.</p></html>"));
  end Commutation;

  partial block PositionControl "What a cascade has: position and speed, wanted and measured, in; torque or force out"
    extends Blocks.Box;
    Blocks.RealInput x_ref "Where it should be" annotation(Placement(transformation(extent={{-140,60},{-100,100}})));
    Blocks.RealInput v_ref "How fast it should move" annotation(Placement(transformation(extent={{-140,10},{-100,50}})));
    Blocks.RealInput x "Where it is" annotation(Placement(transformation(extent={{-140,-50},{-100,-10}})));
    Blocks.RealInput v "How fast it moves" annotation(Placement(transformation(extent={{-140,-100},{-100,-60}})));
    Blocks.RealOutput y "Torque or force" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
    parameter Real K_x(unit="1/s") = 20 "Gain of the position error";
    parameter Real K_ff = 1 "Part of the speed asked for that is fed forward";
    parameter Real v_max = 1e60 "Limit of the speed";
    parameter Real K_v = 1 "Gain of the speed error";
    parameter Units.Time Ti(min=1e-12) = 0.05 "Time of the integral part";
    parameter Real y_max = 1e60 "Limit of the output";
  end PositionControl;

  block Cascade "Position control around speed control"
    extends PositionControl;
    Blocks.Limits.Limiter speed(y_max=v_max) "Speed asked for, within its limit" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
    Blocks.Continuous.PID speed_control(k=K_v, Ti=Ti, y_max=y_max) "Control of the speed" annotation(Placement(transformation(extent={{-10,-30},{10,-10}})));
  equation
    speed.u = K_x*(x_ref - x) + K_ff*v_ref;
    connect(speed.y, speed_control.reference) annotation(Line(points={{-29,20},{-20.5,20},{-20.5,-14},{-12,-14}}, color={0,0,127}));
    connect(v, speed_control.measured) annotation(Line(points={{-120,-80},{-66,-80},{-66,-26},{-12,-26}}, color={0,0,127}));
    connect(speed_control.y, y) annotation(Line(points={{11,-20},{60.5,-20},{60.5,0},{110,0}}, color={0,0,127}));
    annotation(Icon(graphics={Text(extent={{-90,30},{90,-30}}, textString="x > v")}),
      Documentation(info="<html><p><code>K_x (x_ref - x) + K_ff v_ref</code>, within <code>v_max</code>, is the speed that the inner PI controller is asked for.</p></html>"));
  end Cascade;

  block SampledCascade "The same at the instants of a clock"
    extends PositionControl;
    parameter Units.Time period(min=1e-9) = 1e-3 "From one instant to the next";
    Blocks.Sampled.PID speed_control(k=K_v, Ti=Ti, y_max=y_max, period=period) "Control of the speed" annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
  equation
    speed_control.reference = noEvent(max(-v_max, min(v_max, K_x*(x_ref - x) + K_ff*v_ref)));
    connect(v, speed_control.measured) annotation(Line(points={{-120,-80},{-76,-80},{-76,-26},{-32,-26}}, color={0,0,127}));
    connect(speed_control.y, y) annotation(Line(points={{-9,-20},{50.5,-20},{50.5,0},{110,0}}, color={0,0,127}));
    annotation(Icon(graphics={Text(extent={{-90,70},{90,10}}, textString="x > v"), Line(points={{-80,-60},{-40,-60},{-40,-40},{0,-40},{0,-20},{40,-20},{40,-30},{80,-30}}, color={0,0,127})}),
      Documentation(info="<html><p>As <code>Cascade</code>: position and speed are looked at once in a <code>period</code>, the output is held.</p></html>"));
  end SampledCascade;

  block Profile "Position and speed of a move there and back"
    extends Blocks.Box;
    Blocks.RealOutput x "Position" annotation(Placement(transformation(extent={{100,50},{120,70}})));
    Blocks.RealOutput v "Speed" annotation(Placement(transformation(extent={{100,-70},{120,-50}})));
    parameter Real x_0 = 0 "Position at the start";
    parameter Real stroke = 1 "Way there";
    parameter Units.Time T(min=1e-9) = 2 "There and back";
  equation
    x = x_0 + stroke/2*(1 - cos(2*Math.pi*time/T));
    v = stroke*Math.pi/T*sin(2*Math.pi*time/T);
    annotation(Icon(graphics={Line(points={{-80,-60},{-50,-60},{-30,60},{0,60},{30,60},{50,-60},{80,-60}}, color={0,0,127}, smooth=Smooth.Bezier)}),
      Documentation(info="<html><p><code>x = x_0 + stroke/2 (1 - cos(2 pi t/T))</code> and its derivative.</p></html>"));
  end Profile;
end Control;
