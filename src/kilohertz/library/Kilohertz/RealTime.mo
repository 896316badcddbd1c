within Kilohertz;
block RealTime "How the model runs in real time: read by `khz run` and `khz build`, of no effect in a simulation"
  parameter Units.Time duration = 0 "How long it runs; 0: until it is stopped" annotation(Evaluate=true);
  parameter Real time_scale(min=0) = 1 "Model time over wall time; 0: as fast as possible" annotation(Evaluate=true);
  parameter Integer priority(min=0, max=99) = 80 "SCHED_FIFO priority; 0: an ordinary process" annotation(Evaluate=true);
  parameter Integer cpu(min=-1) = -1 "Processor to stay on; -1: any" annotation(Evaluate=true);
  parameter String overrun = "catch_up" "After a miss: catch_up, skip, hold, safe or stop" annotation(Evaluate=true);
  parameter Integer grace(min=0) = 100 "Cycles at the start in which misses do not count" annotation(Evaluate=true);
  // generated from solvers/settings.py: begin
  parameter String solver = "auto" "a fixed-step method, or auto, which tries some; off-line also cvode and ida" annotation(Evaluate=true);
  parameter Units.Time step(min=1e-09, max=1000000) = 0.001 "period of fixed steps" annotation(Evaluate=true);
  parameter Real tolerance(min=1e-16, max=1) = 1e-06 "relative, of cvode and ida, and of the run that auto compares with" annotation(Evaluate=true);
  parameter Units.Time max_step(min=0, max=100000000) = 0.0 "longest step of cvode and ida, and of the run that auto compares with; 0: as they find" annotation(Evaluate=true);
  parameter String events = "none" "where an event inside a step is handled; none: at its end (none, mid, linear, catch-up, hermite, predict, predict-quadratic, exact)" annotation(Evaluate=true);
  parameter Integer newton(min=1, max=1000) = 2 "Newton iterations per stage of a diagonally implicit method (index-1 form: as many as it needs)" annotation(Evaluate=true);
  parameter Integer loop_newton(min=1, max=1000) = 6 "cap of Newton iterations in each nonlinear loop of the model" annotation(Evaluate=true);
  parameter Integer event_cap(min=1, max=100000) = 16 "cap of passes of an event iteration" annotation(Evaluate=true);
  parameter Integer mode_cap(min=0, max=100000) = 0 "cap of turns in a step in which mixed loops search for a mode, beyond the first in each pass; each pass after the third takes five; 0: by the model" annotation(Evaluate=true);
  parameter Integer events_per_step(min=1, max=1000) = 4 "events located in one step by catch-up and exact" annotation(Evaluate=true);
  parameter Integer jacobian_every(min=1, max=1000000) = 1 "renew the Jacobian every so many steps, or earlier where iterations by it diverge" annotation(Evaluate=true);
  parameter Boolean jacobian_spread = false "make the next Jacobian a few columns in each step, until it is due (jacobian_every)" annotation(Evaluate=true);
  parameter Integer internal_steps(min=1, max=1000) = 1 "equal steps of the whole model in each step, inputs sampled once; with auto at most so many" annotation(Evaluate=true);
  parameter String input_mode = "held" "inputs over a step (held, linear, quadratic)" annotation(Evaluate=true);
  parameter Boolean inline = false "join implicit stages with the equations of the model" annotation(Evaluate=true);
  parameter Boolean index1 = false "index-1 form: the method keeps the unknowns of nonlinear loops, no loop is iterated on in a step" annotation(Evaluate=true);
  parameter String implicit[:] = fill("", 0) "mixed mode (imex1, ars222, ars443): these states implicit, the others explicit; auto takes the fast ones" annotation(Evaluate=true);
  parameter String substeps[:] = fill("", 0) "parts of a step for the states of a part of the model (imex1, ars222); texts such as motor=4" annotation(Evaluate=true);
  parameter String number = "double" "what a step computes in; time is a double in both (double, single)" annotation(Evaluate=true);
  // generated from solvers/settings.py: end
  annotation(Icon(graphics={Ellipse(extent={{-70,70},{70,-70}}, lineColor={160,60,0}, fillColor={255,245,235}, fillPattern=FillPattern.Solid), Line(points={{0,0},{0,50}}), Line(points={{0,0},{35,-20}}),
    Text(extent={{-100,-75},{100,-105}}, textString="%step s")}),
    Documentation(info="<html><p>Put one into a model, and <code>khz run</code> and <code>khz build</code> take step, method and policies from it;
      what a command or a scenario says goes before it. Devices are blocks of their own: <code>Device</code>.
      It has no equations: a simulation is what it was.</p></html>"));
end RealTime;
