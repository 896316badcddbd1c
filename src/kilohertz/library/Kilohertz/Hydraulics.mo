within Kilohertz;
package Hydraulics "Servo hydraulics with a fluid of constant bulk modulus"
  connector Port "A place where fluid enters a component"
    Units.Pressure p "Pressure";
    flow Units.VolumeFlow q "Flow into the component";
  end Port;

  function rootOf "Square root of a pressure drop, of either sign and with a finite slope at zero"
    input Units.Pressure dp "Pressure drop";
    input Units.Pressure dp_turn "Below about this drop the flow is laminar";
    output Real y(unit="Pa(1/2)") "sign(dp)*sqrt(abs(dp)) where dp is large";
  algorithm
    y := dp/(dp^2 + dp_turn^2)^0.25;
    annotation(Inline=true);
  end rootOf;

  function opening "Rounded positive part: what a valve edge with a little overlap opens"
    input Real y "Spool, 1 is fully open";
    input Real rounding "Width of the rounding at zero";
    output Real s "About max(y, 0)";
  algorithm
    s := (y + sqrt(y^2 + rounding^2))/2;
    annotation(Inline=true);
  end opening;

  model PressureSource "A supply that holds its pressure whatever is drawn"
    Port a;
    parameter Units.Pressure p = 1.6e7 "Pressure";
  equation
    a.p = p;
  end PressureSource;

  model Tank "Where the fluid returns to"
    Port a;
    parameter Units.Pressure p = 2e5 "Pressure";
  equation
    a.p = p;
  end Tank;

  model Volume "A chamber of fixed size"
    Port a;
    parameter Units.Volume V = 1e-4 "Volume";
    parameter Units.BulkModulus E = 1.4e9 "Bulk modulus";
    Units.Pressure p(start=5e6, nominal=1e6, stateSelect=StateSelect.prefer) "Pressure";
  equation
    a.p = p;
    der(p) = E/V*a.q;
  end Volume;

  model LaminarResistance "Flow in proportion to the pressure drop"
    Port a;
    Port b;
    parameter Units.HydraulicResistance R = 3e8 "Resistance";
    Units.VolumeFlow q "Flow from a to b";
  equation
    q = (a.p - b.p)/R;
    a.q = q;
    b.q = -q;
  end LaminarResistance;

  model Line "A short line: its volume at end a, then its resistance"
    Port a;
    Port b;
    parameter Units.Volume V = 5e-5 "Volume";
    parameter Units.HydraulicResistance R = 3e8 "Resistance";
    parameter Units.BulkModulus E = 1.4e9 "Bulk modulus";
    parameter Boolean steady = false "The pressure rests at the start";
    Units.Pressure p(start=5e6, nominal=1e6, stateSelect=StateSelect.prefer) "Pressure in the volume";
    Units.VolumeFlow q "Flow out of end b";
  initial equation
    if steady then
      der(p) = 0;
    end if;
  equation
    a.p = p;
    q = (p - b.p)/R;
    b.q = -q;
    der(p) = E/V*(a.q - q);
  end Line;

  model DifferentialCylinder "Two chambers of different area, with leakage between them; the piston has no mass"
    Port a "At the piston side: pressure pushes out";
    Port b "At the rod side: pressure pulls in";
    Translational.Flange flange "End of the rod";
    parameter Units.Length d_piston = 0.063 "Diameter of the piston";
    parameter Units.Length d_rod = 0.045 "Diameter of the rod";
    parameter Units.Length stroke = 0.5 "From one end to the other";
    parameter Units.Volume V_a = 1e-4 "Dead volume of the piston side";
    parameter Units.Volume V_b = 1e-4 "Dead volume of the rod side";
    parameter Units.HydraulicConductance G = 1e-13 "Leakage past the piston";
    parameter Units.BulkModulus E = 1.4e9 "Bulk modulus";
    parameter Boolean steady = false "The pressures rest at the start";
    final parameter Units.Area A_a = pi/4*d_piston^2 "Area of the piston side";
    final parameter Units.Area A_b = pi/4*(d_piston^2 - d_rod^2) "Area of the rod side";
    Units.Pressure p_a(start=5e6, nominal=1e6, stateSelect=StateSelect.prefer) "Pressure of the piston side";
    Units.Pressure p_b(start=5e6, nominal=1e6, stateSelect=StateSelect.prefer) "Pressure of the rod side";
    Units.Length s "How far the rod is out";
    Units.Velocity v "Velocity of the rod";
    Units.Force f "Force of the fluid onto the rod";
    Units.VolumeFlow q_leak "From the piston side to the rod side";
  protected
    constant Real pi = 3.141592653589793;
  initial equation
    if steady then
      der(p_a) = 0;
      der(p_b) = 0;
    end if;
  equation
    a.p = p_a;
    b.p = p_b;
    flange.s = s;
    v = der(s);
    f = A_a*p_a - A_b*p_b;
    flange.f = -f;
    q_leak = G*(p_a - p_b);
    der(p_a) = E/(V_a + A_a*s)*(a.q - A_a*v - q_leak);
    der(p_b) = E/(V_b + A_b*(stroke - s))*(b.q + A_b*v + q_leak);
  end DifferentialCylinder;

  model Valve43 "A proportional 4/3 valve with four equal edges and a spool of second order"
    Port p "Supply";
    Port t "Tank";
    Port a;
    Port b;
    input Real u(unit="V") "Command: positive opens p to a and b to t";
    parameter Real u_max(unit="V") = 10 "Command that opens it fully";
    parameter Units.VolumeFlow q_nominal = 40e-3/60 "Flow through one edge, fully open, at dp_nominal";
    parameter Units.Pressure dp_nominal = 35e5 "Pressure drop at which q_nominal is given";
    parameter Units.Pressure dp_turn = 1e5 "Below about this drop the flow is laminar";
    parameter Real rounding = 0.01 "Rounding of the lap";
    parameter Units.Frequency f = 60 "Natural frequency of the spool";
    parameter Real damping = 0.9 "Damping ratio of the spool";
    Real y(start=0, fixed=true) "Spool, -1 to 1";
    Real w(start=0, fixed=true, unit="1/s") "Speed of the spool";
    Units.VolumeFlow q_a "Flow out of port a";
    Units.VolumeFlow q_b "Flow out of port b";
  protected
    constant Real pi = 3.141592653589793;
    final parameter Real omega(unit="rad/s") = 2*pi*f;
    final parameter Real K = q_nominal/sqrt(dp_nominal) "Flow of an open edge over the root of its pressure drop";
    Real plus "Opening of the edges p-a and b-t";
    Real minus "Opening of the edges p-b and a-t";
    Units.VolumeFlow q_pa, q_at, q_pb, q_bt;
  equation
    der(y) = w;
    der(w) = omega^2*(u/u_max - y) - 2*damping*omega*w;
    plus = opening(y, rounding);
    minus = opening(-y, rounding);
    q_pa = K*plus*rootOf(p.p - a.p, dp_turn);
    q_at = K*minus*rootOf(a.p - t.p, dp_turn);
    q_pb = K*minus*rootOf(p.p - b.p, dp_turn);
    q_bt = K*plus*rootOf(b.p - t.p, dp_turn);
    q_a = q_pa - q_at;
    q_b = q_pb - q_bt;
    a.q = -q_a;
    b.q = -q_b;
    p.q = q_pa + q_pb;
    t.q = -(q_at + q_bt);
  end Valve43;
end Hydraulics;
