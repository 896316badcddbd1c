#include "khz_offline.h"
#include "khz_branches.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_crossings.h"
#include "khz_inspect.h"
#include "khz_jacobian.h"
#include "khz_leap.h"

enum { CV_BDF = 2, CV_ONE_STEP = 2, CV_TSTOP_RETURN = 1, CHATTER_CAP = 2000 };

/* Steps that a Jacobian is kept for, if Newton's iteration converges by it.  Where it takes many calls, each like a
 * right-hand side, so many times as many steps: then it takes about a quarter of the time. */
enum { JACOBIAN_EVERY = 10, DEAR_CALLS = 20, STEPS_FOR_CALL = 3 };

/* Guesses: a run comes to no end where so many state events, one after the other, take less than that part of a 500th
 * of its time (or of the interval of its output): a million in each. */
enum { STORM = 20000, STORM_PART = 50, STORM_INTERVALS = 500 };
enum { CREEP_CAP = 50, NEWTON_FAILURES = 30 };
#define NEWTON_PART 0.01 /* of the tolerance, at which Newton's iteration ends; 0.1 by itself */
#define SAME_STEP 1.2    /* factor up to which a longer step is not taken; 1.5 by itself */

static int32_t unknowns(const khz_model *m)
{
    return m->n_x > 0 ? m->n_x : 1; /* a model without states gets one that rests */
}

int64_t khz_offline_work(const khz_model *m)
{
    const int64_t jacobian = 2 * (int64_t)m->jac_row[khz_n_jacobian(m)] + khz_plan_solver_work(m);
    const int64_t felt = (m->n_felt > 0 ? m->n_felt : 0) + m->n_x;
    const int64_t loops = khz_offline_follow_work(m) + khz_branches_work(m);
    const int64_t others = felt + jacobian + loops + khz_settle_work(m) + khz_doubt_work(m) + khz_standstill_work(m) +
                           khz_offline_copied(m);
    return 10 * (int64_t)m->n_r + m->n_time_events + m->n_recorded + 8 * (int64_t)unknowns(m) + others + 8 +
           KHZ_ALIGNMENT / (int64_t)sizeof(double);
}

/* An instance that is evaluated begins where its vectors may be. */
static double *aligned(double *at)
{
    const uintptr_t beyond = (uintptr_t)at % KHZ_ALIGNMENT;
    return beyond == 0 ? at : at + (KHZ_ALIGNMENT - beyond) / sizeof(double);
}

static cvode_work divide(const khz_offline *o)
{
    const khz_model *const m = o->model;
    const int32_t n = unknowns(m);
    cvode_work w;
    w.g = o->work;
    w.g_high = w.g + m->n_r;
    w.g_middle = w.g_high + m->n_r;
    w.at = w.g_middle + m->n_r;
    w.delayed = w.at + m->n_time_events;
    w.x = w.delayed + m->n_recorded;
    w.xd = w.x + n;
    w.k = w.xd + n; /* 5 n */
    w.band = w.k + 5 * n;
    w.largest = w.band + m->n_r;
    w.peak = w.largest + m->n_r;
    w.n_small = w.peak + m->n_r;
    w.before = w.n_small + m->n_r;
    w.rest.band = w.before + m->n_r;
    w.rest.age = w.rest.band + m->n_r;
    w.felt = w.rest.age + m->n_r;
    w.jac = w.felt + (m->n_felt > 0 ? m->n_felt : 0) + m->n_x;
    w.there = w.jac + m->jac_row[khz_n_jacobian(m)];
    w.plan = w.there + m->jac_row[khz_n_jacobian(m)];
    w.path = w.plan + khz_plan_solver_work(m);
    w.kept = w.path + khz_offline_follow_work(m);
    w.doubt = w.kept + khz_settle_work(m);
    w.standstill = w.doubt + khz_doubt_work(m);
    w.branches = w.standstill + khz_standstill_work(m);
    w.old = aligned(w.branches + khz_branches_work(m));
    return w;
}

/* ------------------------------------------------------------------------------------------------------------ CVODE */

static int rhs(double t, void *y, void *yd, void *user)
{
    khz_offline *const o = (khz_offline *)user;
    double *const out = o->sundials->vector_data(yd);
    o->n_rhs++;
    if (o->model->n_x == 0) { /* steps are long then: the model is asked at the grid points, one after the other */
        out[0] = 0.0;
        return 0;
    }
    if (khz_offline_derivatives(o, t, o->sundials->vector_data(y), out) == KHZ_OK) {
        khz_doubt_note(o->doubt, o->model, t, o->sundials->vector_data(y), out);
        return 0;
    }
    /* Keep the point: should the solver give up, it tells why. */
    o->has_failed = 1;
    o->failed_time = t;
    memcpy(divide(o).x, o->sundials->vector_data(y), sizeof(double) * (size_t)o->model->n_x);
    return 1;
}

static int jacobian(double t, void *y, void *fy, void *a, void *user, void *t1, void *t2, void *t3)
{
    (void)fy;
    (void)t2;
    (void)t3;
    khz_offline *const o = (khz_offline *)user;
    const khz_model *const m = o->model;
    const khz_context *const c = (const khz_context *)o->instance;
    const int32_t n = m->n_x;
    const double *const x = o->sundials->vector_data(y);
    const cvode_work w = divide(o);
    o->n_jacobians++;
    /* Most often the derivatives were last asked for at this very point. */
    const int here =
        c->status == KHZ_OK && c->time == t && memcmp(x, khz_reals(o->instance, m->x), sizeof(double) * (size_t)n) == 0;
    o->n_rhs += here ? 0 : 1;
    khz_status status = here ? KHZ_OK : khz_offline_derivatives(o, t, x, o->sundials->vector_data(t1));
    o->n_rhs += m->directional == NULL ? m->colours.n + 1 : 0;
    status = status == KHZ_OK ? khz_jacobian(m, o->instance, w.jac, w.k) : status;
    for (int32_t k = 0; k < m->jac_row[khz_n_jacobian(m)] && status == KHZ_OK; k++) {
        status = fabs(w.jac[k]) <= DBL_MAX ? status : KHZ_NOT_FINITE;
    }
    if (status == KHZ_OK) {
        khz_plan_solver_fill(o->plan, o, w.jac, a);
    }
    return status != KHZ_OK;
}

/* A Jacobian of many directions is most of a run where it is made anew as often as one of few. */
static long jacobian_every(const khz_model *m)
{
    const int32_t n = m->sums != NULL ? m->sums->along.n : m->colours.n;
    const int32_t n_calls = m->directional != NULL ? n / m->n_lanes : n;
    return n_calls >= DEAR_CALLS ? STEPS_FOR_CALL * n_calls : JACOBIAN_EVERY;
}

/* Where the solver's own settings do not suit (docs/decisions/0060, 0080). */
static int set_newton(const khz_sundials *f, const khz_model *m, void *mem)
{
    /* An old Jacobian that is much too steep makes Newton's corrections vanish and passes for convergence. */
    int bad = f->set_jacobian_every(mem, jacobian_every(m));
    /* What the iteration leaves is noise in the error estimate, and steps that are short already stay so for ever. */
    bad |= f->set_newton_part(mem, NEWTON_PART);
    /* Each a quarter of the step: from an interval without any motion to one at a corner nine are too few. */
    bad |= f->set_newton_failures(mem, NEWTON_FAILURES);
    /* Factorisations are cheap beside right-hand sides: longer steps are taken when they are to be had. */
    return bad | f->set_same_step(mem, 0.0, SAME_STEP);
}

static int32_t open_solver(khz_offline *o, cvode_solver *s)
{
    const khz_sundials *const f = o->sundials;
    const khz_model *const m = o->model;
    const int32_t n = unknowns(m);
    memset(s, 0, sizeof *s);
    int bad = f->context_create(0, &s->context);
    if (bad != 0) {
        return KHZ_RUN_SOLVER_FAILED;
    }
    bad |= f->context_clear_handlers(s->context);
    s->y = f->vector_new(n, s->context);
    s->dense = f->vector_new(n, s->context);
    s->absolute = f->vector_new(n, s->context);
    s->slope = f->vector_new(n, s->context);
    s->correction = f->vector_new(n, s->context);
    s->linear = khz_plan_solver_open(&s->plan, o, s->y, s->context, divide(o).plan, &s->matrix);
    o->plan = &s->plan;
    s->mem = f->create(CV_BDF, s->context);
    const void *const made[] = {s->y, s->dense, s->absolute, s->slope, s->correction, s->matrix, s->linear, s->mem};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        bad |= made[i] == NULL;
    }
    if (bad != 0) {
        return KHZ_RUN_SOLVER_FAILED;
    }
    double *const x = f->vector_data(s->y);
    double *const absolute = f->vector_data(s->absolute);
    x[0] = 0.0;
    absolute[0] = 1.0;
    memcpy(x, khz_reals(o->instance, m->x), sizeof(double) * (size_t)m->n_x);
    for (int32_t i = 0; i < m->n_x; i++) {
        absolute[i] = o->relative_tolerance * o->absolute_factor * khz_reals(o->instance, m->nominal)[i];
    }
    s->reached = o->time;
    khz_doubt_open(&s->doubt, o, divide(o).doubt, divide(o).jac, absolute, s->mem);
    khz_standstill_open(&s->standstill, o, divide(o).standstill);
    bad |= f->init(s->mem, rhs, o->time, s->y);
    bad |= f->tolerances(s->mem, o->relative_tolerance, s->absolute);
    bad |= f->set_user(s->mem, o);
    bad |= f->set_max_steps(s->mem, 100000000L);
    bad |= f->set_max_hnil_warnings(s->mem, -1);
    bad |= o->max_step > 0.0 ? f->set_max_step(s->mem, o->max_step) : 0;
    bad |= f->set_solver(s->mem, s->linear, s->matrix);
    bad |= m->n_x > 0 ? f->set_jacobian(s->mem, jacobian) : 0;
    return (bad | set_newton(f, m, s->mem)) == 0 ? KHZ_OK : KHZ_RUN_SOLVER_FAILED;
}

static void close_solver(const khz_offline *o, cvode_solver *s)
{
    const khz_sundials *const f = o->sundials;
    if (s->mem != NULL) {
        f->destroy(&s->mem);
    }
    if (s->linear != NULL) {
        khz_plan_solver_close(&s->plan, o, s->linear);
    }
    if (s->matrix != NULL) {
        f->matrix_destroy(s->matrix);
    }
    void *const vectors[] = {s->y, s->dense, s->absolute, s->slope, s->correction};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        if (vectors[i] != NULL) {
            f->vector_destroy(vectors[i]);
        }
    }
    if (s->context != NULL) {
        (void)f->context_free(&s->context);
    }
}

/* Is an event due at o->time?  The last step before the end may be too short for the solver, but not for a crossing. */
static int32_t look(khz_offline *o, const cvode_work *w, const double *x, int *root)
{
    const khz_model *const m = o->model;
    const khz_status status = khz_offline_evaluate(o, o->time, x);
    if (status != KHZ_OK) {
        return (int32_t)status;
    }
    m->crossings(o->instance, w->g_high);
    for (int32_t i = 0; i < m->n_r; i++) {
        *root |= w->g_high[i] < -fmax(w->band[i], w->rest.band[i]);
    }
    return KHZ_OK;
}

/* One step of the solver, at most to `until`; or what is left of the last one, behind an event that changed nothing for
 * it.  *at_end tells whether `until` is reached. */
static int32_t next_step(khz_offline *o, cvode_solver *s, double until, int *creeping, int *at_end)
{
    const khz_sundials *const f = o->sundials;
    const double before = o->time;
    if (s->reached > before) {
        o->time = fmin(s->reached, until);
        *at_end = o->time >= until - khz_slack(until);
        o->time = *at_end ? until : o->time;
        return f->interpolate(s->mem, fmin(o->time, s->reached), 0, s->y) == 0 ? KHZ_OK : KHZ_RUN_SOLVER_FAILED;
    }
    double reached = before;
    int code = f->set_stop(s->mem, until);
    code = code == 0 ? f->advance(s->mem, until, s->y, &reached, CV_ONE_STEP) : code;
    if (code < 0) {
        o->code = code;
        return KHZ_RUN_SOLVER_FAILED;
    }
    /* Steps lost in rounding are no progress: the solver creeps up on a point it cannot pass. */
    *creeping = reached - before <= 16.0 * DBL_EPSILON * fabs(reached) ? *creeping + 1 : 0;
    if (*creeping > CREEP_CAP) {
        o->code = -3;
        return KHZ_RUN_SOLVER_FAILED;
    }
    o->n_steps++;
    s->leaps_in_a_row = 0;
    s->began = before;
    s->reached = reached;
    *at_end = code == CV_TSTOP_RETURN || reached >= until - khz_slack(until);
    o->time = *at_end ? until : reached;
    return khz_standstill_look(&s->standstill, o);
}

/* Steps until `until` or an event; *root tells which. */
static int32_t integrate(khz_offline *o, const cvode_work *w, cvode_solver *s, double until, int until_is_event,
                         int *root)
{
    *root = 0;
    if (until - o->time <= khz_slack(until) * 4.0) {
        const int moved = o->time < until;
        o->time = until;
        return moved && !until_is_event ? look(o, w, o->sundials->vector_data(s->y), root) : KHZ_OK;
    }
    int creeping = 0;
    while (o->time < until) {
        const double before = o->time;
        int at_end = 0;
        int32_t status = next_step(o, s, until, &creeping, &at_end);
        if (status == KHZ_RUN_SOLVER_FAILED && khz_leap(o, w, s, until)) {
            status = look(o, w, o->sundials->vector_data(s->y), root);
            if (status != KHZ_OK || *root) {
                return status;
            }
            creeping = 0;
            continue;
        }
        if (status != KHZ_OK) {
            return status;
        }
        status = khz_inspect(o, w, s, before, at_end && until_is_event, root);
        if (status != KHZ_OK || *root) {
            return status;
        }
    }
    return KHZ_OK;
}

/* The event at o->time.  The solver begins anew where derivatives are others now; inputs that jump change them. */
static int32_t handle(khz_offline *o, const cvode_work *w, cvode_solver *s, int root, int is_time_event, int is_jump)
{
    double *const x = o->sundials->vector_data(s->y);
    khz_note_relations(o, w);
    khz_note_felt(o, w, x);
    const int may_be_noise = root && !is_time_event && !is_jump && khz_note_rates(o, w, x);
    int32_t status = (int32_t)khz_hold_at_rest(o, w, x);
    const khz_event_work work = {w->delayed, w->g, w->kept, w->band, w->largest, w->before, root ? w->g_high : NULL};
    status = status == KHZ_OK ? khz_offline_event(o, &work, o->time, x, is_time_event) : status;
    khz_find_at_rest(o, w, root);
    if (root && status == KHZ_OK) {
        status = (int32_t)khz_settle_bands(o, w, x);
    }
    if (status != KHZ_OK || (may_be_noise && khz_is_noise(o, w, s, x)) || !(is_jump || khz_is_felt(o, w, s, x))) {
        return status;
    }
    o->n_restarts++;
    s->reached = o->time;
    return o->sundials->reinit(s->mem, o->time, s->y) == 0 ? KHZ_OK : KHZ_RUN_SOLVER_FAILED;
}

static int32_t run_cvode(khz_offline *o, const cvode_work *w, cvode_solver *s)
{
    khz_offline_inputs_start(o);
    int32_t status = khz_offline_record(o);
    double last_event = -DBL_MAX;
    int in_a_row = 0;
    const double interval = (o->stop - o->time) / (double)(o->n_grid > STORM_INTERVALS ? o->n_grid : STORM_INTERVALS);
    double counted_from = -DBL_MAX;
    int32_t n_roots = 0;
    o->grid_next = 1;
    if (o->model->n_recorded > 0) {
        khz_delay_push(o->model, o->instance, w->delayed);
        khz_hold_steps(o, s->mem);
    }
    while (status == KHZ_OK && o->time < o->stop) {
        const double jump = khz_offline_inputs_next(o);
        const double due = fmin(khz_next_time_event(o->model, o->instance, w->at), jump);
        const double until = fmin(due, o->stop);
        int root = 0;
        status = integrate(o, w, s, until, due <= o->stop, &root);
        if (status != KHZ_OK) {
            break;
        }
        const int is_time_event = o->time >= due - khz_slack(due);
        if (!root && !is_time_event) {
            continue;
        }
        in_a_row = o->time - last_event <= 1e-12 * fmax(fabs(o->time), 1e-3) ? in_a_row + 1 : 0;
        last_event = o->time;
        n_roots += root != 0;
        const int is_counted = n_roots == STORM;
        if (in_a_row > CHATTER_CAP || (is_counted && (o->time - counted_from) * STORM_PART < interval)) {
            return KHZ_RUN_CHATTERS;
        }
        if (is_counted) {
            n_roots = 0;
            counted_from = o->time;
        }
        status = handle(o, w, s, root, is_time_event, o->time >= jump - khz_slack(jump));
    }
    return status == KHZ_OK ? khz_offline_finish(o) : status;
}

int32_t khz_run_cvode(khz_offline *o)
{
    const cvode_work w = divide(o);
    khz_offline_follow_start(o->model, w.path);
    khz_branches_start(o->model, w.branches);
    cvode_solver s;
    int32_t status = open_solver(o, &s);
    if (status == KHZ_OK) {
        status = run_cvode(o, &w, &s);
    }
    close_solver(o, &s);
    if (status == KHZ_RUN_SOLVER_FAILED && o->has_failed) {
        (void)khz_offline_derivatives(o, o->failed_time, w.x, w.xd);
    }
    return khz_offline_deliver(o, status);
}
