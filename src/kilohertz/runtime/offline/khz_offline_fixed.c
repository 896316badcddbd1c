/* Off-line runs of the bounded stepper: the recorder around khz_stepper_step. */
#include <math.h>

#include "khz_offline.h"
#include "khz_stepper_core.h"

typedef struct recording {
    khz_offline *o;
    double slack; /* instants closer than this are one */
    int is_after; /* the last row is one after an event */
} recording;

/* There is a row of this instant. */
static int is_recorded(const recording *r)
{
    const khz_offline *const o = r->o;
    const double now = ((const khz_context *)o->instance)->time;
    return o->n_rows > 0 && o->rows[(size_t)(o->n_rows - 1) * (size_t)o->row_width] >= now - r->slack;
}

/* The row before the first event of an instant. */
static void record_before(void *user)
{
    recording *const r = (recording *)user;
    if (!r->is_after || !is_recorded(r)) {
        r->is_after = 0;
        (void)khz_offline_record(r->o);
    }
}

/* The row after the last event of an instant: what held between two of them is no value of it. */
static void record_after(void *user)
{
    recording *const r = (recording *)user;
    r->o->n_rows -= r->is_after && is_recorded(r);
    (void)khz_offline_record(r->o);
    r->is_after = 1;
}

/* A row at the first instant not before each point of the grid. */
static int32_t record_step(recording *r)
{
    khz_offline *const o = r->o;
    int due = 0;
    while (o->grid_next <= o->n_grid && khz_offline_grid(o, o->grid_next) <= o->time + r->slack) {
        o->grid_next++;
        due = 1;
    }
    if (!due || is_recorded(r)) {
        return KHZ_OK;
    }
    r->is_after = 0;
    return khz_offline_record(o);
}

static int32_t one_step(recording *r, khz_stepper *s)
{
    khz_offline *const o = r->o;
    khz_context *const c = (khz_context *)o->instance;
    if (o->inputs != NULL) { /* as a periodic task samples them, late as it may be */
        khz_offline_inputs_pass(o, khz_stepper_grid(s, s->n));
    }
    const uint32_t flags = khz_stepper_step(s);
    o->time = khz_stepper_time(s);
    o->n_steps++;
    if ((flags & (uint32_t)KHZ_STEP_ASSERTION) != 0) {
        c->status = KHZ_ASSERTION;
        return KHZ_ASSERTION;
    }
    int32_t status = record_step(r);
    if ((flags & (uint32_t)KHZ_STEP_TERMINATED) != 0) {
        return KHZ_TERMINATED;
    }
    if (o->n_steps % KHZ_NEWS_EVERY == 0 && status == KHZ_OK) {
        status = o->flush(o->n_rows, o->time) != 0 ? KHZ_RUN_STOPPED : KHZ_OK;
        o->n_rows = 0;
    }
    return status;
}

int32_t khz_run_stepper(khz_offline *o, khz_stepper *s)
{
    const int64_t period_ns = s->settings.period_ns * s->settings.internal_steps;
    const double period = (double)period_ns / 1e9;
    const int64_t n_steps = (s->stop_ns + period_ns - 1) / period_ns;
    recording rows = {o, 1e-9 * period / (double)s->settings.internal_steps, 0};
    s->before_event = record_before;
    s->after_event = record_after;
    s->user = &rows;
    o->grid_next = 1;
    khz_offline_inputs_start(o);
    if (o->inputs != NULL) {
        o->inputs->is_sampled = 1;
    }
    int32_t status = khz_offline_record(o);
    for (int64_t k = 0; k < n_steps && status == KHZ_OK; k++) {
        status = one_step(&rows, s);
    }
    s->before_event = NULL;
    s->after_event = NULL;
    s->user = NULL;
    o->n_rhs = (int64_t)s->counts.rhs;
    o->n_jacobians = (int64_t)s->counts.jacobians;
    o->n_state_events = (int64_t)s->counts.state_events;
    o->n_time_events = (int64_t)s->counts.time_events;
    return khz_offline_deliver(o, status == KHZ_OK ? khz_offline_finish(o) : status);
}
