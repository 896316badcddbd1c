within Kilohertz.Vehicles;
package Tyres "Forces between wheel and road"
  partial model Tyre "What every tyre knows: how the contact point moves, and the load"
    parameter Units.Length r_0(min=1e-3) = 0.318 "Radius without load";
    parameter Units.TranslationalStiffness c_z = 220e3 "Stiffness of the tyre against the road";
    parameter Units.TranslationalDamping d_z = 200 "Damping against the road";
    parameter Real c_roll(min=0) = 0.01 "Rolling resistance over load";
    parameter Units.AngularVelocity w_roll(min=1e-9) = 0.5 "Speed at which rolling resistance has about three quarters of its value";
    input Units.Length r_s "From the wheel centre to the road, in the plane of the wheel";
    input Units.Velocity v_s "Rate of r_s";
    input Units.Velocity v_x "Speed of the contact point along the road, in the direction in which the wheel points, without spin";
    input Units.Velocity v_y "Its speed to the left of that";
    input Units.AngularVelocity w "Spin, positive where the wheel rolls forward";
    input Real lean "Sine of the camber: positive where the top of the wheel leans to the right";
    input Real mu "Friction of the road over that of the road on which the tyre was measured";
    Units.Length deflection = r_0 - r_s "How far the tyre is pressed in; negative: in the air";
    Units.Length r_D "Dynamic radius: the wheel rolls without slip where v_x = r_D w";
    Units.Force F_x "Force along the wheel";
    Units.Force F_y "Force to the left";
    Units.Force F_z "Load: force of the road, upward";
    Units.Torque M_z "Torque about the normal of the road";
    Units.Torque M_y "Rolling resistance: torque against the spin";
  equation
    F_z = noEvent(if deflection > 0 then max(0, c_z*deflection - d_z*v_s) else 0);
    r_D = (2*r_0 + noEvent(min(r_s, r_0)))/3;
    M_y = c_roll*F_z*r_s*tanh(w/w_roll);
    annotation(Icon(graphics={Ellipse(extent={{-80,80},{80,-80}}, lineColor={60,60,60}, fillColor={90,90,90}, fillPattern=FillPattern.Solid), Ellipse(extent={{-48,48},{48,-48}}, lineColor={60,60,60}, fillColor={235,235,235}, fillPattern=FillPattern.Solid), Line(points={{-100,-80},{100,-80}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>The load is <code>c_z deflection - d_z v_s</code> where the tyre touches the road and this pushes; else 0. No event: the force has a
        kink there. <code>r_D = (2 r_0 + r_s)/3</code>.</p></html>"));
  end Tyre;

  model TMeasy "Rill's tyre: a curve by five numbers for each direction, and two deflections"
    extends Tyre;
    parameter Units.Force F_n(min=1) = 3089.1 "Load at which the first of two numbers holds; the second holds at twice that";
    parameter Units.Force slope[2, 2] = [115220, 223456; 65350, 117790] "Slope of the force at zero slip: along, across";
    parameter Units.Force F_max[2, 2] = [3804.8, 7315.6; 3423.1, 6094.4] "Largest force: along, across";
    parameter Units.Force F_slide[2, 2] = [2883.7, 5026.5; 2412.7, 3661.4] "Force of sliding: along, across";
    parameter Real s_max[2, 2] = [0.106, 0.1005; 0.1269, 0.1195] "Slip of the largest force: along, across";
    parameter Real s_slide[2, 2] = [0.95, 0.95; 1, 1] "Slip at which it slides: along, across";
    parameter Real trail_0[2] = {0.107, 0.1537} "Trail at zero slip over the length of the contact patch";
    parameter Real s_trail[2] = {0.1347, 0.1556} "Slip at which the trail is gone";
    parameter Units.TranslationalStiffness c[2] = {250e3, 180e3} "Stiffness of the tyre along, across";
    parameter Units.TranslationalDamping d[2] = {500, 500} "Damping along, across";
    parameter Real c_camber = 0.08 "Slip for a unit of camber";
    parameter Units.Velocity v_N(min=1e-6) = 0.05 "Added to the speed of rolling, which slip is divided by";
    Units.Length e[2](each start=0, each fixed=true, each stateSelect=StateSelect.always) "Deflections of the tyre along and across";
    Units.Velocity e_d[2] = der(e) "Their rates";
    Real slip[2] "Slip along, across";
    Units.Force steady[2] "Force at this slip once the deflections have settled";
    Real L(unit="m") "Length of the contact patch";
  protected
    constant Real eps = 1e-12 "Square of a slip that is none";
    constant Units.Force F_least = 1 "Load of the curves where the wheel is in the air";
    constant Real mu_least = 0.01 "Grip of the curves on a road that has less; forces go on to zero";
    Real q "Load over F_n";
    Real k "Grip of the curves";
    Units.Velocity v[2] "Speed of sliding along, across";
    Units.Velocity v_t "Speed of rolling, never zero";
    Units.Force dF[2] "Slopes at this load";
    Units.Force FM[2] "Largest forces at this load";
    Units.Force FS[2] "Forces of sliding at this load";
    Real sM[2] "Slips of the largest forces at this load";
    Real sS[2] "Slips at which it slides at this load";
    Real h[2] "What slips are divided by so that both directions are alike";
    Real s "Slip of both directions";
    Real c_s[2] "Cosine and sine of its direction";
    Units.Force slope_s "Slope in this direction";
    Units.Force F_M "Largest force in this direction";
    Units.Force F_S "Force of sliding in this direction";
    Real s_M "Slip of the largest force in this direction";
    Real s_S "Slip of sliding in this direction";
    Real a "Slip over that of the largest force";
    Real b "How far from the largest force to sliding, 0 to 1";
    Units.Force G "Force over slip";
    Units.Force g[2] "The same along, across";
    Real fade "0: no trail left, 1: at zero slip";
    Real grounded "1 on the ground, 0 in the air; times what grip is missing in the curves";
  equation
    q = noEvent(max(F_z, F_least))/F_n;
    k = noEvent(max(mu, mu_least));
    grounded = noEvent(if F_z > F_least then mu/k else 0);
    for i in 1:2 loop
      dF[i] = byLoad(slope[i], q);
      FM[i] = k*byLoad(F_max[i], q);
      FS[i] = k*byLoad(F_slide[i], q);
      sM[i] = k*(s_max[i, 1] + (s_max[i, 2] - s_max[i, 1])*(q - 1));
      sS[i] = k*(s_slide[i, 1] + (s_slide[i, 2] - s_slide[i, 1])*(q - 1));
      h[i] = sM[i]/(sM[1] + sM[2]) + FM[i]/dF[i]/(FM[1]/dF[1] + FM[2]/dF[2]);
      slip[i] = -v[i]/v_t;
      c_s[i] = sqrt((slip[i]/h[i])^2 + eps/2)/s;
      g[i] = G/h[i];
      steady[i] = grounded*g[i]*slip[i];
      e_d[i]*(v_t*d[i] + g[i]) = -(v_t*c[i]*e[i] + g[i]*v[i]);
    end for;
    v = {v_x - r_D*w, v_y + c_camber*r_D*noEvent(abs(w))*lean};
    v_t = r_D*noEvent(abs(w)) + v_N;
    s = sqrt((slip[1]/h[1])^2 + (slip[2]/h[2])^2 + eps);
    slope_s = sqrt((dF[1]*h[1]*c_s[1])^2 + (dF[2]*h[2]*c_s[2])^2);
    F_M = sqrt((FM[1]*c_s[1])^2 + (FM[2]*c_s[2])^2);
    F_S = sqrt((FS[1]*c_s[1])^2 + (FS[2]*c_s[2])^2);
    s_M = sqrt((sM[1]/h[1]*c_s[1])^2 + (sM[2]/h[2]*c_s[2])^2);
    s_S = sqrt((sS[1]/h[1]*c_s[1])^2 + (sS[2]/h[2]*c_s[2])^2);
    a = s/s_M;
    b = noEvent(max(0, min(1, (s - s_M)/(s_S - s_M))));
    G = noEvent(if s < s_M then slope_s/(1 + a*(a + slope_s*s_M/F_M - 2)) else (F_M - (F_M - F_S)*b^2*(3 - 2*b))/s);
    F_x = grounded*(c[1]*e[1] + d[1]*e_d[1]);
    F_y = grounded*(c[2]*e[2] + d[2]*e_d[2]);
    L = 2*sqrt(r_0*noEvent(max(F_z, F_least))/c_z);
    fade = noEvent(min(1, abs(slip[2])/(s_trail[1] + (s_trail[2] - s_trail[1])*(q - 1))));
    M_z = -L*(trail_0[1] + (trail_0[2] - trail_0[1])*(q - 1))*(1 - 3*fade^2 + 2*fade^3)*F_y;
    annotation(Documentation(info="<html><p>Slips <code>-(v_x - r_D w)/v_t</code> and <code>-v_y/v_t</code> with <code>v_t = r_D |w| + v_N</code>, where camber adds
      <code>c_camber r_D |w| lean</code> to <code>v_y</code>. Of both, divided by <code>h</code>, the length <code>s</code> and the direction are taken; the force over <code>s</code> rises with
      <code>slope</code>, has its largest value <code>F_max</code> at <code>s_max</code>, falls to <code>F_slide</code> at <code>s_slide</code> and stays there. Forces and slopes are parabolas of the load through 0 and the two
      numbers, slips are straight lines.</p>
      <p>Two deflections <code>e</code> bring the force there: <code>F = c e + d der(e)</code> with <code>der(e) = -(v_t c e + g v)/(v_t d + g)</code>, where <code>g</code> is the force over the slip. In the steady state
      <code>c e</code> is the force of the curve; the relaxation length is <code>g/c</code>. At rest <code>der(e)</code> is minus the speed: a spring and a damper to the road.</p>
      <p>After Rill and Castro, Road Vehicle Dynamics.</p></html>"));
  end TMeasy;

  model MagicFormula "Pacejka's tyre: Magic Formula 5.2 of pure and combined slip, and two deflections"
    extends Tyre;
    parameter Units.Length R_0 = 0.344 "Radius of the formula";
    parameter Units.Force F_n(min=1) = 0.81*4850 "Nominal load of the formula";
    parameter Real PCX = 1.6411 "Shape along";
    parameter Real PDX[2] = {1.1739, -0.16395} "Friction along, and over load";
    parameter Real PEX[4] = {0.46403, 0.25022, 0.067842, -3.76e-5} "Curvature along, over load, over its square, and by sign";
    parameter Real PKX[3] = {22.303, 0.48896, 0.21253} "Slope along, over load, and its exponent";
    parameter Real PTX[3] = {2.3657, 1.4112, 0.56626} "Relaxation length along, over load, and its exponent";
    parameter Real PCY = 1.3507 "Shape across";
    parameter Real PDY[3] = {1.0489, -0.18033, -2.8821} "Friction across, over load, over the square of camber";
    parameter Real PEY[2] = {-0.00747, -0.00632} "Curvature across, and over load";
    parameter Real PKY[3] = {-21.92, 2.0012, -0.024778} "Slope across, load of the largest slope, over camber";
    parameter Real PHY = 0.031415 "Slip for camber";
    parameter Real PVY[2] = {-0.32931, -0.69553} "Force for camber over load, and over load";
    parameter Real PTY[2] = {2.1439, 1.9829} "Relaxation length across, load of the largest";
    parameter Real RBX[2] = {13.276, -13.778} "Slope of what slip across leaves of the force along, and over slip along";
    parameter Real RCX = 1.2568 "Its shape";
    parameter Real RBY[2] = {7.1433, 9.1916} "Slope of what slip along leaves of the force across, and over slip across";
    parameter Real RCY = 1.0719 "Its shape";
    parameter Real QBZ[3] = {10.904, -1.8412, -0.52041} "Slope of the trail, over load, over its square";
    parameter Real QCZ = 1.2136 "Its shape";
    parameter Real QDZ[2] = {0.093509, -0.0092183} "Trail over radius, and over load";
    parameter Real QEZ[2] = {-1.5697, 0.33394} "Curvature of the trail, and over load";
    parameter Real slip_max[2] = {0.4, 0.6} "Slip at which the deflections stop: along, across";
    parameter Units.TranslationalDamping d_low = 500 "Damping at rest";
    parameter Units.Velocity v_low(min=1e-3) = 2.5 "Speed at which it is gone";
    Units.Length e[2](each start=0, each fixed=true, each stateSelect=StateSelect.always) "Deflections of the contact patch along and across";
    Real kappa "Slip along";
    Units.Angle alpha "Slip angle: positive where the contact point moves to the left";
  protected
    constant Units.Force F_least = 1 "Load of the curves where the wheel is in the air";
    constant Real mu_least = 0.01 "Grip of the curves on a road that has less; forces go on to zero";
    Units.Force F "Load of the curves";
    Real df "Load over the nominal one, less 1";
    Real k "Grip of the curves";
    Real grounded "1 on the ground, 0 in the air; times what grip is missing in the curves";
    Units.Length relax[2] "Relaxation lengths";
    Units.Velocity v[2] "Speed of sliding along, across";
    Real rate[2] "Rates of the deflections, were they free";
    Units.Force D[2] "Largest forces";
    Units.Force K[2] "Slopes";
    Real E[2] "Curvatures";
    Real x[2] "Slips with those of camber";
    Real b[2] "Slips times slope over largest force";
    Units.Force alone[2] "Forces of one slip alone";
    Real left[2] "What the other slip leaves of them";
    Real low "1 at rest, 0 at speed";
    Units.Length trail "Of the side force behind the wheel centre";
    Real b_z "Slip of the trail";
  equation
    F = noEvent(max(F_z, F_least));
    df = F/F_n - 1;
    k = noEvent(max(mu, mu_least));
    grounded = noEvent(if F_z > F_least then mu/k else 0);
    relax = {F*(PTX[1] + PTX[2]*df)*exp(-PTX[3]*df)*R_0/F_n, PTY[1]*sin(2*atan(F/(PTY[2]*F_n)))*(1 - PKY[3]*noEvent(abs(lean)))*R_0};
    v = {v_x - r_D*w, v_y};
    for i in 1:2 loop
      rate[i] = -v[i] - noEvent(abs(v_x))*e[i]/relax[i];
      der(e[i]) = noEvent(if e[i] > slip_max[i]*relax[i] and rate[i] > 0 or e[i] < -slip_max[i]*relax[i] and rate[i] < 0 then 0 else rate[i]);
      b[i] = K[i]*x[i]/((if i == 1 then PCX else PCY)*D[i]);
      alone[i] = D[i]*sin((if i == 1 then PCX else PCY)*atan(b[i] - E[i]*(b[i] - atan(b[i]))));
    end for;
    kappa = e[1]/relax[1];
    alpha = atan(-e[2]/relax[2]);
    x = {kappa, alpha + PHY*lean};
    D = {k*(PDX[1] + PDX[2]*df)*F, k*(PDY[1] + PDY[2]*df)*(1 - PDY[3]*lean^2)*F};
    K = {F*(PKX[1] + PKX[2]*df)*exp(PKX[3]*df), PKY[1]*F_n*sin(2*atan(F/(PKY[2]*F_n)))*(1 - PKY[3]*noEvent(abs(lean)))};
    E = {noEvent(min(1, (PEX[1] + PEX[2]*df + PEX[3]*df^2)*(1 - PEX[4]*sign(kappa)))), PEY[1] + PEY[2]*df};
    left = {cos(RCX*atan(RBX[1]*cos(atan(RBX[2]*kappa))*alpha)), cos(RCY*atan(RBY[1]*cos(atan(RBY[2]*alpha))*kappa))};
    low = noEvent(max(0, 1 - abs(v_x)/v_low));
    F_x = grounded*(left[1]*alone[1] - d_low*low*v[1]);
    F_y = grounded*(left[2]*(alone[2] + k*F*(PVY[1] + PVY[2]*df)*lean) - d_low*low*v[2]);
    b_z = (QBZ[1] + QBZ[2]*df + QBZ[3]*df^2)*alpha;
    trail = F*(QDZ[1] + QDZ[2]*df)*R_0/F_n*cos(QCZ*atan(b_z - (QEZ[1] + QEZ[2]*df)*(b_z - atan(b_z))))*cos(alpha);
    M_z = -trail*F_y;
    annotation(Documentation(info="<html><p>Each force is <code>D sin(C atan(B x - E (B x - atan(B x))))</code> with <code>B = K/(C D)</code>, where <code>D</code>, <code>K</code> and <code>E</code> depend on the load; the other slip leaves
      <code>cos(C atan(B x))</code> of it. Numbers are named as in the formula. Shifts of conicity and ply steer and those along are left out, so that a car is symmetric and stands still; so is the side force of slip along.</p>
      <p>Deflections of the contact patch are states: <code>der(e) = -v - |v_x| e/relax</code>, slips are <code>e</code> over the relaxation lengths. At rest a damping force is added, which ends at <code>v_low</code>, and deflections stop where the
      tyre slides. After Pacejka, Tyre and Vehicle Dynamics.</p></html>"));
  end MagicFormula;

  function byLoad "A parabola of the load through zero and two numbers"
    input Real y[2] "At q = 1, at q = 2";
    input Real q "Load over that of the first number";
    output Real v "At this load";
  algorithm
    v := q*(2*y[1] - y[2]/2 - (y[1] - y[2]/2)*q);
    annotation(Inline=true);
  end byLoad;
end Tyres;
