package Speed "Models whose steps are counted by step_instructions.py"
  model Arm "seven revolute joints in a row, 14 states"
    inner Modelica.Mechanics.MultiBody.World world(animateWorld = false, enableAnimation = false);
    Link link[7](
      n = {{0, 0, 1}, {0, 1, 0}, {0, 0, 1}, {0, 1, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}},
      r = {{0, 0, 0.34}, {0, 0, 0.02}, {0, 0.01, 0.4}, {0.02, 0, 0.03}, {0, 0, 0.38}, {0, 0.02, 0.05}, {0.03, 0, 0.1}},
      m = {5.7, 6.3, 3.5, 3.5, 3.5, 1.8, 1.2},
      d = {2, 2, 1.5, 1.5, 1, 1, 0.5});
  equation
    connect(world.frame_b, link[1].frame_a);
    for i in 1:6 loop
      connect(link[i].frame_b, link[i + 1].frame_a);
    end for;
    for i in 1:7 loop
      link[i].u = 4*sin(2*time + i);
    end for;
  end Arm;

  model Link "a driven joint with friction and a rigid body"
    Modelica.Mechanics.MultiBody.Interfaces.Frame_a frame_a;
    Modelica.Mechanics.MultiBody.Interfaces.Frame_b frame_b;
    parameter Real n[3] = {0, 0, 1}, r[3] = {0, 0, 1}, m = 1, d = 1;
    Modelica.Blocks.Interfaces.RealInput u "torque";
    Modelica.Mechanics.MultiBody.Joints.Revolute joint(
      n = n, useAxisFlange = true, phi(fixed = true, start = 0.1), w(fixed = true));
    Modelica.Mechanics.Rotational.Sources.Torque torque;
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation to_end(r = r);
    Modelica.Mechanics.MultiBody.Parts.Body body(
      m = m, r_CM = 0.5*r + {0.01, 0.02, 0}, I_11 = 0.02*m, I_22 = 0.03*m, I_33 = 0.01*m, I_21 = 0.001*m, I_31 = 0.002*m);
  equation
    torque.tau = u - d*joint.w;
    connect(torque.flange, joint.axis);
    connect(frame_a, joint.frame_a);
    connect(joint.frame_b, to_end.frame_a);
    connect(joint.frame_b, body.frame_a);
    connect(to_end.frame_b, frame_b);
  end Link;

  model Heat "heat conduction with constant coefficients, 99 states"
    parameter Integer n = 99;
    parameter Real a = 1e3, source = 400;
    Real T[n](each start = 300, each fixed = true, each nominal = 100);
  equation
    der(T[1]) = a*(source + 20*sin(time) - 2*T[1] + T[2]);
    for i in 2:n - 1 loop
      der(T[i]) = a*(T[i - 1] - 2*T[i] + T[i + 1]);
    end for;
    der(T[n]) = a*(T[n - 1] - T[n]);
  end Heat;

  model Beam "a flexible beam as rigid segments joined by revolute springs, 2*n states"
    parameter Integer n = 36;
    inner Modelica.Mechanics.MultiBody.World world(enableAnimation = false);
    Segment segment[n](each l = 1/n, each m = 7.8/n);
  equation
    connect(world.frame_b, segment[1].frame_a);
    for i in 1:n - 1 loop
      connect(segment[i].frame_b, segment[i + 1].frame_a);
    end for;
  end Beam;

  model Segment "a joint with spring and damper, and a slender body"
    Modelica.Mechanics.MultiBody.Interfaces.Frame_a frame_a;
    Modelica.Mechanics.MultiBody.Interfaces.Frame_b frame_b;
    parameter Real l = 1, m = 1, c = 3e3, d = 3;
    Modelica.Mechanics.MultiBody.Joints.Revolute joint(
      n = {0, 0, 1}, useAxisFlange = true, phi(fixed = true), w(fixed = true));
    Modelica.Mechanics.Rotational.Sources.Torque torque;
    Modelica.Mechanics.MultiBody.Parts.FixedTranslation to_end(r = {l, 0, 0});
    Modelica.Mechanics.MultiBody.Parts.Body body(m = m, r_CM = {l/2, 0, 0}, I_11 = 1e-6, I_22 = m*l^2/12, I_33 = m*l^2/12);
  equation
    torque.tau = -c*joint.phi - d*joint.w;
    connect(torque.flange, joint.axis);
    connect(frame_a, joint.frame_a);
    connect(joint.frame_b, to_end.frame_a);
    connect(joint.frame_b, body.frame_a);
    connect(to_end.frame_b, frame_b);
  end Segment;
end Speed;
