#include "khz_modbus.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { I16, U16, I32, U32, F32, F64, N_TYPES };
enum { ILLEGAL_FUNCTION = 1, ILLEGAL_ADDRESS = 2, ILLEGAL_VALUE = 3 };
enum { REGISTERS = 65536 };

static const struct {
    const char *name;
    int32_t width;
    double low, high;
} types[N_TYPES] = {
    {"i16", 1, -32768.0, 32767.0}, {"u16", 1, 0.0, 65535.0}, {"i32", 2, -2147483648.0, 2147483647.0},
    {"u32", 2, 0.0, 4294967295.0}, {"f32", 2, 0.0, 0.0},     {"f64", 4, 0.0, 0.0},
};

int32_t khz_modbus_width(const khz_modbus_signal *s) { return types[s->type].width; }

static int read_address(const khz_device_config *c, int direction, int32_t i, khz_modbus_signal *s)
{
    const char *text = khz_config_signal(c, direction, i, "address", NULL);
    if (text == NULL) {
        *s = (khz_modbus_signal){2 * i, F32};
        return 1;
    }
    char *end;
    const long address = strtol(text, &end, 10);
    if (end == text || address < 0) {
        return 0;
    }
    s->type = F32;
    if (*end == ':') {
        for (s->type = 0; s->type < N_TYPES && strcmp(end + 1, types[s->type].name) != 0; s->type++) {
        }
    } else if (*end != '\0') {
        return 0;
    }
    if (s->type == N_TYPES || address > REGISTERS - types[s->type].width) {
        return 0;
    }
    s->address = (int32_t)address;
    return 1;
}

int32_t khz_modbus_registers(const khz_device_config *c, int direction)
{
    int good = 1;
    int32_t most = 0;
    const int32_t n = khz_config_count(c, direction, &good);
    for (int32_t i = 0; good && i < n; i++) {
        khz_modbus_signal s;
        good = read_address(c, direction, i, &s);
        if (good && s.address + khz_modbus_width(&s) > most) {
            most = s.address + khz_modbus_width(&s);
        }
    }
    return good ? most : -1;
}

khz_status khz_modbus_map_open(khz_modbus_map *m, const khz_device_config *c, int direction, char *message,
                               size_t n_message)
{
    int good = 1;
    const char *words = khz_config_text(c, "words", "big"), *way = direction == KHZ_RECEIVE ? "receive" : "send";
    m->n = khz_config_count(c, direction, &good);
    m->n_registers = khz_modbus_registers(c, direction);
    m->little = strcmp(words, "little") == 0;
    if (!good || m->n_registers < 0 || (!m->little && strcmp(words, "big") != 0)) {
        return khz_device_fail(
            message, n_message, KHZ_DOMAIN,
            "%s: an address is `register:type`, type one of i16, u16, i32, u32, f32, f64; words is big or little",
            c->name);
    }
    for (int32_t i = 0; i < m->n; i++) {
        khz_modbus_signal *s = &m->signals[i];
        (void)read_address(c, direction, i, s);
        for (int32_t k = 0; k < i; k++) {
            const khz_modbus_signal *t = &m->signals[k];
            if (s->address < t->address + khz_modbus_width(t) && t->address < s->address + khz_modbus_width(s)) {
                return khz_device_fail(message, n_message, KHZ_DOMAIN,
                                       "%s: %s.%ld and %s.%ld have a register in common", c->name, way, (long)k, way,
                                       (long)i);
            }
        }
    }
    return KHZ_OK;
}

/* A value as the bits of its registers, the high one first. */
static uint64_t bits_of(int32_t type, double v)
{
    uint64_t wide;
    uint32_t narrow;
    if (type == F64) {
        memcpy(&wide, &v, sizeof wide);
        return wide;
    }
    if (type == F32) {
        const float single = (float)fmin(fmax(v, -(double)FLT_MAX), (double)FLT_MAX);
        memcpy(&narrow, &single, sizeof narrow);
        return narrow;
    }
    const double cut = fmin(fmax(nearbyint(v), types[type].low), types[type].high);
    return (uint64_t)(int64_t)cut;
}

static double value_of(int32_t type, uint64_t bits)
{
    const uint32_t narrow = (uint32_t)bits;
    float single;
    double wide;
    switch (type) {
    case I16:
        return (double)(int16_t)(uint16_t)bits;
    case U16:
        return (double)(uint16_t)bits;
    case I32:
        return (double)(int32_t)narrow;
    case U32:
        return (double)narrow;
    case F32:
        memcpy(&single, &narrow, sizeof single);
        return (double)single;
    default:
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
}

void khz_modbus_encode(const khz_modbus_map *m, const double *values, uint16_t *registers)
{
    for (int32_t i = 0; i < m->n; i++) {
        const khz_modbus_signal *s = &m->signals[i];
        const int32_t width = khz_modbus_width(s);
        const uint64_t bits = bits_of(s->type, values[i]);
        for (int32_t k = 0; k < width; k++) {
            const int32_t from_low = m->little ? k : width - 1 - k;
            registers[s->address + k] = (uint16_t)(bits >> (16 * from_low));
        }
    }
}

static double decoded(const khz_modbus_map *m, const khz_modbus_signal *s, const uint16_t *registers)
{
    const int32_t width = khz_modbus_width(s);
    uint64_t bits = 0;
    for (int32_t k = 0; k < width; k++) {
        const int32_t from_low = m->little ? k : width - 1 - k;
        bits |= (uint64_t)registers[s->address + k] << (16 * from_low);
    }
    return value_of(s->type, bits);
}

int khz_modbus_decode(const khz_modbus_map *m, const uint16_t *registers, double *values)
{
    for (int32_t i = 0; i < m->n; i++) {
        if (!isfinite(decoded(m, &m->signals[i], registers))) {
            return 0;
        }
    }
    for (int32_t i = 0; i < m->n; i++) {
        values[i] = decoded(m, &m->signals[i], registers);
    }
    return 1;
}

static size_t exception(unsigned char *out, unsigned char function, unsigned char code, int *result)
{
    out[0] = function | 0x80;
    out[1] = code;
    *result = -1;
    return 2;
}

/* Put registers behind the head of an answer. */
static size_t registers_out(const uint16_t *from, uint32_t count, unsigned char *out, unsigned char function)
{
    out[0] = function;
    out[1] = (unsigned char)(2 * count);
    for (uint32_t i = 0; i < count; i++) {
        khz_modbus_put(out + 2 + 2 * i, from[i]);
    }
    return 2 + 2 * (size_t)count;
}

static size_t answer_read(khz_modbus_image *im, const unsigned char *q, size_t n, unsigned char *out, int *result)
{
    const uint16_t *from = q[0] == 3 ? im->holding : im->input;
    const uint32_t available = (uint32_t)(q[0] == 3 ? im->n_holding : im->n_input);
    if (n != 5) {
        return exception(out, q[0], ILLEGAL_VALUE, result);
    }
    const uint32_t at = khz_modbus_word(q + 1), count = khz_modbus_word(q + 3);
    if (count < 1 || count > KHZ_MODBUS_MOST_READ) {
        return exception(out, q[0], ILLEGAL_VALUE, result);
    }
    if (at + count > available) {
        return exception(out, q[0], ILLEGAL_ADDRESS, result);
    }
    return registers_out(from + at, count, out, q[0]);
}

/* Write registers from q: address, count, bytes, values.  0, or the code of an exception. */
static unsigned char write_many(khz_modbus_image *im, const unsigned char *q, size_t n, uint32_t most)
{
    if (n < 5) {
        return ILLEGAL_VALUE;
    }
    const uint32_t at = khz_modbus_word(q), count = khz_modbus_word(q + 2);
    if (count < 1 || count > most || q[4] != 2 * count || n != 5 + 2 * (size_t)count) {
        return ILLEGAL_VALUE;
    }
    if (at + count > (uint32_t)im->n_holding) {
        return ILLEGAL_ADDRESS;
    }
    for (uint32_t i = 0; i < count; i++) {
        im->holding[at + i] = khz_modbus_word(q + 5 + 2 * i);
    }
    return 0;
}

static size_t answer_write_one(khz_modbus_image *im, const unsigned char *q, size_t n, unsigned char *out, int *result)
{
    if (n != 5) {
        return exception(out, q[0], ILLEGAL_VALUE, result);
    }
    if (khz_modbus_word(q + 1) >= im->n_holding) {
        return exception(out, q[0], ILLEGAL_ADDRESS, result);
    }
    im->holding[khz_modbus_word(q + 1)] = khz_modbus_word(q + 3);
    memcpy(out, q, 5);
    *result = 1;
    return 5;
}

static size_t answer_write_many(khz_modbus_image *im, const unsigned char *q, size_t n, unsigned char *out, int *result)
{
    const unsigned char code = write_many(im, q + 1, n - 1, KHZ_MODBUS_MOST_WRITE);
    if (code) {
        return exception(out, q[0], code, result);
    }
    memcpy(out, q, 5);
    *result = 1;
    return 5;
}

/* Function 23: write, then read, in one request. */
static size_t answer_both(khz_modbus_image *im, const unsigned char *q, size_t n, unsigned char *out, int *result)
{
    if (n < 10) {
        return exception(out, q[0], ILLEGAL_VALUE, result);
    }
    const uint32_t at = khz_modbus_word(q + 1), count = khz_modbus_word(q + 3);
    if (count < 1 || count > KHZ_MODBUS_MOST_READ) {
        return exception(out, q[0], ILLEGAL_VALUE, result);
    }
    if (at + count > (uint32_t)im->n_holding) {
        return exception(out, q[0], ILLEGAL_ADDRESS, result);
    }
    const unsigned char code = write_many(im, q + 5, n - 5, 121);
    if (code) {
        return exception(out, q[0], code, result);
    }
    *result = 1;
    return registers_out(im->holding + at, count, out, q[0]);
}

size_t khz_modbus_answer(khz_modbus_image *i, const unsigned char *request, size_t n, unsigned char *out, int *result)
{
    *result = 0;
    if (n < 1 || n > KHZ_MODBUS_PDU) {
        return exception(out, 0, ILLEGAL_FUNCTION, result);
    }
    switch (request[0]) {
    case 3:
    case 4:
        return answer_read(i, request, n, out, result);
    case 6:
        return answer_write_one(i, request, n, out, result);
    case 16:
        return answer_write_many(i, request, n, out, result);
    case 23:
        return answer_both(i, request, n, out, result);
    default:
        return exception(out, request[0], ILLEGAL_FUNCTION, result);
    }
}
