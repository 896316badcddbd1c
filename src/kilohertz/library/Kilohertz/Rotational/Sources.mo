within Kilohertz.Rotational;
package Sources "What turns a shaft"
  partial model Source "One shaft, driven against the housing"
    Flange b "The driven shaft" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Line(points={{60,0},{90,0}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end Source;

  model Torque "The torque of a signal"
    extends Source;
    Blocks.RealInput tau(unit="N.m") "Torque onto the shaft" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
  equation
    b.tau = -tau;
    annotation(Icon(graphics={Text(extent={{-50,30},{50,-30}}, textString="tau")}), Documentation(info="<html><p><code>b.tau = -tau</code>.</p></html>"));
  end Torque;

  model ConstantTorque "A torque that never changes"
    extends Source;
    parameter Units.Torque tau = 1 "Torque onto the shaft";
  equation
    b.tau = -tau;
    annotation(Icon(graphics={Line(points={{-40,20},{40,20}}, color={0,0,127}), Text(extent={{-150,-65},{150,-100}}, textString="%tau N.m")}), Documentation(info="<html><p><code>b.tau = -tau</code>.</p></html>"));
  end ConstantTorque;

  model Speed "The speed of a signal, followed with a small delay"
    extends Source;
    Blocks.RealInput w_ref(unit="rad/s") "Speed asked for" annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    parameter Units.Time T(min=1e-9) = 1e-3 "Time constant of the delay";
    Units.Angle phi(start=0, fixed=true, stateSelect=StateSelect.prefer) "Angle";
    Units.AngularVelocity w(stateSelect=StateSelect.prefer) "Speed";
  initial equation
    w = w_ref;
  equation
    b.phi = phi;
    der(phi) = w;
    T*der(w) = w_ref - w;
    annotation(Icon(graphics={Text(extent={{-50,30},{50,-30}}, textString="w")}),
      Documentation(info="<html><p><code>T der(w) = w_ref - w</code>: the delay makes the acceleration, and so the torque it takes,
        finite where the signal jumps.</p></html>"));
  end Speed;

  model SpeedDependentTorque "A load that grows with the square of the speed: fans, air, pumps"
    extends Source;
    parameter Units.Torque tau_nominal = 1 "Torque against the shaft at w_nominal";
    parameter Units.AngularVelocity w_nominal(min=1e-9) = 100 "Speed at which it is given";
    Units.AngularVelocity w "Speed of the shaft";
  equation
    w = der(b.phi);
    b.tau = tau_nominal*w*noEvent(abs(w))/w_nominal^2;
    annotation(Icon(graphics={Line(points={{-50,-30},{-20,-26},{10,-10},{30,15},{45,45}}, smooth=Smooth.Bezier, color={0,0,127})}),
      Documentation(info="<html><p><code>tau = -tau_nominal w |w|/w_nominal^2</code>.</p></html>"));
  end SpeedDependentTorque;
end Sources;
