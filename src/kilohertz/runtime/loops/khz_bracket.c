#include <math.h>

#include "khz_newton.h"
#include "khz_spare.h"

typedef struct bracket_search {
    const khz_newton_problem *p;
    khz_context *c;
    void *instance;
    khz_real *f;
} bracket_search;

static int bracket_evaluate(const bracket_search *w, khz_real x)
{
    return khz_newton_evaluate(w->p, w->c, w->instance, &x, w->f);
}

/* Close in by bisection to rounding on a change of sign between two points; f_low is the residual at the first, f_first
 * the larger of both.  A pole is no root: the residual must have become small.  The root into x. */
static int bracket_close_in(const bracket_search *w, khz_real low, khz_real high, khz_real f_low, khz_real f_first,
                            khz_real *x)
{
    for (int turn = 0; turn < KHZ_BRACKET_BISECTIONS; turn++) {
        const khz_real middle = 0.5 * (low + high);
        if (!bracket_evaluate(w, middle)) {
            break;
        }
        if ((*w->f < 0.0) == (f_low < 0.0)) {
            low = middle;
            f_low = *w->f;
        } else {
            high = middle;
        }
    }
    *x = 0.5 * (low + high);
    return bracket_evaluate(w, *x) && fabs(*w->f) <= KHZ_BRACKET_ROOT * f_first;
}

static int bracket_is_within(const bracket_search *w, khz_real x)
{
    return (w->p->lower == NULL || x >= w->p->lower[0]) && (w->p->upper == NULL || x <= w->p->upper[0]);
}

/* How far a root is from what is expected: the guess, or, where that is zero, the size of the nominal value.  Roots
 * next to zero are many where a function swings there. */
static khz_real bracket_distance(const bracket_search *w, khz_real guess, khz_real root)
{
    return guess == 0.0 ? fabs(log(fabs(root) / w->p->nominal[0])) : fabs(root - guess);
}

/* Whether a root is to be taken instead of the last one, which is smaller: one within the bounds before others, then
 * the nearer one, and of two that are as near the larger. */
static int bracket_is_better(const bracket_search *w, khz_real guess, khz_real root, khz_real last)
{
    if (isnan(last) || bracket_is_within(w, root) != bracket_is_within(w, last)) {
        return isnan(last) || bracket_is_within(w, root);
    }
    const khz_real as_near = bracket_distance(w, guess, last) * ((khz_real)1.0 + KHZ_BRACKET_ROOT);
    return bracket_distance(w, guess, root) <= as_near;
}

int khz_newton_bracket(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *f, khz_real guess,
                       khz_real *x)
{
    const bracket_search s = {p, c, instance, f};
    const bracket_search *const w = &s;
    const khz_real nominal = p->nominal[0];
    khz_real last_x = 0.0;
    khz_real last_f = 0.0;
    int has_last = 0;
    khz_real found = NAN;
    /* From the largest negative one over the small ones to the largest positive one. */
    const int most = KHZ_BRACKET_POINTS / 2;
    for (int k = -most; k <= most; k++) {
        const khz_real decades = fabs((khz_real)k) / (khz_real)KHZ_BRACKET_PER_DECADE;
        const khz_real size = nominal * pow(10.0, decades - (khz_real)KHZ_BRACKET_DECADES);
        const khz_real at = k < 0 ? -size : k > 0 ? size : 0.0;
        if (!bracket_evaluate(w, at)) {
            has_last = 0;
            continue;
        }
        if (has_last && (last_f < 0.0) != (*w->f < 0.0)) {
            khz_real root = NAN;
            if (bracket_close_in(w, last_x, at, last_f, fmax(fabs(last_f), fabs(*w->f)), &root) &&
                bracket_is_better(w, guess, root, found)) {
                found = root;
            }
            (void)bracket_evaluate(w, at);
        }
        has_last = 1;
        last_x = at;
        last_f = *w->f;
    }
    *x = found;
    return !isnan(found) && bracket_evaluate(w, *x);
}

typedef struct enclosure {
    khz_real low, high, f_low, f_high;
} enclosure;

/* Points on one side of the guess, farther and farther, with khz_may_try for each: 1 where the sign has changed. */
static int enclose_one(const bracket_search *w, khz_real at, khz_real *last_x, khz_real *last_f, enclosure *e)
{
    if (isnan(*last_f) || !khz_may_try(w->c) || !bracket_evaluate(w, at)) {
        *last_f = NAN; /* nothing is known beyond */
        return 0;
    }
    *e = (enclosure){*last_x, at, *last_f, *w->f};
    *last_x = at;
    *last_f = *w->f;
    return (e->f_low < 0.0) != (e->f_high < 0.0);
}

/* Newton's step from x; 0: it has none, or no iteration is left for it. */
static int enclosed_step(const bracket_search *w, khz_real x, khz_real f, khz_real *step)
{
    khz_real slope = 0.0;
    const int has = w->p->jacobian != NULL && khz_may_iterate(w->c) &&
                    khz_newton_jacobian(w->p, w->c, w->instance, &x, &slope) && slope != 0.0;
    *step = has ? -f / slope : 0.0;
    return has;
}

/* Newton's steps as long as they stay between the ends and shrink by half, else the middle.  A jump is no root: the
 * residual must have become small. */
static int enclosed_root(const bracket_search *w, enclosure e, khz_real near, khz_real *x)
{
    const khz_real first = fmax(fabs(e.f_low), fabs(e.f_high));
    khz_real last = fabs(e.high - e.low);
    khz_real step;
    *x = e.high;
    for (int turn = 0; turn < KHZ_ENCLOSE_TURNS && *w->f != 0.0 && last > near; turn++) {
        const int has = enclosed_step(w, *x, *w->f, &step);
        if (has && fabs(step) <= near) {
            break;
        }
        const khz_real to = *x + step;
        const int fits = has && (to - e.low) * (to - e.high) < 0.0 && fabs(step) <= 0.5 * last;
        const khz_real next = fits ? to : 0.5 * (e.low + e.high);
        if (!khz_may_try(w->c) || !bracket_evaluate(w, next)) {
            return 0;
        }
        last = fabs(next - *x);
        *x = next;
        *((*w->f < 0.0) == (e.f_low < 0.0) ? &e.low : &e.high) = next;
    }
    return fabs(*w->f) <= KHZ_BRACKET_ROOT * first;
}

int khz_newton_enclose(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *f, khz_real guess,
                       khz_real *x)
{
    const bracket_search s = {p, c, instance, f};
    if (!khz_may_try(c) || !bracket_evaluate(&s, guess)) {
        return 0;
    }
    const khz_real size = fmax(p->nominal[0], fabs(guess));
    khz_real down_x = guess;
    khz_real up_x = guess;
    khz_real down_f = *f;
    khz_real up_f = *f;
    khz_real stride = KHZ_ENCLOSE_FIRST * size;
    enclosure e;
    for (int k = 0; k < KHZ_ENCLOSE_POINTS; k++) {
        if (enclose_one(&s, guess + stride, &up_x, &up_f, &e) ||
            enclose_one(&s, guess - stride, &down_x, &down_f, &e)) {
            return enclosed_root(&s, e, p->tolerance * size, x);
        }
        stride *= KHZ_ENCLOSE_MORE;
    }
    return 0;
}
