/* One period: the step, and state events inside it at a cost that is known before.
 *
 * Common data: the state is at t = grid - behind (behind: 0 .. one period); the period ends at `next`.  Relation k is
 * as buffered while g_k > 0; an event is due where g_k < 0.  An instant found by interpolation lies on either side of
 * the zero, so the relations that fired there are forced to their new value; such a one (g_k < 0 at the beginning of a
 * step) is looked at again at the end of the next step, without locating.  Steps that end at an event go a little
 * beyond it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_limits.h"
#include "khz_stepper_core.h"

/* ----------------------------------------------------------------------------------------------------------- events */

/* Turn the relations that cross not later than `until`.  Those that an event at this same instant turned stay so: their
 * values are as near to zero as before. */
static void force(khz_stepper *s, const khz_work *w, double t, double until)
{
    int32_t *const r = khz_ints(w->instance, khz_model_of(s)->r);
    int32_t *const forced = khz_ints(w->instance, khz_model_of(s)->forced);
    const int again = fabs(t - s->event_time) <= 1e-18 * (double)khz_settings_of(s)->period_ns;
    for (int32_t i = 0; i < khz_model_of(s)->n_r; i++) {
        const int stays = again && forced[i];
        const int crosses = !stays && w->crossed[i] <= until;
        r[i] = crosses ? !r[i] : r[i];
        forced[i] = stays || crosses;
    }
    s->event_time = t;
}

/* After the event: what changed where its function came through zero, and was found there, may be at rest from now on.
 * w->g0: at the beginning of the step; w->g2: just before the event, < 0 where the event was due for it. */
static void find_at_rest(khz_stepper *s, const khz_work *w)
{
    const khz_real noise = KHZ_NOISE;
    const int32_t *const r = khz_ints(w->instance, khz_model_of(s)->r);
    const int32_t *const forced = khz_ints(w->instance, khz_model_of(s)->forced);
    for (int32_t i = 0; i < khz_model_of(s)->n_r; i++) {
        if (r[i] != w->kept_r[i] && forced[i] != KHZ_FORCED_AT_REST) {
            const int came = w->g2[i] < 0.0 || forced[i];
            s->may_rest |= khz_rest_found(&w->rest, i, w->g2[i], came ? fmax(w->g0[i], w->change[i]) : 0.0, noise);
        }
    }
}

/* The event at t; the values just before it stand in the instance.  Relations that cross until `forced` (-infinity:
 * none) are turned whatever they say.  Leaves the state after it in x1 and x0. */
static void handle_event(khz_stepper *s, const khz_work *w, double t, int is_time_event, double forced)
{
    const khz_model *const m = khz_model_of(s);
    khz_context *const c = (khz_context *)w->instance;
    int passes = 0;
    s->is_crossed = 0;
    if (khz_stepper_is_seen(s)) {
        khz_stepper_show(s, w);
    }
    c->time = t;
    if (s->before_event != NULL) {
        s->before_event(s->user);
    }
    if (m->n_recorded > 0) {
        khz_delay_push(m, w->instance, w->delayed);
    }
    khz_mode_keep(s, w);
    if (forced >= t) {
        force(s, w, t, forced);
    } else {
        memset(khz_ints(w->instance, m->forced), 0, sizeof(int32_t) * (size_t)m->n_r);
    }
    if (m->n_r > 0) {
        khz_crossing_values(s, w, w->g2);
        khz_rest_hold(m, w->instance, &w->rest, w->g2);
    }
    const int by_time = (khz_mark_samples(m, w->instance) > 0) | is_time_event;
    s->counts.time_events += (uint64_t)by_time;
    s->counts.state_events += (uint64_t)!by_time;
    s->flags |= KHZ_STEP_EVENT | (by_time ? KHZ_STEP_TIME_EVENT : KHZ_STEP_STATE_EVENT);
    const uint32_t caps = c->n_caps;
    const khz_status status = khz_event_passes(m, w->instance, khz_settings_of(s)->event_cap, &passes);
    s->counts.event_passes += (uint64_t)passes;
    if (status == KHZ_TERMINATED) {
        s->flags |= KHZ_STEP_TERMINATED;
    } else if (status == KHZ_EVENT_CAP) {
        khz_stepper_note(s, status);
    } else if (status != KHZ_OK) {
        khz_stepper_note(s, status);
        khz_mode_undo(s, w);
        khz_stepper_show(s, w);
        s->flags |= KHZ_STEP_HELD;
    }
    s->is_shown = 1;
    khz_stepper_note_caps(s, caps);
    c->status = KHZ_OK;
    khz_mode_watch(s, w);
    if (!is_time_event && forced < t && status == KHZ_OK) {
        khz_mode_came_late(s, w);
    }
    find_at_rest(s, w);
    khz_get_point(m, w->instance, w->x1);
    khz_copy(w->x0, w->x1, khz_n_y(m));
    if (status != KHZ_OK || khz_mode_stirs(s, w)) {
        khz_stepper_touch(s);
    }
    s->is_fresh = 0;
    s->is_past_event = 1;
    s->is_settled = status == KHZ_OK;
    s->is_solved = 1;
    s->is_open = 0;
    if (s->after_event != NULL) {
        s->after_event(s->user);
    }
}

/* Arrived at t with all values evaluated: the event there, if any. */
static void arrive(khz_stepper *s, const khz_work *w, const khz_period *p, double t)
{
    const int is_time_event = p->due <= t + p->slack;
    if (is_time_event && p->due < t - p->slack) {
        s->counts.late_time_events++;
        s->flags |= KHZ_STEP_LATE_TIME_EVENT;
    }
    const int is_state_event = khz_crossings(s, w, w->g1);
    s->is_crossed = 1;
    if (is_state_event || is_time_event) {
        handle_event(s, w, is_time_event && p->due > t ? p->due : t, is_time_event, -DBL_MAX);
    }
}

/* The step failed: time goes on, the states stay, and so do all other values where they cannot be computed anew. */
static void hold(khz_stepper *s, const khz_work *w, double t, double end)
{
    s->counts.held++;
    s->flags |= KHZ_STEP_HELD;
    khz_copy(w->x1, w->x0, khz_n_y(khz_model_of(s)));
    khz_stepper_touch(s);
    s->is_settled = khz_stepper_evaluate(s, w, end, w->x1) == KHZ_OK;
    if (!s->is_settled) {
        (void)khz_stepper_evaluate(s, w, t, w->x1);
        khz_stepper_show(s, w);
        ((khz_context *)w->instance)->time = end;
    }
}

/* The method from (t, x0) to `end`, all values evaluated there.  0: it failed and the states are held. */
static int move(khz_stepper *s, const khz_work *w, double t, double end, double h)
{
    const khz_status status = khz_move(s, w, t, end, h);
    s->is_settled = status == KHZ_OK;
    if (status != KHZ_OK) {
        hold(s, w, t, end);
    }
    return status == KHZ_OK;
}

static void move_and_arrive(khz_stepper *s, const khz_work *w, const khz_period *p, double t, double h)
{
    if (move(s, w, t, p->next, h)) {
        arrive(s, w, p, p->next);
    } else if (p->due <= p->next + p->slack && s->is_settled) {
        handle_event(s, w, fmax(p->due, p->next), 1, -DBL_MAX);
    }
    s->behind = 0.0;
}

/* The crossing functions from which the next step starts.  A relation that was just located by interpolation counts as
 * late: coming back at once (a ball that leaves the floor) is not located again. */
static void next_crossings(khz_stepper *s, const khz_work *w, int is_late)
{
    const int32_t *const forced = khz_ints(w->instance, khz_model_of(s)->forced);
    if (s->is_crossed) {
        khz_copy(w->g0, w->g1, khz_model_of(s)->n_r);
    } else {
        khz_crossing_values(s, w, w->g0);
    }
    if (s->may_rest) {
        s->may_rest = khz_rest_look(khz_model_of(s), &w->rest, w->g0);
    }
    for (int32_t i = 0; i < khz_model_of(s)->n_r && is_late; i++) {
        w->g0[i] = forced[i] ? -KHZ_LEAST : w->g0[i];
    }
}

/* ---------------------------------------------------------------------------------------------- (iii) interpolation */

/* The end of this step: that of the period, or a time event before it. */
static double target(const khz_period *p)
{
    if (p->due >= p->next - p->slack) {
        return p->next;
    }
    return fmax(p->due, p->next - p->full);
}

/* The last step of an off-line run has no next one that could be stretched. */
static int is_last(const khz_stepper *s)
{
    return s->stop_ns > 0 && (int64_t)(s->n + 1) * khz_settings_of(s)->period_ns >= s->stop_ns;
}

static void cycle_linear(khz_stepper *s, const khz_work *w, const khz_period *p)
{
    const double end = target(p);
    double reached = end;
    s->behind = 0.0;
    if (!move(s, w, p->t, end, end < p->next ? end - p->t : p->h)) {
        s->behind = p->next - end;
        return;
    }
    if (khz_locate(s, w, p, p->t, end, &reached)) {
        handle_event(s, w, reached, 0, reached + p->slack);
    } else {
        reached = end;
        arrive(s, w, p, end);
    }
    s->behind = p->next - reached;
    if (reached < p->next && is_last(s)) {
        khz_period rest = *p;
        rest.due = khz_next_time_event(khz_model_of(s), w->instance, w->at);
        move_and_arrive(s, w, &rest, reached, s->behind);
    }
}

/* Relations that an event changed are near their zero: what they say there is noise. */
static void note_changes(const khz_stepper *s, const khz_work *w)
{
    const int32_t *const r = khz_ints(w->instance, khz_model_of(s)->r);
    int32_t *const forced = khz_ints(w->instance, khz_model_of(s)->forced);
    for (int32_t i = 0; i < khz_model_of(s)->n_r; i++) {
        forced[i] = r[i] != w->kept_r[i];
    }
}

/* From t to the next event, or to the end of the period; the instant reached. */
static double one_leg(khz_stepper *s, const khz_work *w, khz_period *p, double t, int is_last_event)
{
    const double end = target(p);
    double at = end;
    int found;
    if (!move(s, w, t, end, t == p->t && end == p->next ? p->h : end - t)) {
        if (p->due <= end + p->slack && s->is_settled) {
            handle_event(s, w, fmax(p->due, end), 1, -DBL_MAX);
        }
    } else if ((found = khz_locate(s, w, p, t, end, &at)) > 0) {
        const int is_short = found == 1 && khz_settings_of(s)->events == KHZ_EVENTS_EXACT && !is_last_event;
        p->ahead = is_short ? fmax(10.0 * p->ahead, 1e-6 * p->full) : 0.0;
        if (is_short) {
            memset(khz_ints(w->instance, khz_model_of(s)->forced), 0, sizeof(int32_t) * (size_t)khz_model_of(s)->n_r);
            khz_stepper_touch(s);
        } else {
            handle_event(s, w, at, 0, found > 1 ? -DBL_MAX : at + p->slack);
            note_changes(s, w);
        }
        khz_copy(w->x0, w->x1, khz_n_y(khz_model_of(s)));
        return at;
    } else {
        arrive(s, w, p, end);
    }
    khz_copy(w->x0, w->x1, khz_n_y(khz_model_of(s)));
    return end;
}

/* Events are met one after the other and the rest of the step is caught up on, as many as the settings allow; what
 * comes later is handled at the end. */
static void cycle_caught_up(khz_stepper *s, const khz_work *w, const khz_period *p)
{
    khz_period rest = *p;
    double t = p->t;
    s->behind = 0.0;
    for (int32_t left = khz_settings_of(s)->events_per_step; left > 0; left--) {
        t = one_leg(s, w, &rest, t, left == 1);
        if ((s->flags & KHZ_STEP_TERMINATED) != 0 || t >= p->next - p->slack) {
            s->behind = p->next - t;
            return;
        }
        if (khz_model_of(s)->n_recorded > 0) {
            khz_delay_push(khz_model_of(s), w->instance, w->delayed);
        }
        rest.due = khz_next_time_event(khz_model_of(s), w->instance, w->at);
        khz_crossing_values(s, w, w->g0);
    }
    move_and_arrive(s, w, &rest, t, p->next - t);
}

/* ------------------------------------------------------------------------------------------------ (ii) mid-interval */

static void cycle_mid(khz_stepper *s, const khz_work *w, const khz_period *p)
{
    const double end = target(p);
    const double middle = p->t + 0.5 * p->h;
    int32_t which = -1;
    if (end < p->next) {
        /* A time event: two steps that meet there. */
        if (move(s, w, p->t, end, end - p->t)) {
            arrive(s, w, p, end);
        }
    } else {
        if (!move(s, w, p->t, p->next, p->h)) {
            return;
        }
        if (!khz_crossings(s, w, w->g1) || isinf(khz_secants(s, w, p->t, p->h, &which))) {
            arrive(s, w, p, p->next);
            return;
        }
        /* Not this way: half a step, the event, the other half. */
        khz_copy(khz_reals(w->instance, khz_model_of(s)->x), w->x0, khz_model_of(s)->n_x);
        if (move(s, w, p->t, middle, 0.5 * p->h)) {
            handle_event(s, w, middle, 0, p->next);
        }
    }
    khz_period rest = *p;
    const double from = end < p->next ? end : middle;
    rest.due = khz_next_time_event(khz_model_of(s), w->instance, w->at);
    khz_copy(w->x0, w->x1, khz_n_y(khz_model_of(s)));
    move_and_arrive(s, w, &rest, from, p->next - from);
}

/* -------------------------------------------------------------------------------------------------- (iv) prediction */

/* Seconds until g = 0 by its slope, and by its change since the last prediction where `bend` is known. */
static double time_to_zero(khz_real g, khz_real slope, khz_real bend)
{
    if (g <= 0.0) {
        return (double)INFINITY;
    }
    const khz_real root = slope * slope - 2.0 * bend * g;
    const khz_real below = root >= 0.0 ? -slope + sqrt(root) : -1.0;
    return below > 0.0 ? 2.0 * g / below : (double)INFINITY;
}

/* The first instant at which a crossing is expected, by a small step along the derivatives. */
static double predict(khz_stepper *s, const khz_work *w, const khz_period *p)
{
    const khz_model *const m = khz_model_of(s);
    const double d = KHZ_LOOK_AHEAD * p->full;
    double first = (double)INFINITY;
    if (m->n_r == 0 || khz_stepper_begin(s, w, p->t) != KHZ_OK) {
        return first;
    }
    for (int32_t i = 0; i < khz_n_y(m); i++) {
        w->stage[i] = w->x0[i] + (i < m->n_x ? d * w->f0[i] : 0.0);
    }
    if (khz_stepper_evaluate(s, w, p->t + d, w->stage) != KHZ_OK) {
        return first;
    }
    khz_crossing_values(s, w, w->g2);
    const double since = p->t - s->slope_time;
    const int bends = khz_settings_of(s)->events == KHZ_EVENTS_PREDICT_QUADRATIC && since > 0.0;
    for (int32_t i = 0; i < m->n_r; i++) {
        const khz_real slope = w->g0[i] > 0.0 ? (w->g2[i] - w->g0[i]) / d : (khz_real)NAN;
        const khz_real bend = bends && !isnan(w->slope[i]) ? (slope - w->slope[i]) / since : 0.0;
        w->crossed[i] = p->t + time_to_zero(w->g0[i], slope, bend);
        w->slope[i] = slope;
        first = fmin(first, w->crossed[i]);
    }
    s->slope_time = p->t;
    return first;
}

/* At the predicted instant: those that are not near their zero after all do not cross. */
static void check_prediction(const khz_stepper *s, const khz_work *w)
{
    khz_crossing_values(s, w, w->g1);
    for (int32_t i = 0; i < khz_model_of(s)->n_r; i++) {
        w->crossed[i] = w->g1[i] <= 0.1 * w->g0[i] ? w->crossed[i] : (double)INFINITY;
    }
}

static void cycle_predicted(khz_stepper *s, const khz_work *w, const khz_period *p)
{
    const double at = predict(s, w, p);
    if (!(at <= p->next) || at < p->next - p->full || p->due < at || is_last(s)) {
        cycle_linear(s, w, p);
    } else if (move(s, w, p->t, at, at - p->t)) {
        check_prediction(s, w);
        handle_event(s, w, at, 0, at + p->slack);
        s->behind = p->next - at;
    } else {
        s->behind = p->next - at;
    }
    if ((s->flags & KHZ_STEP_EVENT) != 0) {
        s->slope_time = (double)NAN;
    }
}

/* ----------------------------------------------------------------------------------------------------------- period */

/* Inputs have new values: conditions on them change now, not at the end of the step. */
static void take_inputs(khz_stepper *s, const khz_work *w, double t)
{
    const khz_model *const m = khz_model_of(s);
    const int moved = khz_stepper_sample_inputs(s, w);
    /* Extrapolated inputs jump to their samples. */
    if (moved != 0 || (m->n_u > 0 && khz_settings_of(s)->input_mode != KHZ_INPUT_HELD)) {
        s->is_solved = 0;
    }
    if (moved == 0 || m->n_r + m->n_m + m->n_d == 0) {
        return;
    }
    s->is_fresh = 0;
    khz_copy(w->x1, w->x0, khz_n_y(m));
    const khz_status status = khz_stepper_evaluate(s, w, t, w->x0);
    khz_get_point(m, w->instance, w->x0);
    if (status == KHZ_OK && (khz_crossings(s, w, w->g0) || moved > 1)) {
        handle_event(s, w, t, 0, -DBL_MAX);
    }
    khz_crossing_values(s, w, w->g0);
}

/* Stages in which loops are solved, those of all sub-steps and iterations. */
static int32_t n_stages(const khz_stepper *s)
{
    const int is_iterated = khz_method_of(s)->kind == KHZ_DIRK && !khz_settings_of(s)->inlined;
    return khz_method_of(s)->n_stages * (is_iterated ? khz_settings_of(s)->newton : 1) *
           (khz_method_of(s)->kind == KHZ_PAIR ? khz_settings_of(s)->substeps : 1);
}

/* What the period has for searches, and for nonlinear loops beyond their usual way. */
static void allow(const khz_stepper *s, khz_context *c)
{
    const int32_t n = khz_model_of(s)->n_nonlinear;
    c->turns_left = khz_settings_of(s)->mode_cap > 0 ? khz_settings_of(s)->mode_cap : khz_model_of(s)->mode_cap;
    if (n == 0) { /* nobody asks for the rest */
        return;
    }
    const int32_t loops = n < KHZ_SPARE_LOOPS ? n : KHZ_SPARE_LOOPS;
    const int32_t stages = n_stages(s);
    const int32_t caps = KHZ_SPARE_ITERATIONS + (stages + KHZ_SPARE_STAGES - 1) / KHZ_SPARE_STAGES;
    c->iterations_left = caps * khz_settings_of(s)->loop_newton * loops;
    c->trials_left = (KHZ_SPARE_TRIALS + KHZ_STAGE_TRIALS * stages) * loops;
}

/* Instants closer than this are one: a billionth of the period, and in single precision what a time event in the
 * model's numbers may be off (it would come a period late), but never more than a quarter of the period. */
static double instants_apart(double t, double period)
{
    const double least = 1e-9 * period;
    return KHZ_BY_NUMBER(((void)t, least), fmin(fmax(least, KHZ_SAME_INSTANT * fabs(t)), 0.25 * period));
}

void khz_cycle(khz_stepper *s, const khz_work *w)
{
    khz_period p;
    p.t = khz_stepper_time(s);
    p.next = khz_stepper_grid(s, s->n + 1);
    p.full = khz_stepper_length(s);
    p.h = p.full + s->behind;
    p.slack = instants_apart(p.next, p.full);
    p.ahead = 0.0;
    allow(s, (khz_context *)w->instance);
    take_inputs(s, w, p.t);
    p.due = khz_next_time_event(khz_model_of(s), w->instance, w->at);
    switch (khz_settings_of(s)->events) {
    case KHZ_EVENTS_MID:
        cycle_mid(s, w, &p);
        break;
    case KHZ_EVENTS_LINEAR:
    case KHZ_EVENTS_HERMITE:
        cycle_linear(s, w, &p);
        break;
    case KHZ_EVENTS_CATCH_UP:
    case KHZ_EVENTS_EXACT:
        cycle_caught_up(s, w, &p);
        break;
    case KHZ_EVENTS_PREDICT:
    case KHZ_EVENTS_PREDICT_QUADRATIC:
        cycle_predicted(s, w, &p);
        break;
    default:
        move_and_arrive(s, w, &p, p.t, p.h);
        break;
    }
    s->behind = s->behind < p.slack ? 0.0 : s->behind;
    s->flags |= s->behind > 0.0 ? KHZ_STEP_BEHIND : 0u;
    if (khz_model_of(s)->n_r > 0) {
        next_crossings(s, w, s->behind > 0.0);
        if (s->n_late > 0) {
            khz_mode_look_back(s, w);
        }
        memset(khz_ints(w->instance, khz_model_of(s)->forced), 0, sizeof(int32_t) * (size_t)khz_model_of(s)->n_r);
    }
}

void khz_cycle_event(khz_stepper *s, const khz_work *w)
{
    khz_period rest = {.t = khz_stepper_time(s), .h = s->behind, .next = khz_stepper_grid(s, s->n), .full = s->behind};
    khz_get_point(khz_model_of(s), w->instance, w->x0);
    allow(s, (khz_context *)w->instance);
    if (s->behind > 0.0) {
        rest.slack = instants_apart(rest.next, rest.full);
        rest.due = khz_next_time_event(khz_model_of(s), w->instance, w->at);
        move_and_arrive(s, w, &rest, rest.t, rest.h);
    }
    handle_event(s, w, rest.next, 0, -DBL_MAX);
    next_crossings(s, w, 0);
}
