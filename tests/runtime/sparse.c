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
static const int32_t lu_diagonal[] = {0, 2, 4, 6, 12};
static const khz_sparse_plan plan = {.n = N,
                                     .n_a = N_A,
                                     .n_jac = 8,
                                     .n_lu = N_A,
                                     .a_row = a_row,
                                     .a_column = a_column,
                                     .a_of_jac = a_of_jac,
                                     .a_diagonal = a_diagonal,
                                     .order = order,
                                     .inverse = inverse,
                                     .lu_row = lu_row,
                                     .lu_column = lu_column,
                                     .lu_diagonal = lu_diagonal,
                                     .n_products = 8};

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

/* Speeds of SIDE bodies, eliminated after their positions: rows of L and U without gaps, so eight and two at a time. */
enum { SIDE = 21, ALL = 2 * SIDE, MOST = ALL * ALL };
typedef struct large {
    int32_t first[ALL + 1], column[MOST], diagonal[ALL], same[ALL], lu_first[ALL + 1], lu_column[MOST],
        lu_diagonal[ALL];
} large;

static void begin_row(int32_t *first, int32_t *diagonal, int32_t i, const int32_t *column, int32_t n)
{
    first[i + 1] = n;
    for (int32_t k = first[i]; k < n; k++) {
        diagonal[i] = column[k] == i ? k : diagonal[i];
    }
}

static khz_sparse_plan plan_large(large *p, int is_alike)
{
    int32_t n = 0, n_lu = 0;
    p->first[0] = p->lu_first[0] = 0;
    for (int32_t i = 0; i < ALL; i++) {
        p->same[i] = i;
        for (int32_t j = 0; j < ALL; j++) {
            const int is = i >= SIDE || j == i || j == i + SIDE;
            if (is) {
                p->column[n++] = p->lu_column[n_lu++] = j;
            }
        }
        begin_row(p->first, p->diagonal, i, p->column, n);
        begin_row(p->lu_first, p->lu_diagonal, i, p->lu_column, n_lu);
    }
    return (khz_sparse_plan){.n = ALL,
                             .n_a = n,
                             .n_lu = n_lu,
                             .a_row = p->first,
                             .a_column = p->column,
                             .a_diagonal = p->diagonal,
                             .order = p->same,
                             .inverse = p->same,
                             .lu_row = p->lu_first,
                             .lu_column = p->lu_column,
                             .lu_diagonal = p->lu_diagonal,
                             .is_alike = is_alike};
}

/* The same by full matrices, one after the other. */
static void solve_full(double (*w)[ALL], double *b)
{
    for (int i = 0; i < ALL; i++) {
        for (int j = 0; j < i; j++) {
            w[i][j] *= w[j][j];
            for (int k = j + 1; k < ALL; k++) {
                w[i][k] -= w[i][j] * w[j][k];
            }
            b[i] -= w[i][j] * b[j];
        }
        w[i][i] = 1.0 / w[i][i];
    }
    for (int i = ALL - 1; i >= 0; i--) {
        for (int k = ALL - 1; k > i; k--) {
            b[i] -= w[i][k] * b[k];
        }
        b[i] *= w[i][i];
    }
}

static void test_side_by_side(int is_alike)
{
    static large tables;
    static double w[ALL][ALL], a[MOST], lu[MOST + 2 * ALL];
    double x[ALL], y[ALL];
    const khz_sparse_plan p = plan_large(&tables, is_alike);
    for (int i = 0; i < ALL; i++) {
        x[i] = y[i] = 1.0 + sin(3.0 * i);
        for (int32_t k = p.a_row[i]; k < p.a_row[i + 1]; k++) {
            const int32_t j = p.a_column[k];
            a[k] = w[i][j] = i == j ? 30.0 + i : cos(1.0 + i * i + 7.0 * j);
        }
    }
    CHECK(khz_sparse_factor(&p, a, lu) == 0);
    khz_sparse_solve(&p, lu, x);
    solve_full(w, y);
    for (int i = 0; i < ALL; i++) {
        CHECK(x[i] == y[i]);
    }
    a[p.a_diagonal[SIDE + 3]] = (double)NAN;
    CHECK(khz_sparse_factor(&p, a, lu) == 1);
}

int main(void)
{
    test_solves();
    test_side_by_side(0);
    test_side_by_side(1);
    test_refuses();
    return 0;
}
