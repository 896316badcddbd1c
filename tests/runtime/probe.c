#include <string.h>

#include "check.h"

#define KHZ_PROFILE
#define KHZ_TIMED_COPY
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

/* A cycle that is timed or not as the mode has it; the plain ones of a burst are the last of KHZ_PLAIN_EVERY. */
static void begin(khz_profile *p, uint64_t cycle) { khz_profile_begin(p, cycle, KHZ_PLACE_CYCLE); }
static khz_cycle_record *end(khz_profile *p)
{
    (void)khz_profile_is_due(p, 0.0, 1);
    return khz_profile_end(p, row, KHZ_PLACE_CYCLE);
}

static void work_for(const khz_profile *p, double ns)
{
    const uint64_t began = khz_ticks_now(&p->clock);
    while ((double)(khz_ticks_now(&p->clock) - began) * p->clock.ns_per_tick < ns) {
    }
}

/* The only model of a thread with this profile. */
static khz_context *model_of(khz_profile *p)
{
    static khz_context c;
    c = (khz_context){.first_place = KHZ_PLACES_OF_CYCLE};
    khz_profile_attach(p, &c);
    return &c;
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
    khz_context *const c = model_of(p);
    begin(p, 7);
    work_for(p, 20000.0);
    for (int i = 0; i < 3; i++) {
        KHZ_ENTER(c, 1);
        work_for(p, 10000.0);
        KHZ_ENTER(c, 2);
        work_for(p, 30000.0);
        KHZ_LEAVE(c, 2);
        KHZ_LEAVE(c, 1);
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
    khz_context thread = {0};
    const khz_context *const c = &thread;
    khz_profile_attach(p, &thread);
    khz_profile_begin(p, 1, KHZ_PLACE_INPUTS);
    work_for(p, 5000.0);
    KHZ_NEXT(c, KHZ_PLACE_INPUTS, KHZ_PLACE_TASKS);
    work_for(p, 5000.0);
    KHZ_NEXT(c, KHZ_PLACE_TASKS, KHZ_PLACE_LIVE);
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
        khz_context *const c = model_of(p);
        begin(p, 1);
        CHECK(called(c, 3) == KHZ_OK);
        CHECK(KHZ_ITERATED(c, 4, settled(c)) == KHZ_OK);
        CHECK(KHZ_ITERATED(c, 2, iterated(c, 1e-9)) == KHZ_OK);
        CHECK(KHZ_SOLVED(c, 5, called(c, 3)) == KHZ_OK);
        KHZ_COUNT(c, KHZ_PLACE_EVENT, 3);
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
    khz_context *const c = model_of(p);
    begin(p, 1);
    KHZ_ENTER(c, 1);
    KHZ_ENTER(c, 2);
    KHZ_LEAVE(c, 1); /* closes 2 as well */
    KHZ_ENTER(c, 3);
    KHZ_LEAVE(c, 4); /* not open: ignored */
    CHECK(p->depth == 2);
    const khz_cycle_record *const r = end(p);
    CHECK(sum_of(r) == r->ticks && p->depth == 0);
    begin(p, 2);
    for (int i = 0; i < KHZ_PROBE_DEPTH + 5; i++) {
        KHZ_ENTER(c, i % 40);
    }
    for (int i = KHZ_PROBE_DEPTH + 4; i >= 0; i--) {
        KHZ_LEAVE(c, i % 40);
    }
    CHECK(end(p)->untimed == 6); /* the cycle itself is the first of the depth */
    CHECK(sum_of(r) == r->ticks);
}

static void some_cycles_of_a_burst_go_without(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_BURST, 0);
    khz_context *const c = model_of(p);
    int plain = 0, warm = 0;
    for (uint64_t cycle = 0; cycle < 2 * KHZ_PLAIN_EVERY; cycle++) {
        begin(p, cycle);
        CHECK(p->runs_timed == p->is_burst);
        (void)called(c, 1);
        const khz_cycle_record *const r = end(p);
        plain += r->mode == KHZ_PROFILE_ALWAYS;
        warm += r->mode == KHZ_PROFILE_ALWAYS && r->is_warm != 0;
        CHECK(r->mode == KHZ_PROFILE_BURST || (r->n_sums == 0 && r->n_borders == 0));
        CHECK(r->crossed == (r->mode == KHZ_PROFILE_BURST ? 4 : 0) && r->every == 1 &&
              c->timing == (p->is_burst ? p : NULL));
    }
    CHECK(plain == 2 * KHZ_PLAIN_RUN && warm == plain - 2);
}

enum { CALLS = 10, INSIDE = 7 }; /* of a model; blocks in each */

/* A cycle of some calls of a model: its timed copy has inner borders, the plain one none.  Whether it left a record. */
static int cycle_of_calls(khz_profile *p, const khz_context *c, uint64_t cycle, double usual_ns, int n_calls)
{
    khz_profile_begin(p, cycle, KHZ_PLACE_CYCLE);
    for (int i = 0; i < n_calls; i++) {
        KHZ_ENTER(c, 1);
        for (int k = 0; k < INSIDE && p->runs_timed != 0; k++) {
            CHECK(KHZ_TIMED(c, 2 + k, KHZ_OK) == KHZ_OK);
        }
        KHZ_LEAVE(c, 1);
    }
    const int is_due = khz_profile_is_due(p, usual_ns, 0);
    (void)khz_profile_end(p, is_due ? row : NULL, KHZ_PLACE_CYCLE);
    khz_profile_weigh(p, usual_ns + p->n_borders * p->costs.border_ns);
    return is_due;
}

/* Costs of a machine that is neither slow nor busy. */
static const khz_probe_costs CALM = {.probe_ns = 20.0, .border_ns = 10.0, .passed_ns = 0.3, .empty_ns = 15.0};

/* The window goes over all borders, each stretch between two of them once in a sweep, for what is allowed. */
static void windows_sweep_over_all_borders(int mode, double usual_ns, double least, double most)
{
    enum { STRETCHES = 1 + CALLS * (2 * INSIDE + 2) };
    khz_profile *const p = fresh(mode, 1);
    p->costs = CALM;
    const khz_context *const c = model_of(p);
    const khz_cycle_record *const r = (const khz_cycle_record *)(const void *)row;
    double cost = 0.0;
    uint32_t next = 0, next_inner = 0;
    int sweeps = -1, stretches = 0;
    for (uint64_t cycle = 0; cycle < 12000; cycle++) {
        const int is_recorded = cycle_of_calls(p, c, cycle, usual_ns, CALLS);
        CHECK(!is_recorded || seal_of(r) == (uint32_t)cycle);
        const int is_timed = r->window > 0 || r->mode == KHZ_PROFILE_BURST;
        CHECK(!is_recorded || r->crossed == (is_timed ? 2 + 2 * CALLS : 0)); /* nothing else is counted */
        if (!is_recorded || r->window == 0) {
            continue;
        }
        const int is_first = r->first == 0 && r->first_inner == 0;
        CHECK(cycle < 1000 || (r->first == next && r->first_inner == next_inner));
        CHECK(!is_first || borders_of(r)->entered == KHZ_PLACE_CYCLE);
        if (is_first) {
            CHECK(sweeps < 1 || stretches == STRETCHES); /* the first may have begun in another mode of the window */
            sweeps++;
            stretches = 0;
        }
        stretches += r->n_borders - 1;
        next = r->next;
        next_inner = r->next_inner;
        cost += cycle < 1000 ? 0.0 : r->n_borders * p->costs.border_ns; /* the allowance settles first */
    }
    CHECK(sweeps > 2);
    CHECK(cost / 11000.0 >= least && cost / 11000.0 <= most);
}

/* Cycles of two lengths: what only long ones have is timed as often as they come. */
static void stretches_count_as_often_as_cycles_have_them(void)
{
    enum { LONG = 4 };
    khz_profile *const p = fresh(KHZ_PROFILE_ALWAYS, 1);
    const khz_context *const c = model_of(p);
    const khz_cycle_record *const r = (const khz_cycle_record *)(const void *)row;
    int n[2] = {0, 0};
    p->costs = CALM;
    for (uint64_t cycle = 0; cycle < 60000; cycle++) {
        const int is_long = cycle * 2654435761U % 4096 < 1024;
        const int is_recorded = cycle_of_calls(p, c, cycle, 1e6, is_long ? CALLS : LONG);
        const khz_border *const b = borders_of(r);
        uint32_t outer = r->first; /* index of the last outer border; from 2 * LONG + 1 on, a long cycle has it */
        for (int i = 1; is_recorded && r->window > 0 && i < r->n_borders; i++) {
            outer += b[i].left == KHZ_PLACES_OF_CYCLE + 1 || b[i].entered == KHZ_PLACES_OF_CYCLE + 1;
            n[outer > 2 * LONG] += b[i].left == KHZ_PLACES_OF_CYCLE + 2;
        }
    }
    /* a block is in LONG calls of each cycle, and in the others of every fourth */
    const double share = (double)n[1] / (double)(n[0] + n[1]);
    const double expected = (CALLS - LONG) / 4.0 / (LONG + (CALLS - LONG) / 4.0);
    CHECK(n[0] > 400 && fabs(share - expected) < 0.1);
}

/* Where an allowance does not pay for a record of every cycle, some leave one, and all that are slow. */
static void slow_cycles_leave_records(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_ALWAYS, 1);
    const khz_context *const c = model_of(p);
    int n = 0, windows = 0;
    p->costs = CALM;
    p->costs.idle_ns = 5.0;
    p->costs.empty_ns = 60.0;
    for (uint64_t cycle = 0; cycle < 4000; cycle++) {
        n += cycle_of_calls(p, c, cycle, 2000.0, 1);
        windows += p->has_window;
    }
    CHECK(n - windows < 4000 / 8 && n - windows >= 4000 / KHZ_RAREST_RECORD);
    begin(p, 1);
    CHECK(khz_profile_is_due(p, 2000.0, 1)); /* its deadline was missed */
    (void)khz_profile_end(p, row, KHZ_PLACE_CYCLE);
    begin(p, 2);
    CHECK(khz_profile_is_due(p, 4000.0, 0));
    (void)khz_profile_end(p, row, KHZ_PLACE_CYCLE);
}

static void a_mode_is_taken_over_between_cycles(void)
{
    khz_profile *const p = fresh(KHZ_PROFILE_OFF, 0);
    khz_context *const c = model_of(p);
    (void)called(c, 1); /* before the first cycle, as initialisation does */
    begin(p, 1);
    (void)KHZ_ITERATED(c, 2, iterated(c, 1.0));
    CHECK(end(p) == NULL && p->n_sums == 0);
    p->wanted = KHZ_PROFILE_BURST;
    begin(p, 2);
    (void)called(c, 1);
    CHECK(end(p)->n_sums == 2);
    begin(p, 3);
    CHECK(khz_profile_end(p, NULL, KHZ_PLACE_CYCLE) == NULL); /* the ring is full */
    const khz_context none = {0};
    (void)called(&none, 3);
}

int main(void)
{
    clock_is_calibrated();
    own_times_sum_to_the_whole();
    one_place_after_the_other_leaves_nothing_between();
    loops_have_counters_of_their_own();
    what_is_left_open_is_closed();
    some_cycles_of_a_burst_go_without();
    windows_sweep_over_all_borders(KHZ_PROFILE_ALWAYS, 10e3, 0.5, 0.01 * 10e3);
    windows_sweep_over_all_borders(KHZ_PROFILE_ALWAYS, 1e6, 10.0, KHZ_ALWAYS_NS);
    windows_sweep_over_all_borders(KHZ_PROFILE_BURST, 1.1 * KHZ_BURST_NS, 60.0, 0.05 * KHZ_BURST_NS);
    stretches_count_as_often_as_cycles_have_them();
    slow_cycles_leave_records();
    a_mode_is_taken_over_between_cycles();
    return 0;
}
