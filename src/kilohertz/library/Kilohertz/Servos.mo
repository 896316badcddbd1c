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
      Rotational.Gear gear(ratio=ratio) "Reduction";
    equation
      connect(a, gear.a);
      connect(gear.b, b);
      annotation(Documentation(info="<html><p>One degree of freedom for motor and joint; <code>c</code>, <code>d</code> and <code>play</code> are of no effect.</p></html>"));
    end Rigid;

    model Elastic "A spring behind the reduction"
      extends Transmission;
      Rotational.Gear gear(ratio=ratio) "Reduction";
      Rotational.SpringDamper spring(c=c, d=d) "Elasticity of shafts and teeth";
    equation
      connect(a, gear.a);
      connect(gear.b, spring.a);
      connect(spring.b, b);
      annotation(Icon(graphics={Line(points={{-60,75},{-40,90},{-20,65},{0,90},{20,65},{40,90},{60,75}})}),
        Documentation(info="<html><p>Motor and joint swing against one another; <code>play</code> is of no effect.</p></html>"));
    end Elastic;

    model Backlash "A spring with play behind the reduction"
      extends Transmission;
      replaceable model Teeth = Rotational.ElasticBacklash constrainedby Rotational.Play "How the teeth meet"
        annotation(choices(choice(redeclare model Teeth = Kilohertz.Rotational.ElasticBacklash "With events"), choice(redeclare model Teeth = Kilohertz.Rotational.SmoothBacklash "Without events")));
      Rotational.Gear gear(ratio=ratio) "Reduction";
      Teeth teeth(c=c, d=d, play=play) "Elasticity and play";
    equation
      connect(a, gear.a);
      connect(gear.b, teeth.a);
      connect(teeth.b, b);
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
    Control.Commutation commutation(pairs=pairs);
    Control.Current control_a(R=R, L=L, f=f, V=V);
    Control.Current control_b(R=R, L=L, f=f, V=V);
    Converter bridge_a(V=V);
    Converter bridge_b(V=V);
    Electrical.Sensors.Current sensor_a;
    Electrical.Sensors.Current sensor_b;
    Electrical.Ground ground;
    Electrical.Machines.TwoPhaseMotor motor(R=R, L=L, k=k, pairs=pairs, J=J, d=d_motor, i_a(fixed=true), i_b(fixed=true));
    Rotational.Brake brake(tau_max=tau_brake);
    Transmission transmission(ratio=ratio, c=c, d=d, play=play);
  equation
    connect(i_ref, commutation.i);
    commutation.phi = motor.phi;
    connect(commutation.i_a, control_a.reference);
    connect(commutation.i_b, control_b.reference);
    connect(sensor_a.y, control_a.measured);
    connect(sensor_b.y, control_b.measured);
    connect(control_a.y, bridge_a.u);
    connect(control_b.y, bridge_b.u);
    connect(bridge_a.p, sensor_a.p);
    connect(bridge_b.p, sensor_b.p);
    connect(sensor_a.n, motor.p_a);
    connect(sensor_b.n, motor.p_b);
    connect(bridge_a.n, ground.p);
    connect(bridge_b.n, ground.p);
    connect(motor.n, ground.p);
    connect(motor.b, brake.a);
    connect(brake_on, brake.u);
    connect(brake.b, transmission.a);
    connect(transmission.b, b);
    phi = motor.phi;
    annotation(Icon(graphics={Ellipse(extent={{-80,50},{0,-50}}, lineColor={95,95,95}, fillColor={210,225,240}, fillPattern=FillPattern.Solid), Rectangle(extent={{0,10},{30,-10}}, lineColor={95,95,95}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Rectangle(extent={{30,50},{70,-50}}, lineColor={95,95,95}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Rectangle(extent={{70,10},{90,-10}}, lineColor={95,95,95}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Text(extent={{-70,25},{-10,-25}}, textString="M 2~"), Text(extent={{-150,130},{150,90}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>A current is asked for and turned to the two windings; each winding has a PI controller and a bridge. The brake holds the
        motor's shaft; the transmission is rigid, elastic, or elastic with play.</p></html>"));
  end Servo;
end Servos;
