#include "khz_injection.h"

#include <math.h>

#include "khz_formula.h"

void khz_fault_arm(khz_fault *f, const khz_fault_settings *s, double value, int32_t n_line)
{
    f->settings = *s;
    f->state = KHZ_INJECTED_WAITING;
    f->is_set = f->is_active = 0;
    f->n_line = n_line;
    f->n_filled = f->at = 0;
    f->since = f->ended = 0.0;
    f->n_values = 0;
    f->held = f->before = f->passed = value;
}

void khz_fault_release(khz_fault *f, double time)
{
    f->ended = f->state == KHZ_INJECTED_ACTIVE ? time : f->ended;
    f->state = KHZ_INJECTED_OVER;
    f->is_active = 0;
}

/* Whether an instant has come; those of steps are rounded to nanoseconds. */
static int has_come(double instant, double time) { return time + KHZ_SOON >= instant; }

static void advance(khz_fault *f, const khz_instant *now, double value)
{
    const khz_fault_settings *const s = &f->settings;
    if (f->state == KHZ_INJECTED_WAITING && !has_come(s->until, now->time) && has_come(s->begin, now->time) &&
        (s->trigger < 0 || now->is_triggered)) {
        f->state = KHZ_INJECTED_ACTIVE;
        f->is_active = 1;
        f->since = now->time;
        f->held = s->kind == KHZ_FAULT_STUCK ? value : f->held;
    }
    const double end = f->state == KHZ_INJECTED_ACTIVE ? fmin(s->until, f->since + s->lasts) : s->until;
    if (f->state != KHZ_INJECTED_OVER && has_come(end, now->time)) {
        khz_fault_release(f, now->time);
    }
}

/* The value of n_line instants ago, or the oldest that is known; this one takes its place. */
static double of_before(khz_fault *f, double *line, double value)
{
    const double old = f->n_filled < f->n_line ? (f->n_filled > 0 ? line[0] : value) : line[f->at];
    line[f->at] = value;
    f->at = f->at + 1 < f->n_line ? f->at + 1 : 0;
    f->n_filled += f->n_filled < f->n_line;
    return old;
}

static double disturbed(khz_fault *f, const khz_instant *now, double value, double old)
{
    const khz_fault_settings *const s = &f->settings;
    switch (s->kind) {
    case KHZ_FAULT_STUCK:
        return isnan(s->value) ? f->held : s->value;
    case KHZ_FAULT_OFFSET:
        return value + s->value;
    case KHZ_FAULT_GAIN:
        return value * s->value;
    case KHZ_FAULT_NOISE:
        return value + s->value * khz_normal((double)now->index, (double)s->seed);
    case KHZ_FAULT_DROPOUT:
        f->held = khz_uniform((double)now->index, (double)s->seed) < s->value ? f->held : value;
        return f->held;
    default:
        return old;
    }
}

double khz_fault_pass(khz_fault *f, double *line, const khz_instant *now, double value)
{
    const double old = f->settings.kind == KHZ_FAULT_DELAY ? of_before(f, line, value) : value;
    advance(f, now, value);
    if (f->state == KHZ_INJECTED_ACTIVE) {
        f->n_values++;
        f->passed = disturbed(f, now, value, old);
    } else {
        f->held = f->passed = value;
    }
    return f->passed;
}
