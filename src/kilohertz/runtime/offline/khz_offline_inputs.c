/* Inputs over time of an off-line run: lines between points, a jump where two points have one time; formulas. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_math.h"
#include "khz_offline.h"

/* The last point of the piece that begins at `first`. */
static int64_t piece_end(const khz_offline_inputs *u, int64_t first)
{
    int64_t last = first;
    while (last + 1 < u->n_points && u->time[last + 1] > u->time[last]) {
        last++;
    }
    return last;
}

void khz_offline_inputs_start(khz_offline *o)
{
    if (o->inputs != NULL) {
        o->inputs->first = 0;
        o->inputs->last = piece_end(o->inputs, 0);
        o->inputs->piece = 0;
    }
}

static double next_jump(const khz_offline_inputs *u) { return u->last + 1 < u->n_points ? u->time[u->last] : DBL_MAX; }

static double next_break(const khz_offline_inputs *u)
{
    return u->piece + 1 < u->n_breaks ? u->breaks[u->piece + 1] : DBL_MAX;
}

double khz_offline_inputs_next(const khz_offline *o)
{
    return o->inputs != NULL ? fmin(next_jump(o->inputs), next_break(o->inputs)) : DBL_MAX;
}

void khz_offline_inputs_pass(khz_offline *o, double t)
{
    khz_offline_inputs *const u = o->inputs;
    const double now = u != NULL && u->is_sampled ? t + KHZ_SOON : t;
    while (u != NULL && next_jump(u) <= now) {
        u->first = u->last + 1;
        u->last = piece_end(u, u->first);
    }
    while (u != NULL && next_break(u) <= now) {
        u->piece++;
    }
    khz_offline_inputs_set(o, t);
}

/* The last point of the piece that is not after t. */
static int64_t point_at(const khz_offline_inputs *u, double t)
{
    int64_t low = u->first;
    int64_t high = u->last + 1;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (u->time[middle] <= t) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void put(const khz_offline *o, int32_t k, double value)
{
    const khz_offline_inputs *const u = o->inputs;
    char *const at = (char *)o->instance + u->offset[k];
    if (u->kind[k] == KHZ_SIGNAL_REAL) {
        const khz_real number = (khz_real)value;
        memcpy(at, &number, sizeof number);
    } else {
        const int32_t whole = u->kind[k] == KHZ_SIGNAL_BOOLEAN ? khz_whole(value) != 0 : khz_whole(value);
        memcpy(at, &whole, sizeof whole);
    }
}

static void set_formulas(const khz_offline *o, double t)
{
    const khz_offline_inputs *const u = o->inputs;
    for (int32_t k = 0; k < u->n_formulas; k++) {
        const khz_formula *const f = &u->formulas[k];
        put(o, u->n + k, u->is_sampled ? khz_formula_sample(f, t) : khz_formula_value(f, u->when[u->piece], t));
    }
}

void khz_offline_inputs_set(khz_offline *o, double t)
{
    const khz_offline_inputs *const u = o->inputs;
    if (u == NULL) {
        return;
    }
    if (u->n > 0) {
        const int64_t i = point_at(u, t);
        const double *const row = u->values + i * u->n;
        const int inside = i < u->last && t > u->time[i];
        const double part = inside ? (t - u->time[i]) / (u->time[i + 1] - u->time[i]) : 0.0;
        for (int32_t k = 0; k < u->n; k++) {
            put(o, k, inside ? row[k] + part * (row[u->n + k] - row[k]) : row[k]);
        }
    }
    set_formulas(o, t);
}

#ifndef KHZ_SINGLE /* for CVODE and IDA */
khz_status khz_offline_derivatives(khz_offline *o, double t, const double *x, double *xd)
{
    khz_offline_inputs_set(o, t);
    return khz_derivatives(o->model, o->instance, t, x, xd);
}

khz_status khz_offline_evaluate(khz_offline *o, double t, const double *x)
{
    khz_offline_inputs_set(o, t);
    return khz_evaluate_all(o->model, o->instance, t, x);
}
#endif
