/* A witness of the machine: wakes every 200 us at the highest priority on each of the cores named, and notes when it
 * was woken late.  Nothing that runs at a lower priority can make it late; what it sees is the kernel's and the host's
 * doing.
 *
 *     witness CPU...        until SIGTERM; then one line `cpu due_ns woken_ns` for every wake-up later than 100 us */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { PERIOD = 200000, LATE = 100000, MOST = 1 << 18, CORES = 8 };

typedef struct core {
    pthread_t thread;
    int cpu;
    long n;
    long long (*gap)[2];
} core;

static volatile sig_atomic_t is_over;

static long long now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *watch(void *argument)
{
    core *const c = (core *)argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)c->cpu, &set);
    const struct sched_param top = {.sched_priority = 99};
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0 ||
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &top) != 0) {
        (void)fprintf(stderr, "witness: no priority on core %d\n", c->cpu);
    }
    long long due = now() + PERIOD;
    while (!is_over && c->n < MOST) {
        const struct timespec t = {(time_t)(due / 1000000000), (long)(due % 1000000000)};
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        const long long woken = now();
        if (woken - due > LATE) {
            c->gap[c->n][0] = due;
            c->gap[c->n][1] = woken;
            c->n++;
        }
        due += (1 + (woken - due) / PERIOD) * PERIOD;
    }
    return NULL;
}

static void stop(int number)
{
    (void)number;
    is_over = 1;
}

int main(int argc, char **argv)
{
    static core cores[CORES];
    const int n = argc - 1 < CORES ? argc - 1 : CORES;
    (void)signal(SIGTERM, stop);
    for (int i = 0; i < n; i++) {
        cores[i].cpu = atoi(argv[i + 1]);
        cores[i].gap = calloc(MOST, sizeof *cores[i].gap);
    }
    (void)mlockall(MCL_CURRENT);
    for (int i = 0; i < n; i++) {
        (void)pthread_create(&cores[i].thread, NULL, watch, &cores[i]);
    }
    for (int i = 0; i < n; i++) {
        (void)pthread_join(cores[i].thread, NULL);
        for (long k = 0; k < cores[i].n; k++) {
            (void)printf("%d %lld %lld\n", cores[i].cpu, cores[i].gap[k][0], cores[i].gap[k][1]);
        }
    }
    return 0;
}
