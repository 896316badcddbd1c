#include "check.h"
#include "khz_loops.h"

static khz_context c;
static double memory[20];
static int32_t order[2];
static int32_t factored;

static khz_status two(const double *a, double *b)
{
    c.status = KHZ_OK;
    return khz_linear_2(&c, 1, 0, a, memory, order, &factored, b);
}

static void two_by_two(void)
{
    const double a[4] = {0.0, 2.0, 3.0, 1.0};
    double b[2] = {4.0, 5.0};
    CHECK(two(a, b) == KHZ_OK);
    CHECK(near(b[0], 1.0) && near(b[1], 2.0));
}

static void two_by_two_singular(void)
{
    /* Where the equations agree the smallest solution is taken; where they do not, it is a failure. */
    const double a[4] = {1.0, 1.0, 1.0, 1.0};
    double b[2] = {2.0, 2.0};
    CHECK(two(a, b) == KHZ_OK);
    CHECK(near(b[0], 1.0) && near(b[1], 1.0));
    double contradiction[2] = {2.0, 3.0};
    CHECK(two(a, contradiction) == KHZ_SINGULAR);
    CHECK(c.status == KHZ_SINGULAR && c.block == 1);
}

static void two_by_two_not_finite(void)
{
    const double a[4] = {(double)INFINITY, 1.0, 1.0, 1.0};
    const double n[4] = {(double)NAN, 1.0, 1.0, 1.0};
    double b[2] = {2.0, 2.0};
    CHECK(two(a, b) != KHZ_OK);
    CHECK(two(n, b) == KHZ_NOT_FINITE);
}

int main(void)
{
    two_by_two();
    two_by_two_singular();
    two_by_two_not_finite();
    return 0;
}
