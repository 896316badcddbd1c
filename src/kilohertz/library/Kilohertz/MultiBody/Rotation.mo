within Kilohertz.MultiBody;
model Rotation "Two frames a fixed vector and a fixed turn apart"
  extends TwoFrames;
  parameter Units.Length r[3] = {0, 0, 0} "From a to b, in components of a";
  parameter Integer sequence[3](each min=1, each max=3) = {1, 2, 3} "Axes of the turns: 1 for x, 2 for y, 3 for z" annotation(Evaluate=true);
  parameter Units.Angle angles[3] = {0, 0, 0} "Turns from a to b, one after another";
protected
  parameter Orientation R_rel = Frames.angled(sequence, angles, zeros(3)) "From a to b";
  parameter Orientation R_back = Frames.back(R_rel) "From b to a";
equation
  Connections.branch(a.R, b.R);
  b.r_0 = a.r_0 + Frames.toWorld(a.R, r);
  if Connections.rooted(a.R) then
    b.R = Frames.turned(a.R, R_rel);
    zeros(3) = a.f + Frames.toWorld(R_rel, b.f);
    zeros(3) = a.t + Frames.toWorld(R_rel, b.t) - cross(r, a.f);
  else
    a.R = Frames.turned(b.R, R_back);
    zeros(3) = b.f + Frames.toLocal(R_rel, a.f);
    zeros(3) = b.t + Frames.toLocal(R_rel, a.t - cross(r, a.f));
  end if;
  annotation(Icon(graphics={Rectangle(extent={{-90,6},{0,-6}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Line(points={{0,0},{90,0}}), Line(points={{0,0},{60,60},{40,55}}), Line(points={{60,60},{55,40}}), Line(points={{50,0},{45,30},{30,32}}, smooth=Smooth.Bezier), Text(extent={{-150,-30},{150,-70}}, textString="%angles")}),
    Documentation(info="<html><p>Like <code>Translation</code>, and b is turned by <code>angles</code> about the axes of <code>sequence</code>, one after another.</p></html>"));
end Rotation;
