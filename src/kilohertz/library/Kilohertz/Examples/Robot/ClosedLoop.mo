within Kilohertz.Examples.Robot;
model ClosedLoop "Arm and controller as one model: what two programs do, to compare with"
  Plant plant "The arm";
  Controller controller "Its controller" annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
equation
  plant.i = controller.i;
  plant.brakes = controller.brakes;
  controller.phi = plant.phi;
  annotation(experiment(StopTime=5, Tolerance=1e-6, Interval=1e-3), Documentation(info="<html><p>The brakes open, the arm goes there and back within four seconds.</p></html>"));
end ClosedLoop;
