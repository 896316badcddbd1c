#include "khz_exchange.h"

#include <string.h>

enum { TRIES = 4 };

size_t khz_outbox_size(int32_t n) { return sizeof(uint64_t) * (size_t)KHZ_OUTBOX_SLOTS * ((size_t)n + 1); }

static _Atomic uint64_t *slot_of(const khz_outbox *o, int64_t stamp)
{
    return o->slots + (size_t)(stamp / o->every % KHZ_OUTBOX_SLOTS) * ((size_t)o->n + 1);
}

void khz_outbox_put(khz_outbox *o, int64_t stamp, const double *values)
{
    _Atomic uint64_t *const slot = slot_of(o, stamp);
    atomic_store_explicit(slot, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (int32_t i = 0; i < o->n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, &values[i], sizeof bits);
        atomic_store_explicit(slot + 1 + i, bits, memory_order_relaxed);
    }
    atomic_store_explicit(slot, (uint64_t)stamp + 1, memory_order_release);
    atomic_store_explicit(&o->latest, stamp, memory_order_release);
}

int khz_outbox_get(const khz_outbox *o, int64_t stamp, double *values)
{
    const _Atomic uint64_t *const slot = slot_of(o, stamp);
    const uint64_t wanted = (uint64_t)stamp + 1;
    if (atomic_load_explicit(slot, memory_order_acquire) != wanted) {
        return 0;
    }
    for (int32_t i = 0; i < o->n; i++) {
        const uint64_t bits = atomic_load_explicit(slot + 1 + i, memory_order_relaxed);
        memcpy(&values[i], &bits, sizeof bits);
    }
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(slot, memory_order_relaxed) == wanted;
}

int khz_link_read(khz_link *l, int64_t turn)
{
    const khz_outbox *const o = l->source;
    const int64_t wanted = turn - turn % o->every;
    int64_t stamp = wanted;
    int how = KHZ_EXCHANGE_EXACT;
    int found = khz_outbox_get(o, stamp, l->now);
    if (!found) {
        const int64_t latest = atomic_load_explicit(&o->latest, memory_order_acquire);
        how = latest < wanted ? KHZ_EXCHANGE_LATE : KHZ_EXCHANGE_OLD;
        if (latest >= wanted && khz_outbox_get(o, wanted, l->now)) { /* it came just now */
            how = KHZ_EXCHANGE_EXACT;
            found = 1;
        }
    }
    for (int i = 0; !found && i < TRIES; i++) { /* the sender would have to go round all slots meanwhile */
        stamp = atomic_load_explicit(&o->latest, memory_order_acquire);
        found = khz_outbox_get(o, stamp, l->now);
    }
    l->stamp = found ? stamp : l->stamp;
    return how;
}
