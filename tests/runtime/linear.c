#include <float.h>
#include <string.h>

#include "check.h"
#include "khz_limits.h"
#include "khz_linear.h"
#include "khz_pivoted.h"

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

/* Several right-hand sides at once, by loops: each as one alone, which for few unknowns is compiled without. */
static void lanes_have_the_bits_of_one(int n)
{
    enum { MOST = KHZ_FEW_UNKNOWNS + 2 };
    double a[MOST * MOST], scale[MOST], work[MOST * KHZ_LANES], one[MOST];
    khz_lanes b[MOST];
    int32_t pivot[MOST];
    for (int i = 0; i < n * n; i++) {
        a[i] = sin(7.0 * i + 1.0) * (i % (n + 1) == 0 ? 10.0 : 1.0);
    }
    CHECK(khz_lu_factor(n, a, scale, pivot) == KHZ_OK);
    for (int i = 0; i < n; i++) {
        for (int lane = 0; lane < KHZ_LANES; lane++) {
            b[i][lane] = cos(3.0 * i + lane);
        }
    }
    khz_lu_solve_lanes(n, a, scale, pivot, b, work);
    for (int lane = 0; lane < KHZ_LANES; lane++) {
        for (int i = 0; i < n; i++) {
            one[i] = cos(3.0 * i + lane);
        }
        khz_lu_solve(n, a, scale, pivot, one, work);
        for (int i = 0; i < n; i++) {
            CHECK(b[i][lane] == one[i]);
        }
    }
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

/* The factorisation as a book has it, one number at a time. */
static khz_status slow_factor(int n, double *a, double *scale, int32_t *pivot)
{
    for (int i = 0; i < n; i++) {
        double largest = 0.0;
        int exponent;
        for (int j = 0; j < n; j++) {
            largest = fmax(largest, fabs(a[i * n + j]));
        }
        (void)frexp(largest, &exponent);
        scale[i] = ldexp(1.0, -exponent);
        for (int j = 0; j < n; j++) {
            a[i * n + j] *= scale[i];
        }
        pivot[i] = i;
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        double above = 0.0;
        for (int i = k + 1; i < n; i++) {
            best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
        }
        for (int i = 0; i < k; i++) {
            above = fmax(above, fabs(a[i * n + k]));
        }
        if (!(fabs(a[best * n + k]) > (double)n * KHZ_PIVOT_LOST * above) || a[best * n + k] == 0.0) {
            return fabs(a[best * n + k]) <= DBL_MAX ? KHZ_SINGULAR : KHZ_NOT_FINITE;
        }
        for (int j = 0; best != k && j < n; j++) {
            const double t = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = t;
        }
        const int32_t t = pivot[k];
        pivot[k] = pivot[best];
        pivot[best] = t;
        const double inverse = 1.0 / a[k * n + k];
        for (int i = k + 1; i < n; i++) {
            const double factor = a[i * n + k] * inverse;
            a[i * n + k] = factor;
            for (int j = k + 1; factor != 0.0 && j < n; j++) {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    return KHZ_OK;
}

/* Two numbers at a time, and powers of two by their bits: every bit is as one at a time would give it. */
static void factors_are_the_same_to_the_bit(void)
{
    enum { MOST = 25, TRIALS = 400 };
    static const double units[] = {1.0, 1e-3, 3e5, 1e-300, 1e-290, 1e300, 1.7e308};
    double a[MOST * MOST], b[MOST * MOST], scale_a[MOST], scale_b[MOST];
    int32_t pivot_a[MOST], pivot_b[MOST];
    uint32_t random = 1;
    int n_regular = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        const int n = 1 + trial % MOST;
        for (int i = 0; i < n * n; i++) {
            random = random * 1664525U + 1013904223U;
            const double v = (double)(random >> 8) / (1 << 23) - 1.0;
            a[i] = b[i] = i / n == i % n || random % 3 == 0 ? v * units[(trial / MOST + i / n) % 7] : 0.0;
        }
        const khz_status status = khz_lu_factor(n, a, scale_a, pivot_a);
        CHECK(status == slow_factor(n, b, scale_b, pivot_b));
        n_regular += status == KHZ_OK;
        const size_t size = sizeof(double) * (size_t)n;
        CHECK(status != KHZ_OK || memcmp(a, b, size * (size_t)n) == 0);
        CHECK(status != KHZ_OK || memcmp(scale_a, scale_b, size) == 0);
        CHECK(status != KHZ_OK || memcmp(pivot_a, pivot_b, sizeof(int32_t) * (size_t)n) == 0);
    }
    CHECK(n_regular > TRIALS / 2);
}

/* Row i has entries at random places up to `reach` behind the diagonal, none on it; units of rows differ. */
static void random_sparse(int n, int n_entries, int reach, uint32_t random, double *a)
{
    memset(a, 0, sizeof(double) * (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) {
        const double unit = i % 3 == 0 ? 1e5 : 1e-4;
        a[i * n + (i + 1) % n] = unit;
        for (int k = 1; k < n_entries; k++) {
            random = random * 1664525U + 1013904223U;
            const int j = (i + (int)((random >> 8) % (uint32_t)reach)) % n;
            a[i * n + j] = i == j ? 0.0 : unit * ((double)(random >> 8) / (1 << 23) - 1.0);
        }
    }
}

/* A large matrix with few entries: no pivots on the diagonal, the solution is that of the dense way. */
static void sparse_with_pivots(void)
{
    enum { N = 90 };
    static double a[N * N], lu[N * N], scale[N], work[N * KHZ_LANES], x[N], y[N];
    static khz_lanes b[N];
    int32_t pivot[N];
    for (int trial = 0; trial < 20; trial++) {
        random_sparse(N, 4, 7, (uint32_t)trial, a);
        CHECK(khz_lu_factor_copy(N, a, lu, scale, pivot) == KHZ_OK);
        CHECK(khz_is_pivoted(pivot));
        for (int i = 0; i < N; i++) {
            x[i] = y[i] = cos(3.0 * i);
            for (int lane = 0; lane < KHZ_LANES; lane++) {
                b[i][lane] = x[i];
            }
        }
        khz_lu_solve(N, lu, scale, pivot, x, work);
        khz_lu_solve_lanes(N, lu, scale, pivot, b, work);
        CHECK(khz_lu_factor(N, a, scale, pivot) == KHZ_OK);
        CHECK(!khz_is_pivoted(pivot));
        khz_lu_solve(N, a, scale, pivot, y, work);
        for (int i = 0; i < N; i++) {
            CHECK(b[i][0] == x[i] && b[i][KHZ_LANES - 1] == x[i]);
            CHECK(fabs(x[i] - y[i]) <= 1e-9 * fmax(fabs(y[i]), 1.0));
        }
    }
}

/* Many entries, a column without any, one that is no number: the dense way decides. */
static void dense_way_decides(void)
{
    enum { N = 90 };
    static double a[N * N], lu[N * N], scale[N];
    int32_t pivot[N];
    random_sparse(N, 40, N, 1, a);
    CHECK(khz_lu_factor_copy(N, a, lu, scale, pivot) == KHZ_OK);
    CHECK(!khz_is_pivoted(pivot));
    random_sparse(N, 5, N, 1, a); /* few at first, many on the way */
    CHECK(khz_lu_factor_copy(N, a, lu, scale, pivot) == KHZ_OK);
    CHECK(!khz_is_pivoted(pivot));
    random_sparse(N, 4, 7, 1, a);
    a[5 * N + 6] = (double)NAN;
    CHECK(khz_lu_factor_copy(N, a, lu, scale, pivot) == KHZ_NOT_FINITE);
    random_sparse(N, 4, 7, 1, a);
    for (int i = 0; i < N; i++) {
        a[i * N + 7] = 0.0;
    }
    CHECK(khz_lu_factor_copy(N, a, lu, scale, pivot) == KHZ_SINGULAR);
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

/* a := left * (I, right), of rank R among N: (-right, I) are what it takes to zero. */
static void minimum_norm_of_many(void)
{
    enum { N = 11, R = 7 };
    double right[R][N - R], a[N * N], b[N], x[N], work[KHZ_MINIMUM_NORM_ROOM(N)];
    int32_t order[N];
    for (int i = 0; i < R; i++) {
        for (int j = 0; j < N - R; j++) {
            right[i][j] = sin(1.0 + 3.0 * i + 7.0 * j);
        }
    }
    for (int i = 0; i < N; i++) {
        b[i] = 0.0;
        for (int j = 0; j < N; j++) {
            double sum = j < R ? cos(2.0 * i + 5.0 * j) : 0.0;
            for (int k = 0; k < R && j >= R; k++) {
                sum += cos(2.0 * i + 5.0 * k) * right[k][j - R];
            }
            a[i * N + j] = sum;
            b[i] += sum * (1.0 + 0.1 * j);
        }
    }
    double lu[N * N];
    memcpy(lu, a, sizeof a);
    memcpy(x, b, sizeof b);
    CHECK(khz_minimum_norm(N, lu, x, 1e-8, work, order) == KHZ_OK);
    for (int i = 0; i < N; i++) {
        double sum = 0.0;
        for (int j = 0; j < N; j++) {
            sum += a[i * N + j] * x[j];
        }
        CHECK(fabs(sum - b[i]) < 1e-12);
    }
    for (int j = 0; j < N - R; j++) {
        double along = x[R + j];
        for (int i = 0; i < R; i++) {
            along -= right[i][j] * x[i];
        }
        CHECK(fabs(along) < 1e-12);
    }
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
    for (int n = 1; n <= KHZ_FEW_UNKNOWNS + 2; n++) {
        lanes_have_the_bits_of_one(n);
    }
    singular_matrix_is_found();
    factors_are_the_same_to_the_bit();
    sparse_with_pivots();
    dense_way_decides();
    minimum_norm();
    minimum_norm_of_many();
    contradiction_is_found();
    return 0;
}
