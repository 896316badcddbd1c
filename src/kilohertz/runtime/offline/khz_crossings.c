#include "khz_crossings.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROOT_CAP = 120 };

int32_t khz_crossed(khz_offline *o, const cvode_work *w, const cvode_solver *s, double t, double *g)
{
    const khz_model *const m = o->model;
    if (o->sundials->interpolate(s->mem, t, 0, s->dense) != 0) {
        return KHZ_RUN_SOLVER_FAILED;
    }
    const khz_status status = khz_offline_follow(o, w->kept, t, o->sundials->vector_data(s->dense));
    if (status != KHZ_OK) {
        return (int32_t)status;
    }
    m->crossings(o->instance, g);
    int32_t due = 0;
    for (int32_t i = 0; i < m->n_r; i++) {
        w->largest[i] = fmax(w->largest[i], fabs(g[i]));
        w->peak[i] = fmax(w->peak[i], fabs(g[i]));
        g[i] = fabs(g[i]) <= fmax(w->band[i], w->rest.band[i]) ? fabs(g[i]) : g[i];
        due |= g[i] < 0.0;
    }
    return due;
}

void khz_note_relations(const khz_offline *o, const cvode_work *w)
{
    for (int32_t i = 0; i < o->model->n_r; i++) {
        w->before[i] = (double)khz_ints(o->instance, o->model->r)[i];
    }
}

/* Whether a relation was said to change and is as before. */
static int is_unchanged(const khz_offline *o, const cvode_work *w, int32_t i)
{
    return w->g_high[i] < 0.0 && khz_ints(o->instance, o->model->r)[i] == (int32_t)w->before[i];
}

/* Into w->g: the crossings behind an event, where a relation is as before.  An event may take a relation's cause away
 * (a `reinit`, a clock that takes over a value): it did change, and back, and is far from zero now. */
static khz_status look_behind(khz_offline *o, const cvode_work *w, const double *x)
{
    int any = 0;
    for (int32_t i = 0; i < o->model->n_r; i++) {
        any |= is_unchanged(o, w, i);
    }
    if (!any) {
        return KHZ_OK;
    }
    const khz_status status = khz_offline_evaluate(o, o->time, x);
    if (status == KHZ_OK) {
        o->model->crossings(o->instance, w->g);
    }
    return status;
}

/* After an event: a relation that was said to change and did not, or that changes again and again without ever leaving
 * the neighbourhood of zero, moves within the noise of the equations it comes from.  Such a one gets a dead band, ten
 * times wider each time, at most `part_most` of the largest value it had (or `least`, where it never was larger than
 * noise).  All others are exact. */
khz_status khz_settle_bands(khz_offline *o, const cvode_work *w, const double *x)
{
    enum { SMALL_CAP = 10 };
    const double part_most = 1e-5;
    const double least = 1e-12;
    const int32_t *const r = khz_ints(o->instance, o->model->r);
    const khz_status status = look_behind(o, w, x);
    for (int32_t i = 0; i < o->model->n_r && status == KHZ_OK; i++) {
        const double near = fmax(part_most * w->largest[i], least);
        const int flipped = r[i] != (int32_t)w->before[i];
        const int noisy = is_unchanged(o, w, i) && fabs(w->g[i]) <= near;
        if (flipped) {
            w->n_small[i] = w->peak[i] <= near ? w->n_small[i] + 1.0 : 0.0;
        }
        if (noisy || (flipped && w->n_small[i] > (double)SMALL_CAP)) {
            const double wider = fmax(10.0 * w->band[i], 2.0 * fmax(fabs(w->g_high[i]), flipped ? w->peak[i] : 0.0));
            w->band[i] = fmin(wider, near);
        }
        w->peak[i] = flipped ? 0.0 : w->peak[i];
    }
    return status;
}

void khz_look_at_rest(const khz_offline *o, const cvode_work *w)
{
    (void)khz_rest_look(o->model, &w->rest, w->g_middle);
}

khz_status khz_hold_at_rest(khz_offline *o, const cvode_work *w, const double *x)
{
    const khz_model *const m = o->model;
    int any = 0;
    for (int32_t i = 0; i < m->n_r; i++) {
        any |= w->rest.band[i] > 0.0;
    }
    if (!any) {
        return KHZ_OK;
    }
    const khz_status status = khz_offline_evaluate(o, o->time, x);
    if (status == KHZ_OK) {
        m->crossings(o->instance, w->g);
        khz_rest_hold(m, o->instance, &w->rest, w->g);
    }
    return status;
}

void khz_find_at_rest(const khz_offline *o, const cvode_work *w, int root)
{
    const double noise = 1e-13;
    const int32_t *const r = khz_ints(o->instance, o->model->r);
    int32_t *const forced = khz_ints(o->instance, o->model->forced);
    for (int32_t i = 0; i < o->model->n_r; i++) {
        if (r[i] != (int32_t)w->before[i] && forced[i] != KHZ_FORCED_AT_REST) {
            const int crossed = root && w->g_high[i] < 0.0;
            (void)khz_rest_found(&w->rest, i, w->g_high[i], crossed ? w->largest[i] : 0.0, noise);
        }
        forced[i] = 0;
    }
}

/* Where, by the secant, the first of the crossings between low and high lies. */
static double secant(const khz_offline *o, const cvode_work *w, double low, double high)
{
    double first = 1.0;
    for (int32_t i = 0; i < o->model->n_r; i++) {
        if (w->g_high[i] < 0.0 && w->g[i] > 0.0) {
            first = fmin(first, w->g[i] / (w->g[i] - w->g_high[i]));
        }
    }
    return low + first * (high - low);
}

/* Close in on the first event in (low, high]: secant steps, bisection whenever they shrink the interval too little.
 * Leaves *event on the far side, the state there in s->dense; *found is 0 where the crossing does not show again (the
 * solution of a loop depends a little on where its iteration starts).  What is left open is far less than what makes
 * a state event and a time event one, also after many events.  Bound: ROOT_CAP evaluations. */
static int32_t locate(khz_offline *o, const cvode_work *w, const cvode_solver *s, double low, double high,
                      double *event, int *found)
{
    const double tolerance = 4.0 * DBL_EPSILON * (fabs(high) + (high - low));
    int32_t status = khz_crossed(o, w, s, low, w->g);
    int32_t far = khz_crossed(o, w, s, high, w->g_high);
    for (int turn = 0; turn < ROOT_CAP && status >= 0 && far > 0 && high - low > tolerance; turn++) {
        const double width = high - low;
        double at = turn % 3 == 2 ? low + 0.5 * width : secant(o, w, low, high);
        at = fmin(fmax(at, low + 0.1 * tolerance), high - 0.1 * tolerance);
        /* A little beyond the secant's zero, so that the far side moves too. */
        at = turn % 3 == 1 ? fmin(at + 0.5 * tolerance + 0.01 * width, high - 0.1 * tolerance) : at;
        const int32_t due = khz_crossed(o, w, s, at, w->g_middle);
        if (due < 0) {
            return due;
        }
        memcpy(due ? w->g_high : w->g, w->g_middle, sizeof(double) * (size_t)o->model->n_r);
        if (due) {
            high = at;
        } else {
            low = at;
        }
    }
    *event = high;
    *found = far > 0;
    if (status < 0 || far < 0) {
        return status < 0 ? status : far;
    }
    return o->sundials->interpolate(s->mem, high, 0, s->dense) == 0 ? KHZ_OK : KHZ_RUN_SOLVER_FAILED;
}

int32_t khz_set_event(khz_offline *o, const cvode_work *w, const cvode_solver *s, double low, double high, int *root)
{
    double at = high;
    const int32_t status = locate(o, w, s, low, high, &at, root);
    if (status == KHZ_OK && *root) {
        o->time = at;
        memcpy(o->sundials->vector_data(s->y), o->sundials->vector_data(s->dense),
               sizeof(double) * (size_t)o->model->n_x);
    }
    return status;
}

static double felt_value(const khz_offline *o, int32_t place)
{
    const khz_model *const m = o->model;
    if (place < m->n_d) {
        return khz_reals(o->instance, m->d)[place];
    }
    const int32_t k = place - m->n_d;
    return (double)(k < m->n_m ? khz_ints(o->instance, m->m)[k] : khz_ints(o->instance, m->r)[k - m->n_m]);
}

static int32_t n_felt(const khz_model *m) { return m->n_felt > 0 ? m->n_felt : 0; }

void khz_note_felt(const khz_offline *o, const cvode_work *w, const double *x)
{
    const int32_t n = n_felt(o->model);
    for (int32_t i = 0; i < n; i++) {
        w->felt[i] = felt_value(o, o->model->felt[i]);
    }
    memcpy(w->felt + n, x, sizeof(double) * (size_t)o->model->n_x);
}

int khz_is_felt(const khz_offline *o, const cvode_work *w, const double *x)
{
    const int32_t n = n_felt(o->model);
    int felt = o->model->n_felt < 0 || memcmp(w->felt + n, x, sizeof(double) * (size_t)o->model->n_x) != 0;
    for (int32_t i = 0; i < n && !felt; i++) {
        const double now = felt_value(o, o->model->felt[i]);
        felt = memcmp(&now, &w->felt[i], sizeof now) != 0;
    }
    return felt;
}
