within Kilohertz.Vehicles;
model BushingCar "Level 3: a car in bushings, its rods without mass; level 4: with"
  extends Car(redeclare model Front = Bushings.SoftMacPherson, redeclare model Rear = Bushings.Multilink(redeclare model Rod = Rod, m=if heavy then 28 else 30.05), redeclare model Rack = Steering.Elastic, chassis(m=if heavy then 1435.74 else 1439.84));
  replaceable model Rod = Bushings.LightLink constrainedby Bushings.Link "Rods of the rear axle"
    annotation(choices(choice(redeclare model Rod = Kilohertz.Vehicles.Bushings.LightLink "Level 3"), choice(redeclare model Rod = Kilohertz.Vehicles.Bushings.HeavyLink "Level 4")));
  parameter Boolean heavy = false "The rods have mass: that is taken from carriers and body" annotation(Evaluate=true);
  Units.Length rack = steering.rack.s "Shift of the rack";
  annotation(Documentation(info="<html><p>Arms of the front axle in bushings, a multilink rear axle in seven bushings on each side, a rack with mass. Stiff: it wants an implicit method. For level 4 set <code>heavy=true</code> and
    redeclare <code>Rod</code> as <code>Bushings.HeavyLink</code>.</p></html>"));
end BushingCar;
