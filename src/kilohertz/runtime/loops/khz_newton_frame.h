/* What an iteration of khz_newton works on, and the sizes by which it judges unknowns and residuals. */
#ifndef KHZ_NEWTON_FRAME_H
#define KHZ_NEWTON_FRAME_H

#include <math.h>

#include "khz_newton.h"
#include "khz_vector.h"

typedef struct frame {
    const khz_newton_problem *p;
    khz_context *c;
    void *instance;
    khz_real *f, *f_new, *jacobian, *lu, *step, *x_new, *row_scale, *x_scale, *lu_scale, *solve_work;
    int32_t *order;
} frame;

typedef void (*khz_part_fn)(void *instance, const khz_real *x, khz_real *values);

/* 0 where it failed: what that may have left of arrays, texts and its status is taken back. */
static KHZ_INLINE int khz_succeeds(khz_part_fn part, khz_context *c, void *instance, const khz_real *x,
                                   khz_real *values)
{
    const int32_t status = c->status;
    const size_t mark = c->arena_used;
    part(instance, x, values);
    const int failed = c->status != status;
    c->status = status;
    c->arena_used = mark;
    return !failed;
}

/* The largest part of a row of the Jacobian; of the entries of a plan. */
static KHZ_INLINE khz_real row_size(const frame *w, int i, int n)
{
    khz_real size = 0.0;
    for (int j = 0; j < n; j++) {
        size = khz_larger(size, fabs(w->jacobian[i * n + j]) * w->x_scale[j]);
    }
    return size;
}

static KHZ_INLINE khz_real planned_row_size(const frame *w, int i)
{
    const khz_sparse_plan *const plan = w->p->plan;
    khz_real size = 0.0;
    for (int32_t k = plan->a_row[i]; k < plan->a_row[i + 1]; k++) {
        const int32_t j = plan->a_column[k];
        size = khz_larger(size, fabs(w->jacobian[i * plan->n + j]) * w->x_scale[j]);
    }
    return size;
}

/* Sizes: an unknown is as large as it is or as its nominal value; a residual as large as its row of the Jacobian makes
 * it for a change of every unknown by that size. */
static KHZ_INLINE void rescale(const frame *w, const khz_real *x, int n)
{
    for (int j = 0; j < n; j++) {
        w->x_scale[j] = khz_larger(w->p->nominal[j], fabs(x[j]));
    }
    for (int i = 0; i < n; i++) {
        const khz_real size = w->p->plan == NULL ? row_size(w, i, n) : planned_row_size(w, i);
        w->row_scale[i] = size > 0.0 ? 1.0 / size : 1.0;
    }
}

static KHZ_INLINE khz_real merit(const frame *w, const khz_real *f, int n)
{
    khz_real sum = 0.0;
    for (int i = 0; i < n; i++) {
        const khz_real v = f[i] * w->row_scale[i];
        sum += v * v;
    }
    return sum;
}

static KHZ_INLINE khz_real largest_step(const frame *w, int n)
{
    khz_real largest = 0.0;
    for (int j = 0; j < n; j++) {
        largest = khz_larger(largest, fabs(w->step[j]) / w->x_scale[j]);
    }
    return largest;
}

#endif
