/* What every off-line run shares: rows of the recorder, the grid of outputs, events, the end. */
#include <math.h>
#include <string.h>

#include "khz_offline.h"

#define LEAST_STEP 1e-6 /* of a run, for a delay in a ring */

int64_t khz_offline_copied(const khz_model *m) { return (int64_t)(m->size / sizeof(double)) + 1; }

void khz_offline_copy(const khz_model *m, void *to, const void *from)
{
    const size_t used = m->arena + ((const khz_context *)from)->arena_used;
    const size_t rest = m->arena + m->arena_size;
    memcpy(to, from, used);
    memcpy((char *)to + rest, (const char *)from + rest, m->size - rest);
}

static void note_values(khz_offline *o)
{
    if (khz_values_are_finite(o->model, o->instance)) {
        return;
    }
    if (o->n_not_finite++ == 0) {
        const int32_t odd = khz_first_odd(o->model, o->instance, o->model->n_values);
        o->odd_block = khz_first_not_finite(o->model, o->instance, o->model->n_values);
        o->odd_value = odd != KHZ_NOWHERE ? o->model->value_place[odd] : INT32_MAX;
        o->odd_time = ((const khz_context *)o->instance)->time;
    }
}

int32_t khz_offline_record(khz_offline *o)
{
    if (o->sundials != NULL) { /* a stepper counts them itself */
        note_values(o);
    }
    if (o->n_rows == o->capacity) {
        const int stopped = o->flush(o->n_rows, o->time);
        o->n_rows = 0; /* taken, also where that is the end */
        if (stopped != 0) {
            return KHZ_RUN_STOPPED;
        }
    }
    double *const row = o->rows + (size_t)o->n_rows * (size_t)o->row_width;
    const char *const base = (const char *)o->instance;
    row[0] = ((const khz_context *)o->instance)->time;
    for (int32_t i = 1; i < o->n_columns; i++) {
        if (o->kind[i] == 0) {
            khz_real value;
            memcpy(&value, base + o->offset[i], sizeof value);
            row[i] = (double)value;
        } else {
            int32_t value;
            memcpy(&value, base + o->offset[i], sizeof value);
            row[i] = (double)value;
        }
    }
    o->n_rows++;
    return KHZ_OK;
}

double khz_offline_grid(const khz_offline *o, int64_t k)
{
    if (k >= o->n_grid) {
        return o->stop;
    }
    return o->grid != NULL ? o->grid[k - 1] : o->start + (double)k * o->grid_step;
}

#ifndef KHZ_SINGLE /* for CVODE and IDA */
static int32_t record_at(khz_offline *o, double t, const double *x)
{
    khz_status status = khz_offline_evaluate(o, t, x);
    if (status == KHZ_OK) {
        status = o->model->asserts(o->instance);
    }
    return status == KHZ_OK ? khz_offline_record(o) : (int32_t)status;
}

void khz_hold_steps(khz_offline *o, void *solver)
{
    const double shortest = khz_delay_shortest(o->model, o->instance);
    if (shortest < o->max_step) {
        o->max_step = fmax(shortest, (o->stop - o->start) * LEAST_STEP);
        (void)o->sundials->set_max_step(solver, o->max_step);
    }
}

int32_t khz_offline_event(khz_offline *o, const khz_event_work *w, double t, double *x, int is_time_event)
{
    const khz_model *const m = o->model;
    int32_t status = record_at(o, t, x);
    if (status != KHZ_OK) {
        return status;
    }
    if (m->n_recorded > 0) {
        khz_delay_push(m, o->instance, w->delayed);
    }
    const int ticks = khz_mark_samples(m, o->instance);
    if (is_time_event || ticks > 0) {
        o->n_time_events++;
    } else {
        o->n_state_events++;
    }
    khz_offline_inputs_pass(o, t);
    status = (int32_t)khz_settle(o, w);
    if (status < 0) {
        return status;
    }
    memcpy(x, khz_reals(o->instance, m->x), sizeof(double) * (size_t)m->n_x);
    if (status == KHZ_TERMINATED) {
        (void)khz_offline_record(o);
        return status;
    }
    status = (int32_t)m->asserts(o->instance);
    if (status == KHZ_OK && m->n_recorded > 0) {
        khz_delay_push(m, o->instance, w->delayed);
    }
    return status == KHZ_OK ? khz_offline_record(o) : status;
}

#endif

enum { TERMINAL_PASSES = 200 };

int32_t khz_offline_finish(khz_offline *o)
{
    khz_context *const c = (khz_context *)o->instance;
    c->phase = KHZ_PHASE_TERMINAL;
    int passes = 0;
    const int32_t status = (int32_t)khz_event_passes(o->model, o->instance, TERMINAL_PASSES, &passes);
    c->phase = KHZ_PHASE_CONTINUOUS;
    if (status != KHZ_OK && status != KHZ_TERMINATED) {
        return status;
    }
    return passes > 1 ? khz_offline_record(o) : KHZ_OK; /* something changed by `when terminal()` */
}

int32_t khz_offline_deliver(khz_offline *o, int32_t status)
{
    const int stopped = o->flush(o->n_rows, o->time);
    o->n_rows = 0;
    return status == KHZ_OK && stopped ? KHZ_RUN_STOPPED : status;
}
