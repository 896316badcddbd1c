#include "khz_stepper.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_stepper_core.h"

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
#elif defined(__aarch64__)
static uint32_t flush_denormals(void)
{
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | (UINT64_C(1) << 24))); /* FZ */
    return (uint32_t)before;
}

static void restore_denormals(uint32_t before)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)before));
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

size_t khz_stepper_size(const khz_model *m, const khz_step_settings *settings)
{
    khz_stepper s;
    return khz_stepper_lay_out(&s, m, settings);
}

void *khz_stepper_instance(khz_stepper *s)
{
    return (char *)s + s->instance;
}

const khz_step_counts *khz_stepper_counts(const khz_stepper *s)
{
    return &s->counts;
}

void khz_stepper_stop_after(khz_stepper *s, int64_t nanoseconds)
{
    s->stop_ns = nanoseconds;
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

double khz_stepper_grid(const khz_stepper *s, uint64_t n)
{
    int64_t ns = (int64_t)n * s->settings.period_ns;
    ns = s->stop_ns > 0 && ns > s->stop_ns ? s->stop_ns : ns;
    return s->start + (double)ns / 1e9;
}

double khz_stepper_length(const khz_stepper *s)
{
    const int64_t left = s->stop_ns - (int64_t)s->n * s->settings.period_ns;
    const int64_t ns = s->stop_ns > 0 && left < s->settings.period_ns ? left : s->settings.period_ns;
    return (double)ns / 1e9;
}

double khz_stepper_time(const khz_stepper *s)
{
    return khz_stepper_grid(s, s->n) - s->behind;
}

/* --------------------------------------------------------------------------------------------------------- inputs */

/* Internal steps since the inputs were sampled. */
static uint64_t steps_since_inputs(const khz_stepper *s)
{
    return s->n % (uint64_t)s->settings.internal_steps;
}

int khz_stepper_sample_inputs(khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = s->model;
    if (steps_since_inputs(s) > 0) {
        return 0;
    }
    const double *const u = khz_reals(w->instance, m->u);
    const int32_t *const ui = khz_ints(w->instance, m->ui);
    int moved = 0;
    for (int32_t i = 0; i < m->n_u; i++) {
        moved |= u[i] != w->u0[i];
        w->u2[i] = w->u1[i];
        w->u1[i] = w->u0[i];
        w->u0[i] = u[i];
    }
    for (int32_t i = 0; i < m->n_ui; i++) {
        moved |= ui[i] != w->ui[i] ? 3 : 0;
        w->ui[i] = ui[i];
    }
    s->n_inputs_seen += s->n_inputs_seen < 3;
    return moved;
}

/* Inputs at an instant: extrapolated from the samples at the grid and one or two periods before it. */
static void inputs_at(const khz_stepper *s, const khz_work *w, double t)
{
    const khz_model *const m = s->model;
    const int mode = s->settings.input_mode < s->n_inputs_seen ? s->settings.input_mode : s->n_inputs_seen - 1;
    if (m->n_u == 0 || mode <= KHZ_INPUT_HELD) {
        return;
    }
    double *const u = khz_reals(w->instance, m->u);
    const double sampled = khz_stepper_grid(s, s->n - steps_since_inputs(s));
    const double part = (t - sampled) * 1e9 / (double)(s->settings.period_ns * s->settings.internal_steps);
    for (int32_t i = 0; i < m->n_u; i++) {
        u[i] = w->u0[i] + part * (w->u0[i] - w->u1[i]);
        if (mode == KHZ_INPUT_QUADRATIC) {
            u[i] += 0.5 * part * (part + 1.0) * (w->u0[i] - 2.0 * w->u1[i] + w->u2[i]);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- failures */

static int all_finite(int32_t n, const double *v)
{
    for (int32_t i = 0; i < n; i++) {
        if (!(fabs(v[i]) <= DBL_MAX)) {
            return 0;
        }
    }
    return 1;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}


static void note_not_finite(khz_stepper *s, const double *xd)
{
    uint32_t *const faults = (uint32_t *)(void *)((char *)s + s->faults);
    for (int32_t i = 0; i < s->model->n_x; i++) {
        if (!(fabs(xd[i]) <= DBL_MAX)) {
            faults[i]++;
        }
    }
}

void khz_stepper_note(khz_stepper *s, khz_status status)
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
    } else if (status == KHZ_NOT_FINITE) {
        s->counts.not_finite++;
        s->flags |= KHZ_STEP_NOT_FINITE;
    } else {
        block->failures++;
        s->counts.failures++;
        s->flags |= KHZ_STEP_FAILURE;
    }
    c->status = KHZ_OK;
}

void khz_stepper_note_caps(khz_stepper *s, uint32_t before)
{
    khz_context *const c = (khz_context *)khz_stepper_instance(s);
    if (c->n_caps == before) {
        return;
    }
    const int known = c->cap_block >= 1 && c->cap_block <= s->model->n_blocks;
    khz_block_counts *const block =
        (khz_block_counts *)(void *)((char *)s + s->blocks) + (known ? c->cap_block - 1 : s->model->n_blocks);
    block->newton_caps += c->n_caps - before;
    block->time = c->time;
    block->residual = fmax(block->residual, c->cap_residual);
    s->counts.newton_caps += c->n_caps - before;
    s->flags |= KHZ_STEP_NEWTON_CAP;
}

khz_status khz_stepper_rhs(khz_stepper *s, const khz_work *w, double t, const double *x, double *xd)
{
    const uint32_t caps = ((khz_context *)w->instance)->n_caps;
    s->counts.rhs++;
    s->is_at_start = 0;
    inputs_at(s, w, t);
    const khz_status status = khz_derivatives(s->model, w->instance, t, x, xd);
    if (status == KHZ_NOT_FINITE) {
        note_not_finite(s, khz_reals(w->instance, s->model->xd));
    }
    if (status != KHZ_OK) {
        khz_stepper_note(s, status);
    }
    khz_stepper_note_caps(s, caps);
    return status;
}

khz_status khz_stepper_inlined(khz_stepper *s, const khz_work *w, double t, double gamma_h)
{
    const uint32_t caps = ((khz_context *)w->instance)->n_caps;
    s->counts.rhs++;
    s->is_at_start = 0;
    inputs_at(s, w, t);
    const khz_status status = khz_stage(s->model, w->instance, t, w->stage, gamma_h);
    if (status == KHZ_NOT_FINITE) {
        note_not_finite(s, khz_reals(w->instance, s->model->xd));
    }
    if (status != KHZ_OK) {
        khz_stepper_note(s, status);
    }
    khz_stepper_note_caps(s, caps);
    return status;
}

khz_status khz_stepper_evaluate(khz_stepper *s, const khz_work *w, double t, const double *x)
{
    const uint32_t caps = ((khz_context *)w->instance)->n_caps;
    s->counts.rhs++;
    s->is_at_start = 0;
    inputs_at(s, w, t);
    khz_status status = khz_evaluate_all(s->model, w->instance, t, x);
    if (status == KHZ_OK && (!all_finite(s->model->n_x, x) ||
                             !all_finite(s->model->n_x, khz_reals(w->instance, s->model->xd)))) {
        status = KHZ_NOT_FINITE;
        note_not_finite(s, khz_reals(w->instance, s->model->xd));
    }
    if (status != KHZ_OK) {
        khz_stepper_note(s, status);
    }
    khz_stepper_note_caps(s, caps);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- step */

khz_status khz_stepper_begin(khz_stepper *s, const khz_work *w, double t)
{
    if (s->is_fresh) {
        return KHZ_OK;
    }
    const khz_status status = khz_stepper_rhs(s, w, t, w->x0, w->f0);
    s->is_fresh = status == KHZ_OK;
    s->is_at_start = s->is_fresh;
    return status;
}

khz_status khz_advance(khz_stepper *s, const khz_work *w, double t, double h)
{
    const khz_status status = khz_stepper_begin(s, w, t);
    if (status != KHZ_OK) {
        return status;
    }
    if (s->settings.inlined) {
        return s->method->kind == KHZ_PAIR ? khz_advance_mixed(s, w, t, h) : khz_advance_inlined(s, w, t, h);
    }
    switch (s->method->kind) {
    case KHZ_ROSENBROCK:
        return khz_advance_rosenbrock(s, w, t, h);
    case KHZ_DIRK:
        return khz_advance_dirk(s, w, t, h);
    default:
        return khz_advance_explicit(s, w, t, h);
    }
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

/* What the end of this step knows already about the beginning of the next. */
static void carry_over(khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = s->model;
    s->is_fresh = s->is_settled && m->n_u == 0 && m->n_ui == 0 && m->n_recorded == 0;
    s->is_at_start = s->is_fresh;
    if (s->is_fresh) {
        memcpy(w->f0, khz_reals(w->instance, m->xd), sizeof(double) * (size_t)m->n_x);
    }
    s->jacobian_age += s->jacobian_age >= 0;
    if (m->n_u > 0) {
        memcpy(khz_reals(w->instance, m->u), w->u0, sizeof(double) * (size_t)m->n_u);
    }
}

/* One internal step; its flags. */
static uint32_t internal_step(khz_stepper *s, const khz_work *w)
{
    s->flags = 0;
    memcpy(w->x0, khz_reals(w->instance, s->model->x), sizeof(double) * (size_t)s->model->n_x);
    khz_cycle(s, w);
    if (s->model->n_recorded > 0) {
        khz_delay_push(s->model, w->instance, w->delayed);
    }
    check_asserts(s, w);
    carry_over(s, w);
    s->n++;
    return s->flags;
}

/* The run ends, or was ended, before the period does. */
static int is_over(const khz_stepper *s, uint32_t flags)
{
    const int at_end = s->stop_ns > 0 && (int64_t)s->n * s->settings.period_ns >= s->stop_ns;
    return at_end || (flags & KHZ_STEP_TERMINATED) != 0;
}

uint32_t khz_stepper_step(khz_stepper *s)
{
    const uint32_t before = flush_denormals();
    const khz_work w = khz_stepper_divide(s);
    const uint64_t rhs = s->counts.rhs;
    const uint64_t passes = s->counts.event_passes;
    uint32_t flags = internal_step(s, &w);
    for (int32_t i = 1; i < s->settings.internal_steps && !is_over(s, flags); i++) {
        flags = (flags & ~(uint32_t)KHZ_STEP_BEHIND) | internal_step(s, &w);
    }
    s->flags = flags;
    s->counts.steps++;
    s->counts.max_step_rhs = most(s->counts.max_step_rhs, s->counts.rhs - rhs);
    s->counts.max_step_passes = most(s->counts.max_step_passes, s->counts.event_passes - passes);
    restore_denormals(before);
    return s->flags;
}

/* ---------------------------------------------------------------------------------------------------------- start */

khz_status khz_stepper_prepare(void *memory, const khz_model *m, const khz_step_settings *settings)
{
    khz_stepper *const s = (khz_stepper *)memory;
    if (khz_stepper_lay_out(s, m, settings) == 0) {
        return KHZ_UNSUPPORTED;
    }
    memset((char *)memory + s->work, 0, s->instance - s->work);
    s->first_assert = KHZ_NOWHERE;
    khz_stepper_touch(s);
    return khz_instance_init(m, khz_stepper_instance(s));
}

/* The inputs at the start count as the first sample. */
static void first_samples(khz_stepper *s, const khz_work *w)
{
    memcpy(w->u0, khz_reals(w->instance, s->model->u), sizeof(double) * (size_t)s->model->n_u);
    memcpy(w->ui, khz_ints(w->instance, s->model->ui), sizeof(int32_t) * (size_t)s->model->n_ui);
    s->n_inputs_seen = 0;
}

khz_status khz_stepper_start(khz_stepper *s, double start)
{
    const uint32_t before = flush_denormals();
    const khz_work w = khz_stepper_divide(s);
    s->start = start;
    s->n = 0;
    khz_status status = khz_initialize(s->model, w.instance, start);
    ((khz_context *)w.instance)->newton_cap = s->settings.loop_newton;
    if (status == KHZ_OK && s->model->n_recorded > 0) {
        khz_delay_push(s->model, w.instance, w.delayed);
    }
    s->slope_time = (double)NAN;
    s->event_time = (double)NAN;
    s->model->crossings(w.instance, w.g0);
    first_samples(s, &w);
    restore_denormals(before);
    return status;
}

khz_status khz_stepper_init(void *memory, const khz_model *m, const khz_step_settings *settings, double start)
{
    const khz_status status = khz_stepper_prepare(memory, m, settings);
    return status == KHZ_OK ? khz_stepper_start((khz_stepper *)memory, start) : status;
}
