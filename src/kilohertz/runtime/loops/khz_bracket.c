#include <math.h>

#include "khz_newton.h"

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
