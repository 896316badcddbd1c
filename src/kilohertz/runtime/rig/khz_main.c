/* The executable: read the scenario, prepare everything, run the loops on threads of their own, supervise them, report.
 *
 *     ./NAME [SCENARIO] [key=value ...]        SCENARIO defaults to the executable's name with .scenario
 *
 * Exit codes: 0 the run ended as it should, 1 it could not start, a policy stopped it, steps or assertions failed or a
 * value was not a number, 2 wrong usage. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "khz_host.h"

/* --------------------------------------------------------------------------------------------------------- watchdog */

/* What the watchdog has seen of a thread. */
typedef struct sight {
    int64_t beat;      /* its last heartbeat */
    int64_t silent_ns; /* since then, as far as the watchdog itself was awake */
    int64_t busy_ns;   /* of that in one cycle: not asleep, not starting */
    int32_t is_stalled;
} sight;

typedef struct watchdog {
    khz_rig *rig;
    int heartbeat; /* file that gets a byte while all is well (a hardware watchdog), -1 */
    _Atomic int32_t is_over;
    sight *sights; /* of each thread */
    pthread_t thread;
} watchdog;

/* The main thread of a process above the loops, or the calling thread (0), where that is granted: a loop that never
 * sleeps must not silence who watches it. */
static void rise_above(const khz_rig *r, pid_t process)
{
    int64_t highest = 0;
    for (int32_t i = 0; i < r->n_threads; i++) {
        highest = r->threads[i].priority > highest ? r->threads[i].priority : highest;
    }
    const struct sched_param above = {.sched_priority = (int)(highest < 99 ? highest + 1 : 99)};
    if (highest > 0 && r->wall_num > 0) {
        (void)sched_setscheduler(process, SCHED_FIFO, &above);
    }
}

/* Look at a thread after `elapsed`; 1 where it has been silent for too long: it may be so between two of its cycles. */
static int look_at(const khz_thread *k, sight *s, int64_t elapsed)
{
    const khz_rig *const r = k->rig;
    const int64_t patience = r->watchdog_ns + (k->every - 1) * r->period_ns * r->wall_num / r->wall_den;
    const int64_t beat = atomic_load(&k->lane->heartbeat_ns);
    const int is_silent = beat == s->beat && atomic_load(&k->ended) == KHZ_END_NONE;
    s->beat = beat;
    s->silent_ns = is_silent ? s->silent_ns + elapsed : 0;
    s->busy_ns = is_silent && atomic_load(&k->stage) != KHZ_AT_REST ? s->busy_ns + elapsed : 0;
    const int is_stalled = s->silent_ns > patience;
    k->account->counts.stalls += (uint64_t)(is_stalled && !s->is_stalled);
    s->is_stalled = is_stalled;
    return is_stalled;
}

/* End the run, and stop a thread in its step where its cycle lasts longer than the scenario allows. */
static void act(khz_thread *k, const sight *s)
{
    khz_rig *const r = k->rig;
    const int is_endless = r->endless_ns > 0 && s->busy_ns > r->endless_ns;
    if ((!is_endless && !r->watchdog_stops) || atomic_load(&k->is_condemned)) {
        return;
    }
    int32_t none = KHZ_END_NONE;
    const int is_first = atomic_compare_exchange_strong(&r->stop, &none, KHZ_END_STALL);
    if (is_first) {
        atomic_store(&r->culprit, k->index + 1);
    }
    if (is_endless) {
        atomic_store(&k->is_condemned, 1);
        rise_above(r, k->lane->pid);
    }
    if (is_first || is_endless) {
        (void)kill(getpid(), SIGUSR2);
        (void)kill(k->lane->pid, SIGUSR2);
    }
}

static void *watch(void *argument)
{
    watchdog *const w = (watchdog *)argument;
    khz_rig *const r = w->rig;
    const int64_t turn = r->watchdog_ns / 4 < 100000000 ? r->watchdog_ns / 4 : 100000000;
    const struct timespec pause = {(time_t)(turn / 1000000000), (long)(turn % 1000000000)};
    int64_t last = khz_now();
    rise_above(r, 0);
    while (!atomic_load(&w->is_over)) {
        (void)nanosleep(&pause, NULL);
        const int64_t now = khz_now();
        const int64_t elapsed = now - last < 2 * turn ? now - last : 2 * turn; /* all of us may have been stopped */
        last = now;
        int32_t any = 0;
        for (int32_t i = 0; i < r->n_threads; i++) {
            if (look_at(&r->threads[i], &w->sights[i], elapsed)) {
                act(&r->threads[i], &w->sights[i]);
                any = 1;
            }
        }
        if (!any && w->heartbeat >= 0 && write(w->heartbeat, "\n", 1) < 0) {
            continue; /* whoever listens will notice the silence */
        }
    }
    return NULL;
}

static int start_watchdog(watchdog *w, khz_rig *r)
{
    const char *const path = khz_scenario_text(&r->scenario, "heartbeat", "");
    w->rig = r;
    w->sights = (sight *)khz_rig_room(r, r->n_threads, sizeof *w->sights);
    w->heartbeat = path[0] != '\0' ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0644) : -1;
    if (path[0] != '\0' && w->heartbeat < 0) {
        (void)fprintf(stderr, "%s: cannot write the heartbeat to %s: %s\n", r->name, path, strerror(errno));
    }
    for (int32_t i = 0; i < r->n_threads; i++) {
        atomic_store(&r->threads[i].lane->heartbeat_ns, khz_now());
    }
    return r->watchdog_ns > 0 ? pthread_create(&w->thread, NULL, watch, w) : 0;
}

static void stop_watchdog(watchdog *w)
{
    atomic_store(&w->is_over, 1);
    if (w->rig->watchdog_ns > 0) {
        (void)pthread_join(w->thread, NULL);
    }
}

/* -------------------------------------------------------------------------------------------------------------- all */

static double stolen_part(uint64_t stolen, uint64_t all)
{
    uint64_t stolen_now = 0;
    uint64_t all_now = 0;
    khz_system_steal(&stolen_now, &all_now);
    return all_now > all ? (double)(stolen_now - stolen) / (double)(all_now - all) : 0.0;
}

static void finish(khz_rig *r, double steal)
{
    r->lost_rows = r->has_recorder ? khz_recorder_close(&r->recorder) : 0;
    khz_tracer_close(&r->tracer);
    const char *const path = khz_scenario_text(&r->scenario, "report", "");
    const int error = path[0] != '\0' ? khz_report_write(r, path, steal) : 0;
    if (error != 0) {
        (void)fprintf(stderr, "%s: cannot write the report to %s: %s\n", r->name, path, strerror(error));
    }
    if (khz_scenario_integer(&r->scenario, "quiet", 0, 0, 1) == 0 || error != 0) {
        khz_report_print(r, steal);
    }
    (void)snprintf(r->live->ending, sizeof r->live->ending, "%s", khz_end_texts[khz_rig_ending(r)]);
    atomic_store(&r->live->state, (uint32_t)KHZ_STATE_ENDED);
}

static int refuse(khz_rig *r, const char *message)
{
    (void)fprintf(stderr, "%s: %s\n", r->name != NULL ? r->name : "task", message);
    khz_rig_release(r);
    return 1;
}

/* From the first thread to the last.  0, or 1 where it could not start. */
static int host(khz_host *h)
{
    khz_rig *const r = h->rig;
    watchdog dog;
    memset(&dog, 0, sizeof dog);
    int error = khz_host_fork(h);
    error = error == 0 && r->has_recorder ? khz_recorder_start(&r->recorder) : error;
    error = error == 0 ? khz_tracer_start(&r->tracer) : error;
    error = error == 0 ? start_watchdog(&dog, r) : error;
    if (error != 0 || khz_host_start(h) != KHZ_OK) {
        atomic_store(&r->stop, KHZ_END_LOST);
    }
    khz_host_supervise(h);
    if (dog.rig != NULL) {
        stop_watchdog(&dog);
    }
    if (error != 0) {
        (void)khz_rig_fail(r, KHZ_UNSUPPORTED, "cannot start a thread or a process: %s", strerror(error));
    }
    return r->message[0] != '\0';
}

/* A word on the command line that names no key; those that are read later count as known.  NULL: none. */
static const char *unknown_word(const khz_rig *r, int32_t first)
{
    static const char *const later[] = {"report", "quiet", "heartbeat"};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        (void)khz_scenario_text(&r->scenario, later[i], NULL);
    }
    return khz_scenario_unknown(&r->scenario, first);
}

/* `first`: position of the first word of the command line among the settings. */
static int execute(khz_rig *r, int32_t first)
{
    khz_host h;
    uint64_t stolen = 0;
    uint64_t all = 0;
    memset(&h, 0, sizeof h);
    h.rig = r;
    khz_host_signals(&h);
    khz_host_leash(&h, khz_scenario_integer(&r->scenario, "leash", -1, -1, INT32_MAX));
    if (khz_rig_prepare(r) != KHZ_OK) {
        return refuse(r, r->message);
    }
    const char *const unknown = unknown_word(r, first);
    if (unknown != NULL) {
        (void)khz_rig_fail(r, KHZ_UNSUPPORTED, "there is no key `%.200s`; --help lists some", unknown);
        (void)refuse(r, r->message);
        return 2;
    }
    khz_system_others(r);
    khz_system_steal(&stolen, &all);
    if (host(&h) != 0) {
        khz_rig_close_wires(r, 0);
        return refuse(r, r->message);
    }
    finish(r, stolen_part(stolen, all));
    const int has_failed = khz_report_has_failures(r);
    khz_rig_close_wires(r, 0);
    khz_rig_release(r);
    const int end = khz_rig_ending(r);
    return has_failed || end == KHZ_END_MISS || end == KHZ_END_LINK || end == KHZ_END_STALL || end == KHZ_END_MODEL ||
           end == KHZ_END_LOST || end == KHZ_END_STUCK || end == KHZ_END_CRASH || end == KHZ_END_ALONE;
}

static void print_help(const char *name)
{
    (void)printf(
        "usage: %s [SCENARIO] [key=value ...]\n\n"
        "SCENARIO is %s.scenario unless it is named; every key in it can be overridden.  Some keys:\n"
        "  cycles=N        end after N base periods; 0: run until stopped\n"
        "  wall_num=0      as fast as possible instead of in real time\n"
        "  record.file=F   where the recording goes\n"
        "  report=F        where the report goes, as JSON\n"
        "  quiet=1         print no report\n"
        "  live=0          no live values for khz watch\n"
        "Ctrl-C ends the run with its report.  Exit codes: 0 it ended as it should, 1 it could not start, a policy\n"
        "stopped it, steps or assertions failed, a value was not a number or the recording could not be written, 2 "
        "wrong\n"
        "usage.\n",
        name, name);
}

static int asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return 1;
        }
    }
    return 0;
}

/* *n_read: settings that the file has. */
static khz_status read_words(khz_rig *r, int argc, char **argv, int32_t *n_read)
{
    char beside[4096];
    int first = 1;
    (void)snprintf(beside, sizeof beside, "%s.scenario", argv[0]);
    const char *path = beside;
    if (argc > 1 && strchr(argv[1], '=') == NULL) {
        path = argv[1];
        first = 2;
    }
    khz_status status = khz_scenario_read(&r->scenario, path);
    *n_read = r->scenario.n;
    for (int i = first; i < argc && status == KHZ_OK; i++) {
        status = khz_scenario_add(&r->scenario, argv[i]);
    }
    return status;
}

int main(int argc, char **argv)
{
    khz_rig *const r =
        (khz_rig *)mmap(NULL, sizeof(khz_rig), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if ((void *)r == MAP_FAILED) {
        return 1;
    }
    if (asks_for_help(argc, argv)) {
        print_help(argv[0]);
        return 0;
    }
    int32_t n_read = 0;
    if (read_words(r, argc, argv, &n_read) != KHZ_OK) {
        (void)fprintf(stderr, "usage: %s [SCENARIO] [key=value ...]\n%s\n", argv[0], r->scenario.problem);
        return 2;
    }
    const int code = execute(r, n_read);
    for (int32_t i = 0; i < r->n_threads; i++) {
        if (r->threads != NULL && khz_thread_is_lost(&r->threads[i])) {
            (void)fflush(NULL);
            _exit(code); /* that thread may be inside exit() */
        }
    }
    return code;
}
