package Numbers "Models for steps in single precision"
  model Lorenz
    parameter Real rho = 28;
    output Real x(start=1, fixed=true), y(start=2, fixed=true), z(start=20, fixed=true);
  equation
    der(x) = 10*(y - x);
    der(y) = x*(rho - z) - y;
    der(z) = x*y - 8/3*z;
  end Lorenz;

  model Hybrid "Time events at decimals, samples, a state event, a nonlinear and a linear loop, a function"
    parameter Real begins = 0.1;
    parameter Real mass = 2;
    parameter Real every = 0.01;
    Real x(start=0.4, fixed=true), v(start=0, fixed=true), w, q, a, b;
    Real phase = sin(6.28*time);
    discrete Real sum(start=0, fixed=true);
    discrete Integer n(start=0, fixed=true);
    output Boolean has_begun = time >= begins;
  protected
    function spring
      input Real s[2];
      output Real f;
    algorithm
      f := 33.3*s[1] + 0.7*tanh(s[2]);
    end spring;
  equation
    der(x) = v;
    mass*der(v) = -spring({x, v}) + (if has_begun then 0.7 else 0.2) + 0.1*q + 0.05*w + 0.01*a;
    q + 0.1*q^3 = x;
    w = mod(time, 0.3);
    2*a + 0.5*b = x;
    a*mass - b = v;
    when sample(0.05, every) then
      sum = pre(sum) + x;
      n = pre(n) + 1;
    end when;
    when x < -0.1 then
      reinit(v, -0.5*pre(v));
    end when;
  end Hybrid;

  model Stiff "A row of cells with friction at its end"
    Real T[12](each start=300, each fixed=true);
    Real f;
  equation
    der(T[1]) = 50*(T[2] - T[1]) + 200*(400 - T[1]);
    for i in 2:11 loop
      der(T[i]) = 50*(T[i - 1] - 2*T[i] + T[i + 1]);
    end for;
    der(T[12]) = 50*(T[11] - T[12]) - f;
    f = if T[12] > 320 then 3*(T[12] - 320) else 0;
  end Stiff;

  model Outside "External functions: scalars, arrays in and out, an object that keeps numbers, a matrix by columns"
    class Line "y = points[1] + points[2]*x, kept in an object"
      extends ExternalObject;
      function constructor
        input Real points[:];
        output Line line;
        external "C" line = line_new(points, size(points, 1)) annotation(Include="
void *line_new(const double *p, size_t n) { double *k = malloc(2 * sizeof *k); k[0] = p[0]; k[1] = p[n - 1]; return k; }
void line_free(void *k) { free(k); }
double never(double x) { return x < 1e9 ? 1.7e308 : 0; }
double line_at(void *k, double x) { return ((double *)k)[0] + ((double *)k)[1]*x; }
void scaled(const double *a, size_t n, double k, double *b, double *sum)
{
  *sum = 0;
  for (size_t i = 0; i < n; i++) { b[i] = k*a[i]; *sum += b[i]; }
}");
      end constructor;
      function destructor
        input Line line;
        external "C" line_free(line);
      end destructor;
    end Line;
    function at
      input Line line;
      input Real x;
      output Real y;
      external "C" y = line_at(line, x);
    end at;
    function scaled
      input Real a[:];
      input Real k;
      output Real b[size(a, 1)];
      output Real total;
      external "C" scaled(a, size(a, 1), k, b, total);
    end scaled;
    function never
      input Real x;
      output Real y;
      external "C" y = never(x);
    end never;
    Real due = never(x);
    Line line = Line({0.1, 7, 0.3});
    Real x(start=1, fixed=true);
    Real b[3], total, now;
  equation
    der(x) = -at(line, x);
    (b, total) = scaled({x, 2*x, 1}, 0.5);
    now = at(line, time);
  end Outside;

  model HandsRecords
    record Pair
      Real a, b;
    end Pair;
    function f
      input Pair p;
      output Real y;
      external "C" y = pair_sum(p) annotation(Include="double pair_sum(const void *p) { return ((const double *)p)[0]; }");
    end f;
    Real x(start=1, fixed=true);
  equation
    der(x) = -f(Pair(x, 2));
  end HandsRecords;

  model Amplifier "A gain of 15000 between two limits, around which resistors close a loop"
    parameter Real gain = 15000, limit = 15;
    Real u(start=10, fixed=true), i(start=0.1), out;
  equation
    der(u) = -u;
    out = smooth(0, if gain*(u - 1e4*i) > limit then limit elseif gain*(u - 1e4*i) < -limit then -limit else gain*(u - 1e4*i));
    10*i = out - 1e4*i;
  end Amplifier;

  model Lost "Numbers beyond singles, and an instant that is kept"
    parameter Real tiny = 1e-60;
    parameter Real k = 2;
    Real x(start=1, fixed=true);
    discrete Real next(start=0.5, fixed=true);
  equation
    der(x) = -k*x + tiny + (if x > 1e60 then 1e-50 else 0);
    when time >= pre(next) then
      next = time + 0.01;
    end when;
  end Lost;

  model Patient "A search for more digits than singles have"
    function root
      input Real a;
      output Real y = 1;
    protected
      Real step = 1;
    algorithm
      while abs(step) > 1e-12 loop
        step := (a/y - y)/2;
        y := y + step;
      end while;
    end root;
    parameter Real a = 7;
    Real x;
  initial equation
    x = root(a);
  equation
    der(x) = -x;
  end Patient;
end Numbers;
