#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "khz_thread.h"

/* ----------------------------------------------------------------------------------------- messages between threads */

/* Where a signal stands in the messages of its thread; it is added where it is not there yet. */
static int32_t place_of(khz_thread *k, const khz_binding *b)
{
    for (int32_t i = 0; i < k->n_outgoing; i++) {
        if (k->outgoing[i].from.task == b->task && k->outgoing[i].from.signal == b->signal) {
            return i;
        }
    }
    k->outgoing[k->n_outgoing].from = *b;
    return k->n_outgoing++;
}

static khz_link *link_to(khz_thread *k, const khz_thread *source)
{
    for (int32_t i = 0; i < k->n_links; i++) {
        if (k->links[i].source == &source->outbox) {
            return &k->links[i];
        }
    }
    k->links[k->n_links].source = &source->outbox;
    return &k->links[k->n_links++];
}

static khz_status prepare_messages(khz_rig *r)
{
    for (int32_t i = 0; i < r->n_threads; i++) {
        khz_thread *const k = &r->threads[i];
        k->outbox.every = k->every;
        k->outgoing = (khz_outgoing *)khz_rig_room(r, r->n_connections, sizeof *k->outgoing);
        k->links = (khz_link *)khz_rig_room(r, r->n_threads, sizeof *k->links);
    }
    for (int32_t i = 0; i < r->n_connections; i++) {
        khz_connection *const c = &r->connections[i];
        khz_thread *const source = c->from.task->thread;
        if (source != c->to.task->thread) {
            c->place = place_of(source, &c->from);
            c->link = link_to(c->to.task->thread, source);
        }
    }
    for (int32_t i = 0; i < r->n_threads; i++) {
        khz_thread *const k = &r->threads[i];
        k->outbox.n = k->n_outgoing * KHZ_MESSAGE_PARTS;
        k->outbox.slots = (_Atomic uint64_t *)khz_rig_room(r, (int64_t)khz_outbox_size(k->outbox.n), 1);
        k->message = (double *)khz_rig_room(r, k->outbox.n, sizeof *k->message);
        k->kept_message = (double *)khz_rig_room(r, k->outbox.n, sizeof *k->kept_message);
        if (k->outbox.slots == NULL || k->message == NULL || k->kept_message == NULL) {
            return khz_rig_fail(r, KHZ_OUT_OF_MEMORY, "no memory for messages between threads");
        }
        khz_thread_post(k, 0);
    }
    for (int32_t i = 0; i < r->n_threads; i++) {
        khz_thread *const k = &r->threads[i];
        for (int32_t j = 0; j < k->n_links; j++) {
            khz_link *const l = &k->links[j];
            l->now = (double *)khz_rig_room(r, l->source->n, sizeof *l->now);
        }
    }
    return KHZ_OK;
}

/* --------------------------------------------------------------------------------------------------------- recorder */

static void read_trigger(khz_rig *r, const char *which, khz_trigger *t)
{
    char key[KHZ_KEY_SIZE];
    (void)snprintf(key, sizeof key, "record.%s.op", which);
    const char *const op = khz_scenario_text(&r->scenario, key, "");
    t->kind = op[0] == '>' ? KHZ_TRIGGER_ABOVE : op[0] == '<' ? KHZ_TRIGGER_BELOW : KHZ_TRIGGER_NONE;
    (void)snprintf(key, sizeof key, "record.%s.column", which);
    t->column = (int32_t)khz_scenario_integer(&r->scenario, key, 0, 0, r->n_columns);
    (void)snprintf(key, sizeof key, "record.%s.value", which);
    t->value = khz_scenario_real(&r->scenario, key, 0.0);
}

static void name_times(khz_rig *r, khz_column *names)
{
    static const char *const what[KHZ_RECORDED_TIMES][3] = {
        {"cycle.lateness", "s", "of the cycle before: wake-up after its release"},
        {"cycle.compute", "s", "of the cycle before: time of its steps"},
        {"cycle.slack", "s", "of the cycle before: deadline minus end"},
        {"cycle.messages", "1", "of the cycle before: messages that came from devices"},
    };
    for (int32_t i = 0; i < r->n_threads; i++) {
        for (int32_t j = 0; j < KHZ_RECORDED_TIMES; j++) {
            char *const name = (char *)khz_rig_room(r, 128, 1);
            (void)snprintf(name, 128, "%s%s%s", r->n_threads > 1 ? r->threads[i].name : "", r->n_threads > 1 ? "." : "",
                           what[j][0]);
            names[i * KHZ_RECORDED_TIMES + j] = (khz_column){name, what[j][1], what[j][2]};
        }
    }
}

/* The columns of one thread and where they stand in a whole row. */
static void own_columns(khz_rig *r, khz_thread *k, int32_t *places)
{
    k->columns = (khz_binding *)khz_rig_room(r, r->n_columns, sizeof *k->columns);
    for (int32_t i = 0; i < r->n_columns; i++) {
        if (r->columns[i].task->thread == k) {
            places[k->n_columns] = i + 1;
            k->columns[k->n_columns++] = r->columns[i];
        }
    }
    for (int32_t i = 0; r->record_times && i < KHZ_RECORDED_TIMES; i++) {
        places[k->n_columns + i] = 1 + r->n_columns + k->index * KHZ_RECORDED_TIMES + i;
    }
}

/* A ring for each of several threads; their rows are merged by the recorder. */
static khz_status prepare_merge(khz_rig *r, int32_t n_all, uint64_t n_rows)
{
    khz_merge *const m = &r->merge;
    m->lanes = (khz_lane_rows *)khz_rig_room(r, r->n_threads, sizeof *m->lanes);
    m->row = (double *)khz_rig_room(r, n_all, sizeof *m->row);
    m->n_lanes = r->n_threads;
    m->n_columns = n_all;
    m->record_every = r->record_every;
    m->start = r->start;
    m->period_ns = r->period_ns;
    for (int32_t i = 0; i < r->n_threads; i++) {
        khz_lane_rows *const l = &m->lanes[i];
        khz_thread *const k = &r->threads[i];
        int32_t *const places = (int32_t *)khz_rig_room(r, n_all, sizeof *places);
        own_columns(r, k, places);
        l->places = places;
        l->every = k->every;
        l->last = -1;
        l->n = k->n_columns + (r->record_times ? KHZ_RECORDED_TIMES : 0);
        const size_t row = sizeof(double) * (size_t)(KHZ_MERGE_HEAD + l->n);
        void *const memory = khz_rig_room(r, (int64_t)khz_ring_size(row, n_rows), 1);
        if (memory == NULL) {
            return khz_rig_fail(r, KHZ_OUT_OF_MEMORY, "no memory for the recorder");
        }
        khz_ring_init(&l->ring, memory, row, n_rows);
        k->ring = &l->ring;
    }
    r->recorder.merge = m;
    return KHZ_OK;
}

/* A signal of a task: a view that is recorded is not read in every cycle. */
static khz_status bind_signal(khz_rig *r, int32_t i, khz_binding *b)
{
    char room[KHZ_KEY_SIZE];
    const char *const key = khz_scenario_key(room, "record", i, "from.task");
    khz_task *const u = &r->tasks[khz_scenario_integer(&r->scenario, key, 0, 0, r->n_tasks - 1)];
    const int32_t is_read = u->is_read;
    const khz_status status = khz_rig_bind(r, "record", i, "from", b);
    u->is_read = is_read;
    u->is_recorded |= status == KHZ_OK ? b->signal->is_view : 0;
    return status;
}

/* A signal of a task, or of a fault of the scenario. */
static khz_status bind_column(khz_rig *r, int32_t i, khz_binding *b)
{
    char at[KHZ_KEY_SIZE];
    (void)snprintf(at, sizeof at, "record.%d.from.fault", (int)i);
    const int32_t fault = (int32_t)khz_scenario_integer(&r->scenario, at, -1, -1, r->n_faults - 1);
    if (fault < 0) {
        return bind_signal(r, i, b);
    }
    (void)snprintf(at, sizeof at, "record.%d.from.signal", (int)i);
    *b = khz_rig_fault_signal(r, fault, khz_scenario_text(&r->scenario, at, "value"));
    return b->task != NULL ? KHZ_OK : khz_rig_fail(r, KHZ_OUT_OF_MEMORY, "no memory for the recorder");
}

static khz_status name_columns(khz_rig *r, khz_column *names)
{
    r->columns = (khz_binding *)khz_rig_room(r, r->n_columns, sizeof *r->columns);
    names[0] = (khz_column){"time", "s", ""};
    for (int32_t i = 0; i < r->n_columns; i++) {
        char at[KHZ_KEY_SIZE];
        (void)snprintf(at, sizeof at, "record.%d.name", (int)i);
        khz_binding *const b = &r->columns[i];
        const khz_status status = bind_column(r, i, b);
        if (status != KHZ_OK) {
            return status;
        }
        names[i + 1] =
            (khz_column){khz_scenario_text(&r->scenario, at, b->signal->name), b->signal->unit, b->signal->description};
    }
    if (r->record_times) {
        name_times(r, names + r->n_columns + 1);
    }
    return KHZ_OK;
}

/* The values that the run begins with, as lines for the head of the recording; NULL where there is no memory. */
static char *parameter_lines(const khz_rig *r)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *const memory = open_memstream(&lines, &size);
    if (memory == NULL) {
        return NULL;
    }
    int32_t n = 0;
    for (int32_t i = 0; i < r->n_signals; i++) {
        n += r->signals[i].signal->causality == KHZ_SIGNAL_PARAMETER;
    }
    (void)fprintf(memory, "parameters %d\n", (int)n);
    for (int32_t i = 0; i < r->n_signals; i++) {
        const khz_task *const u = r->signals[i].task;
        const khz_signal *const s = r->signals[i].signal;
        if (s->causality == KHZ_SIGNAL_PARAMETER) {
            (void)fprintf(memory, "%s%s%s\t%s\t%s\t%.17g\n", r->n_tasks > 1 ? u->name : "", r->n_tasks > 1 ? "." : "",
                          s->name, s->unit, s->description, khz_signal_get(u->instance, s));
        }
    }
    (void)fclose(memory);
    return lines;
}

static khz_status prepare_recorder(khz_rig *r)
{
    const char *const path = khz_scenario_text(&r->scenario, "record.file", "");
    r->n_columns = (int32_t)khz_scenario_integer(&r->scenario, "record.n", 0, 0, 1 << 24);
    r->record_every = khz_scenario_integer(&r->scenario, "record.every", 1, 1, 1000000000);
    if (path[0] == '\0' || r->n_columns == 0) {
        return KHZ_OK;
    }
    r->record_times = (int32_t)khz_scenario_integer(&r->scenario, "record.times", 0, 0, 1);
    const int32_t n_all = r->n_columns + 1 + (r->record_times ? KHZ_RECORDED_TIMES * r->n_threads : 0);
    khz_column *const names = (khz_column *)calloc((size_t)n_all, sizeof *names);
    khz_status status = names != NULL ? name_columns(r, names) : khz_rig_fail(r, KHZ_OUT_OF_MEMORY, "no memory");
    const int64_t n_rows = khz_scenario_integer(&r->scenario, "record.ring", 4096, 16, 1 << 24);
    if (status == KHZ_OK && r->n_threads > 1) {
        status = prepare_merge(r, n_all, (uint64_t)n_rows);
    } else if (status == KHZ_OK) {
        r->threads[0].columns = r->columns;
        r->threads[0].n_columns = r->n_columns;
        r->threads[0].ring = &r->recorder.ring;
    }
    read_trigger(r, "begin", &r->recorder.from);
    read_trigger(r, "end", &r->recorder.until);
    r->recorder.n_before = (int32_t)khz_scenario_integer(&r->scenario, "record.before", 0, 0, 1 << 24);
    char *const parameters = parameter_lines(r);
    r->recorder.parameters = parameters;
    const int error = status == KHZ_OK ? khz_recorder_open(&r->recorder, path, names, n_all, (uint64_t)n_rows) : 0;
    r->recorder.parameters = NULL;
    free(parameters);
    free(names);
    r->has_recorder = error == 0 && status == KHZ_OK;
    return error == 0 ? status : khz_rig_fail(r, KHZ_UNSUPPORTED, "cannot record to %.200s: %s", path, strerror(error));
}

/* ------------------------------------------------------------------------------------------------------ live values */

static void write_directory(khz_rig *r)
{
    size_t used = 0;
    khz_live_signal *const directory = khz_live_directory(r->live);
    for (int32_t i = 0; i < r->n_signals; i++) {
        const khz_task *const u = r->signals[i].task;
        const khz_signal *const s = r->signals[i].signal;
        char qualified[1200];
        (void)snprintf(qualified, sizeof qualified, "%s.%s", u->name, s->name);
        directory[i].name = khz_live_text(r->live, &used, r->n_tasks > 1 ? qualified : s->name);
        directory[i].unit = khz_live_text(r->live, &used, s->unit);
        directory[i].description = khz_live_text(r->live, &used, s->description);
        directory[i].literals = khz_live_text(r->live, &used, s->literals);
        directory[i].task = (int32_t)(u - r->tasks);
        directory[i].type = s->type;
        directory[i].causality = s->causality;
        directory[i].tunable = s->tunable;
        directory[i].lane = u->thread->index;
        directory[i].least = s->least;
        directory[i].most = s->most;
    }
}

/* Which steps the tasks of a thread have, as far as there is room. */
static void say_steps(const khz_thread *k)
{
    size_t used = 0;
    for (int32_t i = 0; i < k->n_tasks && used < sizeof k->lane->steps; i++) {
        const khz_task *const u = k->tasks[i];
        const char *const name = k->n_tasks > 1 ? u->name : "", *const colon = k->n_tasks > 1 ? ": " : "";
        const char *const word = khz_stepper_word(u->stepper, u->linked->made);
        const int n = snprintf(k->lane->steps + used, sizeof k->lane->steps - used, "%s%s%s%s", i > 0 ? "; " : "", name,
                               colon, word);
        used += n > 0 ? (size_t)n : 0;
    }
}

static void own_lane(khz_rig *r, khz_thread *k)
{
    k->lane = khz_live_lane(r->live, k->index);
    k->account = &k->lane->account;
    k->lane->period_ns = k->period_ns;
    k->lane->pid = (int32_t)getpid();
    (void)snprintf(k->lane->name, sizeof k->lane->name, "%s", k->name);
    say_steps(k);
    k->signals = (int32_t *)khz_rig_room(r, r->n_signals, sizeof *k->signals);
    for (int32_t i = 0; i < r->n_signals; i++) {
        if (r->signals[i].task->thread == k) {
            k->signals[k->n_signals++] = i;
        }
    }
}

static khz_status prepare_live(khz_rig *r)
{
    const int is_wanted = khz_scenario_integer(&r->scenario, "live", 1, 0, 1) != 0;
    const int32_t n_given = is_wanted ? KHZ_LIVE_FAULTS * r->n_threads : 0;
    khz_live_room room = {(uint32_t)r->n_signals, (uint32_t)r->n_threads, (uint32_t)(r->n_faults + n_given), 1};
    for (int32_t i = 0; i < r->n_signals; i++) {
        const khz_signal *const s = r->signals[i].signal;
        room.n_text += strlen(s->name) + strlen(s->unit) + strlen(s->description) + strlen(s->literals) +
                       strlen(r->signals[i].task->name) + 5;
    }
    int error = -1;
    if (is_wanted) {
        r->live = khz_live_create(r->name, &room);
        error = r->live != NULL ? 0 : errno;
        if (error == EBUSY) {
            return khz_rig_fail(r, KHZ_UNSUPPORTED, "a rig of this name is already running");
        }
    }
    r->live_is_shared = error == 0;
    if (r->live == NULL) {
        room.n_text = 0;
        void *const memory = khz_rig_room(r, (int64_t)khz_live_size(&room), 1);
        if (memory == NULL) {
            return khz_rig_fail(r, KHZ_OUT_OF_MEMORY, "no memory for live values");
        }
        r->live = khz_live_lay_out(memory, r->name, &room);
    }
    for (int32_t i = 0; i < r->n_threads; i++) {
        own_lane(r, &r->threads[i]);
        khz_system_say(r->threads[i].grants, KHZ_GRANT_LIVE, error, error == 0 ? "shared segment" : "not asked for",
                       "nobody can watch");
    }
    r->live->period_ns = r->period_ns;
    r->live->start = r->start;
    r->live->n_planted = (uint32_t)r->n_faults;
    if (r->live_is_shared) {
        write_directory(r);
    }
    return KHZ_OK;
}

khz_status khz_rig_outputs(khz_rig *r)
{
    khz_status status = prepare_live(r);
    status = status == KHZ_OK ? khz_rig_faults(r) : status;
    status = status == KHZ_OK ? prepare_messages(r) : status; /* the first ones with their faults */
    status = status == KHZ_OK ? prepare_recorder(r) : status;
    if (status == KHZ_OK && r->live_is_shared) {
        khz_live_open(r->live);
    }
    return status;
}
