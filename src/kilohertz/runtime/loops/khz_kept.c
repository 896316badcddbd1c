/* Newton's method with a Jacobian that is kept from call to call, for loops that are solved at every step of a run.
 *
 * From one stage to the next the Jacobian hardly changes.  It is computed anew only where a step does not become a
 * quarter of the one before; a dense one learns from each residual (Broyden 1965), so that convergence stays faster
 * than linear.  What it learns in one solution stands beside its factors (C. T. Kelley, Iterative Methods for Linear
 * and Nonlinear Equations, 1995, section 7.3): with s a step, D the sizes of the unknowns and p = D^-2 s / (s D^-2 s),
 *   B := B + f_new p^T      B^-1 g := B^-1 g + q (p^T B^-1 g),      q = -B^-1 f_new / (1 + p^T B^-1 f_new)
 * and q is the step that follows.  Iteration ends when that would be below the tolerance by the Jacobian so far.
 *
 * It begins where the last solutions point to: the last one, or a line or parabola over time through it and those
 * before, whichever would have been nearest the last time.  A Jacobian is kept as long as that is cheaper than a new
 * one: iterations beyond those of its first solution are counted until they are worth as much. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_limits.h"
#include "khz_linear.h"
#include "khz_newton.h"
#include "khz_probe.h"
#include "khz_vector.h"

typedef struct kept_frame {
    const khz_newton_problem *p;
    khz_context *c;
    void *instance;
    khz_real *jacobian, *lu, *x, *x_new, *f, *f_new, *step, *size, *scale, *room;
    khz_real *lesson;      /* p and q of each */
    khz_real *past;        /* solutions before, and what was counted since the Jacobian was new: PAST_... */
    int32_t *order, *kept; /* kept: 0 no Jacobian, 1 a Jacobian, 2 its factors too */
    int n_lessons;         /* in the Jacobian but not in its factors */
    int n_renewed;         /* Jacobians of this solution */
    khz_real coming;       /* size of the step that follows, which stands in x_new; negative: none is known */
} kept_frame;

static int kept_residual(const kept_frame *w, const khz_real *x, khz_real *f)
{
    return khz_newton_evaluate(w->p, w->c, w->instance, x, f);
}

/* The Jacobian where the residual was evaluated last. */
static int renew(kept_frame *w)
{
    w->c->n_detours += w->n_renewed++ == 1 ? 1U : 0U;
    *w->kept = khz_newton_jacobian(w->p, w->c, w->instance, w->x, w->jacobian);
    return *w->kept;
}

static int factorise(kept_frame *w)
{
    const khz_sparse_plan *const plan = w->p->plan;
    const int n = w->p->n;
    w->n_lessons = 0;
    if (plan != NULL) {
        *w->kept = khz_sparse_factor_dense(plan, w->jacobian, w->p->sparse) == 0 ? 2 : 0;
    } else {
        *w->kept = khz_lu_factor_copy(n, w->jacobian, w->lu, w->scale, w->order) == KHZ_OK ? 2 : 0;
    }
    return *w->kept == 2;
}

static khz_real kept_size(const kept_frame *w, const khz_real *v)
{
    khz_real largest = 0.0;
    for (int j = 0; j < w->p->n; j++) {
        const khz_real part = fabs(v[j]) / w->size[j];
        largest = part > largest ? part : largest;
    }
    return khz_are_finite(w->p->n, v) ? largest : -1.0;
}

static khz_real kept_product(int n, const khz_real *a, const khz_real *b)
{
    khz_real sum = 0.0;
    for (int j = 0; j < n; j++) {
        sum += a[j] * b[j];
    }
    return sum;
}

/* v := -B^-1 f by factors and lessons; its size, relative to the unknowns, or a negative number. */
static khz_real solve_kept(const kept_frame *w, const khz_real *f, khz_real *v)
{
    const int n = w->p->n;
    for (int i = 0; i < n; i++) {
        const khz_real size = fabs(w->x[i]);
        v[i] = -f[i];
        w->size[i] = size > w->p->nominal[i] ? size : w->p->nominal[i];
    }
    if (w->p->plan != NULL) {
        khz_sparse_solve(w->p->plan, w->p->sparse, v);
    } else {
        khz_lu_solve(n, w->lu, w->scale, w->order, v, w->room);
    }
    for (int k = 0; k < w->n_lessons; k++) {
        const khz_real *const p = w->lesson + 2 * n * k;
        khz_add_scaled(n, v, kept_product(n, p, v), p + n, v);
    }
    return kept_size(w, v);
}

/* The step from x and its size; negative where there is none. */
static khz_real kept_direction(kept_frame *w)
{
    if (w->coming >= 0.0) {
        khz_copy(w->step, w->x_new, w->p->n);
        return w->coming;
    }
    return *w->kept == 2 || factorise(w) ? solve_kept(w, w->f, w->step) : -1.0;
}

/* After a whole step J*step should have been f_new - f, that is, f_new should be 0: add what is missing along the
 * step.  x_new is the step that would have followed, and becomes the one that does. */
static void learn(kept_frame *w)
{
    const int n = w->p->n;
    khz_real *const p = w->lesson + 2 * n * w->n_lessons;
    khz_real square = 0.0;
    for (int j = 0; j < n; j++) {
        const khz_real part = w->step[j] / w->size[j];
        square += part * part;
        p[j] = part / w->size[j];
    }
    if (w->p->plan != NULL || !(square > 0.0)) {
        return;
    }
    khz_scale(n, 1.0 / square, p);
    for (int i = 0; i < n; i++) {
        khz_add_scaled(n, w->jacobian + i * n, w->f_new[i], p, w->jacobian + i * n);
    }
    const khz_real less = 1.0 - kept_product(n, p, w->x_new);
    if (w->coming < 0.0 || w->n_lessons + 1 == KHZ_KEPT_LESSONS || !(fabs(less) > KHZ_KEPT_ENOUGH)) {
        *w->kept = 1;
        w->coming = -1.0;
        return;
    }
    khz_scale(n, 1.0 / less, w->x_new);
    khz_copy(p + n, w->x_new, n);
    w->n_lessons++;
    w->coming = kept_size(w, w->x_new);
}

static int take_step(const kept_frame *w)
{
    for (int j = 0; j < w->p->n; j++) {
        w->x_new[j] = w->x[j] + w->step[j];
    }
    return kept_residual(w, w->x_new, w->f_new);
}

/* A step, and by which Jacobian. */
typedef struct taken {
    khz_real size; /* negative: none */
    int is_fresh;  /* the Jacobian was computed where the step begins */
} taken;

static taken fresh_step(kept_frame *w, taken before)
{
    w->coming = -1.0;
    taken next = {renew(w) ? kept_direction(w) : -1.0, 1};
    const int grows = before.is_fresh && next.size > before.size;
    if (next.size < 0.0 || grows || !take_step(w)) {
        next.size = -1.0;
    }
    return next;
}

/* The step from x by the kept Jacobian, and by a new one where that is of no use.  A step by an old Jacobian says
 * nothing by itself: where that is far too large the step is tiny.  Its becoming smaller from one to the next does. */
static taken next_step(kept_frame *w, taken before)
{
    if (*w->kept == 0) {
        return fresh_step(w, before);
    }
    taken next = {kept_direction(w), 0};
    if (next.size < 0.0 || next.size > KHZ_KEPT_ENOUGH * before.size) {
        return fresh_step(w, before);
    }
    if (!take_step(w)) {
        w->c->n_detours++;
        return kept_residual(w, w->x, w->f) ? fresh_step(w, before) : (taken){-1.0, 0};
    }
    return next;
}

/* x := x_new.  1: solved; the step that would follow is below the tolerance, and so much smaller than this one that the
 * Jacobian can be trusted. */
static int accept_step(kept_frame *w, taken made)
{
    memcpy(w->x, w->x_new, sizeof(khz_real) * (size_t)w->p->n);
    const khz_real next = w->coming = solve_kept(w, w->f_new, w->x_new);
    const int shrinks = next >= 0.0 && next <= KHZ_KEPT_ENOUGH * made.size;
    return (made.is_fresh && made.size < w->p->tolerance) || (shrinks && next < KHZ_KEPT_SAFE * w->p->tolerance);
}

/* How many solutions are there (0 to 3), and the order of the curve through them that is followed; the time of the last
 * (a double in two numbers), the times between them; iterations of the first solution by this Jacobian (0: none yet),
 * iterations beyond that; the solutions [n], the last one first. */
enum {
    PAST_COUNT,
    PAST_ORDER,
    PAST_TIME,
    PAST_TIME_REST,
    PAST_APART,
    PAST_FIRST = PAST_APART + 2,
    PAST_MORE,
    PAST_SOLUTIONS
};

/* How long after the last solution it is. */
static khz_real since(const kept_frame *w)
{
    return (khz_real)(w->c->time - ((double)w->past[PAST_TIME] + (double)w->past[PAST_TIME_REST]));
}

/* Shares of the solutions in a point so long after the last one, on a curve of this order through them. */
static void followed(const khz_real *past, int order, khz_real after, khz_real *share)
{
    const khz_real one = past[PAST_APART];
    const khz_real two = one + past[PAST_APART + 1];
    share[0] = 1.0;
    share[1] = 0.0;
    share[2] = 0.0;
    if (order == 1) {
        share[1] = -after / one;
        share[0] = 1.0 - share[1];
    } else if (order == 2) {
        share[0] = (after + one) * (after + two) / (one * two);
        share[1] = -after * (after + two) / (one * past[PAST_APART + 1]);
        share[2] = after * (after + one) / (two * past[PAST_APART + 1]);
    }
}

static KHZ_INLINE khz_real shared(const khz_real *share, const khz_real *x, int n)
{
    return share[0] * x[0] + share[1] * x[n] + share[2] * x[2 * n];
}

/* Begin where the last solutions point to.  Where the guess is not the last one (an event, a start) they say nothing
 * any more. */
static void look_ahead(kept_frame *w)
{
    const int n = w->p->n;
    const khz_real *const last = w->past + PAST_SOLUTIONS;
    if (w->past[PAST_COUNT] == 0.0) {
        return;
    }
    const khz_real after = since(w);
    for (int j = 0; j < n; j++) {
        const khz_real size = fabs(last[j]);
        const khz_real apart = fabs(w->x[j] - last[j]);
        if (!(apart <= KHZ_NOISE * (size > w->p->nominal[j] ? size : w->p->nominal[j]))) {
            w->past[PAST_COUNT] = 0.0;
            return;
        }
    }
    const int order = w->past[PAST_COUNT] > 1.0 ? (int)w->past[PAST_ORDER] : 0;
    if (order > 0 && after > 0.0 && after <= KHZ_PAST_FAR * w->past[PAST_APART]) {
        khz_real share[3];
        followed(w->past, order, after, share);
        for (int j = 0; j < n; j++) {
            w->x[j] = shared(share, last + j, n);
        }
    }
}

/* The order of the curve that comes nearest to this solution. */
static int best_order(const kept_frame *w, khz_real after)
{
    const int n = w->p->n;
    const int highest = (int)w->past[PAST_COUNT] - 1;
    const khz_real *const last = w->past + PAST_SOLUTIONS;
    int best = 0;
    khz_real least = KHZ_LARGEST;
    for (int order = 0; order <= highest; order++) {
        khz_real share[3];
        khz_real off = 0.0;
        followed(w->past, order, after, share);
        for (int j = 0; j < n; j++) {
            const khz_real part = fabs(w->x[j] - shared(share, last + j, n)) / w->size[j];
            off = part > off ? part : off;
        }
        best = off < least ? order : best;
        least = off < least ? off : least;
    }
    return best;
}

/* The solution becomes the last one.  Where few iterations are needed all stays as it is. */
static void remember(const kept_frame *w, int iterations)
{
    const size_t bytes = sizeof(khz_real) * (size_t)w->p->n;
    khz_real *const past = w->past;
    khz_real *const last = past + PAST_SOLUTIONS;
    if (iterations <= KHZ_PAST_IDLE && past[PAST_ORDER] == 0.0) {
        past[PAST_COUNT] = 0.0;
        return;
    }
    const khz_real after = since(w);
    if (!(past[PAST_COUNT] > 0.0 && after > 0.0)) {
        past[PAST_COUNT] = 0.0;
    } else {
        past[PAST_ORDER] = iterations > KHZ_PAST_IDLE ? (khz_real)best_order(w, after) : past[PAST_ORDER];
        past[PAST_APART + 1] = past[PAST_APART];
        past[PAST_APART] = after;
        memmove(last + w->p->n, last, 2 * bytes);
    }
    past[PAST_COUNT] = fmin(past[PAST_COUNT] + 1.0, 3.0);
    past[PAST_TIME] = (khz_real)w->c->time;
    past[PAST_TIME_REST] = (khz_real)(w->c->time - (double)past[PAST_TIME]);
    memcpy(last, w->x, bytes);
}

/* Whether so many iterations are a sign that a new Jacobian pays by now. */
static int is_worn(const kept_frame *w, int iterations)
{
    khz_real *const past = w->past;
    if (w->n_renewed > 0 || past[PAST_FIRST] == 0.0) {
        past[PAST_FIRST] = w->n_renewed > 0 ? 0.0 : (khz_real)iterations;
        past[PAST_MORE] = 0.0;
        return 0;
    }
    past[PAST_FIRST] = fmin(past[PAST_FIRST], (khz_real)iterations);
    past[PAST_MORE] += (khz_real)iterations - past[PAST_FIRST];
    return past[PAST_MORE] >= KHZ_KEPT_WORTH;
}

int khz_newton_kept(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *x, khz_real *work,
                    int32_t *order)
{
    const int n = p->n;
    kept_frame w = {.p = p, .c = c, .instance = instance, .order = order, .kept = p->kept};
    w.jacobian = work;
    w.lu = w.jacobian + n * n;
    w.x = w.lu + n * n;
    w.x_new = w.x + n;
    w.f = w.x_new + n;
    w.f_new = w.f + n;
    w.step = w.f_new + n;
    w.size = w.step + n;
    w.scale = w.size + n;
    w.room = w.scale + n;
    w.lesson = w.room + n;
    w.past = work + KHZ_NEWTON_WORK(n);
    w.coming = -1.0;

    const size_t bytes = sizeof(khz_real) * (size_t)n;
    memcpy(w.x, x, bytes);
    look_ahead(&w);
    int solved = 0;
    taken before = {KHZ_LARGEST, 0};
    if (!kept_residual(&w, w.x, w.f)) {
        w.past[PAST_COUNT] = 0.0;
        return 0;
    }
    int iteration = 0;
    for (; iteration < p->max_iterations && !solved; iteration++) {
        c->n_iterations++;
        c->n_detours += iteration == KHZ_USUAL_KEPT ? 1U : 0U;
        const taken next = next_step(&w, before);
        if (next.size < 0.0) {
            break;
        }
        solved = accept_step(&w, next);
        if (next.size > KHZ_KEPT_LESSON) {
            learn(&w);
        }
        khz_real *const older = w.f;
        w.f = w.f_new;
        w.f_new = older;
        before = next;
    }
    *p->kept = *p->kept == 2 && w.n_lessons > 0 ? 1 : *p->kept;
    if (solved) {
        memcpy(x, w.x, bytes);
        remember(&w, iteration);
        *p->kept = is_worn(&w, iteration) ? 0 : *p->kept;
        KHZ_RESIDUAL(c, n, w.f);
    } else {
        w.past[PAST_COUNT] = 0.0;
        *p->kept = 0;
    }
    return solved;
}
