within Kilohertz.MultiBody;
package Shapes "Bodies of uniform density: mass and inertia follow from their size"
  partial model Shape "From a to b, the centre of mass in the middle"
    extends TwoFrames;
    parameter Units.Length r[3] = {1, 0, 0} "From a to b, in components of a" annotation(Evaluate=true);
    parameter Units.Density rho = 7700 "Density";
    final parameter Units.Length length = Math.length(r) "From a to b";
    Translation link(r=r) "From a to b" annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
  equation
    connect(a, link.a) annotation(Line(points={{-100,0},{-65,0},{-65,-20},{-30,-20}}, color={95,95,95}));
    connect(link.b, b) annotation(Line(points={{-10,-20},{45,-20},{45,0},{100,0}}, color={95,95,95}));
  end Shape;

  model Box "A box"
    extends Shape;
    parameter Real n[3] = {0, 1, 0} "Where its width points" annotation(Evaluate=true);
    parameter Units.Length width(min=0) = 0.1 "Width";
    parameter Units.Length height(min=0) = width "Height: across length and width";
    final parameter Units.Mass m = rho*length*width*height "Mass";
    Body body(m=m, r_CM=r/2, I=transpose(T)*diagonal(m/12*{width^2 + height^2, length^2 + height^2, length^2 + width^2})*T) "Its mass" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
  protected
    final parameter Orientation R_rel = Frames.axes(r, n) "From a to axes along length, width and height";
    final parameter Real T[3,3] = R_rel.T;
  equation
    connect(a, body.a) annotation(Line(points={{-100,0},{-75,0},{-75,20},{-50,20}}, color={95,95,95}));
    annotation(Icon(graphics={Polygon(points={{-85,20},{-65,40},{85,40},{85,0},{65,-20},{-85,-20},{-85,20}}, lineColor={95,95,95}, fillColor={150,170,200}, fillPattern=FillPattern.Solid), Line(points={{-85,20},{65,20},{65,-20}}), Line(points={{65,20},{85,40}})}),
      Documentation(info="<html><p>From a to b, <code>width</code> and <code>height</code> across, of the density <code>rho</code>.</p></html>"));
  end Box;

  model Cylinder "A cylinder, hollow or not"
    extends Shape;
    parameter Units.Length diameter(min=0) = 0.1 "Diameter";
    parameter Units.Length bore(min=0) = 0 "Diameter of its hole";
    final parameter Units.Mass m = rho*Math.pi/4*(diameter^2 - bore^2)*length "Mass";
    Body body(m=m, r_CM=r/2, I=m*((diameter^2 + bore^2)/16 + length^2/12)*(identity(3) - [e]*transpose([e])) + m*(diameter^2 + bore^2)/8*[e]*transpose([e])) "Its mass" annotation(Placement(transformation(extent={{-50,10},{-30,30}})));
  protected
    final parameter Real e[3] = Math.unit(r) "Along the cylinder";
  equation
    connect(a, body.a) annotation(Line(points={{-100,0},{-75,0},{-75,20},{-50,20}}, color={95,95,95}));
    annotation(Icon(graphics={Rectangle(extent={{-80,30},{70,-30}}, lineColor={95,95,95}, fillColor={150,170,200}, fillPattern=FillPattern.Solid), Ellipse(extent={{60,30},{85,-30}}, lineColor={95,95,95}, fillColor={180,195,220}, fillPattern=FillPattern.Solid)}),
      Documentation(info="<html><p>Its axis from a to b, of the density <code>rho</code>; <code>bore</code> makes it a tube.</p></html>"));
  end Cylinder;
end Shapes;
