#include "khz_stepper.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_stepper_core.h"

enum { ALIGNMENT = 64, DEFAULT_NEWTON = 2, DEFAULT_LOOP_NEWTON = 6, DEFAULT_EVENT_CAP = 8 };

/* ---------------------------------------------------------------------------------------- numbers below 1e-308 are 0 */

#if defined(__SSE2__)
static uint32_t flush_denormals(void)
{
    const uint32_t before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040u); /* flush to zero, denormals are zero */
    return before;
}

static void restore_denormals(uint32_t before)
{
    __builtin_ia32_ldmxcsr(before);
}
#else
static uint32_t flush_denormals(void)
{
    return 0;
}

static void restore_denormals(uint32_t before)
{
    (void)before;
}
#endif

/* --------------------------------------------------------------------------------------------------------- memory */

static size_t aligned(size_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t work_doubles(const khz_model *m, const khz_method *method)
{
    const size_t n = (size_t)m->n_x;
    return 4 * n + (size_t)method->n_stages * n + 2 * (size_t)m->n_r + (size_t)m->n_time_events + (size_t)m->n_delays;
}

/* Fill in the offsets; 0 when the settings do not make sense. */
static size_t lay_out(khz_stepper *s, const khz_model *m, const khz_step_settings *given)
{
    memset(s, 0, sizeof *s);
    if (given->method < 0 || given->method >= khz_n_methods || given->period_ns <= 0 || m->abi != KHZ_ABI) {
        return 0;
    }
    s->model = m;
    s->method = &khz_methods[given->method];
    s->settings = *given;
    s->settings.newton = given->newton > 0 ? given->newton : DEFAULT_NEWTON;
    s->settings.loop_newton = given->loop_newton > 0 ? given->loop_newton : DEFAULT_LOOP_NEWTON;
    s->settings.event_cap = given->event_cap > 0 ? given->event_cap : DEFAULT_EVENT_CAP;
    s->settings.jacobian_every = given->jacobian_every > 0 ? given->jacobian_every : 1;
    s->work = aligned(sizeof *s);
    s->blocks = s->work + aligned(sizeof(double) * work_doubles(m, s->method));
    s->faults = s->blocks + aligned(sizeof(khz_block_counts) * ((size_t)m->n_blocks + 1));
    s->flips = s->faults + aligned(sizeof(uint32_t) * (size_t)m->n_x);
    s->instance = s->flips + aligned(2 * sizeof(uint32_t) * (size_t)m->n_r);
    s->size = s->instance + aligned(m->size);
    return s->size;
}

size_t khz_stepper_size(const khz_model *m, const khz_step_settings *settings)
{
    khz_stepper s;
    return lay_out(&s, m, settings);
}

khz_work khz_stepper_divide(khz_stepper *s)
{
    const khz_model *const m = s->model;
    const size_t n = (size_t)m->n_x;
    khz_work w;
    w.instance = (char *)s + s->instance;
    w.x0 = (double *)(void *)((char *)s + s->work);
    w.x1 = w.x0 + n;
    w.f0 = w.x1 + n;
    w.stage = w.f0 + n;
    w.k = w.stage + n;
    w.g0 = w.k + (size_t)s->method->n_stages * n;
    w.g1 = w.g0 + m->n_r;
    w.at = w.g1 + m->n_r;
    w.delayed = w.at + m->n_time_events;
    return w;
}

void *khz_stepper_instance(khz_stepper *s)
{
    return (char *)s + s->instance;
}

const khz_block_counts *khz_stepper_blocks(const khz_stepper *s)
{
    return (const khz_block_counts *)(const void *)((const char *)s + s->blocks);
}

const uint32_t *khz_stepper_faults(const khz_stepper *s)
{
    return (const uint32_t *)(const void *)((const char *)s + s->faults);
}

const uint32_t *khz_stepper_chattering(const khz_stepper *s)
{
    return (const uint32_t *)(const void *)((const char *)s + s->flips);
}

void khz_stepper_destroy(khz_stepper *s)
{
    s->model->destroy(khz_stepper_instance(s));
}

void khz_stepper_touch(khz_stepper *s)
{
    s->is_fresh = 0;
    s->jacobian_age = -1;
    s->factored_h = 0.0;
}

/* ----------------------------------------------------------------------------------------------------------- time */

static double grid_time(const khz_stepper *s, uint64_t n)
{
    int64_t ns = (int64_t)n * s->settings.period_ns;
    ns = s->stop_ns > 0 && ns > s->stop_ns ? s->stop_ns : ns;
    return s->start + (double)ns / 1e9;
}

static double step_length(const khz_stepper *s)
{
    const int64_t left = s->stop_ns - (int64_t)s->n * s->settings.period_ns;
    const int64_t ns = s->stop_ns > 0 && left < s->settings.period_ns ? left : s->settings.period_ns;
    return (double)ns / 1e9;
}

double khz_stepper_time(const khz_stepper *s)
{
    return grid_time(s, s->n) - s->behind;
}

/* ------------------------------------------------------------------------------------------------------- failures */

static void note_not_finite(khz_stepper *s, const double *xd)
{
    uint32_t *const faults = (uint32_t *)(void *)((char *)s + s->faults);
    for (int32_t i = 0; i < s->model->n_x; i++) {
        if (!(fabs(xd[i]) <= DBL_MAX)) {
            faults[i]++;
        }
    }
    s->counts.not_finite++;
    s->flags |= KHZ_STEP_NOT_FINITE;
}

/* Count a failure of the model where it happened and clear it. */
static void note_failure(khz_stepper *s, khz_status status)
{
    khz_context *const c = (khz_context *)khz_stepper_instance(s);
    const int known = c->block >= 1 && c->block <= s->model->n_blocks;
    const int32_t position = known ? c->block - 1 : s->model->n_blocks;
    khz_block_counts *const block = (khz_block_counts *)(void *)((char *)s + s->blocks) + position;
    block->time = c->time;
    if (status == KHZ_NO_CONVERGENCE) {
        block->newton_caps++;
        s->counts.newton_caps++;
        s->flags |= KHZ_STEP_NEWTON_CAP;
    } else if (status == KHZ_SINGULAR) {
        block->pivots++;
        s->counts.pivots++;
        s->flags |= KHZ_STEP_PIVOT;
    } else if (status != KHZ_NOT_FINITE) {
        block->failures++;
        s->counts.failures++;
        s->flags |= KHZ_STEP_FAILURE;
    }
    c->status = KHZ_OK;
}

khz_status khz_stepper_rhs(khz_stepper *s, const khz_work *w, double t, const double *x, double *xd)
{
    s->counts.rhs++;
    const khz_status status = khz_derivatives(s->model, w->instance, t, x, xd);
    if (status == KHZ_NOT_FINITE) {
        note_not_finite(s, khz_reals(w->instance, s->model->xd));
    }
    if (status != KHZ_OK) {
        note_failure(s, status);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------------- events */

static void handle_event(khz_stepper *s, const khz_work *w, int is_time_event)
{
    const khz_model *const m = s->model;
    if (s->before_event != NULL) {
        s->before_event(s->user);
    }
    if (m->n_delays > 0) {
        khz_delay_push(m, w->instance, w->delayed);
    }
    const int ticks = khz_mark_samples(m, w->instance);
    const int by_time = is_time_event || ticks > 0;
    s->counts.time_events += (uint64_t)by_time;
    s->counts.state_events += (uint64_t)!by_time;
    s->flags |= KHZ_STEP_EVENT | (by_time ? KHZ_STEP_TIME_EVENT : KHZ_STEP_STATE_EVENT);
    const khz_status status = khz_event(m, w->instance);
    if (status == KHZ_TERMINATED) {
        s->flags |= KHZ_STEP_TERMINATED;
    } else if (status == KHZ_EVENT_CAP) {
        s->counts.event_caps++;
        s->flags |= KHZ_STEP_EVENT_CAP;
    } else if (status != KHZ_OK) {
        note_failure(s, status);
    }
    ((khz_context *)w->instance)->status = KHZ_OK;
    memcpy(w->x1, khz_reals(w->instance, m->x), sizeof(double) * (size_t)m->n_x);
    khz_stepper_touch(s);
}

static int crossing_due(const khz_stepper *s, const khz_work *w)
{
    s->model->crossings(w->instance, w->g1);
    for (int32_t i = 0; i < s->model->n_r; i++) {
        if (w->g1[i] < 0.0) {
            return 1;
        }
    }
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- step */

khz_status khz_advance(khz_stepper *s, const khz_work *w, double t, double h)
{
    khz_status status = KHZ_OK;
    if (!s->is_fresh) {
        status = khz_stepper_rhs(s, w, t, w->x0, w->f0);
    }
    return status == KHZ_OK ? khz_advance_explicit(s, w, t, h) : status;
}

/* The step failed: time goes on, the states stay. */
static void hold(khz_stepper *s, const khz_work *w)
{
    s->counts.held++;
    s->flags |= KHZ_STEP_HELD;
    memcpy(w->x1, w->x0, sizeof(double) * (size_t)s->model->n_x);
    khz_stepper_touch(s);
}

/* All values at (t, x1), for outputs, crossings and delays. */
static khz_status evaluate(khz_stepper *s, const khz_work *w, double t)
{
    s->counts.rhs++;
    const khz_status status = khz_evaluate_all(s->model, w->instance, t, w->x1);
    if (status != KHZ_OK) {
        note_failure(s, status);
    }
    return status;
}

static void check_asserts(khz_stepper *s, const khz_work *w)
{
    khz_context *const c = (khz_context *)w->instance;
    if (s->model->asserts(w->instance) != KHZ_OK) {
        s->first_assert = s->counts.assertions == 0 ? c->place : s->first_assert;
        s->counts.assertions++;
        s->flags |= KHZ_STEP_ASSERTION;
        c->status = KHZ_OK;
    }
}

static void step_without_localisation(khz_stepper *s, const khz_work *w, double t, double h, double next)
{
    const khz_model *const m = s->model;
    const double due = khz_next_time_event(m, w->instance, w->at);
    khz_status status = khz_advance(s, w, t, h);
    status = status == KHZ_OK ? evaluate(s, w, next) : status;
    if (status != KHZ_OK) {
        hold(s, w);
        status = evaluate(s, w, next);
    }
    const double slack = 1e-9 * h;
    const int is_time_event = due <= next + slack;
    if (is_time_event && due < next - slack) {
        s->counts.late_time_events++;
        s->flags |= KHZ_STEP_LATE_TIME_EVENT;
    }
    if (status == KHZ_OK && (is_time_event || crossing_due(s, w))) {
        ((khz_context *)w->instance)->time = is_time_event ? fmax(next, due) : next;
        handle_event(s, w, is_time_event);
    }
    if (m->n_delays > 0) {
        khz_delay_push(m, w->instance, w->delayed);
    }
}

uint32_t khz_stepper_step(khz_stepper *s)
{
    const uint32_t before = flush_denormals();
    const khz_work w = khz_stepper_divide(s);
    const uint64_t rhs = s->counts.rhs;
    s->flags = 0;
    memcpy(w.x0, khz_reals(w.instance, s->model->x), sizeof(double) * (size_t)s->model->n_x);
    step_without_localisation(s, &w, khz_stepper_time(s), step_length(s) + s->behind, grid_time(s, s->n + 1));
    check_asserts(s, &w);
    s->n++;
    s->counts.steps++;
    s->counts.max_step_rhs = rhs + s->counts.max_step_rhs < s->counts.rhs ? s->counts.rhs - rhs : s->counts.max_step_rhs;
    restore_denormals(before);
    return s->flags;
}

/* ---------------------------------------------------------------------------------------------------------- start */

khz_status khz_stepper_prepare(void *memory, const khz_model *m, const khz_step_settings *settings)
{
    khz_stepper *const s = (khz_stepper *)memory;
    if (lay_out(s, m, settings) == 0) {
        return KHZ_UNSUPPORTED;
    }
    memset((char *)memory + s->work, 0, s->instance - s->work);
    s->first_assert = KHZ_NOWHERE;
    khz_stepper_touch(s);
    return khz_instance_init(m, khz_stepper_instance(s));
}

khz_status khz_stepper_start(khz_stepper *s, double start)
{
    const uint32_t before = flush_denormals();
    const khz_work w = khz_stepper_divide(s);
    s->start = start;
    s->n = 0;
    khz_status status = khz_initialize(s->model, w.instance, start);
    ((khz_context *)w.instance)->newton_cap = s->settings.loop_newton;
    if (status == KHZ_OK && s->model->n_delays > 0) {
        khz_delay_push(s->model, w.instance, w.delayed);
    }
    restore_denormals(before);
    return status;
}

khz_status khz_stepper_init(void *memory, const khz_model *m, const khz_step_settings *settings, double start)
{
    const khz_status status = khz_stepper_prepare(memory, m, settings);
    return status == KHZ_OK ? khz_stepper_start((khz_stepper *)memory, start) : status;
}
