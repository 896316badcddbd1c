within Kilohertz.Examples.Robot;
model Elastic "The same with elastic transmissions without play"
  extends ClosedLoop(plant(redeclare model Servo = Servos.Servo(redeclare model Transmission = Servos.Transmissions.Elastic)));
  annotation(experiment(StopTime=1.5, Tolerance=1e-6, Interval=1e-3), Documentation(info="<html><p>One line of the model is another: the level of detail of the transmission.</p></html>"));
end Elastic;
