within Kilohertz.Electrical;
package Machines "Motors: windings on one side, a shaft on the other"
  partial model Machine "A shaft with the inertia of the rotor"
    Rotational.Flange b "Shaft" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    parameter Units.Inertia J = 1e-4 "Inertia of the rotor";
    parameter Units.Damping d = 0 "Viscous friction";
    Units.Angle phi(start=0, stateSelect=StateSelect.prefer) "Angle of the rotor";
    Units.AngularVelocity w(start=0, stateSelect=StateSelect.prefer) "Its speed";
    Units.Torque tau "Torque of the windings";
  equation
    b.phi = phi;
    w = der(phi);
    J*der(w) = tau - d*w + b.tau;
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, lineColor={95,95,95}, fillColor={210,225,240}, fillPattern=FillPattern.Solid), Rectangle(extent={{60,8},{90,-8}}, lineColor={95,95,95}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end Machine;

  model DCMotor "A motor with brushes and permanent magnets"
    extends Machine;
    Pin p "Positive terminal" annotation(Placement(transformation(extent={{-110,30},{-90,50}})));
    Pin n "Negative terminal" annotation(Placement(transformation(extent={{-110,-50},{-90,-30}})));
    parameter Units.Resistance R(min=0) = 1 "Resistance of the winding";
    parameter Units.Inductance L(min=0) = 1e-3 "Its inductance";
    parameter Real k(unit="N.m/A") = 0.05 "Torque for a current, and voltage for a speed";
    Units.Current i(start=0, stateSelect=StateSelect.prefer) "Current";
  equation
    i = p.i;
    p.i + n.i = 0;
    p.v - n.v = R*i + L*der(i) + k*w;
    tau = k*i;
    annotation(Icon(graphics={Text(extent={{-40,30},{40,-30}}, textString="M ="), Line(points={{-90,40},{-45,40}}, color={0,0,255}), Line(points={{-90,-40},{-45,-40}}, color={0,0,255})}),
      Documentation(info="<html><p><code>v = R i + L der(i) + k w</code>, <code>J der(w) = k i - d w + b.tau</code>.</p></html>"));
  end DCMotor;

  model TwoPhaseMotor "A brushless motor: two windings at a right angle, permanent magnets on the rotor"
    extends Machine;
    Pin p_a "First winding" annotation(Placement(transformation(extent={{-110,50},{-90,70}})));
    Pin p_b "Second winding" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Pin n "The other end of both" annotation(Placement(transformation(extent={{-110,-70},{-90,-50}})));
    parameter Units.Resistance R(min=0) = 1 "Resistance of a winding";
    parameter Units.Inductance L(min=0) = 1e-3 "Its inductance";
    parameter Real k(unit="N.m/A") = 0.1 "Torque for a current across the magnets, and voltage for a speed";
    parameter Integer pairs(min=1) = 4 "Pairs of poles";
    Units.Current i_a(start=0, stateSelect=StateSelect.prefer) "Current of the first winding";
    Units.Current i_b(start=0, stateSelect=StateSelect.prefer) "Current of the second winding";
    Units.Angle theta = pairs*phi "Electrical angle";
  equation
    i_a = p_a.i;
    i_b = p_b.i;
    p_a.i + p_b.i + n.i = 0;
    p_a.v - n.v = R*i_a + L*der(i_a) - k*sin(theta)*w;
    p_b.v - n.v = R*i_b + L*der(i_b) + k*cos(theta)*w;
    tau = k*(i_b*cos(theta) - i_a*sin(theta));
    annotation(Icon(graphics={Text(extent={{-40,30},{40,-30}}, textString="M 2~"), Line(points={{-90,60},{-30,52}}, color={0,0,255}), Line(points={{-90,0},{-60,0}}, color={0,0,255}), Line(points={{-90,-60},{-30,-52}}, color={0,0,255})}),
      Documentation(info="<html><p>With <code>theta = pairs phi</code>: <code>v_a = R i_a + L der(i_a) - k sin(theta) w</code>,
        <code>v_b = R i_b + L der(i_b) + k cos(theta) w</code>, <code>tau = k (i_b cos(theta) - i_a sin(theta))</code>.</p></html>"));
  end TwoPhaseMotor;
end Machines;
