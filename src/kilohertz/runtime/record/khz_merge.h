/* Rows of several real-time threads, each with a ring of its own, made into rows of all signals.
 *
 * A row of a ring is the base step it belongs to, how often its thread went back to a snapshot, then values.  A merged
 * row has the time and, for every thread, what it showed at that step: at the end of its period, or (a slower one,
 * between) after it had read the inputs of the next.
 *
 * Where a thread lost a row (its ring was full) there is no merged row either.  A thread that has ended, or falls
 * behind until another's ring is nearly full, is not waited for: its last values stand. */
#ifndef KHZ_MERGE_H
#define KHZ_MERGE_H

#include "khz_ring.h"

enum { KHZ_MERGE_HEAD = 2 }; /* step, rounds */

typedef struct khz_lane_rows {
    khz_ring ring;
    int64_t every;         /* base periods between two of its steps */
    int32_t n;             /* values of a row, without its head */
    const int32_t *places; /* [n] in the merged row */
    _Atomic int32_t ended; /* no more rows will come */
    int64_t last;          /* step of the last row taken, -1 */
    uint64_t rounds;       /* times it went back */
} khz_lane_rows;

typedef struct khz_merge {
    khz_lane_rows *lanes;
    int32_t n_lanes, n_columns;
    double *row;                /* the merged one so far */
    int64_t record_every, next; /* next step that has a row */
    uint64_t rounds;
    double start;
    int64_t period_ns;
    uint64_t n_late;       /* rows that came when theirs was already written */
    uint64_t n_incomplete; /* merged rows left out because a part of them was lost */
} khz_merge;

/* 1 where a row of a thread with this period is shown in a merged one: that of a step at the end of its period for that
 * step alone, that of the step after it until the next end. */
int khz_merge_wants(int64_t step, int64_t every, int64_t record_every);
/* Merge what is there into the ring `out`, as far as it has room.  Recorder's thread. */
void khz_merge_rows(khz_merge *m, khz_ring *out);

#endif
