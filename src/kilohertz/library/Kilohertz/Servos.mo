within Kilohertz;
package Servos "Axes of machines and robots: motor, current control, brake, transmission"
  package Transmissions "From the motor to the joint, at three levels of detail"
    partial model Transmission "A reduction between motor and joint"
      extends Rotational.TwoFlanges;
      parameter Real ratio = 100 "Turns of the motor for one of the joint";
      parameter Units.Stiffness c = 3e4 "Stiffness, seen from the joint";
      parameter Units.Damping d = 100 "Damping of the elasticity, seen from the joint";
      parameter Units.Angle play(min=0) = 1e-3 "Free angle of the joint from one side to the other";
      annotation(Icon(graphics={Rectangle(extent={{-90,10},{-40,-10}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid),
        Rectangle(extent={{-40,30},{-10,-30}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Rectangle(extent={{-10,60},{40,-60}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Rectangle(extent={{40,10},{90,-10}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid)}));
    end Transmission;

    model Rigid "Ideal: motor and joint turn as one"
      extends Transmission;
      Rotational.Gear gear(ratio=ratio) "Reduction" annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
    equation
      connect(a, gear.a) annotation(Line(points={{-100,0},{-65,0},{-65,-20},{-30,-20}}, color={70,70,70}));
      connect(gear.b, b) annotation(Line(points={{-10,-20},{45,-20},{45,0},{100,0}}, color={70,70,70}));
      annotation(Documentation(info="<html><p>One degree of freedom for motor and joint; <code>c</code>, <code>d</code> and <code>play</code> are of no effect.</p></html>"));
    end Rigid;

    model Elastic "A spring behind the reduction"
      extends Transmission;
      Rotational.Gear gear(ratio=ratio) "Reduction" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
      Rotational.SpringDamper spring(c=c, d=d) "Elasticity of shafts and teeth" annotation(Placement(transformation(extent={{-10,10},{10,30}})));
    equation
      connect(a, gear.a) annotation(Line(points={{-100,0},{-75,0},{-75,20},{-50,20}}, color={70,70,70}));
      connect(gear.b, spring.a) annotation(Line(points={{-30,20},{-10,20}}, color={70,70,70}));
      connect(spring.b, b) annotation(Line(points={{10,20},{55,20},{55,0},{100,0}}, color={70,70,70}));
      annotation(Icon(graphics={Line(points={{-60,75},{-40,90},{-20,65},{0,90},{20,65},{40,90},{60,75}})}),
        Documentation(info="<html><p>Motor and joint swing against one another; <code>play</code> is of no effect.</p></html>"));
    end Elastic;

    model Backlash "A spring with play behind the reduction"
      extends Transmission;
      replaceable model Teeth = Rotational.ElasticBacklash constrainedby Rotational.Play "How the teeth meet"
        annotation(choices(choice(redeclare model Teeth = Kilohertz.Rotational.ElasticBacklash "With events"), choice(redeclare model Teeth = Kilohertz.Rotational.SmoothBacklash "Without events")));
      Rotational.Gear gear(ratio=ratio) "Reduction" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
      Teeth teeth(c=c, d=d, play=play) "Elasticity and play" annotation(Placement(transformation(extent={{-10,10},{10,30}})));
    equation
      connect(a, gear.a) annotation(Line(points={{-100,0},{-75,0},{-75,20},{-50,20}}, color={70,70,70}));
      connect(gear.b, teeth.a) annotation(Line(points={{-30,20},{-10,20}}, color={70,70,70}));
      connect(teeth.b, b) annotation(Line(points={{10,20},{55,20},{55,0},{100,0}}, color={70,70,70}));
      annotation(Icon(graphics={Line(points={{-60,75},{-45,90},{-30,65},{-15,75}}), Line(points={{-15,60},{-15,90}}), Line(points={{10,60},{10,90}}), Line(points={{10,75},{60,75}})}),
        Documentation(info="<html><p>Within the play no torque; the two sides of the teeth meet elastically, with an event at each change.</p></html>"));
    end Backlash;
  end Transmissions;

  model Servo "Brushless motor with current control, brake and transmission"
    Rotational.Flange b "To the joint" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Blocks.RealInput i_ref(unit="A") "Current asked for: torque over k" annotation(Placement(transformation(extent={{-140,20},{-100,60}})));
    Blocks.RealInput brake_on "1: the brake holds, 0: it is open" annotation(Placement(transformation(extent={{-140,-60},{-100,-20}})));
    Blocks.RealOutput phi(unit="rad") "Angle of the motor" annotation(Placement(transformation(extent={{-10,-10},{10,10}}, origin={0,-110}, rotation=-90)));
    parameter Units.Voltage V = 96 "Supply";
    parameter Units.Resistance R = 0.8 "Resistance of a winding";
    parameter Units.Inductance L = 1.5e-3 "Its inductance";
    parameter Real k(unit="N.m/A") = 0.12 "Torque for a current";
    parameter Integer pairs = 2 "Pairs of poles";
    parameter Units.Inertia J = 1e-4 "Inertia of the rotor";
    parameter Units.Damping d_motor = 2e-4 "Viscous friction of the motor";
    parameter Units.Frequency f = 300 "Bandwidth of the current control";
    parameter Units.Torque tau_brake = 2 "Torque at which the brake slides";
    parameter Real ratio = 100 "Turns of the motor for one of the joint";
    parameter Units.Stiffness c = 3e4 "Stiffness of the transmission, seen from the joint";
    parameter Units.Damping d = 100 "Damping of the transmission, seen from the joint";
    parameter Units.Angle play = 1e-3 "Play of the transmission, seen from the joint";
    replaceable model Transmission = Transmissions.Backlash constrainedby Transmissions.Transmission "How much the transmission gives way"
      annotation(choices(choice(redeclare model Transmission = Kilohertz.Servos.Transmissions.Rigid "Rigid"), choice(redeclare model Transmission = Kilohertz.Servos.Transmissions.Elastic "Elastic"),
        choice(redeclare model Transmission = Kilohertz.Servos.Transmissions.Backlash "Elastic, with play")));
    replaceable model Converter = Electrical.Converters.Averaged constrainedby Electrical.Converters.Bridge "How its voltage is made"
      annotation(choices(choice(redeclare model Converter = Kilohertz.Electrical.Converters.Averaged "Averaged"), choice(redeclare model Converter = Kilohertz.Electrical.Converters.Pulsed "Pulse by pulse")));
    Control.Commutation commutation(pairs=pairs) annotation(Placement(transformation(extent={{-55,35},{-35,55}})));
    Control.Current control_a(R=R, L=L, f=f, V=V) annotation(Placement(transformation(extent={{-25,35},{-5,55}})));
    Control.Current control_b(R=R, L=L, f=f, V=V) annotation(Placement(transformation(extent={{-25,5},{-5,25}})));
    Converter bridge_a(V=V) annotation(Placement(transformation(extent={{5,5},{25,25}})));
    Converter bridge_b(V=V) annotation(Placement(transformation(extent={{-55,-55},{-35,-35}})));
    Electrical.Sensors.Current sensor_a annotation(Placement(transformation(extent={{-55,5},{-35,25}})));
    Electrical.Sensors.Current sensor_b annotation(Placement(transformation(extent={{-55,-25},{-35,-5}})));
    Electrical.Ground ground annotation(Placement(transformation(extent={{-25,-55},{-5,-35}})));
    Electrical.Machines.TwoPhaseMotor motor(R=R, L=L, k=k, pairs=pairs, J=J, d=d_motor, i_a(fixed=true), i_b(fixed=true)) annotation(Placement(transformation(extent={{-25,-25},{-5,-5}})));
    Rotational.Brake brake(tau_max=tau_brake) annotation(Placement(transformation(extent={{5,-25},{25,-5}})));
    Transmission transmission(ratio=ratio, c=c, d=d, play=play) annotation(Placement(transformation(extent={{65,-25},{85,-5}})));
  equation
    connect(i_ref, commutation.i) annotation(Line(points={{-120,40},{-88.5,40},{-88.5,51},{-57,51}}, color={0,0,127}));
    commutation.phi = motor.phi;
    connect(commutation.i_a, control_a.reference) annotation(Line(points={{-34,51},{-30,51},{-30,67},{-31,67},{-31,51},{-27,51}}, color={0,0,127}));
    connect(commutation.i_b, control_b.reference) annotation(Line(points={{-34,39},{-30,39},{-30,55},{-31,55},{-31,21},{-27,21}}, color={0,0,127}));
    connect(sensor_a.y, control_a.measured) annotation(Line(points={{-45,4},{-45,0},{-31,0},{-31,39},{-27,39}}, color={0,0,127}));
    connect(sensor_b.y, control_b.measured) annotation(Line(points={{-45,-26},{-45,-30},{-31,-30},{-31,9},{-27,9}}, color={0,0,127}));
    connect(control_a.y, bridge_a.u) annotation(Line(points={{-4,45},{15,45},{15,26}}, color={0,0,127}));
    connect(control_b.y, bridge_b.u) annotation(Line(points={{-4,15},{0,15},{0,-30},{-45,-30},{-45,-34}}, color={0,0,127}));
    connect(bridge_a.p, sensor_a.p) annotation(Line(points={{5,15},{-55,15}}, color={0,0,255}));
    connect(bridge_b.p, sensor_b.p) annotation(Line(points={{-55,-45},{-59,-45},{-59,-15},{-55,-15}}, color={0,0,255}));
    connect(sensor_a.n, motor.p_a) annotation(Line(points={{-35,15},{-30,15},{-30,-9},{-25,-9}}, color={0,0,255}));
    connect(sensor_b.n, motor.p_b) annotation(Line(points={{-35,-15},{-25,-15}}, color={0,0,255}));
    connect(bridge_a.n, ground.p) annotation(Line(points={{25,15},{29,15},{29,-31},{-15,-31},{-15,-35}}, color={0,0,255}));
    connect(bridge_b.n, ground.p) annotation(Line(points={{-35,-45},{-31,-45},{-31,-31},{-15,-31},{-15,-35}}, color={0,0,255}));
    connect(motor.n, ground.p) annotation(Line(points={{-25,-21},{-29,-21},{-29,-31},{-15,-31},{-15,-35}}, color={0,0,255}));
    connect(motor.b, brake.a) annotation(Line(points={{-5,-15},{5,-15}}, color={70,70,70}));
    connect(brake_on, brake.u) annotation(Line(points={{-120,-40},{-116,-40},{-116,0},{15,0},{15,-4}}, color={0,0,127}));
    connect(brake.b, transmission.a) annotation(Line(points={{25,-15},{65,-15}}, color={70,70,70}));
    connect(transmission.b, b) annotation(Line(points={{85,-15},{92.5,-15},{92.5,0},{100,0}}, color={70,70,70}));
    phi = motor.phi;
    annotation(Icon(graphics={Ellipse(extent={{-80,50},{0,-50}}, lineColor={95,95,95}, fillColor={210,225,240}, fillPattern=FillPattern.Solid), Rectangle(extent={{0,10},{30,-10}}, lineColor={95,95,95}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Rectangle(extent={{30,50},{70,-50}}, lineColor={95,95,95}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Rectangle(extent={{70,10},{90,-10}}, lineColor={95,95,95}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Text(extent={{-70,25},{-10,-25}}, textString="M 2~"), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>A current is asked for and turned to the two windings; each winding has a PI controller and a bridge. The brake holds the
        motor's shaft; the transmission is rigid, elastic, or elastic with play.</p></html>"));
  end Servo;
end Servos;
