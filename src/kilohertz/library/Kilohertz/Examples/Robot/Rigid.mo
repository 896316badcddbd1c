within Kilohertz.Examples.Robot;
model Rigid "The same with rigid transmissions"
  extends ClosedLoop(plant(final moves=false, redeclare model Servo = Servos.Servo(redeclare model Transmission = Servos.Transmissions.Rigid)));
  annotation(experiment(StopTime=1.5, Tolerance=1e-6, Interval=1e-3), Documentation(info="<html><p>Motors and joints turn as one: no play, no swinging.</p></html>"));
end Rigid;
