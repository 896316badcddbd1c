/* Serial line: messages (khz_wire.h) one after the other, both directions on one line, 8 bits, no parity.
 *
 *     path = /dev/ttyUSB0
 *     baud = 115200
 *     crc = true               unless told otherwise: a line has no checksum of its own
 *
 * and those of khz_stream.h and khz_messenger.h.  A line that vanishes (a plug pulled) is opened again by a thread. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "khz_bridge.h"
#include "khz_device.h"
#include "khz_drivers.h"
#include "khz_stream.h"

enum { RETRY_NS = 200 * 1000 * 1000 };

typedef struct serial {
    int fd;    /* -1: gone */
    int other; /* in the bridge's hands while it works */
    speed_t speed;
    const char *path;
    khz_stream stream;
    khz_bridge bridge; /* opens the line again */
} serial;

static const struct {
    int64_t baud;
    speed_t speed;
} speeds[] = {
    {1200, B1200},       {2400, B2400},       {4800, B4800},       {9600, B9600},
    {19200, B19200},     {38400, B38400},     {57600, B57600},     {115200, B115200},
    {230400, B230400},   {460800, B460800},   {921600, B921600},   {1000000, B1000000},
    {1500000, B1500000}, {2000000, B2000000}, {3000000, B3000000}, {4000000, B4000000},
};

static size_t head(void) { return (sizeof(serial) + 7u) & ~(size_t)7u; }

static size_t size(const khz_device_config *c) { return head() + khz_stream_size(c); }

/* Open and set up the line; -1 where that fails. */
static int open_line(const char *path, speed_t speed)
{
    const int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    struct termios t;
    if (fd < 0) {
        return -1;
    }
    if (tcgetattr(fd, &t) == 0) {
        cfmakeraw(&t);
        t.c_cflag |= CLOCAL | CREAD;
        t.c_cc[VMIN] = 1; /* an empty line gives EAGAIN; 0 bytes then mean that it hung up */
        t.c_cc[VTIME] = 0;
        if (cfsetispeed(&t, speed) == 0 && cfsetospeed(&t, speed) == 0 && tcsetattr(fd, TCSANOW, &t) == 0) {
            return fd;
        }
    }
    const int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

/* The bridge's work: close the line that is gone (which may wait for its last bytes), open it anew. */
static void reopen(void *device)
{
    serial *d = device;
    (void)close(d->other);
    do {
        d->other = open_line(d->path, d->speed);
    } while (d->other < 0 && khz_bridge_nap(&d->bridge, RETRY_NS));
}

static khz_status open_(void *device, const khz_device_config *c, char *message, size_t n_message)
{
    serial *d = device;
    int good = 1;
    d->fd = d->other = -1;
    const int64_t baud = khz_config_integer(c, "baud", 115200, 1, INT32_MAX, &good);
    d->path = khz_config_text(c, "path", "");
    for (size_t i = 0; good && i < sizeof speeds / sizeof speeds[0]; i++) {
        d->speed = speeds[i].baud == baud ? speeds[i].speed : d->speed;
    }
    if (!good || d->speed == 0) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: baud is none that serial lines have", c->name);
    }
    const khz_status status = khz_stream_open(&d->stream, (char *)device + head(), c, 1, message, n_message);
    if (status != KHZ_OK || d->stream.messenger.simulated) {
        return status;
    }
    d->fd = open_line(d->path, d->speed);
    if (d->fd < 0) {
        return khz_device_fail(message, n_message, KHZ_UNSUPPORTED, "%s: cannot open line \"%s\": %s", c->name, d->path,
                               strerror(errno));
    }
    const khz_status started = khz_bridge_open(&d->bridge, reopen, d, message, n_message);
    if (started != KHZ_OK) {
        (void)close(d->fd);
    }
    return started;
}

/* Whether the line is there; taken over from the bridge where it came back. */
static int there(serial *d)
{
    if (d->fd < 0 && khz_bridge_done(&d->bridge) && d->other >= 0) {
        d->fd = d->other;
        d->other = -1;
        khz_stream_reset(&d->stream);
    }
    return d->fd >= 0;
}

static int exchange(void *device, int direction, khz_exchange *x)
{
    serial *d = device;
    if (!d->stream.messenger.simulated && !there(d)) {
        return KHZ_LINK_DOWN;
    }
    const int result =
        direction == KHZ_RECEIVE ? khz_stream_receive(&d->stream, d->fd, x) : khz_stream_send(&d->stream, d->fd, x);
    if (result == KHZ_LINK_DOWN) {
        d->other = d->fd;
        d->fd = -1;
        khz_bridge_ask(&d->bridge);
    }
    return result;
}

static void close_(void *device)
{
    serial *d = device;
    khz_bridge_close(&d->bridge);
    if (d->fd >= 0) {
        (void)close(d->fd);
    }
    if (d->other >= 0) {
        (void)close(d->other);
    }
    d->fd = d->other = -1;
}

const khz_device_class khz_serial = {"serial", size, open_, exchange, close_};
