#define _GNU_SOURCE
#include "khz_bridge.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { STACK = 256 * 1024, NAP_NS = 20 * 1000 * 1000 };

static void *run(void *argument)
{
    khz_bridge *b = argument;
    while (!khz_bridge_stopping(b)) {
        if (sem_wait(&b->bell) != 0 || khz_bridge_stopping(b)) {
            continue;
        }
        b->work(b->context);
        atomic_store_explicit(&b->busy, 0, memory_order_release);
    }
    return NULL;
}

khz_status khz_bridge_open(khz_bridge *b, void (*work)(void *), void *context, char *message, size_t n_message)
{
    const struct sched_param normal = {0};
    pthread_attr_t attributes;
    sigset_t all, before;
    b->work = work;
    b->context = context;
    (void)sem_init(&b->bell, 0, 0);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK);
    /* Never at the task's own priority, and no signals: they are the task's. */
    (void)pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    (void)pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    (void)pthread_attr_setschedparam(&attributes, &normal);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&b->thread, &attributes, run, b);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    if (error != 0) {
        (void)sem_destroy(&b->bell);
        return khz_device_fail(message, n_message, KHZ_UNSUPPORTED, "cannot start a thread: %s", strerror(error));
    }
    b->running = 1;
    return KHZ_OK;
}

void khz_bridge_close(khz_bridge *b)
{
    if (!b->running) {
        return;
    }
    atomic_store(&b->stopping, 1);
    (void)sem_post(&b->bell);
    (void)pthread_join(b->thread, NULL);
    (void)sem_destroy(&b->bell);
    b->running = 0;
}

void khz_bridge_ask(khz_bridge *b)
{
    if (khz_bridge_done(b)) {
        atomic_store_explicit(&b->busy, 1, memory_order_relaxed);
        (void)sem_post(&b->bell);
    }
}

int khz_bridge_nap(khz_bridge *b, int64_t ns)
{
    while (ns > 0 && !khz_bridge_stopping(b)) {
        const int64_t part = ns < NAP_NS ? ns : NAP_NS;
        const struct timespec t = {0, (long)part};
        (void)nanosleep(&t, NULL);
        ns -= part;
    }
    return !khz_bridge_stopping(b);
}
