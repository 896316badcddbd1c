/* The planned sparse LU: an arrow of five whose plan is written out, against the product with the matrix. */
#include <math.h>

#include "check.h"
#include "khz_sparse.h"

/* W: row 0 full, column 0 full, diagonal; eliminated in the order 1 2 3 4 0, so without fill. */
enum { N = 5, N_A = 13 };
static const int32_t a_row[] = {0, 5, 7, 9, 11, 13};
static const int32_t a_column[] = {0, 1, 2, 3, 4, 0, 1, 0, 2, 0, 3, 0, 4};
static const int32_t a_of_jac[] = {1, 2, 3, 4, 5, 7, 9, 11};
static const int32_t a_diagonal[] = {0, 6, 8, 10, 12};
static const int32_t order[] = {1, 2, 3, 4, 0};
static const int32_t inverse[] = {4, 0, 1, 2, 3};
static const int32_t lu_row[] = {0, 2, 4, 6, 8, 13};
static const int32_t lu_column[] = {0, 4, 1, 4, 2, 4, 3, 4, 0, 1, 2, 3, 4};
static const int32_t lu_origin[] = {1, 0, 2, 0, 3, 0, 4, 0, 1, 2, 3, 4, 0};
static const int32_t lu_diagonal[] = {0, 2, 4, 6, 12};
static const khz_sparse_plan plan = {N,         N_A,         8,     N_A,     a_row,  a_column,
                                     a_of_jac,  a_diagonal,  order, inverse, lu_row, lu_column,
                                     lu_origin, lu_diagonal, 8,     NULL,    NULL};

static void product(const double *a, const double *x, double *b)
{
    for (int i = 0; i < N; i++) {
        b[i] = 0.0;
        for (int32_t k = a_row[i]; k < a_row[i + 1]; k++) {
            b[i] += a[k] * x[a_column[k]];
        }
    }
}

static void test_solves(void)
{
    const double jac[8] = {2.0, -3.0, 0.5, 1e4, -1.0, 7.0, 0.25, -2e-3};
    const double x[N] = {1.0, -2.0, 3.0, 0.125, 40.0};
    double a[N_A], b[N], lu[N_A + 2 * N];
    khz_sparse_assemble(&plan, jac, 0.1, plan.n, a);
    CHECK(a[0] == 1.0 && a[1] == -0.2 && a[12] == 1.0 && a[5] == 0.1);
    CHECK(khz_sparse_size(&plan) == sizeof lu / sizeof lu[0]);
    product(a, x, b);
    CHECK(khz_sparse_factor(&plan, a, lu) == 0);
    khz_sparse_solve(&plan, lu, b);
    for (int i = 0; i < N; i++) {
        CHECK(fabs(b[i] - x[i]) < 1e-10); /* row 0 adds up to 4e4 */
    }
}

/* Numbers that need another order of pivots are refused, not divided by. */
static void test_refuses(void)
{
    double a[N_A], lu[N_A + 2 * N];
    const double jac[8] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    khz_sparse_assemble(&plan, jac, 0.1, plan.n, a);
    CHECK(khz_sparse_factor(&plan, a, lu) == 0);
    a[8] = 0.0;
    CHECK(khz_sparse_factor(&plan, a, lu) == 1);
    a[8] = 1e-14; /* entries grow */
    CHECK(khz_sparse_factor(&plan, a, lu) == 1);
    a[8] = (double)NAN;
    CHECK(khz_sparse_factor(&plan, a, lu) == 1);
    /* The last pivot, 1 - 4*0.25, is lost in rounding. */
    khz_sparse_assemble(&plan, jac, 0.5, plan.n, a);
    a[0] = nextafter(1.0, 2.0);
    CHECK(khz_sparse_factor(&plan, a, lu) == 1);
}

int main(void)
{
    test_solves();
    test_refuses();
    return 0;
}
