/* Values from one real-time thread to another, wait-free and stamped with the base period they belong to.
 *
 * A thread puts one message at the end of each of its periods, stamped with the base periods that are over then.  A
 * reader whose own period begins at turn t wants the newest message that is not after t: the state at t, or at the last
 * end of a slower sender's period before it.  Where every sender keeps its deadline that message is there when the
 * reader wakes, so that the exchange is that of one thread, to the bit.  A message that is late is not waited for: the
 * newest one stands for it and is counted.  The last KHZ_OUTBOX_SLOTS messages are kept for readers that are late
 * themselves. */
#ifndef KHZ_EXCHANGE_H
#define KHZ_EXCHANGE_H

#include <stdatomic.h>

#include "khz_base.h"

enum { KHZ_OUTBOX_SLOTS = 64 };

typedef struct khz_outbox {
    int32_t n;               /* values in a message */
    int64_t every;           /* base periods between two messages */
    _Atomic int64_t latest;  /* stamp of the newest message */
    _Atomic uint64_t *slots; /* [KHZ_OUTBOX_SLOTS][1 + n]: stamp + 1, 0 while it is written; the values' bits */
} khz_outbox;

/* One sender as one reader sees it. */
typedef struct khz_link {
    const khz_outbox *source;
    double *now;   /* the message that counts */
    int64_t stamp; /* its own */
} khz_link;

enum { KHZ_EXCHANGE_EXACT = 0, KHZ_EXCHANGE_LATE, KHZ_EXCHANGE_OLD };

/* Bytes of the slots for n values. */
size_t khz_outbox_size(int32_t n);
/* The sender alone.  Allocates: never.  Bound: n. */
void khz_outbox_put(khz_outbox *o, int64_t stamp, const double *values);
/* 1 with the values of that stamp, 0 where they are not there (any more).  Anybody. */
int khz_outbox_get(const khz_outbox *o, int64_t stamp, double *values);
/* 1 where what a period that begins at `turn` reads has been sent. */
static inline int khz_link_is_there(const khz_link *l, int64_t turn)
{
    const int64_t every = l->source->every;
    return atomic_load_explicit(&l->source->latest, memory_order_acquire) >= turn - turn % every;
}
/* What a period that begins at `turn` reads.  LATE: the sender has not come so far; OLD: the reader is so late that it
 * was overwritten.  In both cases the newest message stands for it. */
int khz_link_read(khz_link *l, int64_t turn);

#endif
