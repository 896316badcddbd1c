#define _GNU_SOURCE
#include "khz_host.h"
#include "khz_isolate.h"
#include "khz_stuck.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 4 << 20, PREFAULT = 1 << 20, TURN_SECONDS = 1, LAST_SECONDS = 5 };

/* ---------------------------------------------------------------------------------------------------------- threads */

static void touch_stack(void)
{
    volatile unsigned char page[PREFAULT];
    for (size_t i = 0; i < sizeof page; i += 1024) {
        page[i] = 0;
    }
}

/* The calling thread, for `who`; it goes on no further where the system does not take the filter. */
static int isolate(khz_rig *r, int supervises, const char *who)
{
    const int error = khz_isolate(supervises);
    if (error != 0) {
        atomic_store(&r->stop, KHZ_END_LOST);
        (void)khz_rig_fail(r, KHZ_UNSUPPORTED, "%.100s cannot be isolated: %s", who, strerror(error));
    }
    return error == 0;
}

static void *run(void *argument)
{
    khz_thread *const k = (khz_thread *)argument;
    khz_stuck_mine(k);
    sigset_t wake;
    (void)sigemptyset(&wake);
    (void)sigaddset(&wake, SIGUSR1); /* ends a long sleep when somebody asks to stop */
    (void)pthread_sigmask(SIG_UNBLOCK, &wake, NULL);
    touch_stack();
    khz_system_memory(k);
    khz_system_flush(k);
    khz_system_thread(k, pthread_self());
    if (k->is_isolated) {
        (void)isolate(k->rig, 0, k->name);
    }
    khz_thread_loop(k);
    (void)pthread_kill(k->main_thread, SIGUSR2); /* it sleeps as long as there is nothing to do */
    return NULL;
}

static int start_thread(khz_thread *k)
{
    pthread_attr_t attributes;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK);
    const int error = pthread_create(&k->handle, &attributes, run, k);
    (void)pthread_attr_destroy(&attributes);
    return error;
}

khz_status khz_host_start(khz_host *h)
{
    khz_rig *const r = h->rig;
    const khz_status status = khz_rig_open_wires(r, h->process);
    int error = 0;
    for (int32_t i = 0; i < r->n_threads && status == KHZ_OK && error == 0; i++) {
        khz_thread *const k = &r->threads[i];
        if (k->process == h->process) {
            k->main_thread = pthread_self();
            k->lane->pid = (int32_t)getpid();
            error = start_thread(k);
            k->is_started = error == 0;
        }
    }
    return error == 0 ? status : khz_rig_fail(r, KHZ_OUT_OF_MEMORY, "cannot start a thread: %s", strerror(error));
}

/* ---------------------------------------------------------------------------------------------------------- signals */

static void nothing(int number) { (void)number; }

void khz_host_signals(khz_host *h)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    struct sigaction act;
    memset(&act, 0, sizeof act);
    act.sa_handler = nothing;
    (void)sigaction(SIGUSR1, &act, NULL);
    (void)sigaction(SIGCHLD, &act, NULL); /* not ignored: it is waited for */
    khz_stuck_prepare();
    (void)sigemptyset(&h->ours);
    (void)sigaddset(&h->ours, SIGINT);
    (void)sigaddset(&h->ours, SIGTERM);
    (void)sigaddset(&h->ours, SIGCHLD);
    (void)sigaddset(&h->ours, SIGUSR1);
    (void)sigaddset(&h->ours, SIGUSR2);
    (void)pthread_sigmask(SIG_BLOCK, &h->ours, NULL);
    (void)sigdelset(&h->ours, SIGUSR1);
}

void khz_host_leash(khz_host *h, int64_t descriptor)
{
    h->leash = (int)descriptor;
    if (h->leash >= 0) { /* a wake-up when it closes; without one it is looked at every turn */
        (void)fcntl(h->leash, F_SETFD, FD_CLOEXEC);
        (void)fcntl(h->leash, F_SETOWN, getpid());
        (void)fcntl(h->leash, F_SETSIG, SIGUSR2);
        (void)fcntl(h->leash, F_SETFL, O_ASYNC | O_NONBLOCK);
    }
}

static int is_alone(const khz_host *h)
{
    struct pollfd end = {.fd = h->leash, .events = POLLIN};
    return h->leash >= 0 && poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

/* -------------------------------------------------------------------------------------------------------- processes */

static int all_isolated(const khz_rig *r, int32_t process)
{
    for (int32_t i = 0; i < r->n_threads; i++) {
        if (r->threads[i].process == process && !r->threads[i].is_isolated) {
            return 0;
        }
    }
    return 1;
}

/* The life of a process other than the first.  It reports nothing: what it counted is in the rig. */
static void live_as(khz_host *h, int32_t process, pid_t first)
{
    khz_rig *const r = h->rig;
    h->process = process;
    memset(h->children, 0, sizeof h->children);
    h->leash = -1;                          /* the first is told */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* it ends in order where the first is killed */
    if (getppid() != first) {
        _exit(1);
    }
    const khz_status status = khz_host_start(h);
    if (status != KHZ_OK) {
        atomic_store(&r->stop, KHZ_END_LOST);
    } else if (all_isolated(r, process)) {
        (void)isolate(r, 1, "a process");
    }
    khz_host_supervise(h);
    khz_rig_close_wires(r, process);
    _exit(status == KHZ_OK ? 0 : 1);
}

int khz_host_fork(khz_host *h)
{
    const pid_t first = getpid();
    for (int32_t i = 1; i < h->rig->n_processes; i++) {
        const pid_t child = fork();
        if (child < 0) {
            return errno;
        }
        if (child == 0) {
            live_as(h, i, first);
        }
        h->children[i] = child;
    }
    return 0;
}

/* A process is gone; threads of it that were not over are now. */
static void bury(khz_host *h, int32_t process)
{
    khz_rig *const r = h->rig;
    h->children[process] = 0;
    for (int32_t i = 0; i < r->n_threads; i++) {
        khz_thread *const k = &r->threads[i];
        if (k->process != process || atomic_load(&k->ended) != KHZ_END_NONE) {
            continue;
        }
        int32_t none = KHZ_END_NONE;
        const int begun = atomic_load(&r->base_ns) != 0; /* else the others wait for it */
        if ((r->loss_stops || !begun) && atomic_compare_exchange_strong(&r->stop, &none, KHZ_END_LOST)) {
            atomic_store(&r->culprit, i + 1);
        }
        k->ended_ns = khz_now();
        atomic_store(&k->progress, INT64_MAX);
        if (r->merge.lanes != NULL) {
            atomic_store(&r->merge.lanes[i].ended, 1);
        }
        atomic_store(&k->lane->ended, 1U);
        atomic_store(&k->ended, KHZ_END_LOST);
    }
    khz_rig_lead(r);
}

/* Children that are to end and have not heard of it, or will not. */
static void press(khz_host *h, int number)
{
    for (int32_t i = 1; i < h->rig->n_processes; i++) {
        if (h->children[i] > 0) {
            (void)kill(h->children[i], number);
        }
    }
}

static void look_after(khz_host *h)
{
    for (int32_t i = 1; i < h->rig->n_processes; i++) {
        if (h->children[i] > 0 && waitpid(h->children[i], NULL, WNOHANG) == h->children[i]) {
            bury(h, i);
        }
    }
    if (atomic_load(&h->rig->stop) == KHZ_END_NONE) {
        return;
    }
    if (h->asked_ns == 0) {
        h->asked_ns = khz_now();
        press(h, SIGUSR2);
    } else if (khz_now() - h->asked_ns > (int64_t)LAST_SECONDS * 1000000000) {
        press(h, SIGKILL); /* stopped by somebody, or lost in a step */
    }
}

static int is_over(const khz_host *h)
{
    const khz_rig *const r = h->rig;
    for (int32_t i = 0; i < r->n_threads; i++) {
        const khz_thread *const k = &r->threads[i];
        if (k->process == h->process && k->is_started && atomic_load(&k->ended) == KHZ_END_NONE) {
            return 0;
        }
    }
    for (int32_t i = 1; i < r->n_processes; i++) {
        if (h->children[i] > 0) {
            return 0;
        }
    }
    return 1;
}

static void wake_threads(const khz_host *h)
{
    for (int32_t i = 0; i < h->rig->n_threads; i++) {
        const khz_thread *const k = &h->rig->threads[i];
        if (k->process == h->process && k->is_started && atomic_load(&k->ended) == KHZ_END_NONE) {
            (void)pthread_kill(k->handle, SIGUSR1);
        }
    }
}

static void take_the_condemned(const khz_host *h)
{
    for (int32_t i = 0; i < h->rig->n_threads; i++) {
        khz_thread *const k = &h->rig->threads[i];
        if (k->process == h->process && k->is_started && atomic_load(&k->is_condemned) &&
            atomic_load(&k->ended) == KHZ_END_NONE) {
            khz_stuck_take(k);
        }
    }
}

void khz_host_supervise(khz_host *h)
{
    khz_rig *const r = h->rig;
    const struct timespec turn = {TURN_SECONDS, 0};
    while (!is_over(h)) {
        const int got = sigtimedwait(&h->ours, NULL, &turn);
        int32_t none = KHZ_END_NONE;
        if (got == SIGINT || got == SIGTERM) {
            (void)atomic_compare_exchange_strong(&r->stop, &none, KHZ_END_SIGNAL);
        }
        if (is_alone(h)) {
            (void)atomic_compare_exchange_strong(&r->stop, &none, KHZ_END_ALONE);
        }
        if (h->process == 0) {
            look_after(h);
        }
        if (atomic_load(&r->stop) != KHZ_END_NONE) {
            wake_threads(h);
            take_the_condemned(h);
        }
    }
    for (int32_t i = 0; i < r->n_threads; i++) {
        const int is_lost = khz_thread_is_lost(&r->threads[i]);
        if (r->threads[i].process == h->process && r->threads[i].is_started && !is_lost) {
            (void)pthread_join(r->threads[i].handle, NULL);
        }
    }
}
