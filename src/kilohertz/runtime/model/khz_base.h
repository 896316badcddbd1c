/* Statuses and the part of every instance that the runtime itself needs.  C11; needs libc and libm alone. */
#ifndef KHZ_BASE_H
#define KHZ_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "khz_number.h"

#if defined(KHZ_ENSEMBLE_H) /* says all of that itself */
#elif defined(__GNUC__)
#define KHZ_EXPORT __attribute__((visibility("default")))
#define KHZ_NOINLINE __attribute__((noinline))           /* parts of long functions: keep compilation linear */
#define KHZ_INLINE inline __attribute__((always_inline)) /* parts with a name of their own: at no cost */
/* Long code without loops: compiled for its size it reads operands where they stand instead of copying them first, a
 * tenth of the instructions less. */
#ifndef KHZ_COMPACT                                      /* building/made_step.py has another */
#define KHZ_COMPACT __attribute__((cold))
#endif
#else
#define KHZ_EXPORT
#define KHZ_NOINLINE
#define KHZ_INLINE inline
#define KHZ_COMPACT
#endif

/* What a variable is kept as: khz_real, or int32 (a Boolean as 0 or 1). */
enum { KHZ_SIGNAL_REAL = 0, KHZ_SIGNAL_INTEGER = 1, KHZ_SIGNAL_BOOLEAN = 2 };

/* What a call came to.  Negative: the step may be tried again with other values (a smaller step of a solver with step
 * control); positive above KHZ_TERMINATED: the run is over. */
typedef enum khz_status {
    KHZ_OK = 0,
    KHZ_TERMINATED = 1,      /* terminate() was reached */
    KHZ_SINGULAR = -1,       /* a linear system without a solution */
    KHZ_NO_CONVERGENCE = -2, /* a nonlinear loop did not converge within its cap */
    KHZ_NOT_FINITE = -3,     /* NaN or infinity where a number is needed */
    KHZ_ASSERTION = -4,      /* an assert of level error, or ModelicaError */
    KHZ_EVENT_CAP = -5,      /* event iteration without an end */
    KHZ_OUT_OF_MEMORY = -6,  /* the arena of function-local arrays is too small */
    KHZ_BAD_INDEX = -7,      /* an array subscript out of its bounds */
    KHZ_DOMAIN = -8,         /* a function called outside its domain */
    KHZ_UNSUPPORTED = -9
} khz_status;

enum { KHZ_MESSAGE_SIZE = 1024, KHZ_TEXT_SIZE = 1024, KHZ_NOWHERE = -1 };

/* Phases of a run, as `initial()` and `terminal()` see them. */
enum { KHZ_PHASE_CONTINUOUS = 0, KHZ_PHASE_EVENT = 1, KHZ_PHASE_INITIAL = 2, KHZ_PHASE_TERMINAL = 3 };

/* What a model says in its own words, by kind: why it ended the run, why it failed, warnings, messages. */
enum { KHZ_SAID_END, KHZ_SAID_ERROR, KHZ_SAID_WARNING, KHZ_SAID_MESSAGE, KHZ_SAIDS };

/* How often something of a kind was said; the first time: when, where (as khz_context.place) and what. */
typedef struct khz_said {
    double time;
    uint32_t n;
    int32_t place;
    char text[KHZ_MESSAGE_SIZE];
} khz_said;

/* A mixed loop tries modes; there were no turns left for a linear system in one of them. */
enum { KHZ_SEARCHING = 1, KHZ_SEARCH_CUT };

/* Whether loops of the initial equations may be solved far from their start values. */
enum { KHZ_FAR_TOLD = 1, KHZ_FAR_NOW };

/* First member of every instance: what functions and kernels share.  Plain data: a snapshot is a memcpy. */
typedef struct khz_context {
    double time;
    double lambda; /* homotopy: 1 is the actual model */
    int32_t phase;
    int32_t status;          /* first failure since it was cleared */
    int32_t block;           /* block being evaluated, KHZ_NOWHERE outside */
    int32_t failed_block;    /* block of that failure: others are evaluated after it (khz_failed_block) */
    int32_t place;           /* index into the model's places (origins) of the failure, KHZ_NOWHERE if unknown */
    int32_t newton_cap;      /* > 0: iterations of every loop in real time; 0: off-line caps and rescue */
    uint32_t n_iterations;   /* Newton iterations so far */
    uint32_t n_caps;         /* caps that were hit */
    uint32_t n_mixed;        /* turns of mixed loops so far */
    uint32_t n_differences;  /* Jacobians by differences because the symbolic one was not finite */
    uint32_t n_factored;     /* factorisations of linear loops so far */
    int32_t cap_block;       /* block of the last Newton cap that was hit */
    double cap_residual;     /* its residual */
    double unsettled_time;   /* of the first event that ended with a mixed loop in a mode that does not agree */
    uint32_t n_unsettled;    /* such events so far */
    int32_t unsettled_first; /* block of the mixed loop at the first of them */
    int32_t unsettled;       /* block of such a loop in the present pass of an event, 0 where all agree */
    int32_t lags_left;       /* passes of an event in which relations of mixed loops without a mode may lag behind */
    int32_t has_lagged;      /* they do so in the present pass */
    int32_t turns_left;      /* of mixed loops in this period, beyond the first of each in a pass, of late passes, and
                                of linear systems in a search that take more than their usual way; off-line unused, as are
                                the next two */
    int32_t iterations_left; /* of nonlinear loops in this period, beyond newton_cap of each solution, and of their
                                second rounds and singular Jacobians */
    int32_t trials_left;     /* residuals of nonlinear loops in this period, beyond one for each iteration */
    int32_t is_searching;    /* not 0: KHZ_SEARCHING or KHZ_SEARCH_CUT */
    uint32_t searched_from;  /* Newton iterations before this search for a mode */
    int32_t n_fruitless;     /* searches that found none, lately one after the other */
    double cut_time;         /* of the first search for a mode that ended because there were none left */
    uint32_t n_cut;          /* such searches so far */
    int32_t cut_first;       /* block of the first of them */
    double vague_time;       /* of the first solution of a linear system that others would be as well */
    uint32_t n_vague;        /* such solutions so far, between events and at their ends */
    int32_t vague_first;     /* block of the first of them */
    uint32_t n_far;          /* loops of the initial equations that were solved far from their start values */
    int32_t far_first; /* block of the first of them, which unknown of it began out of all proportion, and where */
    int32_t far_unknown;
    double far_guess;
    int32_t may_go_far;  /* not 0: there is no other way left to solve those */
    int32_t vague;       /* block of such a system in the present pass of an event, 0: none */
    int32_t is_settling; /* values are on their way: failures are noted (khz_fail_settled), ... */
    int32_t n_strict;    /* ... but not in loops that try values and see the status, nor in what stays */
    int32_t noted;       /* status of the first failure noted, 0: none; its place and block */
    int32_t noted_place;
    int32_t noted_block;
    int32_t restless;      /* what the last pass of an event changed: position in khz_model.discrete_block */
    int32_t is_open;       /* not 0: the open loops of a step (khz_model.z_place) give residuals and do not iterate */
    int32_t ticks_outside; /* not 0: samples tick when somebody marks them (khz_mark_samples), not at their times */
    int32_t is_again;      /* not 0: further directions of a Jacobian by the same function, at one point */
    uint32_t n_passes;     /* of event iterations so far */
    uint32_t n_detours;    /* loops and matrices that took more than their usual way: see KHZ_STEP_DETOUR */
    struct khz_profile *profile;   /* where the time of a cycle is kept (khz_probe.h); NULL: nobody asks */
    struct khz_profile *timing;    /* the same while a cycle is timed, else NULL */
    struct khz_context *next;      /* of the same profile; NULL: the last */
    const struct khz_model *timed; /* the copy of this model whose blocks and functions are timed; NULL: no profile */
    int32_t first_place;           /* of this model among the places of its thread */
    int32_t n_nested;              /* calls under way of functions that call themselves */
    int32_t n_nested_calls;        /* of those, since the outermost one */
    size_t nested_from;            /* where the stack of the outermost one is */
    size_t arena_used;
    size_t arena_size;
    size_t arena_offset; /* of the arena from the context, in bytes */
    char message[KHZ_MESSAGE_SIZE];
    char noted_message[KHZ_MESSAGE_SIZE];
    khz_said said[KHZ_SAIDS]; /* errors: by who makes steps; the others where they are said */
} khz_context;

/* The block of the failure that is recorded, KHZ_NOWHERE: none is. */
static inline int32_t khz_failed_block(const khz_context *c)
{
    return c->status != KHZ_OK ? c->failed_block : KHZ_NOWHERE;
}

/* Record a failure; the first one stays.  Call from: anywhere.  Allocates: never. */
void khz_fail(khz_context *c, khz_status status, int place, const char *message);

/* Count what the model says; the first of its kind is kept.  Allocates: never. */
void khz_say(khz_context *c, int kind, int place, const char *text);

/* A sample ticks at start + i*interval: a failure where that is no row of instants. */
void khz_check_sample(khz_context *c, int32_t place, double start, double interval);

/* A failure for values that are wrong, or may be still on their way: in a pass of an event or of the initial equations
 * it is noted, and a failure where the last pass has it (khz_settle_failures); at once where n_strict says so. */
void khz_fail_settled(khz_context *c, khz_status status, int place, const char *message);
/* A subscript is not in 1 .. size: likewise. */
void khz_wrong_subscript(khz_context *c, int32_t subscript, int32_t size);
void khz_wrong_sizes(khz_context *c, int32_t size, int32_t other);
/* Fail for what was noted, rather than for what had no solution because of it; forget it. */
khz_status khz_settle_failures(khz_context *c);

/* A block found one of many solutions.  In a pass of an event: counted where the last pass has it (khz_settle_vague).
 */
void khz_note_vague(khz_context *c, int32_t block);
void khz_settle_vague(khz_context *c);

/* Room for n bytes in the arena, aligned; a failure when it is full, NULL where it is smaller than that.  Released by
 * setting arena_used back. */
void *khz_arena(khz_context *c, size_t n);
/* Give back all that was taken since arena_used was `mark` but n arrays of so many bytes, which move down. */
void khz_arena_keep(khz_context *c, size_t mark, int n, void **arrays, const size_t *bytes);

/* An external object is gone: no variable that holds it [n] may hand it to its destructor again. */
void khz_forget(void **objects, int n, const void *gone);

#endif
