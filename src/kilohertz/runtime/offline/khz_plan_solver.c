#include "khz_plan_solver.h"

#include <string.h>

enum { FEWEST = 8 }; /* states from which it pays */
enum {
    MEMBERS = 4,
    OPERATIONS = 12
}; /* places of a SUNLinearSolver and of its table of functions that are looked at */

int64_t khz_plan_solver_work(const khz_model *m)
{
    const khz_sparse_plan *const plan = m->lu_plan;
    return plan != NULL && plan->n >= FEWEST ? plan->n_a + (int64_t)khz_sparse_size(plan) : 0;
}

static int setup(void *solver, void *matrix)
{
    khz_plan_solver *const p = (khz_plan_solver *)*(void **)solver;
    const khz_sundials *const f = p->offline->sundials;
    const khz_sparse_plan *const plan = p->offline->model->lu_plan;
    const double *const full = f->matrix_data(matrix); /* column major */
    for (int32_t i = 0; i < plan->n; i++) {
        for (int32_t k = plan->a_row[i]; k < plan->a_row[i + 1]; k++) {
            p->a[k] = full[(size_t)plan->a_column[k] * (size_t)plan->n + (size_t)i];
        }
    }
    p->is_dense = khz_sparse_factor(plan, p->a, p->lu);
    p->offline->n_sparse += p->is_dense ? 0 : 1;
    return p->is_dense ? f->dense_setup(solver, matrix) : 0;
}

static int solve(void *solver, void *matrix, void *x, void *b, double tolerance)
{
    const khz_plan_solver *const p = (const khz_plan_solver *)*(void **)solver;
    const khz_sundials *const f = p->offline->sundials;
    const khz_sparse_plan *const plan = p->offline->model->lu_plan;
    if (p->is_dense) {
        return f->dense_solve(solver, matrix, x, b, tolerance);
    }
    double *const to = f->vector_data(x);
    const double *const from = f->vector_data(b);
    if (to != from) {
        memcpy(to, from, sizeof(double) * (size_t)plan->n);
    }
    khz_sparse_solve(plan, p->lu, to);
    return 0;
}

/* A function as it stands in a table of operations. */
typedef union operation {
    void *address;
    int (*setup)(void *solver, void *matrix);
    int (*solve)(void *solver, void *matrix, void *x, void *b, double tolerance);
} operation;

/* The table of functions: content comes first in a solver, the context after the table; what else stands there differs
 * from one release to the next. */
static void **operations_of(void **solver, const void *context)
{
    void **found = NULL;
    for (int i = 1; i < MEMBERS && solver[i] != context; i++) {
        found = solver[i] != NULL ? (void **)solver[i] : found;
    }
    return found;
}

static int find(void **operations, void *address)
{
    for (int i = 0; operations != NULL && i < OPERATIONS; i++) {
        if (operations[i] == address) {
            return i;
        }
    }
    return -1;
}

void khz_plan_solver_attach(khz_plan_solver *p, khz_offline *o, void *solver, const void *context, double *work)
{
    void **const members = (void **)solver;
    memset(p, 0, sizeof *p);
    if (khz_plan_solver_work(o->model) == 0) {
        return;
    }
    void **const operations = operations_of(members, context);
    const operation old_setup = {.setup = o->sundials->dense_setup}, old_solve = {.solve = o->sundials->dense_solve};
    const int at_setup = find(operations, old_setup.address);
    const int at_solve = find(operations, old_solve.address);
    if (at_setup < 0 || at_solve < 0 || ((const khz_dense_content *)members[0])->n != o->model->n_x) {
        return;
    }
    p->offline = o;
    p->a = work;
    p->lu = work + o->model->lu_plan->n_a;
    p->own_content = members[0];
    memcpy(&p->dense, members[0], sizeof p->dense);
    members[0] = p;
    const operation new_setup = {.setup = setup}, new_solve = {.solve = solve};
    operations[at_setup] = new_setup.address;
    operations[at_solve] = new_solve.address;
}

void khz_plan_solver_detach(const khz_plan_solver *p, void *solver)
{
    if (p->own_content != NULL) {
        *(void **)solver = p->own_content;
    }
}
