/* POSIX shared memory: a segment (khz_segment.h) between the task and a peer on the same machine.
 *
 *     segment = /khz           its name in /dev/shm; readable and writable by this user alone
 *     peer = false             this task is the other end of a segment that another task has; either may come first
 *     restart_after = 0.1      seconds of silence after which another session may take over
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
#include <time.h>
#include <unistd.h>

#include "khz_device.h"
#include "khz_drivers.h"
#include "khz_messenger.h"
#include "khz_segment.h"

enum { RETRY_NS = 100 * 1000 * 1000, NAP_NS = 2 * 1000 * 1000, TURNS = 50 };

typedef struct shm {
    khz_segment *segment; /* NULL: not open */
    khz_channel *out, *in;
    const char *name; /* NULL: simulated */
    int32_t is_peer;
    uint32_t n_task, n_peer, n_out, n_in;
    int64_t tried_ns; /* to map the segment anew */
    uint32_t session;
    uint64_t sequence, peer_sequence;
    uint32_t refused_session;
    uint64_t refused_sequence;
    int64_t patience_ns;
    khz_gate gate;
    double scratch[]; /* [max(n_task, n_peer)] */
} shm;

static size_t size(const khz_device_config *c)
{
    int good = 1;
    const int32_t n_send = khz_config_count(c, KHZ_SEND, &good), n_receive = khz_config_count(c, KHZ_RECEIVE, &good);
    return sizeof(shm) + sizeof(double) * (size_t)(n_send > n_receive ? n_send : n_receive);
}

static int is_name(const char *name)
{
    return name[0] == '/' && name[1] != '\0' && strchr(name + 1, '/') == NULL && strlen(name) < NAME_MAX;
}

/* A segment that an earlier run of this user left, if it fits: its peer may still hold it. */
static int fits(int fd, const shm *d)
{
    struct stat found;
    khz_segment head;
    const size_t n = khz_segment_size(d->n_task, d->n_peer);
    return fstat(fd, &found) == 0 && found.st_uid == geteuid() && (size_t)found.st_size == n &&
           pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head.magic, "KHZM", 4) == 0 &&
           head.version == KHZ_SEGMENT_VERSION && head.n_task == d->n_task && head.n_peer == d->n_peer;
}

/* Open or make the segment's file; -1 where that fails.  One that does not fit may be just being made: it gets a
 * while. */
static int open_file(const shm *d)
{
    const struct timespec nap = {0, NAP_NS};
    for (int turn = 0; turn < 2 * TURNS; turn++) {
        int fd = shm_open(d->name, O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0) {
            if (fits(fd, d)) {
                return fd;
            }
            (void)close(fd);
            if (turn == TURNS && shm_unlink(d->name) != 0) {
                return -1;
            }
            (void)nanosleep(&nap, NULL);
            continue;
        }
        fd = shm_open(d->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 && ftruncate(fd, (off_t)khz_segment_size(d->n_task, d->n_peer)) == 0) {
            return fd;
        }
        if (fd >= 0 || errno != EEXIST) {
            return -1;
        }
    }
    return -1;
}

/* Map a file (or private memory: -1) and take its channels over; 0 where that fails. */
static int map(shm *d, int fd)
{
    const int mode = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *at = mmap(NULL, khz_segment_size(d->n_task, d->n_peer), PROT_READ | PROT_WRITE, mode | MAP_POPULATE, fd, 0);
    if (at == MAP_FAILED) {
        return 0;
    }
    d->segment = at;
    d->out = khz_segment_channel(d->segment, d->n_task, d->is_peer);
    d->in = khz_segment_channel(d->segment, d->n_task, !d->is_peer);
    return 1;
}

static khz_status opened(shm *d, const khz_device_config *c, char *message, size_t n_message)
{
    khz_message m;
    const int fd = d->name != NULL ? open_file(d) : -1;
    const int mapped = (fd >= 0 || d->name == NULL) && map(d, fd);
    const int error = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!mapped) {
        return khz_device_fail(message, n_message, KHZ_UNSUPPORTED, "%s: cannot make segment %s: %s", c->name,
                               d->name != NULL ? d->name : "of its own", strerror(error));
    }
    /* What an earlier run has not read is old by now. */
    if (khz_channel_read(d->in, d->n_in, &m, d->scratch)) {
        d->gate = (khz_gate){1, m.session, m.sequence, INT64_MIN / 2};
    }
    d->segment->version = KHZ_SEGMENT_VERSION;
    d->segment->n_task = d->n_task;
    d->segment->n_peer = d->n_peer;
    atomic_thread_fence(memory_order_release); /* the letters last: a peer that sees them sees the rest */
    memcpy(d->segment->magic, "KHZM", 4);
    if (!d->is_peer) {
        atomic_store(&d->segment->live, 1u);
    }
    return KHZ_OK;
}

static khz_status open_(void *device, const khz_device_config *c, char *message, size_t n_message)
{
    shm *d = device;
    int good = 1;
    d->is_peer = khz_config_flag(c, "peer", 0, &good);
    d->n_out = (uint32_t)khz_config_count(c, KHZ_SEND, &good);
    d->n_in = (uint32_t)khz_config_count(c, KHZ_RECEIVE, &good);
    d->n_task = d->is_peer ? d->n_in : d->n_out;
    d->n_peer = d->is_peer ? d->n_out : d->n_in;
    const double patience = khz_config_real(c, "restart_after", 0.1, &good);
    const int simulated = khz_config_flag(c, "simulated", 0, &good);
    const char *name = khz_config_text(c, "segment", "/khz");
    if (!good || !(patience >= 0.0 && patience < 1e9) || !is_name(name)) {
        return khz_device_fail(
            message, n_message, KHZ_DOMAIN,
            "%s: segment is a name such as /khz; restart_after is in seconds; peer and simulated are true or false",
            c->name);
    }
    d->name = simulated ? NULL : name;
    d->patience_ns = (int64_t)(patience * 1e9);
    d->session = khz_session_drawn();
    return opened(d, c, message, n_message);
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
    if (khz_channel_read(d->out, d->n_out, &m, d->scratch)) {
        m.echo = (uint32_t)m.sequence;
        m.sequence = ++d->peer_sequence;
        m.session = ~m.session;
        khz_channel_write(d->in, d->n_in, &m, d->scratch);
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
    khz_channel_write(d->out, d->n_out, &m, x->values);
    wake(d->out);
    x->counters->n_sent++;
    if (d->name == NULL) {
        echo(d);
    }
    return KHZ_LINK_FRESH;
}

static int receive(shm *d, khz_exchange *x)
{
    khz_message m;
    khz_device_counters *k = x->counters;
    uint64_t missing;
    if (!khz_channel_read(d->in, d->n_in, &m, d->scratch)) {
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
    k->n_overtaken += missing; /* nothing gets lost in memory: they came and were written over */
    k->n_received++;
    return KHZ_LINK_FRESH;
}

/* A peer whose task has ended looks now and then for the next one; whether there is a task. */
static int there(shm *d, const khz_exchange *x)
{
    if (!d->is_peer || atomic_load(&d->segment->live)) {
        return 1;
    }
    if (x->time_ns - d->tried_ns < RETRY_NS) {
        return 0;
    }
    d->tried_ns = x->time_ns;
    khz_segment *old = d->segment;
    const int fd = shm_open(d->name, O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) {
        if (fits(fd, d) && map(d, fd)) {
            (void)munmap(old, khz_segment_size(d->n_task, d->n_peer));
        }
        (void)close(fd);
    }
    return atomic_load(&d->segment->live) != 0;
}

static int exchange(void *device, int direction, khz_exchange *x)
{
    shm *d = device;
    if (!there(d, x)) {
        return KHZ_LINK_DOWN;
    }
    return direction == KHZ_RECEIVE ? receive(d, x) : send_(d, x);
}

static void close_(void *device)
{
    shm *d = device;
    if (d->segment == NULL) {
        return;
    }
    if (!d->is_peer) {
        atomic_store(&d->segment->live, 0u);
        wake(d->out);
    }
    if (d->name != NULL && !atomic_load(&d->segment->live)) { /* a peer leaves it to the task that still has it open */
        (void)shm_unlink(d->name);
    }
    (void)munmap(d->segment, khz_segment_size(d->n_task, d->n_peer));
    d->segment = NULL;
}

const khz_device_class khz_shm = {"shm", size, open_, exchange, close_};
