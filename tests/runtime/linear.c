#include "check.h"
#include "khz_linear.h"

static void regular_system(void)
{
    double a[9] = {0.0, 2.0, 1.0, 1e6, 3e6, -1e6, 1.0, 1.0, 1.0};
    double b[3] = {7.0, 4e6, 6.0}; /* x = 1, 2, 3 */
    double scale[3];
    double work[3];
    int32_t pivot[3];
    CHECK(khz_lu_factor(3, a, scale, pivot) == KHZ_OK);
    khz_lu_solve(3, a, scale, pivot, b, work);
    CHECK(near(b[0], 1.0) && near(b[1], 2.0) && near(b[2], 3.0));
}

static void unknowns_of_different_size(void)
{
    /* Columns 1e-12 and 1e12 apart are no reason to call it singular. */
    double a[4] = {1e-12, 1e12, 1e-12, -1e12};
    double b[2] = {2.0, 0.0};
    double scale[2];
    double work[2];
    int32_t pivot[2];
    CHECK(khz_lu_factor(2, a, scale, pivot) == KHZ_OK);
    khz_lu_solve(2, a, scale, pivot, b, work);
    CHECK(near(b[0] * 1e-12, 1.0) && near(b[1] * 1e12, 1.0));
}

static void singular_matrix_is_found(void)
{
    double a[9] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0};
    double scale[3];
    int32_t pivot[3];
    CHECK(khz_lu_factor(3, a, scale, pivot) == KHZ_SINGULAR);
    double nan_matrix[1] = {(double)NAN};
    CHECK(khz_lu_factor(1, nan_matrix, scale, pivot) == KHZ_NOT_FINITE);
}

static void minimum_norm(void)
{
    /* x + y = 2 twice: the smallest solution is (1, 1). */
    double a[4] = {1.0, 1.0, 1.0, 1.0};
    double b[2] = {2.0, 2.0};
    double work[6];
    int32_t order[2];
    CHECK(KHZ_MINIMUM_NORM_ROOM(2) <= 6);
    CHECK(khz_minimum_norm(2, a, b, 1e-10, work, order) == KHZ_OK);
    CHECK(near(b[0], 1.0) && near(b[1], 1.0));

    /* Rank one of three with different weights: x = w * (w . x) / |w|^2. */
    double c[9] = {1.0, 2.0, 2.0, 2.0, 4.0, 4.0, -1.0, -2.0, -2.0};
    double d[3] = {9.0, 18.0, -9.0};
    double work3[9];
    int32_t order3[3];
    CHECK(khz_minimum_norm(3, c, d, 1e-10, work3, order3) == KHZ_OK);
    CHECK(near(d[0], 1.0) && near(d[1], 2.0) && near(d[2], 2.0));
}

static void contradiction_is_found(void)
{
    double a[4] = {1.0, 1.0, 1.0, 1.0};
    double b[2] = {2.0, 3.0};
    double work[6];
    int32_t order[2];
    CHECK(khz_minimum_norm(2, a, b, 1e-8, work, order) == KHZ_SINGULAR);
}

int main(void)
{
    regular_system();
    unknowns_of_different_size();
    singular_matrix_is_found();
    minimum_norm();
    contradiction_is_found();
    return 0;
}
