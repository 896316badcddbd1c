/* Modbus without sockets: types, word order, requests, a million random requests, and both simulated peers. */
#include <string.h>

#include "check.h"
#include "khz_modbus.h"
#include "khz_ports.h"

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static char message[200];

/* Types and word order against registers written down by hand. */
static void test_registers(void)
{
    const khz_device_setting settings[] = {
        {"n_send", "6"},
        {"words", "big"},
        {"send.0.address", "0:i16"},
        {"send.1.address", "1:u16"},
        {"send.2.address", "2:i32"},
        {"send.3.address", "4:u32"},
        {"send.4.address", "6"},
        {"send.5.address", "8:f64"},
    };
    const khz_device_config c = {"test", 8, settings};
    khz_modbus_signal signals[6];
    khz_modbus_map m = {.signals = signals};
    uint16_t r[12];
    double back[6];
    const double values[6] = {-2.4, 70000.0, -65537.0, 4294967295.0, 1.5, -0.1};
    const uint16_t expected[12] = {0xfffe, 0xffff, 0xfffe, 0xffff, 0xffff, 0xffff,
                                   0x3fc0, 0,      0xbfb9, 0x9999, 0x9999, 0x999a};
    CHECK(khz_modbus_registers(&c, KHZ_SEND) == 12 && khz_modbus_registers(&c, KHZ_RECEIVE) == 0);
    CHECK(khz_modbus_map_open(&m, &c, KHZ_SEND, message, sizeof message) == KHZ_OK);
    khz_modbus_encode(&m, values, r);
    CHECK(memcmp(r, expected, sizeof r) == 0);
    CHECK(khz_modbus_decode(&m, r, back) && back[0] == -2.0 && back[1] == 65535.0 && back[2] == -65537.0);
    CHECK(back[3] == 4294967295.0 && back[4] == 1.5 && back[5] == -0.1);
    m.little = 1;
    khz_modbus_encode(&m, values, r);
    CHECK(r[6] == 0 && r[7] == 0x3fc0 && r[8] == 0x999a && r[11] == 0xbfb9 && khz_modbus_decode(&m, r, back));
    r[7] = 0x7fc0; /* NaN */
    back[0] = 3.0;
    CHECK(!khz_modbus_decode(&m, r, back) && back[0] == 3.0);
}

static void test_random_requests(void)
{
    enum { N = 20, GUARD = 0x5a5a };
    uint16_t store[N + N + 2];
    unsigned char q[KHZ_MODBUS_PDU + 20], out[KHZ_MODBUS_PDU];
    khz_modbus_image image = {store + 1, store + 1 + N, N, N};
    int result, n_written = 0;
    memset(store, 0, sizeof store);
    store[0] = store[2 * N + 1] = GUARD;
    for (int i = 0; i < 1000000; i++) {
        static const unsigned char functions[8] = {3, 4, 6, 16, 23, 1, 0x2b, 0x90};
        const uint64_t r = next();
        memset(q, 0, 24);
        q[0] = functions[r % 8];
        q[2] = (unsigned char)(r >> 8) % 24;
        q[4] = (unsigned char)(r >> 16) % 24;
        q[5] = (unsigned char)(2 * q[4]);
        q[1] = (r >> 24) % 16 == 0 ? (unsigned char)(r >> 32) : 0;
        q[7] = q[q[0] == 23 ? 2 : 8];
        q[8] = 1;
        q[9] = 2;
        const size_t whole = q[0] == 16 ? 6u + q[5] : q[0] == 23 ? 12u : 5u;
        const size_t n = (r >> 40) % 4 == 0 ? (r >> 42) % (sizeof q + 1) : whole;
        const size_t size = khz_modbus_answer(&image, q, n, out, &result);
        CHECK(size >= 2 && size <= KHZ_MODBUS_PDU && result >= -1 && result <= 1);
        CHECK((result == -1) == ((out[0] & 0x80) != 0));
        n_written += result == 1;
    }
    CHECK(store[0] == GUARD && store[2 * N + 1] == GUARD && n_written > 1000);
    for (int i = 0; i < N; i++) {
        CHECK(image.input[i] == 0); /* nobody writes input registers */
    }
}

static void test_twin(const char *driver)
{
    const khz_device_setting settings[] = {
        {"driver", driver},
        {"simulated", "true"},
        {"n_receive", "2"},
        {"n_send", "3"},
        {"receive.0.address", "10:f64"},
        {"receive.1.address", "4:i16"},
        {"send.0.address", "4:f32"},
        {"send.1.address", "0:f64"},
    };
    static _Alignas(64) unsigned char memory[1 << 16];
    const khz_device_config c = {"test", 8, settings};
    CHECK(khz_port_size(&c) <= sizeof memory && khz_port_open(memory, &c, message, sizeof message) != KHZ_OK);
    CHECK(strstr(message, "in common")); /* send.2 would be register 4 too */
    const khz_device_setting more[] = {
        {"driver", driver},
        {"simulated", "true"},
        {"n_receive", "2"},
        {"n_send", "3"},
        {"receive.0.address", "10:f64"},
        {"receive.1.address", "4:i16"},
        {"send.0.address", "6:f32"},
        {"send.1.address", "0:f64"},
    };
    const khz_device_config good = {"test", 8, more};
    CHECK(khz_port_open(memory, &good, message, sizeof message) == KHZ_OK);
    khz_port *p = (khz_port *)(void *)memory;
    double in[2], out[3] = {0.1, 41.6, 0.0};
    CHECK(khz_port_receive(p, 0, 0, in) == 0);
    for (uint64_t k = 1; k < 5; k++) {
        out[0] = 0.1 * (double)k;
        CHECK(khz_port_send(p, k, 0, out, 0) == KHZ_PORT_FRESH && khz_port_receive(p, k, 0, in) == KHZ_PORT_FRESH);
        CHECK(in[0] == (double)(float)out[0] && in[1] == 42.0); /* as exact as the wire is */
    }
    CHECK(khz_port_receive(p, 9, 0, in) == 0 && in[1] == 42.0);
    khz_port_close(p);
}

static int refused(const char *address)
{
    const khz_device_setting settings[] = {{"n_receive", "1"}, {"receive.0.address", address}};
    const khz_device_config c = {"test", 2, settings};
    return khz_modbus_registers(&c, KHZ_RECEIVE) < 0;
}

int main(void)
{
    test_registers();
    test_random_requests();
    test_twin("modbus-server");
    test_twin("modbus-client");
    CHECK(refused("") && refused("x") && refused("-1") && refused("1:f16") && refused("65535") && refused("3 "));
    CHECK(!refused("65534") && !refused("65535:u16"));
    return 0;
}
