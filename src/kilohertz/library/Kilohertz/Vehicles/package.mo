within Kilohertz;
package Vehicles "Cars in space: chassis, axles, wheels, tyres, road, steering, driver"
  annotation(Documentation(info="<html><p>The x axis of a car points forward, y to the left, z up; gravity is that of a world with
    <code>n={0, 0, -1}</code>. A car is a chassis, two axles, four wheels and a steering; between them are frames and flanges only, so that axles of another level
    of detail take the place of simple ones.</p></html>"));
end Vehicles;
