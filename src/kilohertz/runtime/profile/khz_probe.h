/* Probes: where the time of a cycle goes, place by place.
 *
 * A place is a part of a cycle: a phase of the stepper, a block of the model, a function, a device.  Places nest; each
 * gets its *own* time, that is, without the places inside it, so that the own times of all places sum to the whole.
 *
 *     KHZ_ENTER(c, place);  ... work ...  KHZ_LEAVE(c, place);          status = KHZ_COPY(c, m)->step(instance);
 *
 * Entering or leaving a place crosses a *border*; a cycle is the stretches between its borders, each of which belongs
 * to the innermost place around it.  Borders of the runtime are *outer* ones.  *Inner* ones, of blocks and functions,
 * are in a second copy of the model, compiled with KHZ_TIMED_COPY; the runtime calls it (KHZ_COPY) where inner borders
 * are timed, else the plain one, which only counts what its loops do.  With KHZ_PROFILE undefined all are nothing: the
 * machine code is that of a program without them.  With it, an outer border costs a comparison and a branch in cycles
 * in which nothing is timed (khz_context.timing is NULL); in others, where its clock is not read, a decrement more.
 *
 * Modes (docs/decisions/0023-what-a-profile-times.md).  BURST reads the clock at every border of every cycle, but for
 * KHZ_PLAIN_RUN cycles in a row out of KHZ_PLAIN_EVERY, which tell what that costs.  ALWAYS reads it at a few borders
 * that follow one another, in a *window* that moves on from cycle to cycle, so seldom that the mean cost stays within
 * its allowance; all else it counts.  So does a burst of a task whose cycle has more borders than its share allows,
 * with a window in every cycle.  A cycle leaves one record, or one of several cycles where that is all the allowance
 * pays for; a slow one always does.  A task puts records in a ring (khz_trace.h) that another thread drains.  Nothing
 * here allocates, locks or calls the system. */
#ifndef KHZ_PROBE_H
#define KHZ_PROBE_H

#include "khz_base.h"
#include "khz_ticks.h"

#if defined(__GNUC__)
#define KHZ_SELDOM __attribute__((cold, noinline))
#define KHZ_QUIET(c) __builtin_expect((c)->timing == NULL, 1)
#else
#define KHZ_SELDOM
#define KHZ_QUIET(c) ((c)->timing == NULL)
#endif

/* Places that every thread has; those of models and devices follow (khz_profile_lay_out). */
enum {
    KHZ_PLACE_CYCLE = 0, /* what is nothing else: the remainder */
    KHZ_PLACE_INPUTS,    /* commands, stimuli, connections */
    KHZ_PLACE_TASKS,     /* which models are due */
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
    KHZ_NO_PLACE = -1,
    KHZ_PROBE_DEPTH = 32,
    KHZ_LOOP_BIT = 1 << 30, /* of a place that is entered: what is called inside it is called inside a loop */
    KHZ_WINDOW = 8,         /* ALWAYS: borders whose clock is read in one cycle, at most */
    KHZ_WINDOW_RUN = 16,    /* ALWAYS: cycles in a row with one; the cycle before warms the timed copies, the one after
                               the plain ones */
    KHZ_WINDOW_ROOM = 64,   /* borders that a record has room for besides all sums */
    KHZ_ALWAYS_NS = 200,    /* ALWAYS may cost so much in a cycle, ... */
    KHZ_ALWAYS_PART = 100,  /* ... and on the mean no more than this part of the usual cycle */
    KHZ_PLAIN_EVERY = 61,   /* of so many cycles; a prime: slower models have their turns by turns, ... */
    KHZ_PLAIN_RUN = 4,      /* ... these go without; the first of them finds the plain copy cold and does not count */
    KHZ_RAREST_RECORD = 64, /* ALWAYS: one cycle out of so many leaves a record at least, ... */
    KHZ_BURST_PART = 50,    /* BURST, of a task: no more than this part of a usual cycle ... */
    KHZ_BURST_NS = 10000    /* ... that takes so long; with more borders than that allows, a window goes over them */
};

/* What a place took in one cycle.  ALWAYS: of loops, events and devices only. */
typedef struct khz_place_sum {
    int32_t place;
    uint32_t ticks;      /* own time; ALWAYS: of a device where there are several, else 0 */
    uint16_t calls;      /* saturated at 65535 */
    uint16_t inside;     /* probes directly inside, saturated: their cost is taken off */
    uint16_t turns;      /* of mixed loops, saturated */
    uint16_t caps;       /* that were hit, saturated */
    uint32_t iterations; /* own Newton iterations of a loop, own passes of an event */
    uint32_t looped;     /* of its calls those inside a loop; counted in a burst */
    float residual;      /* of a loop: the largest that it ended with */
} khz_place_sum;

/* ALWAYS: a border whose clock was read. */
typedef struct khz_border {
    int32_t left, entered; /* places, KHZ_NO_PLACE: none */
    uint32_t ticks;        /* low half of the clock */
} khz_border;

/* The head of a record; n_sums sums, n_borders borders and the seal follow: the low half of its cycle once more. */
typedef struct khz_cycle_record {
    uint64_t cycle;
    int64_t release_ns, woke_ns, ended_ns; /* CLOCK_MONOTONIC */
    int64_t delayed_ns;                    /* its thread was ready, and others had its processor: see switches */
    uint64_t began;                        /* in ticks; BURST */
    uint32_t ticks;                        /* the whole cycle; BURST */
    uint32_t began_ns;                     /* readings that a cycle makes anyhow, from woke_ns on: devices are asked, */
    uint32_t received_ns;                  /* have answered, */
    uint32_t stepped_ns;                   /* models were stepped, */
    uint32_t sent_ns;                      /* devices were told */
    uint32_t accounted_ns;                 /* from ended_ns of the cycle before on: its accounting was over */
    uint32_t flags;                        /* KHZ_STEP_* of all its steps */
    uint16_t mode;                         /* BURST: all places were timed; ALWAYS: some, or none */
    uint16_t n_borders;                    /* that follow */
    uint32_t n_sums;
    uint32_t crossed; /* outer borders of this cycle */
    uint32_t every;   /* this is the record of one out of so many cycles; 0: it is there because it was slow */
    uint32_t is_warm; /* its copies of the models are those of the cycle before */
    uint32_t window;  /* ALWAYS: borders that its window has room for; 0: this cycle has none */
    uint32_t first, first_inner; /* where the window begins: outer borders before it, then inner ones after those; */
    uint32_t next, next_inner;   /* ... and the one after it; 0, 0: this one went to the end of a cycle */
    uint32_t untimed;            /* deeper than KHZ_PROBE_DEPTH: not timed, their time is the parent's */
    uint32_t switches; /* times its thread was taken off the processor since the record before; entered by a reader */
    uint32_t faults;   /* page faults of its thread since then; likewise */
} khz_cycle_record;

/* Counters of a khz_context, and how far they belong to a loop that was solved inside the present one. */
typedef struct khz_probe_counts {
    uint32_t iterations, turns, caps;
} khz_probe_counts;

/* A place that is open in a burst. */
typedef struct khz_probe_frame {
    int32_t place;
    uint32_t probes;
    uint64_t began, inside; /* ticks: when it was entered, and what places inside it took */
    int32_t n_loops;        /* around it, and itself */
} khz_probe_frame;

/* What was calibrated before the first cycle, in nanoseconds. */
typedef struct khz_probe_costs {
    double probe_ns;        /* BURST: one KHZ_ENTER and KHZ_LEAVE */
    double probe_inside_ns; /* of it what falls inside the place; the rest falls into the place around it */
    double cycle_ns;        /* BURST: what is left of an empty cycle besides its probes */
    double border_ns;       /* ALWAYS: a border whose clock is read */
    double passed_ns;       /* one in a cycle in which nothing is timed */
    double empty_ns;        /* ALWAYS: begin, end and record of a cycle with nothing in it */
    double idle_ns;         /* the same without the record */
    double monotonic_ns;    /* a reading of CLOCK_MONOTONIC, as the task makes them */
} khz_probe_costs;

/* Followed by slots [n_places], the sums and the borders of this cycle; no pointers into itself. */
typedef struct khz_profile {
    khz_context *contexts; /* of the models and of the thread whose cycles these are */
    int32_t is_timing;     /* their `timing` is this profile */
    int32_t until;         /* outer borders until the clock is read at the next; below 0: it is read */
    int32_t until_inner;   /* the same of inner ones */
    int32_t runs_timed;    /* models run their timed copies */
    int32_t is_counting;   /* loops are counted: not off */
    int32_t mode, wanted;  /* wanted: the mode from the next cycle on, set by another thread */
    int32_t is_burst;      /* whether all places are timed in this cycle */
    int32_t from;          /* `until` at the last time that it was set */
    uint32_t crossed;      /* outer borders before that */
    int32_t n_borders, n_sums;
    int32_t depth, n_open;          /* places; loops, with those beyond KHZ_PROBE_DEPTH */
    uint32_t n_counted;             /* loops of this cycle that were */
    int32_t has_window;             /* this cycle has one, ... */
    uint32_t to_window, to_run;     /* ... or one after so many will, in ALWAYS; the same while another mode is on */
    int32_t run;                    /* ALWAYS: what is left of a run of windows, with one cycle on either side */
    double run_ns, run_cost_ns;     /* what this run took beyond usual cycles so far; what runs usually do */
    int32_t window, narrow;         /* borders in it, or in the next; ALWAYS */
    uint32_t position, inner;       /* where it begins: outer borders before it, then inner ones after those */
    uint32_t first, first_inner;    /* of this cycle's */
    uint32_t inner_now;             /* inner borders since the outer one before, in a window */
    uint32_t n_missed;              /* cycles in a row that ended before its begin */
    uint32_t last, last_inner;      /* outer borders of the last cycle with a record; inner ones, in a burst */
    uint32_t n_inner;               /* so far in this one */
    uint32_t every, to_record;      /* ALWAYS: of so many cycles one leaves a record; cycles until it does */
    int32_t is_regular;             /* the record of this cycle is that one */
    int32_t is_quiet;               /* ALWAYS: nothing of this cycle is timed, nor was it of the one before */
    int32_t is_warm, has_run_timed; /* models ran the same copy in the cycle before; it was the timed one */
    int32_t is_bounded;             /* BURST: the share of a cycle that it may cost is kept, ... */
    int32_t is_wide;                /* ... by windows */
    double fit, beside_ns;          /* borders of a cycle that it pays for; what the last cycles with some took more */
    uint32_t plain;                 /* cycles since some went without for sure */
    uint32_t untimed;
    double usual_ns, stride; /* the median cycle so far; of the walk to it */
    double slow_ns;          /* a cycle that took longer leaves a record */
    double accounted_ns;     /* what the cycle before took after its end, with its record; 0: not known */
    double residual;         /* that the last Newton iteration ended with */
    khz_ticks clock;
    khz_probe_costs costs;
    int32_t n_places, most_borders;    /* of one window */
    size_t slots, sums, borders, size; /* offsets from the profile, in bytes */
    uint64_t cycle;
    khz_probe_counts claimed;                 /* of the counters what loops inside the present one had */
    khz_probe_counts opened[KHZ_PROBE_DEPTH]; /* what was counted, and not claimed, when each began */
    khz_probe_frame frame[KHZ_PROBE_DEPTH];
} khz_profile;

/* Bytes of a profile of n places, and of the longest record of it; multiples of 64. */
size_t khz_profile_size(int32_t n_places);
size_t khz_profile_record_size(int32_t n_places);
/* Prepare memory of khz_profile_size bytes and calibrate.  Call before the first cycle. */
void khz_profile_init(khz_profile *p, int32_t n_places, int mode, int is_bounded);
/* Cycles of this context are timed. */
void khz_profile_attach(khz_profile *p, khz_context *c);
/* A cycle begins, and with it its first place (KHZ_PLACE_CYCLE: none).  Takes over a mode that was asked for. */
void khz_profile_begin(khz_profile *p, uint64_t cycle, int32_t first);
/* It ends, and with it its last place: its record goes to a row of khz_profile_record_size bytes, NULL: to nowhere. The
 * head of the record, for the times of the cycle; NULL where there is none. */
khz_cycle_record *khz_profile_end(khz_profile *p, void *row, int32_t last);
/* Bytes of a record that mean something. */
size_t khz_record_used(const khz_cycle_record *r);
/* What a cycle took, so that the allowance fits it. */
void khz_profile_weigh(khz_profile *p, double ns);
/* The sum of a place in this cycle: a new one where there was none. */
khz_place_sum *khz_profile_sum(khz_profile *p, int32_t place);
/* The borders of this cycle whose clock was read. */
khz_border *khz_profile_borders(khz_profile *p);

/* Whether the cycle that ends is over without more: nothing is kept of it but that it was.  Else the three of the next
 * lines are called. */
static inline int khz_profile_is_over(khz_profile *p, double ns, int is_missed)
{
    if (p->is_quiet != 0 && p->to_record > 0 && ns <= p->slow_ns && !is_missed) {
        p->to_record--;
        return 1;
    }
    return p->mode == KHZ_PROFILE_OFF;
}

/* Whether the cycle that ends leaves a record: every one of a burst, always on some; `is_missed`: its deadline. */
int khz_profile_is_due(khz_profile *p, double ns, int is_missed);

/* A border whose clock is read: an outer one, an inner one.  Seldom: what calls them is laid out for the other case. */
KHZ_SELDOM void khz_probe_cross(khz_profile *p, int32_t left, int32_t entered);
KHZ_SELDOM void khz_probe_cross_inner(khz_profile *p, int32_t left, int32_t entered);
/* A loop is solved; it was: iterations, turns, caps and residual are its own. */
void khz_probe_opens(const khz_context *c);
void khz_probe_solved(const khz_context *c, int32_t place);
/* The residual f [n] that an iteration ended with. */
void khz_probe_note(khz_profile *p, int n, const khz_real *f);
void khz_probe_count(khz_profile *p, int32_t place, uint32_t iterations);
/* BURST: a place was entered whose clock is not read. */
void khz_probe_touched(khz_profile *p, int32_t place);

#ifdef KHZ_PROFILE
static inline int32_t khz_probe_place(const khz_context *c, int32_t place)
{
    return place == KHZ_NO_PLACE ? place : c->first_place + place;
}

static inline void khz_probe_border(const khz_context *c, int32_t left, int32_t entered)
{
    khz_profile *const p = c->timing;
    if (p != NULL && --p->until < 0) {
        khz_probe_cross(p, khz_probe_place(c, left), khz_probe_place(c, entered));
    }
}

static inline const struct khz_model *khz_probe_copy(const khz_context *c, const struct khz_model *plain)
{
    return c->timing != NULL && c->timing->runs_timed != 0 ? c->timed : plain;
}

static inline void khz_probe_loop_begins(const khz_context *c)
{
    if (c->profile != NULL && c->profile->is_counting != 0) {
        khz_probe_opens(c);
    }
}

static inline khz_status khz_probe_loop_ends(const khz_context *c, int32_t place, khz_status status)
{
    if (c->profile != NULL && c->profile->is_counting != 0) {
        khz_probe_solved(c, place);
    }
    return status;
}

#define KHZ_ENTER(c, place) khz_probe_border((c), KHZ_NO_PLACE, (place))
#define KHZ_LEAVE(c, place) khz_probe_border((c), (place), KHZ_NO_PLACE)
/* A statement that is all of a place.  Where nothing is timed it stands alone: one comparison for both borders, and
 * nothing to keep for the second one. */
#define KHZ_WITHIN(c, place, statement)                                                                                \
    do {                                                                                                               \
        if (KHZ_QUIET(c)) {                                                                                            \
            statement;                                                                                                 \
        } else {                                                                                                       \
            KHZ_ENTER((c), (place));                                                                                   \
            statement;                                                                                                 \
            KHZ_LEAVE((c), (place));                                                                                   \
        }                                                                                                              \
    } while (0)
/* From one place to the next: one border, nothing between them. */
#define KHZ_NEXT(c, place, next) khz_probe_border((c), (place), (next))
/* The copy of a model that is to be called now. */
#define KHZ_COPY(c, model) khz_probe_copy((c), (model))
/* The residual f [n] that an iteration ends with; iterations that a place made. */
#define KHZ_RESIDUAL(c, n, f)                                                                                          \
    ((c)->profile != NULL && (c)->profile->is_counting != 0 ? khz_probe_note((c)->profile, (n), (f)) : (void)0)
#define KHZ_COUNT(c, place, n)                                                                                         \
    ((c)->profile != NULL && (c)->profile->is_counting != 0                                                            \
         ? khz_probe_count((c)->profile, (c)->first_place + (place), (uint32_t)(n))                                    \
         : (void)0)
/* A call that gives a status and is evaluated before its end is noted: of a loop that iterates. */
#define KHZ_COUNTED(c, place, call) (khz_probe_loop_begins(c), khz_probe_loop_ends((c), (place), (call)))
#else
#define KHZ_ENTER(c, place) ((void)0)
#define KHZ_LEAVE(c, place) ((void)0)
#define KHZ_WITHIN(c, place, statement)                                                                                \
    do {                                                                                                               \
        (void)(c);                                                                                                     \
        statement;                                                                                                     \
    } while (0)
#define KHZ_NEXT(c, place, next) ((void)0)
#define KHZ_COPY(c, model) ((void)(c), (model))
#define KHZ_RESIDUAL(c, n, f) ((void)0)
#define KHZ_COUNT(c, place, n) ((void)0)
#define KHZ_COUNTED(c, place, call) (call)
#endif

/* In generated code: a function begins, and ends; a call of a block, of a linear loop, of one that iterates. */
#if defined(KHZ_PROFILE) && defined(KHZ_TIMED_COPY)
static inline void khz_probe_border_inner(const khz_context *c, int32_t left, int32_t entered)
{
    khz_profile *const p = c->timing;
    if (p != NULL && --p->until_inner < 0) {
        khz_probe_cross_inner(p, khz_probe_place(c, left), khz_probe_place(c, entered));
    }
}

static inline khz_status khz_probe_left_inner(const khz_context *c, int32_t place, khz_status status)
{
    khz_probe_border_inner(c, place, KHZ_NO_PLACE);
    return status;
}

static inline void khz_probe_touch(const khz_context *c, int32_t place)
{
    if (c->timing != NULL && c->timing->is_burst != 0) {
        khz_probe_touched(c->timing, c->first_place + place);
    }
}

/* A function begins that is too short for a clock: its calls are counted. */
#define KHZ_TOUCHED(c, place) khz_probe_touch((c), (place))
#define KHZ_CALLED(c, place) khz_probe_border_inner((c), KHZ_NO_PLACE, (place))
#define KHZ_RETURNS(c, place) khz_probe_border_inner((c), (place), KHZ_NO_PLACE)
#define KHZ_TIMED(c, place, call) (KHZ_CALLED((c), (place)), khz_probe_left_inner((c), (place), (call)))
#define KHZ_SOLVED(c, place, call) (KHZ_CALLED((c), (place) | KHZ_LOOP_BIT), khz_probe_left_inner((c), (place), (call)))
#define KHZ_ITERATED(c, place, call) KHZ_SOLVED((c), (place), KHZ_COUNTED((c), (place), (call)))
#else
#define KHZ_TOUCHED(c, place) ((void)0)
#define KHZ_CALLED(c, place) ((void)0)
#define KHZ_RETURNS(c, place) ((void)0)
#define KHZ_TIMED(c, place, call) (call)
#define KHZ_SOLVED(c, place, call) (call)
#define KHZ_ITERATED(c, place, call) KHZ_COUNTED((c), (place), (call))
#endif

#endif
