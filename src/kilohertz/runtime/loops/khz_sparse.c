#include "khz_sparse.h"

/* lu: the entries [n_lu], a row in full length [n], the largest entry of each row of U [n]. */
size_t khz_sparse_size(const khz_sparse_plan *p) { return KHZ_SPARSE_ROOM((size_t)p->n_lu, (size_t)p->n); }

void khz_sparse_assemble(const khz_sparse_plan *p, const khz_real *jac, khz_real h_gamma, int32_t n_ones, khz_real *a)
{
    for (int32_t k = 0; k < p->n_a; k++) {
        a[k] = 0.0;
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

int khz_sparse_factor(const khz_sparse_plan *p, const khz_real *a, khz_real *lu)
{
    if (p->factor != NULL) {
        return p->factor(a, lu);
    }
    khz_real *const full = lu + p->n_lu;
    khz_real *const peak = full + p->n;
    const int32_t *const column = p->lu_column, *const diagonal = p->lu_diagonal;
    for (int32_t i = 0; i < p->n; i++) {
        const int32_t end = diagonal[i];
        const khz_real largest = spread(p, a, i, full);
        khz_real whole = fabs(full[i]); /* what the pivot is a difference of */
        khz_real reached = 0.0;
        /* Subtract multiples of earlier rows: the multiples are row i of L. */
        for (int32_t k = p->lu_row[i]; k < end; k++) {
            const int32_t j = column[k];
            const khz_real factor = full[j] / lu[diagonal[j]];
            const khz_real before = full[i];
            lu[k] = factor;
            const int32_t right = diagonal[j] + 1;
            khz_subtract_at(full, column + right, factor, lu + right, p->lu_row[j + 1] - right);
            whole += fabs(full[i] - before);
            reached = khz_larger(reached, fabs(factor) * peak[j]);
        }
        peak[i] = 0.0;
        for (int32_t k = p->lu_diagonal[i]; k < p->lu_row[i + 1]; k++) {
            lu[k] = full[p->lu_column[k]];
            peak[i] = khz_larger(peak[i], fabs(lu[k]));
        }
        if (!khz_suits(fabs(full[i]), whole, peak[i], reached, largest)) {
            return 1;
        }
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

void khz_sparse_solve(const khz_sparse_plan *p, const khz_real *lu, khz_real *b)
{
    if (p->solve != NULL) {
        p->solve(lu, b);
        return;
    }
    for (int32_t i = 0; i < p->n; i++) {
        khz_real sum = b[p->order[i]];
        for (int32_t k = p->lu_row[i]; k < p->lu_diagonal[i]; k++) {
            sum -= lu[k] * b[p->lu_origin[k]];
        }
        b[p->order[i]] = sum;
    }
    for (int32_t i = p->n - 1; i >= 0; i--) {
        khz_real sum = b[p->order[i]];
        for (int32_t k = p->lu_diagonal[i] + 1; k < p->lu_row[i + 1]; k++) {
            sum -= lu[k] * b[p->lu_origin[k]];
        }
        b[p->order[i]] = sum / lu[p->lu_diagonal[i]];
    }
}
