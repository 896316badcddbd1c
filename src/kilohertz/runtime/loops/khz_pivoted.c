/* Columns are eliminated from the left, those with few entries first; which of the earlier ones a column needs is found
 * along the entries of L, so that the work is that of the multiplications (J. R. Gilbert, T. Peierls, Sparse partial
 * pivoting in time proportional to arithmetic operations, 1988).  Of the rows whose entry is large enough the one with
 * the fewest entries is the pivot. */
#include "khz_pivoted.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_limits.h"
#include "khz_linear.h"
#include "khz_sparse.h"

typedef int32_t khz_loose_int __attribute__((may_alias)); /* among doubles */

/* Factors by columns: those of U above its pivot, rows numbered as pivots, then the pivot, then those of L. */
typedef struct pivoted {
    const khz_loose_int *start;    /* [n + 1] */
    const khz_loose_int *diagonal; /* [n] place of the pivot */
    const khz_loose_int *order;    /* [n] column of the matrix that is number k */
    const khz_loose_int *number;   /* [n] of the pivot that a row has */
    const khz_loose_int *row;      /* [most_entries] */
    const khz_real *value;         /* [most_entries] */
} pivoted;

/* The same while they are made, with the matrix and what the search for columns needs. */
typedef struct pivoting {
    int32_t n;
    khz_loose_int *start, *diagonal, *order, *number, *row;
    khz_real *value;
    khz_real *x, *given;                /* a column in full length; entries of the matrix by columns */
    khz_loose_int *given_start;         /* [n + 1] */
    khz_loose_int *given_row, *n_of;    /* n_of [n]: entries of each row */
    khz_loose_int *mark, *stack, *next; /* [n] */
    khz_loose_int *found; /* [n + 1] rows that a column reaches, at the end, in the order of elimination */
    int64_t products_left;
} pivoting;

enum { NO_NUMBER = -1, PIVOTED = -1 };

static int32_t most_entries(int32_t n) { return n * n / 8; }

static int32_t most_given(int32_t n) { return n * n / 16; }

/* Numbers in the place of the integers in front of the values. */
static int32_t values_at(int32_t n)
{
    const int32_t size = (int32_t)sizeof(khz_real);
    return ((4 * n + 1 + most_entries(n)) * (int32_t)sizeof(int32_t) + size - 1) / size;
}

static pivoted pivoted_in(int32_t n, const khz_real *lu)
{
    const khz_loose_int *const whole = (const khz_loose_int *)(const void *)lu;
    const pivoted f = {
        whole, whole + n + 1, whole + 2 * n + 1, whole + 3 * n + 1, whole + 4 * n + 1, lu + values_at(n),
    };
    return f;
}

/* All of it is less than half of lu from KHZ_PIVOTED_LEAST on; less than three quarters in single precision. */
static pivoting pivoting_in(int32_t n, khz_real *lu)
{
    pivoting m;
    m.n = n;
    m.start = (khz_loose_int *)(void *)lu;
    m.diagonal = m.start + n + 1;
    m.order = m.diagonal + n;
    m.number = m.order + n;
    m.row = m.number + n;
    m.value = lu + values_at(n);
    m.x = m.value + most_entries(n);
    m.given = m.x + n;
    m.given_start = (khz_loose_int *)(void *)(m.given + most_given(n));
    m.given_row = m.given_start + n + 1;
    m.n_of = m.given_row + most_given(n);
    m.mark = m.n_of + n;
    m.stack = m.mark + n;
    m.next = m.stack + n;
    m.found = m.next + n;
    m.products_left = (int64_t)n * n * n / KHZ_PIVOTED_PRODUCTS;
    return m;
}

/* The entries of a row, one after the other behind those before it, columns in `row`; 0: too many, none, or one that is
 * no number. */
static int columns_read_row(pivoting *m, const khz_real *a, int32_t i, int32_t *at, khz_real *scale)
{
    khz_real largest = 0.0;
    const int32_t first = *at;
    for (int32_t j = 0; j < m->n; j++) {
        if (a[j] == 0.0) {
            continue;
        }
        if (*at == most_given(m->n) || !(fabs(a[j]) <= KHZ_LARGEST)) {
            return 0;
        }
        m->row[*at] = j;
        m->value[(*at)++] = a[j];
        m->given_start[j + 1]++;
        largest = fmax(largest, fabs(a[j]));
    }
    m->n_of[i] = *at - first;
    if (largest == 0.0) {
        return 0;
    }
    *scale = khz_power_to_one(largest);
    khz_scale(*at - first, *scale, m->value + first);
    return 1;
}

/* The matrix by columns. */
static int columns_gather(pivoting *m, const khz_real *a, khz_real *scale)
{
    const int32_t n = m->n;
    int32_t at = 0;
    memset(m->given_start, 0, sizeof(int32_t) * (size_t)(n + 1));
    for (int32_t i = 0; i < n; i++) {
        if (!columns_read_row(m, a + (size_t)i * (size_t)n, i, &at, &scale[i])) {
            return 0;
        }
    }
    for (int32_t j = 0; j < n; j++) {
        m->given_start[j + 1] += m->given_start[j];
    }
    memcpy(m->next, m->given_start, sizeof(int32_t) * (size_t)n);
    at = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < m->n_of[i]; k++, at++) {
            const int32_t to = m->next[m->row[at]]++;
            m->given_row[to] = i;
            m->given[to] = m->value[at];
        }
    }
    return 1;
}

/* Columns with few entries first; of equal ones the first. */
static void order_columns(pivoting *m)
{
    const int32_t n = m->n;
    khz_loose_int *const before = m->found; /* [n + 1] columns with fewer entries */
    memset(before, 0, sizeof(int32_t) * (size_t)(n + 1));
    for (int32_t j = 0; j < n; j++) {
        const int32_t size = m->given_start[j + 1] - m->given_start[j];
        if (size < n) {
            before[size + 1]++;
        }
    }
    for (int32_t size = 0; size < n; size++) {
        before[size + 1] += before[size];
    }
    for (int32_t j = 0; j < n; j++) {
        m->order[before[m->given_start[j + 1] - m->given_start[j]]++] = j;
    }
}

/* Put the rows that `from` leads to along columns of L, which are not marked yet, before those found: what a row needs
 * comes after it. */
static int32_t column_search(pivoting *m, int32_t from, int32_t mark, int32_t top)
{
    int32_t depth = 0;
    m->stack[0] = from;
    while (depth >= 0) {
        const int32_t j = m->stack[depth];
        const int32_t k = m->number[j];
        if (m->mark[j] != mark) {
            m->mark[j] = mark;
            m->next[depth] = k == NO_NUMBER ? 0 : m->diagonal[k] + 1;
        }
        const int32_t end = k == NO_NUMBER ? 0 : m->start[k + 1];
        int32_t p = m->next[depth];
        while (p < end && m->mark[m->row[p]] == mark) {
            p++;
        }
        m->next[depth] = p + 1;
        if (p < end) {
            m->stack[++depth] = m->row[p];
        } else {
            m->found[--top] = j;
            depth--;
        }
    }
    return top;
}

/* Column k in full length: the rows it reaches begin at the place returned in `found`. */
static int32_t column_spread(pivoting *m, int32_t k)
{
    const int32_t first = m->given_start[m->order[k]], end = m->given_start[m->order[k] + 1];
    int32_t top = m->n;
    for (int32_t p = first; p < end; p++) {
        if (m->mark[m->given_row[p]] != k + 1) {
            top = column_search(m, m->given_row[p], k + 1, top);
        }
    }
    for (int32_t p = top; p < m->n; p++) {
        m->x[m->found[p]] = 0.0;
    }
    for (int32_t p = first; p < end; p++) {
        m->x[m->given_row[p]] = m->given[p];
    }
    return top;
}

/* Subtract earlier columns; their multiples are column k of U.  Its largest entry. */
static khz_real column_subtract(pivoting *m, int32_t top, int32_t *at)
{
    khz_real above = 0.0;
    for (int32_t p = top; p < m->n; p++) {
        const int32_t k = m->number[m->found[p]];
        if (k == NO_NUMBER) {
            continue;
        }
        const khz_real factor = m->x[m->found[p]];
        m->row[*at] = k;
        m->value[(*at)++] = factor;
        above = khz_larger(above, fabs(factor));
        for (int32_t q = m->diagonal[k] + 1; q < m->start[k + 1]; q++) {
            m->x[m->row[q]] -= m->value[q] * factor;
        }
        m->products_left -= m->start[k + 1] - m->diagonal[k];
    }
    return above;
}

/* The row of the pivot, NO_NUMBER where it is lost in rounding. */
static int32_t column_pivot(const pivoting *m, int32_t top, khz_real above)
{
    khz_real largest = 0.0;
    for (int32_t p = top; p < m->n; p++) {
        if (m->number[m->found[p]] == NO_NUMBER) {
            largest = khz_larger(largest, fabs(m->x[m->found[p]]));
        }
    }
    if (!(largest > (khz_real)m->n * KHZ_PIVOT_LOST * above) || !(largest >= KHZ_LEAST && largest <= KHZ_LARGEST)) {
        return NO_NUMBER;
    }
    int32_t best = NO_NUMBER;
    for (int32_t p = top; p < m->n; p++) {
        const int32_t i = m->found[p];
        const khz_real size = fabs(m->x[i]);
        if (m->number[i] != NO_NUMBER || size < KHZ_PIVOTED_ENOUGH * largest) {
            continue;
        }
        const int better =
            best == NO_NUMBER || m->n_of[i] < m->n_of[best] || (m->n_of[i] == m->n_of[best] && size > fabs(m->x[best]));
        best = better ? i : best;
    }
    return best;
}

static int eliminate_column(pivoting *m, int32_t k)
{
    const int32_t top = column_spread(m, k);
    int32_t at = m->start[k];
    if (at + m->n - top > most_entries(m->n)) {
        return 0;
    }
    const khz_real above = column_subtract(m, top, &at);
    const int32_t best = column_pivot(m, top, above);
    if (best == NO_NUMBER || m->products_left < 0) {
        return 0;
    }
    const khz_real inverse = 1.0 / m->x[best];
    m->diagonal[k] = at;
    m->row[at] = k;
    m->value[at++] = m->x[best];
    for (int32_t p = top; p < m->n; p++) {
        const int32_t i = m->found[p];
        if (m->number[i] == NO_NUMBER && i != best) {
            m->row[at] = i;
            m->value[at++] = m->x[i] * inverse;
        }
    }
    m->number[best] = k;
    m->start[k + 1] = at;
    return 1;
}

int khz_pivoted_factor(int n, const khz_real *a, khz_real *lu, khz_real *scale, int32_t *pivot)
{
    if (n < KHZ_PIVOTED_LEAST) {
        return 0;
    }
    pivoting m = pivoting_in(n, lu);
    if (!columns_gather(&m, a, scale)) {
        return 0;
    }
    order_columns(&m);
    m.start[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        m.number[i] = NO_NUMBER;
        m.mark[i] = 0;
    }
    for (int32_t k = 0; k < n; k++) {
        if (!eliminate_column(&m, k)) {
            return 0;
        }
    }
    for (int32_t k = 0; k < n; k++) {
        for (int32_t p = m.diagonal[k] + 1; p < m.start[k + 1]; p++) {
            m.row[p] = m.number[m.row[p]];
        }
    }
    pivot[0] = PIVOTED;
    return 1;
}

void khz_pivoted_solve(int n, const khz_real *lu, const khz_real *scale, khz_real *b, khz_real *work)
{
    const pivoted f = pivoted_in(n, lu);
    for (int i = 0; i < n; i++) {
        work[f.number[i]] = b[i] * scale[i];
    }
    for (int k = 0; k < n; k++) {
        for (int32_t p = f.diagonal[k] + 1; p < f.start[k + 1]; p++) {
            work[f.row[p]] -= f.value[p] * work[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        const khz_real v = work[k] / f.value[f.diagonal[k]];
        for (int32_t p = f.start[k]; p < f.diagonal[k]; p++) {
            work[f.row[p]] -= f.value[p] * v;
        }
        b[f.order[k]] = v;
    }
}

void khz_pivoted_solve_lanes(int n, const khz_real *lu, const khz_real *scale, khz_lanes *b, khz_real *work)
{
    const pivoted f = pivoted_in(n, lu);
    khz_loose_lanes *const w = (khz_loose_lanes *)(void *)work;
    for (int i = 0; i < n; i++) {
        w[f.number[i]] = b[i] * scale[i];
    }
    for (int k = 0; k < n; k++) {
        for (int32_t p = f.diagonal[k] + 1; p < f.start[k + 1]; p++) {
            w[f.row[p]] -= f.value[p] * w[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        const khz_lanes v = w[k] / f.value[f.diagonal[k]];
        for (int32_t p = f.start[k]; p < f.diagonal[k]; p++) {
            w[f.row[p]] -= f.value[p] * v;
        }
        b[f.order[k]] = v;
    }
}
