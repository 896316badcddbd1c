/* The bridge thread: our Modbus client against our server, which goes and comes back; for the sanitizers' eyes. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "khz_ports.h"

static _Alignas(64) unsigned char plc_memory[1 << 14], task_memory[1 << 14];
static char listen_at[32], message[200];
static _Atomic int stop;

static void nap(void) { (void)nanosleep(&(struct timespec){0, 500000}, NULL); }

static khz_port *opened(void *memory, const khz_device_setting *settings, int32_t n)
{
    const khz_device_config c = {"test", n, settings};
    CHECK(khz_port_size(&c) <= sizeof plc_memory);
    CHECK(khz_port_open(memory, &c, message, sizeof message) == KHZ_OK);
    return memory;
}

/* A PLC that doubles what it is told. */
static void *plc(void *unused)
{
    const khz_device_setting settings[] = {
        {"driver", "modbus-server"}, {"listen", listen_at}, {"n_receive", "1"}, {"n_send", "1"}};
    khz_port *p = opened(plc_memory, settings, 4);
    double in, out;
    for (uint64_t k = 0; !atomic_load(&stop); k++) {
        (void)khz_port_receive(p, k, 0, &in);
        out = 2.0 * in;
        (void)khz_port_send(p, k, 0, &out, 0);
        nap();
    }
    khz_port_close(p);
    return unused;
}

static void free_address(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)(const void *)&a, sizeof a) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)(void *)&a, &n) == 0);
    (void)snprintf(listen_at, sizeof listen_at, ":%d", ntohs(a.sin_port));
    close(fd);
}

int main(void)
{
    free_address();
    const khz_device_setting settings[] = {
        {"driver", "modbus-client"}, {"remote", listen_at}, {"n_receive", "1"},      {"n_send", "1"},
        {"read", "input"},           {"poll", "0.001"},     {"answer_within", "0.3"}};
    khz_port *p = opened(task_memory, settings, 7);
    uint64_t k = 0;
    for (int turn = 1; turn <= 2; turn++) {
        pthread_t thread;
        const double out = 1.5 * turn;
        double in = 0.0;
        atomic_store(&stop, 0);
        CHECK(pthread_create(&thread, NULL, plc, NULL) == 0);
        for (int i = 0; i < 60000 && in != 2.0 * out; i++, k++) {
            (void)khz_port_receive(p, k, 0, &in);
            (void)khz_port_send(p, k, 0, &out, 0);
            nap();
        }
        CHECK(in == 2.0 * out);
        atomic_store(&stop, 1);
        CHECK(pthread_join(thread, NULL) == 0);
        uint32_t flags = 0;
        for (int i = 0; i < 60000 && !(flags & KHZ_PORT_DOWN); i++, k++) {
            flags = khz_port_receive(p, k, 0, &in);
            nap();
        }
        CHECK(flags & KHZ_PORT_DOWN);
        CHECK(in == 2.0 * out);
    }
    CHECK(khz_port_counters(p)->n_links == 2);
    khz_port_close(p);
    return 0;
}
