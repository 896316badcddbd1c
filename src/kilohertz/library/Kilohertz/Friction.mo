within Kilohertz;
package Friction "Dry friction between two surfaces, whatever they move along: the laws that Rotational and Translational share"
  partial model Law "What every law of friction knows: the speed of sliding, and how hard the surfaces are pressed"
    parameter Real peak(min=1) = 1 "Force at which it breaks away, over the force of sliding at rest";
    parameter Real fall(min=0, max=1) = 0 "Part of the force of sliding that is lost at high speed";
    parameter Real v_fall(min=0) = 0.1 "Speed at which about two thirds of this are lost";
    Real v "Speed of sliding";
    Real acc "Its rate of change";
    Real f "Force against the sliding";
    Real up "Force of sliding forward, at rest; not negative";
    Real down "Force of sliding back, at rest; not positive";
  protected
    Real left "Part of the force of sliding that is left at this speed";
  equation
    left = if fall > 0 then 1 - fall*(1 - exp(-noEvent(abs(v))/v_fall)) else 1;
    annotation(Documentation(info="<html><p>Whoever extends a law gives <code>v</code>, <code>acc</code>, <code>up</code> and
      <code>down</code>; the law gives one equation between <code>f</code> and <code>acc</code>.</p></html>"));
  end Law;

  partial model StickSlip "Sticks and slides, with an event at each change"
    extends Law;
    parameter Real settle(unit="s", min=0) = 0.01 "What is left of the speed when it sticks dies out with this time constant";
    Integer way(start=0, fixed=true) "1: slides forward, -1: slides back, 0: neither";
    Boolean rises(start=false, fixed=true) "Begins to slide forward";
    Boolean falls(start=false, fixed=true) "Begins to slide back";
    Boolean pressed(start=false, fixed=true) "There is friction at all; given by whoever extends it";
    Boolean sticks "The surfaces do not slide";
  protected
    Real s "Force where it sticks; beyond the force that breaks away it counts acceleration";
    constant Real unit = 1 "Acceleration for one unit of s";
    Real loose "Speed at the instant at which it is pressed";
    Real sliding "Speed while it slides; 0 while it sticks, whatever is left";
    Real settling "Acceleration by which a speed that is left at rest dies out";
  equation
    loose = if pre(pressed) then 0 else v;
    rises = pressed and (pre(way) == 0 and (s > peak*up or pre(rises) and s > up) or loose > 0);
    falls = pressed and not rises and (pre(way) == 0 and (s < peak*down or pre(falls) and s < down) or loose < 0);
    sticks = pressed and not (rises or falls or pre(way) <> 0);
    sliding = if sticks then 0 else v;
    way = if not pressed then 0 elseif (pre(way) == 1 or rises) and sliding > 0 then 1 elseif (pre(way) == -1 or falls) and sliding < 0 then -1 else 0;
    settling = if pre(way) == 0 then -v/settle else 0;
    acc = if sticks then settling elseif not pressed then unit*s elseif rises or pre(way) == 1 and not falls then settling + unit*(s - peak*up) else settling + unit*(s - peak*down);
    f = if sticks then s elseif not pressed then 0 elseif rises or pre(way) == 1 and not falls then up*left else down*left;
    annotation(Documentation(info="<html>
      <p>Force and acceleration lie on one curve with the parameter <code>s</code>: sticking, <code>acc = 0</code> and
      <code>f = s</code>; sliding, <code>f</code> is given and <code>s</code> counts acceleration. So at rest the unknown is one
      number, and which branch holds is found together with it: <code>s &gt; peak up</code> breaks away forward,
      <code>s &lt; peak down</code> back; a slide ends where its speed changes sign. Sliding, the acceleration is <code>s - peak up</code>:
      the mode that breaks away then meets the condition that chose it.</p>
      <p>A slide that an event at the end of a step finds late leaves a small speed behind, which dies out with the time constant
      <code>settle</code>: take at least one step. With events located exactly there is nothing left to die out.</p></html>"));
  end StickSlip;

  partial model Smooth "The same with a steep slope in place of sticking: no events, for steps that must not vary"
    extends Law;
    parameter Real v_0(min=1e-12) = 1e-3 "Speed at which the force has about three quarters of its value: it creeps below";
  equation
    f = noEvent(if v > 0 then up else -down)*left*tanh(v/v_0);
    annotation(Documentation(info="<html><p><code>f = up tanh(v/v_0)</code> forward and the same with <code>-down</code> back.
      What would stick creeps at up to about <code>v_0</code>, there is no peak (the parameter is of no effect), and the time
      constant <code>m v_0/up</code> wants an implicit method.</p></html>"));
  end Smooth;
  annotation(Documentation(info="<html><p>The laws know neither shafts nor rods; <code>Rotational.Friction</code> and
    <code>Translational.Friction</code> put them between two flanges.</p></html>"));
end Friction;
