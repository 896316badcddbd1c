package Machines "State machines (MLS 17)"
  connector IntegerOut = output Integer;

  block State
  end State;

  model Delayed "Active for five ticks: at 10 to 14 ms"
    State a0, a1, a2;
    Boolean in1 = activeState(a1), in2 = activeState(a2);
    Integer first(start = -1), last(start = -1), n(start = -1);
    Integer begins = hold(first), ends = hold(last);
  equation
    initialState(a0);
    transition(a0, a1, sample(time, Clock(1, 1000)) > 0.0095);
    transition(a1, a2, ticksInState() >= 5, immediate = false);
    n = previous(n) + 1;
    first = if previous(first) < 0 and in1 then n else previous(first);
    last = if in1 then n else previous(last);
  end Delayed;

  model Timed "Two lights that change by time"
    State red, green;
    Boolean go = activeState(green);
    Boolean light = hold(go);
    Clock c = Clock(1, 10);
    Integer n(start = 0);
  equation
    n = sample(1, c) + previous(n);
    initialState(red);
    transition(red, green, timeInState() >= 0.3 - 1e-6 and n > 0);
    transition(green, red, timeInState() >= 0.2 - 1e-6, immediate = false);
  end Timed;

  model Merged "Two states count one variable up and down; previous is that of the merged variable"
    inner Integer v(start = 0);
    Integer y = hold(v);
    Clock c = Clock(1, 10);
    block Up
      outer output Integer v;
    equation
      v = previous(v) + 2;
    end Up;
    block Down
      outer output Integer v;
    equation
      v = previous(v) - 1;
    end Down;
    Up up;
    Down down;
    Integer n(start = 0);
  equation
    n = sample(1, c) + previous(n);
    initialState(up);
    transition(up, down, v >= 6, immediate = false);
    transition(down, up, v <= 0 and n > 0, immediate = false);
  end Merged;

  block Counter
    parameter Integer step = 1;
    output Integer i(start = 0);
  equation
    i = previous(i) + step;
  end Counter;

  model Reset "One transition starts its target anew, the other goes on where it was"
    Counter a, b(step = 10);
    Clock c = Clock(1, 10);
    Integer n(start = 0);
    Integer ia = hold(a.i), ib = hold(b.i);
  equation
    n = sample(1, c) + previous(n);
    initialState(a);
    transition(a, b, mod(n, 3) == 0, immediate = false, reset = false);
    transition(b, a, mod(n, 3) == 1, immediate = false, reset = true);
  end Reset;

  model Priorities "Of two that could fire the one with the smaller number does"
    State a, b, d;
    Clock c = Clock(1, 10);
    Integer n(start = 0);
    Boolean inB = activeState(b), inD = activeState(d);
    Boolean atB = hold(inB), atD = hold(inD);
  equation
    n = sample(1, c) + previous(n);
    initialState(a);
    transition(a, b, n > 2, priority = 2);
    transition(a, d, n > 2, priority = 1);
  end Priorities;

  model Connected "Outputs of two states connected to one variable"
    Clock c = Clock(1, 10);
    Integer n(start = 0);
    block Source
      parameter Integer k = 1;
      IntegerOut y;
    equation
      y = k;
    end Source;
    Source one(k = 1), two(k = 2);
    IntegerOut y(start = 0);
    Integer seen = hold(y);
  equation
    n = sample(1, c) + previous(n);
    initialState(one);
    transition(one, two, n > 3, immediate = false);
    connect(one.y, y);
    connect(two.y, y);
  end Connected;

  model Hierarchical "Two machines in one state; it is left when both are done, and entered anew"
    inner Integer v(start = 0);
    Integer y = hold(v);
    Boolean inSecond = activeState(second);
    Boolean at = hold(inSecond);
    Clock c = Clock(1, 10);
    Integer n(start = 0);
    block First
      inner outer output Integer v;
      inner Integer count(start = 0);
      block A
        outer output Integer v;
      equation
        v = previous(v) + 2;
      end A;
      block B
        outer output Integer v;
        outer output Integer count;
      equation
        v = previous(v) - 1;
        count = previous(count) + 1;
      end B;
      A a;
      B b;
      State done;
      Counter x;
      State end_;
    equation
      initialState(a);
      transition(a, b, v >= 6, immediate = false);
      transition(b, done, count >= 2, immediate = false);
      initialState(x);
      transition(x, end_, x.i >= 7, immediate = false);
    end First;
    block Second
      outer output Integer v;
    equation
      v = previous(v) + 5;
    end Second;
    First first;
    Second second;
    Integer counted = hold(first.x.i);
  equation
    n = sample(1, c) + previous(n);
    initialState(first);
    transition(first, second, n > 0, immediate = false, synchronize = true);
    transition(second, first, v >= 20, immediate = false);
  end Hierarchical;

  model Kept "A state that is entered without a reset goes on counting; what it gives is a variable of its own"
    inner Integer v(start = 0);
    block Counting
      outer output Integer v;
      Integer n(start = 0);
    equation
      n = previous(n) + 1;
      v = n;
    end Counting;
    Counting a;
    Counting b;
    Clock c = Clock(1, 10);
    Integer k(start = 0);
    Integer y = hold(v);
  equation
    k = sample(1, c) + previous(k);
    initialState(a);
    transition(a, b, ticksInState() >= 3 and k > 0, immediate = false);
    transition(b, a, ticksInState() >= 3 and k > 0, immediate = false, reset = false);
  end Kept;

  model FiresByWhatItDecides "At once, by what a state gives that is active if it does not fire"
    extends Kept;
  equation
    transition(a, b, v > 5, priority = 2);
  end FiresByWhatItDecides;

  model WaitsForItself
    extends Hierarchical;
  equation
    transition(first, second, n > 5, immediate = true, synchronize = true, priority = 2);
  end WaitsForItself;

  model InAlgorithm "A state with an algorithm and arrays"
    block Filling
      Real x[2](start = {1, 2});
      Integer n(start = 0);
    algorithm
      n := previous(n) + 1;
    equation
      x = 2*previous(x);
    end Filling;
    Filling a;
    State b;
    Clock c = Clock(1, 10);
    Integer k(start = 0);
    Real x2 = hold(a.x[2]);
    Integer n = hold(a.n);
  equation
    k = sample(1, c) + previous(k);
    initialState(a);
    transition(a, b, k >= 3, immediate = false);
  end InAlgorithm;

  model WithWhens
    block Up
      Clock c = Clock(1, 10);
      outer output Integer n;
      Integer k(start = 0);
    equation
      when c then
        k = previous(k) + 1;
        n = previous(n) + 2;
        assert(k < 4 and n > 0, "above");
      end when;
    end Up;
    block Down
      outer output Integer n;
      Integer low(start = 0);
    equation
      when Clock(1, 10) then
        n = previous(n) - 1;
        assert(n < 7, "below");
      end when;
    equation
      when n <= 4 then
        low = previous(low) + 1;
      end when;
    end Down;
    inner Integer n(start = 0);
    Up up;
    Down down;
  equation
    initialState(up);
    transition(up, down, n >= 6, immediate = false);
    transition(down, up, n <= 3, immediate = false);
  end WithWhens;

  model FailingInside
    extends WithWhens(n(start = 10));
  end FailingInside;

  model TwoInitial
    State a, b;
  equation
    initialState(a);
    initialState(b);
    transition(a, b, sample(time, Clock(1, 10)) > 1);
  end TwoInitial;

  model SamePriority
    State a, b, d;
  equation
    initialState(a);
    transition(a, b, sample(time, Clock(1, 10)) > 1);
    transition(a, d, sample(time) > 2);
  end SamePriority;

  model NoState
    State a, b, d;
    Boolean q = activeState(d);
  equation
    initialState(a);
    transition(a, b, sample(time, Clock(1, 10)) > 1);
  end NoState;

  model Outside
    Integer n = ticksInState();
  end Outside;

  model NoBlock
    State a;
    Real b;
  equation
    initialState(a);
    transition(a, b, sample(time, Clock(1, 10)) > 1);
  end NoBlock;

  model ContinuousInside
    block Moving
      Real x(start = 0);
    equation
      der(x) = 1;
    end Moving;
    Moving a;
    State b;
  equation
    initialState(a);
    transition(a, b, sample(time, Clock(Clock(1, 10), solverMethod = "ExplicitEuler")) > 1);
  end ContinuousInside;
end Machines;
