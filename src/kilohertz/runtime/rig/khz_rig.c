#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "khz_thread.h"

/* What is compiled into a program knows by this that it runs in a rig. */
extern const int khz_is_rig;
const int khz_is_rig = 1;

khz_status khz_rig_fail(khz_rig *r, khz_status status, const char *format, ...)
{
    if (r->message[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(r->message, sizeof r->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

void *khz_rig_room(const khz_rig *r, int64_t n, size_t size)
{
    const size_t bytes = ((size_t)(n > 0 ? n : 1) * size + 63U) & ~(size_t)63U;
    void *memory = NULL;
    if (r->n_processes > 1) { /* the first process reports on what the others count */
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        memory = memory == MAP_FAILED ? NULL : memory;
    } else {
        memory = aligned_alloc(64, bytes);
    }
    if (memory != NULL) {
        memset(memory, 0, bytes);
    }
    return memory;
}

/* ------------------------------------------------------------------------------------------------------------- plan */

static khz_status read_plan(khz_rig *r)
{
    khz_scenario *const s = &r->scenario;
    r->name = khz_scenario_text(s, "name", "task");
    r->period_ns = khz_scenario_integer(s, "period_ns", 1000000, 1, (int64_t)1 << 50);
    r->wall_num = khz_scenario_integer(s, "wall_num", 1, 0, 1000000);
    r->wall_den = khz_scenario_integer(s, "wall_den", 1, 1, 1000000);
    r->n_cycles = (uint64_t)khz_scenario_integer(s, "cycles", 0, 0, (int64_t)1 << 60);
    r->start = khz_scenario_real(s, "start", 0.0);
    r->phase_ns = khz_scenario_integer(s, "phase_ns", -1, -1, (int64_t)1 << 50);
    r->probe_ns = khz_scenario_integer(s, "probe_ns", 0, 0, 1000000000);
    r->watchdog_ns = khz_scenario_integer(s, "watchdog_ns", 1000000000, 0, (int64_t)1 << 50);
    r->endless_ns = khz_scenario_integer(s, "endless_ns", 10000000000, 0, (int64_t)1 << 50);
    r->watchdog_stops = (int32_t)khz_scenario_integer(s, "watchdog_stops", 0, 0, 1);
    r->loss_stops = (int32_t)khz_scenario_integer(s, "loss_stops", 1, 0, 1);
    r->n_faults = (int32_t)khz_scenario_integer(s, "n_faults", 0, 0, 1 << 16);
    r->shows_views = (int32_t)khz_scenario_integer(s, "views", 0, 0, 1);
    r->live_every = (uint64_t)khz_scenario_integer(s, "live_every", 10, 1, (int64_t)1 << 40);
    const int one = khz_scenario_integer(s, "one_thread", 0, 0, 1) != 0;
    r->n_threads = one ? 1 : (int32_t)khz_scenario_integer(s, "n_threads", 1, 1, KHZ_MOST_THREADS);
    r->n_processes = one ? 1 : (int32_t)khz_scenario_integer(s, "n_processes", 1, 1, KHZ_MOST_THREADS);
    return KHZ_OK;
}

/* A setting of a thread; where it has none, that of the whole run. */
static const char *setting(khz_thread *k, char *room, const char *key)
{
    khz_scenario_key(room, "thread", k->index, key);
    return khz_scenario_text(&k->rig->scenario, room, NULL) != NULL ? room : key;
}

static int64_t integer(khz_thread *k, const char *key, int64_t fallback, int64_t low, int64_t high)
{
    char room[KHZ_KEY_SIZE];
    return khz_scenario_integer(&k->rig->scenario, setting(k, room, key), fallback, low, high);
}

static khz_status prepare_thread(khz_rig *r, khz_thread *k)
{
    char room[KHZ_KEY_SIZE];
    const int alone = r->n_threads == 1;
    k->rig = r;
    k->name = khz_scenario_text(&r->scenario, khz_scenario_key(room, "thread", k->index, "name"), "main");
    k->every = alone ? 1 : integer(k, "every", 1, 1, 1000000);
    k->process = alone ? 0 : (int32_t)integer(k, "process", 0, 0, r->n_processes - 1);
    k->cpu = integer(k, "cpu", -1, -1, 1 << 16);
    k->priority = integer(k, "priority", 0, 0, 99);
    k->period_ns = r->period_ns * k->every;
    k->n_cycles = r->n_cycles / (uint64_t)k->every;
    k->is_idle = r->n_cycles > 0 && k->n_cycles == 0;
    k->grace = (uint64_t)integer(k, "grace", 10, 0, (int64_t)1 << 40);
    k->recover = (uint64_t)integer(k, "recover", 0, 0, (int64_t)1 << 40);
    k->spin_ns = integer(k, "spin_ns", 0, 0, 1000000000);
    k->patience_ns = integer(k, "patience_ns", 0, 0, (int64_t)1 << 50);
    k->stop_on_failure = (int32_t)integer(k, "stop_on_failure", 0, 0, 1);
    k->is_isolated = (int32_t)integer(k, "isolate", 0, 0, 1);
    if (alone || khz_scenario_integer(&r->scenario, "fault.thread", 0, 0, r->n_threads - 1) == k->index) {
        k->slow_step = (uint64_t)integer(k, "fault.slow_step", 0, 0, (int64_t)1 << 40);
        k->slow_ns = integer(k, "fault.slow_ns", 0, 0, (int64_t)1 << 40);
    }
    k->slow_every = (uint64_t)integer(k, "fault.slow_every", (int64_t)1 << 40, 1, (int64_t)1 << 40);
    const char *const policy = khz_scenario_text(&r->scenario, setting(k, room, "policy"), "catch_up");
    k->policy = KHZ_POLICIES;
    for (int32_t i = 0; i < KHZ_POLICIES; i++) {
        k->policy = strcmp(policy, khz_word(&khz_task_layout, "khz_policy_", i)) == 0 ? i : k->policy;
    }
    return k->policy < KHZ_POLICIES ? KHZ_OK : khz_rig_fail(r, KHZ_UNSUPPORTED, "no policy is called `%.100s`", policy);
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a;
    int64_t y = b;
    while (y != 0) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

static khz_status prepare_threads(khz_rig *r)
{
    khz_status status = KHZ_OK;
    r->threads = (khz_thread *)khz_rig_room(r, r->n_threads, sizeof *r->threads);
    r->hyper = 1;
    for (int32_t i = 0; i < r->n_threads && status == KHZ_OK; i++) {
        r->threads[i].index = i;
        status = prepare_thread(r, &r->threads[i]);
        r->hyper = common_multiple(r->hyper, r->threads[i].every);
        if (r->hyper > 1000000000) {
            return khz_rig_fail(r, KHZ_UNSUPPORTED, "the periods of the threads have no common multiple in sight");
        }
    }
    khz_rig_lead(r);
    return status;
}

void khz_rig_lead(khz_rig *r)
{
    int32_t found = -1;
    for (int32_t i = 0; i < r->n_threads; i++) {
        const int alive = atomic_load(&r->threads[i].ended) == KHZ_END_NONE;
        found = alive && (found < 0 || r->threads[i].every < r->threads[found].every) ? i : found;
    }
    if (found >= 0) {
        atomic_store(&r->leader, found);
    }
}

khz_thread *khz_rig_thread(khz_rig *r, int32_t thread) { return &r->threads[thread < r->n_threads ? thread : 0]; }

/* ------------------------------------------------------------------------------------------------ what is whose own */

/* Pointers to those of n things, `size` bytes apart, whose thread (a pointer `offset` bytes in) is this one. */
static void *own(const khz_thread *k, void *things, int32_t n, size_t size, size_t offset, int32_t *found)
{
    void **const out = (void **)khz_rig_room(k->rig, n, sizeof *out);
    *found = 0;
    for (int32_t i = 0; out != NULL && i < n; i++) {
        char *const thing = (char *)things + (size_t)i * size;
        khz_thread *thread = NULL;
        memcpy(&thread, thing + offset, sizeof thread);
        if (thread == k) {
            out[(*found)++] = thing;
        }
    }
    return out;
}

static void gather(khz_rig *r, khz_thread *k)
{
    k->tasks = own(k, r->tasks, r->n_tasks, sizeof *r->tasks, offsetof(khz_task, thread), &k->n_tasks);
    k->playbacks =
        own(k, r->playbacks, r->n_playbacks, sizeof *r->playbacks, offsetof(khz_playback, thread), &k->n_playbacks);
    k->wires = own(k, r->wires, r->n_wires, sizeof *r->wires, offsetof(khz_wire, thread), &k->n_wires);
    k->connections = (khz_connection **)khz_rig_room(r, r->n_connections, sizeof *k->connections);
    for (int32_t i = 0; i < r->n_connections; i++) {
        if (r->connections[i].to.task->thread == k) {
            k->connections[k->n_connections++] = &r->connections[i];
        }
    }
}

/* Whoever talks to a device makes the calls that isolation refuses. */
static khz_status check_isolation(khz_rig *r, const khz_thread *k)
{
    if (!k->is_isolated || k->n_wires == 0) {
        return KHZ_OK;
    }
    return khz_rig_fail(
        r, KHZ_UNSUPPORTED,
        "thread %.100s is isolated and has device %.100s: connect the device to a task of another thread", k->name,
        k->wires[0]->config.name);
}

khz_status khz_rig_prepare(khz_rig *r)
{
    khz_status status = read_plan(r);
    status = status == KHZ_OK ? prepare_threads(r) : status;
    status = status == KHZ_OK ? khz_rig_tasks(r) : status;
    status = status == KHZ_OK ? khz_rig_inputs(r) : status;
    status = status == KHZ_OK ? khz_rig_initialise(r) : status;
    for (int32_t i = 0; status == KHZ_OK && i < r->n_threads; i++) {
        gather(r, &r->threads[i]);
        status = check_isolation(r, &r->threads[i]);
    }
    status = status == KHZ_OK ? khz_rig_outputs(r) : status;
    for (int32_t i = 0; status == KHZ_OK && i < r->n_threads; i++) {
        khz_thread_settle(&r->threads[i], 0);
    }
    status = status == KHZ_OK ? khz_rig_profiles(r) : status;
    if (r->scenario.problem[0] != '\0') {
        r->message[0] = '\0';
        return khz_rig_fail(r, KHZ_UNSUPPORTED, "%s", r->scenario.problem);
    }
    return status;
}

int khz_rig_ending(const khz_rig *r)
{
    int end = KHZ_END_DURATION;
    for (int32_t i = r->n_threads - 1; i >= 0; i--) {
        const int32_t ended = atomic_load(&r->threads[i].ended);
        end = ended != KHZ_END_DURATION ? ended : end;
        if (ended == KHZ_END_STUCK || ended == KHZ_END_CRASH) {
            return ended; /* whatever was asked for before */
        }
    }
    const int32_t stop = atomic_load(&r->stop);
    return end != KHZ_END_DURATION && stop != KHZ_END_NONE ? stop : end;
}

void khz_rig_release(khz_rig *r)
{
    for (int32_t i = 0; i < r->n_tasks; i++) {
        const int is_lost = r->tasks[i].thread != NULL && khz_thread_is_lost(r->tasks[i].thread);
        if (r->tasks[i].instance != NULL && !is_lost) {
            khz_stepper_destroy(r->tasks[i].stepper);
        }
    }
    if (r->live != NULL && r->live_is_shared) {
        khz_live_remove(r->live);
    }
}
