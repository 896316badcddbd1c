within Kilohertz.Rotational;
model Ravigneaux "Two suns, one ring, one carrier with short and long planets, without inertia"
  Flange small "Small sun: meshes with the short planets" annotation(Placement(transformation(extent={{-110,-70},{-90,-50}})));
  Flange large "Large sun: meshes with the long planets" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
  Flange carrier "Carrier of both kinds of planets" annotation(Placement(transformation(extent={{-110,50},{-90,70}})));
  Flange ring "Ring: meshes with the long planets" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  parameter Real ratio_small(min=1) = 2.8 "Teeth of the ring over teeth of the small sun";
  parameter Real ratio_large(min=1) = 2.2 "Teeth of the ring over teeth of the large sun";
equation
  small.phi = ratio_small*ring.phi + (1 - ratio_small)*carrier.phi;
  large.phi = -ratio_large*ring.phi + (1 + ratio_large)*carrier.phi;
  ring.tau = ratio_large*large.tau - ratio_small*small.tau;
  carrier.tau = (ratio_small - 1)*small.tau - (1 + ratio_large)*large.tau;
  annotation(Icon(graphics={Ellipse(extent={{-70,70},{70,-70}}, fillColor={235,235,235}, fillPattern=FillPattern.Solid), Ellipse(extent={{-60,60},{60,-60}}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Ellipse(extent={{-26,26},{26,-26}}, fillColor={200,200,200}, fillPattern=FillPattern.Solid), Ellipse(extent={{-14,14},{14,-14}}, fillColor={160,160,160}, fillPattern=FillPattern.Solid),
    Ellipse(extent={{-17,60},{17,26}}, fillColor={210,210,210}, fillPattern=FillPattern.Solid), Ellipse(extent={{12,44},{38,18}}, fillColor={225,225,225}, fillPattern=FillPattern.Solid),
    Line(points={{-90,0},{-26,0}}), Line(points={{-90,-60},{-40,-60},{-10,-10}}), Line(points={{-90,60},{-10,43}}), Line(points={{70,0},{90,0}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p>Seen from the carrier, the large sun turns against the ring (one planet between them) and the small
      sun with it (two planets):</p>
      <p><code>w_large - w_carrier = -ratio_large (w_ring - w_carrier)</code>,<br/><code>w_small - w_carrier = ratio_small (w_ring - w_carrier)</code>.</p>
      <p>The torques follow from no power being lost.</p></html>"));
end Ravigneaux;
