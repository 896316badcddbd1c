/* The report on the terminal, for who started the executable alone. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "khz_thread.h"

static void print_thread(const khz_thread *k)
{
    const khz_counts *const c = &k->account->counts;
    if (khz_thread_is_lost(k)) {
        const khz_block *const block = khz_report_stuck_block(k);
        (void)printf("%s: did not end in step %llu of %s (%s%s%s)\n", k->name, (unsigned long long)k->step,
                     k->tasks[k->task]->linked->name, khz_word(&khz_task_layout, "khz_at_", atomic_load(&k->stage)),
                     block != NULL ? ": " : "", block != NULL ? block->origin : "");
    }
    (void)printf(
        "%s: %llu steps; missed %llu: %llu compute overruns, %llu off the core, %llu late wake-ups, %llu knock-on; "
        "skipped %llu\n",
        k->name, (unsigned long long)c->steps, (unsigned long long)c->missed, (unsigned long long)c->overruns,
        (unsigned long long)c->off_core, (unsigned long long)c->late_wakeups, (unsigned long long)c->knock_on,
        (unsigned long long)c->skipped);
    if (k->n_links > 0) {
        (void)printf("messages late %llu, overwritten %llu\n", (unsigned long long)c->exchange_late,
                     (unsigned long long)c->exchange_old);
    }
    (void)printf("%-10s %10s %10s %10s %10s  us\n", "", "p50", "p99", "p99.9", "max");
    for (int i = 0; i < KHZ_TIME_SLACK; i++) {
        const khz_histogram *const h = &k->account->time[i];
        if (h->n > 0) {
            (void)printf("%-10s %10.2f %10.2f %10.2f %10.2f\n", khz_word(&khz_task_layout, "khz_time_", i),
                         (double)khz_histogram_quantile(h, 0.5) * 1e-3, (double)khz_histogram_quantile(h, 0.99) * 1e-3,
                         (double)khz_histogram_quantile(h, 0.999) * 1e-3, (double)h->max * 1e-3);
        }
    }
    (void)printf("step: %s\n", k->lane->steps);
    for (int i = 0; i < KHZ_GRANTS; i++) {
        (void)printf("%s: %s\n", k->grants[i].name, k->grants[i].word);
    }
}

static void print_said(const khz_task *u)
{
    static const char *const verbs[KHZ_SAIDS] = {"ended the run", "failed", "warned", "said"};
    const khz_model *const m = u->stepper->model;
    const khz_context *const c = (const khz_context *)khz_stepper_instance(u->stepper);
    for (int kind = 0; kind < KHZ_SAIDS; kind++) {
        const khz_said *const said = &c->said[kind];
        const char *const origin = khz_origin(m, said->place);
        if (said->n > 0) {
            (void)printf("%s: %s %u times, first at %.9g s: %s%s%s\n", u->name, verbs[kind], said->n, said->time,
                         said->text, origin[0] != '\0' ? "; " : "", origin);
        }
    }
}

static void print_recorder(const khz_rig *r)
{
    if (!r->has_recorder) {
        return;
    }
    const int error = atomic_load(&r->recorder.last_error);
    (void)printf("recorded: %llu rows, %llu lost", (unsigned long long)atomic_load(&r->recorder.n_written),
                 (unsigned long long)khz_report_lost_rows(r));
    if (error != 0) {
        (void)printf(" (writing failed %llu times: %s)", (unsigned long long)atomic_load(&r->recorder.n_refused_writes),
                     strerror(error));
    }
    (void)printf("\n");
}

void khz_report_print(khz_rig *r, double steal)
{
    const khz_thread *const k = &r->threads[r->leader];
    (void)printf("%s: %s after %llu steps, %.6f s of model time in %.6f s; steal %.2f %%\n", r->name,
                 khz_end_texts[khz_rig_ending(r)], (unsigned long long)k->account->counts.steps, khz_thread_seconds(k),
                 (double)(k->ended_ns - k->began_ns) * 1e-9, 100.0 * steal);
    for (int32_t i = 0; i < r->n_threads; i++) {
        print_thread(&r->threads[i]);
    }
    print_recorder(r);
    for (int32_t i = 0; i < r->n_tasks; i++) {
        print_said(&r->tasks[i]);
    }
}
