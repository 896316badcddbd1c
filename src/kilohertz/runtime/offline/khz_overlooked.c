#include "khz_overlooked.h"

#include <math.h>

#include "khz_ida.h"
#include "khz_jacobian.h"

static const double MISSED = 10.0;  /* of the tolerance: what derivatives miss, over a step */
static const double PASSED = 100.0; /* of the tolerance: how far states are off, if that goes on */
static const double NEAR = 10.0;    /* tolerances: errors of states that a derivative may miss so much for */

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

/* How far the states are off where `missed` goes on, in tolerances, by the matrix of the step.  A stiff state's
 * derivative misses much for a small error: what the error is, that matrix tells. */
static double led_off(khz_offline *o, const cvode_solver *s)
{
    const int bad = khz_plan_solver_solve(&s->plan, o, s->linear, s->matrix, s->correction, s->slope);
    return bad == 0 ? in_tolerances(o, s, o->sundials->vector_data(s->correction)) : 0.0;
}

/* Errors of states in tolerances as they reach unknowns of loops, by the matrix of the step. */
static int reach_unknowns(khz_offline *o, const cvode_solver *s, const double *y)
{
    const khz_model *const m = o->model;
    double *const v = o->sundials->vector_data(s->correction);
    double gamma = 1.0;
    if (m->n_k == 0 || (khz_is_ida(o->sundials) && o->sundials->gamma(s->mem, &gamma) != 0)) {
        return m->n_k != 0;
    }
    for (int32_t i = 0; i < m->n_x; i++) {
        v[i] = tolerance_of(o, s, y, i) / gamma;
    }
    return khz_plan_solver_solve(&s->plan, o, s->linear, s->matrix, s->correction, s->correction);
}

/* Leave out what errors of states near here make derivatives miss, by the Jacobian of this very instant: where it is
 * singular (a tank without water, a dead point) or steeper than that of the step, derivatives tell nothing.  `unit`:
 * what a derivative is multiplied by in `missed`.  Not 0: there is none. */
static int leave_out_errors(khz_offline *o, const cvode_work *w, const cvode_solver *s, double t, double unit,
                            double *missed)
{
    const khz_model *const m = o->model;
    const double *const y = o->sundials->vector_data(s->dense);
    o->n_rhs += m->directional == NULL ? m->colours.n + 1 : 0;
    if (reach_unknowns(o, s, y) != 0 || khz_jacobian(m, o->instance, w->there, w->k) != KHZ_OK) {
        (void)khz_offline_follow(o, w->path, t, o->sundials->vector_data(s->dense)); /* back from where it failed */
        return 1;
    }
    for (int32_t i = 0; i < m->n_x; i++) {
        double most = 0.0;
        for (int32_t k = m->jac_row[i]; k < m->jac_row[i + 1]; k++) {
            const int32_t j = m->jac_column[k];
            most += fabs(w->there[k]) * NEAR * (j < m->n_x ? tolerance_of(o, s, y, j) : fabs(s->plan.moved[j]));
        }
        missed[i] = fabs(missed[i]) > unit * most ? missed[i] : 0.0;
    }
    return 0;
}

int khz_is_overlooked(khz_offline *o, const cvode_work *w, const cvode_solver *s, double t)
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
    const double unit = khz_is_ida(f) ? 1.0 : gamma;
    for (int32_t i = 0; i < m->n_x; i++) {
        slope[i] *= unit / gamma;
    }
    return led_off(o, s) > PASSED && leave_out_errors(o, w, s, t, unit, slope) == 0 && led_off(o, s) > PASSED;
}
