within Kilohertz;
package Math "Functions that several rooms use"
  constant Real pi = 3.141592653589793 "Half the circumference of the unit circle";

  function interpolate "Straight lines between points; beyond the ends the first or last value"
    input Real x[:] "Rising places";
    input Real y[size(x, 1)] "Values there";
    input Real u "Where a value is wanted";
    output Real v "The value";
  protected
    Integer low = 1 "The last place that is not above u";
  algorithm
    for i in 2:size(x, 1) - 1 loop
      if x[i] <= u then
        low := i;
      end if;
    end for;
    v := if u <= x[1] then y[1] elseif u >= x[size(x, 1)] then y[size(x, 1)] else
      y[low] + (y[low + 1] - y[low])*(u - x[low])/(x[low + 1] - x[low]);
    annotation(Documentation(info="<html><p>All places are looked at, in every call: the time it takes is bounded and does not vary.</p></html>"));
  end interpolate;

  function positive "Rounded positive part"
    input Real x "Any number";
    input Real rounding "Width of the rounding at zero";
    output Real y "About max(x, 0)";
  algorithm
    y := (x + sqrt(x^2 + rounding^2))/2;
    annotation(Inline=true, Documentation(info="<html><p><code>(x + sqrt(x^2 + rounding^2))/2</code>: half the rounding at zero.</p></html>"));
  end positive;

  function length "Length of a vector"
    input Real v[:] "Components";
    output Real y "Root of the sum of their squares";
  algorithm
    y := sqrt(v*v);
    annotation(Inline=true, Documentation(info="<html><p><code>sqrt(v v)</code>.</p></html>"));
  end length;

  function unit "Direction of a vector"
    input Real v[:] "Components";
    output Real e[size(v, 1)] "The same with length 1";
  algorithm
    e := v/sqrt(v*v);
    annotation(Inline=true, Documentation(info="<html><p><code>v/sqrt(v v)</code>; a vector of length 0 has no direction.</p></html>"));
  end unit;

  function rising "The places of a table rise"
    input Real x[:] "Places";
    output Boolean ok "Each is above the one before";
  algorithm
    ok := true;
    for i in 2:size(x, 1) loop
      ok := ok and x[i] > x[i - 1];
    end for;
    annotation(Documentation(info="<html><p>For the checks of tables.</p></html>"));
  end rising;
end Math;
