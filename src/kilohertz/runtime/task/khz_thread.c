#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "khz_text.h"
#include "khz_thread.h"

enum {
    TROUBLE = KHZ_STEP_HELD | KHZ_STEP_NEWTON_CAP | KHZ_STEP_NOT_FINITE | KHZ_STEP_PIVOT | KHZ_STEP_EVENT_CAP |
    KHZ_STEP_CHATTERS | KHZ_STEP_FAILURE | KHZ_STEP_ASSERTION
};

int64_t khz_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t khz_thread_instant(const khz_thread *k, uint64_t tick)
{
    /* tick*period*num/den without overflow: whole periods, then what is left of each */
    const int64_t per = k->period_ns * k->rig->wall_num;
    const int64_t whole = per / k->rig->wall_den;
    const int64_t rest = per % k->rig->wall_den;
    return k->base_ns + (int64_t)tick * whole + (int64_t)tick * rest / k->rig->wall_den;
}

static int is_waiting(const khz_thread *k) { return k->rig->wall_num > 0; }

/* Sleep until the instant; a stop from outside ends it early.  1 where the instant was already over. */
static int wait_until(khz_thread *k, int64_t instant)
{
    if (khz_now() >= instant) {
        return 1;
    }
    const int64_t wake = instant - k->spin_ns;
    const struct timespec t = {(time_t)(wake / 1000000000), (long)(wake % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
        if (atomic_load_explicit(&k->rig->stop, memory_order_relaxed) != KHZ_END_NONE) {
            return 0;
        }
    }
    while (k->spin_ns > 0 && khz_now() < instant) { /* at most spin_ns */
    }
    return 0;
}

/* Messages that are late are waited for as long as the thread was told to; then the newest stand for them. */
static void wait_for_messages(const khz_thread *k, int64_t release)
{
    const struct timespec nap = {0, 20000};
    const khz_rig *const r = k->rig;
    for (int32_t i = 0; i < k->n_links; i++) {
        while (!khz_link_is_there(&k->links[i], (int64_t)k->turn * k->every) && khz_now() - release < k->patience_ns &&
               atomic_load_explicit(&r->stop, memory_order_relaxed) == KHZ_END_NONE) {
            (void)nanosleep(&nap, NULL);
        }
    }
}

/* Nobody waits for a run as fast as possible but its threads for each other: all that is due at this tick is done. */
static void wait_for_others(khz_thread *k)
{
    const khz_rig *const r = k->rig;
    const int64_t now = (int64_t)k->tick * k->every;
    const struct timespec nap = {0, 50000};
    for (int32_t i = 0; i < r->n_threads; i++) {
        const int64_t due = now - now % r->threads[i].every;
        for (int turn = 0; atomic_load_explicit(&r->threads[i].progress, memory_order_acquire) < due; turn++) {
            if (atomic_load_explicit(&r->stop, memory_order_relaxed) != KHZ_END_NONE) {
                return;
            }
            (void)(turn < 200 ? sched_yield() : nanosleep(&nap, NULL));
        }
    }
}

/* ------------------------------------------------------------------------------------------------ steps and outputs */

/* A planted slow step: burn the time, as a model that takes too long would. */
static void plant_fault(const khz_thread *k)
{
    if (k->slow_ns <= 0 || k->step < k->slow_step || (k->step - k->slow_step) % k->slow_every != 0) {
        return;
    }
    const int64_t end = khz_now() + k->slow_ns;
    while (khz_now() < end) {
    }
}

static int is_due(const khz_thread *k, const khz_task *u) { return (k->step + 1) % (uint64_t)u->every == 0; }

/* Whether somebody reads views of the task at the end of the coming step. */
static int is_seen(const khz_thread *k, const khz_task *u)
{
    const int64_t end = (int64_t)(k->step + 1) * k->every;
    const int64_t every = k->rig->record_every;
    if (k->rig->shows_views || u->is_read || k->is_attended || k->n_armed > 0) {
        return 1;
    }
    if (!u->is_recorded || k->ring == NULL) {
        return 0;
    }
    return u->every > 1 || khz_merge_wants(end, k->every, every) ||
           (k->every > 1 && khz_merge_wants(end + 1, k->every, every));
}

void khz_thread_look(khz_thread *k)
{
    for (int32_t i = 0; i < k->n_tasks; i++) {
        khz_stepper_look(k->tasks[i]->stepper);
    }
}

static int step_tasks(khz_thread *k)
{
    int end = KHZ_END_NONE;
    for (int32_t i = 0; i < k->n_tasks; i++) {
        khz_task *const u = k->tasks[i];
        if (!is_due(k, u)) {
            continue;
        }
        k->task = i;
        khz_thread_late_inputs(k, u);
        const int64_t began = k->rig->n_tasks > 1 ? khz_now() : 0;
        khz_stepper_see(u->stepper, is_seen(k, u));
        const uint32_t flags = u->step(u->stepper);
        khz_thread_output_faults(k, u, k->step + 1);
        k->flags |= flags;
        if (k->rig->n_tasks > 1 && k->step >= k->grace) {
            khz_histogram_add(&u->compute, khz_now() - began);
        }
        if ((flags & (uint32_t)TROUBLE) != 0) {
            u->flags_seen++;
            k->account->counts.flags_cycles++;
            end = k->stop_on_failure && (flags & (KHZ_STEP_HELD | KHZ_STEP_FAILURE)) != 0 ? KHZ_END_MODEL : end;
        }
        end = (flags & KHZ_STEP_TERMINATED) != 0 ? KHZ_END_TERMINATED : end;
    }
    khz_thread_settle(k, k->step + 1);
    plant_fault(k);
    return end;
}

static void send(khz_thread *k, int is_late)
{
    if (is_late && k->policy == KHZ_POLICY_HOLD) {
        k->account->counts.held++;
        return;
    }
    k->account->counts.safe += (uint64_t)(k->safe_now != 0);
    khz_thread_exchange(k);
    for (int32_t i = 0; i < k->n_wires; i++) {
        khz_wire *const w = k->wires[i];
        for (int32_t j = 0; j < w->n_out; j++) {
            w->outputs[j] = khz_thread_given(&w->out[j], (int32_t)(w - k->rig->wires));
        }
        KHZ_ENTER(&k->probes, KHZ_PLACES_OF_CYCLE + i);
        (void)khz_port_send(w->port, k->step, (int64_t)(k->step + 1) * k->period_ns, w->outputs, k->safe_now);
        KHZ_LEAVE(&k->probes, KHZ_PLACES_OF_CYCLE + i);
        khz_thread_exchanged(k, i);
    }
}

/* Room for a row; NULL where the ring is full. */
static double *new_row(khz_thread *k)
{
    double *row = (double *)khz_ring_reserve(k->ring);
    while (row == NULL && !is_waiting(k)) { /* nobody waits for a run as fast as possible: let the disk keep up */
        const struct timespec pause = {0, 200000};
        (void)nanosleep(&pause, NULL);
        k->ring->dropped--;
        row = atomic_load(&k->rig->stop) == KHZ_END_NONE ? (double *)khz_ring_reserve(k->ring) : row;
        if (atomic_load(&k->rig->stop) != KHZ_END_NONE) {
            k->ring->dropped++;
            break;
        }
    }
    k->account->counts.dropped = k->ring->dropped;
    return row;
}

void khz_thread_record(khz_thread *k, int64_t step, int always)
{
    const khz_rig *const r = k->rig;
    if (k->ring == NULL || !(always || khz_merge_wants(step, k->every, r->record_every))) {
        return;
    }
    double *const row = new_row(k);
    if (row == NULL) {
        return;
    }
    if (always) {
        khz_thread_look(k);
    }
    const int32_t n_head = r->n_threads > 1 ? KHZ_MERGE_HEAD : 1;
    row[0] = r->n_threads > 1 ? (double)step : r->start + (double)(step * r->period_ns) / 1e9;
    if (r->n_threads > 1) {
        row[1] = (double)k->rounds;
    }
    for (int32_t i = 0; i < k->n_columns; i++) {
        row[n_head + i] = khz_signal_get(k->columns[i].task->instance, k->columns[i].signal);
    }
    for (int32_t i = 0; r->record_times && i < KHZ_RECORDED_TIMES; i++) {
        row[n_head + k->n_columns + i] = k->last_times[i];
    }
    khz_ring_commit(k->ring);
    k->account->counts.rows++;
}

/* ------------------------------------------------------------------------------------------------------- accounting */

/* Nanoseconds that the processor gave to this thread. */
static int64_t processor_time(void)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Enter the times of the step just done; 1 where it missed its deadline. */
static int account(khz_thread *k, const khz_cycle_times *t)
{
    khz_counts *const counts = &k->account->counts;
    const uint64_t step = k->step - 1;
    counts->steps++;
    if (is_waiting(k)) {
        k->last_times[0] = (double)(t->woke - t->release) / 1e9;
        k->last_times[2] = (double)(khz_thread_instant(k, k->tick + 1) - t->ended) / 1e9;
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
    khz_account_time(k->account, KHZ_TIME_OVERHEAD, t->ended - t->woke - device - compute + k->accounting_ns,
                     (int64_t)step);
    if (!is_waiting(k)) {
        return 0;
    }
    if (!t->was_over) {
        khz_account_time(k->account, KHZ_TIME_LATENESS, t->woke - t->release, (int64_t)step);
    }
    const int64_t deadline = khz_thread_instant(k, k->tick + 1);
    if (t->ended <= deadline) {
        khz_account_time(k->account, KHZ_TIME_SLACK, deadline - t->ended, (int64_t)step);
        return 0;
    }
    counts->missed++;
    if (t->ended - t->woke > deadline - t->release) {
        const int is_own = processor_time() - t->given >= deadline - t->release;
        counts->overruns += (uint64_t)is_own;
        counts->off_core += (uint64_t)!is_own;
    } else if (t->was_over) {
        counts->knock_on++;
    } else {
        counts->late_wakeups++;
    }
    return 1;
}

/* What the policy makes of the cycle; the number of the next tick is set. */
static int follow_policy(khz_thread *k, int missed)
{
    k->tick++;
    if (missed && k->policy == KHZ_POLICY_STOP) {
        k->safe_now = 1;
        return KHZ_END_MISS;
    }
    if (missed && k->policy == KHZ_POLICY_SKIP) {
        const int64_t now = khz_now();
        const int64_t period = khz_thread_instant(k, k->tick + 1) - khz_thread_instant(k, k->tick);
        const int64_t late = now - khz_thread_instant(k, k->tick);
        const uint64_t over = late > 0 ? (uint64_t)(late / period) + 1 : 0;
        k->tick += over;
        k->turn += over;
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

static void enter(khz_thread *k, int32_t stage) { atomic_store_explicit(&k->stage, stage, memory_order_relaxed); }

/* Inputs, steps, outputs.  KHZ_END_*. */
static int work(khz_thread *k, khz_cycle_times *t)
{
    enter(k, KHZ_AT_INPUTS);
    t->began = khz_now();
    khz_thread_undo_faults(k);
    int end = k->n_wires > 0 ? khz_thread_receive(k) : KHZ_END_NONE;
    t->received = k->n_wires > 0 ? khz_now() : t->began;
    khz_thread_inputs(k);
    if (k->every > 1) { /* as a faster thread would show it: with the inputs of the period that begins */
        KHZ_ENTER(&k->probes, KHZ_PLACE_RECORDER);
        khz_thread_record(k, (int64_t)k->step * k->every + 1, 0);
        KHZ_LEAVE(&k->probes, KHZ_PLACE_RECORDER);
    }
    KHZ_NEXT(&k->probes, KHZ_PLACE_INPUTS, KHZ_PLACE_TASKS);
    enter(k, KHZ_AT_STEP);
    const int stepped = step_tasks(k);
    enter(k, KHZ_AT_OUTPUTS);
    end = stepped != KHZ_END_NONE ? stepped : end;
    KHZ_NEXT(&k->probes, KHZ_PLACE_TASKS, KHZ_PLACE_OUTPUTS);
    t->stepped = khz_now();
    t->sent = t->stepped;
    k->turn++;
    khz_thread_post(k, k->step + 1);
    if (k->n_wires > 0) {
        const int watched = is_waiting(k) && k->step >= k->grace;
        send(k, watched && t->stepped > khz_thread_instant(k, k->tick + 1));
        t->sent = khz_now();
    }
    k->step++;
    enter(k, KHZ_AT_REST);
    KHZ_NEXT(&k->probes, KHZ_PLACE_OUTPUTS, KHZ_PLACE_RECORDER);
    khz_thread_record(k, (int64_t)k->step * k->every, 0);
    KHZ_NEXT(&k->probes, KHZ_PLACE_RECORDER, KHZ_PLACE_LIVE);
    return end;
}

/* The tick is over, for all that look at this thread. */
static void tell(khz_thread *k, int64_t now)
{
    atomic_store_explicit(&k->progress, (int64_t)k->tick * k->every, memory_order_release);
    atomic_store_explicit(&k->lane->heartbeat_ns, now, memory_order_release);
}

/* A tick without a step. */
static void rest(khz_thread *k)
{
    k->tick++;
    k->sit_out -= k->sit_out > 0;
    if (!is_waiting(k) && k->is_paused) {
        const struct timespec pause = {0, 1000000};
        (void)nanosleep(&pause, NULL);
    }
    tell(k, khz_now());
}

/* One period of the wall clock.  KHZ_END_* where the run is over. */
static int cycle(khz_thread *k)
{
    khz_cycle_times t = {0};
    if (is_waiting(k)) {
        t.given = processor_time(); /* while there is time */
        t.release = khz_thread_instant(k, k->tick);
        t.was_over = wait_until(k, t.release);
        if (k->patience_ns > 0 && !k->is_paused && k->sit_out == 0) {
            wait_for_messages(k, t.release);
        }
    }
    if (!is_waiting(k)) {
        wait_for_others(k);
    }
    t.woke = khz_now();
    khz_thread_attend(k, t.woke);
    khz_thread_profile_begin(k); /* and its inputs */
    k->account->counts.ticks++;
    khz_thread_command(k);
    const int asked = k->stop_now ? KHZ_END_COMMAND : atomic_load_explicit(&k->rig->stop, memory_order_relaxed);
    if (asked != KHZ_END_NONE) {
        return asked;
    }
    if (k->is_paused || k->sit_out > 0) {
        rest(k);
        return KHZ_END_NONE;
    }
    int end = work(k, &t);
    if (k->to_step > 0 && --k->to_step == 0) {
        k->is_paused = 1;
    }
    khz_thread_publish(k, k->is_paused);
    t.ended = khz_now();
    const int missed = account(k, &t);
    const int policy = follow_policy(k, missed);
    end = end != KHZ_END_NONE ? end : policy;
    tell(k, t.ended);
    khz_thread_profile_end(k, &t);
    k->accounting_ns = khz_now() - t.ended;
    const int is_over = (k->n_cycles > 0 && k->step >= k->n_cycles) ||
                        (k->rig->probe_ns > 0 && !is_waiting(k) && t.ended - k->began_ns > k->rig->probe_ns);
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

/* Safe values once more, to everybody, when a run ends for a bad reason, or before its time. */
static void leave_safe(khz_thread *k, int end)
{
    if (end == KHZ_END_MISS || end == KHZ_END_LINK || end == KHZ_END_STALL || end == KHZ_END_MODEL ||
        end == KHZ_END_LOST || end == KHZ_END_SIGNAL || end == KHZ_END_ALONE) {
        k->safe_now = 1;
        send(k, 0);
    }
}

/* All threads begin together: the last one to come sets the instant of tick 0. */
static int64_t common_base(khz_thread *k)
{
    khz_rig *const r = k->rig;
    const int64_t now = khz_now();
    if (atomic_fetch_add(&r->n_ready, 1) + 1 == r->n_threads) {
        const int64_t period = r->period_ns * r->wall_num / r->wall_den;
        struct timespec today;
        (void)clock_gettime(CLOCK_REALTIME, &today);
        r->live->started_ns = (int64_t)today.tv_sec * 1000000000 + today.tv_nsec;
        atomic_store(&r->live->state, (uint32_t)KHZ_STATE_RUNNING);
        /* time for the first sleep */
        atomic_store(&r->base_ns, is_waiting(k) ? khz_thread_aligned(now + 2000000, period, r->phase_ns) : now);
    }
    const struct timespec nap = {0, 100000};
    while (atomic_load(&r->base_ns) == 0 && atomic_load(&r->stop) == KHZ_END_NONE) {
        atomic_store(&k->lane->heartbeat_ns, khz_now());
        (void)nanosleep(&nap, NULL);
    }
    return atomic_load(&r->base_ns);
}

/* Over: the others go on where this was due, and end where it was not. */
void khz_thread_leave(khz_thread *k, int end)
{
    khz_rig *const r = k->rig;
    int32_t none = KHZ_END_NONE;
    /* a command ends all threads at one tick, by itself */
    if (end != KHZ_END_DURATION && end != KHZ_END_COMMAND && atomic_compare_exchange_strong(&r->stop, &none, end)) {
        atomic_store(&r->culprit, k->index + 1);
    }
    if (end != KHZ_END_STUCK && end != KHZ_END_CRASH) { /* done for it; its models are in the middle of something */
        leave_safe(k, end);
        khz_thread_publish(k, 1);
    }
    atomic_store(&k->progress, INT64_MAX);
    if (r->n_threads > 1 && k->ring != NULL) {
        atomic_store(&r->merge.lanes[k->index].ended, 1);
    }
    atomic_store(&k->lane->ended, 1U);
    atomic_store(&k->ended, end);
}

void khz_thread_loop(khz_thread *k)
{
    int64_t switches = 0;
    int64_t faults = 0;
    khz_thread_record(k, 0, 0);
    k->base_ns = common_base(k);
    k->began_ns = k->base_ns;
    usage(&switches, &faults);
    k->processor_ns = -processor_time();
    khz_thread_profile_start(k);
    khz_set_paced(1);
    int end = k->is_idle ? KHZ_END_DURATION : KHZ_END_NONE;
    while (end == KHZ_END_NONE) {
        end = cycle(k);
    }
    k->ended_ns = khz_now();
    k->processor_ns += processor_time();
    usage(&k->switches, &k->faults);
    k->switches -= switches;
    k->faults -= faults;
    khz_thread_leave(k, end);
}
