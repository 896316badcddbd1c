#include "khz_plan_solver.h"

#include <string.h>

#include "khz_doubt.h"
#include "khz_ida.h"
#include "khz_scattered.h"

enum { FEWEST = 8 };          /* states from which it pays */
enum { NOT_CONVERGED = 802 }; /* for a solver: it makes a new Jacobian, or a shorter step */
enum { BY_ROWS = 1 };         /* a kind of sparse matrix */
enum { MOST_DENSE = 46340 };  /* whose square is a 32-bit index */
enum {
    MEMBERS = 4,
    OPERATIONS = 12
}; /* places of a SUNLinearSolver and of its table of functions that are looked at */

int64_t khz_plan_solver_work(const khz_model *m)
{
    const khz_sparse_plan *const plan = m->lu_plan;
    const khz_scattered *const s = m->unfolded;
    if (s != NULL) {
        return s->n + KHZ_SCATTERED_ROOM((int64_t)s->n, (int64_t)s->n_a, (int64_t)s->n_lu) + 1 + s->n_a;
    }
    return plan != NULL && plan->n >= FEWEST ? plan->n_a + (int64_t)khz_sparse_size(plan) : 0;
}

/* M - h*gamma*J of states and unknowns of loops, by rows. */
static int setup_unfolded(void *solver, void *matrix)
{
    (void)matrix;
    khz_plan_solver *const p = (khz_plan_solver *)*(void **)solver;
    const khz_model *const m = p->offline->model;
    double *const a = khz_scattered_entries(m->unfolded, p->a);
    double gamma = 0.0;
    if (p->offline->sundials->gamma(p->offline->doubt->mem, &gamma) != 0) {
        return -1;
    }
    for (int32_t i = 0; i < khz_n_jacobian(m); i++) {
        for (int32_t k = m->jac_row[i]; k < m->jac_row[i + 1]; k++) {
            const double one = i < m->n_x && m->jac_column[k] == i ? 1.0 : 0.0;
            a[k] = i < m->n_x ? one - gamma * p->jac[k] : -p->jac[k];
        }
    }
    const int bad = khz_scattered_factor(m->unfolded, p->a);
    p->offline->n_sparse += bad ? 0 : 1;
    return bad; /* the solver tries a shorter step */
}

/* A dense matrix and its solver beside a sparse one: the way out.  Not 0: no room. */
static int make_full(khz_plan_solver *p)
{
    const khz_sundials *const f = p->offline->sundials;
    const int32_t n = p->offline->model->n_x;
    if (p->full_solver != NULL || n > MOST_DENSE) {
        return p->full_solver == NULL;
    }
    void *const like = f->vector_new(n, p->context);
    p->full_matrix = p->full_matrix != NULL ? p->full_matrix : f->matrix_new(n, n, p->context);
    if (like != NULL && p->full_matrix != NULL) {
        p->full_solver = f->solver_new(like, p->full_matrix, p->context);
    }
    if (like != NULL) {
        f->vector_destroy(like);
    }
    return p->full_solver == NULL;
}

static int setup_sparse(khz_plan_solver *p, void *matrix)
{
    const khz_sundials *const f = p->offline->sundials;
    const khz_sparse_plan *const plan = p->offline->model->lu_plan;
    const double *const a = f->sparse_data(matrix);
    p->is_dense = khz_sparse_factor(plan, a, p->lu);
    p->offline->n_sparse += p->is_dense ? 0 : 1;
    if (!p->is_dense) {
        return 0;
    }
    if (make_full(p) != 0) {
        return 1; /* the solver tries a shorter step */
    }
    double *const full = f->matrix_data(p->full_matrix); /* column major */
    memset(full, 0, sizeof(double) * (size_t)plan->n * (size_t)plan->n);
    for (int32_t i = 0; i < plan->n; i++) {
        for (int32_t k = plan->a_row[i]; k < plan->a_row[i + 1]; k++) {
            full[(size_t)plan->a_column[k] * (size_t)plan->n + (size_t)i] = a[k];
        }
    }
    return f->dense_setup(p->full_solver, p->full_matrix);
}

static int setup(void *solver, void *matrix)
{
    khz_plan_solver *const p = (khz_plan_solver *)*(void **)solver;
    if (p->is_sparse) {
        return setup_sparse(p, matrix);
    }
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

/* 0, or why a correction is not to be taken. */
static int doubted(const khz_plan_solver *p, void *x, void *b)
{
    khz_offline *const o = p->offline;
    const khz_sundials *const f = o->sundials;
    o->doubt->moved = p->moved;
    return khz_doubt_is_due(o->doubt, o, f->vector_data(x), f->vector_data(b)) ? NOT_CONVERGED : 0;
}

/* IDA's matrix is that of CVODE over gamma. */
static int solve_unfolded(const khz_plan_solver *p, void *x, void *b)
{
    const khz_sundials *const f = p->offline->sundials;
    const khz_model *const m = p->offline->model;
    double unit = 1.0;
    if (khz_is_ida(f) && f->gamma(p->offline->doubt->mem, &unit) != 0) {
        return -1;
    }
    const double *const from = f->vector_data(b);
    double *const to = f->vector_data(x);
    for (int32_t i = 0; i < khz_n_jacobian(m); i++) {
        p->moved[i] = i < m->n_x ? unit * from[i] : 0.0;
    }
    khz_scattered_solve(m->unfolded, p->a, p->moved);
    memcpy(to, p->moved, sizeof(double) * (size_t)m->n_x);
    return 0;
}

/* The solution by the last factorisation. */
static int solve_factored(const khz_plan_solver *p, void *solver, void *matrix, void *x, void *b, double tolerance)
{
    const khz_sundials *const f = p->offline->sundials;
    const khz_sparse_plan *const plan = p->offline->model->lu_plan;
    if (p->is_unfolded) {
        return solve_unfolded(p, x, b);
    }
    if (p->is_dense) {
        return p->is_sparse ? f->dense_solve(p->full_solver, p->full_matrix, x, b, tolerance)
                            : f->dense_solve(solver, matrix, x, b, tolerance);
    }
    double *const to = f->vector_data(x);
    const double *const from = f->vector_data(b);
    if (to != from) {
        memcpy(to, from, sizeof(double) * (size_t)plan->n);
    }
    khz_sparse_solve(plan, p->lu, to);
    return 0;
}

static int solve(void *solver, void *matrix, void *x, void *b, double tolerance)
{
    const khz_plan_solver *const p = (const khz_plan_solver *)*(void **)solver;
    const int bad = solve_factored(p, solver, matrix, x, b, tolerance);
    return bad != 0 ? bad : doubted(p, x, b);
}

int khz_plan_solver_solve(const khz_plan_solver *p, const khz_offline *o, void *solver, void *matrix, void *x, void *b)
{
    return p->own_content == NULL ? o->sundials->dense_solve(solver, matrix, x, b, 0.0)
                                  : solve_factored(p, solver, matrix, x, b, 0.0);
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

/* Put the plan, if there is one, and doubts into a fresh dense solver for n unknowns; 0 where its functions are not
 * where they are looked for. */
static int attach(khz_plan_solver *p, khz_offline *o, void *solver, const void *context, int32_t n, double *work)
{
    void **const members = (void **)solver;
    void **const operations = operations_of(members, context);
    const operation old_setup = {.setup = o->sundials->dense_setup}, old_solve = {.solve = o->sundials->dense_solve};
    const int at_setup = find(operations, old_setup.address);
    const int at_solve = find(operations, old_solve.address);
    if (at_setup < 0 || at_solve < 0 || ((const khz_dense_content *)members[0])->n != n) {
        return 0;
    }
    const int is_unfolded = o->model->unfolded != NULL;
    const int has_plan = !is_unfolded && khz_plan_solver_work(o->model) > 0;
    p->offline = o;
    p->is_unfolded = is_unfolded;
    p->moved = work;
    p->a = is_unfolded ? work + o->model->unfolded->n : work;
    p->lu = has_plan ? work + o->model->lu_plan->n_a : NULL;
    p->is_dense = !has_plan;
    p->own_content = members[0];
    memcpy(&p->dense, members[0], sizeof p->dense);
    members[0] = p;
    const operation new_setup = {.setup = is_unfolded ? setup_unfolded : setup}, new_solve = {.solve = solve};
    if (has_plan || is_unfolded) {
        operations[at_setup] = new_setup.address;
    }
    operations[at_solve] = new_solve.address;
    return 1;
}

/* A dense solver for one unknown, of which nothing but its place for functions is used; NULL: not to be had. */
static void *open_empty(khz_plan_solver *p, khz_offline *o, void *context, double *work)
{
    const khz_sundials *const f = o->sundials;
    void *const y = f->vector_new(1, context);
    void *const a = f->matrix_new(1, 1, context);
    void *solver = y != NULL && a != NULL ? f->solver_new(y, a, context) : NULL;
    if (y != NULL) {
        f->vector_destroy(y);
    }
    if (a != NULL) {
        f->matrix_destroy(a);
    }
    if (solver != NULL && !attach(p, o, solver, context, 1, work)) {
        (void)f->solver_free(solver);
        solver = NULL;
    }
    return solver;
}

void *khz_plan_solver_open(khz_plan_solver *p, khz_offline *o, void *y, void *context, double *work, void **matrix)
{
    const khz_sundials *const f = o->sundials;
    const khz_sparse_plan *const plan = o->model->lu_plan;
    const int has_plan = khz_plan_solver_work(o->model) > 0;
    memset(p, 0, sizeof *p);
    p->context = context;
    *matrix = NULL;
    if (o->model->unfolded != NULL) {
        *matrix = f->matrix_new(1, 1, context);
        return open_empty(p, o, context, work);
    }
    if (has_plan && o->model->n_x >= o->many_states && f->sparse_new != NULL) {
        void *const found = open_empty(p, o, context, work);
        if (found != NULL) {
            p->is_sparse = 1;
            *matrix = f->sparse_new(plan->n, plan->n, plan->n_a, BY_ROWS, context);
            return found;
        }
    }
    const int32_t n = o->model->n_x > 0 ? o->model->n_x : 1; /* a model without states gets one that rests */
    *matrix = n <= MOST_DENSE ? f->matrix_new(n, n, context) : NULL;
    void *const solver = *matrix != NULL ? f->solver_new(y, *matrix, context) : NULL;
    if (solver != NULL) {
        (void)attach(p, o, solver, context, n, work);
    }
    return solver;
}

void khz_plan_solver_fill(khz_plan_solver *p, khz_offline *o, const double *jac, void *matrix)
{
    const khz_model *const m = o->model;
    const khz_sundials *const f = o->sundials;
    const size_t n = (size_t)m->n_x;
    if (p->is_unfolded) {
        p->jac = jac;
        f->matrix_data(matrix)[0] = 0.0;
        return;
    }
    if (p->is_sparse) {
        const khz_sparse_plan *const plan = m->lu_plan;
        double *const a = f->sparse_data(matrix);
        memcpy(f->sparse_rows(matrix), plan->a_row, sizeof(int32_t) * (n + 1));
        memcpy(f->sparse_columns(matrix), plan->a_column, sizeof(int32_t) * (size_t)plan->n_a);
        memset(a, 0, sizeof(double) * (size_t)plan->n_a);
        for (int32_t k = 0; k < plan->n_jac; k++) {
            a[plan->a_of_jac[k]] = jac[k];
        }
        return;
    }
    double *const full = f->matrix_data(matrix); /* column major */
    memset(full, 0, sizeof(double) * n * n);
    for (size_t i = 0; i < n; i++) {
        for (int32_t k = m->jac_row[i]; k < m->jac_row[i + 1]; k++) {
            full[(size_t)m->jac_column[k] * n + i] = jac[k];
        }
    }
}

void khz_plan_solver_close(khz_plan_solver *p, const khz_offline *o, void *solver)
{
    const khz_sundials *const f = o->sundials;
    if (p->own_content != NULL) {
        *(void **)solver = p->own_content;
    }
    (void)f->solver_free(solver);
    if (p->full_solver != NULL) {
        (void)f->solver_free(p->full_solver);
    }
    if (p->full_matrix != NULL) {
        f->matrix_destroy(p->full_matrix);
    }
}
