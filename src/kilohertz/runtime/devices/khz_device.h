/* Devices: one interface for all drivers.
 *
 * A driver moves raw numbers between the task and a peer; everything else (scaling, saturation, quantisation, delay,
 * link loss) is one layer above all of them (khz_ports.h).  Only `open` and `close` may allocate, block or start a
 * thread; `exchange` does none of it and its work is bounded by the settings.  What a peer sends can change values
 * and counters, nothing else. */
#ifndef KHZ_DEVICE_H
#define KHZ_DEVICE_H

#include "khz_base.h"

enum { KHZ_RECEIVE = 0, KHZ_SEND = 1 }; /* seen from the task: before the step, after it */

/* What an exchange came to. */
enum {
    KHZ_LINK_DOWN = -1, /* there is known to be no peer (a closed connection); values are untouched */
    KHZ_LINK_QUIET = 0, /* nothing new, or nothing could be sent now; values are untouched */
    KHZ_LINK_FRESH = 1  /* values are those of the peer, or were handed over for it */
};

/* `key = value` lines of the scenario, as they stand there.  They must live as long as the device. */
typedef struct khz_device_setting {
    const char *key;
    const char *value;
} khz_device_setting;

typedef struct khz_device_config {
    const char *name; /* of the device, for messages */
    int32_t n_settings;
    const khz_device_setting *settings;
} khz_device_config;

/* What happened so far; only ever grows. */
typedef struct khz_device_counters {
    uint64_t n_received;   /* good messages taken */
    uint64_t n_sent;       /* messages handed to the system */
    uint64_t n_missing;    /* gaps in the sequence numbers of the peer: messages that never came */
    uint64_t n_malformed;  /* wrong size, magic, version, count, checksum, or a value that is not finite */
    uint64_t n_replayed;   /* good messages older than one already taken */
    uint64_t n_foreign;    /* from an address that is not the peer's */
    uint64_t n_flooded;    /* cycles in which more waited than one cycle may read */
    uint64_t n_refused;    /* messages that could not be sent */
    uint64_t n_links;      /* times a peer was there anew: another session */
    uint64_t n_timeouts;   /* times nothing came for the time-out; counted by khz_ports */
    uint64_t n_saturated;  /* values cut to their limits; counted by khz_ports */
    uint64_t n_not_finite; /* values that were NaN or infinite: `safe` was sent, what came was not taken */
    uint64_t n_overtaken;  /* messages that came, but a newer one was there before the task looked */
    uint64_t n_quiet;      /* cycles since the first message in which nothing new came; counted by khz_ports */
} khz_device_counters;

/* One turn with a device. */
typedef struct khz_exchange {
    uint64_t cycle;  /* number of the step */
    int64_t time_ns; /* the task's time, ns since its start */
    double *values;  /* receive: [n] out where the result is KHZ_LINK_FRESH; send: [n] in */
    int32_t n;
    khz_device_counters *counters;
} khz_exchange;

typedef struct khz_device_class {
    const char *name;
    /* Bytes of a device (aligned to 64).  Where settings make no sense, as much as `open` needs to say so. */
    size_t (*size)(const khz_device_config *c);
    /* Memory of `size` bytes, zero.  A message of at most n_message bytes where it fails. */
    khz_status (*open)(void *device, const khz_device_config *c, char *message, size_t n_message);
    int (*exchange)(void *device, int direction, khz_exchange *x);
    void (*close)(void *device);
} khz_device_class;

/* The driver of that name, NULL where there is none. */
const khz_device_class *khz_device_find(const char *name);
/* All drivers, ended by NULL. */
const khz_device_class *const *khz_device_all(void);

/* Settings, read.  A key that is not there gives `fallback`; a text that is no such number, or is outside its range,
 * clears *good and gives `fallback`. */
const char *khz_config_text(const khz_device_config *c, const char *key, const char *fallback);
int64_t khz_config_integer(const khz_device_config *c, const char *key, int64_t fallback, int64_t low, int64_t high,
                           int *good);
double khz_config_real(const khz_device_config *c, const char *key, double fallback, int *good);
int khz_config_flag(const khz_device_config *c, const char *key, int fallback, int *good); /* true, false */
/* The same for one signal: `receive.3.address` is khz_config_signal(c, KHZ_RECEIVE, 3, "address", ...). */
const char *khz_config_signal(const khz_device_config *c, int direction, int32_t index, const char *key,
                              const char *fallback);
double khz_config_signal_real(const khz_device_config *c, int direction, int32_t index, const char *key,
                              double fallback, int *good);
/* Number of values in a direction: settings `n_receive`, `n_send`. */
enum { KHZ_DEVICE_VALUES = 4096 };
int32_t khz_config_count(const khz_device_config *c, int direction, int *good);
/* Leave a message and give the status back. */
khz_status khz_device_fail(char *message, size_t n_message, khz_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* Listen at an address of the settings: `*listener` is the socket, or -1 with a message. */
khz_status khz_device_listen(const khz_device_config *c, const char *text, int *listener, char *message,
                             size_t n_message);

#endif
