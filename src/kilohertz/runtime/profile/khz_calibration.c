#include "khz_calibration.h"

#include <math.h>

enum { CALIBRATION_PAIRS = 64, CALIBRATION_ROUNDS = 31 };

/* CALIBRATION_ROUNDS values, sorted on the way. */
typedef struct calibration_sample {
    double value[CALIBRATION_ROUNDS];
    int n;
} calibration_sample;

static void calibration_add(calibration_sample *s, double value)
{
    int at = s->n++;
    for (; at > 0 && s->value[at - 1] > value; at--) {
        s->value[at] = s->value[at - 1];
    }
    s->value[at] = value;
}

/* The lower quartile: others on the machine make a round longer, nothing makes it shorter. */
static double calibration_usual(const calibration_sample *s) { return s->value[s->n / 4]; }

/* CALIBRATION_PAIRS of borders around nothing.  Nanoseconds of one border. */
static double cross_pairs(khz_profile *p)
{
    const int32_t place = p->n_places - 1;
    const uint64_t began = khz_ticks_now(&p->clock);
    for (int k = 0; k < CALIBRATION_PAIRS; k++) {
        if (--p->until < 0) {
            khz_probe_cross(p, KHZ_NO_PLACE, place);
        }
        if (--p->until < 0) {
            khz_probe_cross(p, place, KHZ_NO_PLACE);
        }
    }
    return (double)(khz_ticks_now(&p->clock) - began) * p->clock.ns_per_tick / (2 * CALIBRATION_PAIRS);
}

/* The same where nothing is timed. */
static double pass_pairs(khz_profile *p)
{
    const khz_context nobody = {0};
    const volatile khz_context *const c = &nobody; /* looked at each time, as in a cycle */
    const uint64_t began = khz_ticks_now(&p->clock);
    for (int k = 0; k < 2 * CALIBRATION_PAIRS; k++) {
        if (c->timing != NULL) {
            khz_probe_cross(p, KHZ_NO_PLACE, p->n_places - 1);
        }
    }
    return (double)(khz_ticks_now(&p->clock) - began) * p->clock.ns_per_tick / (2 * CALIBRATION_PAIRS);
}

/* BURST: a pair, what of it falls inside, what is left of a cycle around them. */
static void calibrate_burst(khz_profile *p)
{
    calibration_sample pair = {{0.0}, 0}, inside = {{0.0}, 0}, cycle = {{0.0}, 0};
    const double ns = p->clock.ns_per_tick;
    p->wanted = KHZ_PROFILE_BURST;
    for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
        khz_profile_begin(p, 0, KHZ_PLACE_CYCLE);
        calibration_add(&pair, 2.0 * cross_pairs(p));
        (void)khz_profile_end(p, NULL, KHZ_PLACE_CYCLE);
        calibration_add(&inside, (double)khz_profile_sum(p, p->n_places - 1)->ticks * ns / CALIBRATION_PAIRS);
    }
    p->costs.probe_ns = calibration_usual(&pair);
    p->costs.probe_inside_ns =
        calibration_usual(&inside) < calibration_usual(&pair) ? calibration_usual(&inside) : calibration_usual(&pair);
    for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
        khz_profile_begin(p, 0, KHZ_PLACE_CYCLE);
        khz_probe_cross(p, KHZ_NO_PLACE, p->n_places - 1);
        khz_probe_cross(p, p->n_places - 1, KHZ_NO_PLACE);
        (void)khz_profile_end(p, NULL, KHZ_PLACE_CYCLE);
        const double rest = (double)khz_profile_sum(p, KHZ_PLACE_CYCLE)->ticks * ns;
        calibration_add(&cycle, rest - (p->costs.probe_ns - p->costs.probe_inside_ns));
    }
    p->costs.cycle_ns = calibration_usual(&cycle) > 0.0 ? calibration_usual(&cycle) : 0.0;
}

/* ALWAYS: begin and end of a cycle, and its record if it leaves one. */
static double empty_cycles(khz_profile *p, int has_record)
{
    _Alignas(khz_cycle_record) unsigned char row[sizeof(khz_cycle_record) + sizeof(uint32_t)];
    p->to_window = 0;
    p->run = 1; /* the cycle after a run of windows: there is no room for one */
    khz_profile_begin(p, 0, KHZ_PLACE_CYCLE);
    (void)khz_profile_end(p, NULL, KHZ_PLACE_CYCLE);
    const uint64_t began = khz_ticks_now(&p->clock);
    for (int k = 0; k < CALIBRATION_PAIRS; k++) {
        p->to_window = 1;
        p->run = 0;
        khz_profile_begin(p, 0, KHZ_PLACE_CYCLE);
        const int is_due = khz_profile_is_due(p, 0.0, has_record);
        (void)khz_profile_end(p, is_due && has_record ? row : NULL, KHZ_PLACE_CYCLE);
        khz_profile_weigh(p, 1.0);
    }
    return (double)(khz_ticks_now(&p->clock) - began) * p->clock.ns_per_tick / CALIBRATION_PAIRS;
}

static double monotonic_readings(void)
{
    const int64_t first = khz_ticks_monotonic();
    int64_t last = first;
    for (int k = 0; k < CALIBRATION_PAIRS; k++) {
        last = khz_ticks_monotonic();
    }
    return (double)(last - first) / CALIBRATION_PAIRS;
}

/* ALWAYS: a border whose clock is read, one whose is not, a cycle. */
static void calibrate_always(khz_profile *p)
{
    calibration_sample border = {{0.0}, 0}, passed = {{0.0}, 0}, empty = {{0.0}, 0}, idle = {{0.0}, 0};
    calibration_sample monotonic = {{0.0}, 0};
    p->wanted = KHZ_PROFILE_ALWAYS;
    p->narrow = KHZ_WINDOW;
    for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
        p->plain = p->position = 1; /* a window in this cycle */
        p->inner = p->to_window = 0;
        p->run = 2; /* the last of a run that has one */
        khz_profile_begin(p, 0, KHZ_PLACE_CYCLE);
        (void)cross_pairs(p);
        (void)khz_profile_end(p, NULL, KHZ_PLACE_CYCLE);
        const khz_border *const b = khz_profile_borders(p);
        const double took = (double)(b[KHZ_WINDOW - 1].ticks - b[0].ticks) * p->clock.ns_per_tick;
        calibration_add(&border, took / (KHZ_WINDOW - 1));
        calibration_add(&passed, pass_pairs(p));
        calibration_add(&empty, empty_cycles(p, 1));
        calibration_add(&idle, empty_cycles(p, 0));
        calibration_add(&monotonic, monotonic_readings());
    }
    p->costs.border_ns = calibration_usual(&border) > 1.0 ? calibration_usual(&border) : 1.0;
    p->costs.passed_ns = calibration_usual(&passed);
    p->costs.idle_ns = calibration_usual(&idle);
    p->costs.empty_ns = fmax(calibration_usual(&empty), p->costs.idle_ns);
    p->costs.monotonic_ns = calibration_usual(&monotonic);
    const double most = KHZ_ALWAYS_NS / p->costs.border_ns;
    p->narrow = most > KHZ_WINDOW ? KHZ_WINDOW : most < 2.0 ? 2 : (int32_t)most;
}

void khz_profile_calibrate(khz_profile *p)
{
    calibrate_burst(p);
    calibrate_always(p);
}
