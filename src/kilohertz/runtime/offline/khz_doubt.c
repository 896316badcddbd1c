#include "khz_doubt.h"

#include <math.h>
#include <string.h>

#include "khz_ida.h"

static const double OPEN = 1.0;    /* of the tolerance: residuals that matter, as in the test of errors */
static const double SMALL = 0.2;   /* of the tolerance: corrections with which an iteration may end */
static const double DAMPED = 10.0; /* times its correction: a residual that the matrix has made small */
static const double CLOSED = 0.5;  /* of a residual: more of it is gone, by the matrix */
static const double LEFT = 0.9;    /* of a residual: as much is there yet */

int64_t khz_doubt_work(const khz_model *m) { return 4 * (int64_t)m->n_x; }

void khz_doubt_open(khz_doubt *d, khz_offline *o, double *work, const double *jac, const double *tolerance, void *mem)
{
    const int32_t n = o->model->n_x;
    *d = (khz_doubt){work, work + n, work + 2 * n, work + 3 * n, jac, NULL, tolerance, mem, 0.0, 0.0, 1.0};
    o->doubt = d;
}

void khz_doubt_note(khz_doubt *d, const khz_model *m, double t, const double *y, const double *f)
{
    d->time = t;
    memcpy(d->y, y, sizeof(double) * (size_t)m->n_x);
    memcpy(d->f, f, sizeof(double) * (size_t)m->n_x);
}

/* The tolerance of state i. */
static double width(const khz_doubt *d, const khz_offline *o, int32_t i)
{
    return o->relative_tolerance * fabs(d->y[i]) + d->tolerance[i];
}

static int is_damped(const khz_doubt *d, const khz_offline *o, double x, double residual, int32_t i)
{
    return fabs(residual) > DAMPED * fabs(x) && fabs(residual) > OPEN * width(d, o, i);
}

/* Whether there is a residual that matters.  Looked at in every iteration: most residuals have a correction near them,
 * and then nothing else is read. */
static int is_one_damped(const khz_doubt *d, const khz_offline *o, const double *x, const double *b)
{
    int found = 0;
    for (int32_t i = 0; i < o->model->n_x && !found; i++) {
        found = is_damped(d, o, x[i], d->unit * b[i], i);
    }
    return found;
}

/* Whether the iteration may end here: the correction is small. */
static int may_end(const khz_doubt *d, const khz_offline *o, const double *x)
{
    const int32_t n = o->model->n_x;
    const double most = SMALL * SMALL * (double)n;
    double squares = 0.0;
    for (int32_t i = 0; i < n && !(squares > most); i++) {
        const double part = fabs(x[i]) / width(d, o, i);
        squares += part * part;
    }
    return squares <= most;
}

/* What is left of a residual by the Jacobian, at the point behind the correction as rounding has it. */
static double promised(const khz_doubt *d, const khz_model *m, double residual, int32_t i)
{
    double left = residual - (d->there[i] - d->y[i]);
    for (int32_t k = m->jac_row[i]; k < m->jac_row[i + 1]; k++) {
        const int32_t j = m->jac_column[k];
        left += d->gamma * d->jac[k] * (j < m->n_x ? d->there[j] - d->y[j] : d->moved[j]);
    }
    return left;
}

/* Whether a residual that the matrix closes is open behind the correction, as much as before. */
static int is_open(const khz_doubt *d, const khz_offline *o, double x, double residual, int32_t i)
{
    if (!is_damped(d, o, x, residual, i)) {
        return 0;
    }
    const double left = residual - x + d->gamma * (d->rate[i] - d->f[i]);
    const int is_there = left / residual > LEFT && fabs(left) > OPEN * width(d, o, i);
    return is_there && fabs(promised(d, o->model, residual, i)) < CLOSED * fabs(residual);
}

int khz_doubt_is_due(khz_doubt *d, khz_offline *o, const double *x, const double *b)
{
    const khz_sundials *const f = o->sundials;
    if (f->gamma(d->mem, &d->gamma) != 0) {
        return 0;
    }
    d->unit = khz_is_ida(f) ? d->gamma : 1.0;
    if (!is_one_damped(d, o, x, b) || !may_end(d, o, x)) {
        return 0;
    }
    for (int32_t i = 0; i < o->model->n_x; i++) {
        d->there[i] = d->y[i] + x[i];
    }
    o->n_rhs++;
    if (khz_offline_derivatives(o, d->time, d->there, d->rate) != KHZ_OK) {
        return 0;
    }
    int due = 0;
    for (int32_t i = 0; i < o->model->n_x && !due; i++) {
        due = is_open(d, o, x[i], d->unit * b[i], i);
    }
    return due;
}
