/* POSIX shared memory: a segment (khz_segment.h) that the task makes and a peer on the same machine opens.
 *
 *     segment = /khz           its name in /dev/shm; readable and writable by this user alone
 *     restart_after = 0.1      seconds of silence after which another session may take over
 *     peer = false             this task is the other end of a segment that another task makes
 *     simulated = false        private memory instead, with a peer that sends back what it got
 *
 * An exchange costs no system call unless a peer sleeps. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "khz_device.h"
#include "khz_drivers.h"
#include "khz_messenger.h"
#include "khz_segment.h"

enum { PEER_TRIES = 500, PEER_PAUSE_US = 10000 };    /* a peer waits five seconds for the segment, once, at its start */

typedef struct shm {
    khz_segment *segment;                /* NULL: not open */
    khz_channel *to_peer, *from_peer;
    const char *name;                    /* NULL: simulated */
    uint32_t n_task, n_peer;
    uint32_t n_out, n_in;                /* the same two as this end sees them */
    int is_peer;
    uint32_t session;
    uint64_t sequence, peer_sequence;
    uint32_t refused_session;
    uint64_t refused_sequence;
    int64_t patience_ns;
    khz_gate gate;
    double scratch[];                    /* [max(n_task, n_peer)] */
} shm;

static size_t size(const khz_device_config *c)
{
    int good = 1;
    const int32_t n_send = khz_config_count(c, KHZ_SEND, &good), n_receive = khz_config_count(c, KHZ_RECEIVE, &good);
    return good ? sizeof(shm) + sizeof(double) * (size_t)(n_send > n_receive ? n_send : n_receive) : 0;
}

static int is_name(const char *name)
{
    return name[0] == '/' && name[1] != '\0' && !strchr(name + 1, '/') && strlen(name) < NAME_MAX;
}

/* A segment that an earlier run of this user left, if it fits: its peer may still hold it. */
static int fits(int fd, const shm *d)
{
    struct stat found;
    khz_segment head;
    const size_t n = khz_segment_size(d->n_task, d->n_peer);
    return fstat(fd, &found) == 0 && found.st_uid == geteuid() && (size_t)found.st_size == n
           && pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head.magic, "KHZM", 4) == 0
           && head.version == KHZ_SEGMENT_VERSION && head.n_task == d->n_task && head.n_peer == d->n_peer;
}

/* The segment of another task, which may be about to make it; -1 where it does not come. */
static int await_file(const shm *d)
{
    for (int i = 0; i < PEER_TRIES; i++) {
        const int fd = shm_open(d->name, O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0 && fits(fd, d)) {
            return fd;
        }
        if (fd >= 0) {
            (void)close(fd);
        }
        (void)usleep(PEER_PAUSE_US);
    }
    errno = ENOENT;
    return -1;
}

/* Open or make the segment's file; -1 where that fails. */
static int open_file(const shm *d)
{
    if (d->is_peer) {
        return await_file(d);
    }
    int fd = shm_open(d->name, O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) {
        if (fits(fd, d)) {
            return fd;
        }
        (void)close(fd);
        if (shm_unlink(d->name) != 0) {
            return -1;
        }
    }
    fd = shm_open(d->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && ftruncate(fd, (off_t)khz_segment_size(d->n_task, d->n_peer)) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static khz_status map(shm *d, const khz_device_config *c, char *message, size_t n_message)
{
    const size_t n = khz_segment_size(d->n_task, d->n_peer);
    int fd = -1, mode = MAP_PRIVATE | MAP_ANONYMOUS;
    if (d->name) {
        fd = open_file(d);
        mode = MAP_SHARED;
        if (fd < 0) {
            return khz_device_fail(
                message, n_message, KHZ_UNSUPPORTED, "%s: cannot make segment %s: %s", c->name, d->name, strerror(errno));
        }
    }
    void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, mode | MAP_POPULATE, fd, 0);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (at == MAP_FAILED) {
        return khz_device_fail(
            message, n_message, KHZ_UNSUPPORTED, "%s: cannot map %s: %s", c->name, d->name, strerror(errno));
    }
    d->segment = at;
    d->to_peer = khz_segment_channel(d->segment, d->n_task, d->is_peer);
    d->from_peer = khz_segment_channel(d->segment, d->n_task, !d->is_peer);
    /* What an earlier run has not read is old by now. */
    khz_message m;
    if (khz_channel_read(d->from_peer, d->n_in, &m, d->scratch)) {
        d->gate = (khz_gate){1, m.session, m.sequence, INT64_MIN / 2};
    }
    if (d->is_peer) {
        return KHZ_OK;
    }
    d->segment->version = KHZ_SEGMENT_VERSION;
    d->segment->n_task = d->n_task;
    d->segment->n_peer = d->n_peer;
    atomic_thread_fence(memory_order_release);       /* the letters last: a peer that sees them sees the rest */
    memcpy(d->segment->magic, "KHZM", 4);
    atomic_store(&d->segment->live, 1u);
    return KHZ_OK;
}

static khz_status open_(void *device, const khz_device_config *c, char *message, size_t n_message)
{
    shm *d = device;
    int good = 1;
    d->n_out = (uint32_t)khz_config_count(c, KHZ_SEND, &good);
    d->n_in = (uint32_t)khz_config_count(c, KHZ_RECEIVE, &good);
    d->is_peer = khz_config_flag(c, "peer", 0, &good);
    d->n_task = d->is_peer ? d->n_in : d->n_out;
    d->n_peer = d->is_peer ? d->n_out : d->n_in;
    const double patience = khz_config_real(c, "restart_after", 0.1, &good);
    const int simulated = khz_config_flag(c, "simulated", 0, &good);
    const char *name = khz_config_text(c, "segment", "/khz");
    if (!good || !(patience >= 0.0 && patience < 1e9) || !is_name(name) || (simulated && d->is_peer)) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN,
            "%s: segment is a name such as /khz; restart_after is in seconds; peer or simulated may be true", c->name);
    }
    d->name = simulated ? NULL : name;
    d->patience_ns = (int64_t)(patience * 1e9);
    d->session = khz_session_drawn();
    return map(d, c, message, n_message);
}

static void wake(khz_channel *c)
{
    if (atomic_load(&c->sleepers) != 0) {
        (void)syscall(SYS_futex, &c->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
}

/* The simulated peer: answers every message with its values. */
static void echo(shm *d)
{
    khz_message m;
    if (khz_channel_read(d->to_peer, d->n_out, &m, d->scratch)) {
        m.echo = (uint32_t)m.sequence;
        m.sequence = ++d->peer_sequence;
        m.session = ~m.session;
        khz_channel_write(d->from_peer, d->n_in, &m, d->scratch);
    }
}

static int send_(shm *d, khz_exchange *x)
{
    const khz_message m = {
        .session = d->session,
        .echo = d->gate.open ? (uint32_t)d->gate.sequence : 0u,
        .sequence = ++d->sequence,
        .time_ns = x->time_ns,
        .count = x->n,
    };
    khz_channel_write(d->to_peer, d->n_out, &m, x->values);
    wake(d->to_peer);
    x->counters->n_sent++;
    if (!d->name) {
        echo(d);
    }
    return KHZ_LINK_FRESH;
}

static int receive(shm *d, khz_exchange *x)
{
    khz_message m;
    khz_device_counters *k = x->counters;
    uint64_t missing;
    if (!khz_channel_read(d->from_peer, d->n_in, &m, d->scratch)) {
        return KHZ_LINK_QUIET;
    }
    if (d->gate.open && m.session == d->gate.session && m.sequence == d->gate.sequence) {
        return KHZ_LINK_QUIET;
    }
    /* What is refused stays there: it is counted once. */
    const int counted = m.session == d->refused_session && m.sequence == d->refused_sequence;
    d->refused_session = m.session;
    d->refused_sequence = m.sequence;
    if (!khz_all_finite(d->scratch, d->n_in)) {
        k->n_malformed += !counted;
        return KHZ_LINK_QUIET;
    }
    const int admitted = khz_gate_admit(&d->gate, &m, x->time_ns, d->patience_ns, &missing);
    if (admitted == KHZ_GATE_OLD) {
        k->n_replayed += !counted;
        return KHZ_LINK_QUIET;
    }
    memcpy(x->values, d->scratch, sizeof(double) * (size_t)x->n);
    k->n_links += admitted == KHZ_GATE_ANEW;
    k->n_missing += missing;
    k->n_received++;
    return KHZ_LINK_FRESH;
}

static int exchange(void *device, int direction, khz_exchange *x)
{
    return direction == KHZ_RECEIVE ? receive(device, x) : send_(device, x);
}

static void close_(void *device)
{
    shm *d = device;
    if (!d->segment) {
        return;
    }
    if (!d->is_peer) {
        atomic_store(&d->segment->live, 0u);
    }
    wake(d->to_peer);
    (void)munmap(d->segment, khz_segment_size(d->n_task, d->n_peer));
    if (d->name && !d->is_peer) {
        (void)shm_unlink(d->name);
    }
    d->segment = NULL;
}

const khz_device_class khz_shm = {"shm", size, open_, exchange, close_};
