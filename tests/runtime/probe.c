#include <string.h>

#include "check.h"

#define KHZ_PROFILE
#include "khz_probe.h"

enum { PLACES = KHZ_PLACES_OF_CYCLE + 40 };

static _Alignas(64) unsigned char memory[1 << 16];

static khz_profile *fresh(int mode)
{
    CHECK(khz_profile_size(PLACES) <= sizeof memory);
    CHECK(khz_profile_size(PLACES) % 64 == 0);
    khz_profile *const p = (khz_profile *)(void *)memory;
    khz_profile_init(p, PLACES, KHZ_PLACES_OF_CYCLE, mode);
    return p;
}

static void work_for(const khz_profile *p, double ns)
{
    const uint64_t began = khz_ticks_now(&p->clock);
    while ((double)(khz_ticks_now(&p->clock) - began) * p->clock.ns_per_tick < ns) {
    }
}

static khz_context context_of(khz_profile *p)
{
    khz_context c = {0};
    c.profile = p;
    c.first_place = p != NULL ? KHZ_PLACES_OF_CYCLE : 0;
    return c;
}

static uint64_t sum_of(const khz_place_sum *s)
{
    uint64_t sum = 0;
    for (int i = 0; i < PLACES; i++) {
        sum += s[i].ticks;
    }
    return sum;
}

static void clock_is_calibrated(void)
{
    const khz_profile *const p = fresh(KHZ_PROFILE_BURST);
    CHECK(p->clock.ns_per_tick > 0.0 && p->clock.ns_per_read > 0.0);
    CHECK(p->probe_ns >= p->probe_inside_ns && p->probe_inside_ns > 0.0);
    const int64_t began = khz_ticks_monotonic();
    const uint64_t first = khz_ticks_now(&p->clock);
    while (khz_ticks_monotonic() - began < 5000000) {
    }
    const double ns = (double)(khz_ticks_now(&p->clock) - first) * p->clock.ns_per_tick;
    const double by_monotonic = (double)(khz_ticks_monotonic() - began);
    CHECK(fabs(ns - by_monotonic) < 0.02 * by_monotonic + 2e6); /* a preempted moment between the two readings */
}

static void own_times_sum_to_the_whole(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_BURST);
    khz_context c = context_of(p);
    khz_profile_begin(p, 7);
    work_for(p, 20000.0);
    for (int i = 0; i < 3; i++) {
        KHZ_ENTER(&c, 1);
        work_for(p, 10000.0);
        KHZ_ENTER(&c, 2);
        work_for(p, 30000.0);
        c.n_iterations += 4; /* as a loop does */
        KHZ_LEAVE(&c, 2);
        KHZ_LEAVE(&c, 1);
    }
    const khz_cycle_record *const r = khz_profile_end(p);
    const khz_place_sum *const s = khz_profile_sums(p);
    const khz_place_sum *const outer = &s[KHZ_PLACES_OF_CYCLE + 1], *const inner = &s[KHZ_PLACES_OF_CYCLE + 2];
    CHECK(r != NULL && r->cycle == 7 && r->mode == KHZ_PROFILE_BURST && r->timed == 7 && r->untimed == 0);
    CHECK(outer->calls == 3 && inner->calls == 3 && outer->inside == 3 && inner->inside == 0);
    CHECK(inner->iterations == 12 && outer->iterations == 0 && s[KHZ_PLACE_CYCLE].iterations == 0);
    CHECK(sum_of(s) == r->ticks);
    CHECK(inner->ticks * p->clock.ns_per_tick >= 90000.0 && outer->ticks * p->clock.ns_per_tick >= 30000.0);
    CHECK(s[KHZ_PLACE_CYCLE].ticks * p->clock.ns_per_tick >= 20000.0);
}

static khz_status called(const khz_context *c, int32_t place)
{
    KHZ_ENTER(c, place);
    KHZ_LEAVE(c, place);
    return KHZ_OK;
}

static khz_status iterated(const khz_context *c, double residual)
{
    const double f[2] = {-residual, 0.5 * residual};
    KHZ_RESIDUAL(c, 2, f);
    return called(c, 3);
}

static void what_is_called_inside_a_loop_is_told_apart(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_BURST);
    khz_context c = context_of(p);
    khz_profile_begin(p, 1);
    CHECK(called(&c, 3) == KHZ_OK);
    CHECK(KHZ_SOLVED(&c, 2, iterated(&c, 1e-6)) == KHZ_OK);
    CHECK(KHZ_SOLVED(&c, 2, iterated(&c, 1e-9)) == KHZ_OK);
    CHECK(KHZ_TIMED(&c, 1, called(&c, 3)) == KHZ_OK);
    (void)khz_profile_end(p);
    const khz_place_sum *const s = khz_profile_sums(p) + KHZ_PLACES_OF_CYCLE;
    CHECK(s[3].calls == 4 && s[3].looped == 2);
    CHECK(s[2].calls == 2 && s[2].looped == 0 && s[2].residual == 1e-6F && s[1].residual == 0.0F);
}

static void what_is_left_open_is_closed(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_BURST);
    khz_context c = context_of(p);
    khz_profile_begin(p, 1);
    KHZ_ENTER(&c, 1);
    KHZ_ENTER(&c, 2);
    KHZ_LEAVE(&c, 1); /* closes 2 as well */
    KHZ_ENTER(&c, 3);
    KHZ_LEAVE(&c, 4); /* not open: ignored */
    CHECK(p->depth == 2);
    const khz_cycle_record *const r = khz_profile_end(p);
    CHECK(sum_of(khz_profile_sums(p)) == r->ticks && p->depth == 0);
    khz_profile_begin(p, 2);
    for (int i = 0; i < KHZ_PROBE_DEPTH + 5; i++) {
        KHZ_ENTER(&c, i % 40);
    }
    for (int i = KHZ_PROBE_DEPTH + 4; i >= 0; i--) {
        KHZ_LEAVE(&c, i % 40);
    }
    CHECK(khz_profile_end(p)->untimed == 6); /* the cycle itself is the first of the depth */
    CHECK(sum_of(khz_profile_sums(p)) == r->ticks);
}

/* Few cycles are timed whole; what they cost, spread over all, is within the budget. */
static void always_times_few_cycles_whole(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_ALWAYS);
    khz_context c = context_of(p);
    int whole = 0;
    double cost = 0.0;
    for (int cycle = 0; cycle < 2000; cycle++) {
        khz_profile_begin(p, (uint64_t)cycle);
        for (int i = 0; i < 40; i++) {
            KHZ_ENTER(&c, i);
            KHZ_LEAVE(&c, i);
        }
        const khz_cycle_record *const r = khz_profile_end(p);
        const int is_whole = r->mode == KHZ_PROFILE_BURST;
        const size_t size = khz_profile_record_size(PLACES);
        CHECK(r->timed == (is_whole ? 41 : 1) && r->n_always == KHZ_PLACES_OF_CYCLE);
        CHECK(khz_record_used(r, size) < size || is_whole);
        CHECK(!is_whole || sum_of(khz_profile_sums(p)) == r->ticks);
        whole += is_whole;
        cost += is_whole ? 41 * p->probe_ns : 0.0;
    }
    CHECK(whole >= 10 && whole <= 2000 / KHZ_PROBE_LEAST);
    CHECK(cost / 2000 <= 1.1 * KHZ_PROBE_BUDGET_NS || whole >= 2000 / KHZ_PROBE_LEAST - 1);
}

static void a_mode_is_taken_over_between_cycles(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_OFF);
    khz_context c = context_of(p);
    khz_profile_begin(p, 1);
    KHZ_ENTER(&c, 1);
    KHZ_LEAVE(&c, 1);
    CHECK(khz_profile_end(p) == NULL && p->timed == 0);
    p->wanted = KHZ_PROFILE_BURST;
    khz_profile_begin(p, 2);
    KHZ_ENTER(&c, 1);
    KHZ_LEAVE(&c, 1);
    CHECK(khz_profile_end(p)->timed == 2);
    const khz_context none = context_of(NULL);
    KHZ_ENTER(&none, 3);
    KHZ_LEAVE(&none, 3);
}

int main(void)
{
    clock_is_calibrated();
    own_times_sum_to_the_whole();
    what_is_called_inside_a_loop_is_told_apart();
    what_is_left_open_is_closed();
    always_times_few_cycles_whole();
    a_mode_is_taken_over_between_cycles();
    return 0;
}
