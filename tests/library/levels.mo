package Levels "One joint, its transmission at three levels of detail"
  model WithPlay "As the example has it"
    extends Kilohertz.Examples.Circuits.Joint;
  end WithPlay;

  model Elastic "Without play"
    extends Kilohertz.Examples.Circuits.Joint(servo(redeclare model Transmission = Kilohertz.Servos.Transmissions.Elastic));
  end Elastic;

  model Rigid "Motor and joint turn as one: the angle of the motor is no coordinate of its own"
    extends Kilohertz.Examples.Circuits.Joint(servo(redeclare model Transmission = Kilohertz.Servos.Transmissions.Rigid, motor(phi(fixed=false), w(fixed=false))));
  end Rigid;
end Levels;
