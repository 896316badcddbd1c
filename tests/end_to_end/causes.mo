package Causes "One small model for each cause of a wrong result that was mended"
  model LeftLimit "pre of an algebraic variable is its value just before the event"
    Boolean up = time > 1;
    discrete Real target(start = 0, fixed = true);
    discrete Real at(start = 0, fixed = true);
    Real y = target + (if time < at + 1 then time - at else 1);
    discrete Real kept(start = -1, fixed = true);
  equation
    when up then
      target = 10;
      at = time;
      kept = pre(y);
    end when;
  end LeftLimit;

  model ByHomotopy "Of two solutions the one that the simplified model leads to"
    Real x(start = 0);
  equation
    0 = homotopy(sin(x)*(x - 100), x - 100);
  end ByHomotopy;

  record Medium
    String name;
    Real cp;
  end Medium;

  function energy
    input Medium medium;
    input Real T;
    output Real u;
  algorithm
    u := 0;
    for i in 1:integer(medium.cp) loop
      u := u + T;
    end for;
    assert(medium.name <> "", "a medium has a name");
    annotation(Inline = false);
  end energy;

  model RecordWithText "The derivative of a function whose record holds a String"
    parameter Medium medium = Medium("thing", 3);
    Real T(start = 1, fixed = true);
    Real u = energy(medium, T);
  equation
    der(u) = -3*T;
  end RecordWithText;
end Causes;
