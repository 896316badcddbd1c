#define _POSIX_C_SOURCE 200809L
#include "khz_messenger.h"

#include <time.h>
#include <unistd.h>

static size_t eights(size_t n) { return (n + 7u) & ~(size_t)7u; }

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

uint32_t khz_session_drawn(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t z = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + ((uint64_t)getpid() << 40);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u; /* splitmix64 */
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32) | 1u;
}

size_t khz_messenger_size(const khz_device_config *c)
{
    int good = 1;
    const int32_t n_in = khz_config_count(c, KHZ_RECEIVE, &good), n_out = khz_config_count(c, KHZ_SEND, &good);
    const int simulated = khz_config_flag(c, "simulated", 0, &good);
    const size_t out = eights(khz_wire_size(n_out, KHZ_WIRE_CRC)), in = eights(khz_wire_size(n_in, KHZ_WIRE_CRC));
    return out + (simulated ? in * KHZ_TWIN_SLOTS + 8u * (size_t)larger(n_in, n_out) : 0);
}

static int open_twin(khz_messenger *g, unsigned char *memory, const khz_device_config *c)
{
    int good = 1;
    khz_twin *t = &g->twin;
    t->values = (double *)(void *)memory;
    t->slots = memory + 8u * (size_t)larger(g->n[0], g->n[1]);
    t->delay = (uint32_t)khz_config_integer(c, "sim_delay", 0, 0, KHZ_TWIN_SLOTS / 2, &good);
    t->drop_every = (uint32_t)khz_config_integer(c, "sim_drop_every", 0, 0, INT32_MAX, &good);
    t->corrupt_every = (uint32_t)khz_config_integer(c, "sim_corrupt_every", 0, 0, INT32_MAX, &good);
    t->repeat_every = (uint32_t)khz_config_integer(c, "sim_repeat_every", 0, 0, INT32_MAX, &good);
    return good;
}

khz_status khz_messenger_open(khz_messenger *g, void *memory, const khz_device_config *c, int crc, char *message,
                              size_t n_message)
{
    int good = 1;
    g->n[KHZ_RECEIVE] = khz_config_count(c, KHZ_RECEIVE, &good);
    g->n[KHZ_SEND] = khz_config_count(c, KHZ_SEND, &good);
    g->simulated = khz_config_flag(c, "simulated", 0, &good);
    g->need_crc = khz_config_flag(c, "crc", crc, &good);
    const char *endian = khz_config_text(c, "endian", "little");
    const double patience = khz_config_real(c, "restart_after", 0.1, &good);
    good = good && patience >= 0.0 && patience < 1e9;
    good = good && (strcmp(endian, "little") == 0 || strcmp(endian, "big") == 0);
    g->flags = (strcmp(endian, "big") == 0 ? KHZ_WIRE_BIG : 0) | (g->need_crc ? KHZ_WIRE_CRC : 0);
    g->patience_ns = good ? (int64_t)(patience * 1e9) : 0;
    g->n_in = khz_wire_size(g->n[KHZ_RECEIVE], g->flags);
    g->n_out = khz_wire_size(g->n[KHZ_SEND], g->flags);
    g->out = memory;
    g->session = khz_session_drawn();
    if (good && g->simulated) {
        good = open_twin(g, g->out + eights(khz_wire_size(g->n[KHZ_SEND], KHZ_WIRE_CRC)), c);
    }
    if (!good) {
        return khz_device_fail(
            message, n_message, KHZ_DOMAIN,
            "%s: endian is little or big; crc and simulated are true or false; restart_after is in seconds; "
            "sim_delay is at most %d cycles",
            c->name, KHZ_TWIN_SLOTS / 2);
    }
    return KHZ_OK;
}

int khz_messenger_take(khz_messenger *g, const unsigned char *bytes, size_t n, khz_exchange *x)
{
    khz_message m;
    khz_device_counters *k = x->counters;
    if (!khz_wire_check(bytes, n, g->n[KHZ_RECEIVE], g->need_crc, &m)) {
        k->n_malformed++;
        return KHZ_LINK_QUIET;
    }
    uint64_t missing;
    const int admitted = khz_gate_admit(&g->gate, &m, x->time_ns, g->patience_ns, &missing);
    if (admitted == KHZ_GATE_OLD) {
        k->n_replayed++;
        return KHZ_LINK_QUIET;
    }
    khz_wire_values(bytes, &m, x->values);
    k->n_links += admitted == KHZ_GATE_ANEW;
    k->n_missing += missing;
    k->n_received++;
    return KHZ_LINK_FRESH;
}

void khz_messenger_make(khz_messenger *g, const khz_exchange *x)
{
    const khz_message m = {
        .session = g->session,
        .echo = g->gate.open ? (uint32_t)g->gate.sequence : 0u,
        .sequence = ++g->sequence,
        .time_ns = x->time_ns,
        .flags = g->flags,
        .count = g->n[KHZ_SEND],
    };
    (void)khz_wire_write(g->out, &m, x->values);
}

static void twin_push(khz_messenger *g, uint64_t cycle, const khz_message *m, int corrupt)
{
    khz_twin *t = &g->twin;
    if (t->count == KHZ_TWIN_SLOTS) {
        return;
    }
    const int32_t slot = (t->first + t->count++) % KHZ_TWIN_SLOTS;
    unsigned char *at = t->slots + (size_t)slot * eights(khz_wire_size(g->n[KHZ_RECEIVE], KHZ_WIRE_CRC));
    (void)khz_wire_write(at, m, t->values);
    at[0] ^= corrupt ? 0x20 : 0;
    t->due[slot] = cycle + 1 + t->delay;
}

void khz_twin_send(khz_messenger *g, uint64_t cycle)
{
    khz_twin *t = &g->twin;
    khz_message m;
    if (!khz_wire_check(g->out, g->n_out, g->n[KHZ_SEND], g->need_crc, &m)) {
        return;
    }
    khz_wire_values(g->out, &m, t->values);
    const uint64_t n = ++t->n;
    m.echo = (uint32_t)m.sequence;
    m.session = ~m.session;
    m.count = g->n[KHZ_RECEIVE];
    if (t->drop_every && n % t->drop_every == 0) {
        return;
    }
    twin_push(g, cycle, &m, t->corrupt_every && n % t->corrupt_every == 0);
    if (t->repeat_every && n % t->repeat_every == 0) {
        twin_push(g, cycle, &m, 0);
    }
}

size_t khz_twin_receive(khz_messenger *g, uint64_t cycle, unsigned char *in)
{
    khz_twin *t = &g->twin;
    if (t->count == 0 || t->due[t->first] > cycle) {
        return 0;
    }
    memcpy(in, t->slots + (size_t)t->first * eights(khz_wire_size(g->n[KHZ_RECEIVE], KHZ_WIRE_CRC)), g->n_in);
    t->first = (t->first + 1) % KHZ_TWIN_SLOTS;
    t->count--;
    return g->n_in;
}
