within Kilohertz.Rotational;
model Planetary "Sun, carrier and ring of a simple planetary gear, without inertia"
  Flange sun "Sun" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
  Flange carrier "Carrier of the planets" annotation(Placement(transformation(extent={{-110,50},{-90,70}})));
  Flange ring "Ring" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  parameter Real ratio(min=1) = 2 "Teeth of the ring over teeth of the sun";
equation
  (1 + ratio)*carrier.phi = sun.phi + ratio*ring.phi;
  ring.tau = ratio*sun.tau;
  carrier.tau = -(1 + ratio)*sun.tau;
  annotation(Icon(graphics={Ellipse(extent={{-70,70},{70,-70}}, fillColor={235,235,235}, fillPattern=FillPattern.Solid), Ellipse(extent={{-60,60},{60,-60}}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Ellipse(extent={{-20,20},{20,-20}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid),
    Ellipse(extent={{-20,60},{20,20}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Ellipse(extent={{-55,0},{-15,-40}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Ellipse(extent={{15,0},{55,-40}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid),
    Line(points={{-90,0},{-20,0}}), Line(points={{-90,60},{-10,40}}), Line(points={{70,0},{90,0}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255}), Text(extent={{-150,-75},{150,-110}}, textString="%ratio")}),
    Documentation(info="<html><p>Willis: <code>(1 + ratio) w_carrier = w_sun + ratio w_ring</code>. No power is lost, so the torques
      are in the proportion <code>1 : ratio : -(1 + ratio)</code> of sun, ring and carrier.</p></html>"));
end Planetary;
