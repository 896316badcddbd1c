package Axis "A hydraulic servo axis: differential cylinder, 4/3 valve with a PT2 spool, two line volumes"
  partial model Plant
    constant Real pi = 2*asin(1.0);
    parameter Real pS = 160e5 "supply";
    parameter Real pT = 2e5 "tank";
    parameter Real E = 1.4e9 "bulk modulus";
    parameter Real m = 500;
    parameter Real dK = 63e-3 "piston";
    parameter Real dR = 45e-3 "rod";
    parameter Real S = 0.5 "stroke";
    parameter Real VA0 = 1e-4;
    parameter Real VB0 = 1e-4;
    parameter Real VL = 5e-5 "line volume";
    parameter Real RL = 3e8 "line resistance";
    parameter Real d = 6000;
    parameter Real FL = 5000 "load";
    parameter Real GL = 1e-13 "leakage";
    parameter Real K = 40/60000/sqrt(35e5) "flow gain of an edge";
    parameter Real dpt = 1e5;
    parameter Real eps = 0.01;
    parameter Real wv = 2*pi*60;
    parameter Real Dv = 0.9;
    parameter Real Umax = 10;
    parameter Real AA = pi/4*dK^2;
    parameter Real AB = pi/4*(dK^2 - dR^2);
    Real x(start = 0.25, fixed = true);
    Real v(start = 0);
    Real pA(start = 6e6, nominal = 1e5);
    Real pB(start = 9e6, nominal = 1e5);
    Real pLA(start = 6e6, nominal = 1e5);
    Real pLB(start = 9e6, nominal = 1e5);
    Real y(start = 0, fixed = true);
    Real w(start = 0, fixed = true);
    Real u "V";
  protected
    Real so = (y + sqrt(y^2 + eps^2))/2;
    Real sm = (-y + sqrt(y^2 + eps^2))/2;
    Real QA = K*(so*phi(pS - pLA, dpt) - sm*phi(pLA - pT, dpt));
    Real QB = K*(sm*phi(pS - pLB, dpt) - so*phi(pLB - pT, dpt));
    Real qA = (pLA - pA)/RL;
    Real qB = (pLB - pB)/RL;
    Real ql = GL*(pA - pB);

    function phi "regularised square root"
      input Real dp;
      input Real dpt;
      output Real r;
    algorithm
      r := dp/(dp^2 + dpt^2)^0.25;
    end phi;
  initial equation
    der(v) = 0;
    der(pA) = 0;
    der(pB) = 0;
    der(pLA) = 0;
    der(pLB) = 0;
  equation
    der(x) = v;
    der(v) = (AA*pA - AB*pB - d*v - FL)/m;
    der(pA) = E/(VA0 + AA*x)*(qA - AA*v - ql);
    der(pB) = E/(VB0 + AB*(S - x))*(qB + AB*v + ql);
    der(pLA) = E/VL*(QA - qA);
    der(pLB) = E/VL*(QB - qB);
    der(y) = w;
    der(w) = wv^2*(u/Umax - y) - 2*Dv*wv*w;
  end Plant;

  model Open
    extends Plant;
  equation
    u = 2*sin(pi*time);
  end Open;

  model Closed
    extends Plant;
    parameter Real Kp = 300;
    parameter Real Kff = 32;
  equation
    u = Kp*(0.25 + 0.05*(1 - cos(pi*time/2)) - x) + Kff*0.05*pi/2*sin(pi*time/2);
  end Closed;

  model Driven "the same with the voltage as an input"
    extends Plant;
    input Real voltage(start = 0);
  equation
    u = voltage;
  end Driven;
end Axis;
