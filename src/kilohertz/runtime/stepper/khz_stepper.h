/* The bounded stepper: one period of a model with a fixed-step method.  Off-line runs and the periodic task call the
 * same functions, so their numbers are the same to the bit.
 *
 * Memory comes in one piece: stepper, work area, instance, without pointers into itself.  A snapshot is a memcpy of
 * khz_stepper_size bytes (external objects excepted).  After init nothing allocates, locks, prints or blocks.
 *
 *     size_t n = khz_stepper_size(model, &settings);
 *     khz_stepper *s = aligned_alloc(64, n);               n is a multiple of 64
 *     khz_stepper_prepare(s, model, &settings);            defaults; then parameters and inputs may be set through
 *     void *z = khz_stepper_instance(s);                   ... the instance
 *     khz_status status = khz_stepper_start(s, 0.0);       initial equations; the first outputs stand in the instance
 *     for (;;) { inputs into z; flags = khz_stepper_step(s); outputs from z; } */
#ifndef KHZ_STEPPER_H
#define KHZ_STEPPER_H

#include "khz_method.h"
#include "khz_model.h"

/* What happens to a state event inside a step. */
enum {
    KHZ_EVENTS_NONE = 0,     /* detected and handled at the end of the step: 1 step */
    KHZ_EVENTS_MID = 1,      /* assumed in the middle: at most 3 steps */
    KHZ_EVENTS_LINEAR = 2,   /* linear interpolation, next step stretched: 1 step */
    KHZ_EVENTS_CATCH_UP = 3, /* linear interpolation, rest of the step at once: at most events_per_step + 1 steps */
    KHZ_EVENTS_HERMITE = 4,  /* cubic interpolation, next step stretched: 1 step */
    KHZ_EVENTS_PREDICT = 5,  /* predicted, step shortened and the next lengthened: 1 step */
    KHZ_EVENTS_PREDICT_QUADRATIC = 6, /* the same with a quadratic prediction */
    KHZ_EVENTS_EXACT = 7 /* shorter steps to the event, rest at once: at most 4*events_per_step + 1 steps */
};

/* Inputs over the step: as at its beginning, or extrapolated from the last two or three samples. */
enum { KHZ_INPUT_HELD = 0, KHZ_INPUT_LINEAR = 1, KHZ_INPUT_QUADRATIC = 2 };

/* Addresses that a stepper and an instance begin at are a multiple of this. */
enum { KHZ_ALIGNMENT = 64 };

/* clang-format off */
/* generated from solvers/settings.py: begin */
/* How a model is stepped; zero means the default. */
typedef struct khz_step_settings {
    /* of one call of khz_stepper_step */
    int64_t period_ns;
    /* khz_method_index("rk4") */
    int32_t method;
    /* where an event inside a step is handled; none: at its end; KHZ_EVENTS_* */
    int32_t events;
    /* Newton iterations per stage of a diagonally implicit method (index-1 form: as many as it needs) */
    int32_t newton;
    /* cap of Newton iterations in each nonlinear loop of the model */
    int32_t loop_newton;
    /* cap of passes of an event iteration */
    int32_t event_cap;
    /* cap of turns in a step in which mixed loops search for a mode, beyond the first in each pass; each pass after the third takes five; 0: by the model */
    int32_t mode_cap;
    /* events located in one step by catch-up and exact */
    int32_t events_per_step;
    /* renew the Jacobian every so many steps, or earlier where iterations by it diverge */
    int32_t jacobian_every;
    /* make the next Jacobian a few columns in each step, until it is due (jacobian_every) */
    int32_t jacobian_spread;
    /* equal steps of the whole model in each step, inputs sampled once; with auto at most so many */
    int32_t internal_steps;
    /* inputs over a step; KHZ_INPUT_* */
    int32_t input_mode;
    /* join implicit stages with the equations of the model */
    int32_t inlined;
    /* parts of a step for the states of a part of the model (imex1, ars222) */
    int32_t substeps;
} khz_step_settings;

/* X(field, default, least, largest) for each but method and period. */
#define KHZ_STEP_SETTINGS(X) \
    X(events, 0, 0, 7) \
    X(newton, 2, 1, 1000) \
    X(loop_newton, 6, 1, 1000) \
    X(event_cap, 16, 1, 100000) \
    X(mode_cap, 0, 0, 100000) \
    X(events_per_step, 4, 1, 1000) \
    X(jacobian_every, 1, 1, 1000000) \
    X(jacobian_spread, 0, 0, 1) \
    X(internal_steps, 1, 1, 1000) \
    X(input_mode, 0, 0, 2) \
    X(inlined, 0, 0, 1) \
    X(substeps, 1, 1, 1000)
/* generated from solvers/settings.py: end */
/* clang-format on */

/* What a step did. */
enum {
    KHZ_STEP_EVENT = 1u, /* an event was handled: discrete values or states may have jumped */
    KHZ_STEP_STATE_EVENT = 2u,
    KHZ_STEP_TIME_EVENT = 4u,
    KHZ_STEP_BEHIND = 8u,           /* the state is that of an event before the end of the period */
    KHZ_STEP_LATE_TIME_EVENT = 16u, /* a time event inside the period was handled at its end */
    KHZ_STEP_TERMINATED = 32u,      /* terminate() was reached */
    KHZ_STEP_ASSERTION = 64u,
    KHZ_STEP_HELD = 128u, /* the step failed: the states are those before it */
    KHZ_STEP_NEWTON_CAP = 256u,
    KHZ_STEP_NOT_FINITE = 512u,
    KHZ_STEP_PIVOT = 1024u,
    KHZ_STEP_EVENT_CAP = 2048u,
    KHZ_STEP_CHATTERS = 4096u,
    KHZ_STEP_FAILURE = 8192u, /* another failure: a function outside its domain, an index out of bounds, ... */
    /* No failure, but more work than in a regular step or event: Newton steps were cut or took a second round, a mixed
     * loop was searched for its mode, a planned order of pivots did not do, a matrix was singular or needed
     * differences. */
    KHZ_STEP_DETOUR = 16384u
};

/* What happened since the start. */
typedef struct khz_step_counts {
    uint64_t steps, rhs, jacobians, factorisations, solves, state_events, time_events, event_passes;
    uint64_t held, newton_caps, not_finite, pivots, event_caps, chattering, assertions, failures, late_time_events;
    uint64_t max_step_rhs, max_step_passes; /* most in one period */
    uint64_t corrected;                     /* index-1 form: steps in which loops had to be solved after all */
    uint64_t warnings; /* of assertions, each time they were evaluated, and of external functions */
    uint64_t unended;  /* conditions that an event set states for, that turned back, and never ended */
} khz_step_counts;

/* Per block of the model (khz_model.blocks, position block - 1); position n_blocks stands for "nowhere known". */
typedef struct khz_block_counts {
    uint32_t newton_caps, pivots, failures;
    uint32_t not_finite; /* it gave the first value of a step, or at its end, that was NaN or infinite */
    uint32_t event_caps; /* what it sets was still changing when the passes of an event were used up */
    uint32_t reserved;
    double first_time; /* of the first of them all */
    double time;       /* of the last one */
    double residual;   /* largest, relative, where a Newton cap was hit */
} khz_block_counts;

typedef struct khz_stepper khz_stepper;

struct khz_stepper {
    const khz_model *model;
    const khz_method *method;
    khz_step_settings settings; /* defaults filled in; period_ns is that of one internal step */
    size_t size, division, work, blocks, faults, flips, instance; /* offsets from the stepper, in bytes */
    double start;
    uint64_t n;            /* internal steps done: the grid is at start + n*settings.period_ns */
    double behind;         /* the state is this much before the grid, in seconds */
    uint32_t flags;        /* of the last step */
    int32_t is_fresh;      /* the derivatives at the state are known */
    int32_t is_at_start;   /* the values in the instance are those of the beginning of the step */
    int32_t is_at_end;     /* those that derivatives need are: of its last stage */
    int32_t is_shown;      /* views belong to the other values */
    int32_t is_crossed;    /* the crossing functions of the values in the instance are known, in g1 of the work area */
    int32_t is_settled;    /* the values in the instance are those of the state */
    int32_t is_unseen;     /* nobody looks at the end of the coming steps: views are left out */
    int32_t is_solved;     /* index-1 form: no input or parameter moved since z was computed */
    int32_t is_open;       /* index-1 form: the residuals in the instance belong to the values there */
    int32_t is_trial;      /* index-1 form: what fails now is tried again in a closed step, and not counted */
    int32_t is_closed;     /* index-1 form: this step is made with the loops solved in each stage */
    int32_t may_rest;      /* a relation has a band (khz_rest.h) */
    int32_t n_late;        /* relations whose return after a late event is watched */
    int32_t is_dense;      /* the factors are dense ones */
    int32_t jacobian_age;  /* steps since it was evaluated; < 0: not at all */
    int32_t is_past_event; /* which left the Jacobian as it was, but not dF/dt */
    int32_t n_growing;     /* stages one after the other in which iterations by an old Jacobian did not close in */
    int32_t is_lost;       /* iterations of this step diverged by an old Jacobian */
    double last_change;    /* in the last stage by an old Jacobian, as a part of the states */
    double factored_h;     /* h*gamma the factors belong to; 0: none */
    int32_t n_inputs_seen; /* samples of inputs in the history */
    double event_time;     /* of the last event whose relations were forced */
    double slope_time;     /* of the last prediction of events; NaN: none in this mode */
    khz_step_counts counts;
    /* Off-line only: called with the values just before and after an event.  NULL in a real-time program. */
    void (*before_event)(void *user);
    void (*after_event)(void *user);
    void *user;
    int64_t stop_ns; /* > 0: end of an off-line run after the start; the last step is cut there */
};

/* Bytes of the whole; a multiple of 64.  0 when the settings do not make sense. */
KHZ_EXPORT size_t khz_stepper_size(const khz_model *m, const khz_step_settings *s);
/* Everything at its defaults, nothing computed yet.  KHZ_UNSUPPORTED when the settings do not make sense. */
KHZ_EXPORT khz_status khz_stepper_prepare(void *memory, const khz_model *m, const khz_step_settings *s);
/* Initial equations and first event. */
KHZ_EXPORT khz_status khz_stepper_start(khz_stepper *s, double start);
/* After the start, before the first step: inputs [n_u] one period before the start, and two (or NULL), where they are
 * known.  Extrapolation begins with the first step then; without them it holds the inputs until it has seen samples
 * enough. */
KHZ_EXPORT void khz_stepper_past_inputs(khz_stepper *s, const double *last, const double *before);
/* khz_stepper_prepare, then khz_stepper_start. */
KHZ_EXPORT khz_status khz_stepper_init(void *memory, const khz_model *m, const khz_step_settings *s, double start);
/* One period; what happened.  Never fails, never allocates. */
KHZ_EXPORT uint32_t khz_stepper_step(khz_stepper *s);
/* A step that was made for one model and these settings: what khz_stepper_step does where s->settings are the same. */
typedef struct khz_made {
    khz_step_settings settings;
    uint32_t (*step)(khz_stepper *s); /* NULL: there is none */
    const char *word;                 /* what it was made for, or why there is none */
} khz_made;
/* The step of a stepper whose model was linked with one that was made for it (NULL: with none). */
uint32_t (*khz_stepper_made(const khz_stepper *s, const khz_made *made))(khz_stepper *s);
/* Which one that is: "made for rk4", or "generic: " and why. */
const char *khz_stepper_word(const khz_stepper *s, const khz_made *made);
/* Between two steps: an event at the end of the last one, of samples that were marked from outside or of inputs that
 * were set; what happened. */
KHZ_EXPORT uint32_t khz_stepper_event(khz_stepper *s);
/* Whether somebody looks at the end of the coming steps, which is so until it is said: where nobody does they leave out
 * what is neither an output nor needed again, and bits of everything else stay the same. */
KHZ_EXPORT void khz_stepper_see(khz_stepper *s, int is_seen);
/* Compute what the last step left out; inputs may have been set since. */
KHZ_EXPORT void khz_stepper_look(khz_stepper *s);
/* A parameter was changed between two steps: nothing computed before is used again. */
KHZ_EXPORT void khz_stepper_touch(khz_stepper *s);
KHZ_EXPORT void *khz_stepper_instance(khz_stepper *s);
/* Time of the state: that of the grid, or of an event shortly before it. */
KHZ_EXPORT double khz_stepper_time(const khz_stepper *s);
KHZ_EXPORT const khz_step_counts *khz_stepper_counts(const khz_stepper *s);
/* Off-line: the run ends so long after its start; the last step is cut there. */
KHZ_EXPORT void khz_stepper_stop_after(khz_stepper *s, int64_t nanoseconds);
/* [n_blocks + 1] */
KHZ_EXPORT const khz_block_counts *khz_stepper_blocks(const khz_stepper *s);
/* [n_x] how often each state itself was not finite in a stage. */
KHZ_EXPORT const uint32_t *khz_stepper_faults(const khz_stepper *s);
/* [n_r] how often each relation was found chattering. */
KHZ_EXPORT const uint32_t *khz_stepper_chattering(const khz_stepper *s);
/* [n_r] how often the return of each relation was missed. */
KHZ_EXPORT const uint32_t *khz_stepper_missed(const khz_stepper *s);
/* Free what external objects hold. */
KHZ_EXPORT void khz_stepper_destroy(khz_stepper *s);

#endif
