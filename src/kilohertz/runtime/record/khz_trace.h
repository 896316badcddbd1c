/* A trace: the records of a profiled thread (khz_probe.h) through a ring to a normal thread to a file.
 *
 * File: KHZ_TRACE_HEAD bytes of text lines (`key value`), the rest of them blanks; then KHZ_TRACE_WORST records, the
 * costliest cycles of the run; then n_kept records, the newest ones: cycle i of the trace stands at i modulo n_kept.  A
 * place that was never written is zero (mode off).  The file does not grow beyond that, however long the run.
 *
 * Who drains knows more than the step may ask for: how often its thread was taken off the processor and waited for
 * memory since the last look; it enters that with the costliest cycle of those that it takes. */
#ifndef KHZ_TRACE_H
#define KHZ_TRACE_H

#include <pthread.h>

#include "khz_probe.h"
#include "khz_ring.h"

enum { KHZ_TRACE_HEAD = 16384, KHZ_TRACE_WORST = 64 };

typedef struct khz_trace {
    khz_profile *profile;
    khz_ring ring;       /* of records */
    _Atomic int32_t tid; /* the kernel's number of its thread; 0: it does not run yet */
    int64_t period_ns;   /* 0: nobody waits for its cycles */
    const char *about;   /* further lines of the head: whose it is */
    /* who drains */
    int fd;
    uint64_t n_kept, n_written, n_refused;
    unsigned char *worst, *whole; /* KHZ_TRACE_WORST records; one record without what a cycle did not time */
    int32_t n_worst, is_worse;    /* so far; changed since they were written */
    uint64_t switches, faults;    /* of its thread, at the last look */
    int64_t delayed_ns;
    int32_t has_looked;
} khz_trace;

typedef struct khz_tracer {
    khz_trace *traces;
    int32_t n_traces;
    pthread_t thread;
    _Atomic int32_t stop;
} khz_tracer;

/* Make the file, with its head, and the ring in `memory` of khz_ring_size(record, n_ring) bytes.  0 or errno. */
int khz_trace_open(khz_trace *t, const char *path, void *memory, uint64_t n_ring, uint64_t n_kept);
/* A cycle is over.  Call from: the profiled thread.  Allocates: never. */
void khz_trace_put(khz_trace *t, const khz_cycle_record *r);
/* The thread that drains all traces, at normal priority.  0 or errno. */
int khz_tracer_start(khz_tracer *t);
/* Write what is left, and close. */
void khz_tracer_close(khz_tracer *t);

#endif
