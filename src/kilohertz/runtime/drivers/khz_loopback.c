/* A simulated device that gives back what was sent, value by value, in the next cycle: scenarios run without any peer.
 *
 *     every = 1        a message comes back every so many cycles (a slow peer)
 *     cut_from, cut_until    cycles in which nothing comes back (a cut link); none by default */
#include <stdint.h>
#include <string.h>

#include "khz_device.h"
#include "khz_drivers.h"

typedef struct loopback {
    int32_t n;
    int32_t full; /* something was sent since the last message */
    int64_t every, cut_from, cut_until;
    double values[];
} loopback;

static size_t size(const khz_device_config *c)
{
    int good = 1;
    const int32_t n_send = khz_config_count(c, KHZ_SEND, &good), n_receive = khz_config_count(c, KHZ_RECEIVE, &good);
    const int32_t n = n_send > n_receive ? n_send : n_receive;
    return sizeof(loopback) + (size_t)n * sizeof(double);
}

static khz_status open_(void *device, const khz_device_config *c, char *message, size_t n_message)
{
    loopback *d = device;
    int good = 1;
    const int32_t n_send = khz_config_count(c, KHZ_SEND, &good), n_receive = khz_config_count(c, KHZ_RECEIVE, &good);
    d->n = n_send > n_receive ? n_send : n_receive;
    d->every = khz_config_integer(c, "every", 1, 1, INT64_MAX, &good);
    d->cut_from = khz_config_integer(c, "cut_from", INT64_MAX, 0, INT64_MAX, &good);
    d->cut_until = khz_config_integer(c, "cut_until", INT64_MAX, 0, INT64_MAX, &good);
    if (!good) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: every, cut_from and cut_until are cycles", c->name);
    }
    return KHZ_OK;
}

static int exchange(void *device, int direction, khz_exchange *x)
{
    loopback *d = device;
    const int32_t n = x->n < d->n ? x->n : d->n;
    if (direction == KHZ_SEND) {
        memcpy(d->values, x->values, (size_t)n * sizeof(double));
        d->full = 1;
        x->counters->n_sent++;
        return KHZ_LINK_FRESH;
    }
    const int64_t cycle = (int64_t)x->cycle;
    const int cut = cycle >= d->cut_from && cycle < d->cut_until;
    if (!d->full || cut || cycle % d->every != 0) {
        return KHZ_LINK_QUIET;
    }
    memcpy(x->values, d->values, (size_t)n * sizeof(double));
    d->full = 0;
    x->counters->n_received++;
    return KHZ_LINK_FRESH;
}

static void close_(void *device) { (void)device; }

const khz_device_class khz_loopback = {"loopback", size, open_, exchange, close_};
