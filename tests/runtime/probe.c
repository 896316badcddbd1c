#include <string.h>

#include "check.h"

#define KHZ_PROFILE
#include "khz_probe.h"

enum { PLACES = KHZ_PLACES_OF_CYCLE + 40, ROW = 1 << 14 };

static _Alignas(64) unsigned char memory[1 << 16], row[ROW];

static khz_profile *fresh(int mode, int is_bounded)
{
    CHECK(khz_profile_size(PLACES) <= sizeof memory && khz_profile_record_size(PLACES) <= ROW);
    CHECK(khz_profile_size(PLACES) % 64 == 0);
    khz_profile *const p = (khz_profile *)(void *)memory;
    khz_profile_init(p, PLACES, mode, is_bounded);
    return p;
}

/* A cycle that is timed or not as the mode has it; the plain one of a burst is the last of KHZ_PLAIN_EVERY. */
static void begin(khz_profile *p, uint64_t cycle) { khz_profile_begin(p, cycle, KHZ_PLACE_CYCLE); }
static khz_cycle_record *end(khz_profile *p) { return khz_profile_end(p, row, KHZ_PLACE_CYCLE); }

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

static const khz_place_sum *sums_of(const khz_cycle_record *r)
{
    return (const khz_place_sum *)(const void *)((const char *)r + sizeof *r);
}

static const khz_border *borders_of(const khz_cycle_record *r)
{
    return (const khz_border *)(const void *)(sums_of(r) + r->n_sums);
}

/* Of a place in a record; nothing where there is none. */
static khz_place_sum sum_at(const khz_cycle_record *r, int32_t place)
{
    for (uint32_t i = 0; i < r->n_sums; i++) {
        if (sums_of(r)[i].place == place) {
            return sums_of(r)[i];
        }
    }
    return (khz_place_sum){0};
}

static khz_place_sum of_model(const khz_cycle_record *r, int32_t place)
{
    return sum_at(r, KHZ_PLACES_OF_CYCLE + place);
}

static uint64_t sum_of(const khz_cycle_record *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n_sums; i++) {
        sum += sums_of(r)[i].ticks;
    }
    return sum;
}

static uint32_t seal_of(const khz_cycle_record *r)
{
    uint32_t seal = 0;
    memcpy(&seal, borders_of(r) + r->n_borders, sizeof seal);
    return seal;
}

static void clock_is_calibrated(void)
{
    const khz_profile *const p = fresh(KHZ_PROFILE_BURST, 0);
    CHECK(p->clock.ns_per_tick > 0.0 && p->clock.ns_per_read > 0.0);
    CHECK(p->costs.probe_ns >= p->costs.probe_inside_ns && p->costs.probe_inside_ns > 0.0);
    CHECK(p->costs.border_ns > 0.0 && p->costs.passed_ns > 0.0 && p->costs.empty_ns > 0.0);
    CHECK(p->costs.passed_ns < p->costs.border_ns && p->narrow >= 2 && p->narrow <= KHZ_WINDOW);
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
    khz_profile *const p = fresh(KHZ_PROFILE_BURST, 0);
    khz_context c = context_of(p);
    begin(p, 7);
    work_for(p, 20000.0);
    for (int i = 0; i < 3; i++) {
        KHZ_ENTER(&c, 1);
        work_for(p, 10000.0);
        KHZ_ENTER(&c, 2);
        work_for(p, 30000.0);
        KHZ_LEAVE(&c, 2);
        KHZ_LEAVE(&c, 1);
    }
    const khz_cycle_record *const r = end(p);
    const khz_place_sum outer = of_model(r, 1), inner = of_model(r, 2), rest = sum_at(r, KHZ_PLACE_CYCLE);
    CHECK(r->cycle == 7 && r->mode == KHZ_PROFILE_BURST && r->untimed == 0 && r->n_sums == 3 && r->crossed == 14);
    CHECK(seal_of(r) == 7 && khz_record_used(r) <= khz_profile_record_size(PLACES));
    CHECK(outer.calls == 3 && inner.calls == 3 && outer.inside == 3 && inner.inside == 0 && rest.inside == 3);
    CHECK(sum_of(r) == r->ticks);
    CHECK(inner.ticks * p->clock.ns_per_tick >= 90000.0 && outer.ticks * p->clock.ns_per_tick >= 30000.0);
    CHECK(rest.ticks * p->clock.ns_per_tick >= 20000.0);
}

static void one_place_after_the_other_leaves_nothing_between(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_BURST, 0);
    khz_context c = {.profile = p};
    khz_profile_begin(p, 1, KHZ_PLACE_INPUTS);
    work_for(p, 5000.0);
    KHZ_NEXT(&c, KHZ_PLACE_INPUTS, KHZ_PLACE_TASKS);
    work_for(p, 5000.0);
    KHZ_NEXT(&c, KHZ_PLACE_TASKS, KHZ_PLACE_LIVE);
    const khz_cycle_record *const r = khz_profile_end(p, row, KHZ_PLACE_LIVE);
    CHECK(r->n_sums == 4 && sum_at(r, KHZ_PLACE_CYCLE).ticks == 0 && sum_of(r) == r->ticks && r->crossed == 4);
}

static khz_status called(const khz_context *c, int32_t place)
{
    KHZ_ENTER(c, place);
    KHZ_LEAVE(c, place);
    return KHZ_OK;
}

static khz_status iterated(khz_context *c, double residual)
{
    const double f[2] = {-residual, 0.5 * residual};
    c->n_iterations += 4;
    KHZ_RESIDUAL(c, 2, f);
    return called(c, 3);
}

static khz_status settled(khz_context *c)
{
    c->n_mixed += 2;
    c->n_caps++;
    return KHZ_ITERATED(c, 2, iterated(c, 1e-6));
}

/* Iterations, turns and caps belong to the loop that made them, in every mode. */
static void loops_have_counters_of_their_own(void)
{
    const int modes[] = {KHZ_PROFILE_BURST, KHZ_PROFILE_ALWAYS};
    for (int i = 0; i < 2; i++) {
        khz_profile *const p = fresh(modes[i], 0);
        khz_context c = context_of(p);
        begin(p, 1);
        CHECK(called(&c, 3) == KHZ_OK);
        CHECK(KHZ_ITERATED(&c, 4, settled(&c)) == KHZ_OK);
        CHECK(KHZ_ITERATED(&c, 2, iterated(&c, 1e-9)) == KHZ_OK);
        CHECK(KHZ_SOLVED(&c, 5, called(&c, 3)) == KHZ_OK);
        KHZ_COUNT(&c, KHZ_PLACE_EVENT, 3);
        const khz_cycle_record *const r = end(p);
        const khz_place_sum mixed = of_model(r, 4), inner = of_model(r, 2), function = of_model(r, 3);
        CHECK(mixed.iterations == 0 && mixed.turns == 2 && mixed.caps == 1 && mixed.calls == 1);
        CHECK(inner.iterations == 8 && inner.turns == 0 && inner.caps == 0 && inner.calls == 2);
        CHECK(inner.residual == 1e-6F && of_model(r, KHZ_PLACE_EVENT).iterations == 3);
        CHECK(modes[i] == KHZ_PROFILE_ALWAYS || (function.calls == 4 && function.looped == 3));
    }
}

static void what_is_left_open_is_closed(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_BURST, 0);
    khz_context c = context_of(p);
    begin(p, 1);
    KHZ_ENTER(&c, 1);
    KHZ_ENTER(&c, 2);
    KHZ_LEAVE(&c, 1); /* closes 2 as well */
    KHZ_ENTER(&c, 3);
    KHZ_LEAVE(&c, 4); /* not open: ignored */
    CHECK(p->depth == 2);
    const khz_cycle_record *const r = end(p);
    CHECK(sum_of(r) == r->ticks && p->depth == 0);
    begin(p, 2);
    for (int i = 0; i < KHZ_PROBE_DEPTH + 5; i++) {
        KHZ_ENTER(&c, i % 40);
    }
    for (int i = KHZ_PROBE_DEPTH + 4; i >= 0; i--) {
        KHZ_LEAVE(&c, i % 40);
    }
    CHECK(end(p)->untimed == 6); /* the cycle itself is the first of the depth */
    CHECK(sum_of(r) == r->ticks);
}

static void one_cycle_of_a_burst_goes_without(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_BURST, 0);
    khz_context c = context_of(p);
    int plain = 0;
    for (uint64_t cycle = 0; cycle < 2 * KHZ_PLAIN_EVERY; cycle++) {
        begin(p, cycle);
        (void)called(&c, 1);
        const khz_cycle_record *const r = end(p);
        plain += r->mode == KHZ_PROFILE_ALWAYS;
        CHECK(r->mode == KHZ_PROFILE_BURST || (r->n_sums == 0 && r->n_borders == 0));
        CHECK(r->crossed == 4);
    }
    CHECK(plain == 2);
}

/* Borders of a cycle of 100: enter and leave of 49 places, besides those of the cycle. */
static void cycle_of_100(khz_profile *p, const khz_context *c, uint64_t cycle, double usual_ns)
{
    khz_profile_begin(p, cycle, KHZ_PLACE_CYCLE);
    for (int i = 0; i < 49; i++) {
        (void)called(c, i % 40);
    }
    (void)end(p);
    khz_profile_weigh(p, usual_ns);
}

/* The window goes over all borders, each stretch between two of them once in a sweep, for what is allowed. */
static void windows_sweep_over_all_borders(int mode, double usual_ns, double least, double most)
{
    khz_profile *const p = fresh(mode, 1);
    /* Of a machine that is neither slow nor busy. */
    p->costs = (khz_probe_costs){.probe_ns = 20.0, .border_ns = 10.0, .passed_ns = 0.3, .empty_ns = 15.0};
    const khz_context c = context_of(p);
    const khz_cycle_record *const r = (const khz_cycle_record *)(const void *)row;
    double cost = 0.0;
    uint32_t expected = 0;
    int sweeps = 0, n = 0;
    for (uint64_t cycle = 0; cycle < 4000; cycle++) {
        cycle_of_100(p, &c, cycle, usual_ns);
        CHECK(r->crossed == 100);
        CHECK(seal_of(r) == (uint32_t)cycle);
        if (r->window == 0 || cycle < 1000) { /* the allowance settles first */
            continue;
        }
        sweeps += r->first == 0;
        CHECK(sweeps == 0 || n == 0 || r->first == 0 || r->first == expected);
        n = sweeps > 0;
        expected = r->first + r->window - 1;
        CHECK(r->n_borders == (r->first + r->window > 100 ? 100 - r->first : r->window));
        CHECK(r->first > 0 || borders_of(r)->entered == KHZ_PLACE_CYCLE);
        CHECK(r->first == 0 || borders_of(r)->left == KHZ_PLACES_OF_CYCLE + (int32_t)((r->first - 2) / 2) % 40 ||
              borders_of(r)->entered != KHZ_NO_PLACE);
        cost += r->n_borders * p->costs.border_ns;
    }
    CHECK(sweeps > 1);
    CHECK(cost / 3000.0 >= least && cost / 3000.0 <= most);
}

static void a_mode_is_taken_over_between_cycles(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_OFF, 0);
    khz_context c = context_of(p);
    (void)called(&c, 1); /* before the first cycle, as initialisation does */
    begin(p, 1);
    (void)KHZ_ITERATED(&c, 2, iterated(&c, 1.0));
    CHECK(end(p) == NULL && p->n_sums == 0);
    p->wanted = KHZ_PROFILE_BURST;
    begin(p, 2);
    (void)called(&c, 1);
    CHECK(end(p)->n_sums == 2);
    begin(p, 3);
    CHECK(khz_profile_end(p, NULL, KHZ_PLACE_CYCLE) == NULL); /* the ring is full */
    const khz_context none = context_of(NULL);
    (void)called(&none, 3);
}

int main(void)
{
    clock_is_calibrated();
    own_times_sum_to_the_whole();
    one_place_after_the_other_leaves_nothing_between();
    loops_have_counters_of_their_own();
    what_is_left_open_is_closed();
    one_cycle_of_a_burst_goes_without();
    windows_sweep_over_all_borders(KHZ_PROFILE_ALWAYS, 10e3, 0.5, 0.01 * 10e3);
    windows_sweep_over_all_borders(KHZ_PROFILE_ALWAYS, 1e6, 10.0, KHZ_ALWAYS_NS);
    windows_sweep_over_all_borders(KHZ_PROFILE_BURST, KHZ_BURST_NS, 60.0, 0.04 * KHZ_BURST_NS);
    a_mode_is_taken_over_between_cycles();
    return 0;
}
