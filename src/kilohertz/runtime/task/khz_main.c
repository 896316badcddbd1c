/* The executable: read the scenario, prepare everything, run the loop on its own thread, supervise it, report.
 *
 *     ./task [SCENARIO] [key=value ...]        SCENARIO defaults to the executable's name with .scenario
 *
 * Exit codes: 0 the run ended as it should, 1 it could not start or a policy stopped it, 2 wrong usage. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "khz_task.h"

enum { STACK = 4 << 20, PREFAULT = 1 << 20, TURN_SECONDS = 1 };

static void touch_stack(void)
{
    volatile unsigned char page[PREFAULT];
    for (size_t i = 0; i < sizeof page; i += 1024) {
        page[i] = 0;
    }
}

static void *run(void *argument)
{
    khz_task *const k = (khz_task *)argument;
    sigset_t wake;
    (void)sigemptyset(&wake);
    (void)sigaddset(&wake, SIGUSR1); /* ends a long sleep when somebody asks to stop */
    (void)pthread_sigmask(SIG_UNBLOCK, &wake, NULL);
    touch_stack();
    khz_system_memory(k);
    khz_system_flush(k);
    khz_system_thread(k, pthread_self());
    khz_task_loop(k);
    (void)pthread_kill(k->main_thread, SIGUSR2); /* it sleeps as long as there is nothing to do */
    return NULL;
}

static void nothing(int number)
{
    (void)number;
}

/* Signals are taken by the main thread alone; a supervisor that goes away, a full pipe or disk must not end the task. */
static void set_signals(sigset_t *ours)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    struct sigaction act;
    memset(&act, 0, sizeof act);
    act.sa_handler = nothing;
    (void)sigaction(SIGUSR1, &act, NULL);
    (void)sigemptyset(ours);
    (void)sigaddset(ours, SIGINT);
    (void)sigaddset(ours, SIGTERM);
    (void)sigaddset(ours, SIGUSR1);
    (void)sigaddset(ours, SIGUSR2);
    (void)pthread_sigmask(SIG_BLOCK, ours, NULL);
    (void)sigdelset(ours, SIGUSR1);
}

/* -------------------------------------------------------------------------------------------------------- supervision */

typedef struct watchdog {
    khz_task *task;
    int heartbeat;              /* file that gets a byte while all is well (a hardware watchdog), -1 */
    pthread_t thread;
} watchdog;

/* Above the loop, where that is granted: a loop that never sleeps must not silence its watchdog. */
static void rise_above(khz_task *k)
{
    const int64_t priority = khz_scenario_integer(&k->scenario, "priority", 0, 0, 99);
    const struct sched_param above = {.sched_priority = (int)(priority < 99 ? priority + 1 : 99)};
    if (priority > 0 && k->wall_num > 0) {
        (void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &above);
    }
}

static void *watch(void *argument)
{
    watchdog *const w = (watchdog *)argument;
    khz_task *const k = w->task;
    const int64_t turn = k->watchdog_ns / 4 < 100000000 ? k->watchdog_ns / 4 : 100000000;
    const struct timespec pause = {(time_t)(turn / 1000000000), (long)(turn % 1000000000)};
    int stalled = 0;
    rise_above(k);
    while (atomic_load(&k->ended) == KHZ_END_NONE) {
        (void)nanosleep(&pause, NULL);
        const int64_t silent = khz_now() - atomic_load(&k->live->heartbeat_ns);
        const int now = silent > k->watchdog_ns;
        k->account->counts.stalls += (uint64_t)(now && !stalled);
        stalled = now;
        if (stalled && k->watchdog_stops) {
            atomic_store(&k->stop, KHZ_END_STALL);
            (void)pthread_kill(k->main_thread, SIGUSR2);
        }
        if (!stalled && w->heartbeat >= 0 && write(w->heartbeat, "\n", 1) < 0) {
            continue; /* whoever listens will notice the silence */
        }
    }
    return NULL;
}

static int start_watchdog(watchdog *w, khz_task *k)
{
    const char *const path = khz_scenario_text(&k->scenario, "heartbeat", "");
    w->task = k;
    w->heartbeat = path[0] != '\0' ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0644) : -1;
    if (path[0] != '\0' && w->heartbeat < 0) {
        (void)fprintf(stderr, "%s: cannot write the heartbeat to %s: %s\n", k->name, path, strerror(errno));
    }
    return k->watchdog_ns > 0 ? pthread_create(&w->thread, NULL, watch, w) : 0;
}

static int start_thread(khz_task *k)
{
    pthread_attr_t attributes;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK);
    const int error = pthread_create(&k->thread, &attributes, run, k);
    (void)pthread_attr_destroy(&attributes);
    return error;
}

/* Until the loop is over: hand signals on to it.  Otherwise asleep: every wake-up of ours may delay one of the loop. */
static void supervise(khz_task *k, const sigset_t *ours)
{
    const struct timespec turn = {TURN_SECONDS, 0};
    while (atomic_load(&k->ended) == KHZ_END_NONE) {
        const int got = sigtimedwait(ours, NULL, &turn);
        if (got == SIGINT || got == SIGTERM) {
            atomic_store(&k->stop, KHZ_END_SIGNAL);
        }
        if (atomic_load(&k->stop) != KHZ_END_NONE) {
            (void)pthread_kill(k->thread, SIGUSR1);
        }
    }
    (void)pthread_join(k->thread, NULL);
}

static double stolen_part(uint64_t stolen, uint64_t all)
{
    uint64_t stolen_now = 0;
    uint64_t all_now = 0;
    khz_system_steal(&stolen_now, &all_now);
    return all_now > all ? (double)(stolen_now - stolen) / (double)(all_now - all) : 0.0;
}

static void finish(khz_task *k, double steal)
{
    k->lost_rows = k->has_recorder ? khz_recorder_close(&k->recorder) : 0;
    const char *const path = khz_scenario_text(&k->scenario, "report", "");
    const int error = path[0] != '\0' ? khz_report_write(k, path, steal) : 0;
    if (error != 0) {
        (void)fprintf(stderr, "%s: cannot write the report to %s: %s\n", k->name, path, strerror(error));
    }
    if (khz_scenario_integer(&k->scenario, "quiet", 0, 0, 1) == 0 || error != 0) {
        khz_report_print(k, steal);
    }
    (void)snprintf(k->live->ending, sizeof k->live->ending, "%s", khz_end_texts[atomic_load(&k->ended)]);
    atomic_store(&k->live->state, (uint32_t)KHZ_STATE_ENDED);
}

/* Everything in place but the loop.  0, or 1 with a message. */
static int prepare(khz_task *k)
{
    const khz_status status = khz_task_prepare(k);
    const int error = status == KHZ_OK && k->has_recorder ? khz_recorder_start(&k->recorder) : 0;
    if (status == KHZ_OK && error == 0) {
        return 0;
    }
    (void)fprintf(stderr, "%s: %s\n", k->name != NULL ? k->name : "task",
                  status != KHZ_OK ? k->message : strerror(error));
    khz_task_release(k);
    return 1;
}

static int execute(khz_task *k)
{
    sigset_t ours;
    uint64_t stolen = 0;
    uint64_t all = 0;
    watchdog dog;
    memset(&dog, 0, sizeof dog);
    set_signals(&ours);
    khz_system_others(k);
    if (prepare(k) != 0) {
        return 1;
    }
    khz_system_steal(&stolen, &all);
    atomic_store(&k->live->heartbeat_ns, khz_now());
    k->main_thread = pthread_self();
    int error = start_watchdog(&dog, k);
    error = error == 0 ? start_thread(k) : error;
    if (error != 0) {
        (void)fprintf(stderr, "%s: cannot start a thread: %s\n", k->name, strerror(error));
        return 1;
    }
    supervise(k, &ours);
    if (k->watchdog_ns > 0) {
        (void)pthread_join(dog.thread, NULL);
    }
    finish(k, stolen_part(stolen, all));
    khz_task_release(k);
    const int end = atomic_load(&k->ended);
    return end == KHZ_END_MISS || end == KHZ_END_LINK || end == KHZ_END_STALL || end == KHZ_END_MODEL;
}

static khz_status read_words(khz_task *k, int argc, char **argv)
{
    char beside[4096];
    int first = 1;
    (void)snprintf(beside, sizeof beside, "%s.scenario", argv[0]);
    const char *path = beside;
    if (argc > 1 && strchr(argv[1], '=') == NULL) {
        path = argv[1];
        first = 2;
    }
    khz_status status = khz_scenario_read(&k->scenario, path);
    for (int i = first; i < argc && status == KHZ_OK; i++) {
        status = khz_scenario_add(&k->scenario, argv[i]);
    }
    return status;
}

int main(int argc, char **argv)
{
    khz_task *const k = (khz_task *)aligned_alloc(64, (sizeof(khz_task) + 63U) & ~(size_t)63U);
    if (k == NULL) {
        return 1;
    }
    memset((void *)k, 0, sizeof *k);
    if (read_words(k, argc, argv) != KHZ_OK) {
        (void)fprintf(stderr, "usage: %s [SCENARIO] [key=value ...]\n%s\n", argv[0], k->scenario.problem);
        return 2;
    }
    const int code = execute(k);
    free(k);
    return code;
}
