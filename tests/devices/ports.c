#include <string.h>

#include "check.h"
#include "khz_ports.h"

static _Alignas(64) unsigned char memory[1 << 16];
static char message[200];

static khz_port *opened(const khz_device_setting *settings, int32_t n)
{
    const khz_device_config c = {"test", n, settings};
    CHECK(khz_port_size(&c) <= sizeof memory);
    memset(memory, 0xff, sizeof memory);
    const khz_status status = khz_port_open(memory, &c, message, sizeof message);
    if (status != KHZ_OK) {
        (void)fprintf(stderr, "%s\n", message);
    }
    CHECK(status == KHZ_OK);
    return (khz_port *)(void *)memory;
}
#define OPENED(settings) opened(settings, (int32_t)(sizeof settings / sizeof settings[0]))

static int refused(const char *key, const char *value)
{
    const khz_device_setting settings[] = {{key, value}, {"driver", "loopback"}, {"n_receive", "1"}, {"n_send", "1"}};
    const khz_device_config c = {"test", 4, settings};
    return khz_port_size(&c) <= sizeof memory && khz_port_open(memory, &c, message, sizeof message) != KHZ_OK &&
           strncmp(message, "test: ", 6) == 0;
}

/* On the way in: model = gain*raw + offset, cut, on the grid of the converter, late. */
static void test_conversion(void)
{
    const khz_device_setting settings[] = {
        {"driver", "loopback"},     {"n_receive", "3"},         {"n_send", "3"},          {"receive.0.name", "plant.u"},
        {"receive.0.gain", "2"},    {"receive.0.offset", "-1"}, {"receive.0.max", "4"},   {"receive.1.bits", "2"},
        {"receive.1.low", "-3"},    {"receive.1.high", "3"},    {"receive.2.delay", "2"}, {"receive.2.default", "7"},
        {"send.0.name", "plant.y"}, {"send.0.safe", "0.5"},     {"send.0.gain", "3"},
    };
    khz_port *p = OPENED(settings);
    double in[3], out[3] = {1.0, 0.4, 10.0};
    CHECK(khz_port_count(p, KHZ_RECEIVE) == 3 && strcmp(khz_port_signal(p, KHZ_RECEIVE, 0), "plant.u") == 0);
    CHECK(strcmp(khz_port_signal(p, KHZ_SEND, 0), "plant.y") == 0);
    CHECK(khz_port_receive(p, 0, 0, in) == 0 && in[0] == 0.0 && in[2] == 7.0);
    CHECK(khz_port_send(p, 0, 0, out, 0) == KHZ_PORT_FRESH);
    CHECK(khz_port_receive(p, 1, 1, in) == KHZ_PORT_FRESH);
    CHECK(in[0] == 4.0 && in[1] == 1.0 && in[2] == 7.0); /* 3*1, 2*3 - 1 cut to 4; steps of 2; two cycles late */
    CHECK(khz_port_counters(p)->n_saturated == 1);
    out[0] = 0.5, out[1] = -100.0, out[2] = 11.0;
    (void)khz_port_send(p, 1, 1, out, 0);
    (void)khz_port_receive(p, 2, 2, in);
    CHECK(in[0] == 2.0 && in[1] == -3.0 && in[2] == 7.0);
    CHECK(khz_port_receive(p, 3, 3, in) == 0 && in[0] == 2.0 && in[2] == 10.0);
    (void)khz_port_send(p, 3, 3, out, 1);
    (void)khz_port_receive(p, 4, 4, in);
    CHECK(in[0] == 2.0 && in[1] == 1.0 && in[2] == 11.0); /* safe: 0.5, 0, 0 */
    CHECK(khz_port_counters(p)->n_not_finite == 0);
    static const double odd[] = {NAN, INFINITY, -INFINITY, 1e308};
    for (uint64_t k = 0; k < 4; k++) { /* 3*1e308 is no number either */
        out[0] = odd[k], out[1] = 0.4;
        (void)khz_port_send(p, 4 + k, (int64_t)(4 + k), out, 0);
        (void)khz_port_receive(p, 5 + k, (int64_t)(5 + k), in);
        CHECK(in[0] == 2.0 && in[1] == 1.0); /* safe: 3*0.5, 2*1.5 - 1; the other signal as it is */
        CHECK(khz_port_counters(p)->n_not_finite == k + 1);
    }
    khz_port_close(p);
}

/* A link cut from cycle 3 to 7 with a time-out of two cycles. */
static void test_loss(const char *policy, double expected, uint32_t flags)
{
    const khz_device_setting settings[] = {
        {"driver", "loopback"},   {"n_receive", "1"},   {"n_send", "1"},
        {"on_loss", policy},      {"timeout", "0.002"}, {"receive.0.default", "-1"},
        {"receive.0.safe", "-2"}, {"cut_from", "3"},    {"cut_until", "8"},
    };
    khz_port *p = OPENED(settings);
    for (uint64_t k = 0; k < 12; k++) {
        double in = 99.0;
        const double out = (double)(k + 1);
        const uint32_t got = khz_port_receive(p, k, (int64_t)k * 1000000, &in);
        if (k == 0) {
            CHECK(in == -1.0 && got == 0);
        } else if (k < 3 || k >= 8) {
            CHECK(in == (double)k && got == KHZ_PORT_FRESH);
        } else if (k < 5) {
            CHECK(in == 2.0 && got == 0);
        } else {
            CHECK(in == expected && got == flags);
        }
        (void)khz_port_send(p, k, (int64_t)k * 1000000, &out, 0);
    }
    CHECK(khz_port_counters(p)->n_timeouts == 1 && khz_port_counters(p)->n_sent == 12);
    CHECK(khz_port_counters(p)->n_received == 6);
    khz_port_close(p);
}

int main(void)
{
    test_conversion();
    test_loss("hold", 2.0, KHZ_PORT_LOST);
    test_loss("default", -1.0, KHZ_PORT_LOST);
    test_loss("safe", -2.0, KHZ_PORT_LOST);
    test_loss("stop", 2.0, KHZ_PORT_LOST | KHZ_PORT_STOP);

    CHECK(refused("driver", "carrier pigeon") && refused("n_receive", "-1") && refused("n_send", "1e3"));
    CHECK(refused("on_loss", "panic") && refused("timeout", "-1") && refused("timeout", "soon"));
    CHECK(refused("receive.0.gain", "two") && refused("receive.0.gain", "inf") && refused("receive.0.delay", "0.5"));
    CHECK(refused("receive.0.delay", "-1") && refused("receive.0.bits", "12") && refused("send.0.safe", "nan"));
    CHECK(refused("receive.0.min", "nan") && refused("every", "0"));
    return 0;
}
