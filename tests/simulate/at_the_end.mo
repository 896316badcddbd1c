model AtTheEnd "a tick a little before the end, and a crossing at it"
  Real x(start = 0, fixed = true);
  Real v = 330*sin(2*3.141592653589793*50*time);
  Integer ticks(start = 0, fixed = true);
  discrete Real last(start = 0, fixed = true);
equation
  der(x) = v;
  when sample(0.01, 0.01) then
    ticks = pre(ticks) + 1;
  end when;
  when v > 0 then
    last = time;
  end when;
end AtTheEnd;
