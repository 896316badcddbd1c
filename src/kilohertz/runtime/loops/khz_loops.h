/* What generated code calls for its loops: linear, nonlinear, mixed. */
#ifndef KHZ_LOOPS_H
#define KHZ_LOOPS_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_base.h"
#include "khz_newton.h"

/* Doubles of memory that a loop of n unknowns needs: linear, with several right-hand sides; nonlinear, with the guess.
 */
#define KHZ_LINEAR_ROOM(n) (2 * (n) * (n) + KHZ_MINIMUM_NORM_ROOM(n) + KHZ_LANES * (n))
#define KHZ_NONLINEAR_ROOM(n) ((n) + KHZ_NEWTON_ROOM(n))

/* b / a for a loop of one; 0 / 0 gives 0 (the minimum-norm solution), anything else over 0 is a failure. */
khz_real khz_quotient(khz_context *c, int block, int place, khz_real b, khz_real a);

/* Solve the n equations whose matrix stands in memory [KHZ_LINEAR_ROOM(n)] (first n*n, row major); b [n] in: right-hand
 * side, out: solution.  *factored: 0 the matrix is new, 1 factorised, 2 singular; kept for the next call. */
khz_status khz_linear(khz_context *c, int block, int place, int n, khz_real *memory, int32_t *order, int32_t *factored,
                      khz_real *b);

/* The same for two equations a [4] whose matrix is new at every call: by Cramer's rule, and with khz_linear's memory
 * where the determinant is lost in rounding. */
static KHZ_INLINE khz_status khz_linear_2(khz_context *c, int block, int place, const khz_real *a, khz_real *memory,
                                          int32_t *order, int32_t *factored, khz_real *b)
{
    const khz_real p = a[0] * a[3], q = a[1] * a[2], determinant = p - q;
    if (fabs(determinant) > KHZ_DETERMINANT_LOST * (fabs(p) + fabs(q)) && fabs(determinant) > KHZ_LEAST &&
        fabs(determinant) <= KHZ_LARGEST) {
        const khz_real x = (b[0] * a[3] - b[1] * a[1]) / determinant;
        b[1] = (b[1] * a[0] - b[0] * a[2]) / determinant;
        b[0] = x;
        return KHZ_OK;
    }
    memcpy(memory, a, 4 * sizeof(khz_real));
    *factored = 0;
    c->n_detours += c->newton_cap > 0 ? 1U : 0U;
    return khz_linear(c, block, place, 2, memory, order, factored, b);
}

/* For three equations a [9], likewise. */
static inline khz_status khz_linear_3(khz_context *c, int block, int place, const khz_real *a, khz_real *memory,
                                      int32_t *order, int32_t *factored, khz_real *b)
{
    const khz_real p = a[4] * a[8], q = a[5] * a[7], r = a[5] * a[6], s = a[3] * a[8], t = a[3] * a[7], u = a[4] * a[6];
    const khz_real determinant = a[0] * (p - q) + a[1] * (r - s) + a[2] * (t - u);
    const khz_real whole =
        fabs(a[0]) * (fabs(p) + fabs(q)) + fabs(a[1]) * (fabs(r) + fabs(s)) + fabs(a[2]) * (fabs(t) + fabs(u));
    if (fabs(determinant) > KHZ_DETERMINANT_LOST * whole && fabs(determinant) > KHZ_LEAST && whole <= KHZ_LARGEST) {
        const khz_real v = b[0], w = b[1], f = 1.0 / determinant;
        b[0] = f * ((p - q) * v + (a[2] * a[7] - a[1] * a[8]) * w + (a[1] * a[5] - a[2] * a[4]) * b[2]);
        b[1] = f * ((r - s) * v + (a[0] * a[8] - a[2] * a[6]) * w + (a[2] * a[3] - a[0] * a[5]) * b[2]);
        b[2] = f * ((t - u) * v + (a[1] * a[6] - a[0] * a[7]) * w + (a[0] * a[4] - a[1] * a[3]) * b[2]);
        return KHZ_OK;
    }
    memcpy(memory, a, 9 * sizeof(khz_real));
    *factored = 0;
    c->n_detours += c->newton_cap > 0 ? 1U : 0U;
    return khz_linear(c, block, place, 3, memory, order, factored, b);
}

/* The same for rates in several directions. */
khz_lanes khz_quotient_lanes(khz_context *c, int block, int place, khz_lanes b, khz_real a);
khz_status khz_linear_lanes(khz_context *c, int block, int place, int n, khz_real *memory, int32_t *order,
                            int32_t *factored, khz_lanes *b);

static KHZ_INLINE khz_status khz_linear_2_lanes(khz_context *c, int block, int place, const khz_real *a,
                                                khz_real *memory, int32_t *order, int32_t *factored, khz_lanes *b)
{
    khz_status status = KHZ_OK;
    for (int lane = 0; lane < KHZ_LANES && status == KHZ_OK; lane++) {
        khz_real v[2] = {b[0][lane], b[1][lane]};
        status = khz_linear_2(c, block, place, a, memory, order, factored, v);
        b[0][lane] = v[0];
        b[1][lane] = v[1];
    }
    return status;
}

static inline khz_status khz_linear_3_lanes(khz_context *c, int block, int place, const khz_real *a, khz_real *memory,
                                            int32_t *order, int32_t *factored, khz_lanes *b)
{
    khz_status status = KHZ_OK;
    for (int lane = 0; lane < KHZ_LANES && status == KHZ_OK; lane++) {
        khz_real v[3] = {b[0][lane], b[1][lane], b[2][lane]};
        status = khz_linear_3(c, block, place, a, memory, order, factored, v);
        b[0][lane] = v[0];
        b[1][lane] = v[1];
        b[2][lane] = v[2];
    }
    return status;
}

/* The problem of a nonlinear loop with the usual caps.  sizes: nominal, min, max and start values, [n] each. */
static KHZ_INLINE khz_newton_problem khz_loop(int n, khz_residual_fn residual, khz_jacobian_fn jacobian,
                                              const khz_real *sizes, const khz_sparse_plan *plan, khz_real *sparse,
                                              int32_t *kept)
{
    const khz_newton_problem problem = {
        .n = n,
        .residual = residual,
        .jacobian = jacobian,
        .nominal = sizes,
        .lower = sizes + n,
        .upper = sizes + 2 * n,
        .start = sizes + 3 * n,
        .plan = plan,
        .sparse = sparse,
        .max_iterations = KHZ_NEWTON_CAP,
        .rescue_iterations = KHZ_RESCUE_CAP,
        .tolerance = KHZ_NEWTON_TOLERANCE,
        .kept = kept,
    };
    return problem;
}

/* Solve it from the guess x [n]; on failure x is the guess again and the failure is recorded.  Off-line, at events: of
 * two solutions the one inside min and max; where there is none near the guess, one near the start values. */
khz_status khz_nonlinear(khz_context *c, int block, int place, const khz_newton_problem *problem, void *instance,
                         khz_real *x, khz_real *memory, int32_t *order);

/* Two results for the same discrete Real, the same but for rounding. */
static KHZ_INLINE int khz_is_near(khz_real a, khz_real b)
{
    return fabs(a - b) <= fmax(KHZ_MIXED_ROUNDING * fmax(fabs(a), fabs(b)), KHZ_MIXED_LEAST);
}

/* A mixed loop: Real unknowns that need discrete ones and the other way round. */
typedef struct khz_mixed_problem {
    int block;                                /* its number */
    int n;                                    /* relations in the loop */
    const int32_t *relation;                  /* [n] their positions in r, and in forced */
    const int32_t *at_zero;                   /* [n] their values where both sides are equal */
    khz_status (*continuous)(void *instance); /* solve for the Reals with the discrete values as they are */
    int (*derive)(void *instance);            /* discrete values from the relations; 0: as before, 1: but for rounding,
                                                 2: some changed */
    /* relations at the present Reals, not stored, and how far each is from changing */
    void (*evaluate)(void *instance, int32_t *value, khz_real *distance);
} khz_mixed_problem;

/* What a search works in, whatever it holds: for n relations. */
typedef struct khz_mixed_room {
    int32_t *integers; /* [4*n] */
    khz_real *reals;   /* [2*n] */
} khz_mixed_room;
#define KHZ_MIXED_ROOM(n) (&(khz_mixed_room){(int32_t[4 * (n)]){0}, (khz_real[2 * (n)]){0}})

/* Find relations that agree with the Reals they lead to.  First all are updated at once; where that runs in circles,
 * every mode is tried (few relations) or the one that is furthest from agreeing is changed by turns.  Where none agrees
 * the nearest one stays and is counted; c->unsettled names the loop where that is more than rounding on a crossing, and
 * there relations lag behind instead, as the last pass left them, for some passes of an event (c->lags_left).
 * Where relations agree and other discrete values do not settle it fails.  A mode that agrees by rounding alone gives
 * way to one in which these relations are as at zero, if that agrees too.  Allocates: never.  Bound: the Reals twice,
 * and KHZ_MIXED_TURNS(n) turns; in real time one, and what c->turns_left has for all loops of a period. */
#define KHZ_MIXED_TURNS(n)                                                                                             \
    (KHZ_MIXED_TOGETHER + ((n) > KHZ_MIXED_ALL ? KHZ_MIXED_CAP : 0) + ((n) <= KHZ_MIXED_FEW ? 1 << (n) : 0) +          \
     KHZ_MIXED_CHECK)
khz_status khz_mixed(khz_context *c, const khz_mixed_problem *p, void *instance, int32_t *r, const int32_t *forced,
                     const khz_mixed_room *room);

/* A failure unless a function gave as many values as there are variables for them. */
khz_status khz_expect_size(khz_context *c, int32_t size, int32_t expected);

/* Copy a text into a variable's own room. */
void khz_set_text(khz_context *c, char *target, const char *text);

#endif
