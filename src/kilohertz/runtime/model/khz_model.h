/* The binary interface of a generated model: const data, functions, and one flat instance.
 *
 * An instance is `model->size` bytes without pointers into itself (external objects are made once, at initialisation):
 * memcpy makes a snapshot.  Areas are found by their offset in bytes; a String is a row of KHZ_TEXT_SIZE bytes. */
#ifndef KHZ_MODEL_H
#define KHZ_MODEL_H

#include "khz_base.h"
#include "khz_sparse.h"

enum { KHZ_ABI = 16, KHZ_DELAY_POINTS = 8192 };

/* A block of equations and where it comes from. */
typedef struct khz_block {
    const char *name;   /* what it solves for */
    const char *origin; /* file:line, instance path */
    int32_t n_unknowns;
    int32_t cost; /* operations, in the worst case where known */
} khz_block;

/* A delay line: a ring of accepted points. */
typedef struct khz_delay {
    int32_t first, count;
    double longest;  /* delay that was asked for so far: the points reach as far back as that */
    double shortest; /* of those that do without the present; 0: none */
    int32_t is_told; /* that such a one was shorter than a step */
    double time[KHZ_DELAY_POINTS];
    khz_real value[KHZ_DELAY_POINTS];
} khz_delay;

/* A profile that moves between 0 and 1 (`spatialDistribution`): a ring of points in ascending order. */
typedef struct khz_transport {
    int32_t first, count;
    khz_real label[KHZ_DELAY_POINTS];
    khz_real value[KHZ_DELAY_POINTS];
} khz_transport;

typedef khz_status (*khz_phase_fn)(void *instance);
typedef void (*khz_around_fn)(void *instance, khz_real *jac);

/* Columns of a Jacobian that are found together, colour by colour. */
typedef struct khz_colours {
    int32_t n;
    const int32_t *seed_start, *seed_column; /* the columns of each: [n + 1] */
    const int32_t *start, *entry, *row;      /* [n + 1]; for each entry its place in the pattern and its row */
} khz_colours;

/* Long sums s(y) = t_1(y) + t_2(y) + ... that F depends on: d F/d y = d F/d y|s + d F/d s * d s/d y.  `directional`
 * takes sums as columns after y and leaves the rates of terms as rows after F; entries of both are `parts`. */
typedef struct khz_sums {
    khz_colours along; /* colours of `directional`: of y, then of sums */
    int32_t n_of_y;    /* colours of y */
    int32_t n_parts;
    const int32_t *part_start, *part, *part_row; /* by colours: [along.n + 1]; parts with their rows, which are added */
    /* by colours of y: [n_of_y + 1]; entries of J that sums alone give, and all that they add to: += weight*slope */
    const int32_t *empty_start, *empty, *product_start, *product_entry, *product_weight, *product_slope;
} khz_sums;

/* What the inlined phase makes of a state: solved for; x = base, its derivative found; x = base, its derivative left
 * out because it does not belong to the part of the model that takes sub-steps. */
enum { KHZ_STAGE_IMPLICIT = 0, KHZ_STAGE_EXPLICIT = 1, KHZ_STAGE_HELD = 2 };

typedef struct khz_model {
    uint32_t abi;
    const char *name;
    size_t size;
    int32_t n_x, n_d, n_m, n_s, n_r, n_samples, n_time_events, n_delays, n_factored, n_blocks;
    int32_t n_places;                 /* that can be timed, after KHZ_PLACES_OF_MODEL (khz_probe.h) */
    int32_t n_transports, n_recorded; /* transport lines; values that they and the delay lines record */
    int32_t n_u, n_ui;
    int32_t n_lanes; /* directions of one call of directional: KHZ_LANES (khz_vector.h) or 1 */
    int32_t n_z;     /* algebraic unknowns of the index-1 form, see z_place; 0: none is kept */
    int32_t n_k;     /* unknowns of linear loops that the Jacobian has as columns, and equations of theirs as rows */
    int32_t uses_homotopy;
    int32_t mode_cap;       /* turns of mixed loops in a step where the settings leave them to the model */
    int32_t n_nonlinear;    /* nonlinear loops, those inside others included */
    int32_t jacobian_rests; /* d F/d y changes at events alone */
    int32_t inlined_is_all; /* `inlined` computes all Reals that `step` does */
    const size_t *areas;    /* where each kind of variable begins, by its position in ir/step.py; 0: none */
    size_t u, ui;           /* inputs: khz_real [n_u], int32 [n_ui] */
    size_t x, xd, d, pre_d, m, pre_m, s, pre_s, r;
    size_t forced;                        /* int32 [n_r], not 0: an event keeps r as the stepper set it (khz_rest.h) */
    const int32_t *at_zero;               /* [n_r] value of each relation where both sides are equal */
    size_t reinit, reinit_value;          /* int32 [n_x], khz_real [n_x] */
    size_t sample_now, sample_tick;       /* int32 [n_samples], int64 [n_samples] */
    size_t sample_start, sample_interval; /* double [n_samples] */
    size_t delays, transports, factored, nominal, arena, arena_size;
    size_t seed, xd_dir; /* khz_lanes [n_y], n_y = n_x + n_z, and sums or terms: see directional; nobody sets seed: 0 */
    size_t xd_slope;     /* khz_real [n_y]: see time_slope */
    size_t base, gamma_h; /* khz_real [n_x], khz_real: see inlined */
    /* Index-1 form: the unknowns z of the nonlinear loops of a step are kept by the method, y = (x, z), F = (xd,
     * res). */
    const size_t *z_place;               /* [n_z] their offsets */
    size_t res;                          /* khz_real [n_z]: residuals of the loops, left by `step` while c.is_open */
    const int32_t *jac_row, *jac_column; /* pattern of d F/d y by rows: [n_y + n_k + 1] and its columns, ascending */
    const int32_t *jac_colour;           /* [n_y + n_k] in 0 .. colours.n-1: columns of one colour share no row */
    khz_colours colours;
    const khz_sums *sums;           /* NULL: none, `directional` has these colours */
    size_t parts;                   /* khz_real [sums->n_parts] */
    const int32_t *stage_role;      /* [n_x] KHZ_STAGE_*: see inlined; NULL: all states are implicit */
    const khz_sparse_plan *lu_plan; /* for M - h*gamma*J, M = diag(1 [n_x], 0 [n_z]); NULL: dense is as good */
    /* The same where n_k is not 0, M = diag(1 [n_x], 0 [n_k]): J has the columns of k after those of x.  The model's
     * phases take and give x alone; for solvers with steps of their own (offline/khz_plan_solver.h). */
    const struct khz_scattered *unfolded;
    const int32_t *transport_points; /* [n_transports]: points of the profile at the start */
    const khz_block *blocks;         /* [n_blocks]; NULL where only Python runs the model, which has their names */
    const char *const *origins;      /* [n_origins] of places (khz_context.place): file:line, instance path */
    int32_t n_origins;
    /* Whose a value is, for messages about faults.  Reals of a step in the order in which they are computed, then those
     * computed besides, views last: their positions in w, or -1 - position in xd, and their blocks; then the blocks of
     * d, m, s and of what sets x by reinit, 0: none. */
    int32_t n_values, n_step_values, n_views;
    int32_t n_w; /* values in w that must be numbers; what only goes from call to call comes after them */
    size_t w;
    const int32_t *value_place, *value_block; /* [n_values] */
    const int32_t *discrete_block;            /* [n_d + n_m + n_s + n_x] */
    /* Values that derivatives depend on, and that change at events only: positions in d, then m, then r.  Where an
     * event changes none of them and no state, the solution goes on as if there had been none.  n_felt < 0: it never
     * does. */
    int32_t n_felt;
    const int32_t *felt; /* [n_felt] */
    /* The same for a Jacobian that rests between events: one that changes none of them leaves it as it is. */
    int32_t n_stirring;
    const int32_t *stirring;          /* [n_stirring] */
    void (*tunables)(void *instance); /* default values of the parameters that may be set */
    khz_phase_fn once;
    void (*start)(void *instance);      /* guesses and nominal values */
    void (*late_start)(void *instance); /* guesses of loops that the initial equations give */
    khz_phase_fn initial;
    khz_phase_fn simplified;         /* guesses for `initial` with lambda = 0; NULL: those of `start` are enough */
    void (*samples)(void *instance); /* start and interval of each sample, once what they depend on is known */
    khz_phase_fn event;              /* one pass over all blocks */
    khz_phase_fn step;               /* derivatives */
    khz_phase_fn resting;            /* after `step` at the same point: what all directions of a Jacobian share */
    const khz_phase_fn *directional; /* after `resting`, for each n_lanes colours: the rows of xd_dir = J*seed that
                                        have entries there, with seeds in their columns alone; or NULL */
    /* For each call of `directional`: without jac ones into the seeds of its columns, else its entries into jac and
     * zeros into these seeds.  NULL: by `colours`. */
    const khz_around_fn *around;
    khz_phase_fn time_slope; /* xd_slope = dF/dt, after `step`; NULL where directional is */
    khz_phase_fn inlined;    /* solves x = base + gamma_h*xd for x and xd of implicit states, takes
                                x = base for others; NULL unless built inlined */
    khz_phase_fn crossing;   /* what crossings need besides */
    khz_phase_fn output;     /* what outputs and asserts need besides, and what has effects of its own */
    khz_phase_fn view;       /* after these: what nobody needs but who looks; never fails */
    khz_phase_fn asserts;
    khz_phase_fn initial_asserts;
    void (*crossings)(void *instance, khz_real *g); /* > 0: as buffered; < 0: an event is due */
    void (*time_events)(void *instance, double *at);
    void (*delay_sources)(void *instance, khz_real *value);
    void (*destroy)(void *instance);  /* external objects */
    khz_real (*ends)(void *instance); /* a sum that is finite only where all values in w are; NULL: look at each */
} khz_model;

/* For a model with nothing to do in one of its functions. */
khz_status khz_no_blocks(void *instance);
void khz_no_action(void *instance);
void khz_no_values(void *instance, khz_real *values);
void khz_no_instants(void *instance, double *at);

/* Where a place is: file:line, instance path; "" where it is not known. */
static inline const char *khz_origin(const khz_model *m, int32_t place)
{
    return place >= 0 && place < m->n_origins ? m->origins[place] : "";
}

/* Offset of a storage area, by the position of its kind in ir/step.py. */
KHZ_EXPORT size_t khz_area_offset(const khz_model *m, int32_t kind);

static inline khz_real *khz_reals(void *instance, size_t offset)
{
    return (khz_real *)(void *)((char *)instance + offset);
}
static inline double *khz_times(void *instance, size_t offset) { return (double *)(void *)((char *)instance + offset); }
static inline int32_t *khz_ints(void *instance, size_t offset)
{
    return (int32_t *)(void *)((char *)instance + offset);
}
static inline char *khz_texts(void *instance, size_t offset) { return (char *)instance + offset; }

KHZ_EXPORT size_t khz_instance_size(const khz_model *m);
/* Free what external objects hold. */
KHZ_EXPORT void khz_instance_destroy(const khz_model *m, void *instance);
/* Prepare memory of model->size bytes: everything zero, tunable parameters at their defaults. */
KHZ_EXPORT khz_status khz_instance_init(const khz_model *m, void *instance);
/* Parameters, start values, initial equations, first event.  Bounded by caps. */
KHZ_EXPORT khz_status khz_initialize(const khz_model *m, void *instance, double time);
/* Event iteration at the present time until nothing changes. */
KHZ_EXPORT khz_status khz_event(const khz_model *m, void *instance);
/* The same with at most `cap` passes; *passes: how many there were.  KHZ_EVENT_CAP: the last mode stays. */
khz_status khz_event_passes(const khz_model *m, void *instance, int cap, int *passes);
/* Derivatives at (time, x): x [n_x] in, xd [n_x] out. */
KHZ_EXPORT khz_status khz_derivatives(const khz_model *m, void *instance, double time, const khz_real *x, khz_real *xd);
/* Length of a point y = (x, z). */
static inline int32_t khz_n_y(const khz_model *m) { return m->n_x + m->n_z; }
static inline int32_t khz_n_jacobian(const khz_model *m) { return khz_n_y(m) + m->n_k; } /* rows and columns */
/* y [n_y] into the instance, and out of it. */
void khz_set_point(const khz_model *m, void *instance, const khz_real *y);
void khz_get_point(const khz_model *m, void *instance, khz_real *y);
/* F at (time, y) with the loops of the index-1 form left open: y [n_y] in, f [n_y] out.  n_z = 0: khz_derivatives. */
khz_status khz_residuals(const khz_model *m, void *instance, double time, const khz_real *y, khz_real *f);
/* One implicit stage, where the model was built inlined: leaves x = base + gamma_h*xd and xd in the instance, which
 * holds the guess before.  States outside the implicit set are x = base. */
KHZ_EXPORT khz_status khz_stage(const khz_model *m, void *instance, double time, const khz_real *base,
                                khz_real gamma_h);
/* Neither NaN nor infinity among the Reals that were computed: w and d. */
int khz_values_are_finite(const khz_model *m, void *instance);
/* The first value that is not finite, by its number in value_place; KHZ_NOWHERE. */
int32_t khz_first_odd(const khz_model *m, void *instance, int32_t n_values);
/* The block that gave the first value that is not finite: among those of a step, or among all; KHZ_NOWHERE. */
int32_t khz_first_not_finite(const khz_model *m, void *instance, int32_t n_values);
/* Whether views alone are not finite. */
int khz_only_views_are_odd(const khz_model *m, void *instance);
/* All variables at (time, x), for the recorder. */
KHZ_EXPORT khz_status khz_evaluate_all(const khz_model *m, void *instance, double time, const khz_real *x);
/* The same without views. */
khz_status khz_evaluate(const khz_model *m, void *instance, double time, const khz_real *x);
/* d value / d at, right of it. */
khz_real khz_delay_pace(const khz_delay *line, double now, double at);
/* The same where what derivatives need stands there already, at the same point. */
khz_status khz_evaluate_rest(const khz_model *m, void *instance, double time);
/* Views, where all they read stands there already. */
void khz_evaluate_views(const khz_model *m, void *instance);
/* Next instant (> time) at which a sample ticks or a time event is due; infinity when there is none. */
KHZ_EXPORT double khz_next_time_event(const khz_model *m, void *instance, double *work);
/* Mark the samples that tick now; their number. */
KHZ_EXPORT int khz_mark_samples(const khz_model *m, void *instance);
/* Value of a delay line at an instant; the oldest value before its beginning. */
khz_real khz_delay_value(khz_delay *line, double now, khz_real present, double at);
/* The value, or the past where the instant is before the first point. */
khz_real khz_delay_since(const khz_delay *line, double now, khz_real past, khz_real value, double at);
/* d value / d present. */
khz_real khz_delay_part(const khz_delay *line, double now, double at);
/* The same where what goes in is not known yet: the newest point after it, with a warning (once).  `first`: before the
 * first point. */
khz_real khz_delay_held(khz_context *c, khz_delay *line, khz_real first, double at);
/* The shortest delay of those that do without the present; HUGE_VAL: none. */
double khz_delay_shortest(const khz_model *m, void *instance);
/* Record all lines at the end of a step. */
void khz_delay_push(const khz_model *m, void *instance, khz_real *work);
/* Value of a transport line at a label, which is a place less the position; `initial` before the first push. */
khz_real khz_transport_value(const khz_transport *line, khz_real label, khz_real initial);
/* The same with what enters now at 0 and at 1, since the last push, at a position; positive: 1 if from 0 to 1. */
khz_real khz_transport_present(const khz_transport *line, khz_real label, khz_real initial, khz_real position,
                               khz_real at_zero, khz_real at_one, khz_real positive);
/* recorded: what enters at 0, at 1, position, direction (1: from 0 to 1), points [n_points], values [n_points]. */
void khz_transport_push(khz_transport *line, int32_t n_points, const khz_real *recorded);

#endif
