within Kilohertz;
block RealTime "How the model runs in real time: read by `khz run`, of no effect in a simulation"
  parameter Units.Time step = 1e-3 "Period of the task" annotation(Evaluate=true);
  parameter String solver = "" "Fixed-step method; empty: chosen for the model" annotation(Evaluate=true);
  parameter Units.Time duration = 0 "How long it runs; 0: until it is stopped" annotation(Evaluate=true);
  parameter Real time_scale(min=0) = 1 "Model time over wall time; 0: as fast as possible" annotation(Evaluate=true);
  parameter Integer priority(min=0, max=99) = 80 "SCHED_FIFO priority; 0: an ordinary process" annotation(Evaluate=true);
  parameter Integer cpu(min=-1) = -1 "Processor to stay on; -1: any" annotation(Evaluate=true);
  parameter String overrun = "catch_up" "After a miss: catch_up, skip, hold, safe or stop" annotation(Evaluate=true);
  parameter Integer grace(min=0) = 100 "Cycles at the start in which misses do not count" annotation(Evaluate=true);
  parameter Integer newton(min=0) = 0 "Newton iterations per stage; 0: what the method asks for" annotation(Evaluate=true);
  parameter String events = "none" "Location of events: none, mid, linear, catch_up, hermite or predict" annotation(Evaluate=true);
  parameter String inputs = "held" "Inputs between samples: held, linear or quadratic" annotation(Evaluate=true);
end RealTime;
