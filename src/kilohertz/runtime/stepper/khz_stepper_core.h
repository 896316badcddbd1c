/* Inside the stepper: its work area and the pieces that khz_stepper.c, the kernels and the event algorithms share. */
#ifndef KHZ_STEPPER_CORE_H
#define KHZ_STEPPER_CORE_H

#include "khz_rest.h"
#include "khz_stepper.h"
#include "khz_vector.h"

/* What a step is made of.  Where these sources are compiled once more for one model, method and settings
 * (building/made_step.py) they are constants: sizes, coefficients and what the model does not have are known to the
 * compiler, and nothing else differs. */
#ifdef KHZ_MADE_SETTINGS
static const khz_model this_model;
static const khz_step_settings khz_made_settings = KHZ_MADE_SETTINGS;
static KHZ_INLINE const khz_model *khz_model_of(const khz_stepper *s) { return ((void)s, &this_model); }
static KHZ_INLINE const khz_method *khz_method_of(const khz_stepper *s)
{
    return ((void)s, &khz_methods[khz_made_settings.method]);
}
static KHZ_INLINE const khz_step_settings *khz_settings_of(const khz_stepper *s)
{
    return ((void)s, &khz_made_settings);
}
#define KHZ_STAGE_BY_STAGE _Pragma("GCC unroll 8") /* before a loop over stages: with their coefficients */
#else
#define KHZ_STAGE_BY_STAGE
static KHZ_INLINE const khz_model *khz_model_of(const khz_stepper *s) { return s->model; }
static KHZ_INLINE const khz_method *khz_method_of(const khz_stepper *s) { return s->method; }
static KHZ_INLINE const khz_step_settings *khz_settings_of(const khz_stepper *s) { return &s->settings; }
#endif

/* Index-1 form: what is still a small change of the unknowns of a loop, as a part of their size: at the end of a step
 * or before the last iteration of a stage; and where later stages or iterations correct it. */
#define KHZ_SMALL KHZ_BY_NUMBER(1e-4, 1e-4f)
#define KHZ_SMALL_IN_STAGE KHZ_BY_NUMBER(1e-3, 1e-3f)
/* Iterations by a kept Jacobian diverge: the last change in a stage is larger than the first (of two: so many times,
 * the first says little), or it is larger than that and than that of the stage before so often one after the other;
 * each time more than such a part of the states. */
#define KHZ_STALE 4.0
#define KHZ_STALE_LEAST KHZ_BY_NUMBER(1e-6, 1e-4f)
enum { KHZ_STALE_GROWTH = 3 };
/* Part of a period that a prediction of events looks ahead, to see how fast crossing functions change. */
#define KHZ_LOOK_AHEAD KHZ_BY_NUMBER(1e-4, 1e-2)

/* The work area.  These pointers are part of the stepper's memory and hold while it stays at `home`: a copy elsewhere
 * is divided anew at its first step. */
typedef struct khz_work {
    const khz_stepper *home;
    void *instance;
    /* n_y = n_x, and in the index-1 form the algebraic unknowns z after the states */
    khz_real *x0, *x1;      /* [n_y] state at the beginning and the end of a (sub-)step */
    khz_real *f0;           /* [n_y] derivatives (and residuals) at the beginning */
    khz_real *stage;        /* [n_y] point of a stage */
    khz_real *k;            /* [n_stages*n_y] what the stages gave */
    khz_real *g0, *g1, *g2; /* [n_r] crossing functions at the beginning, the end, and between */
    khz_real *slope;        /* [n_r] time derivatives of the crossing functions */
    double *crossed;        /* [n_r] instants of crossings */
    khz_rest rest;          /* [n_r] */
    khz_real *change;  /* [n_r] how much the crossing functions changed over the step in which one was looked for */
    khz_real *depth;   /* [n_r] crossing functions of those that came late, at the end of the step before */
    double *at;        /* time events */
    khz_real *delayed; /* sources of delay lines */
    khz_real *u0, *u1, *u2; /* [n_u] the last samples of the inputs, newest first */
    int32_t *ui;            /* [n_ui] the last sample of the others */
    /* implicit methods */
    khz_real *jac, *ft; /* entries of J in the order of the model's pattern; [n_y] df/dt */
    khz_real *jac_next; /* the next one, as far as it is made */
    khz_real *jac_work;
    khz_real *res_scale;   /* [n_z] size of the residuals of open loops: a residual far below it is small */
    khz_real *matrix, *lu; /* I - h*gamma*J and its factors, sparse */
    khz_real *dense, *scale, *solve;
    int32_t *pivot;
    /* what an event may change, for the case that it fails */
    khz_real *kept_x, *kept_d; /* [n_x], [2*n_d] */
    int32_t *kept_m, *kept_r;  /* [2*n_m], [n_r] */
    char *kept_s;              /* [2*n_s] texts */
} khz_work;

typedef khz_status (*khz_stage_fn)(khz_stepper *s, const khz_work *w, double t, double h, int32_t i);

/* Stage i, if the method has it and those before succeeded. */
static KHZ_INLINE khz_status khz_next_stage(khz_status before, khz_stage_fn stage, khz_stepper *s, const khz_work *w,
                                            double t, double h, int32_t i)
{
    return before == KHZ_OK && i < khz_method_of(s)->n_stages ? stage(s, w, t, h, i) : before;
}

/* The stages of a method from the first that is asked for on.  In a step that is made each has code of its own, in
 * which its coefficients are constants. */
static KHZ_INLINE khz_status khz_each_stage(khz_stage_fn stage, khz_stepper *s, const khz_work *w, double t, double h,
                                            int32_t first)
{
    khz_status status = KHZ_OK;
    int32_t i = first;
#ifdef KHZ_MADE_SETTINGS
    status = khz_next_stage(status, stage, s, w, t, h, i++);
    status = khz_next_stage(status, stage, s, w, t, h, i++);
    status = khz_next_stage(status, stage, s, w, t, h, i++);
    status = khz_next_stage(status, stage, s, w, t, h, i++);
    status = khz_next_stage(status, stage, s, w, t, h, i++);
    status = khz_next_stage(status, stage, s, w, t, h, i++);
#endif
    for (; i < khz_method_of(s)->n_stages && status == KHZ_OK; i++) {
        status = stage(s, w, t, h, i);
    }
    return status;
}

/* Fill in offsets and settings; the size, or 0 when the settings do not make sense. */
size_t khz_stepper_lay_out(khz_stepper *s, const khz_model *m, const khz_step_settings *given);
/* Doubles of work for a stepper whose model, method and settings are set; where its size is set, w points into it. */
size_t khz_stepper_work(khz_stepper *s, khz_work *w);
const khz_work *khz_stepper_divide(khz_stepper *s);

double khz_stepper_grid(const khz_stepper *s, uint64_t n);
/* Length of the coming period, in seconds. */
double khz_stepper_length(const khz_stepper *s);
/* Take the inputs in the instance as samples of this period.  0: as before; 1: Reals moved; 2: discrete ones too. */
int khz_stepper_sample_inputs(khz_stepper *s, const khz_work *w);

/* Derivatives at (t, y), in the index-1 form with the residuals of open loops; counted.  A failure is counted too and
 * sets flags. */
khz_status khz_stepper_rhs(khz_stepper *s, const khz_work *w, double t, const khz_real *y, khz_real *f);
/* The same in a stage.  In the index-1 form KHZ_NO_CONVERGENCE where khz_stepper_is_loose(part); where the step is a
 * closed one loops are solved from the values in the instance, z in y is the solution, and their residuals are 0. */
khz_status khz_stepper_stage(khz_stepper *s, const khz_work *w, double t, khz_real part, khz_real *y, khz_real *f);
/* Index-1 form: does a loop ask for a change of its unknowns by more than this part of their size? */
int khz_stepper_is_loose(const khz_stepper *s, const khz_work *w, khz_real part);
/* x = stage + gamma_h*xd at t, solved by the model: x and xd in the instance. */
khz_status khz_stepper_inlined(khz_stepper *s, const khz_work *w, double t, khz_real gamma_h);
/* All values but views at (t, y), for outputs, crossings and delays, every loop solved: z in y is the guess. */
khz_status khz_stepper_evaluate(khz_stepper *s, const khz_work *w, double t, const khz_real *y);
/* The same at the end of a step: in the index-1 form with z as the method gave it. */
khz_status khz_stepper_evaluate_end(khz_stepper *s, const khz_work *w, double t, const khz_real *y);
/* Views, where they do not belong to the other values yet. */
static inline void khz_stepper_show(khz_stepper *s, const khz_work *w)
{
    if (!s->is_shown) {
        khz_evaluate_views(khz_model_of(s), w->instance);
        s->is_shown = 1;
    }
}

/* Whether somebody looks at the end of this step; extrapolated inputs are known in the step alone. */
static inline int khz_stepper_is_seen(const khz_stepper *s)
{
    return !s->is_unseen || (khz_model_of(s)->n_u > 0 && khz_settings_of(s)->input_mode != KHZ_INPUT_HELD);
}

/* Count a failure of the model where it happened and clear it. */
void khz_stepper_note(khz_stepper *s, khz_status status);
/* Count the Newton caps that were hit since the context counted `before`: the values went on from there. */
void khz_stepper_note_caps(khz_stepper *s, uint32_t before);
/* At the end of a step a value that the states do not depend on is NaN or infinite: counted for its block. */
void khz_stepper_note_values(khz_stepper *s);
/* The derivatives at the beginning of a step, unless they are known. */
khz_status khz_stepper_begin(khz_stepper *s, const khz_work *w, double t);

/* From x0 at t over h to x1, all values evaluated at `end`. */
khz_status khz_move(khz_stepper *s, const khz_work *w, double t, double end, double h);
/* From x0 at t to x1 at t + h with the method of the settings. */
khz_status khz_advance(khz_stepper *s, const khz_work *w, double t, double h);
khz_status khz_advance_explicit(khz_stepper *s, const khz_work *w, double t, double h);
khz_status khz_advance_rosenbrock(khz_stepper *s, const khz_work *w, double t, double h);
khz_status khz_advance_dirk(khz_stepper *s, const khz_work *w, double t, double h);
khz_status khz_advance_inlined(khz_stepper *s, const khz_work *w, double t, double h);
khz_status khz_advance_mixed(khz_stepper *s, const khz_work *w, double t, double h);

/* What an event may change: keep it; go back to it; count the relations that changed and chatter. */
void khz_mode_keep(const khz_stepper *s, const khz_work *w);
void khz_mode_undo(const khz_stepper *s, const khz_work *w);
void khz_mode_watch(khz_stepper *s, const khz_work *w);
/* Conditions that a late event set states for (a ball below its floor): whether they end again. */
void khz_mode_came_late(khz_stepper *s, const khz_work *w);
void khz_mode_look_back(khz_stepper *s, const khz_work *w);
int khz_mode_stirs(const khz_stepper *s, const khz_work *w);

/* One period of the grid, or what is left of it. */
typedef struct khz_period {
    double t, h;       /* beginning and length of the whole step */
    double next, full; /* its end on the grid; the nominal period */
    double slack;      /* instants closer than this are one */
    double due;        /* next time event */
    double ahead;      /* least distance of the next state event: the last try fell short of it */
} khz_period;

enum { KHZ_SHORT_STEPS = 3 }; /* towards each event that is located exactly */

/* Crossing functions at the values in the instance; 1 where an event is due. */
int khz_crossings(const khz_stepper *s, const khz_work *w, khz_real *g);
void khz_crossing_values(const khz_stepper *s, const khz_work *w, khz_real *g);
/* Instants of the crossings between t and t + h by the secant (infinity: none), the first of them, and its relation. */
double khz_secants(const khz_stepper *s, const khz_work *w, double t, double h, int32_t *which);
/* After the step from t to `end` (values evaluated there): all values at the first event inside it, with its instant,
 * and in w->crossed those of the relations.  0: there is none, or it is left to the end of the step; 1: found, but the
 * relation has not changed yet by the values there; 2: found, and it has. */
int khz_locate(khz_stepper *s, const khz_work *w, const khz_period *p, double t, double end, double *at);

/* One period with the event algorithm of the settings; leaves s->behind. */
void khz_cycle(khz_stepper *s, const khz_work *w);
/* Between two periods: what is left of the last one, then an event at its end. */
void khz_cycle_event(khz_stepper *s, const khz_work *w);

#endif
