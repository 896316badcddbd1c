/* Inputs over time of an off-line run: lines between points, a jump where two points have one time. */
#include <float.h>
#include <string.h>

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
    }
}

double khz_offline_inputs_next(const khz_offline *o)
{
    const khz_offline_inputs *const u = o->inputs;
    return u != NULL && u->last + 1 < u->n_points ? u->time[u->last] : DBL_MAX;
}

void khz_offline_inputs_pass(khz_offline *o, double t)
{
    while (khz_offline_inputs_next(o) <= t) {
        o->inputs->first = o->inputs->last + 1;
        o->inputs->last = piece_end(o->inputs, o->inputs->first);
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

void khz_offline_inputs_set(khz_offline *o, double t)
{
    const khz_offline_inputs *const u = o->inputs;
    if (u == NULL) {
        return;
    }
    const size_t n = (size_t)u->n;
    const int64_t i = point_at(u, t);
    const double *const row = u->values + (size_t)i * n;
    const int inside = i < u->last && t > u->time[i];
    const double part = inside ? (t - u->time[i]) / (u->time[i + 1] - u->time[i]) : 0.0;
    char *const base = (char *)o->instance;
    for (size_t k = 0; k < n; k++) {
        const double value = inside ? row[k] + part * (row[n + k] - row[k]) : row[k];
        if (u->kind[k] == 0) {
            memcpy(base + u->offset[k], &value, sizeof value);
        } else {
            const int32_t whole = (int32_t)value;
            memcpy(base + u->offset[k], &whole, sizeof whole);
        }
    }
}

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
