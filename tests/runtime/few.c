/* Newton's method for one and two unknowns as long as all goes as usual (khz_newton_few). */
#include "check.h"
#include "khz_newton.h"

static int n_residuals, n_jacobians;

static void circle_and_line(void *instance, const double *x, double *f)
{
    (void)instance;
    n_residuals++;
    f[0] = x[0] * x[0] + x[1] * x[1] - 25.0;
    f[1] = x[0] - x[1] + 1.0;
}

static void circle_jacobian(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    n_jacobians++;
    jacobian[0] = 2.0 * x[0];
    jacobian[1] = 2.0 * x[1];
    jacobian[2] = 1.0;
    jacobian[3] = -1.0;
}

static void root(void *instance, const double *x, double *f)
{
    (void)instance;
    n_residuals++;
    f[0] = x[0] * x[0] - 2.0;
}

static void root_jacobian(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    n_jacobians++;
    jacobian[0] = 2.0 * x[0];
}

static void steep(void *instance, const double *x, double *f)
{
    (void)instance;
    n_residuals++;
    f[0] = atan(10.0 * (x[0] - 2.0)); /* Newton runs away from far off */
}

static void steep_jacobian(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    n_jacobians++;
    jacobian[0] = 10.0 / (1.0 + 100.0 * (x[0] - 2.0) * (x[0] - 2.0));
}

static void parallel(void *instance, const double *x, double *f)
{
    (void)instance;
    n_residuals++;
    f[0] = x[0] - x[1];
    f[1] = x[0] - x[1] - 1.0;
}

static void parallel_jacobian(void *instance, const double *x, double *jacobian)
{
    (void)instance;
    (void)x;
    n_jacobians++;
    jacobian[0] = jacobian[2] = 1.0;
    jacobian[1] = jacobian[3] = -1.0;
}

static int solve(int n, khz_residual_fn residual, khz_jacobian_fn jacobian, double *x, khz_context *c)
{
    static const double nominal[2] = {1.0, 1.0};
    const khz_newton_problem p = {.n = n,
                                  .residual = residual,
                                  .jacobian = jacobian,
                                  .nominal = nominal,
                                  .max_iterations = KHZ_NEWTON_CAP,
                                  .tolerance = KHZ_NEWTON_TOLERANCE};
    n_residuals = n_jacobians = 0;
    const int solved = khz_newton_few(&p, c, NULL, x);
    CHECK(n_residuals <= 1 + KHZ_FEW_CAP && n_jacobians <= KHZ_FEW_CAP);
    return solved;
}

/* From near by two Jacobians are enough, and what is left is rounding. */
static void near_by(void)
{
    khz_context c = {0};
    double x[2] = {3.01, 3.98};
    CHECK(solve(2, circle_and_line, circle_jacobian, x, &c) && fabs(x[0] - 3.0) < 1e-11 && fabs(x[1] - 4.0) < 1e-11);
    CHECK(n_jacobians <= 2 && n_residuals <= 4 && c.n_iterations == (uint32_t)n_residuals - 1 && c.n_detours == 0);
    x[0] = 1.41;
    CHECK(solve(1, root, root_jacobian, x, &c) && fabs(x[0] - sqrt(2.0)) < 1e-11 && n_jacobians <= 2);
    /* A solution stays: one Jacobian and one step of nothing show it. */
    x[0] = 3.0;
    x[1] = 4.0;
    CHECK(solve(2, circle_and_line, circle_jacobian, x, &c) && x[0] == 3.0 && x[1] == 4.0 && n_jacobians == 1);
    CHECK(n_residuals == 2);
}

/* From further away it is told as a detour, and a cap of the step holds. */
static void further_away(void)
{
    khz_context c = {0};
    double x[2] = {4.0, 4.0};
    CHECK(solve(1, root, root_jacobian, x, &c) && fabs(x[0] - sqrt(2.0)) < 1e-11 && c.n_detours == 1);
    c.newton_cap = 2;
    x[0] = 4.0;
    CHECK(!solve(1, root, root_jacobian, x, &c) && x[0] == 4.0 && n_jacobians == 2);
}

/* What is not as usual is left to others, from where it began. */
static void unusual(void)
{
    khz_context c = {0};
    double x[2] = {50.0, 1.0};
    CHECK(!solve(1, steep, steep_jacobian, x, &c) && x[0] == 50.0);
    CHECK(!solve(2, parallel, parallel_jacobian, x, &c) && x[0] == 50.0 && x[1] == 1.0 && n_jacobians == 1);
    x[0] = NAN;
    CHECK(!solve(1, root, root_jacobian, x, &c));
}

int main(void)
{
    near_by();
    further_away();
    unusual();
    return 0;
}
