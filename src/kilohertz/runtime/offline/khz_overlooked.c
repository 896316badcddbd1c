#include "khz_overlooked.h"

#include <math.h>

#include "khz_ida.h"

static const double MISSED = 10.0;  /* of the tolerance: what derivatives miss, over a step */
static const double PASSED = 100.0; /* of the tolerance: how far states are off, if that goes on */

double khz_next_look(const khz_offline *o, double low, double high)
{
    const double most = (o->stop - o->start) / KHZ_LOOKS;
    const double parts = ceil((high - low) / most * (1.0 - 1e-9));
    return parts > 1.0 ? low + (high - low) / parts : high;
}

static double tolerance_of(const khz_offline *o, const cvode_solver *s, const double *y, int32_t i)
{
    return o->relative_tolerance * fabs(y[i]) + o->sundials->vector_data(s->absolute)[i];
}

/* The largest of v, in tolerances. */
static double in_tolerances(const khz_offline *o, const cvode_solver *s, const double *v)
{
    const double *const y = o->sundials->vector_data(s->dense);
    double most = 0.0;
    for (int32_t i = 0; i < o->model->n_x; i++) {
        const double part = fabs(v[i]) / tolerance_of(o, s, y, i);
        most = part > most ? part : most;
    }
    return most;
}

int khz_is_overlooked(khz_offline *o, const cvode_solver *s, double t)
{
    const khz_sundials *const f = o->sundials;
    const khz_model *const m = o->model;
    double gamma = 0.0;
    if (m->n_x == 0 || f->interpolate(s->mem, t, 1, s->slope) != 0 || f->gamma(s->mem, &gamma) != 0) {
        return 0;
    }
    double *const slope = f->vector_data(s->slope);
    const double *const rate = khz_reals(o->instance, m->xd);
    for (int32_t i = 0; i < m->n_x; i++) {
        slope[i] = gamma * (rate[i] - slope[i]);
    }
    if (!(in_tolerances(o, s, slope) > MISSED)) {
        return 0;
    }
    if (khz_is_ida(f)) {
        for (int32_t i = 0; i < m->n_x; i++) {
            slope[i] /= gamma;
        }
    }
    /* A stiff state's derivative misses much for a small error: what the error is, the matrix of the step tells. */
    if (khz_plan_solver_solve(&s->plan, o, s->linear, s->matrix, s->correction, s->slope) != 0) {
        return 0;
    }
    return in_tolerances(o, s, f->vector_data(s->correction)) > PASSED;
}
