within Kilohertz.MultiBody;
model Body "A rigid body with mass and inertia"
  extends Attitude(phi(each stateSelect=if states and coordinates == Coordinates.Angles then StateSelect.always else StateSelect.default), phi_d(each stateSelect=if states and coordinates == Coordinates.Angles then StateSelect.always else StateSelect.default));
  outer World world "Gravity" annotation(Placement(transformation(extent={{-30,-30},{-10,-10}})));
  parameter Units.Mass m = 1 "Mass";
  parameter Units.Length r_CM[3] = {0, 0, 0} "From a to the centre of mass, in components of a";
  parameter Real I[3,3](each unit="kg.m2") = diagonal({1e-3, 1e-3, 1e-3}) "Inertia about the centre of mass, along the axes of a";
  parameter Boolean states = false "Its coordinates are states, whatever it is joined to" annotation(Evaluate=true);
  Units.Length r_0[3](each stateSelect=if states then StateSelect.always else StateSelect.avoid) = a.r_0 "Position of a in the world";
  Units.Velocity v_0[3](each stateSelect=if states then StateSelect.always else StateSelect.avoid) = der(r_0) "Its velocity";
  Units.Acceleration a_0[3] = der(v_0) "Its acceleration";
  Units.AngularVelocity w[3](each stateSelect=if states and coordinates == Coordinates.Quaternions then StateSelect.always else StateSelect.default) = a.R.w "Angular velocity, in components of a";
  Units.AngularAcceleration z[3] = der(w) "Its rate";
equation
  if states then
    Connections.root(a.R);
  else
    Connections.potentialRoot(a.R);
  end if;
  if Connections.isRoot(a.R) then
    a.R = R_own;
  end if;
  a.f = m*(Frames.toLocal(a.R, a_0 - world.gravity) + cross(z, r_CM) + cross(w, cross(w, r_CM)));
  a.t = I*z + cross(w, I*w) + cross(r_CM, a.f);
  annotation(Icon(graphics={Rectangle(extent={{-90,25},{0,-25}}, lineColor={95,95,95}, fillColor={150,170,200}, fillPattern=FillPattern.Solid), Ellipse(extent={{-30,60},{90,-60}}, lineColor={95,95,95}, fillColor={150,170,200}, fillPattern=FillPattern.Solid), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255}), Text(extent={{-150,-65},{150,-100}}, textString="m=%m")}),
    Documentation(info="<html><p>Newton and Euler: <code>a.f = m (acc of the centre of mass - gravity)</code>,
      <code>a.t = I z + w x (I w) + r_CM x a.f</code>. A body that no joint ties to the world has coordinates of its own:
      position, and the orientation by <code>coordinates</code>.</p></html>"));
end Body;
