/* Where inside a step its first state event is, and the state there: by interpolation, or by shorter steps. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_probe.h"
#include "khz_stepper_core.h"

enum { HERMITE_UPDATES = 2 };

/* Parts of a step. */
static const double NEAR =
    KHZ_BY_NUMBER(1e-7, 1e-5); /* so close to where a relation changed the sign of its function says nothing */
static const double CLOSE = KHZ_BY_NUMBER(1e-9, 1e-6);   /* an instant so little beyond the zero is taken */
static const double BEYOND = KHZ_BY_NUMBER(1e-10, 1e-6); /* past the zero: the relation has changed there of itself */

static KHZ_INLINE void crossing_values(const khz_stepper *s, const khz_work *w, khz_real *g)
{
    const khz_context *const c = (const khz_context *)w->instance;
    if (khz_model_of(s)->n_r == 0) {
        return;
    }
    KHZ_WITHIN(c, KHZ_PLACE_CROSSING, KHZ_COPY(c, khz_model_of(s))->crossings(w->instance, g));
    if (s->may_rest) {
        khz_rest_quiet(khz_model_of(s), &w->rest, g);
    }
}

void khz_crossing_values(const khz_stepper *s, const khz_work *w, khz_real *g) { crossing_values(s, w, g); }

/* Whether one of g [n] is below zero. */
static int is_any_negative(int32_t n, const khz_real *g)
{
#ifdef __cplusplus
    int any = 0;
    for (int32_t i = 0; i < n; i++) {
        any |= g[i] < 0.0;
    }
    return any;
#else
    const khz_pair zero = {0.0, 0.0};
    khz_flags found = {0, 0};
    int32_t i = 0;
    for (; i + 2 <= n; i += 2) {
        found |= (khz_flags)(khz_pair_at(g + i) < zero);
    }
    return ((found[0] | found[1]) != 0) | (i < n && g[i] < 0.0);
#endif
}

int khz_crossings(const khz_stepper *s, const khz_work *w, khz_real *g)
{
    crossing_values(s, w, g);
    return is_any_negative(khz_model_of(s)->n_r, g);
}

double khz_secants(const khz_stepper *s, const khz_work *w, double t, double h, int32_t *which)
{
    const int32_t *const forced = khz_ints(w->instance, khz_model_of(s)->forced);
    double first = (double)INFINITY;
    for (int32_t i = 0; i < khz_model_of(s)->n_r; i++) {
        w->change[i] = fabs(w->g0[i] - w->g1[i]);
        /* Near the instant where a relation was turned the sign of its function says nothing. */
        if (forced[i] && fabs(w->g0[i]) <= NEAR * w->change[i]) {
            w->g0[i] = 0.0;
        }
        const int fired = w->g1[i] < 0.0 && w->g0[i] > 0.0;
        w->crossed[i] = fired ? t + h * w->g0[i] / (w->g0[i] - w->g1[i]) : (double)INFINITY;
        *which = w->crossed[i] < first ? i : *which;
        first = fmin(first, w->crossed[i]);
    }
    return first;
}

/* Crossings expected not later than `until` count as those of the instant `at`. */
static void move_crossings(const khz_stepper *s, const khz_work *w, double until, double at)
{
    for (int32_t i = 0; i < khz_model_of(s)->n_r; i++) {
        w->crossed[i] = w->crossed[i] <= until ? at : w->crossed[i];
    }
}

/* ---------------------------------------------------------------------------------------------------- interpolation */

static void interpolate(const khz_stepper *s, const khz_work *w, khz_real theta, double h, khz_real *out)
{
    const khz_real *const f1 = w->k;
    const int cubic = khz_settings_of(s)->events == KHZ_EVENTS_HERMITE;
    for (int32_t i = 0; i < khz_n_y(khz_model_of(s)); i++) {
        const khz_real d = w->x1[i] - w->x0[i];
        out[i] = w->x0[i] + theta * d;
        if (!cubic || i >= khz_model_of(s)->n_x) {
            continue;
        }
        const khz_real a = h * w->f0[i];
        const khz_real b = h * f1[i];
        /* Slopes that do not fit the step belong to a mode that it does not follow. */
        if (fabs(2.0 * d - a - b) <= 0.5 * fmax(fabs(a), fabs(b))) {
            out[i] += theta * (theta - 1.0) * ((1.0 - 2.0 * theta) * d + (theta - 1.0) * a + theta * b);
        }
    }
}

/* g of one relation on the cubic at theta; NaN where the model has no values there. */
static khz_real crossing_at(khz_stepper *s, const khz_work *w, double t, double h, khz_real theta, int32_t which)
{
    interpolate(s, w, theta, h, w->stage);
    if (khz_stepper_evaluate(s, w, t + theta * h, w->stage) != KHZ_OK) {
        return (khz_real)NAN;
    }
    khz_crossing_values(s, w, w->g2);
    return w->g2[which];
}

/* Two Newton updates of the secant's instant on the cubic. */
static double refine(khz_stepper *s, const khz_work *w, double t, double h, double at, int32_t which)
{
    const khz_real part = KHZ_BY_NUMBER(1e-6, 1e-3f);
    khz_real theta = (at - t) / h;
    for (int turn = 0; turn < HERMITE_UPDATES; turn++) {
        const khz_real g = crossing_at(s, w, t, h, theta, which);
        const khz_real slope = (crossing_at(s, w, t, h, theta + part, which) - g) / part;
        const khz_real better = theta - g / slope;
        theta = better >= 0.0 && better <= 1.0 ? better : theta;
    }
    /* Relations that crossed at the same instant by the secant (v > 0 and v < 0) do so still. */
    move_crossings(s, w, at + 1e-9 * h, t + theta * h);
    return t + theta * h;
}

/* The state at *at on the line or cubic through both ends; 0: the event is left to the end of the step. */
static int by_interpolation(khz_stepper *s, const khz_work *w, const khz_period *p, double t, double end, double *at)
{
    const int inside = *at < end - p->slack;
    if (inside) {
        interpolate(s, w, (*at - t) / (end - t), end - t, w->stage);
        if (khz_stepper_evaluate(s, w, *at, w->stage) == KHZ_OK) {
            return 1;
        }
    }
    if (inside || khz_settings_of(s)->events != KHZ_EVENTS_LINEAR) {
        s->is_settled = khz_stepper_evaluate_end(s, w, end, w->x1) == KHZ_OK;
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- shorter steps */

/* Crossing functions at both ends of the interval that holds the first crossing, and at a point outside it. */
typedef struct crossing_interval {
    double low, high, outside;
    khz_real *g_low, *g_high, *g_outside;
    khz_real *g_new;
} crossing_interval;

/* Zero between a and b of the parabola t(g) through three points; the secant's where that leaves the interval. */
static double zero_between(double a, khz_real ga, double b, khz_real gb, double c, khz_real gc)
{
    const double secant = a + (b - a) * ga / (ga - gb);
    const double bent = a * gb * gc / ((ga - gb) * (ga - gc)) + b * ga * gc / ((gb - ga) * (gb - gc)) +
                        c * ga * gb / ((gc - ga) * (gc - gb));
    return bent > a && bent < b ? bent : secant;
}

/* The first crossing in the interval, and in w->crossed those of all relations. */
static double first_zero(const khz_stepper *s, const khz_work *w, const crossing_interval *b)
{
    double first = (double)INFINITY;
    for (int32_t i = 0; i < khz_model_of(s)->n_r; i++) {
        const khz_real low = b->g_low[i];
        const khz_real high = b->g_high[i];
        w->crossed[i] = (double)INFINITY;
        if (low > 0.0 && high < 0.0) {
            w->crossed[i] = zero_between(b->low, low, b->high, high, b->outside, b->g_outside[i]);
        } else if (low > 0.0 && high == 0.0) {
            w->crossed[i] = b->high;
        }
        first = fmin(first, w->crossed[i]);
    }
    return first;
}

/* Take the values at a point inside as the new end of the interval. */
static void narrow(const khz_stepper *s, crossing_interval *b, double at)
{
    int before = 0;
    for (int32_t i = 0; i < khz_model_of(s)->n_r; i++) {
        const khz_real g = b->g_new[i];
        before |= b->g_low[i] > 0.0 && (g < 0.0 || (g == 0.0 && b->g_high[i] < 0.0));
    }
    khz_real *const spare = b->g_outside;
    b->outside = before ? b->high : b->low;
    b->g_outside = before ? b->g_high : b->g_low;
    if (before) {
        b->high = at;
        b->g_high = b->g_new;
    } else {
        b->low = at;
        b->g_low = b->g_new;
    }
    b->g_new = spare;
}

/* The method from the beginning of the step to `at`, all values evaluated there. */
static int step_to(khz_stepper *s, const khz_work *w, double t, double at)
{
    return khz_move(s, w, t, at, fmax(at - t, 0.0)) == KHZ_OK;
}

/* The instant to try for a crossing expected at `zero`, with a margin for what that is off by if it moved by
 * `moved`. */
static double aim(const khz_period *p, double t, double end, double zero, double moved)
{
    const double h = end - t;
    const double margin = fmax(fmax(BEYOND * h, 4.0 * DBL_EPSILON * fabs(t)), moved * moved / h);
    return fmax(fmin(zero + margin, fmax(zero, end - NEAR * h)), t + p->ahead);
}

/* Shorter steps from the beginning, the instant of each from the crossing functions seen so far.  What is kept of the
 * state before an event is not needed yet: the end of the whole step stands there for the case that a shorter one
 * fails. */
static int by_shorter_steps(khz_stepper *s, const khz_work *w, const khz_period *p, double t, double end, double *at)
{
    crossing_interval b = {t, end, end, w->g0, w->g1, w->slope, w->g2};
    khz_copy(w->kept_x, w->x1, khz_n_y(khz_model_of(s)));
    for (int turn = 1; turn <= KHZ_SHORT_STEPS; turn++) {
        if (*at >= end - p->slack || !step_to(s, w, t, *at)) {
            khz_copy(w->x1, w->kept_x, khz_n_y(khz_model_of(s)));
            return by_interpolation(s, w, p, t, end, at);
        }
        khz_crossing_values(s, w, b.g_new);
        narrow(s, &b, *at);
        const double zero = first_zero(s, w, &b);
        const int is_near = b.high <= *at && !(*at - zero > CLOSE * (end - t) + p->ahead);
        if (turn == KHZ_SHORT_STEPS || is_near) {
            move_crossings(s, w, zero + NEAR * (end - t), *at);
            break;
        }
        *at = aim(p, t, end, zero, zero - *at);
    }
    return 1;
}

int khz_locate(khz_stepper *s, const khz_work *w, const khz_period *p, double t, double end, double *at)
{
    const double h = end - t;
    int32_t which = -1;
    if (!khz_crossings(s, w, w->g1)) {
        return 0;
    }
    *at = khz_secants(s, w, t, h, &which);
    if (which < 0 || h <= p->slack) {
        return 0;
    }
    if (khz_settings_of(s)->events == KHZ_EVENTS_EXACT) {
        *at = aim(p, t, end, *at, 0.0);
        return by_shorter_steps(s, w, p, t, end, at) ? 1 + khz_crossings(s, w, w->g2) : 0;
    }
    if (khz_settings_of(s)->events == KHZ_EVENTS_CATCH_UP) {
        *at = aim(p, t, end, *at, 0.0);
        return by_interpolation(s, w, p, t, end, at) ? 1 + khz_crossings(s, w, w->g2) : 0;
    }
    if (khz_settings_of(s)->events == KHZ_EVENTS_HERMITE) {
        khz_copy(w->k, khz_reals(w->instance, khz_model_of(s)->xd), khz_model_of(s)->n_x);
        *at = refine(s, w, t, h, *at, which);
    }
    /* Not further back than one period: the next step is at most two. */
    *at = fmax(*at, p->next - p->full);
    return by_interpolation(s, w, p, t, end, at);
}
