/* A real-time thread: tasks (models) that are stepped at a fixed rate between inputs and outputs.
 *
 * A rig is all that a scenario holds; a thread of it steps its tasks one after the other, on one core.  Most rigs
 * have one thread.  Several threads have periods that are whole multiples of the base period, common instants (tick 0
 * of all is the same), and exchange values by stamped messages (khz_exchange.h) that nobody waits for.
 *
 * One cycle of a thread, at its step s (model time start + s*period):
 *   1. wake at the release, an absolute instant of CLOCK_MONOTONIC;
 *   2. at most one command of the mailbox, in all threads at the same tick;
 *   3. inputs: stimuli, devices (receive), connections, for every task whose own period begins now;
 *   4. steps, in the order of the scenario, of every task whose period ends with this cycle; a task with `every` = k is
 *      stepped once in k cycles, by k periods, with the inputs of the first of them: what it shows is never ahead
 *      of time;
 *   5. outputs: messages to other threads, devices (send); a row for the recorder; live values; accounting; what the
 *      policy says about a miss.
 *
 * Exchange order `parallel`: all connections are read at 3, so every task sees the others at the same instant.
 * `sequential`: a connection from a task that stands earlier in the order and has the same rate is read just before the
 * step, and so sees the values of the end of this cycle.  Between threads the exchange is always parallel. */
#ifndef KHZ_TASK_H
#define KHZ_TASK_H

#include <pthread.h>
#include <stdatomic.h>

#include "khz_account.h"
#include "khz_exchange.h"
#include "khz_formula.h"
#include "khz_live.h"
#include "khz_merge.h"
#include "khz_ports.h"
#include "khz_recorder.h"
#include "khz_scenario.h"
#include "khz_signal.h"
#include "khz_stepper.h"
#include "khz_stimulus.h"
#include "khz_trace.h"

/* A model as the generated `linked.c` lists it. */
typedef struct khz_linked_model {
    const char *name;
    const khz_model *(*model)(void);
    const khz_model *(*timed)(void); /* its timed copy (khz_probe.h); NULL: built without */
    const khz_signal *signals;
    int32_t n_signals;
    int32_t n_objects;    /* external objects: its parameters cannot be set while it runs */
    int32_t n_hidden;     /* external functions that may remember something: a snapshot cannot hold it */
    const khz_made *made; /* a step of its own, or why it has none; NULL: it was linked without */
} khz_linked_model;

extern const khz_linked_model khz_linked_models[];
extern const int32_t khz_n_linked_models;

typedef struct khz_rig khz_rig;
typedef struct khz_thread khz_thread;

/* A model being stepped. */
typedef struct khz_task {
    khz_thread *thread; /* that steps it */
    int32_t named;      /* number of the thread that the scenario names; the same unless all are run by one */
    const char *name;
    const khz_linked_model *linked;
    khz_stepper *stepper;
    uint32_t (*step)(khz_stepper *s);
    void *instance;
    void *snapshot;
    size_t size;          /* of the stepper */
    size_t kept;          /* what a snapshot copies of it: not the arena, which is empty between steps */
    int64_t every;        /* in periods of its thread */
    int32_t is_read;      /* views of it are, in every cycle: by connections, devices, faults */
    int32_t is_recorded;  /* views of it are */
    int32_t first_signal; /* its first one among all signals of the rig */
    int32_t next_signal;  /* where a search for a name begins: names mostly come in the table's order */
    uint64_t flags_seen;  /* steps with a flag that tells of trouble */
    khz_histogram compute;
} khz_task;

/* A signal of a task. */
typedef struct khz_binding {
    khz_task *task;
    const khz_signal *signal;
} khz_binding;

/* What has been seen of a signal that is passed on. */
typedef struct khz_seen {
    double last, before; /* values at the last two ends of the source's period */
    uint64_t steps;      /* of the source when `last` was taken */
} khz_seen;

/* A signal in the messages of a thread: its value, the one at the end of the task's period before, and its age. */
typedef struct khz_outgoing {
    khz_binding from;
    khz_seen seen, kept; /* kept: with the snapshot */
} khz_outgoing;
enum { KHZ_MESSAGE_VALUE = 0, KHZ_MESSAGE_BEFORE, KHZ_MESSAGE_AGE, KHZ_MESSAGE_PARTS };

typedef struct khz_connection {
    khz_binding from, to;
    khz_link *link; /* to the thread of the source; NULL: it is the same */
    int32_t place;  /* among the signals of the link's messages */
    int32_t late;   /* read just before the step of `to` */
    int32_t linear; /* extrapolated from the last two values of a slower task */
    double gain, offset;
    khz_seen seen, kept; /* kept: with the snapshot */
    double residual;     /* what `to` lacks of its value while values settle */
} khz_connection;

/* Columns of a stimulus file or formulas, and the inputs they drive. */
typedef struct khz_playback {
    khz_thread *thread;
    khz_stimulus stimulus; /* without rows: formulas */
    khz_formula *formulas; /* [n] */
    khz_binding *targets;  /* [n] */
    double *values;        /* [n] */
    int32_t n;
} khz_playback;

typedef struct khz_wire {
    khz_thread *thread;
    int32_t is_open;
    khz_device_config config;
    khz_port *port;
    khz_binding *in, *out;
    double *inputs, *outputs;
    int32_t n_in, n_out;
    int32_t is_lost;
} khz_wire;

/* A fault and the signal it is on. */
typedef struct khz_tap {
    khz_fault *fault; /* in the live segment */
    khz_fault kept;   /* with the snapshot, and so is the line */
    khz_binding signal, trigger;
    double *line, *kept_line; /* [n_room] of a delay */
    int32_t n_room;
    int32_t is_late; /* the input is set just before the step */
} khz_tap;

enum { KHZ_POLICY_CATCH_UP = 0, KHZ_POLICY_SKIP, KHZ_POLICY_HOLD, KHZ_POLICY_SAFE, KHZ_POLICY_STOP, KHZ_POLICIES };

/* A setting of the system: what was asked for, and what came of it. */
typedef struct khz_grant {
    const char *name;
    int32_t is_granted; /* 1 granted, 0 refused, -1 not asked for */
    char word[160];
} khz_grant;
enum {
    KHZ_GRANT_AFFINITY = 0,
    KHZ_GRANT_PRIORITY,
    KHZ_GRANT_LOCKED,
    KHZ_GRANT_LATENCY,
    KHZ_GRANT_FLUSH,
    KHZ_GRANT_LIVE,
    KHZ_GRANTS
};

/* Why a run is over. */
enum {
    KHZ_END_NONE = 0,
    KHZ_END_DURATION,
    KHZ_END_COMMAND,
    KHZ_END_SIGNAL,
    KHZ_END_TERMINATED,
    KHZ_END_MISS,
    KHZ_END_LINK,
    KHZ_END_STALL,
    KHZ_END_MODEL,
    KHZ_END_LOST,
    KHZ_END_STUCK,
    KHZ_END_ALONE,
    KHZ_END_CRASH,
    KHZ_ENDS
};
extern const char *const khz_end_texts[KHZ_ENDS];

enum { KHZ_CRASH_NONE = 0, KHZ_CRASH_EXIT = -1 }; /* else the number of a signal */

enum { KHZ_RECORDED_TIMES = 4, KHZ_MOST_THREADS = 64 /* and processes */, KHZ_MOST_TURNS = 1000 /* of `iterate` */ };

/* What a loop is doing: nothing that could last, or the part of its cycle. */
enum { KHZ_AT_REST = 0, KHZ_AT_INPUTS, KHZ_AT_STEP, KHZ_AT_OUTPUTS, KHZ_STAGES };

/* One real-time thread. */
struct khz_thread {
    khz_rig *rig;
    const char *name;
    int32_t index, process; /* among the threads; the process it runs in, 0: the first */
    int64_t cpu, priority;
    int64_t every;      /* its period in base periods */
    int64_t period_ns;  /* model time */
    uint64_t n_cycles;  /* 0: until told to stop */
    int32_t is_started; /* it has a thread */
    int32_t is_idle;    /* the duration is shorter than its period: nothing to do */
    uint64_t grace;
    int32_t policy;
    uint64_t recover; /* punctual cycles after which safe outputs end; 0: never */
    int64_t spin_ns;
    int64_t patience_ns; /* how long after its release a cycle waits for late messages; 0: not at all */
    int32_t stop_on_failure;
    int32_t is_isolated;            /* its system calls are filtered (khz_isolate.h) */
    uint64_t slow_step, slow_every; /* planted fault: from this step on, every so many */
    int64_t slow_ns;
    /* parts: those of the rig that are its own */
    khz_task **tasks;
    khz_connection **connections;
    khz_playback **playbacks;
    khz_wire **wires;
    int32_t *signals;     /* numbers in the rig */
    khz_binding *columns; /* recorded ones, without time */
    int32_t n_tasks, n_connections, n_playbacks, n_wires, n_signals, n_columns;
    khz_tap *taps;           /* faults of its signals: of the scenario, then places for those given live */
    int32_t n_taps, n_armed; /* armed: they wait or are active */
    uint64_t n_planted;      /* live so far */
    khz_ring *ring;          /* for rows; NULL: nothing is recorded */
    khz_link *links;
    int32_t n_links;
    khz_outbox outbox;
    khz_outgoing *outgoing; /* signals of a message */
    int32_t n_outgoing;
    double *message, *kept_message; /* the latest; with the snapshot */
    khz_lane *lane;                 /* in the live segment */
    khz_account *account;
    khz_grant grants[KHZ_GRANTS];
    double last_times[KHZ_RECORDED_TIMES]; /* seconds: lateness, compute, slack; messages */
    uint64_t messages;                     /* that came from devices in this cycle */
    /* the loop's own */
    int64_t base_ns; /* instant of tick 0 */
    uint64_t tick, step;
    uint64_t turn;    /* its periods that are over without pauses: steps and what was skipped */
    uint64_t to_step; /* steps until the next pause; 0 while running */
    uint64_t sit_out; /* ticks to let go by until all threads have gone back to the snapshot */
    int32_t is_paused, stop_now, has_snapshot;
    uint64_t snapshot_step;
    uint64_t rounds; /* times it went back to the snapshot */
    uint64_t obeyed; /* number of the last order */
    int32_t safe_now;
    uint64_t punctual;
    int64_t accounting_ns;        /* after the end of the cycle before: its accounting and policy */
    int64_t live_next;            /* next signal to be copied */
    int32_t is_attended;          /* somebody reads live values in this cycle */
    int32_t is_asked;             /* somebody has come who does */
    uint32_t asked_seen;          /* the last one who did */
    int64_t switches, faults;     /* of the thread while it ran */
    int64_t processor_ns;         /* that it had of its processor */
    int64_t began_ns, ended_ns;   /* monotonic */
    _Atomic int64_t progress;     /* ticks that are over, in base periods; INT64_MAX at the end */
    _Atomic int32_t ended;        /* KHZ_END_*, set by the loop when it is over */
    _Atomic int32_t stage;        /* KHZ_AT_* */
    int32_t task;                 /* being stepped, or the last one: of its own tasks */
    _Atomic int32_t is_condemned; /* by the watchdog: its cycle does not end */
    _Atomic int32_t is_parked;    /* its thread was stopped for good */
    int32_t crash;                /* what broke it: KHZ_CRASH_*, or a signal */
    int32_t refused;              /* number of the system call that the filter refused, + 1; 0: none */
    uint64_t address;             /* program counter at that, 0: not known */
    khz_trace *trace;             /* where its cycles are timed; NULL: nobody asks */
    khz_context probes;           /* of its own places: no model's counters */
    uint32_t flags;               /* KHZ_STEP_* of all steps of this cycle */
    uint64_t exchange;            /* ticks: the exchange with a device begins; 0: not wanted */
    pthread_t handle, main_thread;
};

/* Model time since the start that it has computed. */
static inline double khz_thread_seconds(const khz_thread *k) { return (double)((int64_t)k->step * k->period_ns) / 1e9; }

/* Whether it was stopped in a step: its models are in the middle of something, and the system's thread never ends. */
static inline int khz_thread_is_lost(const khz_thread *k)
{
    const int32_t ended = atomic_load(&k->ended);
    return ended == KHZ_END_STUCK || ended == KHZ_END_CRASH;
}

/* Readings of the clock in a cycle, in the order of time. */
typedef struct khz_cycle_times {
    int64_t release, woke, began, received, stepped, sent, ended;
    int64_t given;    /* of the processor's time to this thread, before the cycle slept */
    int32_t was_over; /* the release was over before the cycle could sleep */
} khz_cycle_times;

/* A command that all threads obey at the same tick. */
typedef struct khz_order {
    _Atomic uint64_t number; /* 0: there was none */
    int32_t command, index;
    double value;
    khz_fault_settings fault;
    int64_t at; /* tick, in base periods */
    _Atomic int32_t answers, reply;
    int32_t is_open; /* the leader's own */
    uint64_t letter; /* of the mailbox */
} khz_order;

/* All that a scenario holds. */
struct khz_rig {
    khz_scenario scenario;
    char message[512];
    const char *name;
    int64_t period_ns;          /* base period, model time */
    int32_t iterate;            /* turns in which values that need each other settle; 0: they are a period old */
    int64_t hyper;              /* base periods after which all threads begin a period together */
    int64_t wall_num, wall_den; /* a period takes period_ns*wall_num/wall_den of wall time; 0: no waiting */
    uint64_t n_cycles;          /* base periods; 0: until told to stop */
    double start;
    int64_t phase_ns; /* where releases lie between multiples of the period; -1: anywhere */
    int64_t probe_ns; /* > 0: a run as fast as possible ends after so long */
    int64_t watchdog_ns;
    int32_t watchdog_stops;
    int64_t endless_ns; /* a cycle that lasts so long is taken off its thread; 0: never */
    int32_t loss_stops; /* a process that ends too early ends the run */
    uint64_t live_every;
    int32_t shows_views; /* in every step, whoever looks */
    int64_t record_every;
    int32_t record_times; /* rows end with the times of the cycle before */
    khz_thread *threads;
    khz_task *tasks;
    khz_connection *connections;
    khz_playback *playbacks;
    khz_wire *wires;
    khz_binding *signals; /* all signals of all tasks, as in the live segment */
    khz_binding *columns; /* recorded ones, without time */
    int32_t n_threads, n_tasks, n_connections, n_playbacks, n_wires, n_signals, n_columns, n_processes, n_faults;
    _Atomic int32_t leader; /* the thread that looks at the mailbox: one with the shortest period */
    khz_order order;
    khz_recorder recorder;
    khz_merge merge; /* of the rows of several threads */
    khz_tracer tracer;
    int32_t has_recorder;
    uint64_t lost_rows; /* left in the ring at the end */
    khz_live *live;     /* shared, or private memory where no segment could be made */
    int32_t live_is_shared;
    _Atomic int32_t n_ready; /* threads at the start */
    _Atomic int64_t base_ns; /* instant of tick 0 of all; 0: not yet */
    _Atomic int32_t stop;    /* KHZ_END_* that all threads are asked for */
    _Atomic int32_t culprit; /* number of the thread that asked for it, + 1; 0: none did */
};

/* Zeroed memory for n things, at least one, every page of it touched; shared where there are several processes. */
void *khz_rig_room(const khz_rig *r, int64_t n, size_t size);
/* Note what is wrong; the first message stays.  The status is given back. */
khz_status khz_rig_fail(khz_rig *r, khz_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* The thread of that number in the scenario: the first for all where `one_thread` is set. */
khz_thread *khz_rig_thread(khz_rig *r, int32_t thread);
/* khz_rig.c: everything the scenario names, allocated and bound, but devices.  Allocates: yes.  A message where it
 * fails. */
khz_status khz_rig_prepare(khz_rig *r);
void khz_rig_release(khz_rig *r);
/* The first of those threads with the shortest period that have not ended leads from now on. */
void khz_rig_lead(khz_rig *r);
/* Why the run ended: the first cause other than its duration. */
int khz_rig_ending(const khz_rig *r);
/* khz_tasks.c: models; what drives them; and which signal `<key>.task` and `<key>.signal` under prefix.index name. */
khz_status khz_rig_tasks(khz_rig *r);
khz_status khz_rig_inputs(khz_rig *r);
/* After both: stimuli at the start time are set first, so that initial equations see them. */
khz_status khz_rig_initialise(khz_rig *r);
khz_status khz_rig_bind(khz_rig *r, const char *prefix, int32_t index, const char *key, khz_binding *b);
/* The devices of the threads in a process; bridges have threads of the system, so that it is done there itself. */
khz_status khz_rig_open_wires(khz_rig *r, int32_t process);
void khz_rig_close_wires(khz_rig *r, int32_t process);
/* khz_outputs.c: live values, recorder, messages between threads. */
khz_status khz_rig_outputs(khz_rig *r);
/* A row of the values as they stand, for a step in base periods, where one is wanted or `always`. */
void khz_thread_record(khz_thread *k, int64_t step, int always);
/* Views of its tasks, where their last step left them out. */
void khz_thread_look(khz_thread *k);
/* khz_profiling.c: places, rings and files of all threads, where a profile was asked for. */
khz_status khz_rig_profiles(khz_rig *r);
/* Who it is; a cycle begins; it ends: its record goes to the ring. */
void khz_thread_profile_start(khz_thread *k);
#ifdef KHZ_PROFILE
void khz_thread_profile_begin(khz_thread *k);
void khz_thread_profile_end(khz_thread *k, const khz_cycle_times *t);
/* Where a profile is always on and there are several devices: the exchange with them begins; that with one is over. */
void khz_thread_exchange(khz_thread *k);
void khz_thread_exchanged(khz_thread *k, int32_t wire);
#else
static inline void khz_thread_profile_begin(khz_thread *k) { (void)k; }
static inline void khz_thread_profile_end(khz_thread *k, const khz_cycle_times *t) { (void)k, (void)t; }
static inline void khz_thread_exchange(khz_thread *k) { (void)k; }
static inline void khz_thread_exchanged(khz_thread *k, int32_t wire) { (void)k, (void)wire; }
#endif
/* Another mode from the next cycle on.  KHZ_REPLY_*. */
int32_t khz_thread_profile_mode(khz_thread *k, int32_t mode);
/* khz_inputs.c: the values of a stimulus at an instant, for a step or for initialisation; what devices sent (KHZ_END_*
 * where a lost link ends the run); stimuli and connections; those that are read just before the step of a task. */
void khz_playback_at(khz_playback *p, double time, int is_start);
/* Whether a stimulus, a connection or a device of this thread sets an input. */
int khz_thread_is_driven(const khz_thread *k, const khz_binding *b);
int khz_thread_receive(khz_thread *k);
void khz_thread_inputs(khz_thread *k);
void khz_thread_late_inputs(khz_thread *k, const khz_task *u);
/* Outputs that follow from inputs at once, through connections of this thread, until they agree: at most
 * khz_rig.iterate turns.  `step`: how many are made. */
void khz_thread_settle(khz_thread *k, uint64_t step);
/* khz_injected.c: the faults of the scenario, and places for others.  After models, stimuli and live values. */
khz_status khz_rig_faults(khz_rig *r);
/* What a fault of the scenario is recorded by: `active` or `value`; no task where there is no memory. */
khz_binding khz_rig_fault_signal(khz_rig *r, int32_t fault, const char *what);
/* Before inputs are set: as they would be without faults.  After: those that have one, of all tasks whose period begins
 * or (`late`) of a task that is read just before its step.  After a step: signals of the task that readers get. */
void khz_thread_undo_faults(khz_thread *k);
void khz_thread_input_faults(khz_thread *k, const khz_task *late);
void khz_thread_output_faults(khz_thread *k, const khz_task *u, uint64_t step);
/* What readers get of a signal: its value, or what a fault makes of it.  `wire`: the number of a device, -1: others. */
double khz_thread_given(const khz_binding *b, int32_t wire);
/* Commands: KHZ_REPLY_*.  A value for an input below its fault: 1 where there is one. */
int32_t khz_thread_plant(khz_thread *k, const khz_fault_settings *s);
int32_t khz_thread_release_fault(khz_thread *k, int32_t index);
int khz_thread_set_below(khz_thread *k, const khz_binding *b, double value);
/* Faults into the snapshot, or back from it. */
void khz_thread_keep_faults(khz_thread *k, int back);
/* A message to the other threads: the values at a step of its own. */
void khz_thread_post(khz_thread *k, uint64_t step);
/* khz_thread.c: the loop; returns when it is over.  After the first cycle: no allocation, no lock, no printing. */
void khz_thread_loop(khz_thread *k);
/* The thread is over: said to all that look at it. */
void khz_thread_leave(khz_thread *k, int end);
int64_t khz_now(void);
/* Instant at which tick n is released. */
/* The first instant from `soon` on that lies `phase` after a multiple of the period; `soon` where phase is negative. */
static inline int64_t khz_thread_aligned(int64_t soon, int64_t period, int64_t phase)
{
    if (phase < 0 || period <= 0) {
        return soon;
    }
    const int64_t late = (soon - phase % period) % period; /* how far `soon` is behind such an instant */
    return late > 0 ? soon + period - late : soon - late;
}

int64_t khz_thread_instant(const khz_thread *k, uint64_t tick);
/* khz_command.c: at most one command of the mailbox, at the tick that all threads agree on. */
void khz_thread_command(khz_thread *k);
/* Whether somebody reads live values in this cycle. */
void khz_thread_attend(khz_thread *k, int64_t now);
/* Copy values to the live segment: all of them (at a pause, at the end), or the next slice where somebody reads. */
void khz_thread_publish(khz_thread *k, int all);
/* khz_system.c: affinity, scheduler, memory, latency, denormals, of the calling thread.  Each leaves its word. */
void khz_system_say(khz_grant *grants, int which, int error, const char *granted, const char *mend);
/* The calling thread, and those it starts from now on, leave the loops' cores to the loops where there is another. */
void khz_system_others(khz_rig *r);
void khz_system_thread(khz_thread *k, pthread_t thread);
void khz_system_memory(khz_thread *k);
void khz_system_flush(khz_thread *k);
/* Parts of the system clock stolen by the host, and all of it, in ticks since boot; 0 where unknown. */
void khz_system_steal(uint64_t *stolen, uint64_t *all);
/* khz_report.c: rows that are not in the recording and should be. */
uint64_t khz_report_lost_rows(const khz_rig *r);
/* Steps or assertions failed, values were no numbers, or rows are lost that could not be written. */
int khz_report_has_failures(const khz_rig *r);
/* JSON to a file, words to stdout.  0 or errno. */
int khz_report_write(khz_rig *r, const char *path, double steal);
/* The block that a stuck step is in: the last one noted before code that could go on for ever. */
const khz_block *khz_report_stuck_block(const khz_thread *k);
/* khz_report_print.c */
void khz_report_print(khz_rig *r, double steal);

#endif
