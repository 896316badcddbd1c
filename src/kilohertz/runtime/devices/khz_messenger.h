/* What drivers that exchange messages (khz_wire.h) share: settings, sequence numbers, counting, and their simulated
 * peer.
 *
 *     endian = little          or big: numbers of what is sent; what comes says it itself
 *     crc = false              whether messages end with a CRC; where true, those without one are malformed
 *     restart_after = 0.1      seconds of silence after which another session may take over
 *     simulated = false        no wire: a peer in this process sends back what it got, through the same code
 *     sim_delay = 0            cycles the simulated peer lets pass
 *     sim_drop_every, sim_corrupt_every, sim_repeat_every = 0     faults in every k-th message of that peer */
#ifndef KHZ_MESSENGER_H
#define KHZ_MESSENGER_H

#include "khz_device.h"
#include "khz_wire.h"

enum { KHZ_TWIN_SLOTS = 64 };

/* The simulated peer: messages under way to the task, oldest first. */
typedef struct khz_twin {
    int32_t first, count;
    uint32_t delay, drop_every, corrupt_every, repeat_every;
    uint64_t n;                   /* messages so far */
    uint64_t due[KHZ_TWIN_SLOTS]; /* cycle in which a message may be read */
    unsigned char *slots;         /* [KHZ_TWIN_SLOTS * size] */
    double *values;               /* [max(n_send, n_receive)] */
} khz_twin;

typedef struct khz_messenger {
    int32_t n[2]; /* values by direction */
    int32_t flags, need_crc, simulated;
    uint32_t session;
    uint64_t sequence; /* last sent */
    int64_t patience_ns;
    khz_gate gate;
    unsigned char *out; /* [khz_wire_size] what is sent next */
    size_t n_in, n_out; /* bytes of a message by direction */
    khz_twin twin;
} khz_messenger;

/* A session: a number that a sender started later hardly draws again. */
uint32_t khz_session_drawn(void);
/* Bytes that khz_messenger_open needs besides the struct. */
size_t khz_messenger_size(const khz_device_config *c);
/* `memory` of khz_messenger_size bytes, zero, aligned to 8. */
khz_status khz_messenger_open(khz_messenger *g, void *memory, const khz_device_config *c, int crc, char *message,
                              size_t n_message);
/* A message of n bytes came: KHZ_LINK_FRESH where it is taken.  Counts what it is. */
int khz_messenger_take(khz_messenger *g, const unsigned char *bytes, size_t n, khz_exchange *x);
/* Make the next message of the exchange in g->out; its size is g->n_out. */
void khz_messenger_make(khz_messenger *g, const khz_exchange *x);
/* The simulated peer gets g->out, and what it has for the task in this cycle: a message's size, 0 where there is
 * none. */
void khz_twin_send(khz_messenger *g, uint64_t cycle);
size_t khz_twin_receive(khz_messenger *g, uint64_t cycle, unsigned char *in);

#endif
