within Kilohertz.Vehicles;
package Roads "What wheels roll on"
  partial function Surface "Height of a road by place"
    input Units.Length x "Along x of the world";
    input Units.Length y "Along y of the world";
    output Real s[3] "Height in m, its slope along x, its slope along y";
  end Surface;

  function flat "Level"
    extends Surface;
  algorithm
    s := {0, 0, 0};
    annotation(Inline=true);
  end flat;

  function plane "Inclined: uphill along x, banked along y"
    extends Surface;
    input Real slope = 0 "Rise along x";
    input Real bank = 0 "Rise along y";
  algorithm
    s := {slope*x + bank*y, slope, bank};
    annotation(Inline=true);
  end plane;

  function profile "Bumps along x, by a table: beyond its ends the road goes straight on"
    extends Surface;
    input Units.Length places[:] = {0, 1} "Rising places";
    input Units.Length heights[size(places, 1)] = {0, 0} "Heights there";
  protected
    Real v[2] "Height and slope";
  algorithm
    v := Math.smooth(places, heights, x);
    s := {v[1], v[2], 0};
  end profile;

  partial function Grip "Friction of a road by place"
    input Units.Length x "Along x of the world";
    input Units.Length y "Along y of the world";
    output Real mu "Friction over that of the road on which the tyre was measured";
  end Grip;

  function uniform "The same everywhere"
    extends Grip;
    input Real level(min=0) = 1 "Friction";
  algorithm
    mu := level;
    annotation(Inline=true);
  end uniform;

  function split "Another on the left than on the right"
    extends Grip;
    input Real left(min=0) = 1 "Friction where y is positive";
    input Real right(min=0) = 1 "Friction where it is not";
  algorithm
    mu := noEvent(if y > 0 then left else right);
    annotation(Inline=true);
  end split;

  model Road "The road of all wheels: every model with wheels has one, `inner Vehicles.Roads.Road road`"
    parameter Real mu(min=0) = 1 "Friction everywhere; times that of a place";
    replaceable function surface = flat constrainedby Surface "Its height"
      annotation(choices(choice(redeclare function surface = Kilohertz.Vehicles.Roads.flat "Level"),
        choice(redeclare function surface = Kilohertz.Vehicles.Roads.plane(slope=0.05) "Uphill"),
        choice(redeclare function surface = Kilohertz.Vehicles.Roads.profile(places={0, 10, 10.5, 11, 12}, heights={0, 0, 0.03, 0, 0}) "A bump")));
    replaceable function grip = uniform constrainedby Grip "Its friction"
      annotation(choices(choice(redeclare function grip = Kilohertz.Vehicles.Roads.uniform(level=0.3) "Snow"),
        choice(redeclare function grip = Kilohertz.Vehicles.Roads.split(right=0.3) "Snow on the right")));
    annotation(defaultComponentName="road", defaultComponentPrefixes="inner",
      Icon(graphics={Polygon(points={{-90,-60},{-30,60},{30,60},{90,-60},{-90,-60}}, lineColor={95,95,95}, fillColor={200,200,200}, fillPattern=FillPattern.Solid), Line(points={{0,-60},{0,-30}}, color={255,255,255}), Line(points={{0,-10},{0,15}}, color={255,255,255}), Line(points={{0,30},{0,50}}, color={255,255,255}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>A wheel asks for height <code>h</code> and slopes at the place of its centre and takes the plane through that point, with the normal along
        <code>(-h_x, -h_y, 1)</code>, for the road: exact on planes, good on bumps that are long against the contact patch.</p></html>"));
  end Road;
end Roads;
