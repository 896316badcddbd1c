#define _POSIX_C_SOURCE 200809L
#include "khz_stream.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 1024 };

static size_t eights(size_t n) { return (n + 7u) & ~(size_t)7u; }

static size_t room(const khz_device_config *c, int *good)
{
    const int64_t most = khz_config_integer(c, "max_messages", 16, 1, MOST, good);
    return (size_t)most * eights(khz_wire_size(khz_config_count(c, KHZ_RECEIVE, good), KHZ_WIRE_CRC));
}

static size_t rest_size(const khz_device_config *c, int *good)
{
    return eights(khz_wire_size(khz_config_count(c, KHZ_SEND, good), KHZ_WIRE_CRC));
}

size_t khz_stream_size(const khz_device_config *c)
{
    int good = 1;
    const size_t own = room(c, &good) + rest_size(c, &good), messenger = khz_messenger_size(c);
    return own + messenger;
}

khz_status khz_stream_open(khz_stream *s, void *memory, const khz_device_config *c, int crc, char *message,
                           size_t n_message)
{
    int good = 1;
    s->room = room(c, &good);
    s->in = memory;
    s->rest = s->in + s->room;
    if (!good) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: max_messages is 1 to %d", c->name, MOST);
    }
    return khz_messenger_open(&s->messenger, s->rest + rest_size(c, &good), c, crc, message, n_message);
}

void khz_stream_reset(khz_stream *s)
{
    s->n_in = 0;
    s->n_rest = 0;
    s->astray = 0;
}

/* Bytes at the head of `in` that are done with: a message, or one that begins none.  0: more must come first. */
static size_t digest(khz_stream *s, const unsigned char *in, size_t n, khz_exchange *x, int *result)
{
    if (n < 8) {
        return n > 0 && in[0] != 'K' ? 1 : 0;
    }
    const int32_t count = s->messenger.n[KHZ_RECEIVE];
    const size_t size = khz_wire_begins(in);
    if (size == 0 || size != khz_wire_size(count, in[5])) {
        return 1;
    }
    if (n < size) {
        return 0;
    }
    khz_message m;
    if (!khz_wire_check(in, size, count, s->messenger.need_crc, &m)) {
        return 1;
    }
    if (khz_messenger_take(&s->messenger, in, size, x) == KHZ_LINK_FRESH) {
        *result = KHZ_LINK_FRESH;
    }
    return size;
}

/* All messages in what has come; at most `room` bytes, each looked at once. */
static int parse(khz_stream *s, khz_exchange *x)
{
    size_t at = 0;
    int result = KHZ_LINK_QUIET;
    while (at < s->n_in) {
        const size_t done = digest(s, s->in + at, s->n_in - at, x, &result);
        if (done == 0) {
            break;
        }
        x->counters->n_malformed += done == 1 && !s->astray;
        s->astray = done == 1;
        at += done;
    }
    memmove(s->in, s->in + at, s->n_in - at);
    s->n_in -= at;
    return result;
}

int khz_stream_receive(khz_stream *s, int fd, khz_exchange *x)
{
    if (s->messenger.simulated) {
        size_t n = 1;
        while (n > 0 && s->room - s->n_in >= s->messenger.n_in) {
            n = khz_twin_receive(&s->messenger, x->cycle, s->in + s->n_in);
            s->n_in += n;
        }
        return parse(s, x);
    }
    const size_t free_ = s->room - s->n_in;
    const ssize_t n = read(fd, s->in + s->n_in, free_);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        return KHZ_LINK_DOWN;
    }
    s->n_in += n > 0 ? (size_t)n : 0;
    x->counters->n_flooded += n > 0 && (size_t)n == free_;
    return parse(s, x);
}

/* Hand bytes to the system: how many it took, -1 where the link has ended. */
static ssize_t put(const khz_stream *s, int fd, const unsigned char *bytes, size_t n)
{
    const ssize_t taken = s->is_socket ? send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL) : write(fd, bytes, n);
    if (taken >= 0) {
        return taken;
    }
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
}

int khz_stream_send(khz_stream *s, int fd, khz_exchange *x)
{
    khz_messenger *g = &s->messenger;
    if (g->simulated) {
        khz_messenger_make(g, x);
        khz_twin_send(g, x->cycle);
        x->counters->n_sent++;
        return KHZ_LINK_FRESH;
    }
    if (s->n_rest > 0) {
        const ssize_t taken = put(s, fd, s->rest, s->n_rest);
        if (taken < 0) {
            return KHZ_LINK_DOWN;
        }
        s->n_rest -= (size_t)taken;
        memmove(s->rest, s->rest + taken, s->n_rest);
        if (s->n_rest > 0) {
            x->counters->n_refused++;
            return KHZ_LINK_QUIET;
        }
    }
    khz_messenger_make(g, x);
    const ssize_t taken = put(s, fd, g->out, g->n_out);
    if (taken < 0) {
        return KHZ_LINK_DOWN;
    }
    if (taken == 0) {
        x->counters->n_refused++;
        return KHZ_LINK_QUIET;
    }
    s->n_rest = g->n_out - (size_t)taken;
    memcpy(s->rest, g->out + taken, s->n_rest);
    x->counters->n_sent++;
    return KHZ_LINK_FRESH;
}
