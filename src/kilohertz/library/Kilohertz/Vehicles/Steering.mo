within Kilohertz.Vehicles;
package Steering "From the hand wheel to the rack"
  partial model Column "The hand wheel follows its command like a low pass of second order"
    Blocks.RealInput command(unit="rad") "Angle of the hand wheel asked for, positive to the left" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Translational.Flange rack "The rack, moves to the left" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    parameter Real omega(unit="rad/s", min=1e-9) = 30 "Natural angular frequency of the hand wheel";
    parameter Real damping(min=0) = 1 "Its damping ratio";
    parameter Real ratio(unit="m/rad") = -0.008 "Shift of the rack for an angle of the hand wheel; negative for a rack behind the axle";
    Units.Angle phi(start=0, fixed=true, stateSelect=StateSelect.always) "Angle of the hand wheel";
    Units.AngularVelocity w(start=0, fixed=true, stateSelect=StateSelect.always) = der(phi) "Its rate";
  equation
    der(w) = omega^2*(command - phi) - 2*damping*omega*w;
    annotation(Icon(graphics={Ellipse(extent={{-80,50},{-20,-50}}, lineColor={60,60,60}), Line(points={{-50,0},{30,0}}), Rectangle(extent={{30,70},{50,-70}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Line(points={{50,0},{90,0}}, color={0,127,0}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end Column;

  model Rigid "The rack moves with the hand wheel"
    extends Column;
  equation
    rack.s = ratio*phi;
    annotation(Documentation(info="<html><p><code>der(der(phi)) = omega^2 (command - phi) - 2 damping omega der(phi)</code>, <code>rack.s = ratio phi</code>: whatever force the wheels give.</p></html>"));
  end Rigid;

  model Elastic "A rack with mass on the spring of the column"
    extends Column;
    parameter Units.Mass m = 3 "Mass of the rack";
    parameter Units.TranslationalStiffness c = 1.5e6 "Stiffness of column and mounting, at the rack";
    parameter Units.TranslationalDamping d = 3e3 "Damping at the rack";
    Units.Length s(start=0, fixed=true, stateSelect=StateSelect.always) "Shift of the rack";
    Units.Velocity v(start=0, fixed=true, stateSelect=StateSelect.always) = der(s) "Its rate";
  equation
    rack.s = s;
    m*der(v) = c*(ratio*phi - s) + d*(ratio*w - v) + rack.f;
    annotation(Icon(graphics={Line(points={{-10,0},{-5,15},{5,-15},{10,0}})}), Documentation(info="<html><p><code>m der(v) = c (ratio phi - s) + d (ratio der(phi) - v) + rack.f</code>: gives way to the forces of the tie rods.</p></html>"));
  end Elastic;
end Steering;
