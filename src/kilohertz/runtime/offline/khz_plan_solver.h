/* The planned sparse LU inside a dense linear solver of SUNDIALS, for off-line runs.
 *
 * CVODE and IDA keep their dense matrix and its arithmetic; factorisation and solution are replaced: they take the
 * entries of the model's pattern, and go back to the dense ones where the order of pivots does not suit the numbers. */
#ifndef KHZ_PLAN_SOLVER_H
#define KHZ_PLAN_SOLVER_H

#include "khz_offline.h"

/* What a dense solver's content is (SUNDIALS 7, 32-bit indices). */
typedef struct khz_dense_content {
    int32_t n;
    int32_t *pivots;
    int32_t last_flag;
} khz_dense_content;

typedef struct khz_plan_solver {
    khz_dense_content dense; /* first: the dense functions find here what they know */
    void *own_content;       /* of the solver, given back at the end; NULL: not attached */
    khz_offline *offline;
    double *a, *lu;
    int32_t is_dense; /* the last factorisation is the dense one */
} khz_plan_solver;

/* Doubles that it needs; 0 where the model's matrix is small or nearly full. */
int64_t khz_plan_solver_work(const khz_model *m);

/* Put the plan into a fresh dense solver made with `context`; work [khz_plan_solver_work].  Leaves the solver as it is
 * where that is 0 or its functions are not where they are looked for. */
void khz_plan_solver_attach(khz_plan_solver *p, khz_offline *o, void *solver, const void *context, double *work);
/* Before the solver is freed. */
void khz_plan_solver_detach(const khz_plan_solver *p, void *solver);

#endif
