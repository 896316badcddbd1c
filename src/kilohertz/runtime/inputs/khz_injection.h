/* A fault that is planted on a signal: what is passed on instead of its value while the fault is active.
 *
 * It waits until its time has come (`from`) and its condition, where it has one, has held once; it is active until
 * `until`, or for as long as it `lasts`; then it is over.  Words of the kinds are the names below in small letters;
 * what each does with a value, its keys and their ranges are in stimuli/faults.py. */
#ifndef KHZ_INJECTION_H
#define KHZ_INJECTION_H

#include "khz_base.h"

enum {
    KHZ_FAULT_STUCK = 0, /* `value`; NaN: the value that the signal had when the fault began */
    KHZ_FAULT_OFFSET,    /* `value` more */
    KHZ_FAULT_GAIN,      /* `value` times as much */
    KHZ_FAULT_NOISE,     /* normally distributed with deviation `value` around it, anew each time */
    KHZ_FAULT_DROPOUT,   /* this share of the values does not come: the last one that came stands */
    KHZ_FAULT_DELAY      /* what it was `value` seconds before */
};
enum { KHZ_INJECTED_FREE = 0, KHZ_INJECTED_WAITING, KHZ_INJECTED_ACTIVE, KHZ_INJECTED_OVER };
enum { KHZ_INJECTION_NAME = 48, KHZ_INJECTION_LINE = 1 << 20 /* values that a delay keeps at most */ };

typedef struct khz_fault_settings {
    int32_t kind;     /* KHZ_FAULT_* */
    int32_t signal;   /* its number among all of the rig */
    int32_t device;   /* number of the one device that gets it; -1: all that read the signal */
    int32_t trigger;  /* signal of the condition; -1: there is none */
    int32_t is_above; /* the condition: above `level`, else below */
    int32_t seed;
    double value, level;
    double begin, until, lasts; /* seconds of model time; the last since it began */
} khz_fault_settings;

/* Numbers only: readers outside see it in shared memory. */
typedef struct khz_fault {
    char name[KHZ_INJECTION_NAME];
    khz_fault_settings settings;
    int32_t state;    /* KHZ_INJECTED_* */
    int32_t is_live;  /* given to a running rig, not by its scenario */
    int32_t is_input; /* on what a model gets; else on what it gives */
    int32_t is_set;   /* the input has what was passed on */
    int32_t n_line;   /* values that a delay keeps */
    int32_t n_filled, at;
    int32_t is_active;
    double since, ended; /* model time */
    uint64_t n_values;   /* values while it was active */
    double held;         /* the last value that came through */
    double before;       /* an input without the fault */
    double passed;       /* what stands for the signal now */
} khz_fault;

/* When a value is passed on, and whether the condition holds; `index` is the number of the instant, for random ones. */
typedef struct khz_instant {
    double time;
    uint64_t index;
    int32_t is_triggered;
} khz_instant;

/* Begin with these settings; `value` is that of the signal now.  A line of `n_line` values is needed for a delay. */
void khz_fault_arm(khz_fault *f, const khz_fault_settings *s, double value, int32_t n_line);
/* It is over from now on. */
void khz_fault_release(khz_fault *f, double time);
/* What stands for `value` at an instant.  line [n_line]: values of before.  Call from: step.  Allocates: never. */
double khz_fault_pass(khz_fault *f, double *line, const khz_instant *now, double value);

#endif
