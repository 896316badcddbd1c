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

  function smooth "A curve through points, without corners: no higher and no lower than they are; beyond the ends straight on"
    input Real x[:] "Rising places, two at least";
    input Real y[size(x, 1)] "Values there";
    input Real u "Where a value is wanted";
    output Real v[2] "The value, and the slope";
  protected
    Integer low = 1 "The last place but one, or the last that is not above u";
    Real h "From this place to the next";
    Real rise "Slope of the straight line between them";
    Real m_0 "Slope at this place";
    Real m_1 "Slope at the next";
    Real t "Where between them, 0 to 1";
  algorithm
    for i in 2:size(x, 1) - 1 loop
      if x[i] <= u then
        low := i;
      end if;
    end for;
    h := x[low + 1] - x[low];
    rise := (y[low + 1] - y[low])/h;
    m_0 := if low == 1 then rise else bend((y[low] - y[max(low - 1, 1)])/(x[low] - x[max(low - 1, 1)]), rise);
    m_1 := if low == size(x, 1) - 1 then rise else bend(rise, (y[min(low + 2, size(x, 1))] - y[low + 1])/(x[min(low + 2, size(x, 1))] - x[low + 1]));
    t := (u - x[low])/h;
    if u < x[1] then
      v := {y[1] + rise*(u - x[1]), rise};
    elseif u > x[size(x, 1)] then
      v := {y[size(x, 1)] + rise*(u - x[size(x, 1)]), rise};
    else
      v := {y[low] + h*t*(m_0 + t*(3*rise - 2*m_0 - m_1 + t*(m_0 + m_1 - 2*rise))), m_0 + t*(2*(3*rise - 2*m_0 - m_1) + 3*t*(m_0 + m_1 - 2*rise))};
    end if;
    annotation(Documentation(info="<html><p>A cubic between two points; its slope at a point is the harmonic mean of the slopes of the lines on both sides, and 0 where these
      have different signs. At the ends it has the slope of the last line. All places are looked at, in every call.</p></html>"));
  end smooth;

  function bend "Slope of a smooth curve where two lines meet"
    input Real a "Slope of the line before";
    input Real b "Slope of the line after";
    output Real m "Harmonic mean; 0 at a peak";
  algorithm
    m := if a*b > 0 then 2*a*b/(a + b) else 0;
    annotation(Documentation(info="<html><p><code>2 a b/(a + b)</code> where both have one sign.</p></html>"));
  end bend;

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
