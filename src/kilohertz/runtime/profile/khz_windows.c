#include "khz_windows.h"

#include <math.h>

enum {
    RAREST_RUN = 1 << 14, /* cycles */
    FIRST_RUN = 1 << 7,   /* once the usual cycle is known */
    BESIDE = KHZ_PLAIN_RUN - 1,
    MOST_MISSED = 4096, /* cycles that a window waits for one as long as the longest */
    WEIGHED = 16        /* one cycle out of so many tells the median */
};

/* What is calibrated in a loop around nothing costs more where it is seldom done: code and memory are cold. */
static const double WORSE = 2.0;

/* A cycle is slow beyond so many usual ones. */
static const double SLOW = 1.25;

/* A stride of the walk to what a run of windows costs. */
static const double NEARER = 1.1;

/* The walk to the median cycle: parts of it in one stride, less from stride to stride, so that slow moments of the
 * machine do not draw windows to themselves. */
static const double FIRST_STRIDE = 1.0 / 16.0, LAST_STRIDE = 1.0 / 32768.0, SHORTER = 0.999;
static const double EVERY_STRIDE = 1.0 / 18.0; /* every cycle tells the median until strides are so short */

/* Of what ALWAYS may cost a usual cycle, beyond what every cycle costs anyhow, so much is planned for: cycles after a
 * record or a run find caches cold, which nothing here can see. */
static const double PLANNED = 0.5;

/* In nanoseconds. */
static double allowance(const khz_profile *p)
{
    const double part = p->usual_ns / KHZ_ALWAYS_PART;
    const double anyhow = WORSE * (p->costs.idle_ns + (double)p->last * p->costs.passed_ns) +
                          (double)p->n_counted * p->costs.border_ns; /* a loop is counted for about as much */
    return PLANNED * ((part < KHZ_ALWAYS_NS ? part : KHZ_ALWAYS_NS) - anyhow);
}

/* What a record costs beyond that; what a window does, where copies are warm. */
static double record_price(const khz_profile *p) { return WORSE * (p->costs.empty_ns - p->costs.idle_ns); }

static double window_price(const khz_profile *p) { return WORSE * (double)p->window * p->costs.border_ns; }

/* Cycles that pay for one thing of this price, at most so many. */
static uint32_t cycles_for(double price, double each, uint32_t most)
{
    return !(each * (double)most > price) ? most : price > each ? (uint32_t)ceil(price / each) : 1;
}

/* Half of the allowance at most is for records; a record of every cycle, where there is more. */
static void plan_records(khz_profile *p)
{
    const double half = 0.5 * allowance(p);
    p->every = cycles_for(record_price(p), half, KHZ_RAREST_RECORD);
}

/* What a run of windows costs: as calibrated, or more where it was: timed copies that seldom run are cold. */
static uint32_t cycles_to_run(const khz_profile *p)
{
    const double left = allowance(p) - record_price(p) / (double)p->every;
    const double calibrated = KHZ_WINDOW_RUN * window_price(p);
    return cycles_for(fmax(calibrated, p->run_cost_ns), left, RAREST_RUN);
}

/* A cycle of a run is over.  After the last one its cost is known: a walk to the median of all runs. */
static void weigh_run(khz_profile *p, double ns)
{
    const double more = ns - p->usual_ns;
    p->run_ns += more < p->usual_ns ? more : p->usual_ns; /* not what others on the machine did */
    if (--p->run > 0) {
        return;
    }
    const double cost = p->run_ns > 1.0 ? p->run_ns : 1.0;
    p->run_cost_ns = p->run_cost_ns <= 0.0 ? cost : p->run_cost_ns * (cost > p->run_cost_ns ? NEARER : 1.0 / NEARER);
    p->to_window = cycles_to_run(p);
    p->run_ns = 0.0;
}

/* The window goes on where this one ended; anew from the begin where it went to the end of a cycle, or where cycles
 * never are so long any more. */
void khz_move_window(khz_profile *p)
{
    const int is_done = p->n_borders > 0 && p->n_borders < p->window;
    p->n_missed = p->n_borders > 0 ? 0 : p->n_missed + 1;
    if (is_done || p->n_missed > MOST_MISSED) {
        p->position = p->inner = p->n_missed = 0;
    }
}

/* ALWAYS: a cycle of a run of windows.  Gives the outer borders until its window begins. */
int32_t khz_plan_window(khz_profile *p)
{
    if (p->run == 0) { /* nothing is read yet: the copies get warm */
        p->run = 1 + KHZ_WINDOW_RUN + 1;
        p->runs_timed = 1;
        return KHZ_UNTIMED;
    }
    p->has_window = p->run > 1; /* the last one finds the plain copies cold */
    return (int32_t)p->position;
}

/* What a burst may cost a cycle; whether it is kept to that: the usual cycle is known, and long enough. */
static double burst_share(const khz_profile *p) { return p->usual_ns / KHZ_BURST_PART; }
static int is_kept(const khz_profile *p)
{
    return p->is_bounded != 0 && p->usual_ns >= KHZ_BURST_NS && p->stride <= EVERY_STRIDE;
}

/* BURST: nothing in this cycle, all borders, or a window where all would cost too much.  Likewise. */
int32_t khz_plan_burst(khz_profile *p)
{
    p->plain = p->plain + 1 < KHZ_PLAIN_EVERY ? p->plain + 1 : 0;
    if (p->plain >= KHZ_PLAIN_EVERY - KHZ_PLAIN_RUN) {
        return KHZ_UNTIMED;
    }
    const double most = (double)(p->last + p->last_inner);
    if (is_kept(p)) {
        p->fit = p->fit > 0.0 ? p->fit : burst_share(p) / (0.5 * WORSE * p->costs.probe_ns);
        p->is_wide |= p->fit < most; /* from now on: whole cycles in slow moments only would be slow ones */
    }
    if (p->is_wide == 0) {
        p->is_burst = p->runs_timed = 1;
        p->until_inner = 0;
        return 0;
    }
    p->window = p->fit < KHZ_WINDOW ? KHZ_WINDOW : p->fit > p->most_borders ? p->most_borders : (int32_t)p->fit;
    p->has_window = 1;
    return (int32_t)p->position;
}

/* BURST: a cycle with borders, or one of those without that follow it.  What the former take more on the median is what
 * a burst may cost: a border more in a cycle as often as one less. */
static void fit_burst(khz_profile *p, double ns)
{
    const uint32_t left = KHZ_PLAIN_EVERY - 1 - p->plain;
    if (p->fit <= 0.0 || left >= KHZ_PLAIN_RUN + BESIDE || left == BESIDE) { /* the first without is cold */
        return;
    }
    const double whole = ns + p->accounted_ns; /* a record with many borders takes its time, too */
    p->beside_ns += left < BESIDE ? -whole : whole;
    if (left > 0) {
        return;
    }
    const double most = (double)(p->last + p->last_inner + (uint32_t)p->most_borders);
    const double fit = p->beside_ns > BESIDE * burst_share(p) ? p->fit / NEARER : p->fit * NEARER;
    p->fit = fit < KHZ_WINDOW ? KHZ_WINDOW : fit > most ? most : fit;
    p->beside_ns = 0.0;
}

void khz_weigh_anew(khz_profile *p)
{
    p->usual_ns = 0.0;
    p->stride = FIRST_STRIDE;
    p->run_cost_ns = p->fit = 0.0;
    p->to_run = FIRST_RUN;
    p->is_wide = 0;
}

/* One cycle out of WEIGHED, as if by chance (slower models have their turns by turns), or out of as many as leave one
 * regular record. */
static int is_weighed(const khz_profile *p)
{
    const int is_due = (uint32_t)p->cycle * 2654435761U < UINT32_MAX / WEIGHED || p->every > 1;
    return p->is_regular != 0 && (is_due || p->stride > EVERY_STRIDE);
}

void khz_profile_weigh(khz_profile *p, double ns)
{
    if (p->mode == KHZ_PROFILE_ALWAYS && p->run > 0) {
        weigh_run(p, ns);
        return;
    }
    if (p->mode == KHZ_PROFILE_BURST) {
        fit_burst(p, ns);
    }
    if (p->mode == KHZ_PROFILE_OFF || !is_weighed(p)) {
        return;
    }
    /* A walk to the median: as often up as down. */
    p->usual_ns = p->usual_ns > 0.0 ? p->usual_ns * (ns > p->usual_ns ? 1.0 + p->stride : 1.0 - p->stride) : ns;
    p->stride = p->stride * SHORTER > LAST_STRIDE ? p->stride * SHORTER : LAST_STRIDE;
    p->slow_ns = SLOW * p->usual_ns;
    if (p->mode == KHZ_PROFILE_ALWAYS) {
        plan_records(p);
    }
}
