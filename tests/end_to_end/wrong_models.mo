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
        ModelicaFormatError(\"the table file %s cannot be opened\", file);
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
end WrongModels;
