within Kilohertz.Hydraulics;
model LongLine "A line with waves: fluid that has inertia, in pieces"
  Port a "Left end" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
  Port b "Right end" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  parameter Integer n(min=1) = 4 "Number of pieces" annotation(Evaluate=true);
  parameter Units.Length length = 10 "Length";
  parameter Units.Length d = 0.012 "Inner diameter";
  parameter Units.Density rho = 870 "Density of the fluid";
  parameter Real nu(unit="m2/s") = 4.6e-5 "Kinematic viscosity of the fluid";
  parameter Units.BulkModulus E = 1.4e9 "Bulk modulus of fluid and wall";
  parameter Units.Pressure p_start = 5e6 "Pressure at the start";
  Units.Pressure p[n](each start=p_start, each fixed=true, each nominal=1e6) "Pressure in the pieces";
  Units.VolumeFlow flow_in[n](each start=0, each fixed=true, each nominal=1e-4) "Flow into each piece from its left";
protected
  final parameter Units.Area A = Math.pi/4*d^2 "Cross section";
  final parameter Real mass(unit="kg/m4") = rho*length/(n*A) "Inertia of a piece";
  final parameter Real R(unit="Pa.s/m3") = 128*rho*nu*length/(n*Math.pi*d^4) "Resistance of a piece: Hagen and Poiseuille";
  final parameter Real C(unit="m3/Pa") = A*length/(n*E) "Capacity of a piece";
equation
  mass*der(flow_in[1]) = a.p - p[1] - R*flow_in[1];
  for i in 2:n loop
    mass*der(flow_in[i]) = p[i - 1] - p[i] - R*flow_in[i];
  end for;
  for i in 1:n - 1 loop
    C*der(p[i]) = flow_in[i] - flow_in[i + 1];
  end for;
  C*der(p[n]) = flow_in[n] + b.q;
  b.p = p[n];
  a.q = flow_in[1];
  annotation(Icon(graphics={Rectangle(extent={{-90,15},{90,-15}}, lineColor={0,80,160}, fillColor={230,240,250}, fillPattern=FillPattern.Solid), Line(points={{-80,0},{-60,12},{-30,-12},{0,12},{30,-12},{60,12},{80,0}}, color={0,80,160}, smooth=Smooth.Bezier), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p>Each piece has inertia, laminar friction and capacity: <code>mass der(q_i) = p_(i-1) - p_i - R q_i</code>, <code>C der(p_i) = q_i - q_(i+1)</code>. The wave runs at <code>sqrt(E/rho)</code>. End b is at the last pressure: join it to what takes a flow.</p></html>"));
end LongLine;
