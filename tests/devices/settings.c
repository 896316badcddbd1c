/* Settings that make no sense, for every driver, in memory of exactly the size it asks for: a message, and no byte
 * outside. */
#include <string.h>

#include "check.h"
#include "khz_ports.h"

static const char *const wrong[][2] = {
    {"max_messages", "0"},
    {"max_messages", "1"},
    {"max_messages", "x"},
    {"simulated", "maybe"},
    {"crc", "2"},
    {"endian", "middle"},
    {"restart_after", "-1"},
    {"sim_delay", "1000"},
    {"any_source", "?"},
    {"local", "nowhere"},
    {"listen", "nowhere"},
    {"remote", "nowhere"},
    {"retry", "0"},
    {"baud", "1"},
    {"path", "/nowhere"},
    {"segment", "x/y"},
    {"peer", "x"},
    {"words", "odd"},
    {"unit", "256"},
    {"poll", "-1"},
    {"read", "coil"},
    {"answer_within", "0"},
    {"every", "0"},
    {"interface", "a name too long for any interface"},
    {"library", "libnothing.so"},
    {"cut_from", "-1"},
    {"send.0.address", "nowhere"},
    {"send.1.address", "-1"},
    {"receive.0.address", ""},
    {"receive.1.address", "0:x"},
    {"n_send", "5000"},
    {"n_receive", "x"},
    {"receive.1.delay", "x"},
    {"send.0.bits", "40"},
    {"timeout", "x"},
};

/* Open with one wrong setting; whether it was refused.  Others are such that nothing outside this process is
 * touched. */
static int refused(const char *driver, const char *key, const char *value)
{
    const int is_can = strcmp(driver, "can") == 0;
    const khz_device_setting settings[] = {
        {key, value},
        {"driver", driver},
        {"n_receive", "2"},
        {"n_send", "2"},
        {"simulated", "true"},
        {"sim_repeat_every", "1"},
        {"receive.0.address", is_can ? "1:0|8@1+" : "0"},
        {"receive.1.address", is_can ? "2:0|8@1+" : "2"},
        {"send.0.address", is_can ? "3:0|8@1+" : "1"},
        {"send.1.address", is_can ? "4:0|8@1+" : "3"},
    };
    const khz_device_config c = {"test", sizeof settings / sizeof settings[0], settings};
    char message[120] = "";
    const size_t n = khz_port_size(&c);
    unsigned char *exact = aligned_alloc(64, (n + 63) / 64 * 64);
    CHECK(exact);
    const khz_status status = khz_port_open(exact, &c, message, sizeof message);
    if (status == KHZ_OK) {
        khz_port *p = (khz_port *)(void *)exact;
        for (uint64_t k = 0; k < 100; k++) {
            double in[2];
            const double out[2] = {(double)k, -(double)k};
            (void)khz_port_receive(p, k, (int64_t)k, in);
            (void)khz_port_send(p, k, (int64_t)k, out, 0);
        }
        khz_port_close(p);
    } else {
        CHECK(strncmp(message, "test: ", 6) == 0);
    }
    free(exact);
    return status != KHZ_OK;
}

int main(void)
{
    int n_refused = 0;
    for (int i = 0; khz_device_all()[i] != NULL; i++) {
        const char *driver = khz_device_all()[i]->name;
        CHECK(!refused(driver, "nothing", "x"));
        for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
            n_refused += refused(driver, wrong[k][0], wrong[k][1]);
        }
        CHECK(refused(driver, "n_send", "5000") && refused(driver, "receive.0.delay", "-1"));
        CHECK(strcmp(driver, "loopback") == 0 || refused(driver, "simulated", "maybe"));
    }
    CHECK(n_refused > 80);
    return 0;
}
