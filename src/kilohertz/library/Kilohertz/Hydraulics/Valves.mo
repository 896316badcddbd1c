within Kilohertz.Hydraulics;
package Valves "Valves beside the 4/3 valve"
  partial model Spool "A spool of second order that follows its command"
    Blocks.RealInput u(unit="V") "Command" annotation(Placement(transformation(extent={{-20,-20},{20,20}}, origin={0,110}, rotation=-90)));
    parameter Real u_max(unit="V") = 10 "Command that opens it fully";
    parameter Units.VolumeFlow q_nominal = 40e-3/60 "Flow through one edge, fully open, at dp_nominal";
    parameter Units.Pressure dp_nominal = 35e5 "Pressure drop at which q_nominal is given";
    parameter Units.Pressure dp_turn = 1e5 "Below about this drop the flow is laminar";
    parameter Real rounding = 0.01 "Rounding of the lap";
    parameter Units.Frequency f = 60 "Natural frequency of the spool";
    parameter Real damping = 0.9 "Damping ratio of the spool";
    Real y(start=0, fixed=true) "Spool: 1 is fully open";
    Real w(start=0, fixed=true, unit="1/s") "Speed of the spool";
  protected
    final parameter Real omega(unit="rad/s") = 2*Math.pi*f "Natural angular frequency";
    final parameter Real K = q_nominal/sqrt(dp_nominal) "Flow of an open edge over the root of its pressure drop";
  equation
    der(y) = w;
    der(w) = omega^2*(max(-1, min(1, u/u_max)) - y) - 2*damping*omega*w;
    annotation(Icon(graphics={Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end Spool;

  model Valve22 "A proportional 2/2 valve: opens or closes one way"
    extends Spool;
    Port a "One side" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Port b "Other side" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Units.VolumeFlow q "Flow from a to b";
  equation
    q = K*opening(y, rounding)*rootOf(a.p - b.p, dp_turn);
    a.q = q;
    b.q = -q;
    annotation(Icon(graphics={Rectangle(extent={{-60,30},{0,-30}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Rectangle(extent={{0,30},{60,-30}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Line(points={{-50,0},{-10,0}}, color={0,80,160}), Line(points={{30,-10},{30,10}}, color={0,80,160}), Line(points={{-90,0},{-60,0}}, color={0,80,160}), Line(points={{60,0},{90,0}}, color={0,80,160})}),
      Documentation(info="<html><p><code>q = K y sqrt(dp)</code> where <code>y</code> is positive; closed otherwise but for the rounding of the edge.</p></html>"));
  end Valve22;

  model Valve32 "A proportional 3/2 valve: joins a with the supply or with the tank"
    extends Spool;
    Port p "Supply" annotation(Placement(transformation(extent={{-50,-110},{-30,-90}})));
    Port t "Tank" annotation(Placement(transformation(extent={{30,-110},{50,-90}})));
    Port a "Consumer" annotation(Placement(transformation(extent={{-50,90},{-30,110}})));
    Units.VolumeFlow q "Flow out of port a";
  protected
    Units.VolumeFlow q_pa "From the supply";
    Units.VolumeFlow q_at "To the tank";
  equation
    q_pa = K*opening(y, rounding)*rootOf(p.p - a.p, dp_turn);
    q_at = K*opening(-y, rounding)*rootOf(a.p - t.p, dp_turn);
    q = q_pa - q_at;
    p.q = q_pa;
    t.q = -q_at;
    a.q = -q;
    annotation(Icon(graphics={Rectangle(extent={{-60,30},{0,-30}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Rectangle(extent={{0,30},{60,-30}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Line(points={{-45,-30},{-45,30},{-50,15}}, color={0,80,160}), Line(points={{15,30},{45,-30}}, color={0,80,160})}),
      Documentation(info="<html><p>Positive commands open p to a, negative ones a to t.</p></html>"));
  end Valve32;

  model Check "Lets fluid pass from a to b"
    extends TwoPorts;
    parameter Units.Pressure dp_open(min=0) = 5e4 "Pressure drop at which it opens";
    parameter Units.VolumeFlow q_nominal = 40e-3/60 "Flow at dp_nominal above that";
    parameter Units.Pressure dp_nominal = 5e5 "Pressure drop at which q_nominal is given";
    parameter Units.Pressure dp_turn = 1e4 "Below about this drop the flow is laminar";
    parameter Units.HydraulicConductance G = 1e-14 "Leakage when closed";
    Boolean open "It lets fluid pass";
  equation
    open = dp > dp_open;
    q = G*dp + (if open then q_nominal/sqrt(dp_nominal)*rootOf(dp - dp_open, dp_turn) else 0);
    annotation(Icon(graphics={Line(points={{-90,0},{-30,0}}, color={0,80,160}), Ellipse(extent={{-30,20},{10,-20}}, lineColor={0,80,160}), Line(points={{-20,40},{20,0},{-20,-40}}, color={0,80,160}), Line(points={{20,0},{90,0}}, color={0,80,160})}),
      Documentation(info="<html><p><code>q = K sqrt(dp - dp_open)</code> above <code>dp_open</code>, leakage below; opening is an event.</p></html>"));
  end Check;

  model Relief "Opens where the pressure drop exceeds its setting"
    extends TwoPorts;
    parameter Units.Pressure dp_set = 1.6e7 "Setting";
    parameter Units.Pressure dp_rise = 5e5 "Rise above it at which it passes q_nominal";
    parameter Units.VolumeFlow q_nominal = 60e-3/60 "Flow at dp_set + dp_rise";
    parameter Units.HydraulicConductance G = 1e-14 "Leakage when closed";
    Boolean open "It lets fluid pass";
  equation
    open = dp > dp_set;
    q = G*dp + (if open then q_nominal*(dp - dp_set)/dp_rise else 0);
    annotation(Icon(graphics={Rectangle(extent={{-40,40},{40,-40}}, lineColor={0,80,160}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{90,0}}, color={0,80,160}), Line(points={{0,40},{-10,50},{10,60},{-10,70}}, color={0,80,160})}),
      Documentation(info="<html><p><code>q = q_nominal (dp - dp_set)/dp_rise</code> above its setting, leakage below; opening is an event.</p></html>"));
  end Relief;
end Valves;
