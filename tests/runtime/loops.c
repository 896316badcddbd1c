#include "check.h"
#include "khz_loops.h"

static khz_context c;
static double memory[KHZ_LINEAR_ROOM(3)];
static int32_t order[3];
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

/* A determinant that is lost in rounding: factors are more than the usual way, which a bounded step says. */
static void two_by_two_lost(void)
{
    const double lost[4] = {1.0, 1.0, 1.0, 1.0 + 1e-8}, fine[4] = {1.0, 1.0, 1.0, 2.0};
    for (int32_t cap = 0; cap < 2; cap++) {
        const uint32_t before = c.n_detours;
        double b[2] = {2.0, 2.0 + 1e-8};
        double d[2] = {2.0, 3.0};
        c.newton_cap = cap;
        CHECK(two(fine, d) == KHZ_OK && c.n_detours == before);
        CHECK(two(lost, b) == KHZ_OK && c.n_detours - before == (uint32_t)cap);
        CHECK(fabs(b[0] - 1.0) < 1e-7 && fabs(b[1] - 1.0) < 1e-7);
    }
    c.newton_cap = 0;
}

static khz_status three(const double *a, double *b)
{
    c.status = KHZ_OK;
    return khz_linear_3(&c, 1, 0, a, memory, order, &factored, b);
}

static void three_by_three(void)
{
    /* Random matrices, some with a zero in front, against the product. */
    uint32_t random = 7U;
    for (int turn = 0; turn < 1000; turn++) {
        double a[9], x[3], b[3];
        for (int k = 0; k < 12; k++) {
            random = random * 1664525U + 1013904223U;
            *(k < 9 ? &a[k] : &x[k - 9]) = (double)(random >> 8) / 8388608.0 - 1.0;
        }
        a[0] = turn % 3 == 0 ? 0.0 : a[0];
        for (int i = 0; i < 3; i++) {
            b[i] = a[3 * i] * x[0] + a[3 * i + 1] * x[1] + a[3 * i + 2] * x[2];
        }
        CHECK(three(a, b) == KHZ_OK);
        CHECK(fabs(b[0] - x[0]) < 1e-7 && fabs(b[1] - x[1]) < 1e-7 && fabs(b[2] - x[2]) < 1e-7);
    }
}

static void three_by_three_singular(void)
{
    const double a[9] = {1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0};
    const uint32_t before = c.n_factored;
    double b[3] = {2.0, 2.0, 6.0};
    CHECK(three(a, b) == KHZ_OK);
    CHECK(near(b[0], 1.0) && near(b[1], 1.0) && near(b[2], 3.0));
    CHECK(c.n_factored == before + 1U);
    double contradiction[3] = {2.0, 3.0, 6.0};
    CHECK(three(a, contradiction) == KHZ_SINGULAR);
    const double n[9] = {(double)NAN, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    CHECK(three(n, b) == KHZ_NOT_FINITE);
}

/* Many relations, each of which stands where its number says so: all change in the first turn. */
enum { MANY = 3000 };
static int32_t many_r[MANY], many_forced[MANY], many_relation[MANY], many_at_zero[MANY];

static khz_status many_continuous(void *instance) { return ((void)instance, KHZ_OK); }

static int many_derive(void *instance) { return ((void)instance, 0); }

static void many_evaluate(void *instance, int32_t *value, double *distance)
{
    (void)instance;
    for (int i = 0; i < MANY; i++) {
        value[i] = i % 2;
        distance[i] = 1.0 + i;
    }
}

static void many_relations(void)
{
    for (int i = 0; i < MANY; i++) {
        many_relation[i] = i;
        many_r[i] = 0;
    }
    const khz_mixed_problem problem = {1,           MANY,         many_relation, many_at_zero, many_continuous,
                                       many_derive, many_evaluate};
    c.status = KHZ_OK;
    CHECK(khz_mixed(&c, &problem, &c, many_r, many_forced, KHZ_MIXED_ROOM(MANY)) == KHZ_OK);
    CHECK(many_r[0] == 0 && many_r[1] == 1 && many_r[MANY - 1] == 1);
}

int main(void)
{
    two_by_two();
    two_by_two_singular();
    two_by_two_not_finite();
    two_by_two_lost();
    three_by_three();
    three_by_three_singular();
    many_relations();
    return 0;
}
