#include "khz_turns.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_limits.h"
#include "khz_linear.h"
#include "khz_planned.h"
#include "khz_sparse.h"

/* The rows of the matrix, brought to size one, in the places of the factors; 0: one has no entries, or no number. */
static int turns_scale(const khz_turns *t, const khz_real *a, khz_real *lu)
{
    khz_real *const scale = lu + t->lu_row[t->n];
    khz_real total = 0.0;
    memset(lu, 0, sizeof(khz_real) * (size_t)t->lu_row[t->n]);
    for (int32_t i = 0; i < t->n; i++) {
        khz_real largest = 0.0;
        for (int32_t k = t->a_row[i]; k < t->a_row[i + 1]; k++) {
            largest = khz_larger(largest, fabs(a[k]));
            total += fabs(a[k]);
        }
        if (largest == 0.0) {
            return 0;
        }
        scale[i] = khz_power_to_one(largest);
        for (int32_t k = t->a_row[i]; k < t->a_row[i + 1]; k++) {
            lu[t->a_to[k]] = scale[i] * a[k];
        }
    }
    return total <= KHZ_LARGEST;
}

int khz_turns_factor(const khz_turns *t, const khz_real *a, khz_real *lu)
{
    if (!turns_scale(t, a, lu)) {
        return 1;
    }
    khz_real most = 0.0;
    const int32_t *to = t->to;
    for (int32_t k = 0; k < t->n; k++) {
        const int32_t at = t->pivot[k];
        const int32_t n_right = t->lu_row[t->row[k] + 1] - at - 1;
        const khz_real *const right = lu + at + 1;
        khz_real above = 0.0;
        for (int32_t q = t->above_of[k]; q < t->above_of[k + 1]; q++) {
            above = khz_larger(above, fabs(lu[t->above[q]]));
        }
        if (!khz_is_chosen_pivot(t->n, fabs(lu[at]), above)) {
            return 1;
        }
        const khz_real inverse = 1.0 / lu[at];
        for (int32_t q = t->below_of[k]; q < t->below_of[k + 1]; q++) {
            const khz_real factor = lu[t->below[q]] * inverse;
            lu[t->below[q]] = factor;
            most = khz_larger(most, fabs(factor));
            for (int32_t m = 0; m < n_right; m++) {
                lu[to[m]] -= factor * right[m];
            }
            to += n_right;
        }
    }
    return most <= KHZ_PLANNED_MULTIPLE ? 0 : 1;
}

void khz_turns_solve(const khz_turns *t, const khz_real *lu, khz_real *b, khz_real *work)
{
    const khz_real *const scale = lu + t->lu_row[t->n];
    for (int32_t i = 0; i < t->n; i++) {
        work[i] = b[i] * scale[i];
    }
    for (int32_t k = 0; k < t->n; k++) {
        const khz_real w = work[t->row[k]];
        for (int32_t q = t->below_of[k]; q < t->below_of[k + 1]; q++) {
            work[t->below_row[q]] -= lu[t->below[q]] * w;
        }
    }
    for (int32_t k = t->n - 1; k >= 0; k--) {
        khz_real sum = work[t->row[k]];
        for (int32_t p = t->pivot[k] + 1; p < t->lu_row[t->row[k] + 1]; p++) {
            sum -= lu[p] * b[t->lu_column[p]];
        }
        b[t->lu_column[t->pivot[k]]] = sum / lu[t->pivot[k]];
    }
}

void khz_turns_solve_lanes(const khz_turns *t, const khz_real *lu, khz_lanes *b, khz_lanes *work)
{
    const khz_real *const scale = lu + t->lu_row[t->n];
    for (int32_t i = 0; i < t->n; i++) {
        work[i] = b[i] * scale[i];
    }
    for (int32_t k = 0; k < t->n; k++) {
        const khz_lanes w = work[t->row[k]];
        for (int32_t q = t->below_of[k]; q < t->below_of[k + 1]; q++) {
            work[t->below_row[q]] -= lu[t->below[q]] * w;
        }
    }
    for (int32_t k = t->n - 1; k >= 0; k--) {
        khz_lanes sum = work[t->row[k]];
        for (int32_t p = t->pivot[k] + 1; p < t->lu_row[t->row[k] + 1]; p++) {
            sum -= lu[p] * b[t->lu_column[p]];
        }
        b[t->lu_column[t->pivot[k]]] = sum / lu[t->pivot[k]];
    }
}
