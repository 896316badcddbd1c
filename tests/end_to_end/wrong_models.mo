package WrongModels "Each model is wrong in one way"
  connector Pin
    Real v;
    flow Real i;
  end Pin;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Source
    Pin p;
    Pin n;
    parameter Real V = 10;
  equation
    p.v - n.v = V;
    p.i + n.i = 0;
  end Source;

  model Resistor
    Pin p;
    Pin n;
    parameter Real R = 1;
  equation
    p.v - n.v = R * p.i;
    p.i + n.i = 0;
  end Resistor;

  model Singular "two sources in parallel: their currents are nowhere determined"
    Source first(V = 10);
    Source second(V = 10);
    Ground ground;
  equation
    connect(first.p, second.p);
    connect(first.n, second.n);
    connect(first.n, ground.p);
  end Singular;

  model ConstrainedStart "the equations leave no state for the fixed start value of z"
    Real x;
    Real y;
    Real z(start = 1, fixed = true);
  equation
    x = 2 * time;
    x = z + 1;
    der(z) = y - x;
  end ConstrainedStart;

  model Tank
    parameter Real A = 2;
    Real level(start = 1, fixed = true);
    Real volume;
  equation
    volume = A * level;
    der(volume) = -0.1 * level;
  initial equation
    level = 3;
  end Tank;

  model ContradictoryStart "two initial values for one state"
    Tank tank;
  end ContradictoryStart;

  model Divider
    input Real u;
    Real y;
  equation
    y = 1 / u;
  end Divider;

  model DivisionByZero "the divisor is zero at the start"
    Divider divider(u = x);
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1 + 0.1 * divider.y;
  end DivisionByZero;

  model Valve
    parameter Real k = 1;
    Real q;
    Real dp;
  equation
    q * q + k = dp;
  end Valve;

  model NoSolution "q*q + 1 = 0 has no real solution at the start"
    Valve valve;
    Real x(start = 0, fixed = true);
  equation
    valve.dp = x * sin(valve.q);
    der(x) = valve.q;
  end NoSolution;

  model NoSolutionLater "the loop loses its solution in the middle of the run"
    Valve valve(q(start = 1));
    Real x(start = 0, fixed = true);
  equation
    valve.dp = 3 - 4 * time + 0.01 * sin(valve.q);
    der(x) = valve.q;
  end NoSolutionLater;

  model Outlet
    Real level(start = 1, fixed = true);
    Real flow_;
  equation
    flow_ = sqrt(level);
    der(level) = -1 - flow_;
  end Outlet;

  model NotANumber "the level falls below zero and sqrt with it"
    Outlet outlet;
  end NotANumber;

  class Table
    extends ExternalObject;

    function constructor
      input String file;
      output Table table;
      external "C" table = open_table(file) annotation(Include = "
#include <stdio.h>
#include <stdlib.h>
#include \"ModelicaUtilities.h\"
static void *open_table(const char *file)
{
    FILE *f = fopen(file, \"r\");
    if (f == NULL) {
        ModelicaFormatError(\"the table file %s cannot be opened\\n\", file);
    }
    fclose(f);
    return malloc(1);
}");
    end constructor;

    function destructor
      input Table table;
      external "C" close_table(table) annotation(Include = "
#include <stdlib.h>
static void close_table(void *table) { free(table); }");
    end destructor;
  end Table;

  function look_up
    input Table table;
    input Real u;
    output Real y;
    external "C" y = look_up_table(table, u) annotation(Include = "
static double look_up_table(void *table, double u) { (void)table; return 2 * u; }");
  end look_up;

  model Characteristic
    parameter String file = "pump.txt";
    Table table = Table(file);
    Real y;
  equation
    y = look_up(table, time);
  end Characteristic;

  model MissingTable
    Characteristic pump(file = "no_such_pump.txt");
  end MissingTable;

  model EdgeOfExpression
    Boolean b = time > 0.5;
    Boolean c = edge(b and time > 0.2);
  end EdgeOfExpression;

  model FasterEventClock
    Integer n(start = 0);
    Integer m(start = 0);
  equation
    when Clock(sin(20 * time) > 0) then
      n = previous(n) + 1;
    end when;
    m = superSample(n, 2);
  end FasterEventClock;

  model ClockedLoop
    Integer a;
    Integer b;
  equation
    when Clock(0.1) then
      a = b + 1;
      b = 2 * a;
    end when;
  end ClockedLoop;

  model NoStartOfRate
    Real x(start = 1);
    Real rate;
  equation
    der(x) = rate;
    0 = if initial() then x - 1 else rate - 2;
  end NoStartOfRate;

  model OneConstraintTwice
    Real x(start = 1), y, z, p, q;
  equation
    der(x) = p;
    der(y) = q;
    der(z) = p + q;
    x + y + z = 1;
    2 * x + 2 * y + 2 * z = 2;
  end OneConstraintTwice;

  function step_of
    input Real x;
    output Real y;
  algorithm
    y := if x > 1 then 1 else 2;
    annotation(Inline = false, derivative(noDerivative = x) = rate_of_step);
  end step_of;

  function rate_of_step
    input Real x;
    output Real rate;
  algorithm
    rate := 0;
  end rate_of_step;

  model ConstraintWithoutSlope
    Real x(start = 2), u;
  equation
    der(x) = u;
    step_of(x) = 1;
  end ConstraintWithoutSlope;

  record Pair
    Real x[2];
  end Pair;

  function sum_of_pairs
    input Real u;
    output Real y;
  protected
    Pair r[2];
  algorithm
    r.x := {{u, u}, {u, 2 * u}};
    y := r[2].x[2];
    annotation(Inline = false);
  end sum_of_pairs;

  model FieldOfAll
    Real y = sum_of_pairs(time);
  end FieldOfAll;

  model SingularForAWhile
    parameter Real k = 1;
    Real a, b, c, d, x(start = 0, fixed = true);
    Real u = noEvent(if time > 0.5 and time < 0.6 then 1 else 2);
  equation
    a + b + c = time;
    a + u * b + k * c = 2 * x;
    u * a + k * b + c + d = 1;
    u * a + k * b + c + u * d = 1 + x;
    der(x) = a;
  end SingularForAWhile;

  model NeverSettled
    Boolean b(start = false, fixed = true);
  equation
    b = not pre(b);
  end NeverSettled;

  model Chattering
    Real x(start = 0, fixed = true);
    discrete Real u(start = 1, fixed = true);
  equation
    der(x) = u;
    when x > 0 then
      u = -1;
    elsewhen x <= 0 then
      u = 1;
    end when;
  end Chattering;

  function sum_of_copies
    input Integer n;
    output Real y;
  protected
    Real a[n], b[n];
  algorithm
    for i in 1:n loop
      a[i] := i;
      b[i] := a[i];
    end for;
    y := sum(b);
  end sum_of_copies;

  model OutOfRoom
    Integer n(start = 10, fixed = true);
    Real y = sum_of_copies(n);
  equation
    when time > 0.5 then
      n = 400000;
    end when;
  end OutOfRoom;

  function element
    input Real table[:];
    input Integer i;
    output Real y;
  algorithm
    y := table[i];
    annotation(Inline = false);
  end element;

  model BeyondTheTable
    parameter Real table[3] = {1, 2, 3};
    Real x(start = 0, fixed = true);
  equation
    der(x) = element(table, if x > 0.5 then 4 else 1);
  end BeyondTheTable;

  model IntegerDivisionByZero
    Integer i(start = 1, fixed = true);
    Integer n = div(7, i);
  equation
    when time > 0.5 then
      i = 0;
    end when;
  end IntegerDivisionByZero;

  model Blowup
    Real x(start = 1, fixed = true);
  equation
    der(x) = x * x;
  end Blowup;

  function below_a_half
    input Real u;
    output Real y;
  algorithm
    assert(u < 0.5, "u is too large");
    y := u;
    annotation(Inline = false);
  end below_a_half;

  model FailingFunction
    Real x(start = 0, fixed = true);
    Real y(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(y) = below_a_half(x);
  end FailingFunction;

  model FailsAtStart
    Real x(start = 0.4, fixed = true);
  equation
    der(x) = 1;
    assert(x > 0.5, "x is too small");
  end FailsAtStart;

  function sum_to "compiled as a function, with two results"
    input Real x;
    input Integer n;
    output Real s = 0;
    output Real t = 1;
  algorithm
    for i in 1:n loop
      s := s + x;
      t := t*x;
    end for;
    annotation(Inline = false);
  end sum_to;

  model MissingTableFirst "what is computed after the table does not take the blame"
    extends MissingTable;
    parameter Real x = 1.5;
    parameter Integer n = 3;
    Real a;
    Real b;
  equation
    (a, b) = sum_to(x, n);
  end MissingTableFirst;
end WrongModels;
