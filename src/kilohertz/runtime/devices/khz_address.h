/* Addresses of sockets: `127.0.0.1:5000`, `[::1]:5000`, `localhost:5000`, `:5000` and `5000` (both on loopback).
 * Numeric only: no name service is asked. */
#ifndef KHZ_ADDRESS_H
#define KHZ_ADDRESS_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static inline int khz_port_read(const char *text, in_port_t *port)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 0 || value > 65535) {
        return 0;
    }
    *port = htons((uint16_t)value);
    return 1;
}

/* 1 and the address, 0 where the text is none. */
static inline int khz_address_read(const char *text, struct sockaddr_storage *address, socklen_t *n)
{
    char host[64] = "127.0.0.1";
    const char *colon = strrchr(text, ':');
    in_port_t port;
    if (!khz_port_read(colon != NULL ? colon + 1 : text, &port)) {
        return 0;
    }
    const size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    if (length >= sizeof host) {
        return 0;
    }
    if (length > 0 && strncmp(text, "localhost:", 10) != 0) {
        memcpy(host, text, length);
        host[length] = '\0';
    }
    memset(address, 0, sizeof *address);
    if (host[0] == '[' && host[strlen(host) - 1] == ']') {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)address;
        host[strlen(host) - 1] = '\0';
        six->sin6_family = AF_INET6;
        six->sin6_port = port;
        *n = sizeof *six;
        return inet_pton(AF_INET6, host + 1, &six->sin6_addr) == 1;
    }
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)address;
    four->sin_family = AF_INET;
    four->sin_port = port;
    *n = sizeof *four;
    return inet_pton(AF_INET, host, &four->sin_addr) == 1;
}

static inline int khz_address_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family) {
        return 0;
    }
    if (a->ss_family == AF_INET) {
        const struct sockaddr_in *x = (const struct sockaddr_in *)(const void *)a;
        const struct sockaddr_in *y = (const struct sockaddr_in *)(const void *)b;
        return x->sin_port == y->sin_port && x->sin_addr.s_addr == y->sin_addr.s_addr;
    }
    const struct sockaddr_in6 *x = (const struct sockaddr_in6 *)(const void *)a;
    const struct sockaddr_in6 *y = (const struct sockaddr_in6 *)(const void *)b;
    return x->sin6_port == y->sin6_port && memcmp(&x->sin6_addr, &y->sin6_addr, sizeof x->sin6_addr) == 0;
}

/* A socket that listens there without blocking; -1 with errno where that fails. */
static inline int khz_listen(const struct sockaddr_storage *address, socklen_t n)
{
    const int one = 1;
    const int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
        bind(fd, (const struct sockaddr *)(const void *)address, n) == 0 && listen(fd, 4) == 0) {
        return fd;
    }
    const int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

#endif
