#define _GNU_SOURCE /* clock_gettime */
#include "khz_ticks.h"

#include <time.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

enum { CALIBRATION_NS = 20000000, READINGS = 64, ROUNDS = 31 };

int64_t khz_ticks_monotonic(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Whether the processor has a counter that runs at one rate, also while it sleeps. */
static int has_steady_counter(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & 0x100u) != 0; /* invariant TSC */
#elif defined(__aarch64__) && defined(__GNUC__)
    return 1; /* the architecture promises it of the virtual counter */
#else
    return 0;
#endif
}

/* Nanoseconds of one tick, over 20 ms of both clocks. */
static double tick_length(const khz_ticks *t)
{
    const int64_t began = khz_ticks_monotonic();
    const uint64_t first = khz_ticks_now(t);
    int64_t now = began;
    while (now - began < CALIBRATION_NS) {
        now = khz_ticks_monotonic();
    }
    const uint64_t last = khz_ticks_now(t);
    return last > first ? (double)(now - began) / (double)(last - first) : 0.0;
}

/* Ticks that one reading takes: the median of rounds, so that a preempted one does not count. */
static double reading(const khz_ticks *t)
{
    uint64_t took[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t began = khz_ticks_now(t);
        uint64_t last = began;
        for (int k = 0; k < READINGS; k++) {
            last = khz_ticks_now(t);
        }
        int place = i;
        for (; place > 0 && took[place - 1] > last - began; place--) {
            took[place] = took[place - 1];
        }
        took[place] = last - began;
    }
    return (double)took[ROUNDS / 2] / READINGS;
}

void khz_ticks_choose(khz_ticks *t)
{
    t->is_counter = has_steady_counter();
    t->ns_per_tick = t->is_counter != 0 ? tick_length(t) : 1.0;
    if (!(t->ns_per_tick > 0.0)) { /* a counter that stands still */
        t->is_counter = 0;
        t->ns_per_tick = 1.0;
    }
    t->ns_per_read = reading(t) * t->ns_per_tick;
}
