model Pend "in Cartesian coordinates: its states change along the way"
  parameter Real L = 1, g = 9.81, m = 1;
  Real x(start=0.8), y(start=-0.6), vx(start=0), vy, F;
equation
  x^2+y^2=L^2; der(x)=vx; der(y)=vy; m*der(vx)=-F*x/L; m*der(vy)=-F*y/L-m*g;
end Pend;
