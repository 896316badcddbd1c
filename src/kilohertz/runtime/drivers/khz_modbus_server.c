/* Modbus TCP, the task as server: a PLC reads its outputs and writes its inputs.
 *
 *     listen = :502            address; on loopback unless it names another one
 *     max_messages = 16        requests answered in a cycle
 *     simulated = false        no wire: a peer in this process reads all outputs and writes them back as inputs
 *
 * and those of khz_modbus.h.  At most four clients at a time; any unit identifier is answered.  A client whose bytes
 * are no Modbus is hung up on. */
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
#include "khz_modbus.h"

enum { CLIENTS = 4, MOST = 1024 };

typedef struct client {
    int fd; /* -1: none */
    size_t n;
    unsigned char in[2 * KHZ_MODBUS_FRAME];
} client;

typedef struct server {
    int listener;
    int32_t n_most, simulated;
    khz_modbus_map maps[2]; /* by direction */
    khz_modbus_image image;
    int32_t echoed; /* the simulated peer has written */
    client clients[CLIENTS];
} server;

static size_t eights(size_t n) { return (n + 7u) & ~(size_t)7u; }

static size_t size(const khz_device_config *c)
{
    int good = 1;
    const int32_t n_in = khz_modbus_registers(c, KHZ_RECEIVE), n_out = khz_modbus_registers(c, KHZ_SEND);
    const size_t n = (size_t)khz_config_count(c, KHZ_RECEIVE, &good) + (size_t)khz_config_count(c, KHZ_SEND, &good);
    const size_t registers = (size_t)(n_in > 0 ? n_in : 0) + (size_t)(n_out > 0 ? n_out : 0);
    return eights(sizeof(server)) + n * sizeof(khz_modbus_signal) + eights(registers * sizeof(uint16_t));
}

static void hang_up(client *c)
{
    if (c->fd >= 0) {
        (void)close(c->fd);
    }
    c->fd = -1;
    c->n = 0;
}

static void close_(void *device)
{
    server *d = device;
    for (int i = 0; i < CLIENTS; i++) {
        hang_up(&d->clients[i]);
    }
    if (d->listener >= 0) {
        (void)close(d->listener);
    }
    d->listener = -1;
}

static khz_status open_(void *device, const khz_device_config *c, char *message, size_t n_message)
{
    server *d = device;
    int good = 1;
    d->listener = -1;
    for (int i = 0; i < CLIENTS; i++) {
        d->clients[i].fd = -1;
    }
    d->n_most = (int32_t)khz_config_integer(c, "max_messages", 16, 1, MOST, &good);
    d->simulated = khz_config_flag(c, "simulated", 0, &good);
    if (!good) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: max_messages is 1 to %d, simulated true or false",
                               c->name, MOST);
    }
    khz_modbus_signal *signals = (khz_modbus_signal *)(void *)((char *)device + eights(sizeof *d));
    for (int direction = 0; direction < 2; direction++) {
        khz_modbus_map *m = &d->maps[direction];
        m->signals = signals;
        const khz_status status = khz_modbus_map_open(m, c, direction, message, n_message);
        if (status != KHZ_OK) {
            return status;
        }
        signals += m->n;
    }
    d->image.n_holding = d->maps[KHZ_RECEIVE].n_registers;
    d->image.n_input = d->maps[KHZ_SEND].n_registers;
    d->image.holding = (uint16_t *)(void *)signals;
    d->image.input = d->image.holding + d->image.n_holding;
    if (d->simulated) {
        return KHZ_OK;
    }
    return khz_device_listen(c, khz_config_text(c, "listen", ":502"), &d->listener, message, n_message);
}

/* Take one caller in a cycle, if there is room. */
static void answer_call(server *d, khz_exchange *x)
{
    const int one = 1;
    for (int i = 0; i < CLIENTS; i++) {
        client *c = &d->clients[i];
        if (c->fd >= 0) {
            continue;
        }
        c->fd = accept4(d->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (c->fd >= 0) {
            (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            x->counters->n_links++;
        }
        return;
    }
}

/* Answer the first request a client has waiting: 1, 0 where it is not whole yet, -1 where it is no Modbus. */
static int answer_one(server *d, client *c, khz_exchange *x, int *written)
{
    unsigned char out[KHZ_MODBUS_FRAME];
    int result;
    if (c->n < KHZ_MODBUS_HEAD) {
        return 0;
    }
    const size_t length = khz_modbus_word(c->in + 4); /* unit identifier and request */
    if (khz_modbus_word(c->in + 2) != 0 || length < 2 || length > 1 + KHZ_MODBUS_PDU) {
        x->counters->n_malformed++;
        return -1;
    }
    if (c->n < 6 + length) {
        return 0;
    }
    const size_t n = khz_modbus_answer(&d->image, c->in + KHZ_MODBUS_HEAD, length - 1, out + KHZ_MODBUS_HEAD, &result);
    memcpy(out, c->in, KHZ_MODBUS_HEAD);
    khz_modbus_put(out + 4, (uint32_t)(n + 1));
    *written |= result == 1;
    x->counters->n_malformed += result == -1;
    c->n -= 6 + length;
    memmove(c->in, c->in + 6 + length, c->n);
    if (send(c->fd, out, KHZ_MODBUS_HEAD + n, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)(KHZ_MODBUS_HEAD + n)) {
        x->counters->n_refused++; /* it does not read its answers */
        return -1;
    }
    return 1;
}

/* One turn with a client: read once, answer at most *left requests. */
static void serve(server *d, client *c, khz_exchange *x, int32_t *left, int *written)
{
    const ssize_t n = recv(c->fd, c->in + c->n, sizeof c->in - c->n, MSG_DONTWAIT);
    const int gone = (n == 0 && c->n < sizeof c->in) || (n < 0 && errno != EAGAIN && errno != EINTR);
    c->n += n > 0 ? (size_t)n : 0;
    int answered = 1;
    while (*left > 0 && answered == 1) {
        answered = answer_one(d, c, x, written);
        *left -= answered == 1;
    }
    if (gone || answered < 0) {
        hang_up(c);
    }
}

/* The simulated peer, through the same requests: outputs are read as input registers, written back as holding
 * registers. */
static void echo(server *d)
{
    unsigned char q[KHZ_MODBUS_PDU], a[KHZ_MODBUS_PDU];
    int result;
    const khz_modbus_map *out = &d->maps[KHZ_SEND], *in = &d->maps[KHZ_RECEIVE];
    const int32_t n = out->n < in->n ? out->n : in->n;
    for (int32_t i = 0; i < n; i++) {
        const khz_modbus_signal *from = &out->signals[i], *to = &in->signals[i];
        const khz_modbus_map one_out = {1, 0, out->little, &(khz_modbus_signal){0, from->type}};
        const khz_modbus_map one_in = {1, 0, in->little, &(khz_modbus_signal){0, to->type}};
        const uint32_t width = (uint32_t)khz_modbus_width(from), n_to = (uint32_t)khz_modbus_width(to);
        uint16_t words[4];
        double value = 0.0;
        q[0] = 4;
        khz_modbus_put(q + 1, (uint32_t)from->address);
        khz_modbus_put(q + 3, width);
        (void)khz_modbus_answer(&d->image, q, 5, a, &result);
        for (uint32_t k = 0; k < width; k++) {
            words[k] = khz_modbus_word(a + 2 + 2 * k);
        }
        (void)khz_modbus_decode(&one_out, words, &value);
        khz_modbus_encode(&one_in, &value, words);
        q[0] = 16;
        khz_modbus_put(q + 1, (uint32_t)to->address);
        khz_modbus_put(q + 3, n_to);
        q[5] = (unsigned char)(2 * n_to);
        for (uint32_t k = 0; k < n_to; k++) {
            khz_modbus_put(q + 6 + 2 * k, words[k]);
        }
        (void)khz_modbus_answer(&d->image, q, 6 + 2 * (size_t)n_to, a, &result);
    }
    d->echoed = 1;
}

static int receive(server *d, khz_exchange *x)
{
    int written = 0;
    int32_t left = d->n_most;
    if (d->simulated) {
        written = d->echoed;
        d->echoed = 0;
    } else {
        answer_call(d, x);
        for (int i = 0; i < CLIENTS; i++) {
            if (d->clients[i].fd >= 0) {
                serve(d, &d->clients[i], x, &left, &written);
            }
        }
        x->counters->n_flooded += left == 0;
    }
    if (!written) {
        return KHZ_LINK_QUIET;
    }
    if (!khz_modbus_decode(&d->maps[KHZ_RECEIVE], d->image.holding, x->values)) {
        x->counters->n_malformed++;
        return KHZ_LINK_QUIET;
    }
    x->counters->n_received++;
    return KHZ_LINK_FRESH;
}

static int exchange(void *device, int direction, khz_exchange *x)
{
    server *d = device;
    if (direction == KHZ_RECEIVE) {
        return receive(d, x);
    }
    khz_modbus_encode(&d->maps[KHZ_SEND], x->values, d->image.input);
    x->counters->n_sent++;
    if (d->simulated) {
        echo(d);
    }
    return KHZ_LINK_FRESH;
}

const khz_device_class khz_modbus_server = {"modbus-server", size, open_, exchange, close_};
