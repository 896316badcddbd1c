#include <math.h>
#include <string.h>

#include "khz_task.h"

static void save(khz_task *k)
{
    for (int32_t i = 0; i < k->n_units; i++) {
        memcpy(k->units[i].snapshot, k->units[i].stepper, k->units[i].kept);
    }
    k->snapshot_step = k->step;
    k->has_snapshot = 1;
}

static void restore(khz_task *k)
{
    for (int32_t i = 0; i < k->n_units; i++) {
        memcpy((void *)k->units[i].stepper, k->units[i].snapshot, k->units[i].kept);
    }
    k->step = k->snapshot_step;
}

/* After a parameter changed: parameters that depend on it, kept factorisations, values that change at events alone. */
static khz_status renew(const khz_unit *u)
{
    const khz_model *const m = u->stepper->model;
    const khz_status status = m->once(u->instance);
    memset(khz_ints(u->instance, m->factored), 0, sizeof(int32_t) * (size_t)m->n_factored);
    khz_stepper_touch(u->stepper);
    return status == KHZ_OK ? khz_event(m, u->instance) : status;
}

static int32_t set_signal(khz_task *k, int32_t index, double value)
{
    if (index < 0 || index >= k->n_signals) {
        return KHZ_REPLY_UNKNOWN;
    }
    const khz_binding *const b = &k->signals[index];
    if (!b->signal->tunable) {
        return KHZ_REPLY_NOT_TUNABLE;
    }
    if (!isfinite(value)) {
        return KHZ_REPLY_NOT_FINITE;
    }
    if (b->signal->causality != KHZ_SIGNAL_PARAMETER) {
        khz_signal_set(b->unit->instance, b->signal, value);
        return KHZ_REPLY_OK;
    }
    if (b->unit->linked->n_objects > 0) {
        return KHZ_REPLY_REFUSED; /* its external objects were made from the old parameters */
    }
    khz_signal_set(b->unit->instance, b->signal, value);
    return renew(b->unit) == KHZ_OK ? KHZ_REPLY_OK : KHZ_REPLY_REFUSED;
}

static int32_t obey(khz_task *k, int32_t command, int32_t index, double value)
{
    switch (command) {
    case KHZ_COMMAND_SET:
        return set_signal(k, index, value);
    case KHZ_COMMAND_PAUSE:
        k->is_paused = 1;
        k->to_step = 0;
        khz_task_publish(k, 1);
        return KHZ_REPLY_OK;
    case KHZ_COMMAND_RESUME:
        k->is_paused = 0;
        k->to_step = 0;
        return KHZ_REPLY_OK;
    case KHZ_COMMAND_STEP:
        k->is_paused = 0;
        k->to_step = index > 0 ? (uint64_t)index : 1;
        return KHZ_REPLY_OK;
    case KHZ_COMMAND_SNAPSHOT:
        save(k);
        return KHZ_REPLY_OK;
    case KHZ_COMMAND_RESTORE:
        if (!k->has_snapshot) {
            return KHZ_REPLY_NO_SNAPSHOT;
        }
        restore(k);
        khz_task_publish(k, 1);
        return KHZ_REPLY_OK;
    case KHZ_COMMAND_STOP:
        atomic_store(&k->stop, KHZ_END_COMMAND);
        return KHZ_REPLY_OK;
    default:
        return KHZ_REPLY_UNKNOWN;
    }
}

void khz_task_command(khz_task *k)
{
    khz_mailbox *const box = &k->live->mailbox;
    const uint64_t asked = atomic_load_explicit(&box->asked, memory_order_acquire);
    if (asked == atomic_load_explicit(&box->answered, memory_order_relaxed)) {
        return;
    }
    k->account->counts.commands++;
    box->reply = obey(k, box->command, box->index, box->value);
    if (k->live != NULL) {
        const uint32_t state = k->is_paused ? KHZ_STATE_PAUSED : KHZ_STATE_RUNNING;
        atomic_store_explicit(&k->live->state, state, memory_order_release);
    }
    atomic_store_explicit(&box->answered, asked, memory_order_release);
}

void khz_task_publish(khz_task *k, int all)
{
    khz_live *const live = k->live;
    const int64_t time = (int64_t)k->step * k->period_ns;
    atomic_store_explicit(&live->time_ns, time, memory_order_relaxed);
    /* a frame begins every so many steps and goes on until it is complete */
    if (!all && k->live_next == 0 && k->step % k->live_every != 0) {
        return;
    }
    double *const values = khz_live_values(live);
    const int64_t left = k->n_signals - (all ? 0 : k->live_next);
    const int64_t n = all || left < KHZ_LIVE_SLICE ? left : KHZ_LIVE_SLICE;
    const int64_t first = all ? 0 : k->live_next;
    (void)atomic_fetch_add_explicit(&live->frame, 1, memory_order_acq_rel);
    atomic_thread_fence(memory_order_release);
    for (int64_t i = first; i < first + n; i++) {
        values[i] = khz_signal_get(k->signals[i].unit->instance, k->signals[i].signal);
    }
    (void)atomic_fetch_add_explicit(&live->frame, 1, memory_order_release);
    k->live_next = first + n >= k->n_signals ? 0 : first + n;
    const uint32_t state = k->is_paused ? KHZ_STATE_PAUSED : KHZ_STATE_RUNNING;
    atomic_store_explicit(&live->state, state, memory_order_relaxed);
}
