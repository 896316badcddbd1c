/* Damped Newton iteration with caps, and a Levenberg-Marquardt rescue for off-line runs. */
#ifndef KHZ_NEWTON_H
#define KHZ_NEWTON_H

#include "khz_base.h"
#include "khz_limits.h"
#include "khz_linear.h"
#include "khz_sparse.h"

/* Residuals at x [n] into f [n]; the Jacobian df/dx at x into jacobian [n*n, row major].  `instance` is the model's. */
typedef void (*khz_residual_fn)(void *instance, const khz_real *x, khz_real *f);
typedef void (*khz_jacobian_fn)(void *instance, const khz_real *x, khz_real *jacobian);

typedef struct khz_newton_problem {
    int n;
    khz_residual_fn residual;
    khz_jacobian_fn jacobian; /* NULL: forward differences */
    const khz_real *nominal;  /* [n] size of each unknown, > 0 */
    const khz_real *lower;    /* [n] min, -inf where there is none; NULL: no bounds */
    const khz_real *upper;
    const khz_real *start;       /* [n] start values, not a number where there is none; NULL: not known */
    const khz_sparse_plan *plan; /* of the Jacobian's factorisation; NULL: dense.  Work starts as zeros then */
    khz_real *sparse;            /* [khz_sparse_size(plan) + plan->n_a] */
    int max_iterations;
    int rescue_iterations; /* 0: no Levenberg-Marquardt when Newton gives up */
    khz_real tolerance;    /* on the scaled step */
    int bold;              /* also without a rescue: a second round of max_iterations with whole steps */
    int32_t *
        kept; /* not NULL: first by khz_newton_kept, for loops that are solved again and again.  Work starts as zeros */
    const khz_real *offset; /* [n] not NULL: f(x) = share * offset is solved, next to the guess or not at all */
    khz_real share;
} khz_newton_problem;

/* Doubles (and 32-bit integers: n) of work needed. */
#define KHZ_NEWTON_WORK(n) (2 * (n) * (n) + (10 + 2 * KHZ_KEPT_LESSONS) * (n) + KHZ_MINIMUM_NORM_ROOM(n))
#define KHZ_NEWTON_ROOM(n) (KHZ_NEWTON_WORK(n) + 8 + 3 * (n)) /* and solutions before, see khz_kept.c */

/* Residuals at most: in an iteration (cuts of the step; differences, forward and back, where there is no Jacobian or it
 * is not finite), in a round of iterations, in one with whole steps, in the search for a root of one unknown, in all
 * that a rescue tries. */
#define KHZ_NEWTON_TURN(n) (KHZ_NEWTON_CUTS + 2 * (n))
#define KHZ_NEWTON_ROUND(n, iterations) ((iterations) * KHZ_NEWTON_TURN(n))
#define KHZ_NEWTON_BOLD_ROUND(n, iterations) ((iterations) * (KHZ_NEWTON_TURN(n) + KHZ_TURN_BISECTIONS))
#define KHZ_BRACKET_POINTS (4 * KHZ_BRACKET_DECADES * KHZ_BRACKET_PER_DECADE + 1)
#define KHZ_BRACKET_RESIDUALS (KHZ_BRACKET_POINTS * (KHZ_BRACKET_BISECTIONS + 3) + 1)
#define KHZ_ENCLOSE_RESIDUALS (2 * KHZ_ENCLOSE_POINTS + KHZ_ENCLOSE_TURNS + 2)
#define KHZ_RESCUE_RESIDUALS(n, iterations, rescue)                                                                    \
    (KHZ_RESCUE_POINTS * (2 + KHZ_NEWTON_BOLD_ROUND(n, iterations) + KHZ_NEWTON_ROUND(n, (rescue) + (iterations))) +   \
     KHZ_BRACKET_RESIDUALS)

/* Solve f(x) = 0; x [n] in: guess, out: solution (on failure: the best point found).
 * Evaluates the residual last at the returned x.  Allocates: never.
 *
 * Bound, in residuals: 2 + KHZ_NEWTON_ROUND(n, max_iterations).  Where that finds nothing: with rescue_iterations
 * KHZ_RESCUE_RESIDUALS(n, max_iterations, rescue_iterations) more, else with `bold` KHZ_RESCUE_POINTS and
 * KHZ_NEWTON_BOLD_ROUND(n, max_iterations) more, and for one unknown KHZ_ENCLOSE_RESIDUALS.  With `kept` the bound of
 * khz_newton_kept comes first. One Jacobian, two factorisations and a minimum-norm solution in each iteration.
 *
 * In real time (c->newton_cap > 0) a solution has newton_cap iterations with one residual each for itself; all others
 * of both kinds, and minimum-norm solutions, are those that c->iterations_left and c->trials_left have for the period.
 * Where there are none left it ends as at its cap. */
khz_status khz_newton(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *x, khz_real *work,
                      int32_t *order);

/* The same for up to KHZ_FEW unknowns with p->jacobian and neither a plan nor an offset, bounds left aside, as long as
 * all is as usual.  1: solved, the residual was evaluated last at the solution; 0: not, x is as before.  Bound:
 * KHZ_FEW_CAP iterations, and one residual more. */
int khz_newton_few(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *x);

/* The same with a Jacobian that stays in work (and order) from call to call, with whole steps alone; *p->kept is 0
 * before the first.  1: converged, the residual was evaluated last at the solution; 0: not, x is as before and work is
 * free.  Needs p->jacobian.  Bound: 1 + 3*max_iterations residuals; one Jacobian, two factorisations and three
 * solutions in each iteration. */
int khz_newton_kept(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *x, khz_real *work,
                    int32_t *order);

/* Residual at x; 0 when the point is outside the domain of the equations (what failed there is not passed on). */
int khz_newton_evaluate(const khz_newton_problem *p, khz_context *c, void *instance, const khz_real *x, khz_real *f);

/* The Jacobian at x; 0 where it fails. */
int khz_newton_jacobian(const khz_newton_problem *p, khz_context *c, void *instance, const khz_real *x,
                        khz_real *jacobian);

/* One unknown: look over all sizes and both signs for neighbours of different sign, and close in.  Of several roots the
 * one nearest to the guess, of one that is zero the one nearest in size to the nominal value (of two as near, the
 * larger); one out of the bounds of the unknown counts where there is none within them.  1: found, into x, with its
 * residual in f.  Bound: KHZ_BRACKET_RESIDUALS. */
int khz_newton_bracket(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *f, khz_real guess,
                       khz_real *x);

/* One unknown, in real time: from the guess outwards for a change of sign, and close in; of roots the one next to the
 * guess.  1: found, into x, with its residual in f.  Bound: as many residuals as c->trials_left has, and one, at most
 * KHZ_ENCLOSE_RESIDUALS. */
int khz_newton_enclose(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *f, khz_real guess,
                       khz_real *x);

/* Along f(x) = s*f(guess), from s = 1, where the guess is the solution, to s = 0, in strides that shrink and grow: what
 * the equations lack is added little by little.  KHZ_OK: as khz_newton.  Bound: KHZ_PATH_STRIDES times
 * 2 + KHZ_NEWTON_ROUND(n, KHZ_PATH_NEWTON) residuals. */
khz_status khz_newton_path(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *x,
                           const khz_real *guess, khz_real *work, int32_t *order);

/* The residual [n] at the values that khz_newton left. */
khz_real *khz_newton_residual(int n, khz_real *work);

#endif
