#include "khz_ida.h"

#include <stdlib.h>
#include <string.h>

#include "khz_plan_solver.h"

typedef int (*rhs_fn)(double t, void *y, void *yd, void *user);
typedef int (*jacobian_fn)(double t, void *y, void *fy, void *a, void *user, void *t1, void *t2, void *t3);

/* What stands for CVODE's memory.  yd: the derivatives IDA carries along; f: room for the right-hand side. */
typedef struct adapter {
    void *mem, *y, *yd, *f, *user;
    double start;
    rhs_fn rhs;
    jacobian_fn jacobian;
} adapter;

/* The first step of IDA is a thousandth of the way to the next event, whatever the second derivatives; each failed test
 * makes it shorter by a factor of at most 4, and 10 of them, its default, are a factor of 1e6 only. */
#define ERROR_FAILURES 40

static const khz_ida_functions *ida; /* the same for the whole process */

static int residual(double t, void *y, void *yd, void *r, void *user)
{
    const adapter *const a = (const adapter *)user;
    const int code = a->rhs(t, y, a->f, a->user);
    if (code != 0) {
        return code;
    }
    const double *const f = ida->vector_data(a->f);
    const double *const rate = ida->vector_data(yd);
    double *const out = ida->vector_data(r);
    const int64_t n = ida->vector_length(y);
    for (int64_t i = 0; i < n; i++) {
        out[i] = rate[i] - f[i];
    }
    return 0;
}

/* dF/dx + cj*dF/dxd = cj*I - df/dx */
static int ida_jacobian(double t, double cj, void *y, void *yd, void *r, void *m, void *user, void *t1, void *t2,
                        void *t3)
{
    (void)yd;
    (void)r;
    const adapter *const a = (const adapter *)user;
    const int code = a->jacobian(t, y, a->f, m, a->user, t1, t2, t3);
    if (code != 0) {
        return code;
    }
    if (((const khz_offline *)a->user)->plan->is_unfolded) {
        return 0; /* put together where it is factorised */
    }
    double *const entry = ida->matrix_data(m); /* column major */
    const int64_t n = ida->vector_length(y);
    for (int64_t i = 0; i < n * n; i++) {
        entry[i] = -entry[i];
    }
    for (int64_t i = 0; i < n; i++) {
        entry[i * n + i] += cj;
    }
    return 0;
}

static void *create(int method, void *context)
{
    (void)method;
    adapter *const a = (adapter *)calloc(1, sizeof *a);
    if (a != NULL) {
        a->mem = ida->create(context);
    }
    return a;
}

static void destroy(void **memory)
{
    adapter *const a = (adapter *)*memory;
    if (a->mem != NULL) {
        ida->destroy(&a->mem);
    }
    if (a->yd != NULL) {
        ida->vector_destroy(a->yd);
    }
    if (a->f != NULL) {
        ida->vector_destroy(a->f);
    }
    free(a);
    *memory = NULL;
}

/* The derivatives at the start are those of the right-hand side: consistent.  Where it fails there, IDA will say so. */
static int reinit(void *memory, double t, void *y)
{
    adapter *const a = (adapter *)memory;
    if (a->rhs(t, y, a->yd, a->user) != 0) {
        memset(ida->vector_data(a->yd), 0, sizeof(double) * (size_t)ida->vector_length(y));
    }
    return ida->reinit(a->mem, t, y, a->yd);
}

static int init(void *memory, rhs_fn rhs, double t, void *y)
{
    adapter *const a = (adapter *)memory;
    a->rhs = rhs;
    a->start = t;
    a->y = y;
    a->yd = ida->vector_clone(y);
    a->f = ida->vector_clone(y);
    if (a->yd == NULL || a->f == NULL) {
        return -1;
    }
    memset(ida->vector_data(a->yd), 0, sizeof(double) * (size_t)ida->vector_length(y));
    return ida->init(a->mem, residual, t, y, a->yd);
}

static int tolerances(void *memory, double relative, void *absolute)
{
    return ida->tolerances(((adapter *)memory)->mem, relative, absolute);
}

static int set_user(void *memory, void *user)
{
    adapter *const a = (adapter *)memory;
    a->user = user;
    int code = ida->set_user(a->mem, a);
    code = code != 0 ? code : ida->set_error_failures(a->mem, ERROR_FAILURES);
    return code != 0 ? code : reinit(a, a->start, a->y); /* only now can the right-hand side be asked */
}

static int set_max_steps(void *memory, long n) { return ida->set_max_steps(((adapter *)memory)->mem, n); }

static int set_jacobian_every(void *memory, long n_steps)
{
    (void)memory;
    (void)n_steps; /* IDA decides for itself */
    return 0;
}

static int set_newton_part(void *memory, double of_tolerance)
{
    (void)memory;
    (void)of_tolerance; /* IDA's own tests settle what CVODE's leave open */
    return 0;
}

static int set_newton_failures(void *memory, int n) { return ida->set_newton_failures(((adapter *)memory)->mem, n); }

static int set_same_step(void *memory, double factor_from, double factor_to)
{
    (void)memory;
    (void)factor_from;
    (void)factor_to;
    return 0;
}

static int set_max_hnil_warnings(void *memory, int n)
{
    (void)memory;
    (void)n;
    return 0; /* IDA knows no such warning */
}

static int set_max_step(void *memory, double h) { return ida->set_max_step(((adapter *)memory)->mem, h); }

static int set_stop(void *memory, double t) { return ida->set_stop(((adapter *)memory)->mem, t); }

static int set_solver(void *memory, void *solver, void *matrix)
{
    return ida->set_solver(((adapter *)memory)->mem, solver, matrix);
}

static int set_jacobian(void *memory, jacobian_fn own)
{
    adapter *const a = (adapter *)memory;
    a->jacobian = own;
    return ida->set_jacobian(a->mem, ida_jacobian);
}

/* Codes of IDA as CVODE counts them. */
static int as_cvode(int code)
{
    switch (code) {
    case -9:
        return -10; /* failed again and again */
    case -10:
        return -12; /* a crossing function */
    case -12:
        return -9; /* at the first call */
    default:
        return code;
    }
}

static int advance(void *memory, double t, void *y, double *reached, int task)
{
    const adapter *const a = (const adapter *)memory;
    return as_cvode(ida->advance(a->mem, t, reached, y, a->yd, task));
}

static int interpolate(void *memory, double t, int k, void *y)
{
    return ida->interpolate(((adapter *)memory)->mem, t, k, y);
}

/* dx/dxd of a step. */
static int gamma_of(void *memory, double *found)
{
    double cj = 0.0;
    const int code = ida->current_cj(((adapter *)memory)->mem, &cj);
    *found = code == 0 && cj > 0.0 ? 1.0 / cj : 0.0;
    return code;
}

int khz_is_ida(const khz_sundials *table) { return table->advance == advance; }

void khz_use_ida(khz_sundials *table, const khz_ida_functions *functions)
{
    ida = functions;
    table->create = create;
    table->destroy = destroy;
    table->init = init;
    table->reinit = reinit;
    table->tolerances = tolerances;
    table->set_user = set_user;
    table->set_max_steps = set_max_steps;
    table->set_max_hnil_warnings = set_max_hnil_warnings;
    table->set_max_step = set_max_step;
    table->set_stop = set_stop;
    table->set_solver = set_solver;
    table->set_jacobian = set_jacobian;
    table->set_jacobian_every = set_jacobian_every;
    table->set_newton_part = set_newton_part;
    table->set_newton_failures = set_newton_failures;
    table->set_same_step = set_same_step;
    table->advance = advance;
    table->interpolate = interpolate;
    table->gamma = gamma_of;
    table->sparse_new = NULL; /* ida_jacobian goes over all entries */
}
