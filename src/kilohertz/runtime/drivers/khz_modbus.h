/* Modbus: signals as registers, and requests answered from an image of them.  No sockets here.
 *
 * The address of a signal is `<register>:<type>`, type one of i16, u16, i32, u32, f32, f64 (1, 1, 2, 2, 2, 4
 * registers); where none is given, signals are f32, one after the other from register 0.  Whole numbers are rounded
 * and cut to their range.
 *
 *     words = big              order of the registers of one value: big (the high one first) or little
 *
 * As server, the task's inputs are holding registers (functions 3, 6, 16, 23), its outputs input registers (function
 * 4). */
#ifndef KHZ_MODBUS_H
#define KHZ_MODBUS_H

#include "khz_device.h"

enum { KHZ_MODBUS_PDU = 253, KHZ_MODBUS_HEAD = 7, KHZ_MODBUS_FRAME = KHZ_MODBUS_HEAD + KHZ_MODBUS_PDU };
enum { KHZ_MODBUS_MOST_READ = 125, KHZ_MODBUS_MOST_WRITE = 123 };

typedef struct khz_modbus_signal {
    int32_t address;
    int32_t type;
} khz_modbus_signal;

/* The signals of one direction. */
typedef struct khz_modbus_map {
    int32_t n, n_registers; /* n_registers: one more than the highest in use */
    int32_t little;
    khz_modbus_signal *signals; /* [n] */
} khz_modbus_map;

typedef struct khz_modbus_image {
    uint16_t *holding, *input;
    int32_t n_holding, n_input;
} khz_modbus_image;

/* Registers of a direction: one more than the highest in use; -1 where an address makes no sense. */
int32_t khz_modbus_registers(const khz_device_config *c, int direction);
/* Fill a map whose `signals` has room for n; a message where addresses make no sense or overlap. */
khz_status khz_modbus_map_open(khz_modbus_map *m, const khz_device_config *c, int direction, char *message,
                               size_t n_message);
int32_t khz_modbus_width(const khz_modbus_signal *s); /* registers of a signal */

void khz_modbus_encode(const khz_modbus_map *m, const double *values, uint16_t *registers);
/* 1 and values [n]; 0 where one of them is not finite, with values untouched. */
int khz_modbus_decode(const khz_modbus_map *m, const uint16_t *registers, double *values);

/* Answer a request of n bytes (function code first): bytes of the answer in out [KHZ_MODBUS_PDU], at least 2.
 * *result: 1 where holding registers were written, 0 where not, -1 where an exception is answered. */
size_t khz_modbus_answer(khz_modbus_image *i, const unsigned char *request, size_t n, unsigned char *out, int *result);

static inline uint16_t khz_modbus_word(const unsigned char *at) { return (uint16_t)(at[0] << 8 | at[1]); }

static inline void khz_modbus_put(unsigned char *at, uint32_t word)
{
    at[0] = (unsigned char)(word >> 8);
    at[1] = (unsigned char)word;
}

#endif
