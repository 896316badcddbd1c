within Kilohertz.MultiBody;
model Translation "Two frames that stand alike, a fixed vector apart"
  extends TwoFrames;
  parameter Units.Length r[3] = {0, 0, 0} "From a to b, in components of a";
equation
  Connections.branch(a.R, b.R);
  b.r_0 = a.r_0 + Frames.toWorld(a.R, r);
  b.R = a.R;
  zeros(3) = a.f + b.f;
  zeros(3) = a.t + b.t + cross(r, b.f);
  annotation(Icon(graphics={Rectangle(extent={{-90,6},{90,-6}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Text(extent={{-150,-30},{150,-70}}, textString="r=%r")}),
    Documentation(info="<html><p><code>b.r_0 = a.r_0 + r</code>, with <code>r</code> turning with the frames. No mass.</p></html>"));
end Translation;
