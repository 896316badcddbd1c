within Kilohertz.Examples;
package Slides "Rods, stops and friction: what each component of Translational does"
  model StickSlip "A mass pulled through a spring creeps by jerks"
    Translational.Sources.Speed pull(T=1e-3);
    Translational.SpringDamper spring(c=2000, d=1);
    Translational.Mass mass(m=1, s(start=0, fixed=true), v(start=0, fixed=true));
    Translational.Guide guide(f_0=20, peak=2);
    Translational.Sensors.Force force;
  equation
    pull.v_ref = 0.1;
    connect(pull.b, spring.a);
    connect(spring.b, force.a);
    connect(force.b, mass.a);
    connect(mass.b, guide.a);
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>It sticks until the spring has 40 N, slips against 20 N, and
      sticks again.</p></html>"));
  end StickSlip;

  model Creeping "The same with the smooth law"
    extends StickSlip(guide(redeclare model Law = Translational.Friction.Smooth));
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Without a peak of the force the jerks are gone: what a law
      leaves out is part of the choice.</p></html>"));
  end Creeping;

  model BetweenStops "A mass thrown against a stop and back, braked at last"
    Translational.Mass mass(m=2, s(start=0.5, fixed=true), v(start=1, fixed=true));
    Translational.EndStop stop(s_min=0, s_max=1, c=1e5, d=100);
    Translational.Brake brake(f_max=10);
    Translational.Fixed wall;
    Translational.Sensors.Position position;
    Translational.Sensors.Speed speed;
  equation
    brake.u = if time < 2 then 0 else 1;
    connect(wall.a, stop.a);
    connect(stop.b, mass.a);
    connect(mass.b, brake.a);
    connect(position.a, mass.b);
    connect(speed.a, mass.b);
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>Each blow leaves the speed that spring and damper of the stop
      leave; the brake stops it at a constant deceleration.</p></html>"));
  end BetweenStops;

  model Buffer "A rack drives a mass against a buffer"
    Rotational.Sources.ConstantTorque drive(tau=5);
    Rotational.Inertia pinion(J=0.05, phi(start=0, fixed=true), w(start=0, fixed=true));
    Translational.RackAndPinion rack(r=0.1);
    Translational.Rod rod(L=0.2);
    Translational.Mass mass(m=5);
    Translational.ElasticGap buffer(gap=0.3, c=1e4, d=200);
    Translational.Fixed wall(s=1);
    Translational.Sources.Force wind;
    Translational.Damper air(d=2);
    Translational.Fixed ground;
  equation
    wind.f = -10;
    connect(drive.b, pinion.a);
    connect(pinion.b, rack.a);
    connect(rack.b, rod.a);
    connect(rod.b, mass.a);
    connect(mass.b, buffer.a);
    connect(buffer.b, wall.a);
    connect(wind.b, mass.b);
    connect(ground.a, air.a);
    connect(air.b, mass.b);
    annotation(experiment(StopTime=3, Tolerance=1e-8), Documentation(info="<html><p>50 N at the rack against 10 N of wind; it rests where the
      buffer takes 40 N.</p></html>"));
  end Buffer;
end Slides;
