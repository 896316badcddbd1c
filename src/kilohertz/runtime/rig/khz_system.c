#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "khz_thread.h"

static const char *const names[KHZ_GRANTS] = {"cpu affinity", "priority",  "locked memory",
                                              "cpu latency",  "denormals", "live values"};

static void say_word(khz_grant *grants, int which, int granted, const char *word)
{
    khz_grant *const g = &grants[which];
    g->name = names[which];
    g->is_granted = granted;
    (void)snprintf(g->word, sizeof g->word, "%s", word);
}

/* error 0: granted; -1: not asked for; else errno. */
void khz_system_say(khz_grant *grants, int which, int error, const char *granted, const char *mend)
{
    char word[160];
    if (error <= 0) {
        say_word(grants, which, error == 0 ? 1 : -1, granted);
        return;
    }
    (void)snprintf(word, sizeof word, "refused: %s%s%s", strerror(error), mend[0] != '\0' ? "; " : "", mend);
    say_word(grants, which, 0, word);
}

static void set_affinity(khz_thread *k, pthread_t thread)
{
    const int64_t cpu = k->cpu;
    if (cpu < 0 || cpu >= CPU_SETSIZE) {
        say_word(k->grants, KHZ_GRANT_AFFINITY, -1, "any core");
        return;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    char word[64];
    (void)snprintf(word, sizeof word, "core %d", (int)cpu);
    khz_system_say(k->grants, KHZ_GRANT_AFFINITY, pthread_setaffinity_np(thread, sizeof set, &set), word,
                   "no such core for us");
}

void khz_system_others(khz_rig *r)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return;
    }
    for (int32_t i = 0; i < r->n_threads; i++) {
        if (r->threads[i].cpu >= 0 && r->threads[i].cpu < CPU_SETSIZE) {
            CPU_CLR((size_t)r->threads[i].cpu, &set);
        }
    }
    if (CPU_COUNT(&set) > 0) {
        (void)sched_setaffinity(0, sizeof set, &set);
    }
}

static void set_priority(khz_thread *k, pthread_t thread)
{
    const int64_t priority = k->priority;
    /* a probe is short; any other run that never sleeps would take its core away from everybody */
    const int is_probe = k->rig->probe_ns > 0;
    if (priority == 0 || (k->rig->wall_num == 0 && !is_probe)) {
        say_word(k->grants, KHZ_GRANT_PRIORITY, -1, k->rig->wall_num == 0 ? "normal: as fast as possible" : "normal");
        return;
    }
    /* a probe never sleeps: above everything normal, below every real-time thread that may run here already */
    const struct sched_param p = {.sched_priority = is_probe ? 1 : (int)priority};
    char word[64];
    (void)snprintf(word, sizeof word, "SCHED_FIFO %d", p.sched_priority);
    khz_system_say(k->grants, KHZ_GRANT_PRIORITY, pthread_setschedparam(thread, SCHED_FIFO, &p), word,
                   "soft real time; run as root or give the user an rtprio limit");
}

void khz_system_thread(khz_thread *k, pthread_t thread)
{
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* without SCHED_FIFO the kernel adds 50 us to gather wake-ups */
    set_affinity(k, thread);             /* before the scheduler: a FIFO thread may not get the core to move itself */
    set_priority(k, thread);
}

static void hold_latency(khz_thread *k)
{
    const int64_t wanted = khz_scenario_integer(&k->rig->scenario, "cpu_latency_us", -1, -1, 1000000);
    if (wanted < 0 || k->rig->wall_num == 0) {
        say_word(k->grants, KHZ_GRANT_LATENCY, -1, "not asked for");
        return;
    }
    /* the request holds as long as the file is open: until the process ends */
    const int fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
    const int32_t value = (int32_t)wanted;
    const int error = fd >= 0 && write(fd, &value, sizeof value) == (ssize_t)sizeof value ? 0 : errno;
    char word[64];
    (void)snprintf(word, sizeof word, "at most %d us to wake from idle", (int)value);
    khz_system_say(k->grants, KHZ_GRANT_LATENCY, error, word, "/dev/cpu_dma_latency");
}

void khz_system_memory(khz_thread *k)
{
    hold_latency(k);
    if (khz_scenario_integer(&k->rig->scenario, "lock_memory", 1, 0, 1) == 0) {
        say_word(k->grants, KHZ_GRANT_LOCKED, -1, "not asked for");
        return;
    }
    /* all that the loop uses is mapped by now */
    khz_system_say(k->grants, KHZ_GRANT_LOCKED, mlockall(MCL_CURRENT) == 0 ? 0 : errno, "locked and touched",
                   "raise the memlock limit");
}

void khz_system_flush(khz_thread *k)
{
    if (khz_scenario_integer(&k->rig->scenario, "flush_denormals", 1, 0, 1) == 0) {
        say_word(k->grants, KHZ_GRANT_FLUSH, -1, "kept");
        return;
    }
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040U); /* FTZ, DAZ */
    say_word(k->grants, KHZ_GRANT_FLUSH, 1, "flushed to zero");
#elif defined(__aarch64__)
    uint64_t control = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control |= (uint64_t)1 << 24;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
    say_word(k->grants, KHZ_GRANT_FLUSH, 1, "flushed to zero");
#else
    say_word(k->grants, KHZ_GRANT_FLUSH, 0, "refused: not known on this processor");
#endif
}

void khz_system_steal(uint64_t *stolen, uint64_t *all)
{
    unsigned long long field[8] = {0};
    *stolen = *all = 0;
    FILE *const file = fopen("/proc/stat", "r");
    if (file == NULL) {
        return;
    }
    const int n = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &field[0], &field[1], &field[2],
                         &field[3], &field[4], &field[5], &field[6], &field[7]);
    (void)fclose(file);
    if (n == 8) {
        *stolen = field[7];
        for (int i = 0; i < 8; i++) {
            *all += field[i];
        }
    }
}
