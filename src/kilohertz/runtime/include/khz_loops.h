/* What generated code calls for its loops: linear, nonlinear, mixed. */
#ifndef KHZ_LOOPS_H
#define KHZ_LOOPS_H

#include "khz_base.h"
#include "khz_newton.h"

enum { KHZ_MIXED_CAP = 60 };

/* b / a for a loop of one; 0 / 0 gives 0 (the minimum-norm solution), anything else over 0 is a failure. */
double khz_quotient(khz_context *c, int block, int place, double b, double a);

/* Solve the n equations whose matrix stands in memory [2*n*n + 6*n] (first n*n, row major); b [n] in: right-hand side,
 * out: solution.  *factored: 0 the matrix is new, 1 factorised, 2 singular; kept for the next call. */
khz_status khz_linear(khz_context *c, int block, int place, int n, double *memory, int32_t *order, int32_t *factored,
                      double *b);

/* The problem of a nonlinear loop with the usual caps. */
khz_newton_problem khz_loop(int n, khz_residual_fn residual, khz_jacobian_fn jacobian, const double *nominal);

/* Solve it from the guess x [n]; on failure x is the guess again and the failure is recorded. */
khz_status khz_nonlinear(khz_context *c, int block, int place, const khz_newton_problem *problem, void *instance,
                         double *x, double *memory, int32_t *order);

/* A mixed loop that still changes at its cap: counted, the last mode stays. */
void khz_mixed_cap(khz_context *c, int block);

/* Copy a text into a variable's own room. */
void khz_set_text(khz_context *c, char *target, const char *text);

#endif
