model Bushings "A carrier on rods, each between two bushings"
  import Kilohertz.MultiBody.*;
  parameter Integer N = 2 "Rods";
  parameter Real m_rod = 1 "Mass of a rod";
  inner World world;
  Body carrier(m = 40, I = diagonal({1, 1, 1}), coordinates = Coordinates.Angles, states = true, angles_fixed = true, w_fixed = true, r_0(each start = 0, each fixed = true), v_0(each start = 0, each fixed = true));
  Body rod[N](each m = m_rod, each I = m_rod*diagonal({0.02, 0.001, 0.02}), each r_CM = {0, 0.2, 0}, each coordinates = Coordinates.Angles, each states = true, each angles_fixed = true, each w_fixed = true, r_0(start = {{0.2*i, -0.4, 0.05*i^2} for i in 1:N}, each fixed = true), v_0(each start = 0, each fixed = true));
  Translation top[N](each r = {0, 0.4, 0}), foot[N](r = {{0.2*i, -0.4, 0.05*i^2} for i in 1:N}), arm[N](r = {{0.2*i, 0, 0.05*i^2} for i in 1:N});
  Forces.Bushing below[N](each c = {2e6, 2e6, 2e6}), above[N](each c = {2e6, 2e6, 2e6});
  Forces.WorldForce push(force = {1000, 2000, 500}*sin(12*time));
equation
  for i in 1:N loop
    connect(world.b, foot[i].a);
    connect(foot[i].b, below[i].a);
    connect(below[i].b, rod[i].a);
    connect(rod[i].a, top[i].a);
    connect(top[i].b, above[i].a);
    connect(above[i].b, arm[i].b);
    connect(arm[i].a, carrier.a);
  end for;
  connect(push.b, carrier.a);
  annotation(experiment(StopTime = 0.2));
end Bushings;

model Massless "The same with rods without mass: their coordinates follow from the damping of the bushings"
  import Kilohertz.MultiBody.*;
  parameter Integer N = 2 "Rods";
  inner World world;
  Body carrier(m = 40, I = diagonal({1, 1, 1}), coordinates = Coordinates.Angles, states = true, angles_fixed = true, w_fixed = true, r_0(each start = 0, each fixed = true), v_0(each start = 0, each fixed = true));
  Joints.Free rod[N](each coordinates = Coordinates.Angles);
  Translation top[N](each r = {0, 0.4, 0}), foot[N](r = {{0.2*i, -0.4, 0.05*i^2} for i in 1:N}), arm[N](r = {{0.2*i, 0, 0.05*i^2} for i in 1:N});
  Forces.Bushing below[N](each c = {2e6, 2e6, 2e6}), above[N](each c = {2e6, 2e6, 2e6});
  Forces.WorldForce push(force = {1000, 2000, 500}*sin(12*time));
equation
  for i in 1:N loop
    connect(world.b, foot[i].a);
    connect(foot[i].b, below[i].a);
    connect(foot[i].b, rod[i].a);
    connect(below[i].b, rod[i].b);
    connect(rod[i].b, top[i].a);
    connect(top[i].b, above[i].a);
    connect(above[i].b, arm[i].b);
    connect(arm[i].a, carrier.a);
  end for;
  connect(push.b, carrier.a);
  annotation(experiment(StopTime = 0.2));
end Massless;
