within Kilohertz.MultiBody;
package Sensors "What frames do, and what goes through them"
  partial model Absolute "At one frame"
    Frame a "What is measured" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
  equation
    a.f = zeros(3);
    a.t = zeros(3);
    annotation(Icon(graphics={Ellipse(extent={{-70,70},{70,-70}}, lineColor={95,95,95}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-70,0}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end Absolute;

  partial model Between "Between two frames that it joins without moving them"
    extends TwoFrames;
    annotation(Icon(graphics={Ellipse(extent={{-70,70},{70,-70}}, lineColor={95,95,95}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Line(points={{-90,0},{-70,0}}), Line(points={{70,0},{90,0}})}));
  end Between;

  model Position "Where a frame is in the world"
    extends Absolute;
    Blocks.RealOutput r[3](each unit="m") "Position" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    r = a.r_0;
    annotation(Icon(graphics={Text(extent={{-50,25},{50,-25}}, textString="r")}), Documentation(info="<html><p>Three components in the world.</p></html>"));
  end Position;

  model Velocity "How fast a frame moves in the world"
    extends Absolute;
    Blocks.RealOutput v[3](each unit="m/s") "Velocity" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
  equation
    v = der(a.r_0);
    annotation(Icon(graphics={Text(extent={{-50,25},{50,-25}}, textString="v")}), Documentation(info="<html><p>Three components in the world.</p></html>"));
  end Velocity;

  model Angles "How a frame stands in the world, and how it turns"
    extends Absolute;
    Blocks.RealOutput phi[3](each unit="rad") "Angles about x, y and z, one after another" annotation(Placement(transformation(extent={{100,30},{120,50}})));
    Blocks.RealOutput w[3](each unit="rad/s") "Angular velocity, in components of the frame" annotation(Placement(transformation(extent={{100,-50},{120,-30}})));
  equation
    phi = Frames.cardan(a.R);
    w = a.R.w;
    annotation(Icon(graphics={Text(extent={{-50,25},{50,-25}}, textString="phi, w")}), Documentation(info="<html><p>The second angle lies between minus and plus a right angle; there the other two are not determined.</p></html>"));
  end Angles;

  model RelativePosition "Where a second frame is, seen from a first"
    extends Between;
    Blocks.RealOutput r[3](each unit="m") "From a to b, in components of a" annotation(Placement(transformation(extent={{-10,-10},{10,10}}, origin={0,-110}, rotation=-90)));
  equation
    r = Frames.toLocal(a.R, b.r_0 - a.r_0);
    a.f = zeros(3);
    a.t = zeros(3);
    b.f = zeros(3);
    b.t = zeros(3);
    annotation(Icon(graphics={Text(extent={{-50,25},{50,-25}}, textString="r")}), Documentation(info="<html><p>Joins nothing: the frames move as they would without it.</p></html>"));
  end RelativePosition;

  model Cut "Force and torque that go through"
    extends Between;
    Blocks.RealOutput f[3](each unit="N") "Force from b onto a, in components of a" annotation(Placement(transformation(extent={{-10,-10},{10,10}}, origin={-40,-110}, rotation=-90)));
    Blocks.RealOutput t[3](each unit="N.m") "Torque from b onto a, in components of a" annotation(Placement(transformation(extent={{-10,-10},{10,10}}, origin={40,-110}, rotation=-90)));
  equation
    Connections.branch(a.R, b.R);
    a.r_0 = b.r_0;
    a.R = b.R;
    zeros(3) = a.f + b.f;
    zeros(3) = a.t + b.t;
    f = b.f;
    t = b.t;
    annotation(Icon(graphics={Text(extent={{-50,25},{50,-25}}, textString="f, t")}), Documentation(info="<html><p>Joins its frames rigidly; <code>f = b.f</code>, <code>t = b.t</code>.</p></html>"));
  end Cut;
end Sensors;
