/* A lock-free ring of rows of one size: one producer (the step), one consumer (a normal thread).
 * Nobody waits: a full ring refuses the row and counts it. */
#ifndef KHZ_RING_H
#define KHZ_RING_H

#include <stdatomic.h>

#include "khz_base.h"

typedef struct khz_ring {
    size_t row;        /* bytes of a row */
    uint64_t capacity; /* rows, a power of two */
    unsigned char *rows;
    _Alignas(64) _Atomic uint64_t written; /* by the producer */
    uint64_t dropped;                      /* the producer's own */
    _Alignas(64) _Atomic uint64_t read;    /* by the consumer */
} khz_ring;

/* Bytes for at least n_rows rows; the rows then found room for. */
size_t khz_ring_size(size_t row, uint64_t n_rows);
void khz_ring_init(khz_ring *r, void *memory, size_t row, uint64_t n_rows);
/* Where the next row goes, or NULL (counted) where the ring is full; commit makes it visible.  Producer. */
void *khz_ring_reserve(khz_ring *r);
void khz_ring_commit(khz_ring *r);
/* Ask for the memory of the next row, n bytes of it: the consumer has had it since.  Producer. */
void khz_ring_expect(const khz_ring *r, size_t n);
/* The oldest rows that stand side by side: their number, 0 where there is none; release frees n of them.  Consumer. */
uint64_t khz_ring_peek(khz_ring *r, const unsigned char **rows);
void khz_ring_release(khz_ring *r, uint64_t n);

#endif
