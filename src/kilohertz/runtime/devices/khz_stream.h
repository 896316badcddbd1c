/* Messages (khz_wire.h) in a stream of bytes: what TCP and serial lines share.
 *
 *     max_messages = 16        messages read in a cycle at most; the newest good one counts
 *
 * Bytes that belong to no message are skipped and counted, once for each run of them; a message that the system takes
 * only in part is finished before the next one. */
#ifndef KHZ_STREAM_H
#define KHZ_STREAM_H

#include "khz_messenger.h"

typedef struct khz_stream {
    khz_messenger messenger;
    unsigned char *in;   /* [room] bytes not understood yet */
    unsigned char *rest; /* [n_out] what the system has not taken yet */
    size_t room, n_in, n_rest;
    int32_t astray; /* the last byte belonged to no message */
    int32_t is_socket;
} khz_stream;

size_t khz_stream_size(const khz_device_config *c);
khz_status khz_stream_open(khz_stream *s, void *memory, const khz_device_config *c, int crc, char *message,
                           size_t n_message);
/* A peer is there anew: forget half messages. */
void khz_stream_reset(khz_stream *s);
/* One turn with a non-blocking descriptor (ignored where the peer is simulated); KHZ_LINK_DOWN: it has ended. */
int khz_stream_receive(khz_stream *s, int fd, khz_exchange *x);
int khz_stream_send(khz_stream *s, int fd, khz_exchange *x);

#endif
