/* Where the time of a real-time thread goes: histograms and counters.  All times are integer nanoseconds. */
#ifndef KHZ_ACCOUNT_H
#define KHZ_ACCOUNT_H

#include "khz_base.h"

/* Buckets: one per nanosecond below 64, then 32 per octave (3 % wide), up to 2^41 ns (37 minutes). */
enum { KHZ_HISTOGRAM_SUB = 32, KHZ_HISTOGRAM_OCTAVES = 36, KHZ_HISTOGRAM_BUCKETS = 32 * 37 };

typedef struct khz_histogram {
    uint64_t n;
    int64_t min, max; /* exact */
    int64_t sum;
    uint64_t bucket[KHZ_HISTOGRAM_BUCKETS];
} khz_histogram;

/* What happened, as numbers. */
typedef struct khz_counts {
    uint64_t ticks;        /* periods of the wall clock, paused ones included */
    uint64_t steps;        /* cycles that were computed */
    uint64_t grace;        /* of them in the start-up grace: not in the histograms, not misses */
    uint64_t missed;       /* cycles that ended after their deadline = overruns, off_core, late_wakeups, knock_on */
    uint64_t overruns;     /* the cycle's own work took more of the processor's time than the period */
    uint64_t off_core;     /* the work would have fitted, but meanwhile the thread was off its core */
    uint64_t late_wakeups; /* the work would have fitted, but the kernel woke the thread too late */
    uint64_t knock_on;     /* began late because the cycle before ended late */
    uint64_t skipped;      /* periods without a step (policy skip) */
    uint64_t held;         /* outputs not sent because they were late (policy hold) */
    uint64_t safe;         /* cycles with safe outputs (policy safe) */
    uint64_t rows;         /* handed to the recorder */
    uint64_t dropped;      /* rows that found the ring full */
    uint64_t commands;
    uint64_t stalls;           /* times the watchdog saw no progress */
    uint64_t flags_cycles;     /* steps whose stepper raised a flag */
    uint64_t link_losses;      /* times a device fell silent for longer than its time-out */
    uint64_t exchange_late;    /* messages of another thread that were not there in time: the one before stood for it */
    uint64_t exchange_old;     /* messages of another thread that were overwritten because this one was so late */
    uint64_t unsettled;        /* ends of periods at which values that need each other did not settle */
    uint64_t commands_late;    /* commands obeyed after the tick that the threads had agreed on */
    uint64_t faults_forgotten; /* faults given to the running rig whose place another one took: not in the report */
} khz_counts;

enum {
    KHZ_TIME_LATENESS = 0, /* wake-up after the release, as the kernel was asked */
    KHZ_TIME_COMPUTE,      /* the steps */
    KHZ_TIME_DEVICE,       /* receive and send */
    KHZ_TIME_OVERHEAD,     /* the rest of the cycle: recording, live values, accounting */
    KHZ_TIME_SLACK,        /* deadline minus end; cycles that missed are counted, not entered */
    KHZ_TIMES
};

typedef struct khz_account {
    khz_counts counts;
    int64_t worst_cycle[KHZ_TIMES]; /* step at which the largest value stood (slack: the smallest) */
    khz_histogram time[KHZ_TIMES];
} khz_account;

/* Enter a value (negative ones as 0).  Allocates: never. */
void khz_histogram_add(khz_histogram *h, int64_t value);
/* The value that the share q (0..1) of the entries does not exceed: the upper end of its bucket, never above max. */
int64_t khz_histogram_quantile(const khz_histogram *h, double q);
double khz_histogram_mean(const khz_histogram *h);

/* Add what another thread counted and measured. */
void khz_account_add(khz_account *a, const khz_account *more);
/* Enter a value of a kind and note its step where it is the worst so far. */
void khz_account_time(khz_account *a, int kind, int64_t value, int64_t step);

#endif
