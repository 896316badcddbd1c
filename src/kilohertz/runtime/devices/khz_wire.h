/* What goes over the wire between the task and a controller.  Needs libc alone; both ends include it.
 *
 * A message, packed, numbers in the byte order that bit 0 of the flags names:
 *
 *     at  bytes  what
 *      0      4  the letters K H Z P
 *      4      1  version, 1
 *      5      1  flags: bit 0 numbers are big endian; bit 1 a CRC ends the message; all others 0
 *      6      2  count: number of values
 *      8      4  session: drawn anew whenever the sender starts
 *     12      4  echo: the lowest 32 bits of the sequence number that the sender took last; 0 where there was none
 *     16      8  sequence: 1, 2, 3, ... within a session
 *     24      8  time stamp in ns, of the sender's own clock, signed
 *     32      8*count  the values, IEEE 754 doubles
 *     then    4  CRC-32 (IEEE 802.3, as in zlib) of all bytes before, where bit 1 of the flags is set */
#ifndef KHZ_WIRE_H
#define KHZ_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { KHZ_WIRE_HEAD = 32, KHZ_WIRE_VERSION = 1, KHZ_WIRE_BIG = 1, KHZ_WIRE_CRC = 2, KHZ_WIRE_MOST = 4096 };

typedef struct khz_message {
    uint32_t session, echo;
    uint64_t sequence;
    int64_t time_ns;
    int32_t flags, count;
} khz_message;

/* Bytes of a message. */
static inline size_t khz_wire_size(int32_t count, int flags)
{
    return (size_t)KHZ_WIRE_HEAD + 8u * (size_t)count + ((flags & KHZ_WIRE_CRC) ? 4u : 0u);
}

static inline uint32_t khz_crc32(const unsigned char *bytes, size_t n)
{
    static const uint32_t table[16] = {
        0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
        0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu,
    };
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        crc = table[crc & 15u] ^ (crc >> 4);
        crc = table[crc & 15u] ^ (crc >> 4);
    }
    return ~crc;
}

static inline void khz_put(unsigned char *at, int n, uint64_t value, int big)
{
    for (int i = 0; i < n; i++) {
        at[big ? n - 1 - i : i] = (unsigned char)(value >> (8 * i));
    }
}

static inline uint64_t khz_get(const unsigned char *at, int n, int big)
{
    uint64_t value = 0;
    for (int i = 0; i < n; i++) {
        value |= (uint64_t)at[big ? n - 1 - i : i] << (8 * i);
    }
    return value;
}

/* Write a message; its size.  `out` has room for khz_wire_size bytes. */
static inline size_t khz_wire_write(unsigned char *out, const khz_message *m, const double *values)
{
    const int big = m->flags & KHZ_WIRE_BIG;
    const size_t n = khz_wire_size(m->count, m->flags);
    memcpy(out, "KHZP", 4);
    out[4] = KHZ_WIRE_VERSION;
    out[5] = (unsigned char)m->flags;
    khz_put(out + 6, 2, (uint64_t)m->count, big);
    khz_put(out + 8, 4, m->session, big);
    khz_put(out + 12, 4, m->echo, big);
    khz_put(out + 16, 8, m->sequence, big);
    khz_put(out + 24, 8, (uint64_t)m->time_ns, big);
    for (int32_t i = 0; i < m->count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], 8);
        khz_put(out + KHZ_WIRE_HEAD + 8 * i, 8, bits, big);
    }
    if (m->flags & KHZ_WIRE_CRC) {
        khz_put(out + n - 4, 4, khz_crc32(out, n - 4), big);
    }
    return n;
}

/* Size of the message whose first 8 bytes these are; 0 where they cannot begin one. */
static inline size_t khz_wire_begins(const unsigned char *in)
{
    const int flags = in[5];
    if (memcmp(in, "KHZP", 4) != 0 || in[4] != KHZ_WIRE_VERSION || (flags & ~(KHZ_WIRE_BIG | KHZ_WIRE_CRC)) != 0) {
        return 0;
    }
    const uint64_t count = khz_get(in + 6, 2, flags & KHZ_WIRE_BIG);
    return count <= KHZ_WIRE_MOST ? khz_wire_size((int32_t)count, flags) : 0;
}

/* Whether n bytes are a good message with `count` values (and a CRC where `need_crc`): 1 and its head, or 0.  A value
 * that is not finite is not good. */
static inline int khz_wire_check(const unsigned char *in, size_t n, int32_t count, int need_crc, khz_message *m)
{
    if (n < KHZ_WIRE_HEAD || khz_wire_begins(in) != n) {
        return 0;
    }
    const int flags = in[5], big = flags & KHZ_WIRE_BIG;
    if (khz_get(in + 6, 2, big) != (uint64_t)count || (need_crc && !(flags & KHZ_WIRE_CRC))) {
        return 0;
    }
    if ((flags & KHZ_WIRE_CRC) && khz_get(in + n - 4, 4, big) != khz_crc32(in, n - 4)) {
        return 0;
    }
    for (int32_t i = 0; i < count; i++) {
        if ((khz_get(in + KHZ_WIRE_HEAD + 8 * i, 8, big) >> 52 & 0x7ff) == 0x7ff) {
            return 0;
        }
    }
    m->flags = flags;
    m->count = count;
    m->session = (uint32_t)khz_get(in + 8, 4, big);
    m->echo = (uint32_t)khz_get(in + 12, 4, big);
    m->sequence = khz_get(in + 16, 8, big);
    m->time_ns = (int64_t)khz_get(in + 24, 8, big);
    return 1;
}

/* The values of a message that khz_wire_check found good. */
static inline void khz_wire_values(const unsigned char *in, const khz_message *m, double *values)
{
    for (int32_t i = 0; i < m->count; i++) {
        const uint64_t bits = khz_get(in + KHZ_WIRE_HEAD + 8 * i, 8, m->flags & KHZ_WIRE_BIG);
        memcpy(&values[i], &bits, 8);
    }
}

/* What was taken from a peer last; zero at first. */
typedef struct khz_gate {
    int32_t open;
    uint32_t session;
    uint64_t sequence;
    int64_t last_ns; /* when, on the reader's clock */
} khz_gate;

enum { KHZ_GATE_OLD = 0, KHZ_GATE_TAKEN = 1, KHZ_GATE_ANEW = 2 };

/* Whether to take a message: newer ones of the same session, and another session once nothing came for `patience_ns`
 * (the peer was started again). *missing: messages between the last one and this. */
static inline int khz_gate_admit(khz_gate *g, const khz_message *m, int64_t now_ns, int64_t patience_ns,
                                 uint64_t *missing)
{
    const int same = g->open && g->session == m->session;
    *missing = 0;
    if (same ? m->sequence <= g->sequence : g->open && now_ns - g->last_ns <= patience_ns) {
        return KHZ_GATE_OLD;
    }
    if (same) {
        *missing = m->sequence - g->sequence - 1;
    }
    g->open = 1;
    g->session = m->session;
    g->sequence = m->sequence;
    g->last_ns = now_ns;
    return same ? KHZ_GATE_TAKEN : KHZ_GATE_ANEW;
}

#endif
