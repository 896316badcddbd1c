/* CAN: signals as bits of frames.  No sockets here.
 *
 * The address of a signal is `<identifier>:<start>|<length>@<order><kind>`, as DBC files write signals: start and
 * length in bits; order 1 (Intel, start is the lowest bit) or 0 (Motorola, start is the highest bit); kind +
 * unsigned, - signed, f IEEE 754 (32 or 64 bits).  Bit numbers count bytes from the front, bits of a byte from its
 * lowest.  Identifiers above 0x7ff, or with an x behind, are extended ones.  `0x100:16|12@1-` is a signed number of
 * 12 bits from bit 16. */
#ifndef KHZ_CAN_H
#define KHZ_CAN_H

#include "khz_device.h"

enum { KHZ_CAN_BYTES = 8 };

typedef struct khz_can_signal {
    uint32_t id;
    int32_t extended, start, length, motorola, kind;
    int32_t frame; /* index of its frame in the map */
} khz_can_signal;

typedef struct khz_can_frame {
    uint32_t id;
    int32_t extended;
    int32_t n; /* bytes that its signals need */
    unsigned char bytes[KHZ_CAN_BYTES];
} khz_can_frame;

/* The signals of one direction, and the frames they are in. */
typedef struct khz_can_map {
    int32_t n, n_frames;
    khz_can_signal *signals; /* [n] */
    khz_can_frame *frames;   /* [n]; n_frames are used */
} khz_can_map;

/* 1, or 0 where the text is no address. */
int khz_can_address(const char *text, khz_can_signal *s);
/* Fill a map whose rows have room for n; a message where addresses make no sense or overlap. */
khz_status khz_can_map_open(khz_can_map *m, const khz_device_config *c, int direction, char *message, size_t n_message);
/* All frames from values. */
void khz_can_encode(khz_can_map *m, const double *values);
/* A frame came: 1 and its values; 0 where it is too short or a value is not finite; -1 where it is none of the map. */
int khz_can_decode(const khz_can_map *m, uint32_t id, int extended, const unsigned char *bytes, int32_t n,
                   double *values);

#endif
