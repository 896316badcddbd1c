/* A million random datagrams from the peer's own address through a real socket: nothing but a counter changes. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "khz_ports.h"
#include "khz_wire.h"

enum { BURST = 16, TURNS = 62500, ROOM = 96, POOL = 1 << 16 };

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static int peer_socket(struct sockaddr_in *own)
{
    socklen_t n = sizeof *own;
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    *own = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)(const void *)own, sizeof *own) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)(void *)own, &n) == 0);
    return fd;
}

int main(void)
{
    static _Alignas(64) unsigned char memory[1 << 16];
    static unsigned char bytes[BURST][ROOM], pool[POOL];
    static struct mmsghdr headers[BURST];
    static struct iovec vectors[BURST];
    struct sockaddr_in own, task;
    char remote[32], local[32], message[200];

    /* A free port for the task, by binding one and letting it go. */
    close(peer_socket(&task));
    const int peer = peer_socket(&own);
    (void)snprintf(remote, sizeof remote, ":%d", ntohs(own.sin_port));
    (void)snprintf(local, sizeof local, ":%d", ntohs(task.sin_port));
    const khz_device_setting settings[] = {
        {"driver", "udp"}, {"n_receive", "2"}, {"n_send", "1"}, {"local", local}, {"remote", remote}};
    const khz_device_config c = {"test", 5, settings};
    CHECK(khz_port_size(&c) <= sizeof memory && khz_port_open(memory, &c, message, sizeof message) == KHZ_OK);
    khz_port *p = (khz_port *)(void *)memory;
    CHECK(connect(peer, (const struct sockaddr *)(const void *)&task, sizeof task) == 0);

    double in[2], values[2] = {1.0, 2.0};
    khz_message m = {.session = 5u, .sequence = 1, .count = 2};
    CHECK(send(peer, bytes[0], khz_wire_write(bytes[0], &m, values), 0) > 0);
    CHECK(khz_port_receive(p, 0, 0, in) == KHZ_PORT_FRESH);
    for (size_t k = 0; k < POOL; k += 8) {
        const uint64_t word = next();
        memcpy(pool + k, &word, 8);
    }
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < BURST; i++) {
            const uint64_t r = next();
            memcpy(bytes[i], pool + r % (POOL - ROOM), ROOM);
            if (i % 2) {
                memcpy(bytes[i], "KHZP\1\0\2", 8);         /* a good head; values and size at random */
                bytes[i][39] = 0x7f, bytes[i][38] |= 0xf0; /* at least one of them is not finite */
            }
            vectors[i] = (struct iovec){bytes[i], i % 4 == 1 ? 48 : (r >> 32) % ROOM};
            headers[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1};
        }
        CHECK(sendmmsg(peer, headers, BURST, 0) == BURST);
        CHECK(khz_port_receive(p, (uint64_t)turn + 1, 0, in) == 0 && in[0] == 1.0 && in[1] == 2.0);
    }
    const khz_device_counters *n = khz_port_counters(p);
    CHECK(n->n_malformed == (uint64_t)BURST * TURNS && n->n_received == 1 && n->n_flooded == TURNS);
    CHECK(n->n_replayed == 0 && n->n_missing == 0 && n->n_links == 1);
    m.sequence = 2, values[0] = 3.0;
    CHECK(send(peer, bytes[0], khz_wire_write(bytes[0], &m, values), 0) > 0);
    CHECK(khz_port_receive(p, 1u << 20, 0, in) == KHZ_PORT_FRESH && in[0] == 3.0);
    khz_port_close(p);
    close(peer);
    return 0;
}
