/* Integration methods as const tables.  The tables are written into khz_methods.c from kilohertz/solvers when a model
 * is built; nobody types a coefficient here. */
#ifndef KHZ_METHOD_H
#define KHZ_METHOD_H

#include "khz_base.h"

enum { KHZ_STAGES_MOST = 6 };
enum { KHZ_EXPLICIT = 0, KHZ_ROSENBROCK = 1, KHZ_DIRK = 2, KHZ_PAIR = 3 };

/* s stages; matrices are s x s, row major, zero where the method has no entry.
 * Explicit and diagonally implicit: a, weight (b), abscissa (c) as in the Butcher table.
 * Pair (mixed mode): a and explicit_a, the matrices of its halves on the same stages; stage 1 is the beginning of the
 * step, the last stage its end.
 * Rosenbrock (u-form): a, coupling (c_ij), weight (m), abscissa (alpha_i), time_weight (gamma_i). */
typedef struct khz_method {
    const char *name;
    int32_t kind, n_stages, order;
    int32_t any_jacobian_order; /* Rosenbrock: order with an arbitrary Jacobian and without df/dt */
    int32_t explicit_first;     /* diagonally implicit: stage 1 is explicit */
    int32_t stiffly_accurate;
    int32_t index1_order; /* order with algebraic unknowns; 0: not made for them */
    khz_real gamma;
    const khz_real *a, *explicit_a, *coupling, *weight, *abscissa, *time_weight;
    const int32_t *reuses; /* [s] 1: right-hand side of the stage before is used again */
} khz_method;

extern const khz_method khz_methods[];
extern const int32_t khz_n_methods;

/* Position of a method by name, or -1. */
KHZ_EXPORT int32_t khz_method_index(const char *name);

#endif
