within Kilohertz.Vehicles;
model Wheel "A wheel with its tyre on the road"
  MultiBody.Frame hub "Carrier at the wheel centre: y along the axis, to the left" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
  Rotational.Flange shaft "Turns the wheel; what drives it stands elsewhere" annotation(Placement(transformation(extent={{-50,90},{-30,110}})));
  Rotational.Flange disc "Turns with the wheel; what holds it stands on the carrier" annotation(Placement(transformation(extent={{30,90},{50,110}})));
  outer MultiBody.World world "Gravity" annotation(Placement(transformation(extent={{-50,-50},{-30,-30}})));
  outer Roads.Road road "What it rolls on" annotation(Placement(transformation(extent={{-10,-50},{10,-30}})));
  parameter Units.Mass m = 21 "Mass of wheel and tyre";
  parameter Units.Inertia I_axis = 1.1 "Inertia about the axis";
  parameter Units.Inertia I_across = 0.65 "Inertia across the axis";
  parameter Units.AngularVelocity w_start = 0 "Spin at the start";
  replaceable model Tyre = Tyres.TMeasy constrainedby Tyres.Tyre "Its tyre"
    annotation(choices(choice(redeclare model Tyre = Kilohertz.Vehicles.Tyres.TMeasy "Rill"), choice(redeclare model Tyre = Kilohertz.Vehicles.Tyres.MagicFormula "Pacejka")));
  Tyre tyre(r_s=r_s, v_s=v_P*n/cosine, v_x=v_P*e_x, v_y=v_P*e_l, w=w, lean=lean, mu=road.mu*road.grip(hub.r_0[1], hub.r_0[2])) "Its tyre" annotation(Placement(transformation(extent={{30,-50},{50,-30}})));
  Units.Angle phi(start=0, fixed=true, stateSelect=StateSelect.always) "Angle of the wheel against the carrier";
  Units.AngularVelocity w_rel(start=w_start, fixed=true, stateSelect=StateSelect.always) = der(phi) "Its rate";
  Units.AngularVelocity w "Spin: angular velocity about the axis, against the world";
  Units.Velocity v_0[3] = der(hub.r_0) "Velocity of the wheel centre";
  Units.Acceleration a_0[3] = der(v_0) "Its acceleration";
  Units.AngularVelocity w_hub[3] = hub.R.w "Angular velocity of the carrier";
  Units.AngularAcceleration z_hub[3] = der(w_hub) "Its rate";
  Units.Length r_s "From the wheel centre to the road, in the plane of the wheel";
  Units.Force F_0[3] "Force of the road, in the world";
protected
  Real surface[3] "Height and slopes of the road";
  Real n[3] "Normal of the road";
  Real e_x[3] "Where the wheel points, along the road";
  Real e_l[3] "To the left, along the road";
  Real e_r[3] "From the contact point to the wheel centre";
  Real e_y[3] "Axis of the wheel";
  Real lean "Sine of the angle of the axis against the road";
  Real cosine "Its cosine";
  Units.Velocity v_P[3] "Velocity of the contact point, without spin";
  Units.Force f[3] "Force of the road, in components of the carrier";
  Units.Torque t[3] "Torque of the road about the wheel centre, in components of the carrier";
equation
  surface = road.surface(hub.r_0[1], hub.r_0[2]);
  n = Math.unit({-surface[2], -surface[3], 1});
  e_y = hub.R.T[2, :];
  lean = e_y*n;
  cosine = sqrt(1 - lean^2);
  e_x = cross(e_y, n)/cosine;
  e_l = cross(n, e_x);
  e_r = (n - lean*e_y)/cosine;
  r_s = (hub.r_0[3] - surface[1])*n[3]/cosine;
  v_P = v_0 - r_s*cross(MultiBody.Frames.toWorld(hub.R, {w_hub[1], 0, w_hub[3]}), e_r);
  F_0 = tyre.F_x*e_x + tyre.F_y*e_l + tyre.F_z*n;
  f = MultiBody.Frames.toLocal(hub.R, F_0);
  t = MultiBody.Frames.toLocal(hub.R, tyre.M_z*n - r_s*cross(e_r, F_0));
  shaft.phi = phi;
  disc.phi = phi;
  w = w_rel + w_hub[2];
  I_axis*der(w) = t[2] - tyre.M_y + shaft.tau + disc.tau;
  hub.f = m*MultiBody.Frames.toLocal(hub.R, a_0 - world.gravity) - f;
  hub.t = {I_across*(z_hub[1] + w_hub[2]*w_hub[3]) - I_axis*w*w_hub[3] - t[1], disc.tau, I_across*(z_hub[3] - w_hub[1]*w_hub[2]) + I_axis*w*w_hub[1] - t[3]};
  annotation(Icon(graphics={Ellipse(extent={{-80,80},{80,-80}}, lineColor={60,60,60}, fillColor={90,90,90}, fillPattern=FillPattern.Solid), Ellipse(extent={{-45,45},{45,-45}}, lineColor={60,60,60}, fillColor={235,235,235}, fillPattern=FillPattern.Solid), Ellipse(extent={{-10,10},{10,-10}}, fillColor={95,95,95}, fillPattern=FillPattern.Solid), Line(points={{-100,-80},{100,-80}}), Text(extent={{-150,-130},{150,-165}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p>A wheel is symmetric about its axis, so its inertia is constant in the frame of the carrier, which does not spin. There
      <code>I der(w) + w_hub x (I w)</code> is the torque onto it; about the axis that is <code>I_axis der(w) = torque of the road + shaft.tau + disc.tau</code>, and the bearing gives none.</p>
      <p>With the normal <code>n</code> of the road and the axis <code>e_y</code> the wheel points along <code>e_x = e_y x n</code>; <code>e_r</code>, the part of the normal across the axis, leads from the
      contact point to the wheel centre. The contact point moves with <code>v_0 - r_s w_hub x e_r</code>, where the turn about the axis does not count: that is the spin.</p></html>"));
end Wheel;
