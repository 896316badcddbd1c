#define _GNU_SOURCE
#include "khz_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TURN_NS = 5000000 };

static size_t record_size(const khz_trace *t) { return t->ring.row; }

/* All bytes at a place of the file; a refusal is counted. */
static void put_at(khz_trace *t, const void *data, size_t n, off_t at)
{
    const char *from = (const char *)data;
    size_t left = n;
    while (left > 0) {
        const ssize_t done = pwrite(t->fd, from, left, at);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            t->n_refused++;
            return;
        }
        from += done;
        at += done;
        left -= (size_t)done;
    }
}

/* 0, or E2BIG where the lines find no room. */
static int write_head(khz_trace *t, int is_over)
{
    char text[KHZ_TRACE_HEAD + 1];
    const khz_profile *const p = t->profile;
    memset(text, ' ', sizeof text);
    const int n = snprintf(text, sizeof text,
                           "khz-trace 1\nplaces %d\nalways %d\nrecord %zu\nworst %d\nkept %llu\nperiod_ns %lld\n"
                           "costs %.17g %.17g %.17g %.17g %.17g %d\nwritten %llu\ndropped %llu\nrefused %llu\nover %d\n"
                           "%s",
                           (int)p->n_places, (int)p->n_always, record_size(t), (int)KHZ_TRACE_WORST,
                           (unsigned long long)t->n_kept, (long long)t->period_ns, p->clock.ns_per_tick,
                           p->clock.ns_per_read, p->probe_ns, p->probe_inside_ns, p->cycle_ns, (int)p->clock.is_counter,
                           (unsigned long long)t->n_written, (unsigned long long)t->ring.dropped,
                           (unsigned long long)t->n_refused, is_over, t->about);
    if (n >= KHZ_TRACE_HEAD) {
        return E2BIG;
    }
    text[n] = ' ';
    text[KHZ_TRACE_HEAD - 1] = '\n';
    put_at(t, text, KHZ_TRACE_HEAD, 0);
    return 0;
}

int khz_trace_open(khz_trace *t, const char *path, void *memory, uint64_t n_ring, uint64_t n_kept)
{
    const size_t size = khz_profile_record_size(t->profile->n_places);
    khz_ring_init(&t->ring, memory, size, n_ring);
    t->n_kept = n_kept;
    t->worst = (unsigned char *)calloc(KHZ_TRACE_WORST, size);
    t->whole = (unsigned char *)calloc(1, size);
    if (t->worst == NULL || t->whole == NULL) {
        return ENOMEM;
    }
    t->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (t->fd < 0) {
        return errno;
    }
    const int error = write_head(t, 0);
    put_at(t, t->worst, KHZ_TRACE_WORST * size, KHZ_TRACE_HEAD);
    return error != 0 ? error : t->n_refused == 0 ? 0 : EIO;
}

void khz_trace_put(khz_trace *t, const khz_cycle_record *r)
{
    void *const row = khz_ring_reserve(&t->ring);
    if (row != NULL) {
        memcpy(row, r, khz_record_used(r, record_size(t)));
        khz_ring_commit(&t->ring);
    }
}

/* ---------------------------------------------------------------------------------------------------------- draining
 */

/* The number after a word in a file of /proc; 0 where there is none. */
static uint64_t number_after(const char *text, const char *word)
{
    const char *const at = strstr(text, word);
    return at != NULL ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static int read_text(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0) {
        (void)close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Nanoseconds that a thread was ready while others had its processor; as before where the kernel does not count. */
static int64_t delay_of(int32_t tid, int64_t before)
{
    char path[64], text[128];
    long long delayed = before;
    (void)snprintf(path, sizeof path, "/proc/%d/schedstat", (int)tid);
    return read_text(path, text, sizeof text) && sscanf(text, "%*s %lld", &delayed) == 1 ? (int64_t)delayed : before;
}

/* How often the thread was taken off its processor, how long others had it, and page faults, since the last look. */
static void look_at_thread(khz_trace *t, uint32_t *switches, uint32_t *faults, int64_t *delayed_ns)
{
    char path[64], text[4096];
    const int32_t tid = atomic_load(&t->tid);
    *switches = *faults = 0;
    *delayed_ns = 0;
    if (tid == 0) {
        return;
    }
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    const uint64_t off =
        read_text(path, text, sizeof text) ? number_after(text, "nonvoluntary_ctxt_switches:") : t->switches;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
    uint64_t waited = t->faults;
    if (read_text(path, text, sizeof text) && strrchr(text, ')') != NULL) {
        unsigned long long minor = 0, major = 0;
        /* after the name: state, six numbers, minor, those of children, major */
        if (sscanf(strrchr(text, ')') + 1, " %*c %*s %*s %*s %*s %*s %*s %llu %*s %llu", &minor, &major) == 2) {
            waited = minor + major;
        }
    }
    const int64_t others = delay_of(tid, t->delayed_ns);
    if (t->has_looked) {
        *delayed_ns = others - t->delayed_ns;
        *switches = (uint32_t)(off - t->switches);
        *faults = (uint32_t)(waited - t->faults);
    }
    t->switches = off;
    t->faults = waited;
    t->delayed_ns = others;
    t->has_looked = 1;
}

/* From the release to the end where there is one, else what the cycle took. */
static int64_t cost_of(const khz_trace *t, const khz_cycle_record *r)
{
    return t->period_ns > 0 ? r->ended_ns - r->release_ns : (int64_t)r->ticks;
}

/* Among the costliest cycles, where it is one. */
static void keep_worst(khz_trace *t, const khz_cycle_record *r)
{
    const size_t size = record_size(t);
    int32_t least = 0;
    if (t->n_worst < KHZ_TRACE_WORST) {
        least = t->n_worst++;
    } else {
        for (int32_t i = 1; i < KHZ_TRACE_WORST; i++) {
            const khz_cycle_record *const a = (const khz_cycle_record *)(const void *)(t->worst + (size_t)i * size);
            const khz_cycle_record *const b = (const khz_cycle_record *)(const void *)(t->worst + (size_t)least * size);
            least = cost_of(t, a) < cost_of(t, b) ? i : least;
        }
        if (cost_of(t, (const khz_cycle_record *)(const void *)(t->worst + (size_t)least * size)) >= cost_of(t, r)) {
            return;
        }
    }
    memcpy(t->worst + (size_t)least * size, r, size);
    t->is_worse = 1;
}

/* One record to its place in the file, without what the ring had there before. */
static void write_record(khz_trace *t, const khz_cycle_record *r, uint32_t switches, uint32_t faults,
                         int64_t delayed_ns)
{
    const size_t size = record_size(t);
    const size_t used = khz_record_used(r, size);
    khz_cycle_record *const whole = (khz_cycle_record *)(void *)t->whole;
    memcpy(whole, r, used);
    memset(t->whole + used, 0, size - used);
    whole->switches = switches;
    whole->faults = faults;
    whole->delayed_ns = delayed_ns;
    const uint64_t place = KHZ_TRACE_WORST + t->n_written % t->n_kept;
    put_at(t, whole, size, (off_t)(KHZ_TRACE_HEAD + place * size));
    t->n_written++;
    keep_worst(t, whole);
}

static void drain(khz_trace *t)
{
    const unsigned char *rows = NULL;
    uint64_t n = 0;
    while ((n = khz_ring_peek(&t->ring, &rows)) > 0) {
        uint32_t switches, faults;
        int64_t delayed_ns;
        uint64_t costliest = 0;
        look_at_thread(t, &switches, &faults, &delayed_ns);
        for (uint64_t i = 1; i < n; i++) {
            const khz_cycle_record *const r = (const khz_cycle_record *)(const void *)(rows + i * t->ring.row);
            const khz_cycle_record *const c = (const khz_cycle_record *)(const void *)(rows + costliest * t->ring.row);
            costliest = cost_of(t, r) > cost_of(t, c) ? i : costliest;
        }
        for (uint64_t i = 0; i < n; i++) {
            const khz_cycle_record *const r = (const khz_cycle_record *)(const void *)(rows + i * t->ring.row);
            const int is_it = i == costliest;
            write_record(t, r, is_it ? switches : 0, is_it ? faults : 0, is_it ? delayed_ns : 0);
        }
        khz_ring_release(&t->ring, n);
    }
    if (t->is_worse) {
        put_at(t, t->worst, KHZ_TRACE_WORST * t->ring.row, KHZ_TRACE_HEAD);
        t->is_worse = 0;
    }
}

static void *run(void *argument)
{
    khz_tracer *const t = (khz_tracer *)argument;
    const struct timespec turn = {0, TURN_NS};
    while (!atomic_load(&t->stop)) {
        for (int32_t i = 0; i < t->n_traces; i++) {
            drain(&t->traces[i]);
        }
        (void)nanosleep(&turn, NULL);
    }
    return NULL;
}

int khz_tracer_start(khz_tracer *t) { return t->n_traces > 0 ? pthread_create(&t->thread, NULL, run, t) : 0; }

void khz_tracer_close(khz_tracer *t)
{
    if (t->n_traces == 0) {
        return;
    }
    atomic_store(&t->stop, 1);
    (void)pthread_join(t->thread, NULL);
    for (int32_t i = 0; i < t->n_traces; i++) {
        drain(&t->traces[i]);
        (void)write_head(&t->traces[i], 1);
        (void)close(t->traces[i].fd);
    }
}
