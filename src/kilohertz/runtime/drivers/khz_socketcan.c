/* SocketCAN: signals in the frames of a bus (khz_can.h).
 *
 *     interface = can0
 *     every = 1                frames are sent every so many cycles; 1 Mbit/s carries some 8 frames in a millisecond
 *     max_messages = 64        frames read in a cycle at most
 *     simulated = false        no bus: a node in this process sends back what it got, value by value
 *
 * The kernel hands over only frames that the map knows.  Signals keep their value until their own frame comes again;
 * what came counts as fresh when any frame came. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/can.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "khz_can.h"
#include "khz_device.h"
#include "khz_drivers.h"

enum { MOST = 1024 };

typedef struct can {
    int fd;
    int32_t n_most, simulated, echoed;
    int64_t every;
    khz_can_map maps[2];
    double *values;         /* [n_receive] of the signals, as they came last */
    double *heard, *answer; /* [n_send], [n_receive] of the simulated node */
} can;

static size_t eights(size_t n) { return (n + 7u) & ~(size_t)7u; }

static size_t size(const khz_device_config *c)
{
    int good = 1;
    const size_t n = (size_t)khz_config_count(c, KHZ_RECEIVE, &good) + (size_t)khz_config_count(c, KHZ_SEND, &good);
    const size_t each = sizeof(khz_can_signal) + sizeof(khz_can_frame) + 2 * sizeof(double);
    return eights(sizeof(can)) + n * each + 64;
}

static void close_(void *device)
{
    can *d = device;
    if (d->fd >= 0) {
        (void)close(d->fd);
    }
    d->fd = -1;
}

/* Let the kernel hand over nothing but what the map knows; 512 is its own limit, beyond which all come. */
static int filtered(const can *d)
{
    struct can_filter filters[CAN_RAW_FILTER_MAX];
    const khz_can_map *m = &d->maps[KHZ_RECEIVE];
    if (m->n_frames > CAN_RAW_FILTER_MAX) {
        return 0;
    }
    for (int32_t i = 0; i < m->n_frames; i++) {
        const int extended = m->frames[i].extended;
        filters[i].can_id = m->frames[i].id | (extended ? CAN_EFF_FLAG : 0);
        filters[i].can_mask = CAN_EFF_FLAG | CAN_RTR_FLAG | (extended ? CAN_EFF_MASK : CAN_SFF_MASK);
    }
    const socklen_t n = (socklen_t)((size_t)m->n_frames * sizeof filters[0]);
    return setsockopt(d->fd, SOL_CAN_RAW, CAN_RAW_FILTER, filters, n);
}

static khz_status bound(can *d, const khz_device_config *c, char *message, size_t n_message)
{
    struct ifreq request;
    struct sockaddr_can address = {.can_family = AF_CAN};
    const char *name = khz_config_text(c, "interface", "can0");
    memset(&request, 0, sizeof request);
    if (strlen(name) >= sizeof request.ifr_name) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: interface \"%s\": too long", c->name, name);
    }
    memcpy(request.ifr_name, name, strlen(name));
    d->fd = socket(PF_CAN, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, CAN_RAW);
    if (d->fd >= 0 && ioctl(d->fd, SIOCGIFINDEX, &request) == 0) {
        address.can_ifindex = request.ifr_ifindex;
        if (filtered(d) == 0 && bind(d->fd, (const struct sockaddr *)(const void *)&address, sizeof address) == 0) {
            return KHZ_OK;
        }
    }
    const int error = errno;
    close_(d);
    return khz_device_fail(message, n_message, KHZ_UNSUPPORTED, "%s: cannot open CAN interface %s: %s", c->name, name,
                           strerror(error));
}

static khz_status open_(void *device, const khz_device_config *c, char *message, size_t n_message)
{
    can *d = device;
    int good = 1;
    d->fd = -1;
    d->n_most = (int32_t)khz_config_integer(c, "max_messages", 64, 1, MOST, &good);
    d->every = khz_config_integer(c, "every", 1, 1, INT32_MAX, &good);
    d->simulated = khz_config_flag(c, "simulated", 0, &good);
    if (!good) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN,
                               "%s: max_messages is 1 to %d, every at least 1 cycle, simulated true or false", c->name,
                               MOST);
    }
    char *at = (char *)device + eights(sizeof *d);
    for (int direction = 0; direction < 2; direction++) {
        khz_can_map *m = &d->maps[direction];
        const size_t n = (size_t)khz_config_count(c, direction, &good);
        m->signals = (khz_can_signal *)(void *)at;
        at += eights(n * sizeof *m->signals);
        m->frames = (khz_can_frame *)(void *)at;
        at += eights(n * sizeof *m->frames);
        const khz_status status = khz_can_map_open(m, c, direction, message, n_message);
        if (status != KHZ_OK) {
            return status;
        }
    }
    d->values = (double *)(void *)at;
    d->answer = d->values + d->maps[KHZ_RECEIVE].n;
    d->heard = d->answer + d->maps[KHZ_RECEIVE].n;
    return d->simulated ? KHZ_OK : bound(d, c, message, n_message);
}

/* A frame came: whether it brought values. */
static int taken(can *d, const struct can_frame *f, khz_exchange *x)
{
    const int extended = (f->can_id & CAN_EFF_FLAG) != 0;
    const uint32_t id = f->can_id & (extended ? CAN_EFF_MASK : CAN_SFF_MASK);
    const int odd = (f->can_id & (CAN_RTR_FLAG | CAN_ERR_FLAG)) != 0 || f->can_dlc > KHZ_CAN_BYTES;
    const int result = odd ? 0 : khz_can_decode(&d->maps[KHZ_RECEIVE], id, extended, f->data, f->can_dlc, d->values);
    x->counters->n_received += result == 1;
    x->counters->n_malformed += result == 0;
    x->counters->n_foreign += result == -1;
    return result == 1;
}

static int receive(can *d, khz_exchange *x)
{
    int fresh = d->echoed, n = 0;
    d->echoed = 0;
    for (; !d->simulated && n < d->n_most; n++) {
        struct can_frame f;
        const ssize_t got = recv(d->fd, &f, sizeof f, MSG_DONTWAIT);
        if (got < 0 && errno == ENETDOWN) {
            return KHZ_LINK_DOWN;
        }
        if (got != (ssize_t)sizeof f) {
            break;
        }
        fresh |= taken(d, &f, x);
    }
    x->counters->n_flooded += n == d->n_most;
    if (!fresh) {
        return KHZ_LINK_QUIET;
    }
    memcpy(x->values, d->values, sizeof(double) * (size_t)x->n);
    return KHZ_LINK_FRESH;
}

static void framed(const khz_can_frame *from, struct can_frame *to)
{
    memset(to, 0, sizeof *to);
    to->can_id = from->id | (from->extended ? CAN_EFF_FLAG : 0);
    to->can_dlc = (unsigned char)from->n;
    memcpy(to->data, from->bytes, KHZ_CAN_BYTES);
}

/* The simulated node: reads the frames of the task, answers in frames of its own. */
static void echo(can *d, khz_exchange *x)
{
    khz_can_map *out = &d->maps[KHZ_SEND], *in = &d->maps[KHZ_RECEIVE];
    struct can_frame f;
    for (int32_t i = 0; i < out->n_frames; i++) {
        framed(&out->frames[i], &f);
        (void)khz_can_decode(out, out->frames[i].id, out->frames[i].extended, f.data, f.can_dlc, d->heard);
    }
    /* more inputs than outputs: the others keep what they have */
    memcpy(d->answer, d->values, sizeof(double) * (size_t)in->n);
    memcpy(d->answer, d->heard, sizeof(double) * (size_t)(in->n < out->n ? in->n : out->n));
    khz_can_encode(in, d->answer);
    for (int32_t i = 0; i < in->n_frames; i++) {
        framed(&in->frames[i], &f);
        d->echoed |= taken(d, &f, x);
    }
}

static int send_(can *d, khz_exchange *x)
{
    if (x->cycle % (uint64_t)d->every != 0) {
        return KHZ_LINK_QUIET;
    }
    khz_can_map *m = &d->maps[KHZ_SEND];
    khz_can_encode(m, x->values);
    if (d->simulated) {
        echo(d, x);
        x->counters->n_sent += (uint64_t)m->n_frames;
        return KHZ_LINK_FRESH;
    }
    int result = KHZ_LINK_FRESH;
    for (int32_t i = 0; i < m->n_frames; i++) {
        struct can_frame f;
        framed(&m->frames[i], &f);
        if (send(d->fd, &f, sizeof f, MSG_DONTWAIT) == (ssize_t)sizeof f) {
            x->counters->n_sent++;
        } else {
            x->counters->n_refused++;
            result = errno == ENETDOWN ? KHZ_LINK_DOWN : KHZ_LINK_QUIET;
        }
    }
    return result;
}

static int exchange(void *device, int direction, khz_exchange *x)
{
    return direction == KHZ_RECEIVE ? receive(device, x) : send_(device, x);
}

const khz_device_class khz_socketcan = {"can", size, open_, exchange, close_};
