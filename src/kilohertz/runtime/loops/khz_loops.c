#include "khz_loops.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_spare.h"

khz_real khz_quotient(khz_context *c, int block, int place, khz_real b, khz_real a)
{
    if (a != 0.0) {
        return b / a;
    }
    if (b != 0.0) {
        c->block = c->status == KHZ_OK ? block : c->block;
        khz_fail(c, KHZ_SINGULAR, place, "division by zero");
    } else {
        khz_note_vague(c, block);
    }
    return 0.0;
}

khz_status khz_linear(khz_context *c, int block, int place, int n, khz_real *memory, int32_t *order, int32_t *factored,
                      khz_real *b)
{
    const size_t bytes = sizeof(khz_real) * (size_t)n * (size_t)n;
    khz_real *const matrix = memory;
    khz_real *const lu = matrix + n * n;
    khz_real *const scale = lu + n * n;
    khz_real *const work = scale + n;
    khz_status status = KHZ_OK;
    if (*factored == 0) {
        c->n_factored++;
        status = khz_lu_factor_copy(n, matrix, lu, scale, order);
        *factored = status == KHZ_OK ? 1 : 2;
    }
    if (*factored == 1) {
        khz_lu_solve(n, lu, scale, order, b, work);
    } else if (status != KHZ_NOT_FINITE && !khz_may_detour(c, KHZ_MIXED_SINGULAR)) {
        status = KHZ_SINGULAR;
    } else if (status != KHZ_NOT_FINITE) {
        /* Singular: the solution of smallest norm where the equations agree. */
        c->n_detours++;
        memcpy(lu, matrix, bytes);
        status = khz_minimum_norm(n, lu, b, KHZ_CONSISTENT, scale, order);
        if (status == KHZ_OK) {
            khz_note_vague(c, block);
        }
    }
    if (status != KHZ_OK) {
        *factored = 0;
        if (c->status == KHZ_OK) {
            c->block = block;
        }
        khz_fail(c, status, place,
                 status == KHZ_SINGULAR ? "a linear system of equations has no solution"
                                        : "a linear system of equations has a coefficient that is not a number");
    }
    return status;
}

khz_lanes khz_quotient_lanes(khz_context *c, int block, int place, khz_lanes b, khz_real a)
{
    if (a != 0.0) {
        return b / a;
    }
    for (int lane = 0; lane < KHZ_LANES; lane++) {
        b[lane] = khz_quotient(c, block, place, b[lane], a);
    }
    return b;
}

khz_status khz_linear_lanes(khz_context *c, int block, int place, int n, khz_real *memory, int32_t *order,
                            int32_t *factored, khz_lanes *b)
{
    khz_real *const lu = memory + n * n;
    khz_real *const one = lu + n * n + KHZ_MINIMUM_NORM_ROOM(n); /* a right-hand side, where lanes go one by one */
    if (*factored == 1) {
        khz_lu_solve_lanes(n, lu, lu + n * n, order, b, one);
        return KHZ_OK;
    }
    khz_status status = KHZ_OK;
    for (int lane = 0; lane < KHZ_LANES && status == KHZ_OK; lane++) {
        for (int i = 0; i < n; i++) {
            one[i] = b[i][lane];
        }
        status = khz_linear(c, block, place, n, memory, order, factored, one);
        for (int i = 0; i < n; i++) {
            b[i][lane] = one[i];
        }
    }
    return status;
}

static khz_real largest(int n, const khz_real *v)
{
    khz_real worst = 0.0;
    for (int i = 0; i < n; i++) {
        worst = fabs(v[i]) <= KHZ_LARGEST ? fmax(worst, fabs(v[i])) : KHZ_LARGEST;
    }
    return worst;
}

/* A Newton cap was hit.  Where the residual became clearly smaller the values stay and the next call goes on from them;
 * else the last good ones do.  Noted for the stepper.  0: the residual has no value at either.  Two residuals. */
static int capped(khz_context *c, int block, const khz_newton_problem *p, void *instance, khz_real *x,
                  const khz_real *guess, khz_real *residual)
{
    const khz_real reached = largest(p->n, residual);
    p->residual(instance, guess, residual);
    const khz_real before = largest(p->n, residual);
    if (reached <= KHZ_CAP_CLEARLY * before) {
        p->residual(instance, x, residual);
    } else {
        memcpy(x, guess, sizeof(khz_real) * (size_t)p->n);
    }
    c->cap_block = block;
    c->cap_residual = fmin(reached, before);
    return fmin(reached, before) < KHZ_LARGEST;
}

static int is_inside(const khz_newton_problem *p, const khz_real *x)
{
    for (int i = 0; i < p->n; i++) {
        if (x[i] < p->lower[i] - KHZ_BOUND_SLACK * fmax(fabs(x[i]), p->nominal[i]) ||
            x[i] > p->upper[i] + KHZ_BOUND_SLACK * fmax(fabs(x[i]), p->nominal[i])) {
            return 0;
        }
    }
    return 1;
}

/* The unknowns that have a start value there; 0 where none has. */
static int restart(const khz_newton_problem *p, const khz_real *guess, khz_real *x)
{
    int any = 0;
    for (int i = 0; i < p->n; i++) {
        const int given = fabs(p->start[i]) <= KHZ_LARGEST;
        x[i] = given ? p->start[i] : guess[i];
        any |= given && x[i] != guess[i];
    }
    return any;
}

/* The first guess that is out of all proportion to what its unknown is said to be like; n: there is none. */
static int first_absurd(const khz_newton_problem *p, const khz_real *guess)
{
    int i = 0;
    while (i < p->n && fabs(guess[i]) <= KHZ_ABSURD * p->nominal[i]) {
        i++;
    }
    return i;
}

/* From guesses as large as unknowns are said to be at most.  Bound: KHZ_FAR_POINTS times khz_newton's. */
static khz_status go_far(khz_context *c, const khz_newton_problem *problem, const khz_newton_problem *p, void *instance,
                         khz_real *x, const khz_real *guess, khz_real *work, int32_t *order)
{
    static const khz_real sizes[KHZ_FAR_POINTS] = {1.0, 0.1, 0.0};
    khz_status status = KHZ_NO_CONVERGENCE;
    for (int k = 0; k < KHZ_FAR_POINTS && status != KHZ_OK; k++) {
        for (int i = 0; i < p->n; i++) {
            const khz_real most = sizes[k] * p->nominal[i];
            x[i] = fmax(-most, fmin(guess[i], most));
        }
        status = khz_newton(p, c, instance, x, work, order);
        status = status == KHZ_OK && !is_inside(problem, x) ? KHZ_NO_CONVERGENCE : status;
    }
    return status;
}

/* Where the equations have no value at the guess (an enthalpy that no steam has): from the first part or multiple of it
 * at which they have one.  Bound: khz_newton's. */
static khz_status resized(khz_context *c, const khz_newton_problem *p, void *instance, khz_real *x,
                          const khz_real *guess, khz_real *work, int32_t *order)
{
    static const khz_real sizes[KHZ_OTHER_SIZES] = {0.5, 0.1, 0.01, 2.0, 10.0};
    khz_real *const residual = khz_newton_residual(p->n, work);
    if (khz_newton_evaluate(p, c, instance, guess, residual)) {
        return KHZ_NO_CONVERGENCE;
    }
    for (int k = 0; k < KHZ_OTHER_SIZES; k++) {
        for (int i = 0; i < p->n; i++) {
            x[i] = sizes[k] * guess[i];
        }
        if (khz_newton_evaluate(p, c, instance, x, residual)) {
            return khz_newton(p, c, instance, x, work, order);
        }
    }
    return KHZ_NO_CONVERGENCE;
}

/* Plainly; inside the bounds, where that fails or leaves them; `all_means`: with a rescue that stays inside, too.
 * Bound: three times khz_newton's. */
static khz_status nearby(khz_context *c, const khz_newton_problem *problem, void *instance, khz_real *x,
                         const khz_real *guess, khz_real *work, int32_t *order, int all_means)
{
    khz_newton_problem p = *problem;
    p.lower = NULL;
    p.upper = NULL;
    p.rescue_iterations = 0;
    khz_status status = khz_newton(&p, c, instance, x, work, order);
    if (is_inside(problem, guess) && (status != KHZ_OK || !is_inside(problem, x))) {
        khz_newton_problem bounded = *problem;
        for (int k = 0; k <= all_means && (status != KHZ_OK || !is_inside(problem, x)); k++) {
            bounded.rescue_iterations = k ? problem->rescue_iterations : 0;
            memcpy(x, guess, sizeof(khz_real) * (size_t)problem->n);
            status = khz_newton(&bounded, c, instance, x, work, order);
        }
    }
    return status;
}

/* Without a cap: nearby; with all means; from the start values; from others; along a path from the guess; *far: in
 * another place, where those are absurd.  A search for a mode that has taken long goes on without.  Bound: six times
 * khz_newton's, that of khz_newton_path and that of go_far. */
static khz_status searched(khz_context *c, const khz_newton_problem *problem, void *instance, khz_real *x,
                           const khz_real *guess, khz_real *work, int32_t *order, int *far)
{
    const uint32_t caps = c->n_caps;
    khz_newton_problem p = *problem;
    p.lower = NULL;
    p.upper = NULL;
    if (c->phase == KHZ_PHASE_CONTINUOUS) {
        return khz_newton(&p, c, instance, x, work, order);
    }
    const int all_means = khz_has_iterations(c, KHZ_MIXED_MEANS);
    khz_status status = nearby(c, problem, instance, x, guess, work, order, all_means);
    if (status != KHZ_OK && all_means) {
        memcpy(x, guess, sizeof(khz_real) * (size_t)p.n);
        status = khz_newton(&p, c, instance, x, work, order);
    }
    if (status != KHZ_OK && all_means && restart(problem, guess, x)) {
        status = khz_newton(&p, c, instance, x, work, order);
    }
    if (status != KHZ_OK && all_means) {
        status = resized(c, &p, instance, x, guess, work, order);
    }
    if (status != KHZ_OK && all_means) {
        status = khz_newton_path(is_inside(problem, guess) ? problem : &p, c, instance, x, guess, work, order);
    }
    if (status != KHZ_OK && c->may_go_far == KHZ_FAR_NOW && first_absurd(problem, guess) < p.n) {
        status = go_far(c, problem, &p, instance, x, guess, work, order);
        *far = status == KHZ_OK;
    }
    c->n_caps = caps + (status == KHZ_OK ? 0U : 1U);
    return status;
}

/* Whether khz_newton_few may solve it; off-line at events bounds count from the beginning. */
static KHZ_INLINE int may_be_few(const khz_newton_problem *p, const khz_context *c)
{
    return p->n <= KHZ_FEW && p->jacobian != NULL && p->plan == NULL && p->kept == NULL &&
           (c->newton_cap > 0 || c->phase == KHZ_PHASE_CONTINUOUS);
}

khz_status khz_nonlinear(khz_context *c, int block, int place, const khz_newton_problem *problem, void *instance,
                         khz_real *x, khz_real *memory, int32_t *order)
{
    const size_t bytes = sizeof(khz_real) * (size_t)problem->n;
    khz_real *const guess = memory;
    memcpy(guess, x, bytes);
    khz_status status;
    c->n_strict++;
    if (may_be_few(problem, c) && khz_newton_few(problem, c, instance, x)) {
        c->n_strict--;
        return KHZ_OK;
    }
    if (c->newton_cap > 0) {
        khz_newton_problem p = *problem;
        p.lower = NULL;
        p.upper = NULL;
        /* At an event the solution may be far from the present values. */
        p.max_iterations = c->phase == KHZ_PHASE_CONTINUOUS ? c->newton_cap : KHZ_EVENT_NEWTON * c->newton_cap;
        p.rescue_iterations = 0;
        p.bold = 1;
        status = khz_newton(&p, c, instance, x, memory + problem->n, order);
    } else {
        int far = 0;
        status = searched(c, problem, instance, x, guess, memory + problem->n, order, &far);
        if (far && c->n_far++ == 0) {
            c->far_first = block;
            c->far_unknown = first_absurd(problem, guess);
            c->far_guess = guess[c->far_unknown];
        }
    }
    c->n_strict--;
    if (status == KHZ_NO_CONVERGENCE && c->newton_cap > 0 &&
        capped(c, block, problem, instance, x, guess, khz_newton_residual(problem->n, memory + problem->n))) {
        return KHZ_OK;
    }
    if (status != KHZ_OK) {
        memcpy(x, guess, bytes);
        if (c->status == KHZ_OK) {
            c->block = block;
        }
        problem->residual(instance, x, memory + problem->n); /* an assertion that fails there tells more */
        khz_fail(c, status, place, "a nonlinear system of equations has no solution near the present values");
    }
    return status;
}

khz_status khz_expect_size(khz_context *c, int32_t size, int32_t expected)
{
    if (size != expected) {
        khz_fail(c, KHZ_BAD_INDEX, KHZ_NOWHERE, "a function returned an array of another size than expected");
    }
    return (khz_status)c->status;
}

void khz_set_text(khz_context *c, char *target, const char *text)
{
    const size_t n = strlen(text);
    if (n >= KHZ_TEXT_SIZE) {
        khz_fail(c, KHZ_OUT_OF_MEMORY, KHZ_NOWHERE, "a String is longer than the room for it");
        return;
    }
    memmove(target, text, n + 1);
}
