within Kilohertz.Vehicles;
model LinkageCar "Level 2: a car with ideal linkages"
  extends Car(redeclare model Front = Axles.MacPherson, redeclare model Rear = Axles.TrailingArms, chassis(m=1439.84));
  Units.Angle arms[4] = {front.side_left.hinge.phi, front.side_right.hinge.phi, rear.side_left.hinge.phi, rear.side_right.hinge.phi} "Angles of the arms: front left, front right, rear left, rear right";
  annotation(Documentation(info="<html><p>MacPherson struts at the front, oblique trailing arms at the rear; the body has given the arms their mass. Loops are solved in closed form: no iteration.</p></html>"));
end LinkageCar;
