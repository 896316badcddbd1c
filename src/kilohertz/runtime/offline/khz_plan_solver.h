/* The planned sparse LU inside a dense linear solver of SUNDIALS, for off-line runs, and doubts about what it gives
 * (khz_doubt.h).
 *
 * Factorisation and solution are replaced: they take the entries of the model's pattern, and go back to the dense ones
 * where the order of pivots does not suit the numbers.  Small models keep the dense matrix of the solver and its
 * arithmetic; many states have a matrix of the plan's entries alone, and a dense one only once it is needed.  Where the
 * Jacobian has unknowns of loops beside the states (`n_k` of khz_model.h), M - h*gamma*J is put together and factorised
 * here, whose solution is that of the states; the solver sees a matrix of one entry. */
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
    const double *jac;   /* of unfolded states: the last Jacobian, whose matrix is eliminated in a */
    double *moved;       /* [n_x + n_k] the last solution */
    int32_t is_unfolded; /* states and unknowns of loops together */
    int32_t is_dense;    /* the last factorisation is the dense one */
    int32_t is_sparse;   /* the matrix has the plan's entries alone */
    void *context;
    void *full_matrix, *full_solver; /* of a sparse matrix whose pivots did not suit; NULL: not yet */
} khz_plan_solver;

/* Doubles that it needs; 0 where the model's matrix is small or nearly full. */
int64_t khz_plan_solver_work(const khz_model *m);

/* A matrix and a linear solver for states like `y`; work [khz_plan_solver_work].  *matrix or the solver NULL: no room.
 * The plan is not in it where that work is 0; neither are doubts where the functions of a solver are not where they are
 * looked for. */
void *khz_plan_solver_open(khz_plan_solver *p, khz_offline *o, void *y, void *context, double *work, void **matrix);
/* The values jac of the Jacobian into such a matrix; where states are unfolded they stay where they are. */
void khz_plan_solver_fill(khz_plan_solver *p, khz_offline *o, const double *jac, void *matrix);
/* x := what the last factorisation makes of b; not 0: nothing. */
int khz_plan_solver_solve(const khz_plan_solver *p, const khz_offline *o, void *solver, void *matrix, void *x, void *b);
void khz_plan_solver_close(khz_plan_solver *p, const khz_offline *o, void *solver);

#endif
