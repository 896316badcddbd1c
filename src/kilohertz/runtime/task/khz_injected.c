/* Faults on the signals of a thread: what its models get and give while they are active (khz_injection.h).
 *
 * On an input the fault comes after whatever drives it: the value without the fault is put back before the next one is
 * set.  On any other signal it changes what connections, other threads and devices read; the model keeps its own value.
 * Several on one signal act one after the other. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "khz_thread.h"

static int is_same(const khz_binding *a, const khz_binding *b) { return a->task == b->task && a->signal == b->signal; }

static double value_of(const khz_binding *b) { return khz_signal_get(b->task->instance, b->signal); }

static double time_at(const khz_thread *k, uint64_t step)
{
    return k->rig->start + (double)((int64_t)step * k->period_ns) / 1e9;
}

/* Whether it is looked at in each cycle; one of the scenario is recorded to the end. */
static int is_armed(const khz_fault *f)
{
    const int is_recorded = f->state == KHZ_INJECTED_OVER && !f->is_live;
    return is_recorded || f->is_set || f->state == KHZ_INJECTED_WAITING || f->state == KHZ_INJECTED_ACTIVE;
}

static void count_armed(khz_thread *k)
{
    k->n_armed = 0;
    for (int32_t i = 0; i < k->n_taps; i++) {
        k->n_armed += is_armed(k->taps[i].fault);
    }
}

/* ------------------------------------------------------------------------------------------------------- each cycle */

static double pass(const khz_thread *k, khz_tap *t, uint64_t step, double value)
{
    const khz_fault_settings *const s = &t->fault->settings;
    khz_instant now = {time_at(k, step), step, 0};
    if (s->trigger >= 0) {
        const double seen = value_of(&t->trigger);
        now.is_triggered = s->is_above ? seen > s->level : seen < s->level;
    }
    return khz_fault_pass(t->fault, t->line, &now, value);
}

void khz_thread_undo_faults(khz_thread *k)
{
    if (k->n_armed == 0) {
        return;
    }
    for (int32_t i = k->n_taps - 1; i >= 0; i--) { /* the last one first: each brings back what it found */
        khz_tap *const t = &k->taps[i];
        if (t->fault->is_set && k->step % (uint64_t)t->signal.task->every == 0) {
            khz_signal_set(t->signal.task->instance, t->signal.signal, t->fault->before);
            t->fault->is_set = 0;
        }
    }
    count_armed(k);
}

/* Whether the input is set now: at the beginning of its task's period, or just before the step of the `late` task. */
static int is_due(const khz_thread *k, const khz_tap *t, const khz_task *late)
{
    const khz_task *const u = t->signal.task;
    return late != NULL ? t->is_late && u == late : !t->is_late && k->step % (uint64_t)u->every == 0;
}

void khz_thread_input_faults(khz_thread *k, const khz_task *late)
{
    for (int32_t i = 0; i < (k->n_armed > 0 ? k->n_taps : 0); i++) {
        khz_tap *const t = &k->taps[i];
        khz_fault *const f = t->fault;
        if (!is_armed(f) || !f->is_input || !is_due(k, t, late)) {
            continue;
        }
        f->before = value_of(&t->signal);
        const double passed = pass(k, t, k->step, f->before);
        if (f->state == KHZ_INJECTED_ACTIVE) {
            khz_signal_set(t->signal.task->instance, t->signal.signal, passed);
            f->is_set = 1;
        }
    }
}

/* What readers get of a signal after the first n faults; `wire`: the device that reads, -1: another. */
static double given(const khz_thread *k, const khz_binding *b, int32_t wire, int32_t n)
{
    double value = value_of(b);
    for (int32_t i = 0; i < n; i++) {
        const khz_fault *const f = k->taps[i].fault;
        const int is_read = f->settings.device < 0 || f->settings.device == wire;
        if (!f->is_input && is_read && f->state == KHZ_INJECTED_ACTIVE && is_same(&k->taps[i].signal, b)) {
            value = f->passed;
        }
    }
    return value;
}

double khz_thread_given(const khz_binding *b, int32_t wire)
{
    const khz_thread *const k = b->task->thread;
    return k->n_armed == 0 ? value_of(b) : given(k, b, wire, k->n_taps);
}

void khz_thread_output_faults(khz_thread *k, const khz_task *u, uint64_t step)
{
    for (int32_t i = 0; i < (k->n_armed > 0 ? k->n_taps : 0); i++) {
        khz_tap *const t = &k->taps[i];
        if (!t->fault->is_input && t->signal.task == u && is_armed(t->fault)) {
            (void)pass(k, t, step, given(k, &t->signal, t->fault->settings.device, i));
        }
    }
}

int khz_thread_set_below(khz_thread *k, const khz_binding *b, double value)
{
    for (int32_t i = 0; i < k->n_taps; i++) {
        khz_fault *const f = k->taps[i].fault;
        if (f->is_set && is_same(&k->taps[i].signal, b)) {
            f->before = value;
            return 1;
        }
    }
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- commands */

static int is_read(const khz_rig *r, const khz_binding *b, int32_t device)
{
    int found = 0;
    for (int32_t i = 0; device < 0 && i < r->n_connections; i++) {
        found |= is_same(&r->connections[i].from, b);
    }
    for (int32_t i = 0; i < r->n_wires; i++) {
        const khz_wire *const w = &r->wires[i];
        for (int32_t j = 0; (device < 0 || device == i) && w->out != NULL && j < w->n_out; j++) {
            found |= is_same(&w->out[j], b);
        }
    }
    return found;
}

static int is_read_late(const khz_thread *k, const khz_binding *b)
{
    int found = 0;
    for (int32_t i = 0; i < k->rig->n_connections; i++) {
        const khz_connection *const c = &k->rig->connections[i];
        found |= c->late && is_same(&c->to, b);
    }
    return found;
}

/* Values that a delay on a signal keeps: it is in whole periods of its task. */
static double line_length(const khz_fault_settings *s, const khz_task *u)
{
    const double period = (double)(u->every * u->thread->period_ns) * 1e-9;
    return s->kind == KHZ_FAULT_DELAY ? fmax(1.0, nearbyint(s->value / period)) : 0.0;
}

static void arm(khz_thread *k, khz_tap *t, const khz_fault_settings *s)
{
    khz_fault *const f = t->fault;
    const khz_rig *const r = k->rig;
    t->signal = r->signals[s->signal];
    t->trigger = r->signals[s->trigger >= 0 ? s->trigger : s->signal];
    t->is_late = is_read_late(k, &t->signal);
    f->is_input = t->signal.signal->causality == KHZ_SIGNAL_INPUT;
    khz_fault_arm(f, s, value_of(&t->signal), (int32_t)line_length(s, t->signal.task));
    count_armed(k);
}

/* A place for a fault given live: a free one, or that of the one that has been over for longest. */
static khz_tap *place_for(khz_thread *k)
{
    khz_tap *found = NULL;
    for (int32_t i = 0; i < k->n_taps; i++) {
        khz_tap *const t = &k->taps[i];
        if (!t->fault->is_live || is_armed(t->fault)) {
            continue;
        }
        if (t->fault->state == KHZ_INJECTED_FREE) {
            return t;
        }
        found = found == NULL || t->fault->ended < found->fault->ended ? t : found;
    }
    k->account->counts.faults_forgotten += found != NULL;
    return found;
}

static int32_t refusal(const khz_thread *k, const khz_fault_settings *s)
{
    const khz_rig *const r = k->rig;
    const khz_binding *const b = &r->signals[s->signal];
    if (b->signal->causality == KHZ_SIGNAL_PARAMETER) {
        return KHZ_REPLY_NO_FAULT;
    }
    if (b->signal->causality != KHZ_SIGNAL_INPUT && !is_read(r, b, s->device)) {
        return KHZ_REPLY_UNREAD;
    }
    if (s->trigger >= 0 && r->signals[s->trigger].task->thread != k) {
        return KHZ_REPLY_ELSEWHERE;
    }
    return line_length(s, b->task) <= KHZ_LIVE_LINE ? KHZ_REPLY_OK : KHZ_REPLY_TOO_LONG;
}

int32_t khz_thread_plant(khz_thread *k, const khz_fault_settings *s)
{
    const khz_rig *const r = k->rig;
    if (s->signal < 0 || s->signal >= r->n_signals || s->trigger >= r->n_signals || s->kind < KHZ_FAULT_STUCK ||
        s->kind > KHZ_FAULT_DELAY) {
        return KHZ_REPLY_UNKNOWN;
    }
    if (r->signals[s->signal].task->thread != k) {
        return KHZ_REPLY_OK; /* another thread will do it */
    }
    const int32_t reply = refusal(k, s);
    if (reply != KHZ_REPLY_OK) {
        return reply;
    }
    for (int32_t i = 0; i < k->n_taps; i++) { /* one of the same kind takes the place of the one before */
        khz_fault *const f = k->taps[i].fault;
        if (f->is_live && is_armed(f) && f->settings.signal == s->signal && f->settings.kind == s->kind &&
            f->settings.device == s->device) {
            khz_fault_release(f, time_at(k, k->step));
        }
    }
    khz_tap *const t = place_for(k);
    if (t == NULL) {
        return KHZ_REPLY_FULL;
    }
    (void)snprintf(t->fault->name, sizeof t->fault->name, "live%llu", (unsigned long long)++k->n_planted);
    arm(k, t, s);
    return KHZ_REPLY_OK;
}

int32_t khz_thread_release_fault(khz_thread *k, int32_t index)
{
    const khz_rig *const r = k->rig;
    for (int32_t i = 0; i < k->n_taps; i++) {
        khz_fault *const f = k->taps[i].fault;
        if (index < 0 || f == &khz_live_faults(r->live)[index]) {
            if (f->state == KHZ_INJECTED_WAITING || f->state == KHZ_INJECTED_ACTIVE) {
                khz_fault_release(f, time_at(k, k->step));
            }
        }
    }
    return index < (int32_t)r->live->n_faults ? KHZ_REPLY_OK : KHZ_REPLY_UNKNOWN;
}

void khz_thread_keep_faults(khz_thread *k, int back)
{
    for (int32_t i = 0; i < k->n_taps; i++) {
        khz_tap *const t = &k->taps[i];
        const size_t bytes = sizeof(double) * (size_t)t->n_room;
        memcpy(back ? (void *)t->fault : (void *)&t->kept, back ? (void *)&t->kept : (void *)t->fault, sizeof t->kept);
        memcpy(back ? t->line : t->kept_line, back ? t->kept_line : t->line, bytes);
    }
    count_armed(k);
}

/* ------------------------------------------------------------------------------------------------------ preparation */

static double real(khz_rig *r, int32_t i, const char *key, double fallback)
{
    char room[KHZ_KEY_SIZE];
    return khz_scenario_real(&r->scenario, khz_scenario_key(room, "fault", i, key), fallback);
}

static int32_t integer(khz_rig *r, int32_t i, const char *key, int32_t fallback, int32_t low, int32_t high)
{
    char room[KHZ_KEY_SIZE];
    return (int32_t)khz_scenario_integer(&r->scenario, khz_scenario_key(room, "fault", i, key), fallback, low, high);
}

static int32_t number_of(const khz_binding *b)
{
    return b->task->first_signal + (int32_t)(b->signal - b->task->linked->signals);
}

static khz_status read_fault(khz_rig *r, int32_t i, khz_fault *f, khz_fault_settings *s)
{
    char room[KHZ_KEY_SIZE];
    khz_binding on, when;
    (void)snprintf(f->name, sizeof f->name, "%s",
                   khz_scenario_text(&r->scenario, khz_scenario_key(room, "fault", i, "name"), "fault"));
    khz_status status = khz_rig_bind(r, "fault", i, "on", &on);
    s->kind = integer(r, i, "kind", 0, KHZ_FAULT_STUCK, KHZ_FAULT_DELAY);
    s->device = integer(r, i, "device", -1, -1, r->n_wires - 1);
    s->seed = integer(r, i, "seed", 1, 0, INT32_MAX);
    s->value = real(r, i, "value", (double)NAN);
    s->begin = real(r, i, "from", r->start);
    s->until = real(r, i, "until", (double)INFINITY);
    s->lasts = real(r, i, "lasts", (double)INFINITY);
    s->trigger = -1;
    if (status == KHZ_OK && integer(r, i, "has_condition", 0, 0, 1) != 0) {
        status = khz_rig_bind(r, "fault", i, "when", &when);
        s->trigger = status == KHZ_OK ? number_of(&when) : -1;
        s->is_above = integer(r, i, "when.above", 1, 0, 1);
        s->level = real(r, i, "when.level", 0.0);
    }
    s->signal = status == KHZ_OK ? number_of(&on) : 0;
    return status;
}

static khz_status give_line(const khz_rig *r, khz_tap *t, double n)
{
    t->n_room = n <= KHZ_INJECTION_LINE ? (int32_t)n : 0;
    t->line = (double *)khz_rig_room(r, t->n_room, sizeof *t->line);
    t->kept_line = (double *)khz_rig_room(r, t->n_room, sizeof *t->kept_line);
    return n <= KHZ_INJECTION_LINE && t->line != NULL && t->kept_line != NULL ? KHZ_OK : KHZ_OUT_OF_MEMORY;
}

/* One that the scenario plants. */
static khz_status prepare_fault(khz_rig *r, int32_t i)
{
    khz_fault *const f = &khz_live_faults(r->live)[i];
    khz_fault_settings s;
    memset(&s, 0, sizeof s);
    khz_status status = read_fault(r, i, f, &s);
    if (status != KHZ_OK) {
        return status;
    }
    const khz_task *const u = r->signals[s.signal].task;
    khz_thread *const k = u->thread;
    khz_tap *const t = &k->taps[k->n_taps++];
    t->fault = f;
    status = give_line(r, t, line_length(&s, u));
    if (status != KHZ_OK) {
        return khz_rig_fail(r, status, "fault %s: no memory for its delay", f->name);
    }
    arm(k, t, &s);
    return KHZ_OK;
}

khz_status khz_rig_faults(khz_rig *r)
{
    khz_status status = KHZ_OK;
    for (int32_t i = 0; i < r->n_threads; i++) {
        khz_thread *const k = &r->threads[i];
        k->taps = (khz_tap *)khz_rig_room(r, r->n_faults + KHZ_LIVE_FAULTS, sizeof *k->taps);
    }
    for (int32_t i = 0; i < r->n_faults && status == KHZ_OK; i++) {
        status = prepare_fault(r, i);
    }
    for (int32_t i = 0; i < r->n_threads && status == KHZ_OK; i++) {
        khz_thread *const k = &r->threads[i];
        for (int32_t j = 0; j < (r->live_is_shared ? KHZ_LIVE_FAULTS : 0) && status == KHZ_OK; j++) {
            khz_tap *const t = &k->taps[k->n_taps++];
            t->fault = &khz_live_faults(r->live)[r->n_faults + i * KHZ_LIVE_FAULTS + j];
            t->fault->is_live = 1;
            status = give_line(r, t, KHZ_LIVE_LINE);
        }
        for (int32_t j = 0; j < k->n_tasks; j++) {
            khz_thread_output_faults(k, k->tasks[j], 0);
        }
    }
    return status == KHZ_OK ? status : khz_rig_fail(r, status, "no memory for faults");
}

khz_binding khz_rig_fault_signal(khz_rig *r, int32_t fault, const char *what)
{
    khz_fault *const f = &khz_live_faults(r->live)[fault];
    khz_task *const u = r->signals[f->settings.signal].task;
    const int is_value = strcmp(what, "value") == 0;
    khz_signal *const s = (khz_signal *)khz_rig_room(r, 1, sizeof *s);
    khz_task *const seen = (khz_task *)khz_rig_room(r, 1, sizeof *seen);
    const void *const field = is_value ? (const void *)&f->passed : (const void *)&f->is_active;
    if (s == NULL || seen == NULL) {
        return (khz_binding){NULL, NULL};
    }
    s->name = what;
    s->unit = is_value ? r->signals[f->settings.signal].signal->unit : "";
    s->description = "";
    s->sign = 1;
    s->type = is_value ? KHZ_SIGNAL_REAL : KHZ_SIGNAL_INTEGER;
    s->offset = (const char *)field - (const char *)f;
    seen->thread = u->thread;
    seen->instance = f;
    return (khz_binding){seen, s};
}
