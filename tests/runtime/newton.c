#include "check.h"
#include "khz_newton.h"

enum { ROOM = 64 };

static void circle_and_line(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = x[0] * x[0] + x[1] * x[1] - 25.0;
    f[1] = x[0] - x[1] + 1.0;
}

static void circle_jacobian(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    jacobian[0] = 2.0 * x[0];
    jacobian[1] = 2.0 * x[1];
    jacobian[2] = 1.0;
    jacobian[3] = -1.0;
}

static void steep(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = atan(10.0 * (x[0] - 2.0)); /* plain Newton runs away from far off */
}

static void only_positive(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = log(x[0]) + 1.0; /* not a number left of zero */
}

static void without_root(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = x[0] * x[0] + 1.0;
}

static void reciprocal(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = 7e7 - 1.0 / x[0]; /* no value at the guess, the root far from the nominal value */
}

static void contradiction(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = 1e26 * (x[0] - x[1]); /* each residual is nothing beside what an unknown changes of it */
    f[1] = 1e26 * (x[0] - x[1]) + 5e15;
}

static void contradiction_jacobian(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    (void)x;
    jacobian[0] = jacobian[2] = 1e26;
    jacobian[1] = jacobian[3] = -1e26;
}

static void dependent(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = atan(10.0 * (x[0] - x[1] - 1.0)); /* the same twice, but for rounding of what it is made of */
    f[1] = atan(10.0 * (x[0] - x[1] - 1.0) + 4e-12);
}

static void dependent_jacobian(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    const double z = 10.0 * (x[0] - x[1] - 1.0);
    jacobian[0] = jacobian[2] = 10.0 / (1.0 + z * z);
    jacobian[1] = -jacobian[0];
    jacobian[3] = -jacobian[0] * (1.0 + 1e-13); /* a step as long as the unknowns, by rounding alone */
}

/* Fails left of zero and leaves a text in the arena, as an assertion with a message does. */
static void talkative(void *instance, const double *x, double *f)
{
    khz_context *const c = (khz_context *)instance;
    if (x[0] < 0.0) {
        c->status = KHZ_ASSERTION;
        c->arena_used += 24;
    }
    f[0] = x[0] * x[0] + 1.0;
}

/* However many points a search tries, failures leave nothing behind. */
static void failures_leave_the_arena(void)
{
    const double nominal = 1.0;
    double work[ROOM], x = 1.0;
    int32_t order;
    khz_context c = {0};
    const khz_newton_problem p = {.n = 1,
                                  .residual = talkative,
                                  .nominal = &nominal,
                                  .max_iterations = 8,
                                  .rescue_iterations = 8,
                                  .tolerance = 1e-10};
    CHECK(khz_newton(&p, &c, &c, &x, work, &order) == KHZ_NO_CONVERGENCE);
    CHECK(c.arena_used <= 24); /* of the last evaluation, whose failure is told */
}

static double input;

/* An amplifier of gain 1e4 with limits of 15 V, fed back through 1 kOhm, and the current of its 30 V supply.  The
 * supply's residual keeps its sign when a step goes from one limit to the other. */
static void amplifier(void *instance, const double *x, double *f)
{
    (void)instance;
    const double v = 1e3 * x[0];
    const double out = fmin(15.0, fmax(-15.0, 1e4 * (input - v)));
    f[0] = v - out;
    f[1] = 30.0 * x[1] + 1e-3 * out * v + x[0] * x[1];
}

/* Three damped iterations and three bold ones, as a stepper caps them, from both limits and between. */
static void amplifier_under_a_cap(void)
{
    static const double inputs[] = {1.0, 3.0, 5.0, 0.3, -2.0};
    static const double starts[] = {-7.0, -3.0, -1.0, 0.0, 0.5, 2.0, 4.0, 7.0};
    static const double nominal[2] = {1.0, 1.0};
    double work[ROOM];
    int32_t order[2];
    const khz_newton_problem p = {
        .n = 2, .residual = amplifier, .nominal = nominal, .max_iterations = 3, .bold = 1, .tolerance = 1e-10};
    for (size_t k = 0; k < 40; k++) {
        khz_context c = {0};
        double x[2] = {1e-3 * starts[k % 8], 0.0};
        input = inputs[k / 8];
        CHECK(khz_newton(&p, &c, NULL, x, work, order) == KHZ_OK);
        CHECK(near(1e3 * x[0], input * 1e4 / 10001.0));
    }
}

/* y = min(a, y + d): on the branch of the guess the residual does not move, and Newton has no direction. */
static void selector(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = fmax(x[0] - input, -1e-4);
}

static void selector_jacobian(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    jacobian[0] = x[0] - input > -1e-4 ? 1.0 : 0.0;
}

/* A jump: its sign changes, but there is no root. */
static void step_up(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = x[0] < input ? -1.0 : 1.0;
}

static void without_slope(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    (void)x;
    jacobian[0] = 0.0;
}

/* In real time the root is looked for from the guess outwards, with what the period has left, and no further. */
static void a_flat_piece_under_a_cap(void)
{
    static const double inputs[] = {0.4, 0.409, 0.9, 3.0, -0.2};
    double work[ROOM], one = 1.0;
    int32_t order[1];
    khz_newton_problem p = {.n = 1,
                            .residual = selector,
                            .jacobian = selector_jacobian,
                            .nominal = &one,
                            .max_iterations = 6,
                            .bold = 1,
                            .tolerance = 1e-10};
    for (size_t k = 0; k < 5; k++) {
        khz_context c = {.newton_cap = 6, .iterations_left = 18, .trials_left = 60};
        double x = 0.39;
        input = inputs[k];
        CHECK(khz_newton(&p, &c, NULL, &x, work, order) == KHZ_OK && near(x, input));
        CHECK(c.trials_left >= 0);
        khz_context poor = {.newton_cap = 6, .iterations_left = 18, .trials_left = 3};
        x = 0.39;
        CHECK((khz_newton(&p, &poor, NULL, &x, work, order) == KHZ_OK) == (k == 4));
    }
    khz_context c = {.newton_cap = 6, .iterations_left = 18, .trials_left = 600};
    double x = 0.39;
    input = 0.4;
    p.residual = step_up;
    p.jacobian = without_slope;
    CHECK(khz_newton(&p, &c, NULL, &x, work, order) == KHZ_NO_CONVERGENCE);
}

static int n_jacobians;
static double source;

/* A diode behind a resistance: its slope changes by powers of ten from one solution to the next. */
static void diode(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = x[0] - source + 1e-3 * (exp(x[0] / 0.1) - 1.0);
    f[1] = x[1] - 0.5 * x[0] * x[0];
}

static void diode_jacobian(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    n_jacobians++;
    jacobian[0] = 1.0 + 1e-2 * exp(x[0] / 0.1);
    jacobian[1] = 0.0;
    jacobian[2] = -x[0];
    jacobian[3] = 1.0;
}

/* A Jacobian that is kept: right at every call, also where the one before is far too large (the step by it is tiny),
 * and computed seldom where the solution moves slowly. */
static void kept_jacobian(void)
{
    static const double nominal[2] = {1.0, 1.0};
    double work[ROOM] = {0};
    int32_t order[2], kept = 0;
    const khz_newton_problem p = {.n = 2,
                                  .residual = diode,
                                  .jacobian = diode_jacobian,
                                  .nominal = nominal,
                                  .max_iterations = 20,
                                  .bold = 1,
                                  .tolerance = 1e-10,
                                  .kept = &kept};
    khz_context c = {0};
    double x[2] = {0.0, 0.0};
    for (int k = 0; k < 400; k++) {
        source = 3.0 * sin(0.5 * k); /* strides */
        CHECK(khz_newton(&p, &c, NULL, x, work, order) == KHZ_OK);
        double f[2];
        diode(NULL, x, f);
        CHECK(fabs(f[0]) < 1e-8 * (1.0 + 1e-2 * exp(x[0] / 0.1)) && fabs(f[1]) < 1e-8);
    }
    n_jacobians = 0;
    for (int k = 0; k < 400; k++) {
        source = 0.3 + 1e-4 * k;
        CHECK(khz_newton(&p, &c, NULL, x, work, order) == KHZ_OK);
        double f[2];
        diode(NULL, x, f);
        CHECK(fabs(f[0]) < 1e-9 && fabs(f[1]) < 1e-9);
    }
    CHECK(n_jacobians < 40);
}

/* Iterations of a loop whose solution moves along a curve, with a jump half way. */
static uint32_t followed(double step)
{
    static const double nominal[2] = {1.0, 1.0};
    double work[ROOM] = {0};
    int32_t order[2], kept = 0;
    const khz_newton_problem p = {.n = 2,
                                  .residual = diode,
                                  .jacobian = diode_jacobian,
                                  .nominal = nominal,
                                  .max_iterations = 20,
                                  .tolerance = 1e-10,
                                  .kept = &kept};
    khz_context c = {0};
    double x[2] = {0.0, 0.0};
    for (int k = 0; k < 400; k++) {
        source = (k < 200 ? 0.4 : 0.7) + 0.3 * sin(0.02 * k);
        c.time = step * k;
        CHECK(khz_newton(&p, &c, NULL, x, work, order) == KHZ_OK);
        double f[2];
        diode(NULL, x, f);
        CHECK(fabs(f[0]) < 1e-9 * (1.0 + 1e-2 * exp(x[0] / 0.1)) && fabs(f[1]) < 1e-9);
    }
    return c.n_iterations;
}

/* An iteration begins where the solutions before point to; where time stands still they say nothing. */
static void begins_ahead(void)
{
    const uint32_t ahead = followed(1e-3);
    const uint32_t behind = followed(0.0);
    CHECK(ahead < 0.85 * behind);
}

static khz_status solve(int n, khz_residual_fn f, khz_jacobian_fn j, double *x)
{
    static const double nominal[2] = {1.0, 1.0};
    double *const work = (double *)malloc(sizeof(double) * (size_t)KHZ_NEWTON_ROOM(n)); /* no byte more */
    int32_t order[2];
    khz_context c = {0};
    CHECK(work != NULL);
    const khz_newton_problem p = {.n = n,
                                  .residual = f,
                                  .jacobian = j,
                                  .nominal = nominal,
                                  .max_iterations = 50,
                                  .rescue_iterations = 100,
                                  .tolerance = 1e-10};
    const khz_status status = khz_newton(&p, &c, NULL, x, work, order);
    CHECK(c.status == KHZ_OK);
    free(work);
    return status;
}

/* The root is far from the guess. */
static void far_root(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = 4e4 - x[0] * fabs(x[0]);
    f[1] = x[0] * (x[1] - 1.0) - 10.0;
}

static void along_a_path(void)
{
    static const double nominal[2] = {1.0, 1.0}, guess[2] = {1.0, 1.0};
    double work[ROOM], x[2] = {1.0, 1.0};
    int32_t order[2];
    khz_context c = {0};
    khz_newton_problem p = {.n = 2, .residual = far_root, .nominal = nominal, .max_iterations = 50, .tolerance = 1e-10};
    CHECK(KHZ_NEWTON_ROOM(2) <= ROOM);
    CHECK(khz_newton_path(&p, &c, NULL, x, guess, work, order) == KHZ_OK && near(x[0], 200.0) && near(x[1], 1.05));
    p.n = 1;
    p.residual = without_root;
    CHECK(khz_newton_path(&p, &c, NULL, x, guess, work, order) == KHZ_NO_CONVERGENCE);
}

/* --------------------------------------------------------------------------------------------------- bounds on work */

static int n_residuals;

/* No solution; every second point has no value, so that steps are cut and differences turn back. */
static void hopeless(void *instance, const double *x, double *f)
{
    (void)instance;
    n_residuals++;
    f[0] = x[0] * x[0] + 1.0 + atan(1e3 * x[1]);
    f[1] = n_residuals % 2 == 0 ? (double)NAN : x[1] * x[1] + x[0] * x[0] + 1.0;
}

static void hopeless_jacobian(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    jacobian[0] = 2.0 * x[0];
    jacobian[1] = 1e3 / (1.0 + 1e6 * x[1] * x[1]);
    jacobian[2] = 2.0 * x[0];
    jacobian[3] = 2.0 * x[1];
}

static void without_value(void *instance, const double *x, double *f)
{
    (void)instance;
    n_residuals++;
    f[0] = x[0] * x[0] + 1.0;
    f[1] = (double)NAN;
}

/* A sign that changes at every other point and no root: the search in brackets closes in again and again. */
static void signs(void *instance, const double *x, double *f)
{
    (void)instance;
    n_residuals++;
    f[0] = sin(5.0 * log(fabs(x[0]) + 1e-300) + 1.0) > 0.0 ? 1.0 : -1.0;
}

/* A jump over zero: every whole step turns the residual round, and no point on its way is better. */
static void jump(void *instance, const double *x, double *f)
{
    (void)instance;
    n_residuals++;
    f[0] = x[0] + (x[0] > 0.0 ? 1.0 : -1.0);
}

static void jump_jacobian(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    (void)x;
    jacobian[0] = 1.0;
}

/* Roots at -3 and 2; level around the guess, so that only the search in brackets finds them. */
static void two_roots(void *instance, const double *x, double *f)
{
    (void)instance;
    f[0] = x[0] > 5.0 ? 24.0 : (x[0] + 3.0) * (x[0] - 2.0);
}

/* Of several roots the one nearest to the guess is taken, but one within the bounds before others. */
static void roots_within_bounds(void)
{
    static const double nominal[1] = {1.0}, none[1] = {-INFINITY}, far[1] = {4.0}, most[1] = {100.0}, below[1] = {0.0};
    const double *const lower[] = {none, none, far};
    const double *const upper[] = {most, below, most};
    const double root[] = {2.0, -3.0, 2.0};
    for (int i = 0; i < 3; i++) {
        double work[ROOM], x[1] = {50.0};
        int32_t order[1];
        khz_context c = {0};
        const khz_newton_problem p = {.n = 1,
                                      .residual = two_roots,
                                      .nominal = nominal,
                                      .lower = lower[i],
                                      .upper = upper[i],
                                      .max_iterations = 20,
                                      .rescue_iterations = 20,
                                      .tolerance = 1e-10};
        CHECK(khz_newton(&p, &c, NULL, x, work, order) == KHZ_OK && fabs(x[0] - root[i]) < 1e-8);
    }
}

/* Residuals that a problem takes, from x = 1. */
static int counted(int n, khz_residual_fn f, khz_jacobian_fn j, int iterations, int rescue, int bold)
{
    static const double nominal[2] = {1.0, 1.0};
    double work[ROOM] = {0}, x[2] = {1.0, 1.0};
    int32_t order[2], kept = 0;
    khz_context c = {0};
    const khz_newton_problem p = {.n = n,
                                  .residual = f,
                                  .jacobian = j,
                                  .nominal = nominal,
                                  .max_iterations = iterations,
                                  .rescue_iterations = rescue,
                                  .tolerance = 1e-10,
                                  .bold = bold,
                                  .kept = j != NULL ? &kept : NULL};
    n_residuals = 0;
    CHECK(KHZ_NEWTON_ROOM(n) <= ROOM);
    (void)khz_newton(&p, &c, NULL, x, work, order);
    return n_residuals;
}

/* What the header says of the work is never passed. */
static void bounds(void)
{
    const khz_residual_fn all[] = {hopeless, without_value, signs, jump};
    for (int i = 0; i < 4; i++) {
        for (int iterations = 1; iterations <= 16; iterations *= 2) {
            const int n = i < 2 ? 2 : 1;
            const int plain = 2 + KHZ_NEWTON_ROUND(n, iterations);
            const int enclosed = n == 1 ? KHZ_ENCLOSE_RESIDUALS : 0;
            const int bold = KHZ_RESCUE_POINTS + KHZ_NEWTON_BOLD_ROUND(n, iterations) + enclosed;
            CHECK(counted(n, all[i], NULL, iterations, 0, 0) <= plain);
            CHECK(counted(n, all[i], NULL, iterations, 0, 1) <= plain + bold);
            CHECK(counted(n, all[i], NULL, iterations, 2 * iterations, 0) <=
                  plain + KHZ_RESCUE_RESIDUALS(n, iterations, 2 * iterations));
            CHECK(n == 1 ||
                  counted(n, all[i], hopeless_jacobian, iterations, 0, 1) <= 1 + 3 * iterations + plain + bold);
        }
    }
    /* The second round and the brackets are part of the work, and no small one. */
    CHECK(counted(1, jump, jump_jacobian, 4, 0, 1) > 3 * KHZ_TURN_BISECTIONS);
    CHECK(counted(1, signs, NULL, 4, 1, 0) > 10 * KHZ_BRACKET_POINTS);
}

int main(void)
{
    roots_within_bounds();
    double x[2] = {1.0, 1.0};
    CHECK(solve(2, circle_and_line, circle_jacobian, x) == KHZ_OK && near(x[0], 3.0) && near(x[1], 4.0));
    x[0] = x[1] = -1.0;
    CHECK(solve(2, circle_and_line, NULL, x) == KHZ_OK && near(x[0], -4.0) && near(x[1], -3.0));
    x[0] = 50.0;
    CHECK(solve(1, steep, NULL, x) == KHZ_OK && near(x[0], 2.0));
    x[0] = 30.0;
    CHECK(solve(1, only_positive, NULL, x) == KHZ_OK && near(x[0], exp(-1.0)));
    x[0] = 0.0;
    CHECK(solve(1, reciprocal, NULL, x) == KHZ_OK && fabs(x[0] * 7e7 - 1.0) < 1e-3); /* within 1e-10 of the nominal 1 */
    x[0] = 3.0;
    CHECK(solve(1, without_root, NULL, x) == KHZ_NO_CONVERGENCE);
    x[0] = x[1] = 1.0;
    CHECK(solve(2, contradiction, contradiction_jacobian, x) == KHZ_NO_CONVERGENCE);
    along_a_path();
    x[0] = 10.0;
    x[1] = -10.0;
    CHECK(solve(2, dependent, dependent_jacobian, x) == KHZ_OK && near(x[0] - x[1], 1.0));
    failures_leave_the_arena();
    amplifier_under_a_cap();
    a_flat_piece_under_a_cap();
    kept_jacobian();
    begins_ahead();
    bounds();
    return 0;
}
