/* Damped Newton iteration with caps, and a Levenberg-Marquardt rescue for off-line runs. */
#ifndef KHZ_NEWTON_H
#define KHZ_NEWTON_H

#include "khz_base.h"
#include "khz_sparse.h"

/* Residuals at x [n] into f [n]; the Jacobian df/dx at x into jacobian [n*n, row major].  `instance` is the model's. */
typedef void (*khz_residual_fn)(void *instance, const double *x, double *f);
typedef void (*khz_jacobian_fn)(void *instance, const double *x, double *jacobian);

typedef struct khz_newton_problem {
    int n;
    khz_residual_fn residual;
    khz_jacobian_fn jacobian; /* NULL: forward differences */
    const double *nominal;    /* [n] size of each unknown, > 0 */
    const double *lower;      /* [n] min, -inf where there is none; NULL: no bounds */
    const double *upper;
    const double *start;         /* [n] start values, not a number where there is none; NULL: not known */
    const khz_sparse_plan *plan; /* of the Jacobian's factorisation; NULL: dense.  Work starts as zeros then */
    double *sparse;              /* [khz_sparse_size(plan) + plan->n_a] */
    int max_iterations;
    int rescue_iterations; /* 0: no Levenberg-Marquardt when Newton gives up */
    double tolerance;      /* on the scaled step */
    int bold;              /* also without a rescue: a second round of max_iterations with whole steps */
    int32_t *kept;         /* not NULL: first by khz_newton_kept, for loops that are solved again and again */
} khz_newton_problem;

/* Doubles (and 32-bit integers: n) of work needed. */
size_t khz_newton_size(int n);

/* Solve f(x) = 0; x [n] in: guess, out: solution (on failure: the best point found).
 * Evaluates the residual last at the returned x.  Allocates: never.  Bound: max_iterations * (1 + cuts + n)
 * residuals. */
khz_status khz_newton(const khz_newton_problem *p, khz_context *c, void *instance, double *x, double *work,
                      int32_t *order);

/* The same with a Jacobian that stays in work (and order) from call to call, with whole steps alone; *p->kept is 0
 * before the first.  1: converged, the residual was evaluated last at the solution; 0: not, x is as before and work is
 * free.  Needs p->jacobian.  Bound: max_iterations * (2 Jacobians, 2 factorisations, 3 residuals). */
int khz_newton_kept(const khz_newton_problem *p, khz_context *c, void *instance, double *x, double *work,
                    int32_t *order);

/* Residual at x; 0 when the point is outside the domain of the equations (what failed there is not passed on). */
int khz_newton_evaluate(const khz_newton_problem *p, khz_context *c, void *instance, const double *x, double *f);

/* The residual [n] at the values that khz_newton left. */
double *khz_newton_residual(int n, double *work);

#endif
