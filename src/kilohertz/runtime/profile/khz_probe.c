#include "khz_probe.h"

#include <math.h>
#include <string.h>

enum { ALIGNMENT = 64, CALIBRATION_PAIRS = 64, CALIBRATION_ROUNDS = 31, MOST = 65535 };

static const khz_probe_counts NONE = {0, 0, 0};

static size_t rounded(size_t n, size_t to) { return (n + to - 1) / to * to; }

size_t khz_profile_record_size(int32_t n_places)
{
    return rounded(sizeof(khz_cycle_record) + (size_t)n_places * sizeof(khz_place_sum), sizeof(uint64_t));
}

size_t khz_profile_size(int32_t n_places)
{
    const size_t head = rounded(sizeof(khz_profile), ALIGNMENT);
    const size_t timed = rounded((size_t)n_places, ALIGNMENT);
    return head + timed + rounded(khz_profile_record_size(n_places), ALIGNMENT);
}

static uint32_t saturated(uint64_t n) { return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n; }

static khz_cycle_record *record_of(khz_profile *p) { return (khz_cycle_record *)(void *)((char *)p + p->record); }

/* Time all places, or the first n_always. */
static void time_all(khz_profile *p, int all)
{
    p->is_whole = all;
    memset(khz_profile_timed(p) + p->n_always, all, (size_t)(p->n_places - p->n_always));
}

/* ALWAYS: whether this cycle is timed whole. */
static void take_turn(khz_profile *p)
{
    if (p->is_whole != 0) { /* what it cost says how long until the next */
        const double cost = (double)p->timed * p->probe_ns / KHZ_PROBE_BUDGET_NS;
        p->until_whole = cost > KHZ_PROBE_LEAST ? (uint32_t)cost : KHZ_PROBE_LEAST;
        time_all(p, 0);
    }
    if (--p->until_whole == 0) {
        time_all(p, 1);
    }
}

static void take_over(khz_profile *p, int mode)
{
    p->mode = mode;
    p->until_whole = KHZ_PROBE_LEAST;
    memset(khz_profile_timed(p), mode != KHZ_PROFILE_OFF, (size_t)p->n_always);
    time_all(p, mode == KHZ_PROFILE_BURST);
}

void khz_profile_begin(khz_profile *p, uint64_t cycle)
{
    khz_cycle_record *const r = record_of(p);
    const int wanted = __atomic_load_n(&p->wanted, __ATOMIC_RELAXED);
    if (wanted != p->mode) {
        take_over(p, wanted);
    } else if (p->mode == KHZ_PROFILE_ALWAYS) {
        take_turn(p);
    }
    p->depth = 0;
    p->timed = 0;
    p->untimed = 0;
    p->n_loops = 0;
    if (p->mode == KHZ_PROFILE_OFF) {
        return;
    }
    const int32_t n = p->is_whole != 0 ? p->n_places : p->n_always;
    memset(r, 0, sizeof *r + (size_t)n * sizeof(khz_place_sum));
    r->cycle = cycle;
    r->mode = p->is_whole != 0 ? KHZ_PROFILE_BURST : KHZ_PROFILE_ALWAYS;
    r->n_always = (uint16_t)p->n_always;
    khz_probe_open(p, KHZ_PLACE_CYCLE, NONE);
    r->began = p->frame[0].began;
}

static khz_probe_counts sum_of_counts(khz_probe_counts a, khz_probe_counts b)
{
    return (khz_probe_counts){a.iterations + b.iterations, a.turns + b.turns, a.caps + b.caps};
}

static uint16_t short_sum(uint16_t a, uint32_t b) { return (uint16_t)(a + b > MOST ? MOST : a + b); }

static void close_innermost(khz_profile *p, khz_probe_counts now)
{
    khz_probe_frame *const f = &p->frame[--p->depth];
    const uint64_t total = khz_ticks_now(&p->clock) - f->began;
    const khz_probe_counts counted = {now.iterations - f->first.iterations, now.turns - f->first.turns,
                                      now.caps - f->first.caps};
    khz_place_sum *const sum = &khz_profile_sums(p)[f->place];
    sum->ticks = saturated((uint64_t)sum->ticks + (total > f->inside ? total - f->inside : 0));
    sum->calls = short_sum(sum->calls, 1);
    sum->looped += p->n_loops > 0 ? 1U : 0U;
    sum->inside = short_sum(sum->inside, f->probes);
    sum->iterations += counted.iterations - f->below.iterations;
    sum->turns = short_sum(sum->turns, counted.turns - f->below.turns);
    sum->caps = short_sum(sum->caps, counted.caps - f->below.caps);
    if (p->depth > 0) {
        khz_probe_frame *const around = &p->frame[p->depth - 1];
        around->inside += total;
        around->probes++;
        around->below = sum_of_counts(around->below, counted);
    }
    p->timed++;
}

khz_cycle_record *khz_profile_end(khz_profile *p)
{
    khz_cycle_record *const r = record_of(p);
    if (p->mode == KHZ_PROFILE_OFF) {
        return NULL;
    }
    while (p->depth > 0) { /* the cycle itself, and what a step that failed half way left open */
        const khz_probe_frame *const f = &p->frame[p->depth - 1];
        close_innermost(p, sum_of_counts(f->first, f->below));
    }
    const khz_probe_frame *const whole = &p->frame[0];
    r->ticks = saturated(khz_profile_sums(p)[KHZ_PLACE_CYCLE].ticks + whole->inside);
    r->timed = p->timed;
    r->untimed = p->untimed;
    return r;
}

void khz_probe_open(khz_profile *p, int32_t place, khz_probe_counts now)
{
    if (p->depth >= KHZ_PROBE_DEPTH) {
        p->untimed++;
        return;
    }
    khz_probe_frame *const f = &p->frame[p->depth++];
    f->place = place;
    f->probes = 0;
    f->inside = 0;
    f->first = now;
    f->below = NONE;
    f->began = khz_ticks_now(&p->clock);
}

static int is_open(const khz_profile *p, int32_t place)
{
    for (int32_t i = p->depth - 1; i >= 0; i--) {
        if (p->frame[i].place == place) {
            return 1;
        }
    }
    return 0;
}

void khz_probe_close(khz_profile *p, int32_t place, khz_probe_counts now)
{
    /* Not open: it lies beyond the depth.  What is still open inside it was left without its KHZ_LEAVE. */
    if (!is_open(p, place)) {
        return;
    }
    while (p->frame[p->depth - 1].place != place) {
        close_innermost(p, now);
    }
    close_innermost(p, now);
}

void khz_probe_settle(khz_profile *p, int32_t place)
{
    p->n_loops--;
    if (khz_profile_timed(p)[place] != 0) {
        khz_place_sum *const sum = &khz_profile_sums(p)[place];
        sum->residual = fmaxf(sum->residual, (float)p->residual);
    }
}

void khz_probe_note(khz_profile *p, int n, const double *f)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        worst = fmax(worst, fabs(f[i]));
    }
    p->residual = worst;
}

/* What a timed probe costs: pairs of enter and leave around nothing, the median of rounds. */
static void calibrate(khz_profile *p)
{
    double pair[CALIBRATION_ROUNDS], inside[CALIBRATION_ROUNDS];
    const int32_t place = p->n_places - 1;
    for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
        memset(khz_profile_sums(p), 0, (size_t)p->n_places * sizeof(khz_place_sum));
        p->depth = 0;
        const uint64_t began = khz_ticks_now(&p->clock);
        for (int k = 0; k < CALIBRATION_PAIRS; k++) {
            khz_probe_open(p, place, NONE);
            khz_probe_close(p, place, NONE);
        }
        const double took = (double)(khz_ticks_now(&p->clock) - began) / CALIBRATION_PAIRS;
        const double in = (double)khz_profile_sums(p)[place].ticks / CALIBRATION_PAIRS;
        int at = i;
        for (; at > 0 && pair[at - 1] > took; at--) {
            pair[at] = pair[at - 1];
            inside[at] = inside[at - 1];
        }
        pair[at] = took;
        inside[at] = in;
    }
    p->probe_ns = pair[CALIBRATION_ROUNDS / 2] * p->clock.ns_per_tick;
    p->probe_inside_ns = inside[CALIBRATION_ROUNDS / 2] * p->clock.ns_per_tick;
    p->depth = 0;
    p->timed = 0;
}

/* What an empty cycle takes: begin, one probe, end; the median of rounds, without what is taken off for the probe. */
static void calibrate_cycle(khz_profile *p)
{
    double took[CALIBRATION_ROUNDS];
    p->wanted = KHZ_PROFILE_BURST;
    for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
        khz_profile_begin(p, 0);
        khz_probe_open(p, p->n_places - 1, NONE);
        khz_probe_close(p, p->n_places - 1, NONE);
        (void)khz_profile_end(p);
        const double ns = (double)khz_profile_sums(p)[KHZ_PLACE_CYCLE].ticks * p->clock.ns_per_tick - p->probe_ns;
        int at = i;
        for (; at > 0 && took[at - 1] > ns; at--) {
            took[at] = took[at - 1];
        }
        took[at] = ns;
    }
    p->cycle_ns = took[CALIBRATION_ROUNDS / 2] > 0.0 ? took[CALIBRATION_ROUNDS / 2] : 0.0;
}

void khz_profile_init(khz_profile *p, int32_t n_places, int32_t n_always, int mode)
{
    memset(p, 0, khz_profile_size(n_places));
    p->n_places = n_places;
    p->n_always = n_always;
    p->is_timed = rounded(sizeof(khz_profile), ALIGNMENT);
    p->record = p->is_timed + rounded((size_t)n_places, ALIGNMENT);
    p->size = khz_profile_size(n_places);
    khz_ticks_choose(&p->clock);
    calibrate(p);
    calibrate_cycle(p);
    p->wanted = mode;
    take_over(p, mode);
}
