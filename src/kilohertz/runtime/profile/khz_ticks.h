/* The cheapest clock of the machine, in ticks of its own: the time stamp counter where it runs at one rate whatever the
 * processor does, else CLOCK_MONOTONIC in nanoseconds.  Chosen and calibrated once, before the first step. */
#ifndef KHZ_TICKS_H
#define KHZ_TICKS_H

#include "khz_base.h"

typedef struct khz_ticks {
    int32_t is_counter; /* 1: time stamp counter; 0: CLOCK_MONOTONIC */
    double ns_per_tick;
    double ns_per_read; /* what one reading costs, median */
} khz_ticks;

/* Choose and calibrate; takes about 20 ms.  Call before the first step. */
void khz_ticks_choose(khz_ticks *t);
int64_t khz_ticks_monotonic(void);

static inline uint64_t khz_ticks_now(const khz_ticks *t)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (t->is_counter != 0) {
        return __builtin_ia32_rdtsc();
    }
#elif defined(__aarch64__) && defined(__GNUC__)
    if (t->is_counter != 0) {
        uint64_t now;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
        return now;
    }
#else
    (void)t;
#endif
    return (uint64_t)khz_ticks_monotonic();
}

#endif
