/* TCP: messages (khz_wire.h) one after the other in a stream; one peer at a time.
 *
 *     listen = :5000           address on which the task waits for its peer; on loopback unless it names another one
 *     remote = :5000           or: the peer that the task connects to, again every `retry` seconds
 *     retry = 0.5              seconds of the task's time
 *
 * and those of khz_stream.h and khz_messenger.h.  While its peer is there, other callers wait. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "khz_address.h"
#include "khz_device.h"
#include "khz_drivers.h"
#include "khz_stream.h"

typedef struct tcp {
    int listener, fd; /* -1: none */
    int32_t connecting;
    socklen_t n_peer; /* 0: listens */
    struct sockaddr_storage peer;
    int64_t retry_ns, tried_ns, linked_ns;
    int32_t tried;
    khz_stream stream;
} tcp;

static size_t head(void) { return (sizeof(tcp) + 7u) & ~(size_t)7u; }

static size_t size(const khz_device_config *c) { return head() + khz_stream_size(c); }

static void drop(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

static void close_(void *device)
{
    tcp *d = device;
    drop(&d->fd);
    drop(&d->listener);
}

static khz_status open_(void *device, const khz_device_config *c, char *message, size_t n_message)
{
    tcp *d = device;
    int good = 1;
    d->fd = d->listener = -1;
    d->stream.is_socket = 1;
    const double retry = khz_config_real(c, "retry", 0.5, &good);
    const char *listen_at = khz_config_text(c, "listen", ""), *remote = khz_config_text(c, "remote", "");
    if (!good || !(retry >= 0.001 && retry < 1e9)) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: retry is at least 0.001 s", c->name);
    }
    d->retry_ns = (int64_t)(retry * 1e9);
    const khz_status status = khz_stream_open(&d->stream, (char *)device + head(), c, 0, message, n_message);
    if (status != KHZ_OK || d->stream.messenger.simulated) {
        return status;
    }
    if ((*listen_at != '\0') == (*remote != '\0')) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: one of listen and remote is needed", c->name);
    }
    if (*listen_at) {
        return khz_device_listen(c, listen_at, &d->listener, message, n_message);
    }
    if (!khz_address_read(remote, &d->peer, &d->n_peer)) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: remote: \"%s\" is no address", c->name, remote);
    }
    return KHZ_OK;
}

static void linked(tcp *d, const khz_exchange *x)
{
    const int one = 1;
    (void)setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    khz_stream_reset(&d->stream);
    d->stream.messenger.gate.open = 0; /* a connection is a peer of its own: its session is taken at once */
    d->connecting = 0;
    d->linked_ns = x->time_ns;
}

/* Take one caller in a cycle, where there is no peer or it has gone silent; until then callers wait. */
static void answer(tcp *d, const khz_exchange *x)
{
    const khz_gate *gate = &d->stream.messenger.gate;
    const int64_t heard_ns = gate->open ? gate->last_ns : d->linked_ns;
    if (d->fd >= 0 && x->time_ns - heard_ns <= d->stream.messenger.patience_ns) {
        return;
    }
    const int fd = accept4(d->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        drop(&d->fd);
        d->fd = fd;
        linked(d, x);
    }
}

/* Begin to connect, or see whether it has come about. */
static void call(tcp *d, const khz_exchange *x)
{
    const struct sockaddr *peer = (const struct sockaddr *)(const void *)&d->peer;
    if (d->fd < 0) {
        if (d->tried && x->time_ns - d->tried_ns < d->retry_ns) {
            return;
        }
        d->tried = 1;
        d->tried_ns = x->time_ns;
        d->fd = socket(d->peer.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        d->connecting = d->fd >= 0;
    }
    if (!d->connecting) {
        return;
    }
    if (connect(d->fd, peer, d->n_peer) == 0 || errno == EISCONN) {
        linked(d, x);
    } else if (errno != EINPROGRESS && errno != EALREADY) {
        drop(&d->fd);
    }
}

static int turn(tcp *d, int direction, khz_exchange *x)
{
    if (!d->stream.messenger.simulated && (d->fd < 0 || d->connecting)) {
        return KHZ_LINK_DOWN;
    }
    const int result =
        direction == KHZ_RECEIVE ? khz_stream_receive(&d->stream, d->fd, x) : khz_stream_send(&d->stream, d->fd, x);
    if (result == KHZ_LINK_DOWN) {
        drop(&d->fd);
    }
    return result;
}

static int exchange(void *device, int direction, khz_exchange *x)
{
    tcp *d = device;
    if (direction == KHZ_RECEIVE && d->n_peer > 0) {
        call(d, x);
    }
    const int result = turn(d, direction, x);
    /* After the reading: it finds out that the old peer has hung up. */
    if (direction == KHZ_RECEIVE && d->listener >= 0) {
        answer(d, x);
    }
    return result;
}

const khz_device_class khz_tcp = {"tcp", size, open_, exchange, close_};
