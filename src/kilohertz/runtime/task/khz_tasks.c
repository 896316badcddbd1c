#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "khz_thread.h"

enum { MOST_SIGNALS = 1 << 24 };

static int32_t count(khz_rig *r, const char *key)
{
    return (int32_t)khz_scenario_integer(&r->scenario, key, 0, 0, MOST_SIGNALS);
}

static const char *text(khz_rig *r, const char *prefix, int32_t index, const char *key, const char *fallback)
{
    char room[KHZ_KEY_SIZE];
    return khz_scenario_text(&r->scenario, khz_scenario_key(room, prefix, index, key), fallback);
}

static int64_t integer(khz_rig *r, const char *prefix, int32_t index, const char *key, int64_t fallback, int64_t low,
                       int64_t high)
{
    char room[KHZ_KEY_SIZE];
    return khz_scenario_integer(&r->scenario, khz_scenario_key(room, prefix, index, key), fallback, low, high);
}

static double real(khz_rig *r, const char *prefix, int32_t index, const char *key, double fallback)
{
    char room[KHZ_KEY_SIZE];
    return khz_scenario_real(&r->scenario, khz_scenario_key(room, prefix, index, key), fallback);
}

/* ------------------------------------------------------------------------------------------------------------ tasks */

static void step_settings(khz_rig *r, int32_t i, khz_step_settings *s)
{
    memset(s, 0, sizeof *s);
    s->period_ns = r->period_ns * integer(r, "task", i, "every", 1, 1, 1000000);
    s->method = khz_method_index(text(r, "task", i, "method", "euler"));
#define READ(field, fallback, least, most) s->field = (int32_t)integer(r, "task", i, #field, fallback, least, most);
    KHZ_STEP_SETTINGS(READ)
#undef READ
}

static khz_status set_parameters(khz_rig *r, int32_t i, khz_task *u)
{
    const int32_t n = (int32_t)integer(r, "task", i, "n_set", 0, 0, MOST_SIGNALS);
    for (int32_t j = 0; j < n; j++) {
        char key[64];
        (void)snprintf(key, sizeof key, "set.%d.name", (int)j);
        const char *const name = text(r, "task", i, key, "");
        const int32_t at = khz_signal_find(u->linked->signals, u->linked->n_signals, name);
        if (at < 0) {
            return khz_rig_fail(r, KHZ_UNSUPPORTED, "task %s has no signal `%.200s`", u->name, name);
        }
        (void)snprintf(key, sizeof key, "set.%d.value", (int)j);
        khz_signal_set(u->instance, &u->linked->signals[at], real(r, "task", i, key, 0.0));
    }
    return KHZ_OK;
}

/* The model cannot be initialised: what failed, and where. */
static khz_status refuse_start(khz_rig *r, const khz_task *u, khz_status status)
{
    const khz_context *const c = (const khz_context *)u->instance;
    const khz_model *const m = u->stepper->model;
    if (status == KHZ_TERMINATED) {
        const khz_said *const said = &c->said[KHZ_SAID_END];
        return khz_rig_fail(r, status, "task %s: the model ended the run at its start: %.200s; at %.100s", u->name,
                            said->text, khz_origin(m, said->place));
    }
    const int32_t block =
        status == KHZ_NOT_FINITE ? khz_first_not_finite(m, u->instance, m->n_values) : khz_failed_block(c);
    const int known = block >= 1 && block <= m->n_blocks;
    const char *const what = status == KHZ_NOT_FINITE ? "a value is not a number" : c->message;
    const char *const name = known ? m->blocks[block - 1].name : "";
    const char *const said_at = status == KHZ_ASSERTION ? khz_origin(m, c->place) : "";
    const char *const at = said_at[0] != '\0' ? said_at : known ? m->blocks[block - 1].origin : "";
    return khz_rig_fail(r, status, "task %s: the model cannot be initialised (status %d): %.200s%s%.100s%s%.100s",
                        u->name, (int)status, what, name[0] != '\0' ? "; " : "", name, at[0] != '\0' ? " at " : "", at);
}

static khz_status prepare_task(khz_rig *r, int32_t i)
{
    khz_task *const u = &r->tasks[i];
    khz_step_settings settings;
    u->name = text(r, "task", i, "name", "task");
    u->linked = &khz_linked_models[integer(r, "task", i, "model", 0, 0, khz_n_linked_models - 1)];
    u->named = (int32_t)integer(r, "task", i, "thread", 0, 0, MOST_SIGNALS);
    u->thread = khz_rig_thread(r, u->named);
    const int64_t every = integer(r, "task", i, "every", 1, 1, 1000000);
    if (every % u->thread->every != 0) {
        return khz_rig_fail(r, KHZ_UNSUPPORTED, "task %s: its step is no multiple of its thread's", u->name);
    }
    u->every = every / u->thread->every;
    const khz_model *const m = u->linked->model();
    step_settings(r, i, &settings);
    u->size = r->scenario.problem[0] == '\0' ? khz_stepper_size(m, &settings) : 0;
    if (u->size == 0) {
        return khz_rig_fail(r, KHZ_UNSUPPORTED, "task %s: the settings of its stepper make no sense", u->name);
    }
    void *const memory = khz_rig_room(r, (int64_t)u->size, 1);
    u->snapshot = khz_rig_room(r, (int64_t)u->size, 1);
    if (memory == NULL || u->snapshot == NULL) {
        return khz_rig_fail(r, KHZ_OUT_OF_MEMORY, "task %s: no memory for %zu bytes", u->name, 2 * u->size);
    }
    khz_status status = khz_stepper_prepare(memory, m, &settings);
    u->stepper = (khz_stepper *)memory;
    if (status != KHZ_OK) {
        return khz_rig_fail(r, status, "task %s: the settings of its stepper make no sense", u->name);
    }
    u->step = khz_stepper_made(u->stepper, u->linked->made);
    u->instance = khz_stepper_instance(u->stepper);
    const size_t before = (size_t)((char *)u->instance - (char *)memory);
    const int arena_is_last = before + m->size + 64 > u->size && m->arena + m->arena_size + 64 > m->size;
    u->kept = arena_is_last ? before + m->arena : u->size;
    return set_parameters(r, i, u);
}

/* What connections bring from tasks that have started: those that are read just before a step. */
static void bring_starts(khz_rig *r, const khz_task *u)
{
    for (int32_t i = 0; i < r->n_connections; i++) {
        const khz_connection *const c = &r->connections[i];
        if (c->late && c->to.task == u) {
            const double value = khz_signal_get(c->from.task->instance, c->from.signal);
            khz_signal_set(u->instance, c->to.signal, c->gain * value + c->offset);
        }
    }
}

khz_status khz_rig_initialise(khz_rig *r)
{
    for (int32_t i = 0; i < r->n_playbacks; i++) {
        khz_playback *const p = &r->playbacks[i];
        khz_playback_at(p, r->start, 1);
        for (int32_t j = 0; j < p->n; j++) {
            khz_signal_set(p->targets[j].task->instance, p->targets[j].signal, p->values[j]);
        }
    }
    for (int32_t i = 0; i < r->n_tasks; i++) {
        const khz_task *const u = &r->tasks[i];
        bring_starts(r, u);
        const khz_status status = khz_stepper_start(u->stepper, r->start);
        if (status != KHZ_OK) {
            return refuse_start(r, u, status);
        }
    }
    return KHZ_OK;
}

khz_status khz_rig_tasks(khz_rig *r)
{
    r->n_tasks = count(r, "n_tasks");
    if (r->n_tasks < 1) {
        return khz_rig_fail(r, KHZ_UNSUPPORTED, "the scenario has no task");
    }
    r->tasks = (khz_task *)khz_rig_room(r, r->n_tasks, sizeof *r->tasks);
    for (int32_t i = 0; i < r->n_tasks; i++) {
        const khz_status status = prepare_task(r, i);
        if (status != KHZ_OK) {
            return status;
        }
        r->tasks[i].first_signal = r->n_signals;
        r->n_signals += r->tasks[i].linked->n_signals;
    }
    r->signals = (khz_binding *)khz_rig_room(r, r->n_signals, sizeof *r->signals);
    for (int32_t i = 0; i < r->n_tasks; i++) {
        khz_task *const u = &r->tasks[i];
        for (int32_t j = 0; j < u->linked->n_signals; j++) {
            r->signals[u->first_signal + j] = (khz_binding){u, &u->linked->signals[j]};
        }
    }
    return KHZ_OK;
}

/* --------------------------------------------------------------------------------------------------------- bindings */

khz_status khz_rig_bind(khz_rig *r, const char *prefix, int32_t index, const char *key, khz_binding *b)
{
    char at[KHZ_KEY_SIZE];
    (void)snprintf(at, sizeof at, "%.80s.task", key);
    b->task = &r->tasks[integer(r, prefix, index, at, 0, 0, r->n_tasks - 1)];
    (void)snprintf(at, sizeof at, "%.80s.signal", key);
    const char *const name = text(r, prefix, index, at, "");
    const khz_linked_model *const m = b->task->linked;
    int32_t found = b->task->next_signal;
    if (found >= m->n_signals || strcmp(m->signals[found].name, name) != 0) {
        found = khz_signal_find(m->signals, m->n_signals, name);
    }
    if (found < 0) {
        return khz_rig_fail(r, KHZ_UNSUPPORTED, "task %s has no signal `%.200s`", b->task->name, name);
    }
    b->signal = &m->signals[found];
    b->task->is_read |= b->signal->is_view;
    b->task->next_signal = found + 1;
    return KHZ_OK;
}

static khz_status prepare_connections(khz_rig *r)
{
    const int sequential = strcmp(khz_scenario_text(&r->scenario, "exchange", "parallel"), "sequential") == 0;
    r->iterate = (int32_t)khz_scenario_integer(&r->scenario, "iterate", 0, 0, KHZ_MOST_TURNS);
    r->n_connections = count(r, "n_connections");
    r->connections = (khz_connection *)khz_rig_room(r, r->n_connections, sizeof *r->connections);
    for (int32_t i = 0; i < r->n_connections; i++) {
        khz_connection *const c = &r->connections[i];
        khz_status status = khz_rig_bind(r, "connection", i, "from", &c->from);
        status = status == KHZ_OK ? khz_rig_bind(r, "connection", i, "to", &c->to) : status;
        if (status != KHZ_OK) {
            return status;
        }
        const khz_task *const from = c->from.task;
        const khz_task *const to = c->to.task;
        c->late = sequential && from < to && from->named == to->named && from->every == to->every;
        c->linear = strcmp(text(r, "connection", i, "extrapolate", "hold"), "linear") == 0;
        c->gain = real(r, "connection", i, "gain", 1.0);
        c->offset = real(r, "connection", i, "offset", 0.0);
    }
    return KHZ_OK;
}

/* Formula j of stimulus i, an operation or a number in each line. */
static khz_status read_formula(khz_rig *r, int32_t i, int32_t j, khz_formula *f)
{
    char key[64];
    (void)snprintf(key, sizeof key, "%d.n", (int)j);
    const int32_t n = (int32_t)integer(r, "stimulus", i, key, 0, 0, MOST_SIGNALS);
    int32_t *const operation = (int32_t *)khz_rig_room(r, n, sizeof *operation);
    double *const number = (double *)khz_rig_room(r, n, sizeof *number);
    for (int32_t k = 0; k < n; k++) {
        (void)snprintf(key, sizeof key, "%d.%d", (int)j, (int)k);
        const char *const word = text(r, "stimulus", i, key, "");
        const char *const space = strchr(word, ' '); /* a table: its word and its rows */
        char head[32];
        (void)snprintf(head, sizeof head, "%.*s", space != NULL ? (int)(space - word) : 31, word);
        const int32_t found = khz_formula_operation(head);
        operation[k] = found < 0 ? KHZ_OPERATION_NUMBER : found;
        number[k] = found < 0 || space != NULL ? strtod(space != NULL ? space : word, NULL) : 0.0;
    }
    *f = (khz_formula){operation, number, n};
    return khz_formula_check(f) == KHZ_OK ? KHZ_OK
                                          : khz_rig_fail(r, KHZ_UNSUPPORTED, "stimulus %d: no formula", (int)i);
}

static khz_status prepare_formulas(khz_rig *r, int32_t i, khz_playback *p)
{
    p->formulas = (khz_formula *)khz_rig_room(r, p->n, sizeof *p->formulas);
    khz_status status = KHZ_OK;
    for (int32_t j = 0; j < p->n && status == KHZ_OK; j++) {
        status = read_formula(r, i, j, &p->formulas[j]);
    }
    return status;
}

static khz_status prepare_columns(khz_rig *r, int32_t i, khz_playback *p, const char *path)
{
    const char **const columns = (const char **)calloc((size_t)p->n + 1, sizeof *columns);
    if (columns == NULL) {
        return khz_rig_fail(r, KHZ_OUT_OF_MEMORY, "no memory for a stimulus");
    }
    for (int32_t j = 0; j < p->n; j++) {
        char key[64];
        (void)snprintf(key, sizeof key, "%d.column", (int)j);
        columns[j] = text(r, "stimulus", i, key, p->targets[j].signal->name);
    }
    p->stimulus.mode = (int32_t)integer(r, "stimulus", i, "mode", KHZ_STIMULUS_HOLD, 0, KHZ_STIMULUS_RECORDED);
    char message[256], room[2 * 4096];
    const char *const file = khz_scenario_beside(&r->scenario, room, sizeof room, path);
    const khz_status status = khz_stimulus_read(&p->stimulus, file, columns, p->n, message, sizeof message);
    free((void *)columns);
    return status == KHZ_OK ? status : khz_rig_fail(r, status, "stimulus %.200s: %.200s", file, message);
}

static khz_status prepare_playback(khz_rig *r, int32_t i)
{
    khz_playback *const p = &r->playbacks[i];
    p->thread = khz_rig_thread(r, (int32_t)integer(r, "stimulus", i, "thread", 0, 0, MOST_SIGNALS));
    p->n = (int32_t)integer(r, "stimulus", i, "n", 0, 0, MOST_SIGNALS);
    p->targets = (khz_binding *)khz_rig_room(r, p->n, sizeof *p->targets);
    p->values = (double *)khz_rig_room(r, p->n, sizeof *p->values);
    for (int32_t j = 0; j < p->n; j++) {
        char key[64];
        (void)snprintf(key, sizeof key, "%d", (int)j);
        const khz_status status = khz_rig_bind(r, "stimulus", i, key, &p->targets[j]);
        if (status != KHZ_OK) {
            return status;
        }
    }
    const char *const path = text(r, "stimulus", i, "file", "");
    return path[0] == '\0' ? prepare_formulas(r, i, p) : prepare_columns(r, i, p, path);
}

static khz_status bind_port(khz_rig *r, int32_t i, khz_wire *w, int direction)
{
    const int32_t n = khz_port_count(w->port, direction);
    khz_binding *const bindings = (khz_binding *)khz_rig_room(r, n, sizeof *bindings);
    double *const values = (double *)khz_rig_room(r, n, sizeof *values);
    for (int32_t j = 0; j < n; j++) {
        char key[64];
        (void)snprintf(key, sizeof key, "%s.%d", direction == KHZ_RECEIVE ? "receive" : "send", (int)j);
        const khz_status status = khz_rig_bind(r, "device", i, key, &bindings[j]);
        if (status != KHZ_OK) {
            return status;
        }
    }
    if (direction == KHZ_RECEIVE) {
        w->in = bindings;
        w->inputs = values;
        w->n_in = n;
    } else {
        w->out = bindings;
        w->outputs = values;
        w->n_out = n;
    }
    return KHZ_OK;
}

static khz_status prepare_wire(khz_rig *r, int32_t i)
{
    khz_wire *const w = &r->wires[i];
    const khz_status status = khz_scenario_part(&r->scenario, "device", i, &w->config);
    w->thread = khz_rig_thread(r, (int32_t)integer(r, "device", i, "thread", 0, 0, MOST_SIGNALS));
    w->port = status == KHZ_OK ? (khz_port *)khz_rig_room(r, (int64_t)khz_port_size(&w->config), 1) : NULL;
    return w->port != NULL ? KHZ_OK : khz_rig_fail(r, KHZ_OUT_OF_MEMORY, "no memory for device %d", (int)i);
}

khz_status khz_rig_open_wires(khz_rig *r, int32_t process)
{
    khz_status status = KHZ_OK;
    for (int32_t i = 0; i < r->n_wires && status == KHZ_OK; i++) {
        khz_wire *const w = &r->wires[i];
        if (w->thread->process != process) {
            continue;
        }
        char message[256] = "";
        status = khz_port_open(w->port, &w->config, message, sizeof message);
        if (status != KHZ_OK) {
            return khz_rig_fail(r, status, "device %.100s: %.250s", w->config.name, message);
        }
        w->is_open = 1;
        status = bind_port(r, i, w, KHZ_RECEIVE);
        status = status == KHZ_OK ? bind_port(r, i, w, KHZ_SEND) : status;
    }
    return status;
}

void khz_rig_close_wires(khz_rig *r, int32_t process)
{
    for (int32_t i = 0; i < r->n_wires; i++) {
        if (r->wires[i].is_open && r->wires[i].thread->process == process) {
            khz_port_close(r->wires[i].port);
        }
    }
}

khz_status khz_rig_inputs(khz_rig *r)
{
    khz_status status = prepare_connections(r);
    r->n_playbacks = count(r, "n_stimuli");
    r->playbacks = (khz_playback *)khz_rig_room(r, r->n_playbacks, sizeof *r->playbacks);
    for (int32_t i = 0; i < r->n_playbacks && status == KHZ_OK; i++) {
        status = prepare_playback(r, i);
    }
    r->n_wires = count(r, "n_devices");
    r->wires = (khz_wire *)khz_rig_room(r, r->n_wires, sizeof *r->wires);
    for (int32_t i = 0; i < r->n_wires && status == KHZ_OK; i++) {
        status = prepare_wire(r, i);
    }
    return status;
}
