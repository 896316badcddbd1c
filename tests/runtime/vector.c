/* Vectors two numbers at a time: the same as one at a time, at every length; and what is finite. */
#include "khz_vector.h"

#include "check.h"

enum { MOST = 21 };

static void fill(double *v, double scale)
{
    for (int i = 0; i < MOST; i++) {
        v[i] = scale / (i + 3.0) - 0.1 * i;
    }
}

static void test_adds(void)
{
    double x[MOST];
    double y[MOST];
    double out[MOST];
    fill(x, 1.0);
    fill(y, -7.0);
    for (int n = 0; n < MOST; n++) {
        fill(out, 100.0);
        const double beyond = out[n];
        khz_add_scaled(n, x, 0.3, y, out);
        for (int i = 0; i < n; i++) {
            CHECK(out[i] == x[i] + 0.3 * y[i]);
        }
        CHECK(out[n] == beyond);
    }
    fill(out, 1.0);
    khz_add_scaled(MOST, out, 0.3, y, out);
    CHECK(out[0] == x[0] + 0.3 * y[0] && out[MOST - 1] == x[MOST - 1] + 0.3 * y[MOST - 1]);
}

static void test_finite(void)
{
    const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    double v[MOST];
    for (int n = 0; n <= MOST; n++) {
        fill(v, 1.0);
        CHECK(khz_are_finite(n, v));
        for (int i = 0; i < 3 * n; i++) {
            fill(v, 1.0);
            v[i / 3] = odd[i % 3];
            CHECK(!khz_are_finite(n, v));
        }
    }
    /* The sum is too large, the values are not; and infinities that cancel are none the less there. */
    fill(v, 1.0);
    v[0] = v[1] = DBL_MAX;
    CHECK(khz_are_finite(MOST, v));
    v[0] = (double)INFINITY;
    v[1] = -(double)INFINITY;
    CHECK(!khz_are_finite(MOST, v));
}

int main(void)
{
    test_adds();
    test_finite();
    return 0;
}
