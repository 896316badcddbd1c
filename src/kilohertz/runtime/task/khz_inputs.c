#include <float.h>
#include <math.h>

#include "khz_thread.h"

static const double SETTLED = 1e-10; /* of a value, or of 1 */

static int begins(const khz_thread *k, const khz_task *u) { return k->step % (uint64_t)u->every == 0; }

static void set(const khz_thread *k, const khz_binding *b, double value)
{
    if (begins(k, b->task)) {
        khz_signal_set(b->task->instance, b->signal, value);
    }
}

/* Look at a signal; so far: its value, and the one at the end of the task's period before. */
static double look_at(const khz_binding *from, khz_seen *seen)
{
    const uint64_t steps = from->task->stepper->counts.steps;
    const double value = khz_thread_given(from, -1);
    if (steps != seen->steps) {
        seen->before = seen->steps == 0 ? value : seen->last;
        seen->steps = steps;
    } else if (steps == 0) {
        seen->before = value;
    }
    seen->last = value;
    return value;
}

/* All in base periods: the same numbers whichever threads the tasks are in. */
static double passed_on(const khz_connection *c, double value, double before, double since)
{
    const int64_t every = c->from.task->every * c->from.task->thread->every;
    return c->gain * (c->linear ? value + (value - before) * since / (double)every : value) + c->offset;
}

static void connect_one(khz_thread *k, khz_connection *c)
{
    const double value = look_at(&c->from, &c->seen);
    const uint64_t since = k->step - c->seen.steps * (uint64_t)c->from.task->every;
    set(k, &c->to, passed_on(c, value, c->seen.before, (double)(since * (uint64_t)k->every)));
}

/* The same from a task of another thread. */
static void connect_link(khz_thread *k, const khz_connection *c)
{
    const khz_link *const l = c->link;
    const double *const part = l->now + (size_t)c->place * KHZ_MESSAGE_PARTS;
    const double waited = (double)((int64_t)k->turn * k->every - l->stamp);
    set(k, &c->to, passed_on(c, part[KHZ_MESSAGE_VALUE], part[KHZ_MESSAGE_BEFORE], part[KHZ_MESSAGE_AGE] + waited));
}

static void read_links(khz_thread *k)
{
    for (int32_t i = 0; i < k->n_links; i++) {
        const int how = khz_link_read(&k->links[i], (int64_t)k->turn * k->every);
        k->account->counts.exchange_late += (uint64_t)(how == KHZ_EXCHANGE_LATE);
        k->account->counts.exchange_old += (uint64_t)(how == KHZ_EXCHANGE_OLD);
    }
}

void khz_playback_at(khz_playback *p, double time, int is_start)
{
    if (p->formulas == NULL) {
        (is_start ? khz_stimulus_start : khz_stimulus_at)(&p->stimulus, time, p->values);
        return;
    }
    for (int32_t j = 0; j < p->n; j++) {
        p->values[j] = khz_formula_sample(&p->formulas[j], time);
    }
}

void khz_thread_inputs(khz_thread *k)
{
    for (int32_t i = 0; i < k->n_playbacks; i++) {
        khz_playback *const p = k->playbacks[i];
        khz_playback_at(p, k->rig->start + (double)((int64_t)k->step * k->period_ns) / 1e9, 0);
        for (int32_t j = 0; j < p->n; j++) {
            set(k, &p->targets[j], p->values[j]);
        }
    }
    read_links(k);
    for (int32_t i = 0; i < k->n_connections; i++) {
        khz_connection *const c = k->connections[i];
        if (c->link != NULL) {
            connect_link(k, c);
        } else if (!c->late) {
            connect_one(k, c);
        }
    }
    khz_thread_input_faults(k, NULL);
}

void khz_thread_late_inputs(khz_thread *k, const khz_task *u)
{
    for (int32_t i = 0; i < k->n_connections; i++) {
        khz_connection *const c = k->connections[i];
        if (c->late && c->to.task == u) { /* its source has just been stepped: there is nothing to extrapolate */
            const double value = look_at(&c->from, &c->seen);
            khz_signal_set(u->instance, c->to.signal, passed_on(c, value, value, 0.0));
        }
    }
    khz_thread_input_faults(k, u);
}

/* ------------------------------------------------------------------------------- values that need each other at once
 */

static int is_at(const khz_connection *c, uint64_t step)
{
    const int is_due = step % (uint64_t)c->from.task->every == 0 && step % (uint64_t)c->to.task->every == 0;
    return c->link == NULL && is_due;
}

/* From a task behind the one it leads to, or from this itself: what is iterated on. */
static int leads_back(const khz_connection *c) { return c->from.task >= c->to.task; }

static double wanted(const khz_connection *c) { return c->gain * khz_thread_given(&c->from, -1) + c->offset; }

/* Every task once, with what those before it say now. */
static int evaluate_tasks(const khz_thread *k, uint64_t step)
{
    int fine = 1;
    for (int32_t i = 0; i < k->n_tasks && fine; i++) {
        const khz_task *const u = k->tasks[i];
        if (step % (uint64_t)u->every != 0) {
            continue;
        }
        for (int32_t j = 0; j < k->n_connections; j++) {
            const khz_connection *const c = k->connections[j];
            if (c->to.task == u && is_at(c, step) && !leads_back(c)) {
                khz_signal_set(u->instance, c->to.signal, wanted(c));
            }
        }
        const khz_model *const m = u->stepper->model;
        const double time = ((const khz_context *)u->instance)->time;
        fine = khz_evaluate_all(m, u->instance, time, khz_reals(u->instance, m->x)) == KHZ_OK;
        u->stepper->is_shown = 1;
    }
    return fine;
}

/* What the inputs lack of their values, beside what they lacked before (Aitken): `lengths` is the product of the old
 * ones with their change, and the square of this.  1: they agree. */
static int compare(const khz_thread *k, uint64_t step, double lengths[2])
{
    int agree = 1;
    lengths[0] = lengths[1] = 0.0;
    for (int32_t i = 0; i < k->n_connections; i++) {
        khz_connection *const c = k->connections[i];
        if (!is_at(c, step) || !leads_back(c)) {
            continue;
        }
        const double value = wanted(c);
        const double lacks = value - khz_signal_get(c->to.task->instance, c->to.signal);
        const double change = lacks - c->residual;
        agree &= fabs(lacks) <= SETTLED * fmax(1.0, fabs(value));
        lengths[0] += c->residual * change;
        lengths[1] += change * change;
        c->residual = lacks;
    }
    return agree;
}

static void move_inputs(const khz_thread *k, uint64_t step, double part)
{
    for (int32_t i = 0; i < k->n_connections; i++) {
        const khz_connection *const c = k->connections[i];
        if (is_at(c, step) && leads_back(c)) {
            const double by = c->to.signal->type == KHZ_SIGNAL_REAL ? part : 1.0;
            const double now = khz_signal_get(c->to.task->instance, c->to.signal);
            khz_signal_set(c->to.task->instance, c->to.signal, now + by * c->residual);
        }
    }
}

void khz_thread_settle(khz_thread *k, uint64_t step)
{
    double part = 1.0;
    for (int32_t turn = 0; turn < k->rig->iterate; turn++) {
        double lengths[2];
        if (!evaluate_tasks(k, step)) {
            break;
        }
        if (compare(k, step, lengths)) {
            return;
        }
        const double next = turn > 0 && lengths[1] > 0.0 ? -part * lengths[0] / lengths[1] : 1.0;
        part = fabs(next) <= DBL_MAX ? next : 1.0;
        move_inputs(k, step, part);
    }
    k->account->counts.unsettled += (uint64_t)(k->rig->iterate > 0);
}

static int is_same(const khz_binding *a, const khz_binding *b)
{
    return a->task == b->task && a->signal->offset == b->signal->offset;
}

int khz_thread_is_driven(const khz_thread *k, const khz_binding *b)
{
    int found = 0;
    for (int32_t i = 0; i < k->n_playbacks; i++) {
        for (int32_t j = 0; j < k->playbacks[i]->n; j++) {
            found |= is_same(&k->playbacks[i]->targets[j], b);
        }
    }
    for (int32_t i = 0; i < k->n_connections; i++) {
        found |= is_same(&k->connections[i]->to, b);
    }
    for (int32_t i = 0; i < k->n_wires; i++) {
        for (int32_t j = 0; j < k->wires[i]->n_in; j++) {
            found |= is_same(&k->wires[i]->in[j], b);
        }
    }
    return found;
}

int khz_thread_receive(khz_thread *k)
{
    int end = KHZ_END_NONE;
    k->messages = 0;
    khz_thread_exchange(k);
    for (int32_t i = 0; i < k->n_wires; i++) {
        khz_wire *const w = k->wires[i];
        KHZ_ENTER(&k->probes, KHZ_PLACES_OF_CYCLE + i);
        const uint32_t said = khz_port_receive(w->port, k->step, (int64_t)k->step * k->period_ns, w->inputs);
        KHZ_LEAVE(&k->probes, KHZ_PLACES_OF_CYCLE + i);
        khz_thread_exchanged(k, i);
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

void khz_thread_post(khz_thread *k, uint64_t step)
{
    for (int32_t i = 0; i < k->n_outgoing; i++) {
        khz_outgoing *const out = &k->outgoing[i];
        double *const part = k->message + (size_t)i * KHZ_MESSAGE_PARTS;
        part[KHZ_MESSAGE_VALUE] = look_at(&out->from, &out->seen);
        part[KHZ_MESSAGE_BEFORE] = out->seen.before;
        const uint64_t age = step - out->seen.steps * (uint64_t)out->from.task->every;
        part[KHZ_MESSAGE_AGE] = (double)(age * (uint64_t)k->every);
    }
    if (k->n_outgoing > 0) {
        khz_outbox_put(&k->outbox, (int64_t)k->turn * k->every, k->message);
    }
}
