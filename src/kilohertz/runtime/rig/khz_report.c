#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "khz_isolate.h"
#include "khz_thread.h"

const char *const khz_end_texts[KHZ_ENDS] = {
    "not over",
    "the duration is over",
    "stopped by command",
    "stopped by a signal",
    "terminated by the model",
    "stopped: a deadline was missed",
    "stopped: a link was lost",
    "stopped: the watchdog saw no progress",
    "stopped: a step failed",
    "stopped: one of its processes is gone",
    "stopped: a step did not end; its devices got safe outputs",
    "stopped: who started it is gone",
    "stopped: a step broke its thread; its devices got safe outputs",
};

static const char *end_name(int32_t end) { return khz_word(&khz_task_layout, "khz_end_", end); }

static const char *stage_name(int32_t stage) { return khz_word(&khz_task_layout, "khz_at_", stage); }

static const char *policy_name(int32_t policy) { return khz_word(&khz_task_layout, "khz_policy_", policy); }

static const char *time_name(int32_t kind) { return khz_word(&khz_task_layout, "khz_time_", kind); }

static void put_text(FILE *f, const char *text)
{
    (void)fputc('"', f);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            (void)fprintf(f, "\\%c", *c);
        } else if ((unsigned char)*c < 32) {
            (void)fprintf(f, "\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            (void)fputc(*c, f);
        }
    }
    (void)fputc('"', f);
}

static void put_histogram(FILE *f, const khz_histogram *h, int64_t worst)
{
    (void)fprintf(f,
                  "{\"n\": %llu, \"min\": %lld, \"mean\": %.1f, \"p50\": %lld, \"p99\": %lld, \"p99.9\": %lld, "
                  "\"max\": %lld, \"worst_step\": %lld",
                  (unsigned long long)h->n, (long long)h->min, khz_histogram_mean(h),
                  (long long)khz_histogram_quantile(h, 0.5), (long long)khz_histogram_quantile(h, 0.99),
                  (long long)khz_histogram_quantile(h, 0.999), (long long)h->max, (long long)worst);
    (void)fprintf(f, ", \"p0.1\": %lld, \"p1\": %lld}", (long long)khz_histogram_quantile(h, 0.001),
                  (long long)khz_histogram_quantile(h, 0.01));
}

/* Every counter of a structure under its own name, without the n_ of a count. */
static void put_counters(FILE *f, const khz_layout *layout, const char *structure, const void *counters)
{
    const char *separator = "";
    for (int32_t i = 0; i < layout->n_fields; i++) {
        const khz_field *const field = &layout->fields[i];
        if (strcmp(field->structure, structure) != 0) {
            continue;
        }
        uint64_t value;
        memcpy(&value, (const char *)counters + field->offset, sizeof value);
        const char *const name = field->name + (strncmp(field->name, "n_", 2) == 0 ? 2 : 0);
        (void)fprintf(f, "%s\"%s\": %llu", separator, name, (unsigned long long)value);
        separator = ", ";
    }
}

/* Blocks in which something went wrong, with their places in the model. */
static void put_blocks(FILE *f, const khz_task *u)
{
    const khz_model *const m = u->stepper->model;
    const khz_block_counts *const counts = khz_stepper_blocks(u->stepper);
    int n = 0;
    for (int32_t i = 0; i < m->n_blocks; i++) {
        const khz_block_counts *const b = &counts[i];
        if ((b->newton_caps | b->pivots | b->failures | b->not_finite | b->event_caps) == 0) {
            continue;
        }
        (void)fprintf(f, "%s{\"unknowns\": ", n++ > 0 ? ", " : "");
        put_text(f, m->blocks[i].name);
        (void)fputs(", \"origin\": ", f);
        put_text(f, m->blocks[i].origin);
        (void)fprintf(f, ", \"newton_caps\": %u, \"pivots\": %u, \"failures\": %u, ", b->newton_caps, b->pivots,
                      b->failures);
        (void)fprintf(f, "\"not_finite\": %u, \"event_caps\": %u, ", b->not_finite, b->event_caps);
        (void)fprintf(f, "\"first_time\": %.9g, \"last_time\": %.9g}", b->first_time, b->time);
    }
}

/* Something that happened to a block, how often and first when; null where it never did. */
static void put_first(FILE *f, const khz_model *m, const char *key, uint32_t n, int32_t block, double time)
{
    if (n == 0 || block < 1 || block > m->n_blocks) {
        (void)fprintf(f, ", \"%s\": null", key);
        return;
    }
    (void)fprintf(f, ", \"%s\": {\"n\": %u, \"unknowns\": ", key, n);
    put_text(f, m->blocks[block - 1].name);
    (void)fputs(", \"origin\": ", f);
    put_text(f, m->blocks[block - 1].origin);
    (void)fprintf(f, ", \"first_time\": %.9g}", time);
}

/* What the model said, the first of each kind. */
static void put_said(FILE *f, const khz_task *u)
{
    const khz_model *const m = u->stepper->model;
    const khz_context *const c = (const khz_context *)khz_stepper_instance(u->stepper);
    const char *separator = "";
    for (int kind = 0; kind < KHZ_SAIDS; kind++) {
        const khz_said *const said = &c->said[kind];
        if (said->n > 0) {
            (void)fprintf(f, "%s{\"kind\": \"%s\", \"n\": %u, \"first_time\": %.9g, \"text\": ", separator,
                          khz_word(&khz_model_layout, "khz_said_", kind), said->n, said->time);
            put_text(f, said->text);
            (void)fputs(", \"origin\": ", f);
            put_text(f, khz_origin(m, said->place));
            (void)fputs("}", f);
            separator = ", ";
        }
    }
}

static void put_task(FILE *f, const khz_task *u)
{
    (void)fputs("    {\"name\": ", f);
    put_text(f, u->name);
    (void)fputs(", \"model\": ", f);
    put_text(f, u->stepper->model->name);
    (void)fputs(", \"thread\": ", f);
    put_text(f, u->thread->name);
    const khz_step_settings *const s = &u->stepper->settings;
    (void)fprintf(f, ", \"method\": \"%s\"", khz_methods[s->method].name);
#define PUT(field, fallback, least, most) (void)fprintf(f, ", \"" #field "\": %d", (int)s->field);
    KHZ_STEP_SETTINGS(PUT)
#undef PUT
    (void)fprintf(f, ", \"made\": %d, \"step\": ", u->step != khz_stepper_step);
    put_text(f, khz_stepper_word(u->stepper, u->linked->made));
    (void)fprintf(f, ", \"every\": %lld, \"troubled_steps\": %llu,\n     \"counts\": {",
                  (long long)(u->every * u->thread->every), (unsigned long long)u->flags_seen);
    put_counters(f, &khz_model_layout, "khz_step_counts", &u->stepper->counts);
    (void)fputs("},\n     \"blocks\": [", f);
    put_blocks(f, u);
    (void)fputs("]", f);
    const khz_model *const m = u->stepper->model;
    const khz_context *const c = (const khz_context *)khz_stepper_instance(u->stepper);
    put_first(f, m, "vague", c->n_vague, c->vague_first, c->vague_time);
    put_first(f, m, "cut", c->n_cut, c->cut_first, c->cut_time);
    put_first(f, m, "unsettled", c->n_unsettled, c->unsettled_first, c->unsettled_time);
    (void)fputs(",\n     \"said\": [", f);
    put_said(f, u);
    (void)fputs("]", f);
    (void)fputs(",\n     \"compute\": ", f);
    put_histogram(f, &u->compute, -1);
    (void)fputs("}", f);
}

static void put_wire(FILE *f, const khz_wire *w)
{
    static const khz_device_counters none;
    (void)fputs("    {\"name\": ", f);
    put_text(f, w->config.name);
    (void)fputs(", ", f);
    put_counters(f, &khz_task_layout, "khz_device_counters", w->is_open ? khz_port_counters(w->port) : &none);
    (void)fputs("}", f);
}

/* A number as JSON has it: null where it is none. */
static void put_number(FILE *f, const char *key, double value)
{
    if (isfinite(value)) {
        (void)fprintf(f, ", \"%s\": %.17g", key, value);
    } else {
        (void)fprintf(f, ", \"%s\": null", key);
    }
}

static void put_signal(FILE *f, const khz_rig *r, int32_t number)
{
    const khz_binding *const b = &r->signals[number];
    char name[1200];
    (void)snprintf(name, sizeof name, "%s%s%s", r->n_tasks > 1 ? b->task->name : "", r->n_tasks > 1 ? "." : "",
                   b->signal->name);
    put_text(f, name);
}

static void put_fault(FILE *f, const khz_rig *r, const khz_fault *t)
{
    const int has_begun = t->n_values > 0;
    const int is_over = has_begun && t->state == KHZ_INJECTED_OVER;
    (void)fputs("    {\"name\": ", f);
    put_text(f, t->name);
    (void)fputs(", \"signal\": ", f);
    put_signal(f, r, t->settings.signal);
    (void)fprintf(f, ", \"kind\": \"%s\", \"live\": %s, \"state\": \"%s\"",
                  khz_word(&khz_model_layout, "khz_fault_", t->settings.kind), t->is_live ? "true" : "false",
                  khz_word(&khz_model_layout, "khz_injected_", t->state));
    put_number(f, "value", t->settings.value);
    put_number(f, "since", has_begun ? t->since : (double)NAN);
    put_number(f, "ended", is_over ? t->ended : (double)NAN);
    (void)fprintf(f, ", \"passed\": %llu}", (unsigned long long)t->n_values);
}

static void put_faults(FILE *f, const khz_rig *r)
{
    const khz_fault *const faults = khz_live_faults(r->live);
    const char *separator = "\n";
    (void)fputs("  \"faults\": [", f);
    for (uint32_t i = 0; i < r->live->n_faults; i++) {
        if (faults[i].state != KHZ_INJECTED_FREE) {
            (void)fputs(separator, f);
            put_fault(f, r, &faults[i]);
            separator = ",\n";
        }
    }
    (void)fputs("\n  ],\n", f);
}

static void put_recorder(FILE *f, const khz_rig *r, const khz_counts *c)
{
    if (!r->has_recorder) {
        (void)fputs("  \"recorder\": null,\n", f);
        return;
    }
    const int error = atomic_load(&r->recorder.last_error);
    (void)fprintf(f, "  \"recorder\": {\"rows\": %llu, \"written\": %llu, \"dropped\": %llu, \"not_wanted\": %llu, ",
                  (unsigned long long)c->rows, (unsigned long long)atomic_load(&r->recorder.n_written),
                  (unsigned long long)c->dropped, (unsigned long long)atomic_load(&r->recorder.n_not_wanted));
    (void)fprintf(f, "\"incomplete\": %llu, \"late\": %llu, ", (unsigned long long)r->merge.n_incomplete,
                  (unsigned long long)r->merge.n_late);
    (void)fprintf(f,
                  "\"lost_at_end\": %llu, \"refused_writes\": %llu, \"last_error\": ", (unsigned long long)r->lost_rows,
                  (unsigned long long)atomic_load(&r->recorder.n_refused_writes));
    put_text(f, error != 0 ? strerror(error) : "");
    (void)fputs("},\n", f);
}

static void put_account(FILE *f, const khz_account *a, const char *margin)
{
    (void)fprintf(f, "%s\"counts\": {", margin);
    put_counters(f, &khz_task_layout, "khz_counts", &a->counts);
    (void)fprintf(f, "},\n%s\"times\": {\n", margin);
    for (int i = 0; i < KHZ_TIMES; i++) {
        (void)fprintf(f, "%s  \"%s\": ", margin, time_name(i));
        put_histogram(f, &a->time[i], a->worst_cycle[i]);
        (void)fputs(i + 1 < KHZ_TIMES ? ",\n" : "\n", f);
    }
    (void)fprintf(f, "%s},\n", margin);
}

static void put_grants(FILE *f, const khz_grant *grants, const char *margin)
{
    (void)fprintf(f, "%s\"settings\": [\n", margin);
    for (int i = 0; i < KHZ_GRANTS; i++) {
        (void)fprintf(f, "%s  {\"name\": \"%s\", \"granted\": %d, \"word\": ", margin, grants[i].name,
                      (int)grants[i].is_granted);
        put_text(f, grants[i].word);
        (void)fputs(i + 1 < KHZ_GRANTS ? "},\n" : "}\n", f);
    }
    (void)fprintf(f, "%s]", margin);
}

const khz_block *khz_report_stuck_block(const khz_thread *k)
{
    const khz_task *const u = k->tasks[k->task];
    const int32_t block = ((const khz_context *)u->instance)->block;
    const khz_model *const m = u->stepper->model;
    return atomic_load(&k->stage) == KHZ_AT_STEP && block >= 1 && block <= m->n_blocks ? &m->blocks[block - 1] : NULL;
}

/* What broke a thread; empty where nothing did. */
static const char *crash_name(int32_t crash)
{
    switch (crash) {
    case KHZ_CRASH_NONE:
        return "";
    case KHZ_CRASH_EXIT:
        return "exit";
    case SIGSEGV:
        return "SIGSEGV";
    case SIGBUS:
        return "SIGBUS";
    case SIGFPE:
        return "SIGFPE";
    case SIGILL:
        return "SIGILL";
    case SIGABRT:
        return "SIGABRT";
    default:
        return "SIGSYS";
    }
}

/* The system call that broke an isolated thread, by its name or number; empty where none did. */
static void put_refused(FILE *f, const khz_thread *k)
{
    char number[32] = "";
    const char *const name = k->refused > 0 ? khz_isolate_name(k->refused - 1) : "";
    if (k->refused > 0 && name[0] == '\0') {
        (void)snprintf(number, sizeof number, "system call %d", (int)k->refused - 1);
    }
    put_text(f, name[0] != '\0' ? name : number);
}

static void put_stuck(FILE *f, const khz_thread *k)
{
    if (!khz_thread_is_lost(k)) {
        (void)fputs("      \"stuck\": null,\n", f);
        return;
    }
    const khz_block *const block = khz_report_stuck_block(k);
    (void)fprintf(f, "      \"stuck\": {\"stage\": \"%s\", \"step\": %llu, \"model\": ",
                  stage_name(atomic_load(&k->stage)), (unsigned long long)k->step);
    put_text(f, k->tasks[k->task]->linked->name);
    (void)fputs(", \"unknowns\": ", f);
    put_text(f, block != NULL ? block->name : "");
    (void)fputs(", \"origin\": ", f);
    put_text(f, block != NULL ? block->origin : "");
    (void)fprintf(f, ", \"address\": \"0x%llx\", \"interrupted\": %s, \"crash\": ", (unsigned long long)k->address,
                  atomic_load(&k->is_parked) ? "true" : "false");
    put_text(f, crash_name(k->crash));
    (void)fputs(", \"refused\": ", f);
    put_refused(f, k);
    (void)fputs("},\n", f);
}

static void put_thread(FILE *f, const khz_thread *k)
{
    (void)fputs("    {\n      \"name\": ", f);
    put_text(f, k->name);
    (void)fprintf(f, ",\n      \"process\": %d,\n      \"cpu\": %d,\n      \"priority\": %d,\n", (int)k->process,
                  (int)k->cpu, (int)k->priority);
    (void)fprintf(f, "      \"period_ns\": %lld,\n      \"policy\": \"%s\",\n      \"ended\": \"%s\",\n",
                  (long long)k->period_ns, policy_name(k->policy), end_name(atomic_load(&k->ended)));
    (void)fprintf(f, "      \"model_seconds\": %.9f,\n      \"wall_ns\": %lld,\n", khz_thread_seconds(k),
                  (long long)(k->ended_ns - k->began_ns));
    (void)fprintf(f, "      \"processor_ns\": %lld,\n", (long long)k->processor_ns);
    (void)fprintf(f, "      \"involuntary_switches\": %lld,\n      \"page_faults\": %lld,\n", (long long)k->switches,
                  (long long)k->faults);
    put_stuck(f, k);
    put_account(f, k->account, "      ");
    put_grants(f, k->grants, "      ");
    (void)fputs("\n    }", f);
}

/* All threads together: the time that all have computed, the wall time that the last one took. */
static void put_head(FILE *f, const khz_rig *r, double steal)
{
    const int end = khz_rig_ending(r);
    const int32_t culprit = atomic_load(&r->culprit);
    const double model = khz_thread_seconds(&r->threads[r->leader]);
    int64_t wall = 0, processor = 0, switches = 0, faults = 0;
    for (int32_t i = 0; i < r->n_threads; i++) {
        const khz_thread *const k = &r->threads[i];
        const int64_t took = k->ended_ns - k->began_ns;
        wall = took > wall ? took : wall;
        processor += k->processor_ns;
        switches += k->switches;
        faults += k->faults;
    }
    (void)fputs("{\n  \"name\": ", f);
    put_text(f, r->name);
    (void)fprintf(f, ",\n  \"ended\": \"%s\",\n  \"ending\": ", end_name(end));
    put_text(f, khz_end_texts[end]);
    (void)fputs(",\n  \"ended_by\": ", f);
    put_text(f, r->n_threads > 1 && culprit > 0 ? r->threads[culprit - 1].name : "");
    (void)fprintf(f, ",\n  \"period_ns\": %lld,\n  \"wall_num\": %lld,\n  \"wall_den\": %lld,\n  \"policy\": \"%s\",\n",
                  (long long)r->period_ns, (long long)r->wall_num, (long long)r->wall_den,
                  policy_name(r->threads[r->leader].policy));
    (void)fprintf(f, "  \"start\": %.17g,\n  \"model_seconds\": %.9f,\n  \"began_ns\": %lld,\n  \"wall_ns\": %lld,\n",
                  r->start, model, (long long)atomic_load(&r->base_ns), (long long)wall);
    (void)fprintf(f, "  \"processor_ns\": %lld,\n", (long long)processor);
    (void)fprintf(f, "  \"steal\": %.5f,\n  \"involuntary_switches\": %lld,\n  \"page_faults\": %lld,\n", steal,
                  (long long)switches, (long long)faults);
}

/* What all threads counted and measured. */
static khz_account *whole_account(const khz_rig *r)
{
    khz_account *const a = (khz_account *)khz_rig_room(r, 1, sizeof *a);
    for (int32_t i = 0; a != NULL && i < r->n_threads; i++) {
        khz_account_add(a, r->threads[i].account);
    }
    return a;
}

static void put_parts(FILE *f, const khz_rig *r)
{
    (void)fputs("  \"tasks\": [\n", f);
    for (int32_t i = 0; i < r->n_tasks; i++) {
        put_task(f, &r->tasks[i]);
        (void)fputs(i + 1 < r->n_tasks ? ",\n" : "\n", f);
    }
    (void)fputs("  ],\n  \"devices\": [\n", f);
    for (int32_t i = 0; i < r->n_wires; i++) {
        put_wire(f, &r->wires[i]);
        (void)fputs(i + 1 < r->n_wires ? ",\n" : "\n", f);
    }
    (void)fputs("  ],\n", f);
    put_faults(f, r);
    (void)fputs("  \"threads\": [\n", f);
    for (int32_t i = 0; i < r->n_threads; i++) {
        put_thread(f, &r->threads[i]);
        (void)fputs(i + 1 < r->n_threads ? ",\n" : "\n", f);
    }
    (void)fputs("  ],\n", f);
}

uint64_t khz_report_lost_rows(const khz_rig *r)
{
    uint64_t lost = r->has_recorder ? r->lost_rows + r->merge.n_late : 0;
    for (int32_t i = 0; r->has_recorder && i < r->n_threads; i++) {
        lost += r->threads[i].account->counts.dropped;
    }
    return lost;
}

int khz_report_has_failures(const khz_rig *r)
{
    uint64_t n = 0;
    for (int32_t i = 0; i < r->n_tasks; i++) {
        const khz_step_counts *const c = khz_stepper_counts(r->tasks[i].stepper);
        n += c->held + c->not_finite + c->assertions + c->failures;
    }
    return n > 0 || (khz_report_lost_rows(r) > 0 && atomic_load(&r->recorder.n_refused_writes) > 0);
}

int khz_report_write(khz_rig *r, const char *path, double steal)
{
    const khz_account *const all = whole_account(r);
    FILE *const f = all != NULL ? fopen(path, "w") : NULL;
    if (f == NULL) {
        return errno;
    }
    put_head(f, r, steal);
    put_account(f, all, "  ");
    put_recorder(f, r, &all->counts);
    put_parts(f, r);
    put_grants(f, r->threads[r->leader].grants, "  ");
    (void)fputs("\n}\n", f);
    const int bad = ferror(f);
    return fclose(f) != 0 || bad ? EIO : 0;
}
