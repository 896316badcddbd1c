/* CAN without a bus: a million random frames, limits, and the simulated node. */
#include <string.h>

#include "check.h"
#include "khz_can.h"
#include "khz_ports.h"

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static char message[200];
static const khz_device_setting settings[] = {
    {"driver", "can"},
    {"simulated", "true"},
    {"n_receive", "4"},
    {"n_send", "4"},
    {"receive.0.address", "0x100:0|16@1-"},
    {"receive.1.address", "0x100:23|10@0+"},
    {"receive.2.address", "0x12345:0|64@1f"},
    {"receive.3.address", "5x:7|32@0f"},
    {"send.0.address", "1:0|8@1-"},
    {"send.1.address", "1:8|8@1+"},
    {"send.2.address", "2:0|64@1f"},
    {"send.3.address", "3:0|32@1f"},
};
static const khz_device_config config = {"test", sizeof settings / sizeof settings[0], settings};

static void test_random_frames(void)
{
    khz_can_signal signals[4];
    khz_can_frame frames[4];
    khz_can_map m = {.signals = signals, .frames = frames};
    memset(frames, 0, sizeof frames);
    CHECK(khz_can_map_open(&m, &config, KHZ_RECEIVE, message, sizeof message) == KHZ_OK);
    CHECK(m.n_frames == 3 && frames[0].n == 4 && frames[1].extended && frames[2].extended && frames[2].n == 4);
    int n_taken = 0;
    for (int i = 0; i < 1000000; i++) {
        static const uint32_t ids[4] = {0x100, 0x12345, 5, 0x101};
        const uint64_t r = next(), bytes = next();
        double values[4] = {1.0, 2.0, 3.0, 4.0};
        const int32_t n = (int32_t)(r >> 8) & 7, id = (int32_t)(r & 3);
        const int result = khz_can_decode(&m, ids[id], id == 1 || id == 2, (const unsigned char *)&bytes, n, values);
        CHECK(isfinite(values[0]) && isfinite(values[1]) && isfinite(values[2]) && isfinite(values[3]));
        CHECK(result == 1 || (values[0] == 1.0 && values[1] == 2.0 && values[2] == 3.0 && values[3] == 4.0));
        CHECK(id != 3 || result == -1);
        CHECK(fabs(values[0]) <= 32768.0 && values[1] >= 0.0 && values[1] <= 1023.0);
        n_taken += result == 1;
    }
    CHECK(n_taken > 100000);
}

static void test_twin(void)
{
    static _Alignas(64) unsigned char memory[1 << 14];
    CHECK(khz_port_size(&config) <= sizeof memory && khz_port_open(memory, &config, message, sizeof message) == KHZ_OK);
    khz_port *p = (khz_port *)(void *)memory;
    double in[4];
    const double out[4] = {-300.0, 77.6, -0.1, 0.1}, low[4] = {5.4, -3.0, 1e300, 1e300};
    CHECK(khz_port_receive(p, 0, 0, in) == 0);
    CHECK(khz_port_send(p, 0, 0, out, 0) == KHZ_PORT_FRESH && khz_port_receive(p, 1, 0, in) == KHZ_PORT_FRESH);
    CHECK(in[0] == -128.0 && in[1] == 78.0 && in[2] == -0.1 && in[3] == (double)0.1f);
    (void)khz_port_send(p, 1, 0, low, 0);
    (void)khz_port_receive(p, 2, 0, in);
    CHECK(in[0] == 5.0 && in[1] == 0.0 && in[2] == 1e300 && in[3] > 3.4e38 && isfinite(in[3]));
    CHECK(khz_port_counters(p)->n_sent == 6 && khz_port_counters(p)->n_received == 6);
    khz_port_close(p);
}

static int refused(const char *text)
{
    khz_can_signal s;
    return !khz_can_address(text, &s);
}

int main(void)
{
    test_random_frames();
    test_twin();
    CHECK(refused("") && refused("1") && refused("1:0|8") && refused("1:0|8@1") && refused("1:0|8@2+"));
    CHECK(refused("1:0|8@1*") && refused("1:60|8@1+") && refused("1:57|8@0+") && refused("1:0|65@1+"));
    CHECK(refused("1:0|16@1f") && refused("0x20000000:0|8@1+") && refused("-1:0|8@1+") && refused("1:0|8@1+ "));
    CHECK(refused("1:0|0@1+") && refused("x:0|8@1+") && !refused("1:63|8@0+") && !refused("0x7ff:0|1@1+"));

    khz_can_signal signals[2];
    khz_can_frame frames[2];
    khz_can_map m = {.signals = signals, .frames = frames};
    const khz_device_setting twice[] = {
        {"n_send", "2"}, {"send.0.address", "1:0|8@1+"}, {"send.1.address", "1:7|2@1+"}};
    const khz_device_config c = {"test", 3, twice};
    memset(frames, 0, sizeof frames);
    CHECK(khz_can_map_open(&m, &c, KHZ_SEND, message, sizeof message) != KHZ_OK && strstr(message, "another signal"));
    return 0;
}
