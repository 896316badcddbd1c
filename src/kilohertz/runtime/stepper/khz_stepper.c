#include "khz_stepper.h"

#include <math.h>
#include <string.h>

#include "khz_probe.h"
#include "khz_stepper_core.h"

/* --------------------------------------------------------------------------------------- numbers below 1e-308 are 0 */

#if defined(__SSE2__) && !defined(__CUDACC__)
static uint32_t flush_denormals(void)
{
    const uint32_t before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040u); /* flush to zero, denormals are zero */
    return before;
}

static void restore_denormals(uint32_t before) { __builtin_ia32_ldmxcsr(before); }
#elif defined(__aarch64__) && !defined(__CUDACC__)
static uint32_t flush_denormals(void)
{
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | (UINT64_C(1) << 24))); /* FZ */
    return (uint32_t)before;
}

static void restore_denormals(uint32_t before) { __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)before)); }
#else
static uint32_t flush_denormals(void) { return 0; }

static void restore_denormals(uint32_t before) { (void)before; }
#endif

size_t khz_stepper_size(const khz_model *m, const khz_step_settings *settings)
{
    khz_stepper s;
    return khz_stepper_lay_out(&s, m, settings);
}

void *khz_stepper_instance(khz_stepper *s) { return (char *)s + s->instance; }

const khz_step_counts *khz_stepper_counts(const khz_stepper *s) { return &s->counts; }

void khz_stepper_stop_after(khz_stepper *s, int64_t nanoseconds) { s->stop_ns = nanoseconds; }

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

const uint32_t *khz_stepper_missed(const khz_stepper *s)
{
    return khz_stepper_chattering(s) + 3 * (size_t)khz_model_of(s)->n_r;
}

void khz_stepper_destroy(khz_stepper *s) { khz_model_of(s)->destroy(khz_stepper_instance(s)); }

void khz_stepper_touch(khz_stepper *s)
{
    s->is_fresh = 0;
    s->is_solved = 0;
    s->jacobian_age = -1;
    s->factored_h = 0.0;
}

/* ------------------------------------------------------------------------------------------------------------- time */

double khz_stepper_grid(const khz_stepper *s, uint64_t n)
{
    int64_t ns = (int64_t)n * khz_settings_of(s)->period_ns;
    ns = s->stop_ns > 0 && ns > s->stop_ns ? s->stop_ns : ns;
    return s->start + (double)ns / 1e9;
}

double khz_stepper_length(const khz_stepper *s)
{
    const int64_t left = s->stop_ns - (int64_t)s->n * khz_settings_of(s)->period_ns;
    const int64_t ns = s->stop_ns > 0 && left < khz_settings_of(s)->period_ns ? left : khz_settings_of(s)->period_ns;
    return (double)ns / 1e9;
}

double khz_stepper_time(const khz_stepper *s) { return khz_stepper_grid(s, s->n) - s->behind; }

/* ----------------------------------------------------------------------------------------------------------- inputs */

/* Internal steps since the inputs were sampled. */
static uint64_t steps_since_inputs(const khz_stepper *s) { return s->n % (uint64_t)khz_settings_of(s)->internal_steps; }

int khz_stepper_sample_inputs(khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    if (steps_since_inputs(s) > 0) {
        return 0;
    }
    const khz_real *const u = khz_reals(w->instance, m->u);
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
    const khz_model *const m = khz_model_of(s);
    const int mode =
        khz_settings_of(s)->input_mode < s->n_inputs_seen ? khz_settings_of(s)->input_mode : s->n_inputs_seen - 1;
    if (m->n_u == 0 || mode <= KHZ_INPUT_HELD) {
        return;
    }
    khz_real *const u = khz_reals(w->instance, m->u);
    const double sampled = khz_stepper_grid(s, s->n - steps_since_inputs(s));
    const double part =
        (t - sampled) * 1e9 / (double)(khz_settings_of(s)->period_ns * khz_settings_of(s)->internal_steps);
    for (int32_t i = 0; i < m->n_u; i++) {
        u[i] = w->u0[i] + part * (w->u0[i] - w->u1[i]);
        if (mode == KHZ_INPUT_QUADRATIC) {
            u[i] += 0.5 * part * (part + 1.0) * (w->u0[i] - 2.0 * w->u1[i] + w->u2[i]);
        }
    }
}

/* --------------------------------------------------------------------------------------------------------- failures */

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Before a call of the model at t: inputs as they are then.  The Newton caps hit so far. */
static uint32_t enter(khz_stepper *s, const khz_work *w, double t, int is_open)
{
    s->counts.rhs++;
    s->is_at_start = 0;
    s->is_at_end = 0;
    s->is_shown = 0;
    s->is_crossed = 0;
    s->is_open = is_open;
    inputs_at(s, w, t);
    return ((khz_context *)w->instance)->n_caps;
}

/* After it: count what went wrong. */
static khz_status leave(khz_stepper *s, uint32_t caps, khz_status status)
{
    if (status != KHZ_OK) {
        khz_stepper_note(s, status);
    }
    khz_stepper_note_caps(s, caps);
    return status;
}

khz_status khz_stepper_rhs(khz_stepper *s, const khz_work *w, double t, const khz_real *y, khz_real *f)
{
    const uint32_t caps = enter(s, w, t, 1);
    return leave(s, caps, khz_residuals(khz_model_of(s), w->instance, t, y, f));
}

/* A stage with the loops solved, from the values in the instance. */
static khz_status closed_stage(khz_stepper *s, const khz_work *w, double t, khz_real *y, khz_real *f)
{
    const khz_model *const m = khz_model_of(s);
    const uint32_t caps = enter(s, w, t, 0);
    const khz_status status = khz_derivatives(m, w->instance, t, y, f);
    khz_get_point(m, w->instance, y);
    memset(f + m->n_x, 0, sizeof(khz_real) * (size_t)m->n_z);
    return leave(s, caps, status);
}

khz_status khz_stepper_stage(khz_stepper *s, const khz_work *w, double t, khz_real part, khz_real *y, khz_real *f)
{
    if (s->is_closed) {
        return closed_stage(s, w, t, y, f);
    }
    const khz_status status = khz_stepper_rhs(s, w, t, y, f);
    return status == KHZ_OK && khz_stepper_is_loose(s, w, part) ? KHZ_NO_CONVERGENCE : status;
}

khz_status khz_stepper_inlined(khz_stepper *s, const khz_work *w, double t, khz_real gamma_h)
{
    const uint32_t caps = enter(s, w, t, 0);
    return leave(s, caps, khz_stage(khz_model_of(s), w->instance, t, w->stage, gamma_h));
}

static khz_status evaluate_at(khz_stepper *s, const khz_work *w, double t, const khz_real *y, int is_open)
{
    khz_context *const c = (khz_context *)w->instance;
    const khz_model *const m = khz_model_of(s);
    const int is_there = s->is_at_end && memcmp(y, khz_reals(c, m->x), sizeof(khz_real) * (size_t)m->n_x) == 0;
    const uint32_t caps = enter(s, w, t, is_open);
    khz_set_point(m, w->instance, y);
    c->is_open = is_open;
    khz_status status = is_there ? khz_evaluate_rest(m, w->instance, t) : khz_evaluate(m, w->instance, t, y);
    c->is_open = 0;
    if (status == KHZ_OK && !(khz_are_finite(is_open ? khz_n_y(m) : m->n_x, y) &&
                              khz_are_finite(is_open ? m->n_z : 0, khz_reals(w->instance, m->res)) &&
                              khz_are_finite(m->n_x, khz_reals(w->instance, m->xd)))) {
        status = KHZ_NOT_FINITE;
    }
    return leave(s, caps, status);
}

khz_status khz_stepper_evaluate(khz_stepper *s, const khz_work *w, double t, const khz_real *y)
{
    const khz_status status = evaluate_at(s, w, t, y, 0);
    s->is_solved = status == KHZ_OK;
    return status;
}

khz_status khz_stepper_evaluate_end(khz_stepper *s, const khz_work *w, double t, const khz_real *y)
{
    return evaluate_at(s, w, t, y, khz_model_of(s)->n_z > 0);
}

/* ------------------------------------------------------------------------------------------------------------ views */

void khz_stepper_see(khz_stepper *s, int is_seen) { s->is_unseen = !is_seen; }

/* The inputs of the last step, and those that were set since. */
static void swap_inputs(const khz_stepper *s, const khz_work *w)
{
    khz_real *const u = khz_reals(w->instance, khz_model_of(s)->u);
    int32_t *const ui = khz_ints(w->instance, khz_model_of(s)->ui);
    for (int32_t i = 0; i < khz_model_of(s)->n_u; i++) {
        const khz_real set = u[i];
        u[i] = w->u0[i];
        w->u0[i] = set;
    }
    for (int32_t i = 0; i < khz_model_of(s)->n_ui; i++) {
        const int32_t set = ui[i];
        ui[i] = w->ui[i];
        w->ui[i] = set;
    }
}

void khz_stepper_look(khz_stepper *s)
{
    if (s->is_shown) {
        return;
    }
    const uint32_t before = flush_denormals();
    const khz_work *const w = khz_stepper_divide(s);
    swap_inputs(s, w);
    khz_stepper_show(s, w);
    swap_inputs(s, w);
    restore_denormals(before);
}

/* ------------------------------------------------------------------------------------------------------------- step */

/* Index-1 form: z anew at the beginning of the step, where an input or a parameter jumped. */
static khz_status solve_again(khz_stepper *s, const khz_work *w, double t)
{
    if (s->is_solved || khz_model_of(s)->n_z == 0) {
        return KHZ_OK;
    }
    const khz_status status = khz_stepper_evaluate(s, w, t, w->x0);
    khz_get_point(khz_model_of(s), w->instance, w->x0);
    return status;
}

khz_status khz_stepper_begin(khz_stepper *s, const khz_work *w, double t)
{
    if (s->is_fresh) {
        return KHZ_OK;
    }
    khz_status status = solve_again(s, w, t);
    status = status == KHZ_OK ? khz_stepper_rhs(s, w, t, w->x0, w->f0) : status;
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
    if (khz_settings_of(s)->inlined) {
        return khz_method_of(s)->kind == KHZ_PAIR ? khz_advance_mixed(s, w, t, h) : khz_advance_inlined(s, w, t, h);
    }
    switch (khz_method_of(s)->kind) {
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
    if (khz_model_of(s)->asserts(w->instance) != KHZ_OK) {
        khz_say(c, KHZ_SAID_ERROR, c->place, c->message);
        s->counts.assertions++;
        s->flags |= KHZ_STEP_ASSERTION;
        c->status = KHZ_OK;
    }
}

/* The derivatives in the instance are those that the next step begins with. */
static void keep_rates(khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    s->is_fresh = s->is_settled && m->n_u == 0 && m->n_ui == 0 && m->n_recorded == 0 && (s->is_open || m->n_z == 0);
    s->is_at_start = s->is_fresh;
    if (s->is_fresh) {
        memcpy(w->f0, khz_reals(w->instance, m->xd), sizeof(khz_real) * (size_t)m->n_x);
        memcpy(w->f0 + m->n_x, khz_reals(w->instance, m->res), sizeof(khz_real) * (size_t)m->n_z);
    }
}

/* What the end of this step knows already about the beginning of the next. */
static void carry_over(khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    keep_rates(s, w);
    s->jacobian_age += s->jacobian_age >= 0;
    s->counts.warnings = (uint64_t)((const khz_context *)w->instance)->said[KHZ_SAID_WARNING].n;
    if (m->n_u > 0) {
        memcpy(khz_reals(w->instance, m->u), w->u0, sizeof(khz_real) * (size_t)m->n_u);
    }
}

/* The run ends with this internal step. */
static int ends_run(const khz_stepper *s)
{
    const int at_end = s->stop_ns > 0 && (int64_t)(s->n + 1) * khz_settings_of(s)->period_ns >= s->stop_ns;
    return at_end || (s->flags & KHZ_STEP_TERMINATED) != 0;
}

/* One internal step; its flags.  Others see the last one of a period. */
static __attribute__((noinline)) uint32_t internal_step(khz_stepper *s, const khz_work *w, int is_last)
{
    s->flags = 0;
    khz_get_point(khz_model_of(s), w->instance, w->x0);
    khz_cycle(s, w);
    if ((is_last || ends_run(s)) && khz_stepper_is_seen(s)) {
        khz_stepper_show(s, w);
    }
    if (khz_model_of(s)->n_recorded > 0) {
        khz_delay_push(khz_model_of(s), w->instance, w->delayed);
    }
    check_asserts(s, w);
    if (s->is_settled && !khz_values_are_finite(khz_model_of(s), w->instance)) {
        khz_stepper_note_values(s);
    }
    carry_over(s, w);
    s->n++;
    return s->flags;
}

/* The run ends, or was ended, before the period does. */
static int is_over(const khz_stepper *s, uint32_t flags)
{
    const int at_end = s->stop_ns > 0 && (int64_t)s->n * khz_settings_of(s)->period_ns >= s->stop_ns;
    return at_end || (flags & KHZ_STEP_TERMINATED) != 0;
}

uint32_t khz_stepper_step(khz_stepper *s)
{
    const khz_context *const c = (khz_context *)(void *)((char *)s + s->instance);
    KHZ_ENTER(c, KHZ_PLACE_STEP);
    const uint32_t before = flush_denormals();
    const khz_work *const w = khz_stepper_divide(s);
    const uint64_t rhs = s->counts.rhs;
    const uint64_t passes = s->counts.event_passes;
    const uint32_t detours = c->n_detours;
    const int32_t n = khz_settings_of(s)->internal_steps;
    uint32_t flags = internal_step(s, w, n == 1);
    for (int32_t i = 1; i < n && !is_over(s, flags); i++) {
        flags = (flags & ~(uint32_t)KHZ_STEP_BEHIND) | internal_step(s, w, i + 1 == n);
    }
    flags |= c->n_detours != detours ? KHZ_STEP_DETOUR : 0u;
    s->flags = flags;
    s->counts.steps++;
    s->counts.max_step_rhs = most(s->counts.max_step_rhs, s->counts.rhs - rhs);
    s->counts.max_step_passes = most(s->counts.max_step_passes, s->counts.event_passes - passes);
    restore_denormals(before);
    KHZ_LEAVE(c, KHZ_PLACE_STEP);
    return s->flags;
}

uint32_t khz_stepper_event(khz_stepper *s)
{
    const uint32_t before = flush_denormals();
    const khz_work *const w = khz_stepper_divide(s);
    s->flags = 0;
    khz_cycle_event(s, w);
    if (khz_model_of(s)->n_recorded > 0) {
        khz_delay_push(khz_model_of(s), w->instance, w->delayed);
    }
    check_asserts(s, w);
    keep_rates(s, w);
    restore_denormals(before);
    return s->flags;
}

/* ------------------------------------------------------------------------------------------------------------ start */

khz_status khz_stepper_prepare(void *memory, const khz_model *m, const khz_step_settings *settings)
{
    khz_stepper *const s = (khz_stepper *)memory;
    if (khz_stepper_lay_out(s, m, settings) == 0) {
        return KHZ_UNSUPPORTED;
    }
    memset((char *)memory + s->division, 0, s->instance - s->division);
    khz_stepper_touch(s);
    s->is_shown = 1;
    return khz_instance_init(m, khz_stepper_instance(s));
}

/* The inputs at the start count as the first sample. */
static void first_samples(khz_stepper *s, const khz_work *w)
{
    memcpy(w->u0, khz_reals(w->instance, khz_model_of(s)->u), sizeof(khz_real) * (size_t)khz_model_of(s)->n_u);
    memcpy(w->ui, khz_ints(w->instance, khz_model_of(s)->ui), sizeof(int32_t) * (size_t)khz_model_of(s)->n_ui);
    s->n_inputs_seen = 0;
}

khz_status khz_stepper_start(khz_stepper *s, double start)
{
    const uint32_t before = flush_denormals();
    const khz_work *const w = khz_stepper_divide(s);
    s->start = start;
    s->n = 0;
    khz_status status = khz_initialize(khz_model_of(s), w->instance, start);
    ((khz_context *)w->instance)->newton_cap = khz_settings_of(s)->loop_newton;
    if (status == KHZ_OK && khz_model_of(s)->n_recorded > 0) {
        khz_delay_push(khz_model_of(s), w->instance, w->delayed);
    }
    s->slope_time = (double)NAN;
    s->event_time = (double)NAN;
    khz_model_of(s)->crossings(w->instance, w->g0);
    first_samples(s, w);
    s->is_solved = status == KHZ_OK;
    s->is_settled = status == KHZ_OK;
    s->is_shown = status == KHZ_OK;
    carry_over(s, w); /* the first step costs no more than the others */
    restore_denormals(before);
    return status;
}

void khz_stepper_past_inputs(khz_stepper *s, const double *last, const double *before)
{
    const khz_work *const w = khz_stepper_divide(s);
    for (int32_t i = 0; i < khz_model_of(s)->n_u; i++) {
        w->u0[i] = (khz_real)last[i];
        w->u1[i] = (khz_real)(before != NULL ? before : last)[i];
    }
    s->n_inputs_seen = before != NULL ? 2 : 1;
}

khz_status khz_stepper_init(void *memory, const khz_model *m, const khz_step_settings *settings, double start)
{
    const khz_status status = khz_stepper_prepare(memory, m, settings);
    return status == KHZ_OK ? khz_stepper_start((khz_stepper *)memory, start) : status;
}
