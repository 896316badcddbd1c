/* Addresses of sockets: `127.0.0.1:5000`, `[::1]:5000`, `localhost:5000`, `:5000` and `5000` (both on loopback).
 * Numeric only: no name service is asked. */
#ifndef KHZ_ADDRESS_H
#define KHZ_ADDRESS_H

#include <sys/socket.h>

/* 1 and the address, 0 where the text is none. */
int khz_address_read(const char *text, struct sockaddr_storage *address, socklen_t *n);
int khz_address_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

#endif
