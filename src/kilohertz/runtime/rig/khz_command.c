#include <math.h>
#include <string.h>

#include "khz_thread.h"

enum { ROOM_NS = 2000000 }; /* for an order to be seen by all threads */

/* Tables and the like only ever give what they were made from; other external functions may remember something: then no
 * thread takes a snapshot. */
static int32_t save(khz_thread *k)
{
    for (int32_t i = 0; i < k->rig->n_tasks; i++) {
        if (k->rig->tasks[i].linked->n_hidden > 0) {
            return KHZ_REPLY_HIDDEN;
        }
    }
    for (int32_t i = 0; i < k->n_tasks; i++) {
        memcpy(k->tasks[i]->snapshot, k->tasks[i]->stepper, k->tasks[i]->kept);
    }
    for (int32_t i = 0; i < k->n_connections; i++) {
        k->connections[i]->kept = k->connections[i]->seen;
    }
    for (int32_t i = 0; i < k->n_outgoing; i++) {
        k->outgoing[i].kept = k->outgoing[i].seen;
    }
    khz_thread_keep_faults(k, 0);
    memcpy(k->kept_message, k->message, sizeof(double) * (size_t)k->outbox.n);
    k->snapshot_step = k->step;
    k->has_snapshot = 1;
    return KHZ_REPLY_OK;
}

/* Back to the snapshot, in model time too.  Turns go on: messages to the others are as they were then. */
static void restore(khz_thread *k)
{
    for (int32_t i = 0; i < k->n_tasks; i++) {
        memcpy((void *)k->tasks[i]->stepper, k->tasks[i]->snapshot, k->tasks[i]->kept);
    }
    for (int32_t i = 0; i < k->n_connections; i++) {
        k->connections[i]->seen = k->connections[i]->kept;
    }
    for (int32_t i = 0; i < k->n_outgoing; i++) {
        k->outgoing[i].seen = k->outgoing[i].kept;
    }
    khz_thread_keep_faults(k, 1);
    k->step = k->snapshot_step;
    if (k->rig->n_threads == 1) {
        return;
    }
    k->rounds++;
    memcpy(k->message, k->kept_message, sizeof(double) * (size_t)k->outbox.n);
    if (k->outbox.n > 0) {
        khz_outbox_put(&k->outbox, (int64_t)k->turn * k->every, k->message);
    }
    khz_thread_record(k, (int64_t)k->step * k->every, 1);
    k->sit_out = (uint64_t)(k->rig->hyper / k->every);
}

/* After a parameter changed: parameters that depend on it, kept factorisations, values that change at events alone. */
static khz_status renew(const khz_task *u)
{
    const khz_model *const m = u->stepper->model;
    const khz_status status = m->once(u->instance);
    memset(khz_ints(u->instance, m->factored), 0, sizeof(int32_t) * (size_t)m->n_factored);
    khz_stepper_touch(u->stepper);
    u->stepper->is_shown = 1; /* by the event */
    return status == KHZ_OK ? khz_event(m, u->instance) : status;
}

static int32_t set_signal(khz_thread *k, int32_t index, double value)
{
    if (index < 0 || index >= k->rig->n_signals) {
        return KHZ_REPLY_UNKNOWN;
    }
    const khz_binding *const b = &k->rig->signals[index];
    if (b->task->thread != k) {
        return KHZ_REPLY_OK; /* another thread will do it */
    }
    if (!b->signal->tunable) {
        return KHZ_REPLY_NOT_TUNABLE;
    }
    if (!isfinite(value)) {
        return KHZ_REPLY_NOT_FINITE;
    }
    if (value < b->signal->least || value > b->signal->most) {
        return KHZ_REPLY_RANGE;
    }
    if (b->signal->causality != KHZ_SIGNAL_PARAMETER) {
        if (khz_thread_is_driven(k, b)) {
            return KHZ_REPLY_DRIVEN; /* the next cycle would take it away */
        }
        if (!khz_thread_set_below(k, b, value)) {
            khz_signal_set(b->task->instance, b->signal, value);
        }
        return KHZ_REPLY_OK;
    }
    if (b->task->linked->n_objects > 0) {
        return KHZ_REPLY_REFUSED; /* its external objects were made from the old parameters */
    }
    khz_signal_set(b->task->instance, b->signal, value);
    return renew(b->task) == KHZ_OK ? KHZ_REPLY_OK : KHZ_REPLY_REFUSED;
}

/* Whole periods that all threads begin together, so that they pause at one model time. */
static uint64_t steps_to_make(const khz_thread *k, int32_t asked)
{
    const int64_t hyper = k->rig->hyper;
    const int64_t base = asked > 0 ? asked : 1;
    return (uint64_t)((base + hyper - 1) / hyper * hyper / k->every);
}

static int32_t obey(khz_thread *k, const khz_order *o)
{
    switch (o->command) {
    case KHZ_COMMAND_SET:
        return set_signal(k, o->index, o->value);
    case KHZ_COMMAND_FAULT:
        return khz_thread_plant(k, &o->fault);
    case KHZ_COMMAND_RELEASE:
        return khz_thread_release_fault(k, o->index);
    case KHZ_COMMAND_PAUSE:
        k->is_paused = 1;
        k->to_step = 0;
        khz_thread_publish(k, 1);
        return KHZ_REPLY_OK;
    case KHZ_COMMAND_RESUME:
        k->is_paused = 0;
        k->to_step = 0;
        return KHZ_REPLY_OK;
    case KHZ_COMMAND_STEP:
        k->is_paused = 0;
        k->to_step = steps_to_make(k, o->index);
        return KHZ_REPLY_OK;
    case KHZ_COMMAND_SNAPSHOT:
        return save(k);
    case KHZ_COMMAND_RESTORE:
        if (!k->has_snapshot) {
            return KHZ_REPLY_NO_SNAPSHOT;
        }
        restore(k);
        khz_thread_publish(k, 1);
        return KHZ_REPLY_OK;
    case KHZ_COMMAND_PROFILE:
        return khz_thread_profile_mode(k, o->index);
    case KHZ_COMMAND_STOP:
        k->stop_now = 1;
        return KHZ_REPLY_OK;
    default:
        return KHZ_REPLY_UNKNOWN;
    }
}

/* The tick at which all threads can obey: none of them has begun it by the time they see the order. */
static int64_t common_tick(const khz_thread *k)
{
    const khz_rig *const r = k->rig;
    int64_t furthest = (int64_t)k->tick * k->every;
    if (r->n_threads == 1) {
        return furthest;
    }
    for (int32_t i = 0; i < r->n_threads; i++) {
        const int64_t progress = atomic_load_explicit(&r->threads[i].progress, memory_order_acquire);
        furthest = progress > furthest && progress < INT64_MAX ? progress : furthest;
    }
    const int64_t period = r->period_ns * r->wall_num / r->wall_den;
    const int64_t room = period > 0 ? 1 + ROOM_NS / period : 1;
    return (furthest + room + r->hyper - 1) / r->hyper * r->hyper;
}

/* Leader: a letter becomes an order. */
static void post(khz_thread *k)
{
    khz_mailbox *const box = &k->rig->live->mailbox;
    khz_order *const o = &k->rig->order;
    const uint64_t asked = atomic_load_explicit(&box->asked, memory_order_acquire);
    if (o->is_open || asked == atomic_load_explicit(&box->answered, memory_order_relaxed)) {
        return;
    }
    o->command = box->command;
    o->index = box->index;
    o->value = box->value;
    o->fault = box->fault;
    o->at = common_tick(k);
    o->letter = asked;
    o->is_open = 1;
    atomic_store_explicit(&o->answers, 0, memory_order_relaxed);
    atomic_store_explicit(&o->reply, KHZ_REPLY_OK, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&o->number, 1, memory_order_release);
}

static void follow(khz_thread *k)
{
    khz_order *const o = &k->rig->order;
    const uint64_t number = atomic_load_explicit(&o->number, memory_order_acquire);
    const int64_t now = (int64_t)k->tick * k->every;
    if (number == k->obeyed || now < o->at) {
        return;
    }
    k->obeyed = number;
    k->account->counts.commands += (uint64_t)(k->index == k->rig->leader);
    k->account->counts.commands_late += (uint64_t)(now > o->at);
    const int32_t reply = obey(k, o);
    if (reply != KHZ_REPLY_OK) {
        atomic_store_explicit(&o->reply, reply, memory_order_relaxed);
    }
    (void)atomic_fetch_add_explicit(&o->answers, 1, memory_order_release);
}

/* Leader: answer when all have obeyed, or when one will not any more. */
static void answer(khz_thread *k)
{
    khz_rig *const r = k->rig;
    khz_order *const o = &r->order;
    if (!o->is_open) {
        return;
    }
    int32_t alive = 0;
    for (int32_t i = 0; i < r->n_threads; i++) {
        alive += atomic_load_explicit(&r->threads[i].ended, memory_order_relaxed) == KHZ_END_NONE;
    }
    if (atomic_load_explicit(&o->answers, memory_order_acquire) < alive && !k->stop_now) {
        return;
    }
    r->live->mailbox.reply = atomic_load_explicit(&o->reply, memory_order_relaxed);
    const uint32_t state = k->is_paused ? KHZ_STATE_PAUSED : KHZ_STATE_RUNNING;
    atomic_store_explicit(&r->live->state, state, memory_order_release);
    o->is_open = 0;
    atomic_store_explicit(&r->live->mailbox.answered, o->letter, memory_order_release);
}

void khz_thread_command(khz_thread *k)
{
    const int leads = k->index == k->rig->leader;
    if (leads) {
        post(k);
    }
    follow(k);
    if (leads) {
        answer(k);
    }
}

/* The next slice of the signals, or all of them. */
static void copy_values(khz_thread *k, int all)
{
    khz_lane *const lane = k->lane;
    double *const values = khz_live_values(k->rig->live);
    const int64_t left = k->n_signals - (all ? 0 : k->live_next);
    const int64_t n = all || left < KHZ_LIVE_SLICE ? left : KHZ_LIVE_SLICE;
    const int64_t first = all ? 0 : k->live_next;
    (void)atomic_fetch_add_explicit(&lane->frame, 1, memory_order_acq_rel);
    atomic_thread_fence(memory_order_release);
    for (int64_t i = first; i < first + n; i++) {
        const khz_binding *const b = &k->rig->signals[k->signals[i]];
        values[k->signals[i]] = khz_signal_get(b->task->instance, b->signal);
    }
    (void)atomic_fetch_add_explicit(&lane->frame, 1, memory_order_release);
    k->live_next = first + n >= k->n_signals ? 0 : first + n;
    if (k->live_next == 0) {
        (void)atomic_fetch_add_explicit(&lane->n_frames, 1, memory_order_release);
    }
}

void khz_thread_attend(khz_thread *k, int64_t now)
{
    const khz_live *const live = k->rig->live;
    const uint32_t asked = atomic_load_explicit(&live->n_asked, memory_order_relaxed);
    const int64_t last = atomic_load_explicit(&live->attended_ns, memory_order_relaxed);
    k->is_attended = last > 0 && now - last < KHZ_LIVE_ATTENTION_NS;
    k->is_asked |= asked != k->asked_seen;
    k->asked_seen = asked;
}

void khz_thread_publish(khz_thread *k, int all)
{
    /* a frame begins every so many steps, or when somebody comes, and goes on until it is complete */
    const uint64_t every = (k->rig->live_every + (uint64_t)k->every - 1) / (uint64_t)k->every;
    if (all) {
        khz_thread_look(k);
    }
    k->live_next = k->is_asked ? 0 : k->live_next;
    if (all || (k->is_attended && (k->is_asked || k->live_next != 0 || k->step % every == 0))) {
        copy_values(k, all);
        k->is_asked = 0;
    }
    if (k->index == k->rig->leader) {
        const uint32_t state = k->is_paused ? KHZ_STATE_PAUSED : KHZ_STATE_RUNNING;
        atomic_store_explicit(&k->rig->live->state, state, memory_order_relaxed);
    }
    /* who waits for a time finds the values of it */
    atomic_store_explicit(&k->lane->time_ns, (int64_t)k->step * k->period_ns, memory_order_release);
}
