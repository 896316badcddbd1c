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
    const khz_status status = khz_offline_follow(o, w->path, t, o->sundials->vector_data(s->dense));
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

/* The neighbourhood of zero of a relation: a part of the largest value it had, or `least`, where it never was larger
 * than noise.  One that never comes to rest there (a dead band whose own event brings its relation back to zero, while
 * its input moves on) would have an event for every motion: the part grows, twice, and a warning tells. */
static double neighbourhood(khz_offline *o, const cvode_work *w, int32_t i)
{
    enum { RESTLESS = 1000 };
    const double least = 1e-12;
    const double n = floor(w->n_small[i] / (double)RESTLESS);
    if (n > 0.0 && o->n_restless++ == 0) {
        o->first_restless = o->time;
        o->restless_relation = i;
    }
    const double part = n >= 2.0 ? KHZ_RESTLESS_MOST : n >= 1.0 ? 0.1 * KHZ_RESTLESS_MOST : 0.01 * KHZ_RESTLESS_MOST;
    return fmax(part * w->largest[i], least);
}

/* After an event: a relation that was said to change and did not, or that changes again and again without ever leaving
 * the neighbourhood of zero, moves within the noise of the equations it comes from.  Such a one gets a dead band, ten
 * times wider each time, at most that neighbourhood.  All others are exact. */
khz_status khz_settle_bands(khz_offline *o, const cvode_work *w, const double *x)
{
    enum { SMALL_CAP = 10 };
    const int32_t *const r = khz_ints(o->instance, o->model->r);
    const khz_status status = look_behind(o, w, x);
    for (int32_t i = 0; i < o->model->n_r && status == KHZ_OK; i++) {
        const double near = neighbourhood(o, w, i);
        const int flipped = r[i] != (int32_t)w->before[i];
        const int noisy = is_unchanged(o, w, i) && fabs(w->g[i]) <= near;
        if (flipped) {
            w->n_small[i] = w->peak[i] <= near ? w->n_small[i] + 1.0 : 0.0;
        }
        w->n_small[i] += noisy ? 1.0 : 0.0;
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

/* Equations may have no value at the very instant of a crossing (0/0 where a ratio is one): khz_crossed at the first of
 * some points behind *at at which they have.  NOT_NEARER: from here to `high` they have none. */
enum { NOT_NEARER = 2 };
static int32_t crossed_beside(khz_offline *o, const cvode_work *w, const cvode_solver *s, double *at, double high)
{
    enum { FARTHER = 7 };
    double off = 1e-13 * fabs(high);
    int32_t due = KHZ_NOT_FINITE;
    for (int k = 0; k < FARTHER && due < 0; k++, off *= 10.0) {
        if (*at + off >= high) {
            return NOT_NEARER;
        }
        due = khz_crossed(o, w, s, *at + off, w->g_middle);
        *at += due >= 0 ? off : 0.0;
    }
    return due;
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
        int32_t due = khz_crossed(o, w, s, at, w->g_middle);
        due = due < 0 ? crossed_beside(o, w, s, &at, high) : due;
        if (due < 0) {
            return due;
        }
        if (due == NOT_NEARER) {
            break;
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

/* Whether an event is looked at more closely, which takes a copy of the instance before it: where there were many. */
static int keeps_old(const khz_offline *o)
{
    enum { MANY_RESTARTS = 100 };
    return o->n_restarts >= MANY_RESTARTS && o->model->n_recorded == 0 && o->model->n_x > 0;
}

void khz_note_felt(const khz_offline *o, const cvode_work *w, const double *x)
{
    const int32_t n = n_felt(o->model);
    if (keeps_old(o)) {
        khz_offline_copy(o->model, w->old, o->instance);
    }
    for (int32_t i = 0; i < n; i++) {
        w->felt[i] = felt_value(o, o->model->felt[i]);
    }
    memcpy(w->felt + n, x, sizeof(double) * (size_t)o->model->n_x);
}

static int states_changed(const khz_offline *o, const cvode_work *w, const double *x)
{
    return memcmp(w->felt + n_felt(o->model), x, sizeof(double) * (size_t)o->model->n_x) != 0;
}

/* How long other derivatives act until somebody sees it: between two output points, or in a step of the present length.
 */
static double width_seen(const khz_offline *o, const cvode_solver *s)
{
    return fmax(s->reached - s->began, o->grid_step);
}

/* Whether the derivatives at an instant of the last step are others by what an event changed: by more than a solver
 * sees between two output points, or in a step of the present length. */
static int differs(khz_offline *o, const cvode_work *w, const cvode_solver *s, double t)
{
    const double seen = 1e-2; /* of the tolerance */
    const double *const absolute = o->sundials->vector_data(s->absolute);
    const double *const x = o->sundials->vector_data(s->dense);
    const double width = width_seen(o, s);
    double *const before = w->k;
    double *const after = w->k + o->model->n_x;
    void *const now = o->instance;
    if (o->sundials->interpolate(s->mem, t, 0, s->dense) != 0) {
        return 1;
    }
    khz_status status = khz_offline_derivatives(o, t, x, after);
    o->instance = w->old;
    status = status == KHZ_OK ? khz_offline_derivatives(o, t, x, before) : status;
    o->instance = now;
    for (int32_t i = 0; i < o->model->n_x && status == KHZ_OK; i++) {
        const double most = seen * (o->relative_tolerance * fabs(x[i]) + absolute[i]);
        status = fabs(after[i] - before[i]) * width <= most ? KHZ_OK : KHZ_NO_CONVERGENCE;
    }
    return status != KHZ_OK;
}

/* An event may change what only counts together with something else (a limit that is not reached): the derivatives at
 * it, before and behind it tell, as far as the last step reaches. */
static int is_effective(khz_offline *o, const cvode_work *w, const cvode_solver *s, const double *x)
{
    const int is_one = differs(o, w, s, o->time) || differs(o, w, s, s->began) ||
                       (s->reached > o->time && differs(o, w, s, s->reached));
    ((khz_context *)o->instance)->status = KHZ_OK;
    return khz_offline_derivatives(o, o->time, x, w->k) != KHZ_OK || is_one;
}

int khz_is_felt(khz_offline *o, const cvode_work *w, const cvode_solver *s, const double *x)
{
    const khz_model *const m = o->model;
    const int32_t n = n_felt(m);
    if (m->n_felt < 0 || states_changed(o, w, x)) {
        return 1;
    }
    int any = 0;
    for (int32_t i = 0; i < n; i++) {
        const double now = felt_value(o, m->felt[i]);
        const int changed = memcmp(&now, &w->felt[i], sizeof now) != 0;
        if (changed && m->felt[i] < m->n_d) {
            return 1;
        }
        any |= changed;
    }
    return any && (!keeps_old(o) || is_effective(o, w, s, x));
}

/* Whether a relation that changes does so by noise: as the time before without having left the neighbourhood of zero,
 * or never further from zero than a tenth of the tolerance. */
static int is_near_zero(const khz_offline *o, const cvode_work *w, int32_t i)
{
    return w->n_small[i] >= 2.0 || w->largest[i] <= 0.1 * o->relative_tolerance;
}

int khz_note_rates(khz_offline *o, const cvode_work *w, const double *x)
{
    for (int32_t i = 0; i < o->model->n_r; i++) {
        if (w->g_high[i] < 0.0 && !is_near_zero(o, w, i)) {
            return 0;
        }
    }
    return o->model->n_x > 0 && khz_offline_derivatives(o, o->time, x, w->k) == KHZ_OK;
}

int khz_is_noise(khz_offline *o, const cvode_work *w, const cvode_solver *s, const double *x)
{
    const int32_t *const r = khz_ints(o->instance, o->model->r);
    for (int32_t i = 0; i < o->model->n_r; i++) {
        if (r[i] != (int32_t)w->before[i] && !is_near_zero(o, w, i)) {
            return 0;
        }
    }
    if (states_changed(o, w, x) || khz_offline_derivatives(o, o->time, x, w->xd) != KHZ_OK) {
        return 0;
    }
    const double width = width_seen(o, s);
    const double *const absolute = o->sundials->vector_data(s->absolute);
    for (int32_t i = 0; i < o->model->n_x; i++) {
        if (!(width * fabs(w->xd[i] - w->k[i]) <= o->relative_tolerance * fabs(x[i]) + absolute[i])) {
            return 0;
        }
    }
    return 1;
}
