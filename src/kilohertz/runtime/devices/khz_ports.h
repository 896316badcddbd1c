/* Ports: a device and the signals mapped to it; what the periodic task calls.
 *
 * All of a port comes from the `key = value` lines of its device in the scenario:
 *
 *     driver = udp                   a name of khz_device_find
 *     n_receive = 2, n_send = 3      signals into the model, signals out of it
 *     on_loss = hold                 hold, default, safe or stop: what the model gets once nothing came for `timeout`
 *     timeout = 0.1                  seconds of the task's time; 0: never
 *     receive.0.name = valve.u       name of the signal; the task binds it to the model
 *     receive.0.gain, .offset        model = gain*raw + offset on the way in, raw = gain*model + offset on the way out
 *     receive.0.min, .max            saturation, in units of the result of gain and offset
 *     receive.0.bits, .low, .high    quantisation: the converter has 2^bits - 1 steps from low to high (same units)
 *     receive.0.delay = 2            cycles between converter and model
 *     receive.0.default, .safe       value before the first message and under `default`; value under `safe`
 *     send.0.safe                    sent instead of the model's value while the task asks for safe outputs
 *
 * and what the driver itself reads.  Order on the way in: gain and offset, saturation, quantisation, delay; the same
 * on the way out.  Default and safe values are as the model sees them; they are never delayed.  A port is
 * `khz_port_size` bytes, aligned to 64; after khz_port_open nothing allocates, blocks or fails. */
#ifndef KHZ_PORTS_H
#define KHZ_PORTS_H

#include "khz_device.h"

typedef struct khz_port khz_port;

enum { KHZ_LOSS_HOLD = 0, KHZ_LOSS_DEFAULT = 1, KHZ_LOSS_SAFE = 2, KHZ_LOSS_STOP = 3 };

/* What khz_port_receive and khz_port_send say, as bits. */
enum {
    KHZ_PORT_FRESH = 1, /* values came, or were sent, in this cycle */
    KHZ_PORT_DOWN = 2,  /* the driver knows that there is no peer */
    KHZ_PORT_LOST = 4,  /* nothing came for longer than the time-out */
    KHZ_PORT_STOP = 8   /* ... and the policy is to stop the task */
};

size_t khz_port_size(const khz_device_config *c);
/* Memory need not be cleared.  A message where it fails: nothing is left open then. */
khz_status khz_port_open(void *memory, const khz_device_config *c, char *message, size_t n_message);
void khz_port_close(khz_port *p);

int32_t khz_port_count(const khz_port *p, int direction);
const char *khz_port_signal(const khz_port *p, int direction, int32_t index);
const char *khz_port_name(const khz_port *p);
const khz_device_counters *khz_port_counters(const khz_port *p);
/* Messages that came in this cycle: 0 quiet, 1 as it should be, more: all but the newest were overtaken. */
uint64_t khz_port_came(const khz_port *p);

/* Before the step: inputs [n_receive], always all of them set.  Bounded, never blocks. */
uint32_t khz_port_receive(khz_port *p, uint64_t cycle, int64_t time_ns, double *inputs);
/* After the step: outputs [n_send]; `safe` not 0: the safe values instead.  Bounded, never blocks. */
uint32_t khz_port_send(khz_port *p, uint64_t cycle, int64_t time_ns, const double *outputs, int safe);

#endif
