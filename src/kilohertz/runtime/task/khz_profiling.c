#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "khz_profiled.h"
#include "khz_thread.h"

enum { RING = 1 << 15, RING_BYTES = 1 << 23, FILE_BYTES = 1 << 26 };

static int64_t within(int64_t n, int64_t low, int64_t high) { return n < low ? low : n > high ? high : n; }

/* Places of a thread: those of the cycle, one for each of its devices, then those of its models. */
static int32_t lay_out(khz_thread *k, khz_profile *p)
{
    int32_t n = KHZ_PLACES_OF_CYCLE + k->n_wires;
    for (int32_t i = 0; i < k->n_tasks; i++) {
        khz_context *const c = (khz_context *)k->tasks[i]->instance;
        c->timed = k->tasks[i]->linked->timed();
        c->first_place = n;
        if (p != NULL) {
            khz_profile_attach(p, c);
        }
        n += KHZ_PLACES_OF_MODEL + k->tasks[i]->stepper->model->n_places;
    }
    if (p != NULL) {
        khz_profile_attach(p, &k->probes);
    }
    return n;
}

/* Lines that say whose places these are: the thread, the build, its devices and its models, in the order of places. */
static char *describe(khz_rig *r, const khz_thread *k, const char *build)
{
    char *const text = (char *)khz_rig_room(r, KHZ_TRACE_HEAD, 1);
    size_t n = 0;
    if (text == NULL) {
        return NULL;
    }
    n += (size_t)snprintf(text, KHZ_TRACE_HEAD, "thread %.100s\nbuild %.64s\n", k->name, build);
    for (int32_t i = 0; i < k->n_wires && n < KHZ_TRACE_HEAD; i++) {
        n += (size_t)snprintf(text + n, KHZ_TRACE_HEAD - n, "device %.100s\n", k->wires[i]->config.name);
    }
    for (int32_t i = 0; i < k->n_tasks && n < KHZ_TRACE_HEAD; i++) {
        n += (size_t)snprintf(text + n, KHZ_TRACE_HEAD - n, "task %.100s\n", k->tasks[i]->name);
    }
    return text; /* one that is cut fills the head, which is refused then */
}

static khz_status prepare_trace(khz_rig *r, khz_thread *k, int mode, const char *path, const char *build)
{
    char file[512];
    khz_trace *const t = &r->tracer.traces[k->index];
    const int32_t n_places = lay_out(k, NULL);
    const size_t size = khz_profile_record_size(n_places);
    const uint64_t n_ring = (uint64_t)within(RING_BYTES / (int64_t)size, 64, RING);
    khz_profile *const p = (khz_profile *)khz_rig_room(r, (int64_t)khz_profile_size(n_places), 1);
    void *const memory = khz_rig_room(r, (int64_t)khz_ring_size(size, n_ring), 1);
    t->about = describe(r, k, build);
    if (p == NULL || memory == NULL || t->about == NULL) {
        return khz_rig_fail(r, KHZ_OUT_OF_MEMORY, "no memory for a profile of %d places", (int)n_places);
    }
    khz_profile_init(p, n_places, mode, 1);
    (void)lay_out(k, p);
    t->profile = p;
    t->period_ns = r->wall_num > 0 ? k->period_ns * r->wall_num / r->wall_den : 0;
    (void)snprintf(file, sizeof file, "%.480s.%d", path, (int)k->index);
    const int error = khz_trace_open(t, file, memory, n_ring, FILE_BYTES);
    k->trace = t;
    return error == 0 ? KHZ_OK : khz_rig_fail(r, KHZ_UNSUPPORTED, "cannot write %.200s: %s", file, strerror(error));
}

khz_status khz_rig_profiles(khz_rig *r)
{
    /* All keys are read, asked for or not: one that nobody reads is refused as unknown. */
    const char *const path = khz_scenario_text(&r->scenario, "profile.file", "");
    const char *const build = khz_scenario_text(&r->scenario, "profile.build", "");
    const int mode = (int)khz_scenario_integer(&r->scenario, "profile.mode", -1, -1, KHZ_PROFILE_BURST);
    if (mode < 0 || path[0] == '\0') {
        return KHZ_OK;
    }
    if (!khz_profiled_is_built_in()) {
        return khz_rig_fail(r, KHZ_UNSUPPORTED,
                            "a profile was asked for, but this executable was built without probes");
    }
    r->tracer.traces = (khz_trace *)khz_rig_room(r, r->n_threads, sizeof *r->tracer.traces);
    khz_status status = KHZ_OK;
    for (int32_t i = 0; i < r->n_threads && status == KHZ_OK; i++) {
        status = prepare_trace(r, &r->threads[i], mode, path, build);
    }
    r->tracer.n_traces = status == KHZ_OK ? r->n_threads : 0;
    return status;
}

void khz_thread_profile_start(khz_thread *k)
{
    if (k->trace != NULL) {
        atomic_store(&k->trace->tid, (int32_t)syscall(SYS_gettid));
    }
}

#ifdef KHZ_PROFILE
void khz_thread_profile_begin(khz_thread *k)
{
    if (k->trace != NULL) {
        k->flags = 0;
        khz_profile_begin(k->trace->profile, k->step, KHZ_PLACE_INPUTS);
    }
}

static uint32_t after(int64_t instant, int64_t woke) { return instant > woke ? (uint32_t)(instant - woke) : 0; }

void khz_thread_profile_end(khz_thread *k, const khz_cycle_times *t)
{
    if (k->trace == NULL) {
        return;
    }
    khz_profile *const p = k->trace->profile;
    const double took_ns = (double)(t->ended - t->woke);
    const int is_missed = k->trace->period_ns > 0 && t->ended - t->release > k->trace->period_ns;
    if (khz_profile_is_over(p, took_ns, is_missed)) {
        return;
    }
    void *const row = khz_profile_is_due(p, took_ns, is_missed) ? khz_ring_reserve(&k->trace->ring) : NULL;
    khz_cycle_record *const r = khz_profile_end(p, row, KHZ_PLACE_LIVE);
    if (r != NULL) {
        r->release_ns = t->release;
        r->woke_ns = t->woke;
        r->ended_ns = t->ended;
        r->began_ns = after(t->began, t->woke);
        r->received_ns = after(t->received, t->woke);
        r->stepped_ns = after(t->stepped, t->woke);
        r->sent_ns = after(t->sent, t->woke);
        r->accounted_ns = (uint32_t)k->accounting_ns;
        r->flags = k->flags;
        khz_ring_commit(&k->trace->ring);
        khz_ring_expect(&k->trace->ring, sizeof *r);
    }
    p->accounted_ns = (double)k->accounting_ns;
    khz_profile_weigh(p, took_ns);
}

void khz_thread_exchange(khz_thread *k)
{
    k->exchange = 0;
    if (k->trace != NULL && k->n_wires > 1 && k->trace->profile->mode == KHZ_PROFILE_ALWAYS) {
        k->exchange = khz_ticks_now(&k->trace->profile->clock);
    }
}

void khz_thread_exchanged(khz_thread *k, int32_t wire)
{
    if (k->exchange == 0) {
        return;
    }
    const uint64_t now = khz_ticks_now(&k->trace->profile->clock);
    khz_place_sum *const sum = khz_profile_sum(k->trace->profile, KHZ_PLACES_OF_CYCLE + wire);
    sum->ticks += (uint32_t)(now - k->exchange);
    sum->calls++;
    k->exchange = now;
}
#endif

int32_t khz_thread_profile_mode(khz_thread *k, int32_t mode)
{
    if (k->trace == NULL || mode < KHZ_PROFILE_OFF || mode > KHZ_PROFILE_BURST) {
        return KHZ_REPLY_REFUSED;
    }
    __atomic_store_n(&k->trace->profile->wanted, mode, __ATOMIC_RELAXED);
    return KHZ_REPLY_OK;
}
