#include "khz_can.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNSIGNED, SIGNED, FLOAT };

/* Position (8*byte + bit) of the k-th bit of a signal, counted from its lowest; -1 outside of a frame. */
static int32_t position(const khz_can_signal *s, int32_t k)
{
    if (!s->motorola) {
        const int32_t at = s->start + k;
        return at < 8 * KHZ_CAN_BYTES ? at : -1;
    }
    /* From the highest bit on, Motorola goes down in a byte, then to the highest bit of the next. */
    const int32_t down = s->length - 1 - k;
    const int32_t row = 8 * (s->start / 8) + (7 - s->start % 8) + down;
    return row < 8 * KHZ_CAN_BYTES ? 8 * (row / 8) + 7 - row % 8 : -1;
}

int khz_can_address(const char *text, khz_can_signal *s)
{
    char *end;
    const unsigned long id = strtoul(text, &end, 0);
    int order, used = 0;
    char kind;
    memset(s, 0, sizeof *s);
    if (end == text || id > 0x1fffffff || text[0] == '-') {
        return 0;
    }
    s->id = (uint32_t)id;
    s->extended = id > 0x7ff || *end == 'x';
    end += *end == 'x';
    if (sscanf(end, ":%d|%d@%d%c%n", &s->start, &s->length, &order, &kind, &used) != 4 || end[used] != '\0') {
        return 0;
    }
    s->motorola = order == 0;
    s->kind = kind == '+' ? UNSIGNED : kind == '-' ? SIGNED : FLOAT;
    if (strchr("+-f", kind) == NULL || (order != 0 && order != 1) || s->start < 0 || s->start > 63 || s->length < 1 ||
        s->length > 64 || (kind == 'f' && s->length != 32 && s->length != 64)) {
        return 0;
    }
    return position(s, 0) >= 0 && position(s, s->length - 1) >= 0;
}

/* Put a signal into its frame, whose bytes mark what is taken while the map is built; 0 where its bits are. */
static int join(khz_can_map *m, khz_can_signal *s)
{
    int32_t f = 0;
    while (f < m->n_frames && (m->frames[f].id != s->id || m->frames[f].extended != s->extended)) {
        f++;
    }
    if (f == m->n_frames) {
        m->frames[m->n_frames++] = (khz_can_frame){.id = s->id, .extended = s->extended};
    }
    s->frame = f;
    for (int32_t k = 0; k < s->length; k++) {
        const int32_t at = position(s, k);
        unsigned char *byte = &m->frames[f].bytes[at / 8];
        if (*byte >> at % 8 & 1) {
            return 0;
        }
        *byte = (unsigned char)(*byte | 1u << at % 8);
        m->frames[f].n = at / 8 + 1 > m->frames[f].n ? at / 8 + 1 : m->frames[f].n;
    }
    return 1;
}

khz_status khz_can_map_open(khz_can_map *m, const khz_device_config *c, int direction, char *message, size_t n_message)
{
    int good = 1;
    const char *way = direction == KHZ_RECEIVE ? "receive" : "send";
    m->n = khz_config_count(c, direction, &good);
    for (int32_t i = 0; i < m->n; i++) {
        const char *text = khz_config_signal(c, direction, i, "address", "");
        if (!khz_can_address(text, &m->signals[i])) {
            return khz_device_fail(message, n_message, KHZ_DOMAIN,
                                   "%s: %s.%ld: \"%s\" is no address such as 0x100:16|12@1-", c->name, way, (long)i,
                                   text);
        }
        if (!join(m, &m->signals[i])) {
            return khz_device_fail(message, n_message, KHZ_DOMAIN,
                                   "%s: %s.%ld: bits of \"%s\" belong to another signal", c->name, way, (long)i, text);
        }
    }
    for (int32_t f = 0; f < m->n_frames; f++) {
        memset(m->frames[f].bytes, 0, sizeof m->frames[f].bytes);
    }
    return KHZ_OK;
}

static uint64_t bits_of(const khz_can_signal *s, double v)
{
    uint64_t bits = 0;
    if (s->kind == FLOAT && s->length == 64) {
        memcpy(&bits, &v, sizeof bits);
        return bits;
    }
    if (s->kind == FLOAT) {
        const float single = (float)fmin(fmax(v, -(double)FLT_MAX), (double)FLT_MAX);
        uint32_t narrow;
        memcpy(&narrow, &single, sizeof narrow);
        return narrow;
    }
    const double rounded = nearbyint(v);
    if (s->kind == UNSIGNED) {
        const uint64_t most = s->length == 64 ? UINT64_MAX : (1ull << s->length) - 1;
        return rounded <= 0.0 ? 0 : rounded >= ldexp(1.0, s->length) ? most : (uint64_t)rounded;
    }
    const double limit = ldexp(1.0, s->length - 1);
    const int64_t high = s->length == 64 ? INT64_MAX : (1ll << (s->length - 1)) - 1;
    return (uint64_t)(rounded >= limit ? high : rounded <= -limit ? -high - 1 : (int64_t)rounded);
}

static double value_of(const khz_can_signal *s, const unsigned char *bytes)
{
    uint64_t bits = 0;
    for (int32_t k = 0; k < s->length; k++) {
        const int32_t at = position(s, k);
        bits |= (uint64_t)(bytes[at / 8] >> at % 8 & 1) << k;
    }
    if (s->kind == FLOAT && s->length == 64) {
        double wide;
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
    if (s->kind == FLOAT) {
        const uint32_t narrow = (uint32_t)bits;
        float single;
        memcpy(&single, &narrow, sizeof single);
        return (double)single;
    }
    if (s->kind == SIGNED && bits >> (s->length - 1) & 1) {
        bits |= s->length == 64 ? 0 : ~0ull << s->length;
        return (double)(int64_t)bits;
    }
    return (double)bits;
}

void khz_can_encode(khz_can_map *m, const double *values)
{
    for (int32_t i = 0; i < m->n; i++) {
        const khz_can_signal *s = &m->signals[i];
        const uint64_t bits = bits_of(s, values[i]);
        for (int32_t k = 0; k < s->length; k++) {
            const int32_t at = position(s, k);
            unsigned char *byte = &m->frames[s->frame].bytes[at / 8];
            *byte = (unsigned char)((*byte & ~(1u << at % 8)) | (unsigned)(bits >> k & 1) << at % 8);
        }
    }
}

int khz_can_decode(const khz_can_map *m, uint32_t id, int extended, const unsigned char *bytes, int32_t n,
                   double *values)
{
    int32_t f = 0;
    while (f < m->n_frames && (m->frames[f].id != id || m->frames[f].extended != extended)) {
        f++;
    }
    if (f == m->n_frames) {
        return -1;
    }
    if (n < m->frames[f].n) {
        return 0;
    }
    for (int32_t i = 0; i < m->n; i++) {
        if (m->signals[i].frame == f && !isfinite(value_of(&m->signals[i], bytes))) {
            return 0;
        }
    }
    for (int32_t i = 0; i < m->n; i++) {
        if (m->signals[i].frame == f) {
            values[i] = value_of(&m->signals[i], bytes);
        }
    }
    return 1;
}
