#define _GNU_SOURCE
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "khz_task.h"

const char *const khz_policy_names[KHZ_POLICIES] = {"catch_up", "skip", "hold", "safe", "stop"};
enum { TROUBLE = KHZ_STEP_HELD | KHZ_STEP_NEWTON_CAP | KHZ_STEP_NOT_FINITE | KHZ_STEP_PIVOT | KHZ_STEP_EVENT_CAP |
                 KHZ_STEP_CHATTERS | KHZ_STEP_FAILURE | KHZ_STEP_ASSERTION };

int64_t khz_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t khz_task_instant(const khz_task *k, uint64_t tick)
{
    /* tick*period*num/den without overflow: whole periods, then what is left of each */
    const int64_t per = k->period_ns * k->wall_num;
    const int64_t whole = per / k->wall_den;
    const int64_t rest = per % k->wall_den;
    return k->base_ns + (int64_t)tick * whole + (int64_t)tick * rest / k->wall_den;
}

static int is_waiting(const khz_task *k)
{
    return k->wall_num > 0;
}

/* Sleep until the instant; a stop from outside ends it early.  1 where the instant was already over. */
static int wait_until(khz_task *k, int64_t instant)
{
    if (khz_now() >= instant) {
        return 1;
    }
    const int64_t wake = instant - k->spin_ns;
    const struct timespec t = {(time_t)(wake / 1000000000), (long)(wake % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
        if (atomic_load_explicit(&k->stop, memory_order_relaxed) != KHZ_END_NONE) {
            return 0;
        }
    }
    while (k->spin_ns > 0 && khz_now() < instant) { /* at most spin_ns */
    }
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- inputs */

static int begins(const khz_task *k, const khz_unit *u)
{
    return k->step % (uint64_t)u->every == 0;
}

static int is_due(const khz_task *k, const khz_unit *u)
{
    return (k->step + 1) % (uint64_t)u->every == 0;
}

static void set(const khz_task *k, const khz_binding *b, double value)
{
    if (begins(k, b->unit)) {
        khz_signal_set(b->unit->instance, b->signal, value);
    }
}

static void connect_one(khz_task *k, khz_connection *c)
{
    const khz_unit *const source = c->from.unit;
    const uint64_t steps = source->stepper->n;
    const double value = khz_signal_get(source->instance, c->from.signal);
    if (steps != c->seen) {
        c->before = c->seen == 0 ? value : c->last;
        c->seen = steps;
    } else if (steps == 0) {
        c->before = value;
    }
    c->last = value;
    double passed = value;
    if (c->linear) {
        const uint64_t since = k->step - steps * (uint64_t)source->every;
        passed = value + (value - c->before) * (double)since / (double)source->every;
    }
    set(k, &c->to, c->gain * passed + c->offset);
}

static void read_inputs(khz_task *k)
{
    for (int32_t i = 0; i < k->n_playbacks; i++) {
        khz_playback *const p = &k->playbacks[i];
        khz_stimulus_at(&p->stimulus, k->start + (double)((int64_t)k->step * k->period_ns) / 1e9, p->values);
        for (int32_t j = 0; j < p->stimulus.n_columns; j++) {
            set(k, &p->targets[j], p->values[j]);
        }
    }
    for (int32_t i = 0; i < k->n_connections; i++) {
        if (!k->connections[i].late) {
            connect_one(k, &k->connections[i]);
        }
    }
}

static int receive(khz_task *k)
{
    int end = KHZ_END_NONE;
    k->messages = 0;
    for (int32_t i = 0; i < k->n_wires; i++) {
        khz_wire *const w = &k->wires[i];
        const uint32_t said = khz_port_receive(w->port, k->step, (int64_t)k->step * k->period_ns, w->inputs);
        for (int32_t j = 0; j < w->n_in; j++) {
            set(k, &w->in[j], w->inputs[j]);
        }
        k->messages += khz_port_came(w->port);
        const int32_t lost = (said & KHZ_PORT_LOST) != 0;
        k->account->counts.link_losses += (uint64_t)(lost && !w->is_lost);
        w->is_lost = lost;
        end = (said & KHZ_PORT_STOP) != 0 ? KHZ_END_LINK : end;
    }
    return end;
}

/* ------------------------------------------------------------------------------------------------- steps and outputs */

/* A planted slow step: burn the time, as a model that takes too long would. */
static void plant_fault(const khz_task *k)
{
    if (k->slow_ns <= 0 || k->step < k->slow_step || (k->step - k->slow_step) % k->slow_every != 0) {
        return;
    }
    const int64_t end = khz_now() + k->slow_ns;
    while (khz_now() < end) {
    }
}

static int step_units(khz_task *k)
{
    int end = KHZ_END_NONE;
    for (int32_t i = 0; i < k->n_units; i++) {
        khz_unit *const u = &k->units[i];
        if (!is_due(k, u)) {
            continue;
        }
        for (int32_t j = 0; j < k->n_connections; j++) {
            if (k->connections[j].late && k->connections[j].to.unit == u) {
                connect_one(k, &k->connections[j]);
            }
        }
        const int64_t began = k->n_units > 1 ? khz_now() : 0;
        const uint32_t flags = khz_stepper_step(u->stepper);
        if (k->n_units > 1 && k->step >= k->grace) {
            khz_histogram_add(&u->compute, khz_now() - began);
        }
        if ((flags & (uint32_t)TROUBLE) != 0) {
            u->flags_seen++;
            k->account->counts.flags_cycles++;
            end = k->stop_on_failure && (flags & KHZ_STEP_HELD) != 0 ? KHZ_END_MODEL : end;
        }
        end = (flags & KHZ_STEP_TERMINATED) != 0 ? KHZ_END_TERMINATED : end;
    }
    plant_fault(k);
    return end;
}

static void send(khz_task *k, int is_late)
{
    if (is_late && k->policy == KHZ_POLICY_HOLD) {
        k->account->counts.held++;
        return;
    }
    k->account->counts.safe += (uint64_t)(k->safe_now != 0);
    for (int32_t i = 0; i < k->n_wires; i++) {
        khz_wire *const w = &k->wires[i];
        for (int32_t j = 0; j < w->n_out; j++) {
            w->outputs[j] = khz_signal_get(w->out[j].unit->instance, w->out[j].signal);
        }
        (void)khz_port_send(w->port, k->step, (int64_t)(k->step + 1) * k->period_ns, w->outputs, k->safe_now);
    }
}

/* A row of the values as they stand, at model time start + step*period. */
static void record(khz_task *k)
{
    if (!k->has_recorder || k->step % (uint64_t)k->record_every != 0) {
        return;
    }
    double *row = (double *)khz_ring_reserve(&k->recorder.ring);
    while (row == NULL && !is_waiting(k)) { /* nobody waits for a run as fast as possible: let the disk keep up */
        const struct timespec pause = {0, 200000};
        (void)nanosleep(&pause, NULL);
        k->recorder.ring.dropped--;
        row = atomic_load(&k->stop) == KHZ_END_NONE ? (double *)khz_ring_reserve(&k->recorder.ring) : row;
        if (atomic_load(&k->stop) != KHZ_END_NONE) {
            k->recorder.ring.dropped++;
            break;
        }
    }
    k->account->counts.dropped = k->recorder.ring.dropped;
    if (row == NULL) {
        return;
    }
    row[0] = k->start + (double)((int64_t)k->step * k->period_ns) / 1e9;
    for (int32_t i = 0; i < k->n_columns; i++) {
        row[i + 1] = khz_signal_get(k->columns[i].unit->instance, k->columns[i].signal);
    }
    for (int32_t i = 0; k->record_times && i < KHZ_RECORDED_TIMES; i++) {
        row[k->n_columns + 1 + i] = k->last_times[i];
    }
    khz_ring_commit(&k->recorder.ring);
    k->account->counts.rows++;
}

/* -------------------------------------------------------------------------------------------------------- accounting */

typedef struct cycle_times {
    int64_t release, woke, began, received, stepped, sent, ended;
    int32_t was_over;           /* the release was over before the cycle could sleep */
} cycle_times;

/* Enter the times of the step just done; 1 where it missed its deadline. */
static int account(khz_task *k, const cycle_times *t)
{
    khz_counts *const counts = &k->account->counts;
    const uint64_t step = k->step - 1;
    counts->steps++;
    if (is_waiting(k)) {
        k->last_times[0] = (double)(t->woke - t->release) / 1e9;
        k->last_times[2] = (double)(khz_task_instant(k, k->tick + 1) - t->ended) / 1e9;
    }
    k->last_times[1] = (double)(t->stepped - t->received) / 1e9;
    k->last_times[3] = (double)k->messages;
    if (step < k->grace) {
        counts->grace++;
        return 0;
    }
    const int64_t device = (t->received - t->began) + (t->sent - t->stepped);
    const int64_t compute = t->stepped - t->received;
    khz_account_time(k->account, KHZ_TIME_COMPUTE, compute, (int64_t)step);
    if (k->n_wires > 0) {
        khz_account_time(k->account, KHZ_TIME_DEVICE, device, (int64_t)step);
    }
    khz_account_time(k->account, KHZ_TIME_OVERHEAD, t->ended - t->woke - device - compute, (int64_t)step);
    if (!is_waiting(k)) {
        return 0;
    }
    if (!t->was_over) {
        khz_account_time(k->account, KHZ_TIME_LATENESS, t->woke - t->release, (int64_t)step);
    }
    const int64_t deadline = khz_task_instant(k, k->tick + 1);
    if (t->ended <= deadline) {
        khz_account_time(k->account, KHZ_TIME_SLACK, deadline - t->ended, (int64_t)step);
        return 0;
    }
    counts->missed++;
    if (t->ended - t->woke > deadline - t->release) {
        counts->overruns++;
    } else if (t->was_over) {
        counts->knock_on++;
    } else {
        counts->late_wakeups++;
    }
    return 1;
}

/* What the policy makes of the cycle; the number of the next tick is set. */
static int follow_policy(khz_task *k, int missed)
{
    k->tick++;
    if (missed && k->policy == KHZ_POLICY_STOP) {
        k->safe_now = 1;
        return KHZ_END_MISS;
    }
    if (missed && k->policy == KHZ_POLICY_SKIP) {
        const int64_t now = khz_now();
        const int64_t period = khz_task_instant(k, k->tick + 1) - khz_task_instant(k, k->tick);
        const int64_t late = now - khz_task_instant(k, k->tick);
        const uint64_t over = late > 0 ? (uint64_t)(late / period) + 1 : 0;
        k->tick += over;
        k->account->counts.skipped += over;
    }
    k->punctual = missed ? 0 : k->punctual + 1;
    if (missed && k->policy == KHZ_POLICY_SAFE) {
        k->safe_now = 1;
    } else if (k->safe_now && k->recover > 0 && k->punctual >= k->recover) {
        k->safe_now = 0;
    }
    return KHZ_END_NONE;
}

/* Inputs, steps, outputs.  KHZ_END_*. */
static int work(khz_task *k, cycle_times *t)
{
    t->began = khz_now();
    int end = k->n_wires > 0 ? receive(k) : KHZ_END_NONE;
    t->received = k->n_wires > 0 ? khz_now() : t->began;
    read_inputs(k);
    const int stepped = step_units(k);
    end = stepped != KHZ_END_NONE ? stepped : end;
    t->stepped = khz_now();
    t->sent = t->stepped;
    if (k->n_wires > 0) {
        const int watched = is_waiting(k) && k->step >= k->grace;
        send(k, watched && t->stepped > khz_task_instant(k, k->tick + 1));
        t->sent = khz_now();
    }
    k->step++;
    record(k);
    return end;
}

/* One period of the wall clock.  KHZ_END_* where the run is over. */
static int cycle(khz_task *k)
{
    cycle_times t = {0};
    if (is_waiting(k)) {
        t.release = khz_task_instant(k, k->tick);
        t.was_over = wait_until(k, t.release);
    }
    t.woke = khz_now();
    k->account->counts.ticks++;
    khz_task_command(k);
    const int asked = atomic_load_explicit(&k->stop, memory_order_relaxed);
    if (asked != KHZ_END_NONE) {
        return asked;
    }
    if (k->is_paused) {
        k->tick++;
        if (!is_waiting(k)) {
            const struct timespec pause = {0, 1000000};
            (void)nanosleep(&pause, NULL);
        }
        atomic_store_explicit(&k->live->heartbeat_ns, khz_now(), memory_order_release);
        return KHZ_END_NONE;
    }
    int end = work(k, &t);
    khz_task_publish(k, 0);
    if (k->to_step > 0 && --k->to_step == 0) {
        k->is_paused = 1;
        khz_task_publish(k, 1);
    }
    t.ended = khz_now();
    const int missed = account(k, &t);
    const int policy = follow_policy(k, missed);
    end = end != KHZ_END_NONE ? end : policy;
    atomic_store_explicit(&k->live->heartbeat_ns, t.ended, memory_order_release);
    const int is_over = (k->n_cycles > 0 && k->step >= k->n_cycles) ||
                        (k->probe_ns > 0 && !is_waiting(k) && t.ended - k->began_ns > k->probe_ns);
    return end == KHZ_END_NONE && is_over ? KHZ_END_DURATION : end;
}

static void usage(int64_t *switches, int64_t *faults)
{
    struct rusage now;
    *switches = *faults = 0;
    if (getrusage(RUSAGE_THREAD, &now) == 0) {
        *switches = now.ru_nivcsw;
        *faults = now.ru_minflt + now.ru_majflt;
    }
}

/* Safe values once more, to everybody, when a run ends for a bad reason. */
static void leave_safe(khz_task *k, int end)
{
    if (end == KHZ_END_MISS || end == KHZ_END_LINK || end == KHZ_END_STALL || end == KHZ_END_MODEL) {
        k->safe_now = 1;
        send(k, 0);
    }
}

void khz_task_loop(khz_task *k)
{
    int64_t switches = 0;
    int64_t faults = 0;
    record(k);
    usage(&switches, &faults);
    const int64_t now = khz_now();
    k->base_ns = 0;
    const int64_t period = khz_task_instant(k, 1);
    k->base_ns = is_waiting(k) ? khz_task_aligned(now + 2000000, period, k->phase_ns) : now; /* time for the first sleep */
    k->began_ns = k->base_ns;
    atomic_store(&k->live->heartbeat_ns, now);
    atomic_store(&k->live->state, (uint32_t)KHZ_STATE_RUNNING);
    struct timespec today;
    (void)clock_gettime(CLOCK_REALTIME, &today);
    k->live->started_ns = (int64_t)today.tv_sec * 1000000000 + today.tv_nsec;
    int end = KHZ_END_NONE;
    while (end == KHZ_END_NONE) {
        end = cycle(k);
    }
    k->ended_ns = khz_now();
    usage(&k->switches, &k->faults);
    k->switches -= switches;
    k->faults -= faults;
    leave_safe(k, end);
    khz_task_publish(k, 1);
    atomic_store(&k->ended, end);
}
