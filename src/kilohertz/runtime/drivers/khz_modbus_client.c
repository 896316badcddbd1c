/* Modbus TCP, the task as client of a PLC: a bridge thread asks, the task only looks at what it has.
 *
 *     remote = :502            the PLC
 *     unit = 1                 unit identifier
 *     poll = 0.01              seconds between two turns: outputs are written (function 16), then inputs read
 *     read = holding           or input: which registers the task's inputs are (functions 3, 4)
 *     answer_within = 0.5      seconds after which an answer counts as lost and the connection is made anew
 *     simulated = false        no wire: a PLC in this process gives back what it was told
 *
 * and those of khz_modbus.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "khz_address.h"
#include "khz_bridge.h"
#include "khz_device.h"
#include "khz_drivers.h"
#include "khz_modbus.h"
#include "khz_segment.h"

enum { SLICE_MS = 50, RETRY_NS = 200 * 1000 * 1000 };

/* Registers in one request. */
typedef struct run {
    int32_t address, count;
} run;

typedef struct plc {
    khz_modbus_map maps[2];
    run *runs[2];
    int32_t n_runs[2];
    uint16_t *registers[2];   /* the thread's */
    double *values[2];        /* the thread's */
    khz_channel *channels[2]; /* KHZ_SEND: task to thread; KHZ_RECEIVE: thread to task */
    uint64_t sequence[2];     /* of the messages in them */
    uint64_t seen;            /* by the task */
    double *scratch;          /* the task's */
    uint64_t n_seen_links;
    _Atomic int connected;
    _Atomic uint64_t n_links, n_wrong; /* connections made, answers that made no sense */
    uint64_t n_seen_wrong;
    int fd;
    uint16_t transaction;
    unsigned char unit, read_function;
    int32_t simulated, answer_ms;
    int64_t poll_ns;
    struct sockaddr_storage peer;
    socklen_t n_peer;
    khz_modbus_image image; /* of the simulated PLC */
    khz_bridge bridge;
} plc;

static size_t aligned(size_t n) { return (n + 63u) & ~(size_t)63u; }

/* Bytes of the parts of one direction: signals, runs, registers, values, channel. */
static size_t part(const khz_device_config *c, int direction, size_t at[5], int *good)
{
    const size_t n = (size_t)khz_config_count(c, direction, good);
    const int32_t registers = khz_modbus_registers(c, direction);
    at[0] = aligned(n * sizeof(khz_modbus_signal));
    at[1] = at[0] + aligned(n * sizeof(run));
    at[2] = at[1] + aligned((size_t)(registers > 0 ? registers : 0) * 2 * sizeof(uint16_t));
    at[3] = at[2] + aligned(2 * n * sizeof(double));
    at[4] = at[3] + aligned(khz_channel_size((uint32_t)n));
    return at[4];
}

static size_t size(const khz_device_config *c)
{
    size_t at[5];
    int good = 1;
    return aligned(sizeof(plc)) + part(c, 0, at, &good) + part(c, 1, at, &good);
}

/* Registers next to one another go into one request, values whole. */
static void plan(plc *d, int direction, int32_t most)
{
    const khz_modbus_map *m = &d->maps[direction];
    run *runs = d->runs[direction];
    int32_t n = 0;
    for (int32_t i = 0; i < m->n; i++) { /* insertion by address */
        int32_t k = i;
        for (; k > 0 && runs[k - 1].address > m->signals[i].address; k--) {
            runs[k] = runs[k - 1];
        }
        runs[k] = (run){m->signals[i].address, khz_modbus_width(&m->signals[i])};
    }
    for (int32_t i = 0; i < m->n; i++) {
        run *last = n > 0 ? &runs[n - 1] : NULL;
        if (last != NULL && last->address + last->count == runs[i].address && last->count + runs[i].count <= most) {
            last->count += runs[i].count;
        } else {
            runs[n++] = runs[i];
        }
    }
    d->n_runs[direction] = n;
}

static int64_t now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Wait for the descriptor in slices, so that the end of the task is seen: 1 where it is ready. */
static int ready(plc *d, short what, int64_t until_ms)
{
    while (!khz_bridge_stopping(&d->bridge) && now_ms() < until_ms) {
        struct pollfd p = {d->fd, what, 0};
        if (poll(&p, 1, SLICE_MS) > 0) {
            return 1;
        }
    }
    return 0;
}

static void hang_up(plc *d)
{
    if (d->fd >= 0) {
        (void)close(d->fd);
    }
    d->fd = -1;
    atomic_store(&d->connected, 0);
}

static int call(plc *d)
{
    const int one = 1;
    int error = 0;
    socklen_t n = sizeof error;
    d->fd = socket(d->peer.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (d->fd < 0) {
        return 0;
    }
    const int result = connect(d->fd, (const struct sockaddr *)(const void *)&d->peer, d->n_peer);
    const int under_way = result != 0 && errno == EINPROGRESS;
    if ((result != 0 && !under_way) || !ready(d, POLLOUT, now_ms() + d->answer_ms) ||
        getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0 || error != 0) {
        hang_up(d);
        return 0;
    }
    (void)setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    atomic_fetch_add(&d->n_links, 1u);
    atomic_store(&d->connected, 1);
    return 1;
}

/* Read n bytes; 0 where they do not come in time. */
static int read_all(plc *d, unsigned char *to, size_t n, int64_t until_ms)
{
    size_t have = 0;
    while (have < n) {
        if (!ready(d, POLLIN, until_ms)) {
            return 0;
        }
        const ssize_t got = recv(d->fd, to + have, n - have, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            return 0;
        }
        have += got > 0 ? (size_t)got : 0;
    }
    return 1;
}

/* Send a request and get its answer: its size, 0 where there is none. */
static size_t ask_wire(plc *d, const unsigned char *request, size_t n, unsigned char *answer)
{
    unsigned char frame[KHZ_MODBUS_FRAME];
    const int64_t until_ms = now_ms() + d->answer_ms;
    d->transaction++;
    khz_modbus_put(frame, d->transaction);
    khz_modbus_put(frame + 2, 0);
    khz_modbus_put(frame + 4, (uint32_t)n + 1);
    frame[6] = d->unit;
    memcpy(frame + KHZ_MODBUS_HEAD, request, n);
    if (send(d->fd, frame, KHZ_MODBUS_HEAD + n, MSG_NOSIGNAL) != (ssize_t)(KHZ_MODBUS_HEAD + n) ||
        !read_all(d, frame, KHZ_MODBUS_HEAD, until_ms)) {
        return 0;
    }
    const size_t length = khz_modbus_word(frame + 4);
    if (khz_modbus_word(frame) != d->transaction || khz_modbus_word(frame + 2) != 0 || length < 2 ||
        length > 1 + KHZ_MODBUS_PDU || !read_all(d, answer, length - 1, until_ms)) {
        return 0;
    }
    return length - 1;
}

static size_t ask(plc *d, unsigned char *request, size_t n, unsigned char *answer)
{
    int result;
    if (!d->simulated) {
        return ask_wire(d, request, n, answer);
    }
    /* The simulated PLC keeps what is read apart from what is written. */
    request[0] = request[0] == 3 ? 4 : request[0];
    const size_t got = khz_modbus_answer(&d->image, request, n, answer, &result);
    answer[0] = answer[0] == 4 ? d->read_function : answer[0];
    return got;
}

static int write_runs(plc *d)
{
    unsigned char q[KHZ_MODBUS_PDU], a[KHZ_MODBUS_PDU];
    for (int32_t i = 0; i < d->n_runs[KHZ_SEND]; i++) {
        const run *r = &d->runs[KHZ_SEND][i];
        q[0] = 16;
        khz_modbus_put(q + 1, (uint32_t)r->address);
        khz_modbus_put(q + 3, (uint32_t)r->count);
        q[5] = (unsigned char)(2 * r->count);
        for (int32_t k = 0; k < r->count; k++) {
            khz_modbus_put(q + 6 + 2 * k, d->registers[KHZ_SEND][r->address + k]);
        }
        if (ask(d, q, 6 + 2 * (size_t)r->count, a) != 5 || memcmp(a, q, 5) != 0) {
            return 0;
        }
    }
    return 1;
}

static int read_runs(plc *d)
{
    unsigned char q[KHZ_MODBUS_PDU], a[KHZ_MODBUS_PDU];
    for (int32_t i = 0; i < d->n_runs[KHZ_RECEIVE]; i++) {
        const run *r = &d->runs[KHZ_RECEIVE][i];
        q[0] = d->read_function;
        khz_modbus_put(q + 1, (uint32_t)r->address);
        khz_modbus_put(q + 3, (uint32_t)r->count);
        const size_t n = ask(d, q, 5, a);
        if (n != 2 + 2 * (size_t)r->count || a[0] != d->read_function || a[1] != 2 * r->count) {
            return 0;
        }
        for (int32_t k = 0; k < r->count; k++) {
            d->registers[KHZ_RECEIVE][r->address + k] = khz_modbus_word(a + 2 + 2 * k);
        }
    }
    return 1;
}

/* One turn with the PLC: 0 where the connection must be made anew. */
static int turn(plc *d)
{
    khz_message m;
    const uint32_t n_out = (uint32_t)d->maps[KHZ_SEND].n, n_in = (uint32_t)d->maps[KHZ_RECEIVE].n;
    if (khz_channel_read(d->channels[KHZ_SEND], n_out, &m, d->values[KHZ_SEND])) {
        khz_modbus_encode(&d->maps[KHZ_SEND], d->values[KHZ_SEND], d->registers[KHZ_SEND]);
        if (!write_runs(d)) {
            return 0;
        }
    }
    if (!read_runs(d)) {
        return 0;
    }
    if (!khz_modbus_decode(&d->maps[KHZ_RECEIVE], d->registers[KHZ_RECEIVE], d->values[KHZ_RECEIVE])) {
        atomic_fetch_add(&d->n_wrong, 1u);
        return 1;
    }
    m = (khz_message){.sequence = ++d->sequence[KHZ_RECEIVE], .count = (int32_t)n_in};
    khz_channel_write(d->channels[KHZ_RECEIVE], n_in, &m, d->values[KHZ_RECEIVE]);
    return 1;
}

static void work(void *device)
{
    plc *d = device;
    while (!khz_bridge_stopping(&d->bridge)) {
        if (d->fd < 0 && !call(d)) {
            (void)khz_bridge_nap(&d->bridge, RETRY_NS);
            continue;
        }
        if (!turn(d)) {
            atomic_fetch_add(&d->n_wrong, 1u);
            hang_up(d);
            (void)khz_bridge_nap(&d->bridge, RETRY_NS);
        }
        (void)khz_bridge_nap(&d->bridge, d->poll_ns);
    }
}

static khz_status place(plc *d, const khz_device_config *c, char *message, size_t n_message)
{
    char *base = (char *)d + aligned(sizeof *d);
    for (int direction = 0; direction < 2; direction++) {
        size_t at[5];
        int good = 1;
        const size_t n = part(c, direction, at, &good);
        khz_modbus_map *m = &d->maps[direction];
        m->signals = (khz_modbus_signal *)(void *)base;
        d->runs[direction] = (run *)(void *)(base + at[0]);
        d->registers[direction] = (uint16_t *)(void *)(base + at[1]);
        d->values[direction] = (double *)(void *)(base + at[2]);
        d->channels[direction] = (khz_channel *)(void *)(base + at[3]);
        base += n;
        const khz_status status = khz_modbus_map_open(m, c, direction, message, n_message);
        if (status != KHZ_OK) {
            return status;
        }
        plan(d, direction, direction == KHZ_SEND ? KHZ_MODBUS_MOST_WRITE : KHZ_MODBUS_MOST_READ);
    }
    d->scratch = d->values[KHZ_RECEIVE] + d->maps[KHZ_RECEIVE].n;
    d->image.n_holding = d->maps[KHZ_SEND].n_registers;
    d->image.n_input = d->maps[KHZ_RECEIVE].n_registers;
    d->image.holding = d->registers[KHZ_SEND] + d->image.n_holding;
    d->image.input = d->registers[KHZ_RECEIVE] + d->image.n_input;
    return KHZ_OK;
}

static khz_status open_(void *device, const khz_device_config *c, char *message, size_t n_message)
{
    plc *d = device;
    int good = 1;
    d->fd = -1;
    const char *read = khz_config_text(c, "read", "holding"), *remote = khz_config_text(c, "remote", ":502");
    const double every = khz_config_real(c, "poll", 0.01, &good);
    const double within = khz_config_real(c, "answer_within", 0.5, &good);
    d->unit = (unsigned char)khz_config_integer(c, "unit", 1, 0, 255, &good);
    d->simulated = khz_config_flag(c, "simulated", 0, &good);
    d->read_function = strcmp(read, "input") == 0 ? 4 : 3;
    if (!good || !(every >= 0.0 && every < 1e6) || !(within >= 0.001 && within < 1e6) ||
        (d->read_function == 3 && strcmp(read, "holding") != 0)) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN,
                               "%s: unit is 0 to 255, read is holding or input, poll and answer_within are in seconds",
                               c->name);
    }
    d->poll_ns = (int64_t)(every * 1e9);
    d->answer_ms = (int32_t)(within * 1e3);
    if (!khz_address_read(remote, &d->peer, &d->n_peer)) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: remote: \"%s\" is no address", c->name, remote);
    }
    khz_status status = place(d, c, message, n_message);
    if (status != KHZ_OK || d->simulated) {
        return status;
    }
    status = khz_bridge_open(&d->bridge, work, d, message, n_message);
    if (status == KHZ_OK) {
        khz_bridge_ask(&d->bridge); /* once: it works until the end */
    }
    return status;
}

/* The simulated PLC: what was written becomes what is read, value by value. */
static void echo(plc *d)
{
    const khz_modbus_map *out = &d->maps[KHZ_SEND], *in = &d->maps[KHZ_RECEIVE];
    const int32_t n = out->n < in->n ? out->n : in->n;
    (void)turn(d);
    for (int32_t i = 0; i < n; i++) {
        const khz_modbus_map one_out = {1, 0, out->little, &out->signals[i]};
        const khz_modbus_map one_in = {1, 0, in->little, &in->signals[i]};
        double value;
        if (khz_modbus_decode(&one_out, d->image.holding, &value)) {
            khz_modbus_encode(&one_in, &value, d->image.input);
        }
    }
    (void)turn(d);
}

static int receive(plc *d, khz_exchange *x)
{
    khz_message m;
    const uint64_t n_links = atomic_load(&d->n_links), n_wrong = atomic_load(&d->n_wrong);
    x->counters->n_links += n_links - d->n_seen_links;
    x->counters->n_malformed += n_wrong - d->n_seen_wrong;
    d->n_seen_links = n_links;
    d->n_seen_wrong = n_wrong;
    const uint64_t latest = atomic_load_explicit(&d->channels[KHZ_RECEIVE]->latest, memory_order_acquire);
    if (latest != d->seen && khz_channel_read(d->channels[KHZ_RECEIVE], (uint32_t)x->n, &m, d->scratch)) {
        memcpy(x->values, d->scratch, sizeof(double) * (size_t)x->n);
        d->seen = m.sequence;
        x->counters->n_received++;
        return KHZ_LINK_FRESH;
    }
    return d->simulated || atomic_load(&d->connected) ? KHZ_LINK_QUIET : KHZ_LINK_DOWN;
}

static int exchange(void *device, int direction, khz_exchange *x)
{
    plc *d = device;
    if (direction == KHZ_RECEIVE) {
        return receive(d, x);
    }
    const khz_message m = {.sequence = ++d->sequence[KHZ_SEND], .time_ns = x->time_ns, .count = x->n};
    khz_channel_write(d->channels[KHZ_SEND], (uint32_t)x->n, &m, x->values);
    if (d->simulated) {
        echo(d);
    }
    if (!d->simulated && !atomic_load(&d->connected)) {
        return KHZ_LINK_DOWN;
    }
    x->counters->n_sent++;
    return KHZ_LINK_FRESH;
}

static void close_(void *device)
{
    plc *d = device;
    khz_bridge_close(&d->bridge);
    hang_up(d);
}

const khz_device_class khz_modbus_client = {"modbus-client", size, open_, exchange, close_};
