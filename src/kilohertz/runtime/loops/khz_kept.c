/* Newton's method with a Jacobian that is kept from call to call, for loops that are solved at every step of a run.
 *
 * From one stage to the next the Jacobian hardly changes.  It is computed anew only where a step does not become a
 * quarter of the one before; a dense one learns from each residual (Broyden 1965), so that convergence stays faster
 * than linear.  Iteration ends when the step that would follow, by the same Jacobian, is below the tolerance. */
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
    double *jacobian, *lu, *x, *x_new, *f, *f_new, *step, *size, *scale, *room;
    int32_t *order, *kept; /* kept: 0 no Jacobian, 1 a Jacobian, 2 its factors too */
} kept_frame;

static int kept_residual(const kept_frame *w, const double *x, double *f)
{
    return khz_newton_evaluate(w->p, w->c, w->instance, x, f);
}

/* The Jacobian where the residual was evaluated last. */
static int renew(const kept_frame *w)
{
    const int32_t status = w->c->status;
    w->p->jacobian(w->instance, w->x, w->jacobian);
    const int failed = w->c->status != status;
    w->c->status = status;
    *w->kept = failed ? 0 : 1;
    return !failed;
}

static int factorise(const kept_frame *w)
{
    const khz_sparse_plan *const plan = w->p->plan;
    const int n = w->p->n;
    if (plan != NULL) {
        *w->kept = khz_sparse_factor_dense(plan, w->jacobian, w->p->sparse) == 0 ? 2 : 0;
    } else {
        memcpy(w->lu, w->jacobian, sizeof(double) * (size_t)n * (size_t)n);
        *w->kept = khz_lu_factor(n, w->lu, w->scale, w->order) == KHZ_OK ? 2 : 0;
    }
    return *w->kept == 2;
}

/* v := -J^-1 f by the factors there are; its size, relative to the unknowns, or a negative number. */
static double solve_kept(const kept_frame *w, const double *f, double *v)
{
    const int n = w->p->n;
    for (int i = 0; i < n; i++) {
        v[i] = -f[i];
    }
    if (w->p->plan != NULL) {
        khz_sparse_solve(w->p->plan, w->p->sparse, v);
    } else {
        khz_lu_solve(n, w->lu, w->scale, w->order, v, w->room);
    }
    double largest = 0.0;
    for (int j = 0; j < n; j++) {
        w->size[j] = fmax(fabs(w->x[j]), w->p->nominal[j]);
        largest = fmax(largest, fabs(v[j]) / w->size[j]);
    }
    return khz_are_finite(n, v) ? largest : -1.0;
}

/* The step from x and its size; negative where there is none. */
static double kept_direction(const kept_frame *w)
{
    return *w->kept == 2 || factorise(w) ? solve_kept(w, w->f, w->step) : -1.0;
}

/* After a whole step J*step should have been f_new - f, that is, f_new should be 0: add what is missing along the
 * step. */
static void learn(const kept_frame *w)
{
    const int n = w->p->n;
    double square = 0.0;
    for (int j = 0; j < n; j++) {
        w->step[j] /= w->size[j];
        square += w->step[j] * w->step[j];
        w->step[j] /= w->size[j];
    }
    if (w->p->plan != NULL || !(square > 0.0)) {
        return;
    }
    for (int i = 0; i < n; i++) {
        const double part = w->f_new[i] / square;
        for (int j = 0; j < n; j++) {
            w->jacobian[i * n + j] += part * w->step[j];
        }
    }
    *w->kept = 1;
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
    double size;  /* negative: none */
    int is_fresh; /* the Jacobian was computed where the step begins */
} taken;

static taken fresh_step(const kept_frame *w, taken before)
{
    taken next = {renew(w) ? kept_direction(w) : -1.0, 1};
    const int grows = before.is_fresh && next.size > before.size;
    if (next.size < 0.0 || grows || !take_step(w)) {
        next.size = -1.0;
    }
    return next;
}

/* The step from x by the kept Jacobian, and by a new one where that is of no use.  A step by an old Jacobian says
 * nothing by itself: where that is far too large the step is tiny.  Its becoming smaller from one to the next does. */
static taken next_step(const kept_frame *w, taken before)
{
    if (*w->kept == 0) {
        return fresh_step(w, before);
    }
    taken next = {kept_direction(w), 0};
    if (next.size < 0.0 || next.size > KHZ_KEPT_ENOUGH * before.size) {
        return fresh_step(w, before);
    }
    if (!take_step(w)) {
        return kept_residual(w, w->x, w->f) ? fresh_step(w, before) : (taken){-1.0, 0};
    }
    return next;
}

/* x := x_new.  1: solved; the step that would follow is below the tolerance, and so much smaller than this one that the
 * Jacobian can be trusted. */
static int accept_step(const kept_frame *w, taken made)
{
    memcpy(w->x, w->x_new, sizeof(double) * (size_t)w->p->n);
    const double next = solve_kept(w, w->f_new, w->x_new);
    const int shrinks = next >= 0.0 && next <= KHZ_KEPT_ENOUGH * made.size;
    return (made.is_fresh && made.size < w->p->tolerance) || (shrinks && next < KHZ_KEPT_SAFE * w->p->tolerance);
}

int khz_newton_kept(const khz_newton_problem *p, khz_context *c, void *instance, double *x, double *work,
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

    const size_t bytes = sizeof(double) * (size_t)n;
    memcpy(w.x, x, bytes);
    int solved = 0;
    taken before = {DBL_MAX, 0};
    if (!kept_residual(&w, w.x, w.f)) {
        return 0;
    }
    for (int iteration = 0; iteration < p->max_iterations && !solved; iteration++) {
        c->n_iterations++;
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
    if (solved) {
        memcpy(x, w.x, bytes);
        KHZ_RESIDUAL(c, n, w.f);
    } else {
        *p->kept = 0;
    }
    return solved;
}
