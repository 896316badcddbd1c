#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "khz_task.h"

enum { MOST = 4096, MOST_SIGNALS = 1 << 24 };

static khz_status fail(khz_task *k, khz_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

static khz_status fail(khz_task *k, khz_status status, const char *format, ...)
{
    if (k->message[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(k->message, sizeof k->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

static int32_t count(khz_task *k, const char *key)
{
    return (int32_t)khz_scenario_integer(&k->scenario, key, 0, 0, MOST_SIGNALS);
}

static const char *text(khz_task *k, const char *prefix, int32_t index, const char *key, const char *fallback)
{
    char room[KHZ_KEY_SIZE];
    return khz_scenario_text(&k->scenario, khz_scenario_key(room, prefix, index, key), fallback);
}

static int64_t integer(khz_task *k, const char *prefix, int32_t index, const char *key, int64_t fallback, int64_t low,
                       int64_t high)
{
    char room[KHZ_KEY_SIZE];
    return khz_scenario_integer(&k->scenario, khz_scenario_key(room, prefix, index, key), fallback, low, high);
}

static double real(khz_task *k, const char *prefix, int32_t index, const char *key, double fallback)
{
    char room[KHZ_KEY_SIZE];
    return khz_scenario_real(&k->scenario, khz_scenario_key(room, prefix, index, key), fallback);
}

/* Zeroed room for n things, at least one, every page of it touched. */
static void *room_for(int64_t n, size_t size)
{
    const size_t bytes = ((size_t)(n > 0 ? n : 1) * size + 63U) & ~(size_t)63U;
    void *const memory = aligned_alloc(64, bytes);
    if (memory != NULL) {
        memset(memory, 0, bytes);
    }
    return memory;
}

/* -------------------------------------------------------------------------------------------------------------- units */

static void step_settings(khz_task *k, int32_t i, khz_step_settings *s)
{
    memset(s, 0, sizeof *s);
    s->period_ns = k->period_ns * integer(k, "task", i, "every", 1, 1, 1000000);
    s->method = khz_method_index(text(k, "task", i, "method", "euler"));
    s->events = (int32_t)integer(k, "task", i, "events", 0, 0, 100);
    s->newton = (int32_t)integer(k, "task", i, "newton", 0, 0, 1000);
    s->loop_newton = (int32_t)integer(k, "task", i, "loop_newton", 0, 0, 1000);
    s->event_cap = (int32_t)integer(k, "task", i, "event_cap", 0, 0, 100000);
    s->jacobian_every = (int32_t)integer(k, "task", i, "jacobian_every", 0, 0, 1000000);
    s->input_mode = (int32_t)integer(k, "task", i, "input_mode", 0, 0, 100);
    s->substeps = (int32_t)integer(k, "task", i, "substeps", 0, 0, 1000);
    s->inlined = (int32_t)integer(k, "task", i, "inlined", 0, 0, 1);
}

static khz_status set_parameters(khz_task *k, int32_t i, khz_unit *u)
{
    const int32_t n = (int32_t)integer(k, "task", i, "n_set", 0, 0, MOST_SIGNALS);
    for (int32_t j = 0; j < n; j++) {
        char key[64];
        (void)snprintf(key, sizeof key, "set.%d.name", (int)j);
        const char *const name = text(k, "task", i, key, "");
        const int32_t at = khz_signal_find(u->linked->signals, u->linked->n_signals, name);
        if (at < 0) {
            return fail(k, KHZ_UNSUPPORTED, "task %s has no signal `%.200s`", u->name, name);
        }
        (void)snprintf(key, sizeof key, "set.%d.value", (int)j);
        khz_signal_set(u->instance, &u->linked->signals[at], real(k, "task", i, key, 0.0));
    }
    return KHZ_OK;
}

static khz_status prepare_unit(khz_task *k, int32_t i)
{
    khz_unit *const u = &k->units[i];
    khz_step_settings settings;
    u->name = text(k, "task", i, "name", "task");
    u->linked = &khz_linked_models[integer(k, "task", i, "model", 0, 0, khz_n_linked_models - 1)];
    u->every = integer(k, "task", i, "every", 1, 1, 1000000);
    const khz_model *const m = u->linked->model();
    step_settings(k, i, &settings);
    u->size = k->scenario.problem[0] == '\0' ? khz_stepper_size(m, &settings) : 0;
    if (u->size == 0) {
        return fail(k, KHZ_UNSUPPORTED, "task %s: the settings of its stepper make no sense", u->name);
    }
    void *const memory = room_for((int64_t)u->size, 1);
    u->snapshot = room_for((int64_t)u->size, 1);
    if (memory == NULL || u->snapshot == NULL) {
        return fail(k, KHZ_OUT_OF_MEMORY, "task %s: no memory for %zu bytes", u->name, 2 * u->size);
    }
    khz_status status = khz_stepper_prepare(memory, m, &settings);
    u->stepper = (khz_stepper *)memory;
    if (status != KHZ_OK) {
        return fail(k, status, "task %s: the settings of its stepper make no sense", u->name);
    }
    u->instance = khz_stepper_instance(u->stepper);
    const size_t before = (size_t)((char *)u->instance - (char *)memory);
    const int arena_is_last = before + m->size + 64 > u->size && m->arena + m->arena_size + 64 > m->size;
    u->kept = arena_is_last ? before + m->arena : u->size;
    status = set_parameters(k, i, u);
    status = status == KHZ_OK ? khz_stepper_start(u->stepper, k->start) : status;
    if (status != KHZ_OK) {
        const khz_context *const c = (const khz_context *)u->instance;
        return fail(k, status, "task %s: the model cannot be initialised (status %d): %.300s", u->name, (int)status,
                    c->message);
    }
    return KHZ_OK;
}

static khz_status prepare_units(khz_task *k)
{
    k->n_units = count(k, "n_tasks");
    if (k->n_units < 1 || k->n_units > MOST) {
        return fail(k, KHZ_UNSUPPORTED, "the scenario has no task");
    }
    k->units = (khz_unit *)room_for(k->n_units, sizeof *k->units);
    for (int32_t i = 0; i < k->n_units; i++) {
        const khz_status status = prepare_unit(k, i);
        if (status != KHZ_OK) {
            return status;
        }
        k->units[i].first_signal = k->n_signals;
        k->n_signals += k->units[i].linked->n_signals;
    }
    k->signals = (khz_binding *)room_for(k->n_signals, sizeof *k->signals);
    for (int32_t i = 0; i < k->n_units; i++) {
        khz_unit *const u = &k->units[i];
        for (int32_t j = 0; j < u->linked->n_signals; j++) {
            k->signals[u->first_signal + j] = (khz_binding){u, &u->linked->signals[j]};
        }
    }
    return KHZ_OK;
}

/* ----------------------------------------------------------------------------------------------------------- bindings */

/* The signal that `<key>.unit` and `<key>.signal` under prefix.index name. */
static khz_status bind(khz_task *k, const char *prefix, int32_t index, const char *key, khz_binding *b)
{
    char at[KHZ_KEY_SIZE];
    (void)snprintf(at, sizeof at, "%.80s.unit", key);
    b->unit = &k->units[integer(k, prefix, index, at, 0, 0, k->n_units - 1)];
    (void)snprintf(at, sizeof at, "%.80s.signal", key);
    const char *const name = text(k, prefix, index, at, "");
    const khz_linked_model *const m = b->unit->linked;
    int32_t found = b->unit->next_signal;
    if (found >= m->n_signals || strcmp(m->signals[found].name, name) != 0) {
        found = khz_signal_find(m->signals, m->n_signals, name);
    }
    if (found < 0) {
        return fail(k, KHZ_UNSUPPORTED, "task %s has no signal `%.200s`", b->unit->name, name);
    }
    b->signal = &m->signals[found];
    b->unit->next_signal = found + 1;
    return KHZ_OK;
}

static khz_status prepare_connections(khz_task *k)
{
    const int sequential = strcmp(khz_scenario_text(&k->scenario, "exchange", "parallel"), "sequential") == 0;
    k->n_connections = count(k, "n_connections");
    k->connections = (khz_connection *)room_for(k->n_connections, sizeof *k->connections);
    for (int32_t i = 0; i < k->n_connections; i++) {
        khz_connection *const c = &k->connections[i];
        khz_status status = bind(k, "connection", i, "from", &c->from);
        status = status == KHZ_OK ? bind(k, "connection", i, "to", &c->to) : status;
        if (status != KHZ_OK) {
            return status;
        }
        c->late = sequential && c->from.unit < c->to.unit && c->from.unit->every == c->to.unit->every;
        c->linear = strcmp(text(k, "connection", i, "extrapolate", "hold"), "linear") == 0;
        c->gain = real(k, "connection", i, "gain", 1.0);
        c->offset = real(k, "connection", i, "offset", 0.0);
    }
    return KHZ_OK;
}

static khz_status prepare_playback(khz_task *k, int32_t i)
{
    khz_playback *const p = &k->playbacks[i];
    const int32_t n = (int32_t)integer(k, "stimulus", i, "n", 0, 0, MOST_SIGNALS);
    const char **const columns = (const char **)room_for(n, sizeof *columns);
    p->targets = (khz_binding *)room_for(n, sizeof *p->targets);
    p->values = (double *)room_for(n, sizeof *p->values);
    p->stimulus.mode = strcmp(text(k, "stimulus", i, "mode", "hold"), "linear") == 0;
    for (int32_t j = 0; j < n; j++) {
        char key[64];
        (void)snprintf(key, sizeof key, "%d", (int)j);
        const khz_status status = bind(k, "stimulus", i, key, &p->targets[j]);
        if (status != KHZ_OK) {
            return status;
        }
        (void)snprintf(key, sizeof key, "%d.column", (int)j);
        columns[j] = text(k, "stimulus", i, key, p->targets[j].signal->name);
    }
    const char *const path = text(k, "stimulus", i, "file", "");
    char message[256];
    const khz_status status = khz_stimulus_read(&p->stimulus, path, columns, n, message, sizeof message);
    free((void *)columns);
    return status == KHZ_OK ? status : fail(k, status, "stimulus %.200s: %.200s", path, message);
}

static khz_status bind_port(khz_task *k, int32_t i, khz_wire *w, int direction)
{
    const int32_t n = khz_port_count(w->port, direction);
    khz_binding *const bindings = (khz_binding *)room_for(n, sizeof *bindings);
    double *const values = (double *)room_for(n, sizeof *values);
    for (int32_t j = 0; j < n; j++) {
        char key[64];
        (void)snprintf(key, sizeof key, "%s.%d", direction == KHZ_RECEIVE ? "receive" : "send", (int)j);
        const khz_status status = bind(k, "device", i, key, &bindings[j]);
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

static khz_status prepare_wire(khz_task *k, int32_t i)
{
    khz_wire *const w = &k->wires[i];
    khz_device_config config;
    char message[256] = "";
    khz_status status = khz_scenario_part(&k->scenario, "device", i, &config);
    if (status != KHZ_OK) {
        return fail(k, status, "no memory for device %d", (int)i);
    }
    const size_t size = khz_port_size(&config);
    void *const memory = room_for((int64_t)size, 1);
    status = memory != NULL ? khz_port_open(memory, &config, message, sizeof message) : KHZ_OUT_OF_MEMORY;
    if (status != KHZ_OK) {
        return fail(k, status, "device %.100s: %.250s", config.name, message);
    }
    w->port = (khz_port *)memory;
    status = bind_port(k, i, w, KHZ_RECEIVE);
    return status == KHZ_OK ? bind_port(k, i, w, KHZ_SEND) : status;
}

/* ----------------------------------------------------------------------------------------------- recorder, live values */

static void read_trigger(khz_task *k, const char *which, khz_trigger *t)
{
    char key[KHZ_KEY_SIZE];
    (void)snprintf(key, sizeof key, "record.%s.op", which);
    const char *const op = khz_scenario_text(&k->scenario, key, "");
    t->kind = op[0] == '>' ? KHZ_TRIGGER_ABOVE : op[0] == '<' ? KHZ_TRIGGER_BELOW : KHZ_TRIGGER_NONE;
    (void)snprintf(key, sizeof key, "record.%s.column", which);
    t->column = (int32_t)khz_scenario_integer(&k->scenario, key, 0, 0, k->n_columns);
    (void)snprintf(key, sizeof key, "record.%s.value", which);
    t->value = khz_scenario_real(&k->scenario, key, 0.0);
}

static khz_status prepare_recorder(khz_task *k)
{
    const char *const path = khz_scenario_text(&k->scenario, "record.file", "");
    k->n_columns = count(k, "record.n");
    k->record_every = khz_scenario_integer(&k->scenario, "record.every", 1, 1, 1000000000);
    if (path[0] == '\0' || k->n_columns == 0) {
        return KHZ_OK;
    }
    k->record_times = (int32_t)khz_scenario_integer(&k->scenario, "record.times", 0, 0, 1);
    const int32_t n_all = k->n_columns + 1 + (k->record_times ? KHZ_RECORDED_TIMES : 0);
    khz_column *const names = (khz_column *)room_for(n_all, sizeof *names);
    k->columns = (khz_binding *)room_for(k->n_columns, sizeof *k->columns);
    names[0] = (khz_column){"time", "s", ""};
    for (int32_t i = 0; i < k->n_columns; i++) {
        char key[64];
        (void)snprintf(key, sizeof key, "%d", (int)i);
        char at[KHZ_KEY_SIZE];
        (void)snprintf(at, sizeof at, "record.%d.name", (int)i);
        khz_binding *const b = &k->columns[i];
        const khz_status status = bind(k, "record", i, "from", b);
        if (status != KHZ_OK) {
            return status;
        }
        names[i + 1] = (khz_column){khz_scenario_text(&k->scenario, at, b->signal->name), b->signal->unit,
                                    b->signal->description};
    }
    if (k->record_times) {
        khz_column *const times = names + k->n_columns + 1;
        times[0] = (khz_column){"cycle.lateness", "s", "of the cycle before: wake-up after its release"};
        times[1] = (khz_column){"cycle.compute", "s", "of the cycle before: time of its steps"};
        times[2] = (khz_column){"cycle.slack", "s", "of the cycle before: deadline minus end"};
        times[3] = (khz_column){"cycle.messages", "1", "of the cycle before: messages that came from devices"};
    }
    read_trigger(k, "begin", &k->recorder.from);
    read_trigger(k, "end", &k->recorder.until);
    k->recorder.n_before = (int32_t)khz_scenario_integer(&k->scenario, "record.before", 0, 0, 1 << 24);
    const int64_t n_rows = khz_scenario_integer(&k->scenario, "record.ring", 4096, 16, 1 << 24);
    const int error = khz_recorder_open(&k->recorder, path, names, n_all, (uint64_t)n_rows);
    free(names);
    k->has_recorder = error == 0;
    return error == 0 ? KHZ_OK : fail(k, KHZ_UNSUPPORTED, "cannot record to %.200s: %s", path, strerror(error));
}

static khz_status prepare_live(khz_task *k)
{
    size_t n_text = 1;
    for (int32_t i = 0; i < k->n_signals; i++) {
        const khz_signal *const s = k->signals[i].signal;
        n_text += strlen(s->name) + strlen(s->unit) + strlen(s->description) + strlen(k->signals[i].unit->name) + 4;
    }
    if (khz_scenario_integer(&k->scenario, "live", 1, 0, 1) != 0) {
        k->live = khz_live_create(k->name, (uint32_t)k->n_signals, n_text);
        if (k->live == NULL && errno == EBUSY) {
            return fail(k, KHZ_UNSUPPORTED, "a task of this name is already running");
        }
        k->live_is_shared = k->live != NULL;
        khz_system_say(k, KHZ_GRANT_LIVE, k->live_is_shared ? 0 : errno, "shared segment", "nobody can watch");
    } else {
        khz_system_say(k, KHZ_GRANT_LIVE, -1, "not asked for", "");
    }
    if (k->live == NULL) {
        k->live = (khz_live *)room_for((int64_t)(sizeof(khz_live) + sizeof(double) * (size_t)k->n_signals), 1);
        k->live->values = sizeof(khz_live);
    }
    k->account = &k->live->account;
    k->live->period_ns = k->period_ns;
    k->live->start = k->start;
    if (!k->live_is_shared) {
        return KHZ_OK;
    }
    size_t used = 0;
    khz_live_signal *const directory = khz_live_directory(k->live);
    for (int32_t i = 0; i < k->n_signals; i++) {
        const khz_signal *const s = k->signals[i].signal;
        char qualified[1200];
        (void)snprintf(qualified, sizeof qualified, "%s.%s", k->signals[i].unit->name, s->name);
        directory[i].name = khz_live_text(k->live, &used, k->n_units > 1 ? qualified : s->name);
        directory[i].unit = khz_live_text(k->live, &used, s->unit);
        directory[i].description = khz_live_text(k->live, &used, s->description);
        directory[i].unit_index = (int32_t)(k->signals[i].unit - k->units);
        directory[i].type = s->type;
        directory[i].causality = s->causality;
        directory[i].tunable = s->tunable;
    }
    khz_live_open(k->live);
    return KHZ_OK;
}

/* ---------------------------------------------------------------------------------------------------------------- all */

static khz_status read_plan(khz_task *k)
{
    khz_scenario *const s = &k->scenario;
    k->name = khz_scenario_text(s, "name", "task");
    k->period_ns = khz_scenario_integer(s, "period_ns", 1000000, 1, (int64_t)1 << 50);
    k->wall_num = khz_scenario_integer(s, "wall_num", 1, 0, 1000000);
    k->wall_den = khz_scenario_integer(s, "wall_den", 1, 1, 1000000);
    k->n_cycles = (uint64_t)khz_scenario_integer(s, "cycles", 0, 0, (int64_t)1 << 60);
    k->start = khz_scenario_real(s, "start", 0.0);
    k->grace = (uint64_t)khz_scenario_integer(s, "grace", 10, 0, (int64_t)1 << 40);
    k->recover = (uint64_t)khz_scenario_integer(s, "recover", 0, 0, (int64_t)1 << 40);
    k->spin_ns = khz_scenario_integer(s, "spin_ns", 0, 0, 1000000000);
    k->phase_ns = khz_scenario_integer(s, "phase_ns", -1, -1, (int64_t)1 << 50);
    k->probe_ns = khz_scenario_integer(s, "probe_ns", 0, 0, 1000000000);
    k->stop_on_failure = (int32_t)khz_scenario_integer(s, "stop_on_failure", 0, 0, 1);
    k->slow_step = (uint64_t)khz_scenario_integer(s, "fault.slow_step", 0, 0, (int64_t)1 << 40);
    k->slow_every = (uint64_t)khz_scenario_integer(s, "fault.slow_every", (int64_t)1 << 40, 1, (int64_t)1 << 40);
    k->slow_ns = khz_scenario_integer(s, "fault.slow_ns", 0, 0, (int64_t)1 << 40);
    k->watchdog_ns = khz_scenario_integer(s, "watchdog_ns", 1000000000, 0, (int64_t)1 << 50);
    k->watchdog_stops = (int32_t)khz_scenario_integer(s, "watchdog_stops", 0, 0, 1);
    k->live_every = (uint64_t)khz_scenario_integer(s, "live_every", 10, 1, (int64_t)1 << 40);
    const char *const policy = khz_scenario_text(s, "policy", "catch_up");
    k->policy = KHZ_POLICIES;
    for (int32_t i = 0; i < KHZ_POLICIES; i++) {
        k->policy = strcmp(policy, khz_policy_names[i]) == 0 ? i : k->policy;
    }
    if (k->policy == KHZ_POLICIES) {
        return fail(k, KHZ_UNSUPPORTED, "no policy is called `%.100s`", policy);
    }
    return KHZ_OK;
}

khz_status khz_task_prepare(khz_task *k)
{
    khz_status status = read_plan(k);
    status = status == KHZ_OK ? prepare_units(k) : status;
    status = status == KHZ_OK ? prepare_connections(k) : status;
    k->n_playbacks = count(k, "n_stimuli");
    k->playbacks = (khz_playback *)room_for(k->n_playbacks, sizeof *k->playbacks);
    for (int32_t i = 0; i < k->n_playbacks && status == KHZ_OK; i++) {
        status = prepare_playback(k, i);
    }
    const int32_t n_wires = count(k, "n_devices");
    k->wires = (khz_wire *)room_for(n_wires, sizeof *k->wires);
    for (int32_t i = 0; i < n_wires && status == KHZ_OK; i++) {
        status = prepare_wire(k, i);
        k->n_wires += status == KHZ_OK;
    }
    status = status == KHZ_OK ? prepare_live(k) : status;
    status = status == KHZ_OK ? prepare_recorder(k) : status;
    if (k->scenario.problem[0] != '\0') {
        k->message[0] = '\0';
        return fail(k, KHZ_UNSUPPORTED, "%s", k->scenario.problem);
    }
    return status;
}

void khz_task_release(khz_task *k)
{
    for (int32_t i = 0; i < k->n_wires; i++) {
        khz_port_close(k->wires[i].port);
    }
    for (int32_t i = 0; i < k->n_units; i++) {
        if (k->units[i].instance != NULL) {
            khz_stepper_destroy(k->units[i].stepper);
        }
    }
    if (k->live != NULL && k->live_is_shared) {
        khz_live_remove(k->live);
    }
}
