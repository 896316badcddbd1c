#include "khz_linear.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_limits.h"
#include "khz_pivoted.h"
#include "khz_vector.h"

/* Before a loop whose length is a constant where its function is called: it falls away.  clang does that of itself. */
#if defined(__GNUC__) && !defined(__clang__)
#define KHZ_WRITTEN_OUT _Pragma("GCC unroll 8")
#else
#define KHZ_WRITTEN_OUT
#endif

/* Scale a row to a largest entry of one: makes pivots comparable whatever the units. */
static KHZ_INLINE khz_status scale_row(int n, khz_real *row, khz_real *scale)
{
    if (!khz_are_finite(n, row)) {
        return KHZ_NOT_FINITE;
    }
    khz_real largest = 0.0;
    KHZ_WRITTEN_OUT
    for (int j = 0; j < n; j++) {
        const khz_real v = fabs(row[j]);
        largest = v > largest ? v : largest;
    }
    if (largest == 0.0) {
        return KHZ_SINGULAR;
    }
    *scale = khz_power_to_one(largest);
    khz_scale(n, *scale, row);
    return KHZ_OK;
}

static KHZ_INLINE void exchange_rows(int n, khz_real *a, int k, int best, int32_t *pivot)
{
    for (int j = 0; j < n; j++) {
        const khz_real t = a[k * n + j];
        a[k * n + j] = a[best * n + j];
        a[best * n + j] = t;
    }
    const int32_t t = pivot[k];
    pivot[k] = pivot[best];
    pivot[best] = t;
}

/* Column k: the largest entry becomes the pivot, and its row is subtracted from those below.  Columns lost against
 * their own size are singular, not small: units of unknowns may differ by many powers. */
static KHZ_INLINE khz_status eliminate(int n, int k, khz_real *a, int32_t *pivot)
{
    int best = k;
    khz_real largest = fabs(a[k * n + k]);
    for (int i = k + 1; i < n; i++) {
        const khz_real v = fabs(a[i * n + k]);
        if (v > largest) {
            largest = v;
            best = i;
        }
    }
    khz_real column = 0.0;
    for (int i = 0; i < k; i++) {
        const khz_real v = fabs(a[i * n + k]);
        column = v > column ? v : column;
    }
    if (!(largest > (khz_real)n * KHZ_PIVOT_LOST * column) || largest == 0.0) {
        return largest <= KHZ_LARGEST ? KHZ_SINGULAR : KHZ_NOT_FINITE;
    }
    if (best != k) {
        exchange_rows(n, a, k, best, pivot);
    }
    const khz_real inverse = 1.0 / a[k * n + k];
    for (int i = k + 1; i < n; i++) {
        const khz_real factor = a[i * n + k] * inverse;
        a[i * n + k] = factor;
        if (factor == 0.0) {
            continue;
        }
        khz_real *const row = a + (size_t)i * (size_t)n + k + 1;
        khz_add_scaled(n - k - 1, row, -factor, a + (size_t)k * (size_t)n + k + 1, row);
    }
    return KHZ_OK;
}

static KHZ_INLINE khz_status lu_factor(int n, khz_real *a, khz_real *scale, int32_t *pivot)
{
    khz_status status = KHZ_OK;
    for (int i = 0; i < n && status == KHZ_OK; i++) {
        status = scale_row(n, a + (size_t)i * (size_t)n, &scale[i]);
        pivot[i] = i;
    }
    for (int k = 0; k < n && status == KHZ_OK; k++) {
        status = eliminate(n, k, a, pivot);
    }
    return status;
}

/* The same for few rows, whose number is a constant where this is called. */
static KHZ_INLINE khz_status eliminate_few(int n, int k, khz_real *a, int32_t *pivot)
{
    int best = k;
    khz_real largest = fabs(a[k * n + k]);
    KHZ_WRITTEN_OUT
    for (int i = k + 1; i < n; i++) {
        const khz_real v = fabs(a[i * n + k]);
        best = v > largest ? i : best;
        largest = v > largest ? v : largest;
    }
    khz_real column = 0.0;
    KHZ_WRITTEN_OUT
    for (int i = 0; i < k; i++) {
        const khz_real v = fabs(a[i * n + k]);
        column = v > column ? v : column;
    }
    if (!(largest > (khz_real)n * KHZ_PIVOT_LOST * column) || largest == 0.0) {
        return largest <= KHZ_LARGEST ? KHZ_SINGULAR : KHZ_NOT_FINITE;
    }
    if (best != k) {
        exchange_rows(n, a, k, best, pivot);
    }
    const khz_real inverse = 1.0 / a[k * n + k];
    KHZ_WRITTEN_OUT
    for (int i = k + 1; i < n; i++) {
        const khz_real factor = a[i * n + k] * inverse;
        a[i * n + k] = factor;
        if (factor == 0.0) {
            continue;
        }
        KHZ_WRITTEN_OUT
        for (int j = k + 1; j < n; j++) {
            a[i * n + j] += -factor * a[k * n + j];
        }
    }
    return KHZ_OK;
}

static KHZ_INLINE khz_status lu_factor_few(int n, khz_real *a, khz_real *scale, int32_t *pivot)
{
    khz_status status = KHZ_OK;
    for (int i = 0; i < n && status == KHZ_OK; i++) {
        status = scale_row(n, a + i * n, &scale[i]);
        pivot[i] = i;
    }
    KHZ_WRITTEN_OUT
    for (int k = 0; k < n; k++) {
        status = status == KHZ_OK ? eliminate_few(n, k, a, pivot) : status;
    }
    return status;
}

/* Compiled for few unknowns apart, where loops fall away: most loops that are iterated on have few. */
khz_status khz_lu_factor(int n, khz_real *a, khz_real *scale, int32_t *pivot)
{
    if (n == 2) {
        khz_status status = scale_row(2, a, &scale[0]);
        status = status == KHZ_OK ? scale_row(2, a + 2, &scale[1]) : status;
        pivot[0] = 0;
        pivot[1] = 1;
        status = status == KHZ_OK ? eliminate(2, 0, a, pivot) : status;
        return status == KHZ_OK ? eliminate(2, 1, a, pivot) : status;
    }
    switch (n) {
    case 3:
        return lu_factor_few(3, a, scale, pivot);
    case 4:
        return lu_factor_few(4, a, scale, pivot);
    case 5:
        return lu_factor_few(5, a, scale, pivot);
    case KHZ_FEW_UNKNOWNS:
        return lu_factor_few(KHZ_FEW_UNKNOWNS, a, scale, pivot);
    default:
        return lu_factor(n, a, scale, pivot);
    }
}

khz_status khz_lu_factor_copy(int n, const khz_real *a, khz_real *lu, khz_real *scale, int32_t *pivot)
{
    if (khz_pivoted_factor(n, a, lu, scale, pivot)) {
        return KHZ_OK;
    }
    memcpy(lu, a, sizeof(khz_real) * (size_t)n * (size_t)n);
    return khz_lu_factor(n, lu, scale, pivot);
}

static void lu_solve(int n, const khz_real *lu, const khz_real *scale, const int32_t *pivot, khz_real *b,
                     khz_real *work)
{
    for (int i = 0; i < n; i++) {
        khz_real sum = b[pivot[i]] * scale[pivot[i]];
        for (int j = 0; j < i; j++) {
            sum -= lu[i * n + j] * work[j];
        }
        work[i] = sum;
    }
    for (int i = n - 1; i >= 0; i--) {
        khz_real sum = work[i];
        for (int j = i + 1; j < n; j++) {
            sum -= lu[i * n + j] * b[j];
        }
        b[i] = sum / lu[i * n + i];
    }
}

/* The same for a few unknowns, whose number is a constant where this is called: a third of the instructions, the same
 * bits. */
static KHZ_INLINE void lu_solve_few(int n, const khz_real *lu, const khz_real *scale, const int32_t *pivot, khz_real *b)
{
    khz_real work[KHZ_FEW_UNKNOWNS];
    KHZ_WRITTEN_OUT
    for (int i = 0; i < n; i++) {
        khz_real sum = b[pivot[i]] * scale[pivot[i]];
        KHZ_WRITTEN_OUT
        for (int j = 0; j < i; j++) {
            sum -= lu[i * n + j] * work[j];
        }
        work[i] = sum;
    }
    KHZ_WRITTEN_OUT
    for (int i = n - 1; i >= 0; i--) {
        khz_real sum = work[i];
        KHZ_WRITTEN_OUT
        for (int j = i + 1; j < n; j++) {
            sum -= lu[i * n + j] * b[j];
        }
        b[i] = sum / lu[i * n + i];
    }
}

void khz_lu_solve(int n, const khz_real *lu, const khz_real *scale, const int32_t *pivot, khz_real *b, khz_real *work)
{
    switch (n) {
    case 2:
        lu_solve_few(2, lu, scale, pivot, b);
        break;
    case 3:
        lu_solve_few(3, lu, scale, pivot, b);
        break;
    case 4:
        lu_solve_few(4, lu, scale, pivot, b);
        break;
    case 5:
        lu_solve_few(5, lu, scale, pivot, b);
        break;
    case KHZ_FEW_UNKNOWNS:
        lu_solve_few(KHZ_FEW_UNKNOWNS, lu, scale, pivot, b);
        break;
    default:
        if (khz_is_pivoted(pivot)) {
            khz_pivoted_solve(n, lu, scale, b, work);
        } else {
            lu_solve(n, lu, scale, pivot, b, work);
        }
    }
}

void khz_lu_solve_lanes(int n, const khz_real *lu, const khz_real *scale, const int32_t *pivot, khz_lanes *b,
                        khz_real *work)
{
    if (khz_is_pivoted(pivot)) {
        khz_pivoted_solve_lanes(n, lu, scale, b, work);
        return;
    }
    khz_loose_lanes *const w = (khz_loose_lanes *)(void *)work;
    for (int i = 0; i < n; i++) {
        khz_lanes sum = b[pivot[i]] * scale[pivot[i]];
        for (int j = 0; j < i; j++) {
            sum -= lu[i * n + j] * w[j];
        }
        w[i] = sum;
    }
    for (int i = n - 1; i >= 0; i--) {
        khz_lanes sum = w[i];
        for (int j = i + 1; j < n; j++) {
            sum -= lu[i * n + j] * b[j];
        }
        b[i] = sum / lu[i * n + i];
    }
}

/* Householder vector of the m entries x[0], x[stride], ... of that norm: overwrites x with it, returns the new leading
 * entry. */
static khz_real reflector(int m, khz_real *x, int stride, khz_real norm, khz_real *factor)
{
    const khz_real lead = x[0] > 0.0 ? -norm : norm;
    const khz_real v0 = x[0] - lead;
    *factor = -v0 / lead;
    for (int i = 1; i < m; i++) {
        x[i * stride] /= v0;
    }
    x[0] = 1.0;
    return lead;
}

/* y -= factor * v * (v . y) over m entries. */
static void reflect(int m, const khz_real *v, int v_stride, khz_real factor, khz_real *y, int y_stride)
{
    khz_real dot = 0.0;
    for (int i = 0; i < m; i++) {
        dot += v[i * v_stride] * y[i * y_stride];
    }
    dot *= factor;
    for (int i = 0; i < m; i++) {
        y[i * y_stride] -= dot * v[i * v_stride];
    }
}

/* Columns j, and `width` - 1 after it, from row k on: reflected by the vector in column k; squared norms of what is
 * then below row k.  Column by column in the order of rows, two and four columns side by side. */
static KHZ_INLINE void reflect_columns(int n, int k, int width, khz_real factor, khz_real *a, int j, khz_real *norm)
{
    khz_pair dot[2] = {{0.0, 0.0}, {0.0, 0.0}};
    khz_pair sum[2] = {{0.0, 0.0}, {0.0, 0.0}};
    for (int i = k; i < n; i++) {
        const khz_real *const row = a + (size_t)i * (size_t)n;
        KHZ_WRITTEN_OUT
        for (int m = 0; m < width; m++) {
            dot[m] += row[k] * khz_pair_at(row + j + 2 * m);
        }
    }
    for (int m = 0; m < width; m++) {
        dot[m] *= factor;
    }
    for (int i = k; i < n; i++) {
        khz_real *const row = a + (size_t)i * (size_t)n;
        const khz_real below = i > k ? 1.0 : 0.0;
        KHZ_WRITTEN_OUT
        for (int m = 0; m < width; m++) {
            const khz_pair y = khz_pair_at(row + j + 2 * m) - dot[m] * row[k];
            khz_set_pair(row + j + 2 * m, y);
            sum[m] += y * y * below;
        }
    }
    for (int m = 0; m < width; m++) {
        khz_set_pair(norm + j + 2 * m, sum[m]);
    }
}

static khz_real squares(int n, int k, const khz_real *a, int j)
{
    khz_real sum = 0.0;
    for (int i = k; i < n; i++) {
        sum += a[i * n + j] * a[i * n + j];
    }
    return sum;
}

/* All columns right of k. */
static void reflect_rest(int n, int k, khz_real factor, khz_real *a, khz_real *norm)
{
    int j = k + 1;
    for (; j + 4 <= n; j += 4) {
        reflect_columns(n, k, 2, factor, a, j, norm);
    }
    for (; j + 2 <= n; j += 2) {
        reflect_columns(n, k, 1, factor, a, j, norm);
    }
    if (j < n) {
        reflect(n - k, &a[k * n + k], n, factor, &a[k * n + j], n);
        norm[j] = squares(n, k + 1, a, j);
    }
}

khz_status khz_minimum_norm(int n, khz_real *a, khz_real *b, khz_real tolerance, khz_real *work, int32_t *order)
{
    khz_real *const diagonal = work;
    khz_real *const factor = work + n;
    khz_real *const x = work + 2 * n;

    /* Rows to size one, so that the rank does not depend on units of equations; b goes along. */
    for (int i = 0; i < n; i++) {
        khz_real largest = 0.0;
        for (int j = 0; j < n; j++) {
            const khz_real v = fabs(a[i * n + j]);
            if (!(v <= KHZ_LARGEST)) {
                return KHZ_NOT_FINITE;
            }
            largest = v > largest ? v : largest;
        }
        if (largest > 0.0) {
            for (int j = 0; j < n; j++) {
                a[i * n + j] /= largest;
            }
            b[i] /= largest;
        }
        order[i] = i;
    }

    /* QR with column pivoting: a[:, order] = Q R, rank where the rest is rounding. */
    int rank = 0;
    khz_real first = 0.0;
    for (int j = 0; j < n; j++) {
        x[j] = squares(n, 0, a, j);
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        khz_real largest = -1.0;
        for (int j = k; j < n; j++) {
            if (x[j] > largest) {
                largest = x[j];
                best = j;
            }
        }
        largest = sqrt(largest);
        if (k == 0) {
            first = largest;
        }
        if (!(largest > KHZ_RANK_LOST * (khz_real)n * first)) {
            break;
        }
        if (best != k) {
            for (int i = 0; i < n; i++) {
                const khz_real t = a[i * n + k];
                a[i * n + k] = a[i * n + best];
                a[i * n + best] = t;
            }
            const int32_t t = order[k];
            order[k] = order[best];
            order[best] = t;
        }
        diagonal[k] = reflector(n - k, &a[k * n + k], n, largest, &factor[k]);
        reflect_rest(n, k, factor[k], a, x);
        reflect(n - k, &a[k * n + k], n, factor[k], &b[k], 1);
        rank++;
    }

    /* What is left of b below the rank must vanish: otherwise no solution exists. */
    khz_real size = 0.0;
    khz_real rest = 0.0;
    for (int i = 0; i < n; i++) {
        const khz_real v = fabs(b[i]);
        if (i < rank) {
            size = v > size ? v : size;
        } else {
            rest = v > rest ? v : rest;
        }
    }
    if (!(rest <= tolerance * (size + KHZ_BY_NUMBER(1e-300, FLT_MIN))) && !(rest <= tolerance * KHZ_CONSISTENT_LEAST)) {
        return KHZ_SINGULAR;
    }

    /* [R11 R12] = [T 0] Z: reflect the rows from the right, then solve with T and undo Z. */
    for (int i = 0; i < rank; i++) {
        a[i * n + i] = diagonal[i];
    }
    for (int k = rank - 1; k >= 0 && rank < n; k--) {
        /* Vector (R[k,k], R[k,rank..n-1]); row k keeps its tail as the Householder vector. */
        khz_real norm = a[k * n + k] * a[k * n + k];
        for (int j = rank; j < n; j++) {
            norm += a[k * n + j] * a[k * n + j];
        }
        norm = sqrt(norm); /* entries are of size one: no square is too large */
        const khz_real lead = a[k * n + k] > 0.0 ? -norm : norm;
        const khz_real v0 = a[k * n + k] - lead;
        factor[k] = norm == 0.0 ? 0.0 : -v0 / lead;
        for (int j = rank; j < n; j++) {
            a[k * n + j] = norm == 0.0 ? 0.0 : a[k * n + j] / v0;
        }
        a[k * n + k] = lead;
        for (int i = 0; i < k; i++) {
            khz_real dot = a[i * n + k];
            for (int j = rank; j < n; j++) {
                dot += a[i * n + j] * a[k * n + j];
            }
            dot *= factor[k];
            a[i * n + k] -= dot;
            for (int j = rank; j < n; j++) {
                a[i * n + j] -= dot * a[k * n + j];
            }
        }
    }
    for (int i = rank - 1; i >= 0; i--) {
        khz_real sum = b[i];
        for (int j = i + 1; j < rank; j++) {
            sum -= a[i * n + j] * x[j];
        }
        x[i] = sum / a[i * n + i];
    }
    for (int i = rank; i < n; i++) {
        x[i] = 0.0;
    }
    for (int k = 0; k < rank && rank < n; k++) {
        khz_real dot = x[k];
        for (int j = rank; j < n; j++) {
            dot += a[k * n + j] * x[j];
        }
        dot *= factor[k];
        x[k] -= dot;
        for (int j = rank; j < n; j++) {
            x[j] -= dot * a[k * n + j];
        }
    }
    for (int i = 0; i < n; i++) {
        b[order[i]] = x[i];
    }
    return KHZ_OK;
}
