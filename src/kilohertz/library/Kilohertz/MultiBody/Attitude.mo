within Kilohertz.MultiBody;
partial model Attitude "Coordinates of an orientation that nothing else determines"
  Frame a "What turns, or what it turns against" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
  parameter Coordinates coordinates = Coordinates.Quaternions "What describes the orientation" annotation(Evaluate=true);
  parameter Integer sequence[3](each min=1, each max=3) = {1, 2, 3} "Axes of the angles: 1 for x, 2 for y, 3 for z" annotation(Evaluate=true);
  parameter Units.Angle angles_start[3] = {0, 0, 0} "Angles about the axes of the sequence, at the start";
  parameter Boolean angles_fixed = false "The start of the angles is given" annotation(Evaluate=true);
  parameter Units.AngularVelocity w_start[3] = {0, 0, 0} "Angular velocity at the start, in components of the turned frame";
  parameter Boolean w_fixed = false "The start of the angular velocity is given" annotation(Evaluate=true);
  parameter Real settle(unit="s", min=0) = 0.1 "Quaternions: what their length lacks of 1 dies out with this time constant";
protected
  constant Boolean always = false "The coordinates are used whatever is connected";
  final parameter Orientation R_start = Frames.angled(sequence, angles_start, zeros(3));
  final parameter Real Q_start[4] = Frames.quaternionOf(R_start.T);
  Orientation R_own "Orientation of these coordinates";
  Real Q[4](start=Q_start, each nominal=1) "Quaternions: vector part, scalar part";
  Units.Angle phi[3](start=angles_start) "Angles";
  Units.AngularVelocity phi_d[3] "Their rates";
initial equation
  if always or Connections.isRoot(a.R) then
    if coordinates == Coordinates.Quaternions then
      if angles_fixed then
        Q = Q_start;
      else
        Q*Q = 1;
      end if;
    elseif angles_fixed and coordinates == Coordinates.UnitQuaternions then
      Orientation.equalityConstraint(R_own, R_start) = zeros(3);
    elseif angles_fixed then
      phi = angles_start;
    end if;
    if w_fixed then
      R_own.w = w_start;
    end if;
  end if;
equation
  if not (always or Connections.isRoot(a.R)) then
    R_own = Frames.aligned();
    Q = {0, 0, 0, 1};
    phi = zeros(3);
    phi_d = zeros(3);
  elseif coordinates == Coordinates.Quaternions then
    R_own.T = Frames.quaternionMatrix(Math.unit(Q));
    der(Q) = Frames.quaternionRate(Q, R_own.w) + Q*(1 - Q*Q)/(2*settle);
    phi = zeros(3);
    phi_d = zeros(3);
  elseif coordinates == Coordinates.UnitQuaternions then
    R_own.T = Frames.quaternionMatrix(Q);
    R_own.w = Frames.quaternionSpin(Q, der(Q));
    Q*Q = 1;
    phi = zeros(3);
    phi_d = zeros(3);
  else
    R_own = Frames.angled(sequence, phi, phi_d);
    der(phi) = phi_d;
    Q = {0, 0, 0, 1};
  end if;
  annotation(Documentation(info="<html><p>Quaternions turn with <code>der(Q)</code> of the angular velocity; the length of their vector
    follows <code>der(Q Q) = (Q Q)(1 - Q Q)/settle</code>, so that rounding and errors of the method do not add up.</p></html>"));
end Attitude;
