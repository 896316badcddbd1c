/* The entries of a dense matrix by columns, those with few first, for khz_columns.h. */
#include "khz_pivoted.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_columns.h"
#include "khz_limits.h"
#include "khz_linear.h"

enum { PIVOTED = -1 };

static int32_t most_entries(int32_t n) { return n * n / 8; }

static int32_t most_given(int32_t n) { return n * n / 16; }

/* Numbers in the place of the integers in front of the values. */
static int32_t values_at(int32_t n)
{
    const int32_t size = (int32_t)sizeof(khz_real);
    return ((4 * n + 1 + most_entries(n)) * (int32_t)sizeof(int32_t) + size - 1) / size;
}

static khz_factors pivoted_factors_in(int32_t n, khz_real *lu)
{
    khz_loose_int *const whole = (khz_loose_int *)(void *)lu;
    const khz_factors f = {
        n, n, whole, whole + n + 1, whole + 2 * n + 1, whole + 3 * n + 1, whole + 4 * n + 1, lu + values_at(n),
    };
    return f;
}

/* The matrix by columns while it is gathered. */
typedef struct gathered {
    khz_real *value;
    khz_loose_int *start, *row, *n_of;
} gathered;

/* All of it is less than half of lu from KHZ_PIVOTED_LEAST on; less than three quarters in single precision. */
static gathered gathered_in(const khz_factors *f)
{
    gathered g = {.value = f->value + most_entries(f->n) + f->n};
    g.start = (khz_loose_int *)(void *)(g.value + most_given(f->n));
    g.row = g.start + f->n + 1;
    g.n_of = g.row + most_given(f->n);
    return g;
}

static khz_columns columns_in(const khz_factors *f, const gathered *g)
{
    const int32_t n = f->n;
    khz_columns m = {.f = *f, .most_entries = most_entries(n), .given = g->value, .given_start = g->start};
    m.given_row = g->row;
    m.n_of = g->n_of;
    m.x = f->value + most_entries(n);
    m.mark = g->n_of + n;
    m.stack = m.mark + n;
    m.next = m.stack + n;
    m.found = m.next + n;
    m.products_left = (int64_t)n * n * n / KHZ_PIVOTED_PRODUCTS;
    return m;
}

/* The entries of a row, one after the other behind those before it, columns in `row` of the factors; 0: too many, none,
 * or one that is no number. */
static int gathered_row(const khz_factors *f, gathered *g, const khz_real *a, int32_t i, int32_t *at, khz_real *scale)
{
    khz_real largest = 0.0;
    const int32_t first = *at;
    for (int32_t j = 0; j < f->n; j++) {
        if (a[j] == 0.0) {
            continue;
        }
        if (*at == most_given(f->n) || !(fabs(a[j]) <= KHZ_LARGEST)) {
            return 0;
        }
        f->row[*at] = j;
        f->value[(*at)++] = a[j];
        g->start[j + 1]++;
        largest = fmax(largest, fabs(a[j]));
    }
    g->n_of[i] = *at - first;
    if (largest == 0.0) {
        return 0;
    }
    *scale = khz_power_to_one(largest);
    khz_scale(*at - first, *scale, f->value + first);
    return 1;
}

/* The matrix by columns; next [n]. */
static int gathered_fill(const khz_factors *f, gathered *g, const khz_real *a, khz_real *scale, khz_loose_int *next)
{
    const int32_t n = f->n;
    int32_t at = 0;
    memset(g->start, 0, sizeof(int32_t) * (size_t)(n + 1));
    for (int32_t i = 0; i < n; i++) {
        if (!gathered_row(f, g, a + (size_t)i * (size_t)n, i, &at, &scale[i])) {
            return 0;
        }
    }
    for (int32_t j = 0; j < n; j++) {
        g->start[j + 1] += g->start[j];
    }
    memcpy(next, g->start, sizeof(int32_t) * (size_t)n);
    at = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < g->n_of[i]; k++, at++) {
            const int32_t to = next[f->row[at]]++;
            g->row[to] = i;
            g->value[to] = f->value[at];
        }
    }
    return 1;
}

/* Columns with few entries first; of equal ones the first. */
static void gathered_order(const khz_factors *f, const gathered *g, khz_loose_int *before)
{
    const int32_t n = f->n; /* before [n + 1]: columns with fewer entries */
    memset(before, 0, sizeof(int32_t) * (size_t)(n + 1));
    for (int32_t j = 0; j < n; j++) {
        const int32_t size = g->start[j + 1] - g->start[j];
        if (size < n) {
            before[size + 1]++;
        }
    }
    for (int32_t size = 0; size < n; size++) {
        before[size + 1] += before[size];
    }
    for (int32_t j = 0; j < n; j++) {
        f->order[before[g->start[j + 1] - g->start[j]]++] = j;
    }
}

int khz_pivoted_factor(int n, const khz_real *a, khz_real *lu, khz_real *scale, int32_t *pivot)
{
    if (n < KHZ_PIVOTED_LEAST) {
        return 0;
    }
    const khz_factors f = pivoted_factors_in(n, lu);
    gathered g = gathered_in(&f);
    khz_columns m = columns_in(&f, &g);
    if (!gathered_fill(&f, &g, a, scale, m.next)) {
        return 0;
    }
    gathered_order(&f, &g, m.found);
    if (khz_columns_factor(&m) != KHZ_COLUMNS_DONE) {
        return 0;
    }
    pivot[0] = PIVOTED;
    return 1;
}

/* Factors that are read alone. */
static khz_factors pivoted_in(int32_t n, const khz_real *lu)
{
    return pivoted_factors_in(n, (khz_real *)(uintptr_t)lu);
}

void khz_pivoted_solve(int n, const khz_real *lu, const khz_real *scale, khz_real *b, khz_real *work)
{
    const khz_factors f = pivoted_in(n, lu);
    khz_columns_solve(&f, scale, b, work);
}

void khz_pivoted_solve_lanes(int n, const khz_real *lu, const khz_real *scale, khz_lanes *b, khz_real *work)
{
    const khz_factors f = pivoted_in(n, lu);
    khz_columns_solve_lanes(&f, scale, b, work);
}
