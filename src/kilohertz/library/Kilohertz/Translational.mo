within Kilohertz;
package Translational "Things that move along a line"
  connector Flange "An end of a rod"
    Units.Length s "Position";
    flow Units.Force f "Force onto the component";
  end Flange;

  model Fixed "A flange held at a place"
    Flange a;
    parameter Units.Length s = 0 "Position";
  equation
    a.s = s;
  end Fixed;

  model Mass "A rigid body that slides against viscous friction"
    Flange a;
    Flange b;
    parameter Units.Mass m = 1 "Mass";
    parameter Units.TranslationalDamping d = 0 "Viscous friction against the ground";
    Units.Length s(stateSelect=StateSelect.prefer) "Position";
    Units.Velocity v(stateSelect=StateSelect.prefer) "Velocity";
    Units.Acceleration acc "Acceleration";
  equation
    a.s = s;
    b.s = s;
    v = der(s);
    acc = der(v);
    m*acc = a.f + b.f - d*v;
  end Mass;

  model SpringDamper "Linear spring and damper side by side"
    Flange a;
    Flange b;
    parameter Units.TranslationalStiffness c = 1 "Stiffness";
    parameter Units.TranslationalDamping d = 0 "Damping";
    parameter Units.Length s_0 = 0 "Length at rest";
    Units.Length s_rel "b against a";
    Units.Velocity v_rel "Speed of b against a";
  equation
    s_rel = b.s - a.s;
    v_rel = der(s_rel);
    b.f = c*(s_rel - s_0) + d*v_rel;
    a.f + b.f = 0;
  end SpringDamper;

  model ConstantForce "A force that never changes"
    Flange b;
    parameter Units.Force f = 1 "Force onto what is connected, along the axis";
  equation
    b.f = -f;
  end ConstantForce;
end Translational;
