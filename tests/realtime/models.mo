package Models "Small models with inputs and outputs for the tests of the real-time room"
  model Lag "A first-order lag"
    input Real u;
    output Real y(start = 0, fixed = true);
    parameter Real T = 0.05;
    parameter Real rate = 1/T "Depends on T";
  equation
    der(y) = rate*(u - y);
  end Lag;

  model Gears "A choice and a length"
    type Gear = enumeration(low, high);
    parameter Gear gear = Gear.low;
    parameter Boolean on = true;
    parameter Real s(unit = "m") = 1;
    output Real y = if on then s*(if gear == Gear.high then 10 else 1) else 0;
  end Gears;

  model Gains "Parameters in arrays"
    parameter Real k[2] = {1, 2};
    parameter Real m[2, 2] = [1, 2; 3, 4];
    output Real y = k[1] + 10*k[2] + 100*m[2, 1];
  end Gains;

  model Gain "Output follows the input at once"
    input Real u;
    output Real y;
    parameter Real k = 2;
  equation
    y = k*u;
  end Gain;

  model Bounded "Its values have limits"
    type Mode = enumeration(slow, fast);
    input Real u(min = -1, max = 1);
    parameter Real k(min = 0, max = 10) = 2;
    parameter Mode mode = Mode.slow;
    output Real y = if mode == Mode.fast then k*u else u;
  end Bounded;

  model Metres "A length in two units"
    input Real u(unit = "m");
    output Real y(unit = "m") = u;
    output Real mm(unit = "mm") = 1000*u;
  end Metres;

  model Rows "Arrays in and out"
    input Real u[2,2];
    output Real y[2,2] = u + [1, 2; 3, 4];
    Kilohertz.Examples.Decay inside[2];
  end Rows;

  model Clock "Knows the time"
    output Real y(start = 0, fixed = true);
  equation
    der(y) = 1;
  end Clock;

  model Swing "A pendulum; nothing needs its energy"
    Real phi(start = 1, fixed = true);
    Real w(start = 0, fixed = true);
    Real energy = 0.5*w*w - 9.81*cos(phi);
    Real twice = 2*phi;
    Real age = time;
  equation
    der(phi) = w;
    der(w) = -9.81*sin(phi);
  end Swing;

  model Ends "Ends by itself"
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
    when x > 0.05 then
      terminate("enough");
    end when;
  end Ends;

  model Talks "Warns, says and fails in its own words"
    function say
      input Real x;
      output Real y;
    external "C" y = khz_test_talk(x)
      annotation(Include = "
        #include \"ModelicaUtilities.h\"
        static double khz_test_talk(double x)
        {
            if (x > 0.0245) {
                ModelicaFormatMessage(\"half way, at %.3f\", x);
            }
            return x;
        }");
    end say;
    parameter Boolean ends = false;
    parameter Real ends_below = -1;
    parameter Boolean fails_at_once = false;
    Real x(start = 0, fixed = true);
    Real said = say(x);
  equation
    der(x) = 1;
    assert(x < 0.0105, "warm: " + String(x, significantDigits = 3), AssertionLevel.warning);
    assert(x < 0.0305, "hot: " + String(x, significantDigits = 3));
    when initial() then
      assert(not fails_at_once, "too hot to start");
      if x < ends_below then
        terminate("nothing to do");
      end if;
    end when;
    when ends and x > 0.0355 then
      terminate("enough at " + String(x, significantDigits = 3));
    end when;
  end Talks;

  model Fading "Goes through the numbers below the smallest normal one"
    Real x(start = 1e-300, fixed = true);
    Real faint = 1e-7*x;
    discrete Real d(start = 3e-308, fixed = true);
    output Real y = 1e7*faint;
  equation
    der(x) = -200*x;
    when sample(0, 0.01) then
      d = 0.9*pre(d);
    end when;
  end Fading;

  function hang "Does not come back from what is positive"
    input Real u;
    output Real y;
  algorithm
    y := 0;
    while u > 0 or y < 0 loop
      y := y + u*exp(-y);
    end while;
  end hang;

  model Hangs "A step without an end from the given time on"
    output Real y(start = 0, fixed = true);
    Real load;
    parameter Real at = 0.05;
  equation
    der(y) = 1 + load;
    load = hang(y - at);
  end Hangs;

  model Naps "Once, for 30 ms, it waits for something that is not the processor"
    impure function nap
      input Real t;
      output Real y;
    external "C" y = khz_test_nap(t)
      annotation(Include = "
        #include <poll.h>
        static double khz_test_nap(double t)
        {
            if (t > 0.1495 && t < 0.1505) {
                (void)poll(0, 0, 30);
            }
            return t;
        }");
    end nap;
    discrete Real y(start = 0, fixed = true);
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
    when sample(0, 0.001) then
      y = nap(time);
    end when;
  end Naps;

  class Box "A number kept in C"
    extends ExternalObject;
    function constructor
      input Real start;
      output Box box;
      external "C" box = khz_test_box(start)
        annotation(Include = "
#ifndef KHZ_TEST_BOX
#define KHZ_TEST_BOX
#include <stdlib.h>
static void *khz_test_box(double start) { double *b = (double *)malloc(sizeof(double)); *b = start; return b; }
static void khz_test_unbox(void *b) { free(b); }
static double khz_test_read(void *b) { return *(double *)b; }
static double khz_test_count(void *b, double by) { return *(double *)b += by; }
#endif
");
    end constructor;
    function destructor
      input Box box;
      external "C" khz_test_unbox(box);
    end destructor;
  end Box;

  pure function read "Gives what the box was made with"
    input Box box;
    output Real y;
    external "C" y = khz_test_read(box);
  end read;

  function count "Changes the box: without a keyword it counts as impure"
    input Box box;
    input Real by;
    output Real y;
    external "C" y = khz_test_count(box, by);
  end count;

  model Reads "An external object that only ever gives what it was made from"
    Box box = Box(3);
    Real x(start = 0, fixed = true);
  equation
    der(x) = read(box);
  end Reads;

  model Remembers "An external object with a memory of its own"
    Box box = Box(3);
    discrete Real n(start = 0, fixed = true);
  equation
    when sample(0, 0.01) then
      n = count(box, time);
    end when;
  end Remembers;
end Models;
