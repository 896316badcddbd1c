/* Messages: what is written is read back; nothing else is taken, whatever the bytes. */
#include <string.h>

#include "check.h"
#include "khz_ports.h"
#include "khz_wire.h"

enum { N = 3, RANDOM = 200000 };

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void test_round_trip(void)
{
    for (int flags = 0; flags < 4; flags++) {
        const khz_message m = {7u, 9u, 1234567890123u, -5, flags, N};
        const double values[N] = {1.5, -0.0, 1e-308};
        unsigned char bytes[KHZ_WIRE_HEAD + 8 * N + 4];
        khz_message got;
        double back[N];
        const size_t n = khz_wire_write(bytes, &m, values);
        CHECK(n == khz_wire_size(N, flags) && khz_wire_check(bytes, n, N, 0, &got));
        khz_wire_values(bytes, &got, back);
        CHECK(memcmp(&got, &m, sizeof m) == 0 && memcmp(back, values, sizeof values) == 0);
        CHECK(khz_wire_check(bytes, n, N, 1, &got) == ((flags & KHZ_WIRE_CRC) != 0));
        CHECK(!khz_wire_check(bytes, n, N - 1, 0, &got));
        for (size_t shorter = 0; shorter < n; shorter++) {
            CHECK(!khz_wire_check(bytes, shorter, N, 0, &got));
        }
        for (size_t bit = 0; (flags & KHZ_WIRE_CRC) && bit < 8 * n; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            CHECK(!khz_wire_check(bytes, n, N, 1, &got));
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
    CHECK(khz_crc32((const unsigned char *)"123456789", 9) == 0xcbf43926u); /* the check value of CRC-32 */
}

static void test_not_finite(void)
{
    const double values[2][1] = {{NAN}, {-INFINITY}};
    for (int i = 0; i < 2; i++) {
        const khz_message m = {1u, 0u, 1u, 0, i, 1};
        unsigned char bytes[KHZ_WIRE_HEAD + 8];
        khz_message got;
        CHECK(!khz_wire_check(bytes, khz_wire_write(bytes, &m, values[i]), 1, 0, &got));
    }
}

static void test_gate(void)
{
    khz_gate g = {0};
    uint64_t missing;
    khz_message m = {.session = 5u, .sequence = 10};
    CHECK(khz_gate_admit(&g, &m, 0, 100, &missing) == KHZ_GATE_ANEW && missing == 0);
    CHECK(khz_gate_admit(&g, &m, 1, 100, &missing) == KHZ_GATE_OLD);
    m.sequence = 14;
    CHECK(khz_gate_admit(&g, &m, 2, 100, &missing) == KHZ_GATE_TAKEN && missing == 3);
    m.sequence = 12;
    CHECK(khz_gate_admit(&g, &m, 3, 100, &missing) == KHZ_GATE_OLD);
    m.session = 6u, m.sequence = 1;
    CHECK(khz_gate_admit(&g, &m, 102, 100, &missing) == KHZ_GATE_OLD); /* the other one is still there */
    CHECK(khz_gate_admit(&g, &m, 103, 100, &missing) == KHZ_GATE_ANEW && missing == 0);
}

/* Random bytes, random bytes behind a good head, and good messages with one bit turned. */
static void test_random(void)
{
    const khz_message good = {7u, 0u, 1u, 0, KHZ_WIRE_CRC, N};
    const double values[N] = {1.0, 2.0, 3.0};
    unsigned char bytes[128];
    khz_message got;
    for (int i = 0; i < RANDOM; i++) {
        const uint64_t r = next();
        size_t n = r % sizeof bytes;
        if (i % 3 == 2) {
            n = khz_wire_write(bytes, &good, values);
            bytes[r / 8 % n] ^= (unsigned char)(1u << r % 8);
        } else {
            for (size_t k = 0; k < sizeof bytes; k += 8) {
                const uint64_t word = next();
                memcpy(bytes + k, &word, 8);
            }
            if (i % 3 == 1) {
                memcpy(bytes, "KHZP\1\2", 6);
            }
        }
        CHECK(!khz_wire_check(bytes, n, N, 1, &got));
    }
}

/* The simulated peer of the driver, with faults: only counters tell. */
static void test_twin(const char *driver)
{
    const khz_device_setting settings[] = {
        {"driver", driver},         {"simulated", "true"},
        {"n_receive", "2"},         {"n_send", "2"},
        {"endian", "big"},          {"crc", "true"},
        {"sim_delay", "1"},         {"sim_drop_every", "5"},
        {"sim_corrupt_every", "7"}, {"sim_repeat_every", "11"},
    };
    static _Alignas(64) unsigned char memory[1 << 18];
    const khz_device_config c = {"test", sizeof settings / sizeof settings[0], settings};
    char message[200];
    CHECK(khz_port_size(&c) <= sizeof memory && khz_port_open(memory, &c, message, sizeof message) == KHZ_OK);
    khz_port *p = (khz_port *)(void *)memory;
    double last = 0.0;
    for (uint64_t k = 0; k < 77; k++) {
        double in[2];
        const double out[2] = {(double)(k + 1), -(double)(k + 1)};
        const uint32_t flags = khz_port_receive(p, k, (int64_t)k, in);
        /* message k was sent in cycle k - 1 and comes two cycles later */
        const int dropped = k >= 2 && (k - 1) % 5 == 0, corrupt = k >= 2 && (k - 1) % 7 == 0;
        CHECK((flags == KHZ_PORT_FRESH) == (k >= 2 && !dropped && !corrupt));
        last = flags == KHZ_PORT_FRESH ? (double)(k - 1) : last;
        CHECK(in[0] == last && in[1] == -last);
        CHECK(khz_port_send(p, k, (int64_t)k, out, 0) == KHZ_PORT_FRESH);
    }
    const khz_device_counters *n = khz_port_counters(p);
    CHECK(n->n_sent == 77 && n->n_malformed == 8 && n->n_links == 1); /* 7, 14, ... 70 without 35 and 70 */
    CHECK(n->n_replayed == 5 && n->n_received == 75 - 15 - 8);        /* 11, 22, 33, 44, 66: 55 was dropped */
    khz_port_close(p);
}

int main(void)
{
    test_round_trip();
    test_not_finite();
    test_gate();
    test_random();
    test_twin("udp");
    test_twin("tcp");
    test_twin("serial");
    return 0;
}
