#define _GNU_SOURCE
#include "khz_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TURN_NS = 5000000, BLOCK = 1 << 17, FEWEST_BLOCKS = 8 };

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
    const khz_probe_costs *const c = &p->costs;
    memset(text, ' ', sizeof text);
    const int n = snprintf(
        text, sizeof text,
        "khz-trace 3\nplaces %d\nrecord %zu\nworst %d\nblock %zu\nblocks %llu\nperiod_ns %lld\n"
        "costs %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %d\nwritten %llu\ndropped %llu\nrefused "
        "%llu\nover %d\n"
        "%s",
        (int)p->n_places, record_size(t), (int)KHZ_TRACE_WORST, t->block_size, (unsigned long long)t->n_blocks,
        (long long)t->period_ns, p->clock.ns_per_tick, p->clock.ns_per_read, c->probe_ns, c->probe_inside_ns,
        c->cycle_ns, c->border_ns, c->passed_ns, c->empty_ns, c->idle_ns, c->monotonic_ns, (int)p->clock.is_counter,
        (unsigned long long)t->n_written, (unsigned long long)t->ring.dropped, (unsigned long long)t->n_refused,
        is_over, t->about);
    if (n >= KHZ_TRACE_HEAD) {
        return E2BIG;
    }
    text[n] = ' ';
    text[KHZ_TRACE_HEAD - 1] = '\n';
    put_at(t, text, KHZ_TRACE_HEAD, 0);
    return 0;
}

int khz_trace_open(khz_trace *t, const char *path, void *memory, uint64_t n_ring, uint64_t most)
{
    const size_t size = khz_profile_record_size(t->profile->n_places);
    khz_ring_init(&t->ring, memory, size, n_ring);
    t->block_size = size + sizeof(khz_trace_block) > BLOCK ? size + sizeof(khz_trace_block) : BLOCK;
    t->n_blocks = most / t->block_size > FEWEST_BLOCKS ? most / t->block_size : FEWEST_BLOCKS;
    t->worst = (unsigned char *)calloc(KHZ_TRACE_WORST, size);
    t->block = (unsigned char *)calloc(1, t->block_size);
    if (t->worst == NULL || t->block == NULL) {
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

/* From the release to the end where there is one, else from the begin. */
static int64_t cost_of(const khz_trace *t, const khz_cycle_record *r)
{
    return r->ended_ns - (t->period_ns > 0 ? r->release_ns : r->woke_ns);
}

static khz_cycle_record *record_at(const khz_trace *t, unsigned char *rows, uint64_t i)
{
    return (khz_cycle_record *)(void *)(rows + i * record_size(t));
}

/* Among the costliest cycles, where it is one. */
static void keep_worst(khz_trace *t, const khz_cycle_record *r)
{
    if (t->n_worst == KHZ_TRACE_WORST && cost_of(t, r) <= t->least_cost) {
        return;
    }
    const int32_t at = t->n_worst < KHZ_TRACE_WORST ? t->n_worst++ : t->least;
    memcpy(record_at(t, t->worst, (uint64_t)at), r, record_size(t));
    t->is_worse = 1;
    t->least = 0;
    for (int32_t i = 1; i < t->n_worst; i++) {
        const int64_t cost = cost_of(t, record_at(t, t->worst, (uint64_t)i));
        t->least = cost < cost_of(t, record_at(t, t->worst, (uint64_t)t->least)) ? i : t->least;
    }
    t->least_cost = cost_of(t, record_at(t, t->worst, (uint64_t)t->least));
}

static khz_trace_block *newest(khz_trace *t) { return (khz_trace_block *)(void *)t->block; }

/* What of the newest block is not in the file yet; its head last, so that it never counts more than there is. */
static void save_block(khz_trace *t)
{
    const khz_trace_block *const b = newest(t);
    if (b->number == 0 || t->n_saved == b->count) {
        return;
    }
    const size_t before = sizeof *b + (size_t)t->n_saved * b->stride;
    const size_t slot = (size_t)((b->number - 1) % t->n_blocks) * t->block_size;
    const off_t at = (off_t)(KHZ_TRACE_HEAD + KHZ_TRACE_WORST * record_size(t) + slot);
    if (t->n_saved == 0) { /* what stood there before is gone */
        const khz_trace_block none = {0, 0, 0};
        put_at(t, &none, sizeof none, at);
    }
    put_at(t, t->block + before, (size_t)(b->count - t->n_saved) * b->stride, at + (off_t)before);
    put_at(t, b, sizeof *b, at);
    t->n_saved = b->count;
}

static void append(khz_trace *t, const khz_cycle_record *r)
{
    khz_trace_block *const b = newest(t);
    const uint32_t used = (uint32_t)khz_record_used(r);
    if (b->number == 0 || used > b->stride || sizeof *b + (size_t)(b->count + 1) * b->stride > t->block_size) {
        save_block(t);
        b->number++;
        b->stride = used > b->stride || used * 2 < b->stride ? used : b->stride;
        b->count = t->n_saved = 0;
    }
    memcpy(t->block + sizeof *b + (size_t)b->count * b->stride, r, used);
    b->count++;
    t->n_written++;
}

static void drain(khz_trace *t)
{
    const unsigned char *oldest = NULL;
    uint64_t n = 0;
    while ((n = khz_ring_peek(&t->ring, &oldest)) > 0) {
        unsigned char *const rows = t->ring.rows + (oldest - t->ring.rows); /* they are ours until they are released */
        khz_cycle_record *costliest = record_at(t, rows, 0);
        for (uint64_t i = 1; i < n; i++) {
            khz_cycle_record *const r = record_at(t, rows, i);
            costliest = cost_of(t, r) > cost_of(t, costliest) ? r : costliest;
        }
        look_at_thread(t, &costliest->switches, &costliest->faults, &costliest->delayed_ns);
        for (uint64_t i = 0; i < n; i++) {
            keep_worst(t, record_at(t, rows, i));
            append(t, record_at(t, rows, i));
        }
        khz_ring_release(&t->ring, n);
    }
    save_block(t);
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
