#include "khz_sparse.h"

#include "khz_vector.h"

enum {
    ALIKE = 4,
    EIGHT = 8
}; /* entries of a row from which a look for a shorter way pays; rows that are taken at once */

/* lu: the entries [n_lu], for each pivot its inverse, a row in full length [n], the largest entry of each row of U [n].
 */
size_t khz_sparse_size(const khz_sparse_plan *p) { return KHZ_SPARSE_ROOM((size_t)p->n_lu, (size_t)p->n); }

void khz_sparse_assemble(const khz_sparse_plan *p, const khz_real *jac, khz_real h_gamma, int32_t n_ones, khz_real *a)
{
    for (int32_t i = 0; i < p->n; i++) {
        a[p->a_diagonal[i]] = 0.0; /* all others are entries of J */
    }
    for (int32_t k = 0; k < p->n_jac; k++) {
        a[p->a_of_jac[k]] = -h_gamma * jac[k];
    }
    for (int32_t i = 0; i < n_ones; i++) {
        a[p->a_diagonal[i]] += 1.0;
    }
}

/* Row i of the permuted matrix into full length; its largest entry. */
static khz_real spread(const khz_sparse_plan *p, const khz_real *a, int32_t i, khz_real *full)
{
    const int32_t row = p->order[i];
    khz_real largest = 0.0;
    for (int32_t k = p->lu_row[i]; k < p->lu_row[i + 1]; k++) {
        full[p->lu_column[k]] = 0.0;
    }
    for (int32_t k = p->a_row[row]; k < p->a_row[row + 1]; k++) {
        full[p->inverse[p->a_column[k]]] = a[k];
        largest = khz_larger(largest, fabs(a[k]));
    }
    return largest;
}

/* full -= factor times what is to the right of the pivot in row j of U; side by side where nothing is missing there. */
static KHZ_INLINE void subtract_right(const khz_sparse_plan *p, khz_real *full, khz_real factor, const khz_real *lu,
                                      int32_t j)
{
    const int32_t right = p->lu_diagonal[j] + 1, end = p->lu_row[j + 1], n = end - right;
    if (n >= ALIKE && p->lu_column[end - 1] - p->lu_column[right] == n - 1) {
        khz_real *const to = full + p->lu_column[right];
        khz_add_scaled(n, to, -factor, lu + right, to);
    } else {
        khz_subtract_at(full, p->lu_column + right, factor, lu + right, n);
    }
}

/* Entries of row i of U that stand side by side behind its pivot; 0: one is missing there, or it has but a few. */
static KHZ_INLINE int32_t run_of_upper(const khz_sparse_plan *p, int32_t i)
{
    const int32_t end = p->lu_row[i + 1], n = end - p->lu_diagonal[i] - 1;
    return n >= ALIKE && p->lu_column[end - 1] == i + n ? n : 0;
}

/* What is watched while a row is eliminated. */
typedef struct seen_entries {
    khz_real whole;   /* what the pivot is a difference of */
    khz_real reached; /* the largest multiple of an entry that was subtracted */
} seen_entries;

static KHZ_INLINE void subtract_row(const khz_sparse_plan *p, khz_real *full, khz_real *lu, int32_t i, int32_t k,
                                    seen_entries *w)
{
    const int32_t j = p->lu_column[k];
    const khz_real factor = full[j] * lu[p->lu_diagonal[j]];
    const khz_real before = full[i];
    lu[k] = factor;
    subtract_right(p, full, factor, lu, j);
    w->whole += fabs(full[i] - before);
    w->reached = khz_larger(w->reached, fabs(factor) * lu[p->n_lu + p->n + j]);
}

/* Multiples of rows j and j + 1 at once, of which n entries behind the second pivot stand side by side: as one after
 * the other. */
static KHZ_INLINE void subtract_two_rows(const khz_sparse_plan *p, khz_real *full, khz_real *lu, int32_t i, int32_t k,
                                         int32_t n, seen_entries *w)
{
    const int32_t j = p->lu_column[k], at = i - j - 2; /* of row i among these */
    const khz_real *const one = lu + p->lu_diagonal[j], *const other = lu + p->lu_diagonal[j + 1];
    const khz_real *const x = one + 2, *const y = other + 1, *const peak = lu + p->n_lu + p->n + j;
    khz_real *const to = full + j + 2;
    const khz_real first = full[j] * one[0];
    const khz_real second = (full[j + 1] - first * one[1]) * other[0];
    const khz_real before = to[at], between = before - first * x[at];
    lu[k] = first;
    lu[k + 1] = second;
    int32_t m = 0;
    for (; m + 2 <= n; m += 2) {
        khz_set_pair(to + m, khz_pair_at(to + m) - first * khz_pair_at(x + m) - second * khz_pair_at(y + m));
    }
    if (m < n) {
        to[m] = to[m] - first * x[m] - second * y[m];
    }
    w->whole = w->whole + fabs(between - before) + fabs(to[at] - between);
    w->reached = khz_larger(khz_larger(w->reached, fabs(first) * peak[0]), fabs(second) * peak[1]);
}

/* Multiples of earlier rows subtracted from row i: they are row i of L. */
static KHZ_INLINE void eliminate_left(const khz_sparse_plan *p, khz_real *full, khz_real *lu, int32_t i,
                                      seen_entries *w)
{
    const int32_t end = p->lu_diagonal[i];
    for (int32_t k = p->lu_row[i]; k < end; k++) {
        const int32_t j = p->lu_column[k];
        const int32_t n = p->is_alike && k + 1 < end && p->lu_column[k + 1] == j + 1 ? run_of_upper(p, j + 1) : 0;
        if (n > 0 && run_of_upper(p, j) == n + 1) {
            subtract_two_rows(p, full, lu, i, k, n, w);
            k++;
        } else {
            subtract_row(p, full, lu, i, k, w);
        }
    }
}

int khz_sparse_factor(const khz_sparse_plan *p, const khz_real *a, khz_real *lu)
{
    if (p->factor != NULL) {
        return p->factor(a, lu);
    }
    khz_real *const full = lu + p->n_lu;
    khz_real *const peak = full + p->n;
    for (int32_t i = 0; i < p->n; i++) {
        const khz_real largest = spread(p, a, i, full);
        seen_entries w = {.whole = fabs(full[i])};
        eliminate_left(p, full, lu, i, &w);
        khz_real most = 0.0;
        for (int32_t k = p->lu_diagonal[i]; k < p->lu_row[i + 1]; k++) {
            lu[k] = full[p->lu_column[k]];
            most = khz_larger(most, fabs(lu[k]));
        }
        peak[i] = most;
        if (!khz_suits(fabs(full[i]), w.whole, most, w.reached, largest)) {
            return 1;
        }
        lu[p->lu_diagonal[i]] = 1.0 / full[i];
    }
    return 0;
}

int khz_sparse_factor_dense(const khz_sparse_plan *p, const khz_real *dense, khz_real *lu)
{
    khz_real *const a = lu + khz_sparse_size(p);
    for (int32_t i = 0; i < p->n; i++) {
        for (int32_t k = p->a_row[i]; k < p->a_row[i + 1]; k++) {
            a[k] = dense[i * p->n + p->a_column[k]];
        }
    }
    return khz_sparse_factor(p, a, lu);
}

/* Entries of row i of L that stand side by side up to its pivot; 0: one is missing there, or it has fewer than a few.
 */
static KHZ_INLINE int32_t run_of_lower(const khz_sparse_plan *p, int32_t i)
{
    const int32_t at = p->lu_row[i], n = p->lu_diagonal[i] - at;
    return n >= ALIKE && p->lu_column[at] == i - n ? n : 0;
}

/* Are rows i to i + 7 of L alike: of each n entries side by side from the same column on, and those between them? */
static KHZ_INLINE int are_lower_alike(const khz_sparse_plan *p, int32_t i, int32_t n)
{
    int is = n > 0 && i + EIGHT <= p->n;
    for (int32_t q = 1; is && q < EIGHT; q++) {
        is = run_of_lower(p, i + q) == n + q;
    }
    return is;
}

/* Likewise rows i down to i - 7 of U. */
static KHZ_INLINE int are_upper_alike(const khz_sparse_plan *p, int32_t i, int32_t n)
{
    int is = n > 0 && i + 1 >= EIGHT;
    for (int32_t q = 1; is && q < EIGHT; q++) {
        is = run_of_upper(p, i - q) == n + q;
    }
    return is;
}

/* v[0..7] -= the rows that begin at `row` times x [n], from its first on (`by` 1) or its last (-1).  Eight sums, which
 * do not wait for one another. */
static KHZ_INLINE void subtract_eight(const khz_real *const *row, const khz_real *x, int32_t n, int32_t by, khz_real *v)
{
    const khz_real *const r0 = row[0], *const r1 = row[1], *const r2 = row[2], *const r3 = row[3];
    const khz_real *const r4 = row[4], *const r5 = row[5], *const r6 = row[6], *const r7 = row[7];
    khz_pair a = khz_pair_at(v), b = khz_pair_at(v + 2), c = khz_pair_at(v + 4), d = khz_pair_at(v + 6);
    for (int32_t m = 0, k = by > 0 ? 0 : n - 1; m < n; m++, k += by) {
        const khz_pair to = khz_pair_of(x[k], x[k]);
        a -= khz_pair_of(r0[k], r1[k]) * to;
        b -= khz_pair_of(r2[k], r3[k]) * to;
        c -= khz_pair_of(r4[k], r5[k]) * to;
        d -= khz_pair_of(r6[k], r7[k]) * to;
    }
    khz_set_pair(v, a);
    khz_set_pair(v + 2, b);
    khz_set_pair(v + 4, c);
    khz_set_pair(v + 6, d);
}

/* Eight rows of L from row i on, which are alike. */
static KHZ_INLINE void solve_eight_lower(const khz_sparse_plan *p, const khz_real *lu, khz_real *v, int32_t i,
                                         int32_t n)
{
    const khz_real *row[EIGHT];
    for (int32_t q = 0; q < EIGHT; q++) {
        row[q] = lu + p->lu_row[i + q];
    }
    subtract_eight(row, v + i - n, n, 1, v + i);
    for (int32_t q = 1; q < EIGHT; q++) {
        khz_real sum = v[i + q];
        for (int32_t k = 0; k < q; k++) {
            sum -= row[q][n + k] * v[i + k];
        }
        v[i + q] = sum;
    }
}

/* Eight rows of U from row i down, which are alike. */
static KHZ_INLINE void solve_eight_upper(const khz_sparse_plan *p, const khz_real *lu, khz_real *v, int32_t i,
                                         int32_t n)
{
    const khz_real *row[EIGHT];
    khz_real less[EIGHT];
    for (int32_t q = 0; q < EIGHT; q++) {
        row[q] = lu + p->lu_diagonal[i - q] + 1 + q;
        less[q] = v[i - q];
    }
    subtract_eight(row, v + i + 1, n, -1, less);
    for (int32_t q = 0; q < EIGHT; q++) {
        khz_real sum = less[q];
        for (int32_t k = 0; k < q; k++) {
            sum -= row[q][-1 - k] * v[i - k];
        }
        v[i - q] = sum * row[q][-1 - q];
    }
}

/* v: b in the order of elimination, with multiples of what comes before subtracted. */
static KHZ_INLINE void solve_lower(const khz_sparse_plan *p, const khz_real *lu, const khz_real *b, khz_real *v)
{
    for (int32_t i = 0; i < p->n; i++) {
        const int32_t end = p->lu_diagonal[i];
        khz_real sum = b[p->order[i]];
        for (int32_t k = p->lu_row[i]; k < end; k++) {
            sum -= lu[k] * v[p->lu_column[k]];
        }
        v[i] = sum;
    }
}

/* Each sum ends with what was found last: the rest of it does not wait for that. */
static KHZ_INLINE void solve_upper(const khz_sparse_plan *p, const khz_real *lu, khz_real *b, khz_real *v)
{
    for (int32_t i = p->n - 1; i >= 0; i--) {
        const int32_t diagonal = p->lu_diagonal[i];
        khz_real sum = v[i];
        for (int32_t k = p->lu_row[i + 1] - 1; k > diagonal; k--) {
            sum -= lu[k] * v[p->lu_column[k]];
        }
        sum *= lu[diagonal];
        v[i] = sum;
        b[p->order[i]] = sum;
    }
}

/* The same for factors with rows that are alike. */
static KHZ_NOINLINE void solve_by_eights(const khz_sparse_plan *p, const khz_real *lu, khz_real *b, khz_real *v)
{
    for (int32_t i = 0; i < p->n; i++) {
        v[i] = b[p->order[i]];
    }
    for (int32_t i = 0; i < p->n; i++) {
        const int32_t n = run_of_lower(p, i);
        if (are_lower_alike(p, i, n)) {
            solve_eight_lower(p, lu, v, i, n);
            i += EIGHT - 1;
            continue;
        }
        for (int32_t k = p->lu_row[i]; k < p->lu_diagonal[i]; k++) {
            v[i] -= lu[k] * v[p->lu_column[k]];
        }
    }
    for (int32_t i = p->n - 1; i >= 0; i--) {
        const int32_t n = run_of_upper(p, i), diagonal = p->lu_diagonal[i];
        if (are_upper_alike(p, i, n)) {
            solve_eight_upper(p, lu, v, i, n);
            i -= EIGHT - 1;
            continue;
        }
        khz_real sum = v[i];
        for (int32_t k = p->lu_row[i + 1] - 1; k > diagonal; k--) {
            sum -= lu[k] * v[p->lu_column[k]];
        }
        v[i] = sum * lu[diagonal];
    }
    for (int32_t i = 0; i < p->n; i++) {
        b[p->order[i]] = v[i];
    }
}

void khz_sparse_solve(const khz_sparse_plan *p, khz_real *lu, khz_real *b)
{
    if (p->solve != NULL) {
        p->solve(lu, b);
    } else if (p->is_alike) {
        solve_by_eights(p, lu, b, lu + p->n_lu);
    } else {
        solve_lower(p, lu, b, lu + p->n_lu);
        solve_upper(p, lu, b, lu + p->n_lu);
    }
}
