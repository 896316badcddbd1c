#include "khz_standstill.h"

#include <math.h>

/* Guesses: so many steps in less than a 500th of the run (or than its output interval), each of them with a
 * Jacobian of its own, or every other. */
enum { STEPS_COUNTED = 1000000, STEPS_INTERVALS = 500, LOOKED_AT = 100 };

int64_t khz_standstill_work(const khz_model *m) { return 2 * (int64_t)m->n_x; }

static void count_anew(khz_standstill *k, const khz_offline *o)
{
    k->n_steps = o->n_steps;
    k->n_jacobians = o->n_jacobians;
    k->since = o->time;
    for (int32_t i = 0; i < o->model->n_x; i++) {
        k->low[i] = HUGE_VAL;
        k->high[i] = -HUGE_VAL;
    }
}

void khz_standstill_open(khz_standstill *k, const khz_offline *o, double *work)
{
    k->low = work;
    k->high = work + o->model->n_x;
    count_anew(k, o);
}

/* The state whose derivative has changed most in the last steps, beside its tolerance. */
static int32_t most_restless(const khz_standstill *k, const khz_offline *o)
{
    const khz_doubt *const d = o->doubt;
    int32_t found = 0;
    double most = -1.0;
    for (int32_t i = 0; i < o->model->n_x; i++) {
        const double jump = (k->high[i] - k->low[i]) / (o->relative_tolerance * fabs(d->y[i]) + d->tolerance[i]);
        found = jump > most ? i : found;
        most = fmax(jump, most);
    }
    return found;
}

int32_t khz_standstill_look(khz_standstill *k, khz_offline *o)
{
    const int64_t n = o->n_steps - k->n_steps;
    if (n < STEPS_COUNTED - LOOKED_AT) {
        return KHZ_OK;
    }
    for (int32_t i = 0; i < o->model->n_x; i++) {
        k->low[i] = fmin(k->low[i], o->doubt->f[i]);
        k->high[i] = fmax(k->high[i], o->doubt->f[i]);
    }
    if (n < STEPS_COUNTED) {
        return KHZ_OK;
    }
    const double interval = (o->stop - o->start) / (double)(o->n_grid > STEPS_INTERVALS ? o->n_grid : STEPS_INTERVALS);
    if ((o->time - k->since) < interval && o->n_jacobians - k->n_jacobians > STEPS_COUNTED / 2) {
        o->code = most_restless(k, o);
        return KHZ_RUN_STANDS_STILL;
    }
    count_anew(k, o);
    return KHZ_OK;
}
