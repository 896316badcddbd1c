#include "khz_probe.h"

#include <math.h>
#include <string.h>

#include "khz_calibration.h"
#include "khz_windows.h"

enum { PROFILE_ALIGNMENT = 64, MOST_CALLS = 65535 };

static size_t rounded_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* Borders of a window at most; a record has room for them and for more than half of all sums. */
static int32_t most_borders(int32_t n_places) { return KHZ_WINDOW_ROOM + n_places; }

size_t khz_profile_record_size(int32_t n_places)
{
    const size_t sums = (size_t)n_places * sizeof(khz_place_sum), borders = KHZ_WINDOW_ROOM * sizeof(khz_border);
    return rounded_up(sizeof(khz_cycle_record) + sums + borders + sizeof(uint32_t), PROFILE_ALIGNMENT);
}

size_t khz_profile_size(int32_t n_places)
{
    const size_t head = rounded_up(sizeof(khz_profile), PROFILE_ALIGNMENT);
    const size_t slots = rounded_up((size_t)n_places * sizeof(int32_t), PROFILE_ALIGNMENT);
    const size_t sums = rounded_up((size_t)n_places * sizeof(khz_place_sum), PROFILE_ALIGNMENT);
    return head + slots + sums + rounded_up((size_t)most_borders(n_places) * sizeof(khz_border), PROFILE_ALIGNMENT);
}

static uint32_t saturated(uint64_t n) { return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n; }

static uint16_t short_sum(uint16_t a, uint32_t b) { return (uint16_t)(a + b > MOST_CALLS ? MOST_CALLS : a + b); }

khz_border *khz_profile_borders(khz_profile *p) { return (khz_border *)(void *)((char *)p + p->borders); }

static khz_place_sum *sums_of(khz_profile *p) { return (khz_place_sum *)(void *)((char *)p + p->sums); }

khz_place_sum *khz_profile_sum(khz_profile *p, int32_t place)
{
    /* A slot left over from an earlier cycle points beyond the sums of this one, or at another place's. */
    int32_t *const slot = (int32_t *)(void *)((char *)p + p->slots) + place;
    khz_place_sum *const sums = sums_of(p);
    if (*slot >= p->n_sums || sums[*slot].place != place) {
        *slot = p->n_sums++;
        sums[*slot] = (khz_place_sum){.place = place};
    }
    return &sums[*slot];
}

/* ------------------------------------------------------------------------------------------------------------ bursts
 */

static void open_place(khz_profile *p, int32_t entered, uint64_t now)
{
    khz_probe_frame *const f = &p->frame[p->depth];
    f->place = entered & ~KHZ_LOOP_BIT;
    f->n_loops = (p->depth > 0 ? f[-1].n_loops : 0) + ((entered & KHZ_LOOP_BIT) != 0);
    f->probes = 0;
    f->inside = 0;
    f->began = now;
    p->depth++;
}

/* The innermost place; `is_last`: no other follows it at the same border, so that there was a probe in what is around.
 */
static void close_place(khz_profile *p, uint64_t now, int is_last)
{
    const khz_probe_frame *const f = &p->frame[--p->depth];
    khz_place_sum *const sum = khz_profile_sum(p, f->place);
    const uint64_t total = now - f->began;
    sum->ticks = saturated((uint64_t)sum->ticks + (total > f->inside ? total - f->inside : 0));
    sum->calls = short_sum(sum->calls, 1);
    sum->inside = short_sum(sum->inside, f->probes);
    if (p->depth > 0) {
        khz_probe_frame *const around = &p->frame[p->depth - 1];
        around->inside += total;
        around->probes += is_last ? 1 : 0;
        sum->looped += around->n_loops > 0 ? 1 : 0;
    }
}

static int is_place_open(const khz_profile *p, int32_t place)
{
    for (int32_t i = p->depth - 1; i >= 0; i--) {
        if (p->frame[i].place == place) {
            return 1;
        }
    }
    return 0;
}

static void time_border(khz_profile *p, int32_t left, int32_t entered)
{
    uint64_t now = 0;
    /* Not open: it lies beyond the depth.  What is still open inside it was left without its KHZ_LEAVE. */
    if (left != KHZ_NO_PLACE) {
        now = khz_ticks_now(&p->clock);
        if (p->frame[p->depth - 1].place == left || is_place_open(p, left)) {
            while (p->frame[p->depth - 1].place != left) {
                close_place(p, now, 0);
            }
            close_place(p, now, entered == KHZ_NO_PLACE);
        }
    }
    if (entered != KHZ_NO_PLACE) {
        if (p->depth >= KHZ_PROBE_DEPTH) {
            p->untimed++;
            return;
        }
        open_place(p, entered, now);
        if (left == KHZ_NO_PLACE) { /* last of all, so that as little as possible falls into the place */
            p->frame[p->depth - 1].began = khz_ticks_now(&p->clock);
        }
    }
}

/* The window is full: what is left of the cycle is counted only. */
static void close_window(khz_profile *p)
{
    p->position = p->crossed + (uint32_t)(p->from - p->until) - 1; /* the next one begins where this one ends */
    p->inner = p->inner_now;
    p->crossed = p->position + 1;
    p->from = p->until = p->until_inner = KHZ_UNTIMED;
    p->runs_timed = 0;
}

static void note_border(khz_profile *p, int32_t left, int32_t entered)
{
    khz_border *const b = &khz_profile_borders(p)[p->n_borders++];
    b->left = left;
    b->entered = entered == KHZ_NO_PLACE ? entered : entered & ~KHZ_LOOP_BIT;
    b->ticks = (uint32_t)khz_ticks_now(&p->clock);
    if (p->n_borders == p->window) {
        close_window(p);
    }
}

void khz_probe_cross(khz_profile *p, int32_t left, int32_t entered)
{
    if (p->is_burst != 0) {
        time_border(p, left, entered);
    } else if (p->runs_timed == 0 && p->inner > 0) { /* the window begins behind some inner borders that follow */
        p->runs_timed = 1;
        p->until_inner = (int32_t)p->inner - 1;
        p->inner_now = p->inner - 1;
    } else { /* it begins here, also where fewer inner ones were there, or goes on */
        p->runs_timed = 1;
        p->until_inner = 0;
        p->inner_now = 0;
        note_border(p, left, entered);
    }
}

void khz_probe_cross_inner(khz_profile *p, int32_t left, int32_t entered)
{
    if (p->is_burst != 0) {
        p->n_inner++;
        time_border(p, left, entered);
    } else {
        p->inner_now++;
        note_border(p, left, entered);
    }
}

/* ------------------------------------------------------------------------------------------------------------- loops
 */

/* Counters of the model without what loops had that are solved already: what was counted since belongs to who asks. */
static khz_probe_counts unclaimed(const khz_context *c, const khz_profile *p)
{
    return (khz_probe_counts){c->n_iterations - p->claimed.iterations, c->n_mixed - p->claimed.turns,
                              c->n_caps - p->claimed.caps};
}

void khz_probe_opens(const khz_context *c)
{
    khz_profile *const p = c->profile;
    if (p->n_open < KHZ_PROBE_DEPTH) {
        p->opened[p->n_open] = unclaimed(c, p);
    }
    p->n_open++;
    p->n_counted++;
    p->residual = 0.0;
}

void khz_probe_solved(const khz_context *c, int32_t place)
{
    khz_profile *const p = c->profile;
    if (p->n_open == 0 || --p->n_open >= KHZ_PROBE_DEPTH) {
        return; /* it began before the cycle, or deeper than is kept */
    }
    const khz_probe_counts now = unclaimed(c, p), then = p->opened[p->n_open];
    const khz_probe_counts own = {now.iterations - then.iterations, now.turns - then.turns, now.caps - then.caps};
    khz_place_sum *const sum = khz_profile_sum(p, c->first_place + place);
    const float residual = (float)p->residual;
    p->claimed.iterations += own.iterations;
    p->claimed.turns += own.turns;
    p->claimed.caps += own.caps;
    sum->iterations += own.iterations;
    sum->turns = short_sum(sum->turns, own.turns);
    sum->caps = short_sum(sum->caps, own.caps);
    sum->residual = residual > sum->residual ? residual : sum->residual;
    sum->calls = short_sum(sum->calls, p->is_burst != 0 ? 0 : 1);
}

void khz_probe_note(khz_profile *p, int n, const khz_real *f)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        worst = fabs(f[i]) > worst ? fabs(f[i]) : worst;
    }
    p->residual = worst;
}

void khz_probe_count(khz_profile *p, int32_t place, uint32_t iterations)
{
    khz_place_sum *const sum = khz_profile_sum(p, place);
    sum->iterations += iterations;
    sum->calls = short_sum(sum->calls, p->is_burst != 0 ? 0 : 1);
}

void khz_probe_touched(khz_profile *p, int32_t place)
{
    khz_place_sum *const sum = khz_profile_sum(p, place);
    sum->calls = short_sum(sum->calls, 1);
    sum->looped += p->frame[p->depth - 1].n_loops > 0 ? 1 : 0;
}

/* ------------------------------------------------------------------------------------------------------------ cycles
 */

void khz_profile_attach(khz_profile *p, khz_context *c)
{
    c->profile = p;
    c->timing = NULL;
    c->next = p->contexts;
    p->contexts = c;
}

/* The cycle that begins has something that is timed, or nothing. */
KHZ_SELDOM static void set_timing(khz_profile *p, int is_timing)
{
    p->is_timing = is_timing;
    for (khz_context *c = p->contexts; c != NULL; c = c->next) {
        c->timing = is_timing ? p : NULL;
    }
    p->depth = p->n_borders = p->is_burst = p->has_window = 0;
    p->crossed = p->untimed = p->n_inner = 0;
}

/* Another mode.  What was learnt of the task stays: one that is switched on and off again costs no more than one that
 * stays on. */
KHZ_SELDOM static void take_over(khz_profile *p, int mode)
{
    p->to_run = p->mode == KHZ_PROFILE_ALWAYS ? p->to_window : p->to_run;
    p->to_window = mode == KHZ_PROFILE_ALWAYS ? p->to_run : 0;
    p->mode = mode;
    p->is_counting = mode != KHZ_PROFILE_OFF;
    p->window = p->narrow;
    p->beside_ns = 0.0;
    p->plain = 0;
    p->position = p->inner = p->n_missed = 0;
    p->to_record = 0;
    p->run = 0;
    p->run_ns = 0.0;
    p->every = 1;
    p->runs_timed = p->is_quiet = 0;
    set_timing(p, 0);
}

/* A cycle of which something is timed: from its first place on. */
static void begin_timing(khz_profile *p, int32_t until, int32_t first)
{
    p->from = p->until = until;
    if (p->is_burst != 0) { /* the first place begins with the cycle: nothing lies between them */
        const uint64_t now = khz_ticks_now(&p->clock);
        open_place(p, KHZ_PLACE_CYCLE, now);
        if (first != KHZ_PLACE_CYCLE) {
            open_place(p, first, now);
        }
        p->until--;
    } else if (--p->until < 0) {
        khz_probe_cross(p, KHZ_NO_PLACE, first);
    }
}

/* A cycle that may have something that is timed. */
KHZ_SELDOM static void begin_planned(khz_profile *p, int32_t first)
{
    set_timing(p, 1);
    p->first = p->position;
    p->first_inner = p->inner;
    const int32_t until = p->mode == KHZ_PROFILE_BURST ? khz_plan_burst(p) : khz_plan_window(p);
    const int runs_timed = p->is_burst | (p->has_window & p->is_wide) | p->runs_timed;
    p->is_warm = p->has_run_timed == runs_timed;
    p->has_run_timed = runs_timed;
    if ((p->has_window | runs_timed) != 0) {
        begin_timing(p, until, first);
    } else {
        set_timing(p, 0);
    }
}

void khz_profile_begin(khz_profile *p, uint64_t cycle, int32_t first)
{
    const int wanted = __atomic_load_n(&p->wanted, __ATOMIC_RELAXED);
    if (wanted != p->mode) {
        take_over(p, wanted);
    }
    if (wanted == KHZ_PROFILE_OFF) {
        return;
    }
    p->cycle = cycle;
    p->n_open = p->n_sums = 0;
    p->n_counted = 0;
    if (p->to_window > 0) { /* the usual case: as the cycle before */
        p->to_window--;
        p->is_warm = p->is_quiet = 1;
        return;
    }
    p->is_quiet = 0;
    begin_planned(p, first);
}

size_t khz_record_used(const khz_cycle_record *r)
{
    const size_t sums = (size_t)r->n_sums * sizeof(khz_place_sum);
    return rounded_up(sizeof *r + sums + (size_t)r->n_borders * sizeof(khz_border) + sizeof(uint32_t),
                      sizeof(uint64_t));
}

/* The record of this cycle: what is known here of its head, sums, borders, the seal. */
KHZ_NOINLINE static khz_cycle_record *write_record(khz_profile *p, void *row)
{
    khz_cycle_record *const r = (khz_cycle_record *)row;
    const size_t sums = (size_t)p->n_sums * sizeof(khz_place_sum);
    const size_t room =
        (khz_profile_record_size(p->n_places) - sizeof *r - sizeof(uint32_t) - sums) / sizeof(khz_border);
    p->n_borders = (size_t)p->n_borders > room ? (int32_t)room : p->n_borders;
    const size_t borders = (size_t)p->n_borders * sizeof(khz_border);
    char *const after = (char *)row + sizeof *r;
    const uint32_t seal = (uint32_t)p->cycle;
    *r = (khz_cycle_record){.cycle = p->cycle,
                            .mode = p->is_burst != 0 ? KHZ_PROFILE_BURST : KHZ_PROFILE_ALWAYS,
                            .n_borders = (uint16_t)p->n_borders,
                            .n_sums = (uint32_t)p->n_sums,
                            .crossed = p->crossed,
                            .every = p->is_regular != 0 ? p->every : 0,
                            .is_warm = (uint32_t)p->is_warm,
                            .window = p->has_window != 0 ? (uint32_t)p->window : 0,
                            .first = p->first,
                            .first_inner = p->first_inner,
                            .next = p->position,
                            .next_inner = p->inner,
                            .untimed = p->untimed};
    if (p->is_burst != 0) {
        r->began = p->frame[0].began;
        r->ticks = saturated(khz_profile_sum(p, KHZ_PLACE_CYCLE)->ticks + p->frame[0].inside);
    }
    if (sums > 0) {
        memcpy(after, sums_of(p), sums);
    }
    if (borders > 0) {
        memcpy(after + sums, khz_profile_borders(p), borders);
    }
    memcpy(after + sums + borders, &seal, sizeof seal);
    return r;
}

int khz_profile_is_due(khz_profile *p, double ns, int is_missed)
{
    if (p->mode != KHZ_PROFILE_ALWAYS) {
        p->is_regular = 1;
        return p->mode == KHZ_PROFILE_BURST;
    }
    const int is_between = p->to_record > 0;
    p->to_record -= (uint32_t)is_between;
    p->is_regular = p->run == 0 && !is_between; /* others of a run took longer because they were timed */
    if (p->is_regular != 0) {
        p->to_record = p->every - 1;
        return 1;
    }
    return is_missed || p->has_window != 0 || (ns > p->slow_ns && p->run == 0);
}

KHZ_SELDOM static void end_timing(khz_profile *p, int32_t last)
{
    if (--p->until < 0) {
        /* in a burst all that is open ends: the last place, and what a step that failed half way left */
        khz_probe_cross(p, p->is_burst != 0 ? KHZ_PLACE_CYCLE : last, KHZ_NO_PLACE);
    }
    p->crossed += (uint32_t)(p->from - p->until);
    p->last = p->crossed;
    p->last_inner = p->is_burst != 0 ? p->n_inner : p->last_inner;
    if (p->has_window != 0) {
        khz_move_window(p);
    }
    p->until = p->until_inner = KHZ_UNTIMED; /* nothing is timed between cycles */
    p->runs_timed = 0;
}

khz_cycle_record *khz_profile_end(khz_profile *p, void *row, int32_t last)
{
    if (p->mode == KHZ_PROFILE_OFF) {
        return NULL;
    }
    if (p->is_timing != 0) {
        end_timing(p, last);
    }
    return row != NULL ? write_record(p, row) : NULL;
}

void khz_profile_init(khz_profile *p, int32_t n_places, int mode, int is_bounded)
{
    memset(p, 0, khz_profile_size(n_places));
    p->n_places = n_places;
    p->most_borders = most_borders(n_places);
    p->slots = rounded_up(sizeof(khz_profile), PROFILE_ALIGNMENT);
    p->sums = p->slots + rounded_up((size_t)n_places * sizeof(int32_t), PROFILE_ALIGNMENT);
    p->borders = p->sums + rounded_up((size_t)n_places * sizeof(khz_place_sum), PROFILE_ALIGNMENT);
    p->size = khz_profile_size(n_places);
    khz_ticks_choose(&p->clock);
    khz_profile_calibrate(p);
    p->wanted = mode;
    p->is_bounded = is_bounded;
    p->mode = KHZ_PROFILE_OFF;
    khz_weigh_anew(p);
    p->last = p->last_inner = 0;
    take_over(p, mode);
    p->until = p->until_inner = KHZ_UNTIMED;
}
