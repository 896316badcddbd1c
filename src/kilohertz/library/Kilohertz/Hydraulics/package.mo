within Kilohertz;
package Hydraulics "Servo hydraulics with a fluid of constant bulk modulus"
  connector Port "A place where fluid enters a component"
    Units.Pressure p "Pressure";
    flow Units.VolumeFlow q "Flow into the component";
    annotation(Icon(graphics={Ellipse(extent={{-100,-100},{100,100}}, lineColor={0,80,160}, fillColor={0,80,160}, fillPattern=FillPattern.Solid)}));
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
    Port a "Where the pressure holds" annotation(Placement(transformation(extent={{-10,90},{10,110}})));
    parameter Units.Pressure p = 1.6e7 "Pressure";
  equation
    a.p = p;
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, lineColor={0,80,160}, fillColor={230,240,250}, fillPattern=FillPattern.Solid), Polygon(points={{0,55},{-20,25},{20,25},{0,55}}, lineColor={0,80,160}, fillColor={0,80,160}, fillPattern=FillPattern.Solid), Line(points={{0,60},{0,90}}, color={0,80,160}), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>a.p = p</code>, whatever flow is drawn.</p></html>"));
  end PressureSource;

  model Tank "Where the fluid returns to"
    Port a "Above the surface" annotation(Placement(transformation(extent={{-10,90},{10,110}})));
    parameter Units.Pressure p = 2e5 "Pressure";
  equation
    a.p = p;
    annotation(Icon(graphics={Line(points={{-60,20},{-60,-40},{60,-40},{60,20}}, color={0,80,160}), Line(points={{0,90},{0,-30}}, color={0,80,160}), Line(points={{-60,0},{60,0}}, color={0,80,160}, pattern=LinePattern.Dash)}),
      Documentation(info="<html><p><code>a.p = p</code>; takes back any flow.</p></html>"));
  end Tank;

  model Volume "A chamber of fixed size"
    Port a "Into the chamber" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    parameter Units.Volume V = 1e-4 "Volume";
    parameter Units.BulkModulus E = 1.4e9 "Bulk modulus";
    Units.Pressure p(start=5e6, nominal=1e6, stateSelect=StateSelect.prefer) "Pressure";
  equation
    a.p = p;
    der(p) = E/V*a.q;
    annotation(Icon(graphics={Ellipse(extent={{-60,60},{60,-60}}, lineColor={0,80,160}, fillColor={190,215,240}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-60,0}}, color={0,80,160}), Text(extent={{-50,20},{50,-20}}, textString="V=%V")}),
      Documentation(info="<html><p><code>der(p) = E/V a.q</code>.</p></html>"));
  end Volume;

  model LaminarResistance "Flow in proportion to the pressure drop"
    Port a "Left end" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Port b "Right end" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    parameter Units.HydraulicResistance R = 3e8 "Resistance";
    Units.VolumeFlow q "Flow from a to b";
  equation
    q = (a.p - b.p)/R;
    a.q = q;
    b.q = -q;
    annotation(Icon(graphics={Line(points={{-90,0},{90,0}}, color={0,80,160}), Line(points={{-60,25},{60,10}}, color={0,80,160}), Line(points={{-60,-25},{60,-10}}, color={0,80,160})}),
      Documentation(info="<html><p><code>q = (a.p - b.p)/R</code>.</p></html>"));
  end LaminarResistance;

  model Line "A short line: its volume at end a, then its resistance"
    Port a "End with the volume" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Port b "End with the resistance" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
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
    annotation(Icon(graphics={Rectangle(extent={{-90,15},{90,-15}}, lineColor={0,80,160}, fillColor={230,240,250}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p><code>der(p) = E/V (a.q - q)</code>, <code>q = (p - b.p)/R</code>.</p></html>"));
  end Line;

  model DifferentialCylinder "Two chambers of different area, with leakage between them; the piston has no mass"
    Port a "At the piston side: pressure pushes out" annotation(Placement(transformation(extent={{-80,-110},{-60,-90}})));
    Port b "At the rod side: pressure pulls in" annotation(Placement(transformation(extent={{30,-110},{50,-90}})));
    Translational.Flange flange "End of the rod" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
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
    Units.Length s(min=0, max=stroke) "How far the rod is out";
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
    annotation(Icon(graphics={Rectangle(extent={{-90,40},{60,-40}}, lineColor={0,80,160}, fillColor={230,240,250}, fillPattern=FillPattern.Solid), Rectangle(extent={{-30,40},{-15,-40}}, fillColor={150,150,150}, fillPattern=FillPattern.Solid), Rectangle(extent={{-15,8},{95,-8}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Line(points={{-70,-90},{-70,-40}}, color={0,80,160}), Line(points={{40,-90},{40,-40}}, color={0,80,160}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p><code>f = A_a p_a - A_b p_b</code>; each pressure rises with the net flow over the chamber&apos;s volume: <code>der(p_a) = E/(V_a + A_a s) (a.q - A_a v - q_leak)</code>. It has no end stops, and a run says where the rod went beyond <code>stroke</code>: <code>Cylinder</code> has them.</p></html>"));
  end DifferentialCylinder;

  model Valve43 "A proportional 4/3 valve with four equal edges and a spool of second order"
    Port p "Supply" annotation(Placement(transformation(extent={{-30,-110},{-10,-90}})));
    Port t "Tank" annotation(Placement(transformation(extent={{10,-110},{30,-90}})));
    Port a "First consumer" annotation(Placement(transformation(extent={{-30,90},{-10,110}})));
    Port b "Second consumer" annotation(Placement(transformation(extent={{10,90},{30,110}})));
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
    annotation(Icon(graphics={Rectangle(extent={{-90,30},{-30,-30}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Rectangle(extent={{-30,30},{30,-30}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Rectangle(extent={{30,30},{90,-30}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Line(points={{-75,-30},{-75,30},{-80,15}}, color={0,80,160}), Line(points={{-45,30},{-45,-30},{-50,-15}}, color={0,80,160}), Line(points={{45,-30},{75,30}}, color={0,80,160}), Line(points={{75,-30},{45,30}}, color={0,80,160})}),
      Documentation(info="<html><p>The spool <code>y</code> follows the command like an oscillator; each edge passes <code>K y sqrt(dp)</code>, laminar below <code>dp_turn</code>, its opening rounded at zero by <code>rounding</code>.</p></html>"));
  end Valve43;

  partial model TwoPorts "What flows in at one side flows out at the other"
    Port a "Left end" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Port b "Right end" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Units.VolumeFlow q "Flow from a to b";
    Units.Pressure dp "Pressure drop from a to b";
  equation
    dp = a.p - b.p;
    a.q = q;
    b.q = -q;
    annotation(Icon(graphics={Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end TwoPorts;
end Hydraulics;
