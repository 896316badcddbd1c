/* UDP: one message (khz_wire.h) in one datagram.
 *
 *     local = :5000            address to bind; on loopback unless it names another one
 *     remote = :5001           the peer; without it answers go where the last good message came from
 *     any_source = false       whether messages from other addresses than the peer's count
 *     max_messages = 16        datagrams read in a cycle; the newest good one counts
 *
 * and those of khz_messenger.h.  A cycle costs two system calls: one reads all that waits, one sends. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "khz_address.h"
#include "khz_device.h"
#include "khz_drivers.h"
#include "khz_messenger.h"

enum { MOST = 1024 };

typedef struct udp {
    int fd;
    int32_t connected, any_source, n_most;
    socklen_t n_peer; /* 0: not known yet */
    struct sockaddr_storage peer;
    size_t room; /* bytes of one buffer: a longer datagram shows by filling it */
    khz_messenger messenger;
    struct mmsghdr *headers; /* [n_most] each */
    struct iovec *vectors;
    struct sockaddr_storage *sources;
    unsigned char *buffers;
} udp;

static size_t eights(size_t n) { return (n + 7u) & ~(size_t)7u; }

static int32_t most(const khz_device_config *c, int *good)
{
    return (int32_t)khz_config_integer(c, "max_messages", 16, 1, MOST, good);
}

static size_t room(const khz_device_config *c, int *good)
{
    return eights(khz_wire_size(khz_config_count(c, KHZ_RECEIVE, good), KHZ_WIRE_CRC) + 1);
}

static size_t size(const khz_device_config *c)
{
    int good = 1;
    const size_t n = (size_t)most(c, &good), each = room(c, &good);
    const size_t rows = n * (sizeof(struct mmsghdr) + sizeof(struct iovec) + sizeof(struct sockaddr_storage) + each);
    const size_t messenger = khz_messenger_size(c);
    return eights(sizeof(udp)) + rows + messenger;
}

/* Place the rows behind the struct; what is left is the messenger's. */
static void *place(udp *d)
{
    const size_t n = (size_t)d->n_most;
    char *at = (char *)d + eights(sizeof *d);
    d->sources = (struct sockaddr_storage *)(void *)at;
    at += n * sizeof *d->sources;
    d->headers = (struct mmsghdr *)(void *)at;
    at += n * sizeof *d->headers;
    d->vectors = (struct iovec *)(void *)at;
    at += n * sizeof *d->vectors;
    d->buffers = (unsigned char *)at;
    for (size_t i = 0; i < n; i++) {
        d->vectors[i] = (struct iovec){d->buffers + i * d->room, d->room};
        d->headers[i].msg_hdr.msg_iov = &d->vectors[i];
        d->headers[i].msg_hdr.msg_iovlen = 1;
        d->headers[i].msg_hdr.msg_name = d->connected ? NULL : &d->sources[i];
    }
    return d->buffers + n * d->room;
}

static khz_status bound(udp *d, const khz_device_config *c, char *message, size_t n_message)
{
    struct sockaddr_storage local;
    socklen_t n_local;
    const char *text = khz_config_text(c, "local", ":0");
    if (!khz_address_read(text, &local, &n_local)) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: local: \"%s\" is no address", c->name, text);
    }
    d->fd = socket(local.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (d->fd < 0 || bind(d->fd, (const struct sockaddr *)(const void *)&local, n_local) != 0) {
        return khz_device_fail(message, n_message, KHZ_UNSUPPORTED, "%s: cannot bind %s: %s", c->name, text,
                               strerror(errno));
    }
    if (d->connected && connect(d->fd, (const struct sockaddr *)(const void *)&d->peer, d->n_peer) != 0) {
        return khz_device_fail(message, n_message, KHZ_UNSUPPORTED, "%s: cannot reach the peer: %s", c->name,
                               strerror(errno));
    }
    return KHZ_OK;
}

static void close_(void *device)
{
    udp *d = device;
    if (d->fd >= 0) {
        (void)close(d->fd);
    }
    d->fd = -1;
}

static khz_status open_(void *device, const khz_device_config *c, char *message, size_t n_message)
{
    udp *d = device;
    int good = 1;
    d->fd = -1;
    d->n_most = most(c, &good);
    d->room = room(c, &good);
    d->any_source = khz_config_flag(c, "any_source", 0, &good);
    const char *remote = khz_config_text(c, "remote", "");
    if (!good) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: max_messages is 1 to %d, any_source true or false",
                               c->name, MOST);
    }
    if (*remote && !khz_address_read(remote, &d->peer, &d->n_peer)) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: remote: \"%s\" is no address", c->name, remote);
    }
    /* A connected socket leaves the messages of others to the kernel. */
    d->connected = *remote && !d->any_source;
    khz_status status = khz_messenger_open(&d->messenger, place(d), c, 0, message, n_message);
    if (status == KHZ_OK && !d->messenger.simulated) {
        status = bound(d, c, message, n_message);
    }
    if (status != KHZ_OK) {
        close_(d);
    }
    return status;
}

/* Read what waits, at most n_most; how many. */
static int gather(udp *d, uint64_t cycle)
{
    if (d->messenger.simulated) {
        int n = 0;
        while (n < d->n_most) {
            const size_t got = khz_twin_receive(&d->messenger, cycle, d->buffers + (size_t)n * d->room);
            if (got == 0) {
                break;
            }
            d->headers[n++].msg_len = (unsigned)got;
        }
        return n;
    }
    for (int i = 0; i < d->n_most; i++) {
        d->headers[i].msg_hdr.msg_namelen = d->connected ? 0 : sizeof *d->sources;
    }
    int n = recvmmsg(d->fd, d->headers, (unsigned)d->n_most, MSG_DONTWAIT, NULL);
    if (n < 0 && errno == ECONNREFUSED) { /* an earlier message found no peer: not about this call */
        n = recvmmsg(d->fd, d->headers, (unsigned)d->n_most, MSG_DONTWAIT, NULL);
    }
    return n > 0 ? n : 0;
}

/* Whether a datagram comes from somebody else while the peer is there. */
static int foreign(const udp *d, int i, const khz_exchange *x)
{
    const khz_messenger *g = &d->messenger;
    if (g->simulated || d->connected || d->any_source || !g->gate.open || d->n_peer == 0) {
        return 0;
    }
    return !khz_address_equal(&d->sources[i], &d->peer) && x->time_ns - g->gate.last_ns <= g->patience_ns;
}

static int receive(udp *d, khz_exchange *x)
{
    const int n = gather(d, x->cycle);
    int result = KHZ_LINK_QUIET;
    x->counters->n_flooded += n == d->n_most && n > 1;
    for (int i = 0; i < n; i++) {
        if (foreign(d, i, x)) {
            x->counters->n_foreign++;
            continue;
        }
        const int taken = khz_messenger_take(&d->messenger, d->buffers + (size_t)i * d->room, d->headers[i].msg_len, x);
        if (taken != KHZ_LINK_FRESH) {
            continue;
        }
        result = taken;
        if (!d->connected && !d->any_source && !d->messenger.simulated) {
            d->peer = d->sources[i];
            d->n_peer = d->headers[i].msg_hdr.msg_namelen;
        }
    }
    return result;
}

static int send_(udp *d, khz_exchange *x)
{
    khz_messenger *g = &d->messenger;
    khz_messenger_make(g, x);
    if (g->simulated) {
        khz_twin_send(g, x->cycle);
        x->counters->n_sent++;
        return KHZ_LINK_FRESH;
    }
    if (d->n_peer == 0) {
        return KHZ_LINK_DOWN;
    }
    const struct sockaddr *to = d->connected ? NULL : (const struct sockaddr *)(const void *)&d->peer;
    ssize_t n = sendto(d->fd, g->out, g->n_out, MSG_DONTWAIT, to, to != NULL ? d->n_peer : 0);
    if (n < 0 && errno == ECONNREFUSED) { /* about an earlier message; this one was not sent */
        n = sendto(d->fd, g->out, g->n_out, MSG_DONTWAIT, to, to != NULL ? d->n_peer : 0);
    }
    if (n != (ssize_t)g->n_out) {
        x->counters->n_refused++;
        return KHZ_LINK_QUIET;
    }
    x->counters->n_sent++;
    return KHZ_LINK_FRESH;
}

static int exchange(void *device, int direction, khz_exchange *x)
{
    return direction == KHZ_RECEIVE ? receive(device, x) : send_(device, x);
}

const khz_device_class khz_udp = {"udp", size, open_, exchange, close_};
