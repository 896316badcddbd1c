#include "khz_ring.h"

static uint64_t rounded(uint64_t n)
{
    uint64_t capacity = 1;
    while (capacity < n && capacity < ((uint64_t)1 << 40)) {
        capacity <<= 1;
    }
    return capacity;
}

size_t khz_ring_size(size_t row, uint64_t n_rows) { return row * (size_t)rounded(n_rows); }

void khz_ring_init(khz_ring *r, void *memory, size_t row, uint64_t n_rows)
{
    r->row = row;
    r->capacity = rounded(n_rows);
    r->rows = (unsigned char *)memory;
    r->dropped = 0;
    atomic_init(&r->written, 0);
    atomic_init(&r->read, 0);
}

void *khz_ring_reserve(khz_ring *r)
{
    const uint64_t written = atomic_load_explicit(&r->written, memory_order_relaxed);
    const uint64_t read = atomic_load_explicit(&r->read, memory_order_acquire);
    if (written - read >= r->capacity) {
        r->dropped++;
        return NULL;
    }
    return r->rows + r->row * (size_t)(written & (r->capacity - 1));
}

void khz_ring_commit(khz_ring *r)
{
    const uint64_t written = atomic_load_explicit(&r->written, memory_order_relaxed);
    atomic_store_explicit(&r->written, written + 1, memory_order_release);
}

void khz_ring_expect(const khz_ring *r, size_t n)
{
#ifdef __GNUC__
    const uint64_t written = atomic_load_explicit(&r->written, memory_order_relaxed);
    const unsigned char *const row = r->rows + r->row * (size_t)(written & (r->capacity - 1));
    for (size_t at = 0; at < n; at += 64) {
        __builtin_prefetch(row + at, 1);
    }
#else
    (void)r;
    (void)n;
#endif
}

uint64_t khz_ring_peek(khz_ring *r, const unsigned char **rows)
{
    const uint64_t read = atomic_load_explicit(&r->read, memory_order_relaxed);
    const uint64_t written = atomic_load_explicit(&r->written, memory_order_acquire);
    const uint64_t at = read & (r->capacity - 1);
    const uint64_t straight = r->capacity - at;
    const uint64_t waiting = written - read;
    *rows = r->rows + r->row * (size_t)at;
    return waiting < straight ? waiting : straight;
}

void khz_ring_release(khz_ring *r, uint64_t n)
{
    const uint64_t read = atomic_load_explicit(&r->read, memory_order_relaxed);
    atomic_store_explicit(&r->read, read + n, memory_order_release);
}
