within Kilohertz.MultiBody;
package Frames "Calculations with orientations"
  function toWorld "Components in the world of a vector given in a frame"
    input Orientation R;
    input Real v[3] "In the frame";
    output Real v_0[3] "In the world";
  algorithm
    v_0 := transpose(R.T)*v;
    annotation(derivative(noDerivative=R)=toWorldRate, InlineAfterIndexReduction=true);
  end toWorld;

  function toWorldRate "Rate of toWorld: the frame turns with its angular velocity"
    input Orientation R;
    input Real v[3] "In the frame";
    input Real v_der[3] "Rate of its components";
    output Real rate[3] "In the world";
  algorithm
    rate := toWorld(R, v_der + cross(R.w, v));
    annotation(Inline=true);
  end toWorldRate;

  function toLocal "Components in a frame of a vector given in the world"
    input Orientation R;
    input Real v_0[3] "In the world";
    output Real v[3] "In the frame";
  algorithm
    v := R.T*v_0;
    annotation(derivative(noDerivative=R)=toLocalRate, InlineAfterIndexReduction=true);
  end toLocal;

  function toLocalRate "Rate of toLocal: the frame turns with its angular velocity"
    input Orientation R;
    input Real v_0[3] "In the world";
    input Real v_0_der[3] "Rate of its components";
    output Real rate[3] "In the frame";
  algorithm
    rate := toLocal(R, v_0_der) - cross(R.w, toLocal(R, v_0));
    annotation(Inline=true);
  end toLocalRate;

  function aligned "The orientation of the world"
    output Orientation R;
  algorithm
    R := Orientation(T=identity(3), w=zeros(3));
    annotation(Inline=true);
  end aligned;

  function turned "A frame that stands against another as a relative orientation says"
    input Orientation R_a "Of the first frame";
    input Orientation R_rel "From the first to the second";
    output Orientation R_b "Of the second frame";
  algorithm
    R_b := Orientation(T=R_rel.T*R_a.T, w=toLocal(R_rel, R_a.w) + R_rel.w);
    annotation(Inline=true);
  end turned;

  function between "How a second frame stands against a first"
    input Orientation R_a "Of the first frame";
    input Orientation R_b "Of the second frame";
    output Orientation R_rel "From the first to the second";
  algorithm
    R_rel := Orientation(T=R_b.T*transpose(R_a.T), w=R_b.w - toLocal(R_b, toWorld(R_a, R_a.w)));
    annotation(Inline=true);
  end between;

  function back "The first frame against the second"
    input Orientation R_rel "The second against the first";
    output Orientation R_back;
  algorithm
    R_back := Orientation(T=transpose(R_rel.T), w=-toWorld(R_rel, R_rel.w));
    annotation(Inline=true);
  end back;

  function about "A turn about an axis that stands still in both frames"
    input Real e[3] "Unit vector";
    input Units.Angle phi;
    input Units.AngularVelocity w "Rate of phi";
    output Orientation R_rel;
  algorithm
    R_rel := Orientation(T=[e]*transpose([e]) + (identity(3) - [e]*transpose([e]))*cos(phi) - skew(e)*sin(phi), w=e*w);
    annotation(Inline=true);
  end about;

  function axis "A unit vector along one of the axes"
    input Integer i "1 for x, 2 for y, 3 for z";
    output Real e[3];
  algorithm
    e := {if i == 1 then 1 else 0, if i == 2 then 1 else 0, if i == 3 then 1 else 0};
    annotation(Inline=true);
  end axis;

  function angled "Three turns one after another, about axes of the turned frame"
    input Integer sequence[3] "Their axes: 1 for x, 2 for y, 3 for z";
    input Units.Angle phi[3];
    input Units.AngularVelocity phi_d[3] "Rates of phi";
    output Orientation R_rel;
  algorithm
    R_rel := turned(turned(about(axis(sequence[1]), phi[1], phi_d[1]), about(axis(sequence[2]), phi[2], phi_d[2])), about(axis(sequence[3]), phi[3], phi_d[3]));
    annotation(Inline=true);
  end angled;

  function quaternionMatrix "The matrix of a quaternion of length 1"
    input Real Q[4] "Vector part, scalar part";
    output Real T[3,3];
  algorithm
    T := 2*([Q[1:3]]*transpose([Q[1:3]]) - Q[4]*skew(Q[1:3])) + (2*Q[4]^2 - 1)*identity(3);
    annotation(Inline=true);
  end quaternionMatrix;

  function quaternionRate "Rate of a quaternion that turns"
    input Real Q[4] "Vector part, scalar part";
    input Units.AngularVelocity w[3] "Angular velocity, in components of the turned frame";
    output Real rate[4](each unit="1/s");
  algorithm
    rate := cat(1, (Q[4]*w + cross(Q[1:3], w))/2, {-Q[1:3]*w/2});
    annotation(Inline=true);
  end quaternionRate;

  function quaternionSpin "Angular velocity of a quaternion whose rate is known"
    input Real Q[4] "Vector part, scalar part";
    input Real rate[4](each unit="1/s");
    output Units.AngularVelocity w[3] "In components of the turned frame";
  algorithm
    w := 2*(Q[4]*rate[1:3] - rate[4]*Q[1:3] - cross(Q[1:3], rate[1:3]));
    annotation(Inline=true);
  end quaternionSpin;

  function quaternionOf "The quaternion of a matrix"
    input Real T[3,3];
    output Real Q[4] "Vector part, scalar part";
  protected
    Real four[4] = {1 + T[1, 1] - T[2, 2] - T[3, 3], 1 - T[1, 1] + T[2, 2] - T[3, 3], 1 - T[1, 1] - T[2, 2] + T[3, 3], 1 + T[1, 1] + T[2, 2] + T[3, 3]} "Four times their squares";
    Real s;
  algorithm
    s := sqrt(max(four));
    if four[4] >= max(four[1:3]) then
      Q := {(T[2, 3] - T[3, 2])/(2*s), (T[3, 1] - T[1, 3])/(2*s), (T[1, 2] - T[2, 1])/(2*s), s/2};
    elseif four[1] >= max(four[2:3]) then
      Q := {s/2, (T[1, 2] + T[2, 1])/(2*s), (T[1, 3] + T[3, 1])/(2*s), (T[2, 3] - T[3, 2])/(2*s)};
    elseif four[2] >= four[3] then
      Q := {(T[1, 2] + T[2, 1])/(2*s), s/2, (T[2, 3] + T[3, 2])/(2*s), (T[3, 1] - T[1, 3])/(2*s)};
    else
      Q := {(T[1, 3] + T[3, 1])/(2*s), (T[2, 3] + T[3, 2])/(2*s), s/2, (T[1, 2] - T[2, 1])/(2*s)};
    end if;
  end quaternionOf;

  function smallAngles "The axis of a relative orientation times the sine of its angle"
    input Orientation R_rel;
    output Units.Angle phi[3];
  algorithm
    phi := {R_rel.T[2, 3] - R_rel.T[3, 2], R_rel.T[3, 1] - R_rel.T[1, 3], R_rel.T[1, 2] - R_rel.T[2, 1]}/2;
    annotation(Inline=true);
  end smallAngles;

  function cardan "Angles about x, y and z, one after another, of an orientation"
    input Orientation R_rel;
    output Units.Angle phi[3] "The second between minus and plus a right angle";
  algorithm
    phi := {atan2(-R_rel.T[3, 2], R_rel.T[3, 3]), asin(max(-1, min(1, R_rel.T[3, 1]))), atan2(-R_rel.T[2, 1], R_rel.T[1, 1])};
  end cardan;

  function axes "An orientation from two directions"
    input Real x[3] "Direction of the x axis";
    input Real y[3] "Where the y axis points, apart from its part along x";
    output Orientation R_rel;
  protected
    Real e_x[3] = Math.unit(x);
    Real e_z[3] = Math.unit(cross(x, y));
  algorithm
    R_rel := Orientation(T={e_x, cross(e_z, e_x), e_z}, w=zeros(3));
  end axes;
end Frames;
