/* Talk to a running task from C11 or C++11: a controller, a test bench.  Header only, Linux; needs libc alone.
 *
 *     khz_client task;
 *     double y[2], u[1] = {0.0};
 *     if (khz_client_open(&task, "udp://127.0.0.1:5000", "127.0.0.1:5001", 2, 1, 1000) != 0) return 1;
 *     while (khz_client_receive(&task, y, 1000) > 0) {
 *         u[0] = 10.0 * (0.5 - y[0]) - y[1];
 *         khz_client_send(&task, u);
 *     }
 *     khz_client_close(&task);
 *
 * Addresses are `udp://host:port` and `shm:///name`.  Compile with -D_GNU_SOURCE where the compiler is told a strict
 * standard.  docs/reference/devices.md has the task's side. */
#ifndef KHZ_CLIENT_H
#define KHZ_CLIENT_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "khz_address.h"
#include "khz_segment.h"
#include "khz_wire.h"

enum { KHZ_CLIENT_ROOM = KHZ_WIRE_HEAD + 8 * KHZ_WIRE_MOST + 4 + 1, KHZ_CLIENT_BURST = 64 };

typedef struct khz_client {
    int fd;    /* UDP; -1: shared memory */
    int flags; /* of what is sent: KHZ_WIRE_BIG, KHZ_WIRE_CRC; set after open */
    uint32_t n_receive, n_send, session;
    uint64_t sequence, n_received, n_missing, n_bad;
    int64_t time_ns; /* time stamp of the message received last */
    khz_gate gate;
    char name[64]; /* of the segment */
    khz_segment *segment;
    double values[KHZ_WIRE_MOST];
    unsigned char bytes[KHZ_CLIENT_ROOM];
} khz_client;

static inline int64_t khz_client_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void khz_client_unmap(khz_client *c)
{
    if (c->segment != NULL) {
        (void)munmap(c->segment, khz_segment_size(c->n_receive, c->n_send));
        c->segment = NULL;
    }
}

/* Map the segment if a task has it open: 0, or -1. */
static inline int khz_client_map(khz_client *c)
{
    struct stat found;
    khz_segment head;
    const int fd = shm_open(c->name, O_RDWR, 0);
    void *at = MAP_FAILED;
    if (fd < 0) {
        return -1;
    }
    if (pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head.magic, "KHZM", 4) == 0 &&
        head.version == KHZ_SEGMENT_VERSION && head.n_task == c->n_receive && head.n_peer == c->n_send &&
        atomic_load(&head.live) && fstat(fd, &found) == 0 &&
        (size_t)found.st_size == khz_segment_size(head.n_task, head.n_peer)) {
        at = mmap(NULL, (size_t)found.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    (void)close(fd);
    c->segment = at == MAP_FAILED ? NULL : (khz_segment *)at;
    return c->segment != NULL ? 0 : -1;
}

static inline int khz_client_open_udp(khz_client *c, const char *remote, const char *local)
{
    struct sockaddr_storage to, from;
    socklen_t n_to, n_from;
    if (!khz_address_read(remote, &to, &n_to) || !khz_address_read(local != NULL ? local : ":0", &from, &n_from)) {
        errno = EINVAL;
        return -1;
    }
    c->fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        return -1;
    }
    if (bind(c->fd, (const struct sockaddr *)(const void *)&from, n_from) != 0 ||
        connect(c->fd, (const struct sockaddr *)(const void *)&to, n_to) != 0) {
        const int error = errno;
        (void)close(c->fd);
        c->fd = -1;
        errno = error;
        return -1;
    }
    return 0;
}

/* Open a link: n_receive values come from the task, n_send go to it.  `local` is the own address of a UDP link (NULL:
 * any).  Waits at most timeout_ms for a segment to be there. 0, or -1 with errno. */
static inline int khz_client_open(khz_client *c, const char *address, const char *local, int n_receive, int n_send,
                                  int timeout_ms)
{
    memset(c, 0, sizeof *c);
    c->fd = -1;
    if (n_receive < 0 || n_receive > KHZ_WIRE_MOST || n_send < 0 || n_send > KHZ_WIRE_MOST) {
        errno = EINVAL;
        return -1;
    }
    c->n_receive = (uint32_t)n_receive;
    c->n_send = (uint32_t)n_send;
    const uint64_t z = (uint64_t)khz_client_now() * 0x9e3779b97f4a7c15u + (uint64_t)getpid() * 0xbf58476d1ce4e5b9u;
    c->session = (uint32_t)(z >> 32) | 1u;
    if (strncmp(address, "udp://", 6) == 0) {
        return khz_client_open_udp(c, address + 6, local);
    }
    if (strncmp(address, "shm://", 6) != 0 || strlen(address + 6) >= sizeof c->name) {
        errno = EINVAL;
        return -1;
    }
    memcpy(c->name, address + 6, strlen(address + 6));
    const int64_t until = khz_client_now() + (int64_t)timeout_ms * 1000000;
    while (khz_client_map(c) != 0) {
        if (khz_client_now() >= until) {
            errno = ENOENT;
            return -1;
        }
        (void)poll(NULL, 0, 5);
    }
    return 0;
}

/* Take a message where it is newer; another session is a task that was started again. */
static inline int khz_client_take(khz_client *c, const khz_message *m)
{
    uint64_t missing;
    if (khz_gate_admit(&c->gate, m, 0, -1, &missing) == KHZ_GATE_OLD) {
        return 0;
    }
    c->n_missing += missing;
    c->n_received++;
    c->time_ns = m->time_ns;
    return 1;
}

/* All datagrams that wait, at most KHZ_CLIENT_BURST: 1 where a newer message was among them. */
static inline int khz_client_drain(khz_client *c, double *values)
{
    int fresh = 0;
    for (int i = 0; i < KHZ_CLIENT_BURST; i++) {
        khz_message m;
        const ssize_t n = recv(c->fd, c->bytes, sizeof c->bytes, MSG_DONTWAIT);
        if (n < 0 && errno == ECONNREFUSED) {
            continue;
        }
        if (n < 0) {
            break;
        }
        if (!khz_wire_check(c->bytes, (size_t)n, (int32_t)c->n_receive, c->flags & KHZ_WIRE_CRC, &m)) {
            c->n_bad++;
        } else if (khz_client_take(c, &m)) {
            khz_wire_values(c->bytes, &m, values);
            fresh = 1;
        }
    }
    return fresh;
}

/* The newest message of the segment: 1 where it is newer. */
static inline int khz_client_look(khz_client *c, double *values)
{
    khz_message m;
    if (c->segment == NULL || !atomic_load(&c->segment->live)) {
        khz_client_unmap(c);
        if (khz_client_map(c) != 0) {
            return 0;
        }
    }
    khz_channel *from = khz_segment_channel(c->segment, c->n_receive, 0);
    if (!khz_channel_read(from, c->n_receive, &m, c->values) || !khz_all_finite(c->values, c->n_receive) ||
        !khz_client_take(c, &m)) {
        return 0;
    }
    memcpy(values, c->values, sizeof(double) * c->n_receive);
    return 1;
}

/* Sleep until the task writes, or a while. */
static inline void khz_client_sleep(khz_client *c, int64_t ns)
{
    const int64_t most = ns < 10000000 ? ns : 10000000;
    const struct timespec t = {0, (long)most};
    if (c->segment == NULL) {
        (void)nanosleep(&t, NULL);
        return;
    }
    khz_channel *from = khz_segment_channel(c->segment, c->n_receive, 0);
    (void)atomic_fetch_add(&from->sleepers, 1u);
    const uint32_t bell = atomic_load(&from->bell);
    if (bell == (uint32_t)c->gate.sequence) {
        (void)syscall(SYS_futex, &from->bell, FUTEX_WAIT, bell, &t, NULL, 0);
    }
    (void)atomic_fetch_sub(&from->sleepers, 1u);
}

/* Wait for the next message of the task: 1 and values [n_receive], or 0 where none came for timeout_ms. */
static inline int khz_client_receive(khz_client *c, double *values, int timeout_ms)
{
    const int64_t until = khz_client_now() + (int64_t)timeout_ms * 1000000;
    for (;;) {
        if (c->fd >= 0 ? khz_client_drain(c, values) : khz_client_look(c, values)) {
            return 1;
        }
        const int64_t left = until - khz_client_now();
        if (left <= 0) {
            return 0;
        }
        if (c->fd >= 0) {
            struct pollfd wait = {c->fd, POLLIN, 0};
            (void)poll(&wait, 1, (int)((left + 999999) / 1000000));
        } else {
            khz_client_sleep(c, left);
        }
    }
}

/* Send values [n_send] to the task: 0, or -1 where it cannot be reached now. */
static inline int khz_client_send(khz_client *c, const double *values)
{
    const khz_message m = {
        .session = c->session,
        .echo = (uint32_t)c->gate.sequence,
        .sequence = ++c->sequence,
        .time_ns = c->time_ns,
        .flags = c->fd >= 0 ? c->flags : 0,
        .count = (int32_t)c->n_send,
    };
    if (c->fd < 0) {
        if (c->segment == NULL) {
            return -1;
        }
        khz_channel_write(khz_segment_channel(c->segment, c->n_receive, 1), c->n_send, &m, values);
        return 0;
    }
    const size_t n = khz_wire_write(c->bytes, &m, values);
    ssize_t sent = send(c->fd, c->bytes, n, MSG_DONTWAIT);
    if (sent < 0 && errno == ECONNREFUSED) { /* about an earlier message; this one was not sent */
        sent = send(c->fd, c->bytes, n, MSG_DONTWAIT);
    }
    return sent == (ssize_t)n ? 0 : -1;
}

static inline void khz_client_close(khz_client *c)
{
    if (c->fd >= 0) {
        (void)close(c->fd);
    }
    c->fd = -1;
    khz_client_unmap(c);
}

#endif
