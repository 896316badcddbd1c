/* Probes: where the time of a cycle goes, place by place.
 *
 * A place is a part of a cycle: a phase of the stepper, a block of the model, a function, a device.  Places nest; each
 * gets its *own* time, that is, without the places inside it, so that the own times of all places sum to the whole.
 *
 *     KHZ_ENTER(c, place);  ... work ...  KHZ_LEAVE(c, place);          status = KHZ_TIMED(c, place, compute(z));
 *
 * A loop (KHZ_SOLVED) also notes its residual, and what is called meanwhile counts as called inside a loop.
 *
 * With KHZ_PROFILE undefined all are nothing: the machine code is that of a program without them.  With it, a place
 * that is not timed now costs two loads and two branches.
 *
 * Modes.  BURST times every place in every cycle.  ALWAYS times the first n_always places (those of the cycle and of
 * its devices) in every cycle, and all places in one cycle out of so many that the mean cost stays below a budget.  A
 * cycle leaves one record of fixed size; a task puts it in a ring (khz_trace.h) that another thread drains.  Nothing
 * here allocates, locks or calls the system. */
#ifndef KHZ_PROBE_H
#define KHZ_PROBE_H

#include "khz_base.h"
#include "khz_ticks.h"

/* Places that every thread has; those of models and devices follow (khz_profile_lay_out). */
enum {
    KHZ_PLACE_CYCLE = 0, /* what is nothing else: the remainder */
    KHZ_PLACE_INPUTS,    /* stimuli, connections */
    KHZ_PLACE_OUTPUTS,
    KHZ_PLACE_RECORDER,
    KHZ_PLACE_LIVE, /* live values, accounting */
    KHZ_PLACES_OF_CYCLE
};

/* Places that every model has, before its blocks and functions. */
enum {
    KHZ_PLACE_STEP = 0, /* the stepper outside all of the following */
    KHZ_PLACE_STAGE,    /* a right-hand side or stage outside its blocks */
    KHZ_PLACE_JACOBIAN,
    KHZ_PLACE_FACTOR,
    KHZ_PLACE_SOLVE,
    KHZ_PLACE_EVENT,    /* event iteration outside its blocks */
    KHZ_PLACE_CROSSING, /* crossing functions, location of events */
    KHZ_PLACE_OUTPUT,   /* what is computed for outputs and the recorder alone */
    KHZ_PLACES_OF_MODEL
};

enum { KHZ_PROFILE_OFF = 0, KHZ_PROFILE_ALWAYS = 1, KHZ_PROFILE_BURST = 2 };
enum {
    KHZ_PROBE_DEPTH = 32,
    KHZ_PROBE_BUDGET_NS = 50, /* ALWAYS: what cycles that are timed whole may cost, spread over all */
    KHZ_PROBE_LEAST = 16      /* ALWAYS: at most one cycle out of so many is timed whole */
};

/* What a place took in one cycle. */
typedef struct khz_place_sum {
    uint32_t ticks;      /* own time */
    uint16_t calls;      /* saturated at 65535 */
    uint16_t inside;     /* probes directly inside, saturated: their cost is taken off */
    uint32_t iterations; /* own Newton iterations of a loop, own passes of an event */
    uint16_t turns;      /* of mixed loops, saturated */
    uint16_t caps;       /* that were hit, saturated */
    uint32_t looped;     /* of its calls those inside a loop */
    float residual;      /* of a loop: the largest that it ended with */
} khz_place_sum;

/* The head of a record; n_places sums follow. */
typedef struct khz_cycle_record {
    uint64_t cycle;
    int64_t release_ns, woke_ns, ended_ns; /* CLOCK_MONOTONIC */
    int64_t delayed_ns;                    /* its thread was ready, and others had its processor: see switches */
    uint64_t began;                        /* in ticks */
    uint32_t ticks;                        /* the whole cycle */
    uint32_t flags;                        /* KHZ_STEP_* of all its steps */
    uint16_t mode;                         /* BURST: all places were timed; ALWAYS: the first n_always */
    uint16_t n_always;
    uint32_t timed;     /* how many probes were timed: what the profile itself cost */
    uint32_t untimed;   /* deeper than KHZ_PROBE_DEPTH: not timed, their time is the parent's */
    uint32_t processor; /* it ran on, at its end */
    uint32_t switches;  /* times its thread was taken off the processor since the record before; entered by a reader */
    uint32_t faults;    /* page faults of its thread since then; likewise */
} khz_cycle_record;

/* Counters of a khz_context when a place is entered or left. */
typedef struct khz_probe_counts {
    uint32_t iterations, turns, caps;
} khz_probe_counts;

typedef struct khz_probe_frame {
    int32_t place;
    uint32_t probes;
    uint64_t began, inside;        /* ticks: when it was entered, and what places inside it took */
    khz_probe_counts first, below; /* counters when it was entered; what places inside it counted */
} khz_probe_frame;

/* Plain data followed by is_timed [n_places] and the record of this cycle; no pointers. */
typedef struct khz_profile {
    khz_ticks clock;
    int32_t n_places, n_always;
    int32_t mode, wanted;    /* wanted: the mode from the next cycle on, set by another thread */
    int32_t depth, is_whole; /* whether all places are timed in this cycle */
    uint32_t until_whole;    /* ALWAYS: cycles until the next one that is timed whole */
    uint32_t timed, untimed;
    int32_t n_loops;         /* that are being solved */
    double residual;         /* that the last Newton iteration ended with */
    size_t is_timed, record; /* offsets from the profile, in bytes */
    size_t size;
    double probe_ns;        /* calibrated: one KHZ_ENTER and KHZ_LEAVE that are timed */
    double probe_inside_ns; /* of it what falls inside the place; the rest falls into the place around it */
    double cycle_ns;        /* a cycle with one place and nothing in it: what is left of it besides that probe */
    khz_probe_frame frame[KHZ_PROBE_DEPTH];
} khz_profile;

/* Bytes of a profile of n places, and of one record of it; multiples of 64 and 8. */
size_t khz_profile_size(int32_t n_places);
size_t khz_profile_record_size(int32_t n_places);
/* Prepare memory of khz_profile_size bytes and calibrate.  Call before the first cycle. */
void khz_profile_init(khz_profile *p, int32_t n_places, int32_t n_always, int mode);
/* A cycle begins.  Takes over a mode that was asked for. */
void khz_profile_begin(khz_profile *p, uint64_t cycle);
/* It ends: the record is complete until the next begin. */
khz_cycle_record *khz_profile_end(khz_profile *p);
/* Bytes of a record that this cycle has: those of ALWAYS end with the places that it times. */
static inline size_t khz_record_used(const khz_cycle_record *r, size_t size)
{
    const size_t head = sizeof(khz_cycle_record) + (size_t)r->n_always * sizeof(khz_place_sum);
    return r->mode == KHZ_PROFILE_BURST ? size : head;
}
static inline unsigned char *khz_profile_timed(khz_profile *p) { return (unsigned char *)p + p->is_timed; }
static inline khz_place_sum *khz_profile_sums(khz_profile *p)
{
    return (khz_place_sum *)(void *)((char *)p + p->record + sizeof(khz_cycle_record));
}

void khz_probe_open(khz_profile *p, int32_t place, khz_probe_counts now);
void khz_probe_close(khz_profile *p, int32_t place, khz_probe_counts now);
/* A loop was solved: what is called from now on is outside it; where it is timed its residual is kept. */
void khz_probe_settle(khz_profile *p, int32_t place);
/* The residual f [n] that an iteration ended with. */
void khz_probe_note(khz_profile *p, int n, const double *f);

#ifdef KHZ_PROFILE
static inline khz_probe_counts khz_probe_read(const khz_context *c)
{
    return (khz_probe_counts){c->n_iterations + c->n_passes, c->n_mixed, c->n_caps};
}

static inline void khz_probe_enter(const khz_context *c, int32_t place)
{
    if (c->profile != NULL && khz_profile_timed(c->profile)[c->first_place + place] != 0) {
        khz_probe_open(c->profile, c->first_place + place, khz_probe_read(c));
    }
}

static inline void khz_probe_leave(const khz_context *c, int32_t place)
{
    if (c->profile != NULL && khz_profile_timed(c->profile)[c->first_place + place] != 0) {
        khz_probe_close(c->profile, c->first_place + place, khz_probe_read(c));
    }
}

static inline khz_status khz_probe_left(const khz_context *c, int32_t place, khz_status status)
{
    khz_probe_leave(c, place);
    return status;
}

static inline void khz_probe_enter_loop(const khz_context *c, int32_t place)
{
    khz_probe_enter(c, place);
    if (c->profile != NULL) {
        c->profile->n_loops++;
        c->profile->residual = 0.0;
    }
}

static inline khz_status khz_probe_left_loop(const khz_context *c, int32_t place, khz_status status)
{
    if (c->profile != NULL) {
        khz_probe_settle(c->profile, c->first_place + place);
    }
    khz_probe_leave(c, place);
    return status;
}

static inline void khz_probe_residual(const khz_context *c, int n, const double *f)
{
    if (c->profile != NULL) {
        khz_probe_note(c->profile, n, f);
    }
}

#define KHZ_ENTER(c, place) khz_probe_enter((c), (place))
#define KHZ_LEAVE(c, place) khz_probe_leave((c), (place))
/* A call that gives a status; the call is evaluated before khz_probe_left is entered. */
#define KHZ_TIMED(c, place, call) (khz_probe_enter((c), (place)), khz_probe_left((c), (place), (call)))
#define KHZ_SOLVED(c, place, call) (khz_probe_enter_loop((c), (place)), khz_probe_left_loop((c), (place), (call)))
/* The residual f [n] that an iteration ends with. */
#define KHZ_RESIDUAL(c, n, f) khz_probe_residual((c), (n), (f))
#else
#define KHZ_ENTER(c, place) ((void)0)
#define KHZ_LEAVE(c, place) ((void)0)
#define KHZ_TIMED(c, place, call) (call)
#define KHZ_SOLVED(c, place, call) (call)
#define KHZ_RESIDUAL(c, n, f) ((void)0)
#endif

#endif
