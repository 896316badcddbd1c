/* Newton's method with a Jacobian that is kept from call to call, for loops that are solved at every step of a run.
 *
 * From one stage to the next the Jacobian hardly changes.  It is computed anew only where a step does not become a
 * quarter of the one before; a dense one learns from each residual (Broyden 1965), so that convergence stays faster
 * than linear.  What it learns in one solution stands beside its factors (C. T. Kelley, Iterative Methods for Linear
 * and Nonlinear Equations, 1995, section 7.3): with s a step, D the sizes of the unknowns and p = D^-2 s / (s D^-2 s),
 *   B := B + f_new p^T      B^-1 g := B^-1 g + q (p^T B^-1 g),      q = -B^-1 f_new / (1 + p^T B^-1 f_new)
 * and q is the step that follows.  Iteration ends when that would be below the tolerance by the Jacobian so far. */
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
        largest = fmax(largest, fabs(v[j]) / w->size[j]);
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
        v[i] = -f[i];
        w->size[i] = fmax(fabs(w->x[i]), w->p->nominal[i]);
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
    w.coming = -1.0;

    const size_t bytes = sizeof(khz_real) * (size_t)n;
    memcpy(w.x, x, bytes);
    int solved = 0;
    taken before = {KHZ_LARGEST, 0};
    if (!kept_residual(&w, w.x, w.f)) {
        return 0;
    }
    for (int iteration = 0; iteration < p->max_iterations && !solved; iteration++) {
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
        memcpy(w.f, w.f_new, bytes);
        before = next;
    }
    *p->kept = *p->kept == 2 && w.n_lessons > 0 ? 1 : *p->kept;
    if (solved) {
        memcpy(x, w.x, bytes);
        KHZ_RESIDUAL(c, n, w.f);
    } else {
        *p->kept = 0;
    }
    return solved;
}
