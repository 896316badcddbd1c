within Kilohertz.Vehicles;
package Drivers "Who turns the hand wheel"
  block LaneChange "Hand wheel of a double lane change: four half-waves of a sine"
    extends Blocks.Source;
    parameter Units.Angle amplitude[4] = {0.686, -0.692, -0.729, 0.735} "Of the half-waves";
    parameter Units.Time starts[4] = {0.5, 1.4, 3.0, 3.9} "When they begin";
    parameter Units.Time width(min=1e-9) = 0.9 "How long each lasts";
  equation
    y = sum(noEvent(if time >= starts[i] and time < starts[i] + width then amplitude[i]*sin(Math.pi*(time - starts[i])/width) else 0) for i in 1:4);
    annotation(Icon(graphics={Line(points={{-80,0},{-60,0},{-50,60},{-30,0},{-20,-60},{0,0},{20,0},{30,-60},{50,0},{60,60},{80,0}}, color={0,0,127}, smooth=Smooth.Bezier)}),
      Documentation(info="<html><p>To the left and back straight, a pause, to the right and back. Corners of the slope are no events: a fixed step sees nothing of them, a solver with error control takes a few smaller steps.</p></html>"));
  end LaneChange;

  block Path "Follows a path: steers to the circle that leads from here to where the path will be"
    extends Blocks.Source;
    Blocks.RealInput place[2](each unit="m") "Of the car, in the world" annotation(Placement(transformation(extent={{-140,40},{-100,80}})));
    Blocks.RealInput yaw(unit="rad") "Angle of the car" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Blocks.RealInput v[2](each unit="m/s") "Speed of the car, forward and to the left" annotation(Placement(transformation(extent={{-140,-80},{-100,-40}})));
    parameter Units.Length lanes[:] = {0, 3.59, 0.18} "Lanes, one after another: their y";
    parameter Units.Length begins[size(lanes, 1) - 1] = {11, 65} "Where the change to the next lane begins: x";
    parameter Units.Length ends[size(lanes, 1) - 1] = {50, 104} "Where it ends: x";
    parameter Units.Time preview(min=1e-3) = 0.7 "How far ahead the driver looks";
    parameter Real ratio = 16.13 "Angle of the hand wheel over that of the wheels";
    parameter Units.Length wheelbase = 2.76 "From axle to axle";
    parameter Real understeer(unit="s2/m") = 0.004 "Added to the wheelbase for the square of the speed";
    parameter Units.Angle limit = 6 "Largest angle of the hand wheel";
    Units.Length ahead "Distance of preview";
    Units.Angle course "Direction in which the car moves";
    Units.Length off "How far the path is to the left of where the car would be";
  protected
    Units.Velocity v_1 "Speed, 1 m/s at least";
    Real at[size(begins, 1)] "How much of each change is over where the driver looks, 0 to 1";
  equation
    v_1 = noEvent(max(v[1], 1));
    ahead = v_1*preview;
    course = yaw + atan2(v[2], v_1);
    for i in 1:size(begins, 1) loop
      at[i] = noEvent(max(0, min(1, (place[1] + ahead*cos(course) - begins[i])/(ends[i] - begins[i]))));
    end for;
    off = lanes[1] + sum((lanes[i + 1] - lanes[i])*at[i]^3*(10 - 15*at[i] + 6*at[i]^2) for i in 1:size(begins, 1)) - place[2] - ahead*sin(course);
    y = noEvent(max(-limit, min(limit, ratio*2*off/ahead^2*(wheelbase + understeer*v[1]^2))));
    annotation(Icon(graphics={Line(points={{-80,-40},{-20,-40},{20,40},{80,40}}, color={0,0,127}, smooth=Smooth.Bezier), Ellipse(extent={{-60,-30},{-40,-50}}, fillColor={95,95,95}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>The path goes from lane to lane by <code>s^3 (10 - 15 s + 6 s^2)</code>. The driver sees the point of the path at the distance <code>d</code> that the car covers within <code>preview</code>; it lies <code>off</code> beside the present
        course. A circle to it has the curvature <code>2 off/d^2</code>, which takes the angle <code>(wheelbase + understeer v^2)</code> times that at the wheels.</p></html>"));
  end Path;
end Drivers;
