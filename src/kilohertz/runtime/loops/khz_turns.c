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
    const int32_t *const to = t->a_to;
    khz_real total = 0.0;
    memset(lu, 0, sizeof(khz_real) * (size_t)t->lu_row[t->n]);
    for (int32_t i = 0; i < t->n; i++) {
        const int32_t end = t->a_row[i + 1];
        khz_real largest = 0.0, sum = 0.0; /* a sum of its own: rows do not wait for one another */
        for (int32_t k = t->a_row[i]; k < end; k++) {
            const khz_real size = fabs(a[k]);
            largest = khz_larger(largest, size);
            sum += size;
        }
        if (largest == 0.0) {
            return 0;
        }
        total += sum;
        const khz_real by = khz_power_to_one(largest);
        for (int32_t k = t->a_row[i]; k < end; k++) {
            lu[to[k]] = by * a[k];
        }
        scale[i] = by;
    }
    return total <= KHZ_LARGEST;
}

int khz_turns_factor(const khz_turns *t, const khz_real *a, khz_real *lu)
{
    if (!turns_scale(t, a, lu)) {
        return 1;
    }
    khz_real most = 0.0;
    const int32_t *to = t->to, *above_at = t->above, *below = t->below;
    for (int32_t k = 0; k < t->n; k++) {
        const int32_t at = t->pivot[k];
        const int32_t n_right = t->lu_row[t->row[k] + 1] - at - 1;
        khz_real above = 0.0;
        for (const int32_t *const end = t->above + t->above_of[k + 1]; above_at < end; above_at++) {
            above = khz_larger(above, fabs(lu[*above_at]));
        }
        if (!khz_is_chosen_pivot(t->n, fabs(lu[at]), above)) {
            return 1;
        }
        const khz_real inverse = 1.0 / lu[at];
        for (const int32_t *const end = t->below + t->below_of[k + 1]; below < end; below++) {
            const khz_real factor = lu[*below] * inverse;
            lu[*below] = factor;
            most = khz_larger(most, fabs(factor));
            khz_subtract_at(lu, to, factor, lu + at + 1, n_right);
            to += n_right;
        }
    }
    return most <= KHZ_PLANNED_MULTIPLE ? 0 : 1;
}

/* Upwards each sum ends with what was found last: the rest of it does not wait for that. */
void khz_turns_solve(const khz_turns *t, const khz_real *lu, khz_real *b, khz_real *work)
{
    const khz_real *const scale = lu + t->lu_row[t->n];
    const int32_t *const below = t->below, *const below_row = t->below_row, *const column = t->lu_column;
    for (int32_t i = 0; i < t->n; i++) {
        work[i] = b[i] * scale[i];
    }
    for (int32_t k = 0; k < t->n; k++) {
        const khz_real w = work[t->row[k]];
        const int32_t end = t->below_of[k + 1];
        for (int32_t q = t->below_of[k]; q < end; q++) {
            work[below_row[q]] -= lu[below[q]] * w;
        }
    }
    for (int32_t k = t->n - 1; k >= 0; k--) {
        khz_real sum = work[t->row[k]];
        const int32_t at = t->pivot[k];
        for (int32_t p = t->lu_row[t->row[k] + 1] - 1; p > at; p--) {
            sum -= lu[p] * b[column[p]];
        }
        b[column[at]] = sum / lu[at];
    }
}

void khz_turns_solve_lanes(const khz_turns *t, const khz_real *lu, khz_lanes *b, khz_lanes *work)
{
    const khz_real *const scale = lu + t->lu_row[t->n];
    const int32_t *const below = t->below, *const below_row = t->below_row, *const column = t->lu_column;
    for (int32_t i = 0; i < t->n; i++) {
        work[i] = b[i] * scale[i];
    }
    for (int32_t k = 0; k < t->n; k++) {
        const khz_lanes w = work[t->row[k]];
        const int32_t end = t->below_of[k + 1];
        for (int32_t q = t->below_of[k]; q < end; q++) {
            work[below_row[q]] -= lu[below[q]] * w;
        }
    }
    for (int32_t k = t->n - 1; k >= 0; k--) {
        khz_lanes sum = work[t->row[k]];
        const int32_t at = t->pivot[k];
        for (int32_t p = t->lu_row[t->row[k] + 1] - 1; p > at; p--) {
            sum -= lu[p] * b[column[p]];
        }
        b[column[at]] = sum / lu[at];
    }
}
