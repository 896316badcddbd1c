/* A model evaluated at a point: derivatives, a stage, all values; and whether these are numbers. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_model.h"
#include "khz_probe.h"
#include "khz_vector.h"

/* to := from; 1 where there is neither NaN nor infinity (khz_are_finite). */
static int copy_finite(int32_t n, const khz_real *restrict from, khz_real *restrict to)
{
    khz_pair pairs = {0.0, 0.0};
    khz_real sum = 0.0;
    int32_t i = 0;
    for (; i + 2 <= n; i += 2) {
        const khz_pair v = khz_pair_at(from + i);
        khz_set_pair(to + i, v);
        pairs += v;
    }
    if (i < n) {
        to[i] = from[i];
        sum = from[i];
    }
    return fabs(sum + (pairs[0] + pairs[1])) <= KHZ_LARGEST || khz_are_finite(n, from);
}

int khz_values_are_finite(const khz_model *m, void *instance)
{
    const khz_real *const w = khz_reals(instance, m->w);
    const khz_real *const d = khz_reals(instance, m->d);
    const int are_ends = m->ends != NULL && fabs(m->ends(instance)) <= KHZ_LARGEST;
    return (are_ends || khz_are_finite(m->n_w, w)) && khz_are_finite(m->n_d, d);
}

int32_t khz_first_odd(const khz_model *m, void *instance, int32_t n_values)
{
    const khz_real *const w = khz_reals(instance, m->w);
    const khz_real *const xd = khz_reals(instance, m->xd);
    for (int32_t k = 0; k < n_values; k++) {
        const int32_t at = m->value_place[k];
        if (!khz_are_finite(1, at >= 0 ? &w[at] : &xd[-1 - at])) {
            return k;
        }
    }
    return KHZ_NOWHERE;
}

int32_t khz_first_not_finite(const khz_model *m, void *instance, int32_t n_values)
{
    const khz_real *const d = khz_reals(instance, m->d);
    const int32_t odd = khz_first_odd(m, instance, n_values);
    if (odd != KHZ_NOWHERE) {
        return m->value_block[odd];
    }
    for (int32_t i = 0; i < m->n_d && n_values == m->n_values; i++) {
        if (!khz_are_finite(1, &d[i])) {
            return m->discrete_block[i];
        }
    }
    return KHZ_NOWHERE;
}

int khz_only_views_are_odd(const khz_model *m, void *instance)
{
    const khz_real *const w = khz_reals(instance, m->w);
    int32_t n = 0;
    for (int32_t i = 0; i < m->n_w; i++) {
        n += !khz_are_finite(1, &w[i]);
    }
    for (int32_t k = m->n_values - m->n_views; k < m->n_values; k++) {
        n -= !khz_are_finite(1, &w[m->value_place[k]]);
    }
    return n == 0 && khz_are_finite(m->n_d, khz_reals(instance, m->d));
}

/* An evaluation at a time: nothing has failed yet, the arena is free. */
static KHZ_INLINE void begin_at(khz_context *c, double time)
{
    c->time = time;
    c->status = KHZ_OK;
    c->arena_used = 0;
}

khz_status khz_derivatives(const khz_model *m, void *instance, double time, const khz_real *x, khz_real *xd)
{
    khz_context *const c = (khz_context *)instance;
    begin_at(c, time);
    memcpy(khz_reals(instance, m->x), x, sizeof(khz_real) * (size_t)m->n_x);
    khz_status status;
    KHZ_WITHIN(c, KHZ_PLACE_STAGE, status = KHZ_COPY(c, m)->step(instance));
    if (status != KHZ_OK) {
        return status;
    }
    if (!copy_finite(m->n_x, khz_reals(instance, m->xd), xd)) {
        c->status = KHZ_NOT_FINITE;
        return KHZ_NOT_FINITE;
    }
    return KHZ_OK;
}

void khz_set_point(const khz_model *m, void *instance, const khz_real *y)
{
    memcpy(khz_reals(instance, m->x), y, sizeof(khz_real) * (size_t)m->n_x);
    for (int32_t i = 0; i < m->n_z; i++) {
        *khz_reals(instance, m->z_place[i]) = y[m->n_x + i];
    }
}

void khz_get_point(const khz_model *m, void *instance, khz_real *y)
{
    memcpy(y, khz_reals(instance, m->x), sizeof(khz_real) * (size_t)m->n_x);
    for (int32_t i = 0; i < m->n_z; i++) {
        y[m->n_x + i] = *khz_reals(instance, m->z_place[i]);
    }
}

khz_status khz_residuals(const khz_model *m, void *instance, double time, const khz_real *y, khz_real *f)
{
    khz_context *const c = (khz_context *)instance;
    if (m->n_z == 0) {
        return khz_derivatives(m, instance, time, y, f);
    }
    khz_set_point(m, instance, y);
    c->is_open = 1;
    khz_status status = khz_derivatives(m, instance, time, y, f);
    c->is_open = 0;
    if (status == KHZ_OK && !copy_finite(m->n_z, khz_reals(instance, m->res), f + m->n_x)) {
        status = KHZ_NOT_FINITE;
        c->status = KHZ_NOT_FINITE;
    }
    return status;
}

khz_status khz_stage(const khz_model *m, void *instance, double time, const khz_real *base, khz_real gamma_h)
{
    khz_context *const c = (khz_context *)instance;
    if (m->inlined == NULL) {
        return KHZ_UNSUPPORTED;
    }
    begin_at(c, time);
    memcpy(khz_reals(instance, m->base), base, sizeof(khz_real) * (size_t)m->n_x);
    *khz_reals(instance, m->gamma_h) = gamma_h;
    khz_status status;
    KHZ_WITHIN(c, KHZ_PLACE_STAGE, status = KHZ_COPY(c, m)->inlined(instance));
    if (status != KHZ_OK) {
        return status;
    }
    if (!khz_are_finite(m->n_x, khz_reals(instance, m->x)) || !khz_are_finite(m->n_x, khz_reals(instance, m->xd))) {
        c->status = KHZ_NOT_FINITE;
        return KHZ_NOT_FINITE;
    }
    return KHZ_OK;
}

static KHZ_INLINE khz_status late_phases(const khz_model *m, void *instance)
{
    const khz_status status = m->crossing(instance);
    return status == KHZ_OK ? m->output(instance) : status;
}

static KHZ_INLINE khz_status every_phase(const khz_model *m, void *instance)
{
    const khz_status status = m->step(instance);
    return status == KHZ_OK ? late_phases(m, instance) : status;
}

khz_status khz_evaluate_rest(const khz_model *m, void *instance, double time)
{
    khz_context *const c = (khz_context *)instance;
    begin_at(c, time);
    khz_status status;
    KHZ_WITHIN(c, KHZ_PLACE_OUTPUT, status = late_phases(KHZ_COPY(c, m), instance));
    return status;
}

void khz_evaluate_views(const khz_model *m, void *instance)
{
    khz_context *const c = (khz_context *)instance;
    KHZ_WITHIN(c, KHZ_PLACE_OUTPUT, (void)KHZ_COPY(c, m)->view(instance));
}

khz_status khz_evaluate_all(const khz_model *m, void *instance, double time, const khz_real *x)
{
    const khz_status status = khz_evaluate(m, instance, time, x);
    if (status == KHZ_OK) {
        khz_evaluate_views(m, instance);
    }
    return status;
}

khz_status khz_evaluate(const khz_model *m, void *instance, double time, const khz_real *x)
{
    khz_context *const c = (khz_context *)instance;
    begin_at(c, time);
    if (x != khz_reals(instance, m->x)) {
        memcpy(khz_reals(instance, m->x), x, sizeof(khz_real) * (size_t)m->n_x);
    }
    khz_status status;
    KHZ_WITHIN(c, KHZ_PLACE_OUTPUT, status = every_phase(KHZ_COPY(c, m), instance));
    return status;
}
