#include "khz_leap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "khz_jacobian.h"
#include "khz_linear.h"

/* Newton iterations of a step; widths that are tried, each so much longer; steps in a row, and in a run. */
enum { STATES_MOST = 500, NEWTON_CAP = 20, WIDTHS = 5, IN_A_ROW = 20, IN_A_RUN = 1000 };
static const double FIRST = 1024.0 * DBL_EPSILON, LONGER = 16.0; /* of time */
static const double CONVERGED = 0.1;                             /* of the tolerance */
static const double SMALLER = 0.1;                               /* of the derivatives before */

typedef struct room {
    double *matrix, *x, *old, *step, *scale, *work;
    int32_t *order;
} room;

static double largest(const khz_offline *o, const cvode_solver *s, const double *at, const double *v)
{
    const double *const absolute = o->sundials->vector_data(s->absolute);
    double norm = 0.0;
    for (int32_t i = 0; i < o->model->n_x; i++) {
        const double part = fabs(v[i]) / (o->relative_tolerance * fabs(at[i]) + absolute[i]);
        norm = part <= norm ? norm : part; /* NaN stays */
    }
    return norm;
}

/* r->matrix := 1 - h d f/d x, at the point of the last derivatives. */
static int set_matrix(const khz_offline *o, const cvode_work *w, const room *r, double h)
{
    const khz_model *const m = o->model;
    const int32_t n = m->n_x;
    if (khz_jacobian(m, o->instance, w->jac, w->k) != KHZ_OK) {
        return 0;
    }
    memset(r->matrix, 0, sizeof(double) * (size_t)n * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = m->jac_row[i]; k < m->jac_row[i + 1]; k++) {
            r->matrix[i * n + m->jac_column[k]] = -h * w->jac[k];
        }
        r->matrix[i * n + i] += 1.0;
    }
    return khz_lu_factor(n, r->matrix, r->scale, r->order) == KHZ_OK;
}

/* Newton from the old states for x = old + h f(t + h, x); leaves f there in w->xd. */
static int step_over(khz_offline *o, const cvode_work *w, const cvode_solver *s, const room *r, double h)
{
    const int32_t n = o->model->n_x;
    const double t = o->time + h;
    memcpy(r->x, r->old, sizeof(double) * (size_t)n);
    for (int turn = 0; turn < NEWTON_CAP; turn++) {
        if (khz_offline_derivatives(o, t, r->x, w->xd) != KHZ_OK || !set_matrix(o, w, r, h)) {
            return 0;
        }
        for (int32_t i = 0; i < n; i++) {
            r->step[i] = r->old[i] + h * w->xd[i] - r->x[i];
        }
        khz_lu_solve(n, r->matrix, r->scale, r->order, r->step, r->work);
        for (int32_t i = 0; i < n; i++) {
            r->x[i] += r->step[i];
        }
        const double moved = largest(o, s, r->x, r->step);
        if (moved <= CONVERGED) {
            return khz_offline_derivatives(o, t, r->x, w->xd) == KHZ_OK;
        }
        if (!(moved <= DBL_MAX)) {
            return 0;
        }
    }
    return 0;
}

/* So far a step may go: an event, the stop and a grid point are met by others. */
static double way(const khz_offline *o, double until)
{
    double end = until;
    for (int64_t k = o->grid_next; k <= o->n_grid; k++) {
        const double at = khz_offline_grid(o, k);
        if (at > o->time) {
            end = fmin(end, at);
            break;
        }
    }
    return end - o->time;
}

static int leap_over(khz_offline *o, const cvode_work *w, cvode_solver *s, const room *r, double until)
{
    const double size = fmax(fabs(o->time), 1e-3 * (o->stop - o->start));
    const double most = way(o, until);
    if (khz_offline_derivatives(o, o->time, r->old, w->xd) != KHZ_OK) {
        return 0;
    }
    const double before = largest(o, s, r->old, w->xd);
    double h = FIRST * size;
    for (int k = 0; k < WIDTHS && most > 0.0; k++, h *= LONGER) {
        const double width = fmin(h, most);
        if (step_over(o, w, s, r, width) && largest(o, s, r->old, w->xd) <= SMALLER * before) {
            o->time += width;
            memcpy(o->sundials->vector_data(s->y), r->x, sizeof(double) * (size_t)o->model->n_x);
            return 1;
        }
        if (width < h) {
            break;
        }
    }
    return 0;
}

int khz_leap(khz_offline *o, const cvode_work *w, cvode_solver *s, double until)
{
    const size_t n = (size_t)o->model->n_x;
    if (n == 0 || n > STATES_MOST || o->model->n_k > 0 || s->leaps_in_a_row >= IN_A_ROW || o->n_leaps >= IN_A_RUN) {
        return 0;
    }
    double *const memory = (double *)malloc(sizeof(double) * (n * n + 6 * n));
    if (memory == NULL) {
        return 0;
    }
    double *const x = memory + n * n;
    const room r = {memory, x, x + n, x + 2 * n, x + 3 * n, x + 4 * n, (int32_t *)(void *)(x + 5 * n)};
    memcpy(r.old, o->sundials->vector_data(s->y), sizeof(double) * n);
    const double from = o->time;
    const int found = leap_over(o, w, s, &r, until);
    free(memory);
    if (!found || o->sundials->reinit(s->mem, o->time, s->y) != 0) {
        return 0;
    }
    ((khz_context *)o->instance)->status = KHZ_OK;
    o->first_leap = o->n_leaps == 0 ? from : o->first_leap;
    o->n_leaps++;
    o->code = 0;
    o->has_failed = 0;
    s->leaps_in_a_row++;
    s->reached = o->time;
    return 1;
}
