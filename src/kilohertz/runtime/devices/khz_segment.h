/* The shared-memory segment between the task and a controller.  Needs libc alone; both ends include it.
 *
 * Native byte order; all numbers that change are read and written as whole aligned words.
 *
 *     at  bytes  what
 *      0      4  the letters K H Z M
 *      4      4  version, 1
 *      8      4  n_task: values from the task to the peer
 *     12      4  n_peer: values from the peer to the task
 *     16      4  live: 1 while the task has the segment open
 *     64         channel from the task to the peer, then the channel from the peer to the task
 *
 *     channel:  0  8  latest: sequence number of the newest message, 0 where there is none
 *               8  4  bell: the lowest 32 bits of latest; a futex
 *              12  4  sleepers: not 0 while a reader sleeps on the bell; the writer wakes it
 *              64     four slots; message s is in slot s modulo 4
 *     slot:     0  8  sequence: 1, 2, 3, ... within a session; 0 while it is written
 *               8  4  session: drawn anew whenever the sender starts
 *              12  4  echo: the lowest 32 bits of the sequence number the sender took last
 *              16  8  time stamp in ns, of the sender's own clock
 *              24  8*n  the values, doubles; a slot ends on a multiple of 64 bytes
 *
 * A writer never waits; a reader that finds its slot overwritten (four messages in one read) looks at the newest
 * again. */
#ifndef KHZ_SEGMENT_H
#define KHZ_SEGMENT_H

#include "khz_wire.h"

/* Atomic words are the same in memory in both languages. */
#ifdef __cplusplus
#include <atomic>
#define KHZ_ATOMIC(type) std::atomic<type>
using std::atomic_fetch_add;
using std::atomic_fetch_sub;
using std::atomic_load;
using std::atomic_load_explicit;
using std::atomic_store_explicit;
using std::atomic_thread_fence;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;
#else
#include <stdatomic.h>
#define KHZ_ATOMIC(type) _Atomic(type)
#endif

enum { KHZ_SEGMENT_VERSION = 1, KHZ_SEGMENT_SLOTS = 4, KHZ_SEGMENT_TRIES = 4 };

typedef struct khz_segment {
    char magic[4];
    uint32_t version, n_task, n_peer;
    KHZ_ATOMIC(uint32_t) live;
    uint32_t unused[11];
} khz_segment;

typedef struct khz_channel {
    KHZ_ATOMIC(uint64_t) latest;
    KHZ_ATOMIC(uint32_t) bell, sleepers;
    uint64_t unused[6];
} khz_channel;

typedef struct khz_slot {
    KHZ_ATOMIC(uint64_t) sequence;
    KHZ_ATOMIC(uint64_t) session_echo; /* session first in memory: the low half on a little-endian machine */
    KHZ_ATOMIC(uint64_t) time_ns;
    KHZ_ATOMIC(uint64_t) values[];
} khz_slot;

static inline size_t khz_slot_size(uint32_t n) { return (24u + 8u * (size_t)n + 63u) & ~(size_t)63u; }

static inline size_t khz_channel_size(uint32_t n) { return sizeof(khz_channel) + KHZ_SEGMENT_SLOTS * khz_slot_size(n); }

static inline size_t khz_segment_size(uint32_t n_task, uint32_t n_peer)
{
    return sizeof(khz_segment) + khz_channel_size(n_task) + khz_channel_size(n_peer);
}

/* Channel from the task (0) or from the peer (1). */
static inline khz_channel *khz_segment_channel(khz_segment *s, uint32_t n_task, int from_peer)
{
    return (khz_channel *)(void *)((char *)s + sizeof *s + (from_peer ? khz_channel_size(n_task) : 0));
}

static inline khz_slot *khz_channel_slot(khz_channel *c, uint32_t n, uint64_t sequence)
{
    return (khz_slot *)(void *)((char *)c + sizeof *c + sequence % KHZ_SEGMENT_SLOTS * khz_slot_size(n));
}

static inline uint64_t khz_halves(uint32_t first, uint32_t second)
{
    const uint32_t pair[2] = {first, second};
    uint64_t word;
    memcpy(&word, pair, sizeof word);
    return word;
}

/* Write a message; the reader is not waited for. */
static inline void khz_channel_write(khz_channel *c, uint32_t n, const khz_message *m, const double *values)
{
    khz_slot *slot = khz_channel_slot(c, n, m->sequence);
    atomic_store_explicit(&slot->sequence, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot->session_echo, khz_halves(m->session, m->echo), memory_order_relaxed);
    atomic_store_explicit(&slot->time_ns, (uint64_t)m->time_ns, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], 8);
        atomic_store_explicit(&slot->values[i], bits, memory_order_relaxed);
    }
    atomic_store_explicit(&slot->sequence, m->sequence, memory_order_release);
    atomic_store_explicit(&c->latest, m->sequence, memory_order_release);
    atomic_store_explicit(&c->bell, (uint32_t)m->sequence, memory_order_seq_cst);
}

/* Read the newest message: 1, or 0 where there is none or it changed all the time; values are as they are, finite or
 * not. */
static inline int khz_channel_read(khz_channel *c, uint32_t n, khz_message *m, double *values)
{
    for (int turn = 0; turn < KHZ_SEGMENT_TRIES; turn++) {
        const uint64_t sequence = atomic_load_explicit(&c->latest, memory_order_acquire);
        khz_slot *slot = khz_channel_slot(c, n, sequence);
        if (sequence == 0 || atomic_load_explicit(&slot->sequence, memory_order_acquire) != sequence) {
            continue;
        }
        const uint64_t halves = atomic_load_explicit(&slot->session_echo, memory_order_relaxed);
        uint32_t pair[2];
        memcpy(pair, &halves, sizeof pair);
        m->session = pair[0];
        m->echo = pair[1];
        m->sequence = sequence;
        m->time_ns = (int64_t)atomic_load_explicit(&slot->time_ns, memory_order_relaxed);
        m->flags = 0;
        m->count = (int32_t)n;
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t bits = atomic_load_explicit(&slot->values[i], memory_order_relaxed);
            memcpy(&values[i], &bits, 8);
        }
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&slot->sequence, memory_order_relaxed) == sequence) {
            return 1;
        }
    }
    return 0;
}

static inline int khz_all_finite(const double *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], 8);
        if ((bits >> 52 & 0x7ff) == 0x7ff) {
            return 0;
        }
    }
    return 1;
}

#endif
