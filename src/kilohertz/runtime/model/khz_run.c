#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_limits.h"
#include "khz_model.h"
#include "khz_probe.h"
#include "khz_rest.h"
#include "khz_vector.h"

enum { EVENT_CAP = 200, HOMOTOPY_STEPS = 200 };

/* After so many passes Reals that change by less than this part come from a loop that is solved anew each time: as
 * closely as loops are (KHZ_NEWTON_TOLERANCE), and not more. */
enum { EXACT_PASSES = 8 };
static const khz_real LOOP_NOISE = KHZ_NOISE;

/* Passes of an event in which a mixed loop that no mode suits may leave its relations as the pass before said. */
enum { LAGS = 4 };

/* Time events not further apart, as a part of time, differ by rounding alone: sums of intervals against multiples. */
static const double SAME_INSTANT = KHZ_SAME_INSTANT;

size_t khz_instance_size(const khz_model *m) { return m->size; }

void khz_instance_destroy(const khz_model *m, void *instance) { m->destroy(instance); }

khz_status khz_instance_init(const khz_model *m, void *instance)
{
    memset(instance, 0, m->size);
    khz_context *const c = (khz_context *)instance;
    c->arena_offset = m->arena;
    c->arena_size = m->arena_size;
    c->block = c->failed_block = KHZ_NOWHERE;
    c->place = KHZ_NOWHERE;
    c->lambda = 1.0;
    m->tunables(instance);
    return (khz_status)c->status;
}

size_t khz_area_offset(const khz_model *m, int32_t kind) { return m->areas[kind]; }

/* pre := value for all discrete variables; the first that differed, Reals by more than this part of their size, as a
 * position in discrete_block, -1: none. */
static int32_t update_pre(const khz_model *m, void *instance, khz_real slack)
{
    int32_t first = -1;
    const khz_real *const d = khz_reals(instance, m->d);
    khz_real *const pre_d = khz_reals(instance, m->pre_d);
    for (int32_t i = 0; i < m->n_d; i++) {
        const int same = d[i] == pre_d[i] || (isnan(d[i]) && isnan(pre_d[i])) ||
                         (slack > 0.0 && fabs(d[i] - pre_d[i]) <= slack * fabs(d[i]));
        first = first < 0 && !same ? i : first;
        pre_d[i] = d[i];
    }
    const int32_t *const n = khz_ints(instance, m->m);
    int32_t *const pre_n = khz_ints(instance, m->pre_m);
    for (int32_t i = 0; i < m->n_m; i++) {
        first = first < 0 && n[i] != pre_n[i] ? m->n_d + i : first;
        pre_n[i] = n[i];
    }
    const char *const s = khz_texts(instance, m->s);
    char *const pre_s = khz_texts(instance, m->pre_s);
    for (int32_t i = 0; i < m->n_s; i++) {
        const int differs = strcmp(s + i * KHZ_TEXT_SIZE, pre_s + i * KHZ_TEXT_SIZE) != 0;
        first = first < 0 && differs ? m->n_d + m->n_m + i : first;
        memcpy(pre_s + i * KHZ_TEXT_SIZE, s + i * KHZ_TEXT_SIZE, KHZ_TEXT_SIZE);
    }
    return first;
}

/* Set the states that were reinitialised; the last of them, likewise. */
static int32_t apply_reinits(const khz_model *m, void *instance)
{
    int32_t last = -1;
    int32_t *const flags = khz_ints(instance, m->reinit);
    const khz_real *const values = khz_reals(instance, m->reinit_value);
    khz_real *const x = khz_reals(instance, m->x);
    for (int32_t i = 0; i < m->n_x; i++) {
        if (flags[i]) {
            flags[i] = 0;
            last = m->n_d + m->n_m + m->n_s + i;
            x[i] = values[i];
        }
    }
    return last;
}

/* Relations at rest are what their values say again. */
static void free_resting(const khz_model *m, void *instance)
{
    int32_t *const forced = khz_ints(instance, m->forced);
    for (int32_t i = 0; i < m->n_r; i++) {
        forced[i] = forced[i] == KHZ_FORCED_AT_REST ? 0 : forced[i];
    }
}

/* What counts is the last pass of an event: in the passes before, discrete values are still on their way. */
static void note_unsettled(khz_context *c)
{
    if (c->unsettled == 0) {
        return;
    }
    if (c->n_unsettled == 0) {
        c->unsettled_first = c->unsettled;
        c->unsettled_time = c->time;
    }
    c->n_unsettled++;
    c->unsettled = 0;
}

/* In real time passes after the first few take turns from those of mixed loops, where there are such loops. */
static int may_pass(khz_context *c, int done, uint32_t n_mixed)
{
    if (done < KHZ_MIXED_PASSES || c->newton_cap == 0 || c->n_mixed == n_mixed) {
        return 1;
    }
    if (c->turns_left < KHZ_MIXED_PASS) {
        return 0;
    }
    c->turns_left -= KHZ_MIXED_PASS;
    return 1;
}

khz_status khz_event_passes(const khz_model *m, void *instance, int cap, int *passes)
{
    khz_context *const c = (khz_context *)instance;
    const int32_t phase = c->phase;
    khz_status status = KHZ_EVENT_CAP;
    if (phase == KHZ_PHASE_CONTINUOUS) {
        c->phase = KHZ_PHASE_EVENT;
        (void)update_pre(m, instance, 0.0); /* left limits of continuous variables; all others are up to date */
    }
    KHZ_ENTER(c, KHZ_PLACE_EVENT);
    c->is_settling = 1;
    c->n_strict = 0; /* a block that was not finished left it */
    c->lags_left = LAGS;
    const uint32_t n_cut = c->n_cut;
    const uint32_t n_mixed = c->n_mixed;
    for (*passes = 0; *passes < cap && may_pass(c, *passes, n_mixed);) {
        ++*passes;
        /* Relations that were forced stay so long enough for most; where that leads nowhere they are free again. */
        if (*passes == cap / 2 + 1 && m->n_r > 0) {
            memset(khz_ints(instance, m->forced), 0, sizeof(int32_t) * (size_t)m->n_r);
        }
        c->arena_used = 0;
        c->unsettled = 0;
        c->has_lagged = 0;
        c->noted = KHZ_OK;
        c->vague = 0;
        c->n_passes++;
        const khz_status result = KHZ_COPY(c, m)->event(instance);
        if (result != KHZ_OK) {
            status = result;
            break;
        }
        /* sample() is true in the first pass only. */
        if (m->n_samples > 0) {
            memset(khz_ints(instance, m->sample_now), 0, sizeof(int32_t) * (size_t)m->n_samples);
        }
        const int32_t moved = apply_reinits(m, instance);
        if (moved >= 0) {
            free_resting(m, instance); /* what was at rest may be elsewhere now */
        }
        const int32_t changed = update_pre(m, instance, *passes > EXACT_PASSES ? LOOP_NOISE : 0.0);
        c->restless = moved >= 0 ? moved : changed;
        /* A search for a mode that had no turns left ends the event: the next pass would have none either. */
        c->lags_left = c->restless < 0 ? 0 : c->lags_left - c->has_lagged; /* nothing new: a lag would not help */
        if ((c->restless < 0 && !c->has_lagged) || c->n_cut != n_cut) {
            khz_settle_vague(c);
            status = (khz_status)c->status;
            break;
        }
    }
    c->lags_left = 0;
    c->is_settling = 0;
    status = c->noted != KHZ_OK ? khz_settle_failures(c) : status;
    KHZ_COUNT(c, KHZ_PLACE_EVENT, *passes);
    KHZ_LEAVE(c, KHZ_PLACE_EVENT);
    c->phase = phase == KHZ_PHASE_EVENT ? KHZ_PHASE_CONTINUOUS : phase;
    note_unsettled(c);
    return status;
}

khz_status khz_event(const khz_model *m, void *instance)
{
    khz_context *const c = (khz_context *)instance;
    int passes = 0;
    const khz_status status = khz_event_passes(m, instance, EVENT_CAP, &passes);
    if (status == KHZ_EVENT_CAP) {
        c->n_caps++;
        khz_fail(c, KHZ_EVENT_CAP, KHZ_NOWHERE, "the event iteration does not come to an end");
    }
    return status;
}

/* The initial equations once, or their simplified form.  What was noted in those that are solved is looked at again in
 * the passes that follow. */
static khz_status run_initial(khz_phase_fn equations, void *instance)
{
    khz_context *const c = (khz_context *)instance;
    c->noted = KHZ_OK;
    c->is_settling = 1;
    c->n_strict = 0;
    const khz_status status = equations(instance);
    c->is_settling = 0;
    return status == KHZ_OK ? KHZ_OK : khz_settle_failures(c);
}

/* From the start values.  Where some of them hang on what the initial equations give (parameters that are not fixed),
 * these are solved again from them, as far as the first time has come; if that fails, the first solution is taken. */
static khz_status run_started(const khz_model *m, khz_phase_fn equations, void *instance)
{
    khz_context *const c = (khz_context *)instance;
    m->start(instance);
    c->status = KHZ_OK; /* a guess that has no value is none: X0[i] with an i that the initial equations give */
    const khz_status first = run_initial(equations, instance);
    if (m->late_start == khz_no_action || (first != KHZ_OK && first != KHZ_NO_CONVERGENCE)) {
        return first;
    }
    for (int is_back = 0; is_back < 2; is_back++) {
        c->status = KHZ_OK;
        memset(khz_ints(instance, m->factored), 0, sizeof(int32_t) * (size_t)m->n_factored);
        (is_back ? m->start : m->late_start)(instance);
        c->status = KHZ_OK; /* a guess that has no value is none */
        const khz_status status = run_initial(equations, instance);
        if (status == KHZ_OK || first != KHZ_OK) {
            return status;
        }
    }
    return (khz_status)c->status;
}

/* From the simplified model (lambda = 0), whose equations are `simplified`, to the actual one: the whole way at once
 * where that converges, else in strides that shrink and grow.  Bound: HOMOTOPY_STEPS solutions. */
static khz_status continue_initial(const khz_model *m, khz_phase_fn simplified, void *instance)
{
    khz_context *const c = (khz_context *)instance;
    c->lambda = 0.0;
    memset(khz_ints(instance, m->factored), 0, sizeof(int32_t) * (size_t)m->n_factored);
    khz_status status = run_started(m, simplified, instance);
    khz_real reached = 0.0;
    khz_real stride = 1.0;
    for (int i = 0; i < HOMOTOPY_STEPS && status == KHZ_OK && reached < 1.0; i++) {
        c->lambda = fmin(1.0, (double)(reached + stride));
        status = run_initial(m->initial, instance);
        if (status == KHZ_OK) {
            reached = c->lambda;
            stride *= 1.5;
        } else if (stride > 1e-4) {
            stride *= 0.3;
            c->status = KHZ_OK;
            status = KHZ_OK;
        }
    }
    c->lambda = 1.0;
    return status == KHZ_OK && reached < 1.0 ? KHZ_NO_CONVERGENCE : status;
}

/* The initial equations: by continuation where the model says how (MLS 3.7.4.4), from its simplified equations alone
 * where these are ordered apart, or from the initial ones at lambda = 0; else and where that fails directly. */
static khz_status solve_initial(const khz_model *m, void *instance)
{
    khz_context *const c = (khz_context *)instance;
    if (m->simplified != NULL && continue_initial(m, m->simplified, instance) == KHZ_OK) {
        return KHZ_OK;
    }
    if (m->uses_homotopy && continue_initial(m, m->initial, instance) == KHZ_OK) {
        return KHZ_OK;
    }
    c->status = KHZ_OK;
    c->lambda = 1.0;
    memset(khz_ints(instance, m->factored), 0, sizeof(int32_t) * (size_t)m->n_factored);
    const int32_t may_go_far = c->may_go_far;
    c->n_far = 0;
    c->may_go_far = may_go_far == KHZ_FAR_TOLD ? KHZ_FAR_NOW : 0;
    const khz_status status = run_started(m, m->initial, instance);
    c->may_go_far = may_go_far;
    return status;
}

/* When each sample ticks: read after the initial equations, which may give the start or the interval (MLS 8.6).  Its
 * first tick is the first one that is not before the start of the run. */
static khz_status set_samples(const khz_model *m, void *instance)
{
    khz_context *const c = (khz_context *)instance;
    int64_t *const ticks = (int64_t *)(void *)((char *)instance + m->sample_tick);
    const double *const first = khz_times(instance, m->sample_start);
    const double *const interval = khz_times(instance, m->sample_interval);
    m->samples(instance);
    for (int32_t i = 0; i < m->n_samples && c->status == KHZ_OK; i++) {
        const double passed = (c->time - first[i]) / interval[i];
        const double slack = 1e-9 * fmin(1.0, fabs(c->time) / interval[i]);
        ticks[i] = passed > 0.0 ? (int64_t)ceil(passed - slack) : 0;
    }
    return (khz_status)c->status;
}

khz_status khz_initialize(const khz_model *m, void *instance, double time)
{
    khz_context *const c = (khz_context *)instance;
    c->time = time;
    c->phase = KHZ_PHASE_INITIAL;
    khz_status status = m->once(instance);
    if (status == KHZ_OK) {
        status = m->initial_asserts(instance);
    }
    if (status == KHZ_OK) {
        memset(khz_ints(instance, m->factored), 0, sizeof(int32_t) * (size_t)m->n_factored);
        status = solve_initial(m, instance);
    }
    /* a model that ends the run at once has values all the same */
    const int has_ended = status == KHZ_TERMINATED;
    status = has_ended ? KHZ_OK : status;
    c->status = has_ended ? KHZ_OK : c->status;
    status = status == KHZ_OK ? set_samples(m, instance) : status;
    if (status != KHZ_OK) {
        return status;
    }
    /* Initial event: pre := value, then iterate with the ticks that fall on the start. */
    (void)update_pre(m, instance, 0.0);
    c->phase = KHZ_PHASE_EVENT;
    (void)khz_mark_samples(m, instance);
    memset(khz_ints(instance, m->factored), 0, sizeof(int32_t) * (size_t)m->n_factored);
    status = khz_event(m, instance);
    c->phase = KHZ_PHASE_CONTINUOUS;
    if (status == KHZ_OK &&
        !(khz_are_finite(m->n_x, khz_reals(instance, m->x)) && khz_are_finite(m->n_x, khz_reals(instance, m->xd)))) {
        c->status = KHZ_NOT_FINITE; /* no solver can begin here */
        return KHZ_NOT_FINITE;
    }
    status = status == KHZ_OK ? m->asserts(instance) : status;
    return status == KHZ_OK && has_ended ? KHZ_TERMINATED : status;
}

/* ------------------------------------------------------------------------------------------------------ time events */

static double tick_time(const khz_model *m, void *instance, int32_t i)
{
    const int64_t *const ticks = (const int64_t *)(void *)((char *)instance + m->sample_tick);
    return khz_times(instance, m->sample_start)[i] + (double)ticks[i] * khz_times(instance, m->sample_interval)[i];
}

double khz_next_time_event(const khz_model *m, void *instance, double *work)
{
    const khz_context *const c = (const khz_context *)instance;
    double next = (double)INFINITY;
    for (int32_t i = 0; i < m->n_samples && !c->ticks_outside; i++) {
        next = fmin(next, tick_time(m, instance, i));
    }
    m->time_events(instance, work);
    for (int32_t i = 0; i < m->n_time_events; i++) {
        if (work[i] > c->time && work[i] < next) {
            next = work[i];
        }
    }
    /* Instants that rounding alone keeps apart are one event: at the last of them all are due. */
    const double together = next + SAME_INSTANT * fabs(next);
    for (int32_t i = 0; i < m->n_time_events; i++) {
        if (work[i] > next && work[i] <= together) {
            next = work[i];
        }
    }
    return next;
}

int khz_mark_samples(const khz_model *m, void *instance)
{
    const khz_context *const c = (const khz_context *)instance;
    int64_t *const ticks = (int64_t *)(void *)((char *)instance + m->sample_tick);
    int32_t *const now = khz_ints(instance, m->sample_now);
    int count = 0;
    for (int32_t i = 0; i < m->n_samples; i++) {
        /* Rounding of time, not a part of the interval alone: that may be as good as infinite. */
        const double tick = tick_time(m, instance, i);
        const double slack = 1e-9 * fmin(khz_times(instance, m->sample_interval)[i], fabs(tick));
        now[i] = c->ticks_outside ? now[i] : tick <= c->time + slack;
        if (now[i]) {
            ticks[i]++;
            count++;
        }
    }
    return count;
}
