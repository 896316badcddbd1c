#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "khz_profiled.h"

#include <sys/resource.h>

int32_t khz_profiled_is_built_in(void)
{
#ifdef KHZ_PROFILE
    return 1;
#else
    return 0;
#endif
}

size_t khz_profiled_size(int32_t n_places) { return khz_profile_size(n_places); }

void khz_profiled_costs(const khz_profile *p, double *costs)
{
    costs[0] = p->clock.ns_per_tick;
    costs[1] = p->clock.ns_per_read;
    costs[2] = p->costs.probe_ns;
    costs[3] = p->costs.probe_inside_ns;
    costs[4] = p->costs.cycle_ns;
    costs[5] = p->costs.border_ns;
    costs[6] = p->costs.passed_ns;
    costs[7] = p->costs.empty_ns;
    costs[8] = p->costs.idle_ns;
    costs[9] = p->costs.monotonic_ns;
    costs[10] = (double)p->clock.is_counter;
}

size_t khz_profiled_record_size(int32_t n_places) { return khz_profile_record_size(n_places); }

void khz_profiled_init(khz_profile *p, int32_t n_places, int mode)
{
    khz_profile_init(p, n_places, mode, 0); /* nobody waits for these cycles */
}

void khz_profiled_attach(khz_stepper *s, khz_profile *p, const khz_model *timed)
{
    khz_context *const c = (khz_context *)khz_stepper_instance(s);
    c->profile = c->timing = NULL;
    c->timed = timed;
    c->first_place = KHZ_PLACES_OF_CYCLE;
    if (p != NULL) {
        khz_profile_attach(p, c);
    }
}

/* What took this thread off its processor, or made it wait for memory, so far; nothing where nobody knows. */
static void usage(uint32_t *switches, uint32_t *faults)
{
    *switches = *faults = 0;
#ifdef RUSAGE_THREAD
    struct rusage now;
    if (getrusage(RUSAGE_THREAD, &now) == 0) {
        *switches = (uint32_t)now.ru_nivcsw;
        *faults = (uint32_t)(now.ru_minflt + now.ru_majflt);
    }
#endif
}

uint64_t khz_profiled_steps(khz_stepper *s, khz_profile *p, uint64_t n, unsigned char *records)
{
    const size_t size = khz_profile_record_size(p->n_places);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t switches, faults, switches_after, faults_after;
        usage(&switches, &faults);
        const int64_t began = khz_ticks_monotonic();
        khz_profile_begin(p, s->counts.steps, KHZ_PLACE_CYCLE);
        const uint32_t flags = khz_stepper_step(s);
        (void)khz_profile_is_due(p, 0.0, 1); /* here all are */
        khz_cycle_record *const r = khz_profile_end(p, records + i * size, KHZ_PLACE_CYCLE);
        const int64_t ended = khz_ticks_monotonic();
        usage(&switches_after, &faults_after);
        if (r != NULL) {
            r->flags = flags;
            r->release_ns = r->woke_ns = began;
            r->stepped_ns = (uint32_t)(ended - began);
            r->ended_ns = ended;
            r->switches = switches_after - switches;
            r->faults = faults_after - faults;
            khz_profile_weigh(p, (double)(ended - began));
        }
        if ((flags & KHZ_STEP_TERMINATED) != 0) {
            return i + 1;
        }
    }
    return n;
}
