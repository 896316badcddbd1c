within Kilohertz;
package Rotational "Drive trains"
  connector Flange "An end of a shaft"
    Units.Angle phi "Angle";
    flow Units.Torque tau "Torque onto the component";
  end Flange;

  partial model TwoFlanges "A component between two shafts"
    Flange a;
    Flange b;
  end TwoFlanges;

  model Fixed "A flange held at an angle"
    Flange a;
    parameter Units.Angle phi = 0 "Angle";
  equation
    a.phi = phi;
  end Fixed;

  model Inertia "A rigid body that turns"
    extends TwoFlanges;
    parameter Units.Inertia J = 1 "Moment of inertia";
    Units.Angle phi(stateSelect=StateSelect.prefer) "Angle";
    Units.AngularVelocity w(stateSelect=StateSelect.prefer) "Speed";
    Units.AngularAcceleration acc "Acceleration";
  equation
    a.phi = phi;
    b.phi = phi;
    w = der(phi);
    acc = der(w);
    J*acc = a.tau + b.tau;
  end Inertia;

  model SpringDamper "Linear spring and damper side by side"
    extends TwoFlanges;
    parameter Units.Stiffness c = 1 "Stiffness";
    parameter Units.Damping d = 0 "Damping";
    parameter Units.Angle phi_0 = 0 "Angle at rest";
    Units.Angle phi_rel "b against a";
    Units.AngularVelocity w_rel "Speed of b against a";
  equation
    phi_rel = b.phi - a.phi;
    w_rel = der(phi_rel);
    b.tau = c*(phi_rel - phi_0) + d*w_rel;
    a.tau + b.tau = 0;
  end SpringDamper;

  model Gear "An ideal gear without inertia"
    extends TwoFlanges;
    parameter Real ratio = 1 "Angle of a over angle of b";
  equation
    a.phi = ratio*b.phi;
    ratio*a.tau + b.tau = 0;
  end Gear;

  model StepTorque "A torque that sets in at an instant"
    Flange b;
    parameter Units.Torque tau = 1 "Torque from `starts` on";
    parameter Units.Time starts = 0;
  equation
    b.tau = -(if time >= starts then tau else 0);
  end StepTorque;
end Rotational;
