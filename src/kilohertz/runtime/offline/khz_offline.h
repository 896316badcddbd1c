/* Off-line runs: CVODE (its functions are handed in by address) or a fixed step, with events and a recorder.
 * Not part of a real-time program. */
#ifndef KHZ_OFFLINE_H
#define KHZ_OFFLINE_H

#include "khz_formula.h"
#include "khz_model.h"
#include "khz_stepper.h"

/* Functions of SUNDIALS 7 with 32-bit indices, filled in by whoever loaded the libraries. */
typedef struct khz_sundials {
    int (*context_create)(int comm, void **context);
    int (*context_free)(void **context);
    int (*context_clear_handlers)(void *context);
    void *(*vector_new)(int32_t n, void *context);
    void (*vector_destroy)(void *v);
    double *(*vector_data)(void *v);
    void *(*matrix_new)(int32_t rows, int32_t columns, void *context);
    void (*matrix_destroy)(void *a);
    double *(*matrix_data)(void *a);
    void *(*solver_new)(void *y, void *a, void *context);
    int (*solver_free)(void *solver);
    void *(*create)(int method, void *context);
    void (*destroy)(void **mem);
    int (*init)(void *mem, int (*rhs)(double, void *, void *, void *), double t, void *y);
    int (*reinit)(void *mem, double t, void *y);
    int (*tolerances)(void *mem, double relative, void *absolute);
    int (*set_user)(void *mem, void *user);
    int (*set_max_steps)(void *mem, long n);
    int (*set_max_hnil_warnings)(void *mem, int n);
    int (*set_max_step)(void *mem, double h);
    int (*set_stop)(void *mem, double t);
    int (*set_solver)(void *mem, void *solver, void *a);
    int (*set_jacobian)(void *mem, int (*jacobian)(double, void *, void *, void *, void *, void *, void *, void *));
    int (*set_jacobian_every)(void *mem, long n_steps);
    int (*set_newton_part)(void *mem, double of_tolerance);
    int (*set_newton_failures)(void *mem, int n);
    int (*set_same_step)(void *mem, double factor_from, double factor_to);
    int (*advance)(void *mem, double t, void *y, double *reached, int task);
    int (*interpolate)(void *mem, double t, int k, void *y);
    int (*gamma)(void *mem, double *gamma); /* what a derivative counts in a step */
    int (*dense_setup)(void *solver, void *a);
    int (*dense_solve)(void *solver, void *a, void *x, void *b, double tolerance);
    /* compressed rows; NULL where the solver's matrix has to be dense */
    void *(*sparse_new)(int32_t rows, int32_t columns, int32_t entries, int type, void *context);
    double *(*sparse_data)(void *a);
    int32_t *(*sparse_columns)(void *a);
    int32_t *(*sparse_rows)(void *a);
} khz_sundials;

/* Rows are full, or it is time for news: take `n_rows` rows.  Not 0: stop the run. */
typedef int (*khz_flush_fn)(int32_t n_rows, double time);

/* Inputs over time: lines between points, a jump where two points have one time; and formulas, which decide anew at
 * `breaks`.  Column k goes to offset[k] of the instance as kind[k] (KHZ_SIGNAL_REAL, ...), formulas after the columns.
 */
typedef struct khz_offline_inputs {
    int64_t n_points;
    const double *time;   /* [n_points], never falling */
    const double *values; /* [n_points][n] */
    const int64_t *offset;
    const int32_t *kind;
    const khz_formula *formulas; /* [n_formulas] */
    const double *breaks;        /* [n_breaks], rising, from the start on */
    const double *when;          /* [n_breaks]: the instant for decisions between this break and the next */
    int64_t n_breaks;
    int64_t first, last; /* points of the piece between two jumps that holds now */
    int64_t piece;       /* the same for formulas: from breaks[piece] on */
    int32_t n, n_formulas;
    int32_t is_sampled; /* at the beginning of each step, as a periodic task does */
} khz_offline_inputs;

typedef struct khz_offline {
    const khz_model *model;
    void *instance;
    const khz_sundials *sundials;
    khz_flush_fn flush;
    khz_offline_inputs *inputs; /* NULL: all rest */
    double start, stop, step, relative_tolerance, absolute_factor, max_step;
    double grid_step;
    int64_t n_grid;     /* grid points after the start; the last is the stop */
    const double *grid; /* the others of them; NULL: grid_step apart */
    /* recorder: column 0 is time, another one a value of kind[k] (0 khz_real, 1 int32) at offset[k] */
    int32_t n_columns, row_width, capacity; /* row_width: from one row to the next; what is over stays as it is */
    const int64_t *offset;
    const int32_t *kind;
    double *rows;
    double *work;        /* khz_offline_work(model) doubles */
    int32_t many_states; /* from which on the matrix of a solver is sparse */
    int32_t checks;      /* there are assertions that may fail between events: they hold at the end of every step */
    /* results */
    int32_t code; /* of the solver, where it failed; a state that stands still */
    int64_t n_steps, n_rhs, n_jacobians, n_sparse, n_state_events, n_time_events; /* n_sparse: factorisations by plan */
    int64_t n_restarts;   /* of CVODE or IDA: events that changed derivatives or states */
    int64_t n_overlooked; /* steps that had passed over something (khz_overlooked.h), and were made again */
    double time;
    int64_t n_not_finite; /* rows with a value that is NaN or infinite; of a stepper its own counts tell */
    int32_t odd_block;    /* that gave the first such value, KHZ_NOWHERE */
    int32_t odd_value;    /* its place among w, or -1 less that among xd; INT32_MAX: it is another */
    double odd_time;
    int64_t n_leaps; /* changes shorter than time can tell (khz_leap.h), the first of them at: */
    double first_leap;
    int64_t n_held; /* events made anew with relations held that noise decides (khz_settle.c), the first of them at: */
    double first_held;
    int32_t held_relation; /* there */
    int64_t n_restless;    /* events of relations that never come to rest at zero, see KHZ_RESTLESS_MOST; the first: */
    double first_restless;
    int32_t restless_relation;
    int64_t n_branches; /* rows with another solution of a loop than the one so far (khz_branches.h), the first at: */
    double first_branch;
    int32_t branch_value; /* there: its place among w, or -1 less that among xd */
    double branch_from, branch_to;
    /* private */
    int32_t n_rows, has_failed;
    double failed_time;
    int64_t grid_next;
    struct khz_plan_solver *plan;
    struct khz_doubt *doubt;
} khz_offline;

/* Steps from one call of `flush` to the next, rows or not: of a stepper; of CVODE and IDA, whose steps are dearer. */
enum { KHZ_NEWS_EVERY = 2000, KHZ_NEWS_OF_SOLVER = 500 };
/* Part of the largest value it had within which a relation stays as it is, where its events would have no end. */
#define KHZ_RESTLESS_MOST 1e-3
enum { KHZ_RUN_STOPPED = 2, KHZ_RUN_SOLVER_FAILED = -20, KHZ_RUN_CHATTERS = -21, KHZ_RUN_STANDS_STILL = -22 };

KHZ_EXPORT int64_t khz_offline_work(const khz_model *m);
/* From the initialised instance to `stop`: KHZ_OK, KHZ_TERMINATED, KHZ_RUN_STOPPED or a failure. */
KHZ_EXPORT int32_t khz_run_cvode(khz_offline *o);
/* The same with a stepper that was started; o->instance is its instance.  Steps that fail do not end the run. */
KHZ_EXPORT int32_t khz_run_stepper(khz_offline *o, khz_stepper *s);

/* khz_offline_inputs.c: the first piece; when the next jump is due (DBL_MAX: never); past the jumps up to t, and the
 * values there; those of this piece at t.  Then the model at (t, x) with its inputs at t. */
void khz_offline_inputs_start(khz_offline *o);
double khz_offline_inputs_next(const khz_offline *o);
void khz_offline_inputs_pass(khz_offline *o, double t);
void khz_offline_inputs_set(khz_offline *o, double t);
khz_status khz_offline_derivatives(khz_offline *o, double t, const double *x, double *xd);
khz_status khz_offline_evaluate(khz_offline *o, double t, const double *x);

/* khz_follow.c: the same without states, from the point evaluated last.  A loop that takes a detour there may end at
 * another of its solutions: the way is made again in small parts.  One that comes to a solution far from where the way
 * so far leads to begins again from there.  work: khz_offline_follow_work(model) doubles. */
int64_t khz_offline_follow_work(const khz_model *m);
void khz_offline_follow_start(const khz_model *m, double *work);
khz_status khz_offline_follow(khz_offline *o, double *work, double t, const double *x);

/* All of an instance but the free part of its arena, which is most of it; doubles that a copy has. */
void khz_offline_copy(const khz_model *m, void *to, const void *from);
int64_t khz_offline_copied(const khz_model *m);

/* Pieces that all of them share: a row of the recorder; instant k of the output grid; terminal(); the last rows. */
int32_t khz_offline_record(khz_offline *o);
double khz_offline_grid(const khz_offline *o, int64_t k);
/* What an event works with: room for what delays record, for crossings, and khz_settle_work(model) doubles; [n_r] each:
 * dead bands of relations, the largest crossings so far, relations before the event, crossings where it was found
 * (NULL: it was not looked for).
 */
typedef struct khz_event_work {
    double *delayed, *g, *kept, *band;
    const double *largest, *before, *g_high;
} khz_event_work;
/* A delay in a ring knows what went in up to the last step: no step is longer than it, as far as that is affordable. */
void khz_hold_steps(khz_offline *o, void *solver);
/* The event at (t, x): both sides recorded, x updated.  Counts as a time event where a sample or instant is due. */
int32_t khz_offline_event(khz_offline *o, const khz_event_work *w, double t, double *x, int is_time_event);
/* khz_settle.c: the passes of an event. */
int64_t khz_settle_work(const khz_model *m);
khz_status khz_settle(khz_offline *o, const khz_event_work *w);
int32_t khz_offline_finish(khz_offline *o);
int32_t khz_offline_deliver(khz_offline *o, int32_t status);

#endif
