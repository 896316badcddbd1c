#include "khz_inspect.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_branches.h"
#include "khz_overlooked.h"

enum { RETRIES_IN_A_ROW = 12, RETRIES_MOST = 1000 };
enum { PASSED_OVER = -100 }; /* a step: never the status of a run */

double khz_slack(double t) { return 64.0 * DBL_EPSILON * fabs(t) + 1e-300; }

/* The rest of a step, from `low` to o->time.  What crosses where a time event follows anyway is left to that. */
static int32_t inspect_end(khz_offline *o, const cvode_work *w, const cvode_solver *s, double low, int event_follows,
                           int *root)
{
    const double t = o->time;
    const int32_t due = khz_crossed(o, w, s, t, w->g_middle);
    if (due <= 0) {
        return due;
    }
    const int32_t status = khz_set_event(o, w, s, low, t, root);
    if (status != KHZ_OK || !*root || !event_follows || o->time < t - khz_slack(t)) {
        return status;
    }
    *root = 0;
    o->time = t;
    return o->sundials->interpolate(s->mem, t, 0, s->y) == 0 ? KHZ_OK : KHZ_RUN_SOLVER_FAILED;
}

static int32_t tell_news(khz_offline *o, double t)
{
    const int stopped = o->flush(o->n_rows, t);
    o->n_rows = 0;
    return stopped ? KHZ_RUN_STOPPED : KHZ_OK;
}

/* Without states one step of the solver may go over all grid points: each of them counts for one. */
static int32_t stands_for_step(khz_offline *o, const cvode_work *w, double t)
{
    khz_look_at_rest(o, w);
    return o->grid_next % KHZ_NEWS_OF_SOLVER == 0 ? tell_news(o, t) : KHZ_OK;
}

/* An instant of the step, behind `low`: an event before it, or what the step passed over.  What is to be told of it is
 * left in the instance. */
static int32_t inspect_at(khz_offline *o, const cvode_work *w, cvode_solver *s, double low, double at, int *root)
{
    const int32_t due = khz_crossed(o, w, s, at, w->g_middle);
    if (due != 0) {
        return due < 0 ? due : khz_set_event(o, w, s, low, at, root);
    }
    retry *const r = &s->retry;
    if (r->in_a_row >= RETRIES_IN_A_ROW || at - low <= 16.0 * khz_slack(at) || !khz_is_overlooked(o, w, s, at)) {
        return KHZ_OK;
    }
    r->from = low;
    r->at = at;
    return PASSED_OVER;
}

static int32_t record(khz_offline *o, const cvode_work *w, double at)
{
    int32_t status = (int32_t)o->model->asserts(o->instance);
    status = status == KHZ_OK ? khz_offline_record(o) : status;
    if (status != KHZ_OK) {
        return status;
    }
    khz_branches_look(o, w->branches);
    o->grid_next++;
    return o->model->n_x == 0 ? stands_for_step(o, w, at) : KHZ_OK;
}

/* Every grid point in the step from `before` to o->time, what is to be looked at between them, and its end. */
static int32_t inspect(khz_offline *o, const cvode_work *w, cvode_solver *s, double before, int event_follows,
                       int *root)
{
    const double t = o->time;
    double low = before;
    while (low < t || o->grid_next <= o->n_grid) {
        const double grid = o->grid_next <= o->n_grid ? khz_offline_grid(o, o->grid_next) : HUGE_VAL;
        const int has_row = grid <= t + khz_slack(t);
        const double high = has_row ? fmin(grid, t) : t;
        const double at = khz_next_look(o, low, high);
        const int is_row = has_row && at >= high;
        if (at >= t && !is_row) {
            break;
        }
        if (is_row && event_follows && grid > t - khz_slack(t)) {
            o->grid_next++;
            break;
        }
        int32_t status = inspect_at(o, w, s, low, at, root);
        if (status != KHZ_OK || *root) {
            return status;
        }
        status = is_row ? record(o, w, at) : KHZ_OK;
        if (status != KHZ_OK) {
            return status;
        }
        low = at;
    }
    return o->model->n_r > 0 && low < t ? inspect_end(o, w, s, low, event_follows, root) : KHZ_OK;
}

static int32_t accepted(khz_offline *o, const cvode_work *w, cvode_solver *s, double before, int event_follows,
                        int *root)
{
    const int32_t status = inspect(o, w, s, before, event_follows, root);
    if (status != KHZ_OK) {
        return status;
    }
    if (!*root) {
        khz_look_at_rest(o, w);
    }
    if ((o->model->n_recorded > 0 || o->checks) && !event_follows && !*root) {
        khz_status value = khz_offline_evaluate(o, o->time, o->sundials->vector_data(s->y));
        value = value == KHZ_OK ? o->model->asserts(o->instance) : value;
        if (value != KHZ_OK) {
            return (int32_t)value;
        }
        khz_delay_push(o->model, o->instance, w->delayed);
        khz_hold_steps(o, s->mem);
    }
    return o->n_steps % KHZ_NEWS_OF_SOLVER == 0 ? tell_news(o, o->time) : KHZ_OK;
}

/* Back to an instant of the last step, and on in steps of `most` at most.  Not 0: it cannot be. */
static int begin_again(khz_offline *o, cvode_solver *s, double at, double most)
{
    const khz_sundials *const f = o->sundials;
    if (f->interpolate(s->mem, at, 0, s->dense) != 0) {
        return 1;
    }
    memcpy(f->vector_data(s->y), f->vector_data(s->dense), sizeof(double) * (size_t)o->model->n_x);
    o->time = s->reached = at;
    const double longest = o->max_step > 0.0 ? fmin(most, o->max_step) : most;
    return f->reinit(s->mem, at, s->y) | f->set_max_step(s->mem, longest);
}

/* An assertion failed in the step from `before` to o->time.  That may be the solver's error and not the model's: go
 * back to `before` and make the way again in steps of a quarter at most.  Where the steps have become tiny and it still
 * fails, it is the model's: KHZ_ASSERTION.  Bound: RETRIES_MOST in a run. */
static int32_t go_back(khz_offline *o, cvode_solver *s, double before)
{
    retry *const r = &s->retry;
    const double width = o->time - before;
    r->end = r->in_a_row == 0 ? o->time : r->end;
    if (++r->in_a_row > RETRIES_IN_A_ROW || ++r->total > RETRIES_MOST || width <= 16.0 * khz_slack(o->time)) {
        return KHZ_ASSERTION;
    }
    return begin_again(o, s, before, 0.25 * width) == 0 ? KHZ_OK : KHZ_ASSERTION;
}

/* What the step passed over lies between two instants: from the first on steps are of half that way at most, until the
 * second. */
static int32_t look_closer(khz_offline *o, cvode_solver *s)
{
    retry *const r = &s->retry;
    r->end = r->in_a_row == 0 ? r->at : fmax(r->end, r->at);
    r->in_a_row++;
    o->n_overlooked++;
    return begin_again(o, s, r->from, 0.5 * (r->at - r->from)) == 0 ? KHZ_OK : KHZ_RUN_SOLVER_FAILED;
}

/* Past the end of the step that failed, steps may be long again. */
static void go_on(const khz_offline *o, cvode_solver *s)
{
    retry *const r = &s->retry;
    if (r->in_a_row > 0 && o->time >= r->end) {
        r->in_a_row = 0;
        (void)o->sundials->set_max_step(s->mem, o->max_step);
    }
}

int32_t khz_inspect(khz_offline *o, const cvode_work *w, cvode_solver *s, double before, int event_follows, int *root)
{
    const int32_t status = accepted(o, w, s, before, event_follows, root);
    if (status == KHZ_ASSERTION) {
        return go_back(o, s, before);
    }
    if (status == PASSED_OVER) {
        return look_closer(o, s);
    }
    go_on(o, s);
    return status;
}
