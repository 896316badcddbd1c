/* A trace: the records of a profiled thread (khz_probe.h) through a ring to a normal thread to a file.
 *
 * File: KHZ_TRACE_HEAD bytes of text lines (`key value`), the rest of them blanks; then KHZ_TRACE_WORST records of full
 * size, the costliest cycles of the run (those that were never written are zero: mode off); then n_blocks blocks of
 * `block` bytes, the newest cycles: block i of the trace stands at i modulo n_blocks.  A block is a khz_trace_block and
 * `count` records, `stride` bytes each: as many as the longest of them has.  The file does not grow beyond that,
 * however long the run.
 *
 * Who drains knows more than the step may ask for: how often its thread was taken off the processor and waited for
 * memory since the last look; it enters that with the costliest cycle of those that it takes. */
#ifndef KHZ_TRACE_H
#define KHZ_TRACE_H

#include <pthread.h>

#include "khz_probe.h"
#include "khz_ring.h"

enum { KHZ_TRACE_HEAD = 16384, KHZ_TRACE_WORST = 64 };

typedef struct khz_trace_block {
    uint64_t number; /* from 1 on; 0: never written */
    uint32_t stride, count;
} khz_trace_block;

typedef struct khz_trace {
    khz_profile *profile;
    khz_ring ring;       /* of records */
    _Atomic int32_t tid; /* the kernel's number of its thread; 0: it does not run yet */
    int64_t period_ns;   /* 0: nobody waits for its cycles */
    const char *about;   /* further lines of the head: whose it is */
    /* who drains */
    int fd;
    uint64_t n_blocks, n_written, n_refused;
    size_t block_size;
    unsigned char *block;      /* the newest, as it stands in the file */
    uint32_t n_saved;          /* of its records those in the file */
    unsigned char *worst;      /* KHZ_TRACE_WORST records */
    int32_t n_worst, is_worse; /* so far; changed since they were written */
    int32_t least;             /* the cheapest of them */
    int64_t least_cost;
    uint64_t switches, faults; /* of its thread, at the last look */
    int64_t delayed_ns;
    int32_t has_looked;
} khz_trace;

typedef struct khz_tracer {
    khz_trace *traces;
    int32_t n_traces;
    pthread_t thread;
    _Atomic int32_t stop;
} khz_tracer;

/* Make the file, with its head, and the ring in `memory` of khz_ring_size(record, n_ring) bytes; `most`: bytes
 * of all blocks.  0 or errno. */
int khz_trace_open(khz_trace *t, const char *path, void *memory, uint64_t n_ring, uint64_t most);
/* The thread that drains all traces, at normal priority.  0 or errno. */
int khz_tracer_start(khz_tracer *t);
/* Write what is left, and close. */
void khz_tracer_close(khz_tracer *t);

#endif
