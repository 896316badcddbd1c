/* Large systems without room for a full matrix: their solutions are those of the dense way, singular or not. */
#include "khz_scattered.h"

#include <string.h>

#include "check.h"
#include "khz_limits.h"
#include "khz_linear.h"

enum { N = 90, MOST_A = 8 * N, MOST_LU = N * N + KHZ_MOST_LOST * N };

static khz_context c;
static int32_t start[N + 1], rows[MOST_A], place[MOST_A], order[N], pivot[N], factored;
static double dense[N * N], lu[N * N], scale[N], work[N * KHZ_LANES];
static double memory[KHZ_SCATTERED_ROOM(N, MOST_A, MOST_LU) + 1 + MOST_A];
static uint32_t seed;

static double uniform(void)
{
    seed = seed * 1664525U + 1013904223U;
    return (double)(seed >> 8) / (1 << 23) - 1.0;
}

/* Few entries in each row, none on the diagonal, units of equations apart. */
static void few_entries(uint32_t from)
{
    seed = from;
    memset(dense, 0, sizeof dense);
    for (int i = 0; i < N; i++) {
        const double unit = i % 3 == 0 ? 1e5 : 1e-4;
        dense[i * N + (i + 1) % N] = unit;
        for (int k = 1; k < 4; k++) {
            const int j = (i + 2 + (int)(3.0 * (1.0 + uniform()))) % N;
            dense[i * N + j] = unit * uniform();
        }
    }
}

/* The last equations are sums of two others each. */
static void depend(int n)
{
    for (int r = 0; r < n; r++) {
        for (int j = 0; j < N; j++) {
            dense[(N - 1 - r) * N + j] = 1e-5 * dense[3 * r * N + j] + 2e4 * dense[(3 * r + 1) * N + j];
        }
    }
}

/* The dense matrix without its zeros, columns as they are numbered. */
static khz_scattered without_zeros(void)
{
    int32_t number[N * N], n_a = 0, at = 0;
    for (int k = 0; k < N * N; k++) {
        number[k] = n_a;
        n_a += dense[k] != 0.0 ? 1 : 0;
    }
    CHECK(n_a <= MOST_A);
    for (int j = 0; j < N; j++) {
        start[j] = at;
        order[j] = j;
        for (int i = 0; i < N; i++) {
            if (dense[i * N + j] != 0.0) {
                rows[at] = i;
                place[at++] = number[i * N + j];
            }
        }
    }
    start[N] = at;
    const khz_scattered s = {N, n_a, MOST_LU, start, rows, place, order};
    double *const a = memory + KHZ_SCATTERED_ROOM(N, n_a, MOST_LU) + 1;
    for (int k = 0; k < N * N; k++) {
        if (dense[k] != 0.0) {
            a[number[k]] = dense[k];
        }
    }
    memset(&c, 0, sizeof c);
    factored = 0;
    return s;
}

/* A right-hand side that equations agree on. */
static void right_side(double phase, double *b)
{
    for (int i = 0; i < N; i++) {
        b[i] = 0.0;
        for (int j = 0; j < N; j++) {
            b[i] += dense[i * N + j] * cos(3.0 * j + phase);
        }
    }
}

static void regular(void)
{
    double x[N], y[N];
    khz_lanes b[N];
    for (uint32_t trial = 0; trial < 20; trial++) {
        few_entries(trial);
        const khz_scattered s = without_zeros();
        right_side(1.0, x);
        memcpy(y, x, sizeof y);
        for (int i = 0; i < N; i++) {
            for (int lane = 0; lane < KHZ_LANES; lane++) {
                b[i][lane] = x[i];
            }
        }
        CHECK(khz_linear_scattered(&c, 1, 0, &s, memory, &factored, x) == KHZ_OK);
        CHECK(factored == 1 && c.n_factored == 1 && c.n_detours == 0);
        CHECK(khz_linear_scattered_lanes(&c, 1, 0, &s, memory, &factored, b) == KHZ_OK);
        CHECK(c.n_factored == 1);
        memcpy(lu, dense, sizeof lu);
        CHECK(khz_lu_factor(N, lu, scale, pivot) == KHZ_OK);
        khz_lu_solve(N, lu, scale, pivot, y, work);
        for (int i = 0; i < N; i++) {
            CHECK(fabs(x[i] - y[i]) <= 1e-8);
            CHECK(b[i][0] == x[i] && b[i][KHZ_LANES - 1] == x[i]);
        }
    }
}

/* Equations that depend on others: the smallest solution, for other right-hand sides with the same factors. */
static void dependent(void)
{
    static double norm[KHZ_MINIMUM_NORM_ROOM(N)];
    double x[N], y[N];
    khz_lanes b[N];
    for (int n = 1; n <= 9; n += 4) {
        few_entries((uint32_t)n);
        depend(n);
        const khz_scattered s = without_zeros();
        for (int turn = 0; turn < 2; turn++) {
            right_side(turn, x);
            memcpy(y, x, sizeof y);
            for (int i = 0; i < N; i++) {
                for (int lane = 0; lane < KHZ_LANES; lane++) {
                    b[i][lane] = x[i];
                }
            }
            CHECK(khz_linear_scattered(&c, 1, 0, &s, memory, &factored, x) == KHZ_OK);
            CHECK(khz_linear_scattered_lanes(&c, 1, 0, &s, memory, &factored, b) == KHZ_OK);
            CHECK(factored == 2 && c.n_factored == 1);
            memcpy(lu, dense, sizeof lu);
            CHECK(khz_minimum_norm(N, lu, y, KHZ_CONSISTENT, norm, pivot) == KHZ_OK);
            for (int i = 0; i < N; i++) {
                CHECK(fabs(x[i] - y[i]) <= 1e-8);
                CHECK(b[i][0] == x[i] && b[i][KHZ_LANES - 1] == x[i]);
            }
        }
        right_side(0.0, x);
        x[N - 1] += 1.0;
        CHECK(khz_linear_scattered(&c, 7, 0, &s, memory, &factored, x) == KHZ_SINGULAR);
        CHECK(c.status == KHZ_SINGULAR && c.block == 7 && factored == 0);
    }
}

/* No numbers, no entries in a column or a row, too many equations that depend on others. */
static void refused(void)
{
    double x[N];
    few_entries(1);
    dense[5 * N + 6] = (double)NAN;
    khz_scattered s = without_zeros();
    CHECK(khz_linear_scattered(&c, 1, 0, &s, memory, &factored, x) == KHZ_NOT_FINITE);
    few_entries(1);
    for (int i = 0; i < N; i++) {
        dense[i * N + 7] = dense[8 * N + i] = 0.0;
    }
    s = without_zeros();
    right_side(0.0, x);
    CHECK(khz_linear_scattered(&c, 1, 0, &s, memory, &factored, x) == KHZ_OK);
    CHECK(x[7] == 0.0 && factored == 2);
    few_entries(1);
    for (int i = 0; i <= KHZ_MOST_LOST; i++) {
        memcpy(dense + (N - 1 - i) * N, dense, N * sizeof(double));
    }
    s = without_zeros();
    right_side(0.0, x);
    CHECK(khz_linear_scattered(&c, 1, 0, &s, memory, &factored, x) == KHZ_SINGULAR);
}

int main(void)
{
    regular();
    dependent();
    refused();
    return 0;
}
