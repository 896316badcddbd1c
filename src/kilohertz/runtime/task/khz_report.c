#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "khz_task.h"

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
};
static const char *const end_names[KHZ_ENDS] = {"none", "duration", "command", "signal", "terminated",
                                                "miss", "link", "stall", "model"};
static const char *const time_names[KHZ_TIME_KINDS] = {"lateness", "compute", "device", "overhead", "slack"};

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
    (void)fprintf(f, "{\"n\": %llu, \"min\": %lld, \"mean\": %.1f, \"p50\": %lld, \"p99\": %lld, \"p99.9\": %lld, "
                     "\"max\": %lld, \"worst_step\": %lld",
                  (unsigned long long)h->n, (long long)h->min, khz_histogram_mean(h),
                  (long long)khz_histogram_quantile(h, 0.5), (long long)khz_histogram_quantile(h, 0.99),
                  (long long)khz_histogram_quantile(h, 0.999), (long long)h->max, (long long)worst);
    (void)fprintf(f, ", \"p0.1\": %lld, \"p1\": %lld}", (long long)khz_histogram_quantile(h, 0.001),
                  (long long)khz_histogram_quantile(h, 0.01));
}

static void put_counts(FILE *f, const khz_counts *c)
{
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {
        {"ticks", c->ticks},       {"steps", c->steps},     {"grace", c->grace},
        {"missed", c->missed},     {"overruns", c->overruns}, {"late_wakeups", c->late_wakeups},
        {"knock_on", c->knock_on}, {"skipped", c->skipped}, {"held", c->held},
        {"safe", c->safe},         {"rows", c->rows},       {"dropped", c->dropped},
        {"commands", c->commands}, {"stalls", c->stalls},   {"flags_cycles", c->flags_cycles},
        {"link_losses", c->link_losses},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        (void)fprintf(f, "%s\"%s\": %llu", i > 0 ? ", " : "", all[i].name, (unsigned long long)all[i].value);
    }
}

/* Blocks in which something went wrong, with their places in the model. */
static void put_blocks(FILE *f, const khz_unit *u)
{
    const khz_model *const m = u->stepper->model;
    const khz_block_counts *const counts = khz_stepper_blocks(u->stepper);
    int n = 0;
    for (int32_t i = 0; i < m->n_blocks; i++) {
        if (counts[i].newton_caps == 0 && counts[i].pivots == 0 && counts[i].failures == 0) {
            continue;
        }
        (void)fprintf(f, "%s{\"unknowns\": ", n++ > 0 ? ", " : "");
        put_text(f, m->blocks[i].name);
        (void)fputs(", \"origin\": ", f);
        put_text(f, m->blocks[i].origin);
        (void)fprintf(f, ", \"newton_caps\": %u, \"pivots\": %u, \"failures\": %u, \"last_time\": %.9g}",
                      counts[i].newton_caps, counts[i].pivots, counts[i].failures, counts[i].time);
    }
}

static void put_unit(FILE *f, const khz_unit *u)
{
    const khz_step_counts *const c = &u->stepper->counts;
    (void)fputs("    {\"name\": ", f);
    put_text(f, u->name);
    (void)fputs(", \"model\": ", f);
    put_text(f, u->stepper->model->name);
    (void)fprintf(f, ", \"every\": %lld, \"troubled_steps\": %llu,\n     \"counts\": {", (long long)u->every,
                  (unsigned long long)u->flags_seen);
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {
        {"steps", c->steps}, {"rhs", c->rhs}, {"jacobians", c->jacobians}, {"state_events", c->state_events},
        {"time_events", c->time_events}, {"held", c->held}, {"newton_caps", c->newton_caps},
        {"not_finite", c->not_finite}, {"pivots", c->pivots}, {"event_caps", c->event_caps},
        {"chattering", c->chattering}, {"assertions", c->assertions}, {"failures", c->failures},
        {"late_time_events", c->late_time_events}, {"max_step_rhs", c->max_step_rhs},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        (void)fprintf(f, "%s\"%s\": %llu", i > 0 ? ", " : "", all[i].name, (unsigned long long)all[i].value);
    }
    (void)fputs("},\n     \"blocks\": [", f);
    put_blocks(f, u);
    (void)fputs("],\n     \"compute\": ", f);
    put_histogram(f, &u->compute, -1);
    (void)fputs("}", f);
}

static void put_wire(FILE *f, const khz_wire *w)
{
    const khz_device_counters *const c = khz_port_counters(w->port);
    (void)fputs("    {\"name\": ", f);
    put_text(f, khz_port_name(w->port));
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {
        {"received", c->n_received}, {"sent", c->n_sent}, {"missing", c->n_missing}, {"malformed", c->n_malformed},
        {"replayed", c->n_replayed}, {"foreign", c->n_foreign}, {"flooded", c->n_flooded}, {"refused", c->n_refused},
        {"links", c->n_links}, {"timeouts", c->n_timeouts}, {"saturated", c->n_saturated},
        {"overtaken", c->n_overtaken}, {"quiet", c->n_quiet},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        (void)fprintf(f, ", \"%s\": %llu", all[i].name, (unsigned long long)all[i].value);
    }
    (void)fputs("}", f);
}

static void put_recorder(FILE *f, const khz_task *k)
{
    if (!k->has_recorder) {
        (void)fputs("  \"recorder\": null,\n", f);
        return;
    }
    const int error = atomic_load(&k->recorder.last_error);
    (void)fprintf(f, "  \"recorder\": {\"rows\": %llu, \"written\": %llu, \"dropped\": %llu, \"not_wanted\": %llu, ",
                  (unsigned long long)k->account->counts.rows,
                  (unsigned long long)atomic_load(&k->recorder.n_written),
                  (unsigned long long)k->account->counts.dropped,
                  (unsigned long long)atomic_load(&k->recorder.n_not_wanted));
    (void)fprintf(f, "\"lost_at_end\": %llu, \"refused_writes\": %llu, \"last_error\": ",
                  (unsigned long long)k->lost_rows, (unsigned long long)atomic_load(&k->recorder.n_refused_writes));
    put_text(f, error != 0 ? strerror(error) : "");
    (void)fputs("},\n", f);
}

static void put_head(FILE *f, khz_task *k, double steal)
{
    const int end = atomic_load(&k->ended);
    const double model = (double)((int64_t)k->step * k->period_ns) / 1e9;
    (void)fputs("{\n  \"name\": ", f);
    put_text(f, k->name);
    (void)fprintf(f, ",\n  \"ended\": \"%s\",\n  \"ending\": ", end_names[end]);
    put_text(f, khz_end_texts[end]);
    (void)fprintf(f, ",\n  \"period_ns\": %lld,\n  \"wall_num\": %lld,\n  \"wall_den\": %lld,\n  \"policy\": \"%s\",\n",
                  (long long)k->period_ns, (long long)k->wall_num, (long long)k->wall_den, khz_policy_names[k->policy]);
    (void)fprintf(f, "  \"start\": %.17g,\n  \"model_seconds\": %.9f,\n  \"began_ns\": %lld,\n  \"wall_ns\": %lld,\n",
                  k->start, model, (long long)k->began_ns, (long long)(k->ended_ns - k->began_ns));
    (void)fprintf(f, "  \"steal\": %.5f,\n  \"involuntary_switches\": %lld,\n  \"page_faults\": %lld,\n", steal,
                  (long long)k->switches, (long long)k->faults);
}

int khz_report_write(khz_task *k, const char *path, double steal)
{
    FILE *const f = fopen(path, "w");
    if (f == NULL) {
        return errno;
    }
    put_head(f, k, steal);
    (void)fputs("  \"counts\": {", f);
    put_counts(f, &k->account->counts);
    (void)fputs("},\n  \"times\": {\n", f);
    for (int i = 0; i < KHZ_TIME_KINDS; i++) {
        (void)fprintf(f, "    \"%s\": ", time_names[i]);
        put_histogram(f, &k->account->time[i], k->account->worst_cycle[i]);
        (void)fputs(i + 1 < KHZ_TIME_KINDS ? ",\n" : "\n", f);
    }
    (void)fputs("  },\n", f);
    put_recorder(f, k);
    (void)fputs("  \"tasks\": [\n", f);
    for (int32_t i = 0; i < k->n_units; i++) {
        put_unit(f, &k->units[i]);
        (void)fputs(i + 1 < k->n_units ? ",\n" : "\n", f);
    }
    (void)fputs("  ],\n  \"devices\": [\n", f);
    for (int32_t i = 0; i < k->n_wires; i++) {
        put_wire(f, &k->wires[i]);
        (void)fputs(i + 1 < k->n_wires ? ",\n" : "\n", f);
    }
    (void)fputs("  ],\n  \"settings\": [\n", f);
    for (int i = 0; i < KHZ_GRANTS; i++) {
        (void)fprintf(f, "    {\"name\": \"%s\", \"granted\": %d, \"word\": ", k->grants[i].name,
                      (int)k->grants[i].is_granted);
        put_text(f, k->grants[i].word);
        (void)fputs(i + 1 < KHZ_GRANTS ? "},\n" : "}\n", f);
    }
    (void)fputs("  ]\n}\n", f);
    const int bad = ferror(f);
    return fclose(f) != 0 || bad ? EIO : 0;
}

void khz_report_print(khz_task *k, double steal)
{
    const khz_counts *const c = &k->account->counts;
    (void)printf("%s: %s after %llu steps, %.6f s of model time in %.6f s\n", k->name,
                 khz_end_texts[atomic_load(&k->ended)], (unsigned long long)c->steps,
                 (double)((int64_t)k->step * k->period_ns) / 1e9, (double)(k->ended_ns - k->began_ns) * 1e-9);
    (void)printf("missed %llu: %llu compute overruns, %llu late wake-ups, %llu knock-on; skipped %llu; steal %.2f %%\n",
                 (unsigned long long)c->missed, (unsigned long long)c->overruns, (unsigned long long)c->late_wakeups,
                 (unsigned long long)c->knock_on, (unsigned long long)c->skipped, 100.0 * steal);
    (void)printf("%-10s %10s %10s %10s %10s  us\n", "", "p50", "p99", "p99.9", "max");
    for (int i = 0; i < KHZ_TIME_SLACK; i++) {
        const khz_histogram *const h = &k->account->time[i];
        if (h->n > 0) {
            (void)printf("%-10s %10.2f %10.2f %10.2f %10.2f\n", time_names[i],
                         (double)khz_histogram_quantile(h, 0.5) * 1e-3, (double)khz_histogram_quantile(h, 0.99) * 1e-3,
                         (double)khz_histogram_quantile(h, 0.999) * 1e-3, (double)h->max * 1e-3);
        }
    }
    for (int i = 0; i < KHZ_GRANTS; i++) {
        (void)printf("%s: %s\n", k->grants[i].name, k->grants[i].word);
    }
}
