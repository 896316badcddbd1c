#include "khz_newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_newton_frame.h"
#include "khz_probe.h"
#include "khz_spare.h"
#include "khz_vector.h"

khz_real *khz_newton_residual(int n, khz_real *work) { return work + 2 * n * n; }

int khz_newton_evaluate(const khz_newton_problem *p, khz_context *c, void *instance, const khz_real *x, khz_real *f)
{
    const int fine = khz_succeeds(p->residual, c, instance, x, f) && khz_are_finite(p->n, f);
    for (int i = 0; p->offset != NULL && i < p->n; i++) {
        f[i] -= p->share * p->offset[i];
    }
    return fine;
}

int khz_newton_jacobian(const khz_newton_problem *p, khz_context *c, void *instance, const khz_real *x,
                        khz_real *jacobian)
{
    return khz_succeeds(p->jacobian, c, instance, x, jacobian);
}

static int evaluate(const frame *w, const khz_real *x, khz_real *f)
{
    return khz_newton_evaluate(w->p, w->c, w->instance, x, f);
}

/* The same without an offset, for a number of unknowns that is a constant where this is called. */
static KHZ_INLINE int evaluate_sized(const frame *w, const khz_real *x, khz_real *f, int n)
{
    return khz_succeeds(w->p->residual, w->c, w->instance, x, f) && khz_are_finite(n, f);
}

/* With a plan only its entries are ever written; the others are 0 from the beginning. */
static KHZ_INLINE int finite_jacobian(const frame *w, int n)
{
    const khz_sparse_plan *const plan = w->p->plan;
    if (plan == NULL) {
        return khz_are_finite(n * n, w->jacobian);
    }
    for (int32_t i = 0; i < plan->n; i++) {
        for (int32_t k = plan->a_row[i]; k < plan->a_row[i + 1]; k++) {
            if (!(fabs(w->jacobian[i * n + plan->a_column[k]]) <= KHZ_LARGEST)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Forward differences, backward where the forward point lies outside the domain. */
static int differences(const frame *w, khz_real *x)
{
    const int n = w->p->n;
    w->c->n_detours += w->p->jacobian != NULL ? 1U : 0U;
    if (w->p->jacobian != NULL && !khz_may_take(w->c, &w->c->trials_left, 2 * n)) {
        return 0;
    }
    for (int j = 0; j < n; j++) {
        const khz_real kept = x[j];
        khz_real delta = sqrt(KHZ_EPSILON) * fmax(fabs(kept), w->p->nominal[j] * KHZ_DIFFERENCE_LEAST);
        delta = (kept + delta) - kept;
        x[j] = kept + delta;
        int fine = evaluate(w, x, w->f_new);
        if (!fine) {
            delta = -delta;
            x[j] = kept + delta;
            fine = evaluate(w, x, w->f_new);
        }
        x[j] = kept;
        if (!fine) {
            return 0;
        }
        for (int i = 0; i < n; i++) {
            w->jacobian[i * n + j] = (w->f_new[i] - w->f[i]) / delta;
        }
    }
    return 1;
}

static KHZ_INLINE int differentiate(const frame *w, khz_real *x, int n)
{
    if (w->p->jacobian != NULL && khz_newton_jacobian(w->p, w->c, w->instance, x, w->jacobian) &&
        finite_jacobian(w, n)) {
        return 1;
    }
    return differences(w, x);
}

/* By the planned factorisation; 0 where its order of pivots does not suit the numbers. */
static int sparse_direction(const frame *w)
{
    const khz_sparse_plan *const plan = w->p->plan;
    const int n = w->p->n;
    if (khz_sparse_factor_dense(plan, w->jacobian, w->p->sparse) != 0) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        w->step[i] = -w->f[i];
    }
    khz_sparse_solve(plan, w->p->sparse, w->step);
    return khz_are_finite(n, w->step);
}

static KHZ_INLINE int newton_direction(const frame *w, int n)
{
    if (w->p->plan != NULL && sparse_direction(w)) {
        return 1;
    }
    w->c->n_detours += w->p->plan != NULL ? 1U : 0U;
    for (int i = 0; i < n; i++) {
        w->step[i] = -w->f[i];
    }
    khz_status status = khz_lu_factor_copy(n, w->jacobian, w->lu, w->lu_scale, w->order);
    if (status == KHZ_OK) {
        khz_lu_solve(n, w->lu, w->lu_scale, w->order, w->step, w->solve_work);
    } else if (status == KHZ_SINGULAR && khz_may_iterate(w->c)) {
        w->c->n_detours++;
        memcpy(w->lu, w->jacobian, sizeof(khz_real) * (size_t)n * (size_t)n);
        for (int i = 0; i < n; i++) {
            w->step[i] = -w->f[i];
        }
        status = khz_minimum_norm(n, w->lu, w->step, KHZ_CONSISTENT_DIRECTION, w->solve_work, w->order);
    }
    return status == KHZ_OK && khz_are_finite(n, w->step);
}

/* (J'J + mu D'D) step = -J'f in scaled quantities: between Newton (mu = 0) and steepest descent. */
static int marquardt_direction(const frame *w, khz_real mu)
{
    const int n = w->p->n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            khz_real sum = i == j ? mu : 0.0;
            for (int k = 0; k < n; k++) {
                const khz_real s = w->row_scale[k];
                sum += w->jacobian[k * n + i] * w->x_scale[i] * s * w->jacobian[k * n + j] * w->x_scale[j] * s;
            }
            w->lu[i * n + j] = sum;
            w->lu[j * n + i] = sum;
        }
        khz_real sum = 0.0;
        for (int k = 0; k < n; k++) {
            const khz_real s = w->row_scale[k];
            sum -= w->jacobian[k * n + i] * w->x_scale[i] * s * w->f[k] * s;
        }
        w->step[i] = sum;
    }
    if (khz_lu_factor(n, w->lu, w->lu_scale, w->order) != KHZ_OK) {
        return 0;
    }
    khz_lu_solve(n, w->lu, w->lu_scale, w->order, w->step, w->solve_work);
    for (int i = 0; i < n; i++) {
        w->step[i] *= w->x_scale[i];
    }
    return khz_are_finite(n, w->step);
}

/* A step out of the bounds ends before them: at the bound itself equations may have no value. */
static KHZ_INLINE void trial(const frame *w, const khz_real *x, khz_real factor, int n)
{
    if (w->p->lower == NULL && w->p->upper == NULL) {
        khz_add_scaled(n, x, factor, w->step, w->x_new);
        return;
    }
    for (int j = 0; j < n; j++) {
        khz_real v = x[j] + factor * w->step[j];
        if (w->p->lower != NULL && x[j] >= w->p->lower[j] && v < w->p->lower[j]) {
            v = x[j] - KHZ_WAY_TO_BOUND * (x[j] - w->p->lower[j]);
        }
        if (w->p->upper != NULL && x[j] <= w->p->upper[j] && v > w->p->upper[j]) {
            v = x[j] + KHZ_WAY_TO_BOUND * (w->p->upper[j] - x[j]);
        }
        w->x_new[j] = v;
    }
}

static KHZ_INLINE void accept(const frame *w, khz_real *x, int n)
{
    const size_t bytes = sizeof(khz_real) * (size_t)n;
    memcpy(x, w->x_new, bytes);
    memcpy(w->f, w->f_new, bytes);
}

/* Squared weights of the residuals that the whole step turned round (of all, where it turned none); those that are only
 * rounding do not count.  The sum of their squares, weighted. */
static khz_real weigh_turned(const frame *w, khz_real *weight)
{
    const int n = w->p->n;
    const khz_real least = KHZ_TURN_ROUNDING * merit(w, w->f, n);
    khz_real turned = 0.0;
    for (int i = 0; i < w->p->n; i++) {
        const khz_real square = w->row_scale[i] * w->row_scale[i];
        const khz_real part = w->f[i] * w->f[i] * square;
        const int counts = w->f[i] * w->f_new[i] < 0.0 && part > least;
        weight[i] = counts ? square : 0.0;
        turned += counts ? part : 0.0;
    }
    for (int i = 0; i < w->p->n && turned == 0.0; i++) {
        weight[i] = w->row_scale[i] * w->row_scale[i];
    }
    return turned > 0.0 ? turned : merit(w, w->f, n);
}

/* A whole step that overshoots a steep piece (an amplifier between its limits) turns residuals round without making
 * them smaller.  Somewhere on the way they vanish in the direction they had: found by bisection.  The others have no
 * say: one that hardly moves would hide that those turned. */
static void turn_point(const frame *w, const khz_real *x)
{
    khz_real *const weight = w->lu_scale; /* free until the next factorisation */
    const khz_real whole = weigh_turned(w, weight);
    khz_real low = 0.0;
    khz_real high = 1.0;
    for (int turn = 0; turn < KHZ_TURN_BISECTIONS && khz_may_try(w->c); turn++) {
        const khz_real middle = 0.5 * (low + high);
        trial(w, x, middle, w->p->n);
        if (!evaluate(w, w->x_new, w->f_new)) {
            high = middle;
            continue;
        }
        khz_real along = 0.0;
        for (int i = 0; i < w->p->n; i++) {
            along += w->f[i] * w->f_new[i] * weight[i];
        }
        if (fabs(along) <= KHZ_TURN_FOUND * whole) {
            return;
        }
        if (along > 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/* Whether a step of this size, cut by a factor, ends the iteration.  In doubles a step that is so short after all cuts
 * was 4e-7 of the unknowns at most. */
static KHZ_INLINE int is_short(const frame *w, khz_real size, khz_real factor)
{
    return size * factor < w->p->tolerance && KHZ_BY_NUMBER(1, size <= KHZ_NEWTON_WHOLE);
}

/* Newton with cuts of the step until the residual shrinks; `bold`: whole steps as long as the residual has a value,
 * which is what finds the right piece of piecewise linear equations.  0: gave up, 1: converged, 2: and the residual was
 * evaluated last at x. */
static KHZ_INLINE int iterate_sized(const frame *w, khz_real *x, int bold, int n)
{
    const int n_free = bold ? 0 : w->c->newton_cap;
    for (int k = 0; k < w->p->max_iterations && (k < n_free || khz_may_iterate(w->c)); k++) {
        w->c->n_iterations++;
        if (!differentiate(w, x, n)) {
            return 0;
        }
        rescale(w, x, n);
        if (!newton_direction(w, n)) {
            return 0;
        }
        const khz_real size = largest_step(w, n);
        const khz_real before = merit(w, w->f, n);
        khz_real factor = 1.0;
        int found = 0;
        for (int cut = 0; cut < KHZ_NEWTON_CUTS && !found && (cut == 0 || khz_may_try(w->c)); cut++) {
            trial(w, x, factor, n);
            found = evaluate_sized(w, w->x_new, w->f_new, n) &&
                    (bold || merit(w, w->f_new, n) <= (1.0 - KHZ_NEWTON_DECREASE * factor) * before ||
                     is_short(w, size, factor));
            factor = found ? factor : factor * 0.5;
        }
        w->c->n_detours += factor < 1.0 ? 1U : 0U;
        if (!found) {
            return before <= KHZ_NEWTON_SOLVED && size <= KHZ_NEWTON_NEAR;
        }
        if (bold && size > w->p->tolerance && merit(w, w->f_new, n) > KHZ_TURN_SUSPECT * before) {
            turn_point(w, x);
        }
        accept(w, x, n);
        if (is_short(w, size, factor) || (factor == 1.0 && merit(w, w->f, n) == 0.0)) {
            w->c->n_detours += k >= KHZ_USUAL_NEWTON ? 1U : 0U;
            return bold ? 1 : 2;
        }
    }
    return 0;
}

/* Compiled for few unknowns apart: there the loops over them fall away. */
static int iterate(const frame *w, khz_real *x, int bold)
{
    const int n = w->p->n;
    return n == 1 ? iterate_sized(w, x, bold, 1) : n == 2 ? iterate_sized(w, x, bold, 2) : iterate_sized(w, x, bold, n);
}

/* Whole steps that become shorter by half: a solution next to x, or none.  As iterate_sized. */
static int iterate_near(const frame *w, khz_real *x)
{
    const int n = w->p->n;
    khz_real last = KHZ_PATH_FAR;
    for (int k = 0; k < w->p->max_iterations; k++) {
        w->c->n_iterations++;
        if (!differentiate(w, x, n)) {
            return 0;
        }
        rescale(w, x, n);
        if (!newton_direction(w, n)) {
            return 0;
        }
        const khz_real size = largest_step(w, n);
        trial(w, x, 1.0, n);
        if (size > 0.5 * last || !evaluate(w, w->x_new, w->f_new)) {
            return 0;
        }
        accept(w, x, n);
        if (size < w->p->tolerance) {
            return 1;
        }
        last = size;
    }
    return 0;
}

/* Each residual may be small beside what the unknowns can change of it, and all together out of reach: there Newton's
 * own step is long, or there is none. */
static int is_near(const frame *w, int n) { return newton_direction(w, n) && largest_step(w, n) <= KHZ_NEWTON_NEAR; }

static int is_solved(const frame *w, khz_real *x)
{
    const int n = w->p->n;
    if (!differentiate(w, x, n)) {
        return 0;
    }
    rescale(w, x, n);
    const khz_real left = merit(w, w->f, n);
    return left <= KHZ_NEWTON_SOLVED && (left <= KHZ_NEWTON_EXACT || is_near(w, n));
}

static int iterate_marquardt(const frame *w, khz_real *x)
{
    const int n = w->p->n;
    khz_real mu = KHZ_DAMPING_FIRST;
    for (int iteration = 0; iteration < w->p->rescue_iterations; iteration++) {
        w->c->n_iterations++;
        if (!differentiate(w, x, n)) {
            return 0;
        }
        rescale(w, x, n);
        const khz_real before = merit(w, w->f, n);
        int found = 0;
        for (int raise = 0; raise < KHZ_NEWTON_CUTS && !found; raise++) {
            if (marquardt_direction(w, mu)) {
                trial(w, x, 1.0, n);
                found = evaluate(w, w->x_new, w->f_new) && merit(w, w->f_new, n) < before;
            }
            mu = found ? mu * KHZ_DAMPING_LESS : mu * KHZ_DAMPING_MORE;
        }
        if (!found) {
            return before <= KHZ_NEWTON_SOLVED && (before <= KHZ_NEWTON_EXACT || is_near(w, n));
        }
        accept(w, x, n);
        mu = fmax(mu, KHZ_DAMPING_LEAST);
        /* Close enough for Newton to finish quadratically; where equations follow from one another he has no step. */
        if (merit(w, w->f, n) <= KHZ_NEWTON_SOLVED && (iterate(w, x, 0) != 0 || is_solved(w, x))) {
            return 1;
        }
    }
    return 0;
}

/* Where a rescue begins, as parts of the nominal values beside the guess. */
static const khz_real shifts[KHZ_RESCUE_POINTS] = {0.0, 1e-3, -1e-3, 1e-1, -1e-1, 1.0, -1.0, 1e-6, -1e-6};

/* The guess, or a point beside it by a part of the nominal values; 1 where the residuals have values there. */
static int shifted(const frame *w, const khz_real *guess, khz_real *x, int k)
{
    for (int i = 0; i < w->p->n; i++) {
        x[i] = guess[i] + shifts[k] * w->p->nominal[i];
    }
    return evaluate(w, x, w->f);
}

/* Bolder ways from the guess, then from points beside it: at the guess itself the Jacobian may be singular (a flow of
 * zero through a quadratic resistance).  Bound: KHZ_RESCUE_RESIDUALS. */
static int rescue(const frame *w, const khz_real *guess, khz_real *x)
{
    for (int k = 0; k < KHZ_RESCUE_POINTS && khz_has_iterations(w->c, KHZ_MIXED_MEANS); k++) {
        if (shifted(w, guess, x, k) && iterate(w, x, 1)) {
            return 1;
        }
        if (shifted(w, guess, x, k) && iterate_marquardt(w, x)) {
            return 1;
        }
        if (k == 0 && w->p->n == 1 && khz_newton_bracket(w->p, w->c, w->instance, w->f, guess[0], x)) {
            return 1;
        }
    }
    memcpy(x, guess, sizeof(khz_real) * (size_t)w->p->n); /* what is told of the failure starts from the guess */
    return 0;
}

/* Whole steps from the first point beside the guess at which the residuals have values. */
static int iterate_boldly(const frame *w, const khz_real *guess, khz_real *x)
{
    for (int k = 0; k < KHZ_RESCUE_POINTS && (k == 0 || khz_may_try(w->c)); k++) {
        if (shifted(w, guess, x, k)) {
            return iterate(w, x, 1);
        }
    }
    return 0;
}

khz_status khz_newton(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *x, khz_real *work,
                      int32_t *order)
{
    const int n = p->n;
    frame w = {.p = p, .c = c, .instance = instance, .order = order};
    w.jacobian = work;
    w.lu = w.jacobian + n * n;
    w.f = w.lu + n * n;
    w.f_new = w.f + n;
    w.step = w.f_new + n;
    w.x_new = w.step + n;
    w.row_scale = w.x_new + n;
    w.x_scale = w.row_scale + n;
    w.lu_scale = w.x_scale + n;
    khz_real *const guess = w.lu_scale + n;
    w.solve_work = guess + n;
    if (p->kept != NULL && khz_newton_kept(p, c, instance, x, work, order)) {
        return KHZ_OK;
    }
    c->n_detours += p->kept != NULL ? 1U : 0U;
    memcpy(guess, x, sizeof(khz_real) * (size_t)n);
    int solved = !evaluate(&w, x, w.f) ? 0 : p->offset != NULL ? iterate_near(&w, x) : iterate(&w, x, 0);
    if (solved == 2) {
        KHZ_RESIDUAL(c, n, w.f);
        return KHZ_OK;
    }
    if (!solved && p->rescue_iterations > 0) {
        solved = rescue(&w, guess, x);
    } else if (!solved && p->bold) {
        c->n_detours++;
        solved = iterate_boldly(&w, guess, x) || (n == 1 && khz_newton_enclose(p, c, instance, w.f, guess[0], x));
    }
    if (!solved) {
        c->n_caps++;
        (void)khz_succeeds(p->residual, c, instance, x, w.f); /* what fails here is not what failed */
    } else {
        p->residual(instance, x, w.f);
    }
    KHZ_RESIDUAL(c, n, w.f);
    return solved && khz_are_finite(n, w.f) ? KHZ_OK : KHZ_NO_CONVERGENCE;
}
