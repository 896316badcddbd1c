/* Columns are eliminated from the left; which of the earlier ones a column needs is found along the entries of L, so
 * that the work is that of the multiplications (J. R. Gilbert, T. Peierls, Sparse partial pivoting in time proportional
 * to arithmetic operations, 1988).  Of the rows whose entry is large enough the one with the fewest entries is the
 * pivot. */
#include "khz_columns.h"

#include <float.h>
#include <math.h>

#include "khz_limits.h"
#include "khz_sparse.h"

enum { NO_NUMBER = -1 };

/* Put the rows that `from` leads to along columns of L, which are not marked yet, before those found: what a row needs
 * comes after it. */
static int32_t column_search(khz_columns *m, int32_t from, int32_t mark, int32_t top)
{
    const khz_factors *const f = &m->f;
    int32_t depth = 0;
    m->stack[0] = from;
    while (depth >= 0) {
        const int32_t j = m->stack[depth];
        const int32_t k = f->number[j];
        if (m->mark[j] != mark) {
            m->mark[j] = mark;
            m->next[depth] = k == NO_NUMBER ? 0 : f->diagonal[k] + 1;
        }
        const int32_t end = k == NO_NUMBER ? 0 : f->start[k + 1];
        int32_t p = m->next[depth];
        while (p < end && m->mark[f->row[p]] == mark) {
            p++;
        }
        m->next[depth] = p + 1;
        if (p < end) {
            m->stack[++depth] = f->row[p];
        } else {
            m->found[--top] = j;
            depth--;
        }
    }
    return top;
}

/* A column in full length: the rows it reaches begin at the place returned in `found`. */
static int32_t column_spread(khz_columns *m, int32_t column, int32_t mark)
{
    const int32_t first = m->given_start[column], end = m->given_start[column + 1];
    int32_t top = m->f.n;
    for (int32_t p = first; p < end; p++) {
        if (m->mark[m->given_row[p]] != mark) {
            top = column_search(m, m->given_row[p], mark, top);
        }
    }
    for (int32_t p = top; p < m->f.n; p++) {
        m->x[m->found[p]] = 0.0;
    }
    for (int32_t p = first; p < end; p++) {
        m->x[m->given_row[p]] = m->given[p];
    }
    return top;
}

/* Subtract earlier columns; their multiples are a column of U.  Its largest entry. */
static khz_real column_subtract(khz_columns *m, int32_t top, int32_t *at)
{
    const khz_factors *const f = &m->f;
    khz_real above = 0.0;
    for (int32_t p = top; p < f->n; p++) {
        const int32_t k = f->number[m->found[p]];
        if (k == NO_NUMBER) {
            continue;
        }
        const khz_real factor = m->x[m->found[p]];
        f->row[*at] = k;
        f->value[(*at)++] = factor;
        above = khz_larger(above, fabs(factor));
        for (int32_t q = f->diagonal[k] + 1; q < f->start[k + 1]; q++) {
            m->x[f->row[q]] -= f->value[q] * factor;
        }
        m->products_left -= f->start[k + 1] - f->diagonal[k];
    }
    return above;
}

/* The largest entry that can be a pivot. */
static khz_real column_largest(const khz_columns *m, int32_t top)
{
    khz_real largest = 0.0;
    for (int32_t p = top; p < m->f.n; p++) {
        if (m->f.number[m->found[p]] == NO_NUMBER) {
            largest = khz_larger(largest, fabs(m->x[m->found[p]]));
        }
    }
    return largest;
}

/* The row of the pivot. */
static int32_t column_pivot(const khz_columns *m, int32_t top, khz_real largest)
{
    int32_t best = NO_NUMBER;
    for (int32_t p = top; p < m->f.n; p++) {
        const int32_t i = m->found[p];
        const khz_real size = fabs(m->x[i]);
        if (m->f.number[i] != NO_NUMBER || size < KHZ_PIVOTED_ENOUGH * largest) {
            continue;
        }
        const int better =
            best == NO_NUMBER || m->n_of[i] < m->n_of[best] || (m->n_of[i] == m->n_of[best] && size > fabs(m->x[best]));
        best = better ? i : best;
    }
    return best;
}

/* The next column with a pivot, or KHZ_COLUMNS_LOST where rounding leaves none. */
static int eliminate_column(khz_columns *m, int32_t column, int32_t mark)
{
    khz_factors *const f = &m->f;
    const int32_t k = f->n_pivots;
    const int32_t top = column_spread(m, column, mark);
    int32_t at = f->start[k];
    if (at + f->n - top > m->most_entries) {
        return KHZ_COLUMNS_ROOM;
    }
    const khz_real above = column_subtract(m, top, &at);
    const khz_real largest = column_largest(m, top);
    if (!(largest > (khz_real)f->n * KHZ_PIVOT_LOST * above) || !(largest >= KHZ_LEAST && largest <= KHZ_LARGEST)) {
        return above <= KHZ_LARGEST && largest <= KHZ_LARGEST ? KHZ_COLUMNS_LOST : KHZ_COLUMNS_NOT_FINITE;
    }
    if (m->products_left < 0) {
        return KHZ_COLUMNS_ROOM;
    }
    const int32_t best = column_pivot(m, top, largest);
    const khz_real inverse = 1.0 / m->x[best];
    f->diagonal[k] = at;
    f->row[at] = k;
    f->value[at++] = m->x[best];
    for (int32_t p = top; p < f->n; p++) {
        const int32_t i = m->found[p];
        if (f->number[i] == NO_NUMBER && i != best) {
            f->row[at] = i;
            f->value[at++] = m->x[i] * inverse;
        }
    }
    f->number[best] = k;
    f->start[k + 1] = at;
    f->order[k] = column;
    f->n_pivots++;
    return KHZ_COLUMNS_DONE;
}

/* Numbers for rows without a pivot, columns without one to the end, rows of L as pivots. */
static void columns_number(khz_columns *m, const int32_t *lost)
{
    khz_factors *const f = &m->f;
    int32_t last = f->n_pivots;
    for (int32_t k = f->n_pivots; k < f->n; k++) {
        f->order[k] = lost[k - f->n_pivots];
    }
    for (int32_t i = 0; i < f->n; i++) {
        f->number[i] = f->number[i] == NO_NUMBER ? last++ : f->number[i];
    }
    for (int32_t k = 0; k < f->n_pivots; k++) {
        for (int32_t p = f->diagonal[k] + 1; p < f->start[k + 1]; p++) {
            f->row[p] = f->number[f->row[p]];
        }
    }
}

int khz_columns_factor(khz_columns *m)
{
    khz_factors *const f = &m->f;
    f->start[0] = 0;
    f->n_pivots = 0;
    for (int32_t i = 0; i < f->n; i++) {
        f->number[i] = NO_NUMBER;
        m->mark[i] = 0;
    }
    int32_t lost[KHZ_MOST_LOST], n_lost = 0;
    for (int32_t k = 0; k < f->n; k++) {
        const int32_t column = f->order[k];
        const int status = eliminate_column(m, column, k + 1);
        if (status == KHZ_COLUMNS_LOST && n_lost < m->most_lost) {
            lost[n_lost++] = column;
        } else if (status != KHZ_COLUMNS_DONE) {
            return status;
        }
    }
    columns_number(m, lost);
    return KHZ_COLUMNS_DONE;
}

void khz_columns_solve(const khz_factors *f, const khz_real *scale, khz_real *b, khz_real *work)
{
    for (int32_t i = 0; i < f->n; i++) {
        work[f->number[i]] = b[i] * scale[i];
    }
    for (int32_t k = 0; k < f->n_pivots; k++) {
        for (int32_t p = f->diagonal[k] + 1; p < f->start[k + 1]; p++) {
            work[f->row[p]] -= f->value[p] * work[k];
        }
    }
    for (int32_t k = f->n_pivots; k < f->n; k++) {
        b[f->order[k]] = 0.0;
    }
    for (int32_t k = f->n_pivots - 1; k >= 0; k--) {
        const khz_real v = work[k] / f->value[f->diagonal[k]];
        for (int32_t p = f->start[k]; p < f->diagonal[k]; p++) {
            work[f->row[p]] -= f->value[p] * v;
        }
        b[f->order[k]] = v;
    }
}

void khz_columns_solve_lanes(const khz_factors *f, const khz_real *scale, khz_lanes *b, khz_real *work)
{
    khz_loose_lanes *const w = (khz_loose_lanes *)(void *)work;
    for (int32_t i = 0; i < f->n; i++) {
        w[f->number[i]] = b[i] * scale[i];
    }
    for (int32_t k = 0; k < f->n; k++) {
        for (int32_t p = f->diagonal[k] + 1; p < f->start[k + 1]; p++) {
            w[f->row[p]] -= f->value[p] * w[k];
        }
    }
    for (int32_t k = f->n - 1; k >= 0; k--) {
        const khz_lanes v = w[k] / f->value[f->diagonal[k]];
        for (int32_t p = f->start[k]; p < f->diagonal[k]; p++) {
            w[f->row[p]] -= f->value[p] * v;
        }
        b[f->order[k]] = v;
    }
}
