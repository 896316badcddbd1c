/* Comedi: analogue inputs and outputs of a measuring card, through libcomedi, which is looked for when the task starts.
 *
 *     path = /dev/comedi0
 *     library = libcomedi.so.0
 *     simulated = false        no card: output channels lead to the input channels of the same number; 16 bits, +-10 V
 *
 * The address of a signal is `<subdevice>:<channel>:<range>:<reference>`, reference 0 ground, 1 common, 2 difference;
 * what is left out is 0, subdevice 0 for inputs and 1 for outputs; without an address, channels count from 0.  Values
 * are in the unit of the range (volt or milliampere).
 *
 * One conversion for each signal and cycle, started by the driver of the card: some microseconds each, as the card
 * has it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "khz_device.h"
#include "khz_drivers.h"

/* As comedilib.h has them. */
typedef struct {
    double min, max;
    unsigned int unit;
} comedi_range;

typedef struct library {
    void *handle;
    void *(*open)(const char *);
    int (*close)(void *);
    unsigned int (*get_maxdata)(void *, unsigned, unsigned);
    comedi_range *(*get_range)(void *, unsigned, unsigned, unsigned);
    int (*data_read)(void *, unsigned, unsigned, unsigned, unsigned, unsigned *);
    int (*data_write)(void *, unsigned, unsigned, unsigned, unsigned, unsigned);
} library;

typedef struct channel {
    unsigned subdevice, channel, range, reference;
    double low, step; /* physical value of 0, and of one more */
    unsigned most;
} channel;

enum { SIMULATED_CHANNELS = 64, SIMULATED_MOST = 65535 };

typedef struct card {
    library lib;
    void *device; /* comedi_t; NULL: none */
    int32_t n[2];
    unsigned wires[SIMULATED_CHANNELS]; /* of the simulated card */
    double *scratch;                    /* [n_receive] */
    channel channels[];                 /* inputs, then outputs */
} card;

static size_t size(const khz_device_config *c)
{
    int good = 1;
    const size_t n_in = (size_t)khz_config_count(c, KHZ_RECEIVE, &good);
    const size_t n_out = (size_t)khz_config_count(c, KHZ_SEND, &good);
    return sizeof(card) + (n_in + n_out) * sizeof(channel) + n_in * sizeof(double);
}

static int read_address(const khz_device_config *c, int direction, int32_t i, channel *k)
{
    const char *text = khz_config_signal(c, direction, i, "address", NULL);
    unsigned parts[4] = {direction == KHZ_RECEIVE ? 0u : 1u, text != NULL ? 0u : (unsigned)i, 0u, 0u};
    for (int n = 0; text != NULL; n++) {
        char *end;
        const unsigned long part = strtoul(text, &end, 10);
        const int is_number = end != text && text[0] >= '0' && text[0] <= '9' && part <= UINT16_MAX;
        if (n == 4 || !is_number || (*end != ':' && *end != '\0')) {
            return 0;
        }
        parts[n] = (unsigned)part;
        text = *end == ':' ? end + 1 : NULL;
    }
    *k = (channel){.subdevice = parts[0], .channel = parts[1], .range = parts[2], .reference = parts[3]};
    return k->reference < 4;
}

/* Find a function; dlsym gives a data pointer, which POSIX lets be a function's. */
static int found(library *l, const char *name, void *to)
{
    void *symbol = dlsym(l->handle, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

static khz_status load(card *d, const khz_device_config *c, char *message, size_t n_message)
{
    library *l = &d->lib;
    const char *name = khz_config_text(c, "library", "libcomedi.so.0");
    const char *path = khz_config_text(c, "path", "/dev/comedi0");
    l->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (l->handle == NULL) {
        return khz_device_fail(message, n_message, KHZ_UNSUPPORTED, "%s: there is no %s: %s", c->name, name, dlerror());
    }
    if (!found(l, "comedi_open", &l->open) || !found(l, "comedi_close", &l->close) ||
        !found(l, "comedi_get_maxdata", &l->get_maxdata) || !found(l, "comedi_get_range", &l->get_range) ||
        !found(l, "comedi_data_read", &l->data_read) || !found(l, "comedi_data_write", &l->data_write)) {
        return khz_device_fail(message, n_message, KHZ_UNSUPPORTED, "%s: %s is no libcomedi", c->name, name);
    }
    d->device = l->open(path);
    if (d->device == NULL) {
        return khz_device_fail(message, n_message, KHZ_UNSUPPORTED, "%s: cannot open card %s", c->name, path);
    }
    return KHZ_OK;
}

static void close_(void *device)
{
    card *d = device;
    if (d->device != NULL) {
        (void)d->lib.close(d->device);
    }
    if (d->lib.handle != NULL) {
        (void)dlclose(d->lib.handle);
    }
    d->device = d->lib.handle = NULL;
}

/* Resolution and range of a channel, asked once. */
static int measured(card *d, channel *k)
{
    double high = 10.0;
    k->most = SIMULATED_MOST;
    k->low = -10.0;
    if (d->device != NULL) {
        const comedi_range *r = d->lib.get_range(d->device, k->subdevice, k->channel, k->range);
        k->most = d->lib.get_maxdata(d->device, k->subdevice, k->channel);
        if (r == NULL || k->most == 0 || !(r->min < r->max)) {
            return 0;
        }
        k->low = r->min;
        high = r->max;
    } else if (k->channel >= SIMULATED_CHANNELS) {
        return 0;
    }
    k->step = (high - k->low) / (double)k->most;
    return 1;
}

static khz_status open_(void *device, const khz_device_config *c, char *message, size_t n_message)
{
    card *d = device;
    int good = 1;
    const int simulated = khz_config_flag(c, "simulated", 0, &good);
    if (!good) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: simulated is true or false", c->name);
    }
    khz_status status = simulated ? KHZ_OK : load(d, c, message, n_message);
    channel *k = d->channels;
    for (int direction = 0; direction < 2 && status == KHZ_OK; direction++) {
        d->n[direction] = khz_config_count(c, direction, &good);
        for (int32_t i = 0; i < d->n[direction] && status == KHZ_OK; i++, k++) {
            if (!read_address(c, direction, i, k) || !measured(d, k)) {
                status = khz_device_fail(
                    message, n_message, KHZ_DOMAIN,
                    "%s: %s.%ld: the card has no such channel; an address is subdevice:channel:range:reference",
                    c->name, direction == KHZ_RECEIVE ? "receive" : "send", (long)i);
            }
        }
    }
    d->scratch = (double *)(void *)k;
    if (status != KHZ_OK) {
        close_(d);
    }
    return status;
}

static int get(card *d, const channel *k, unsigned *raw)
{
    if (d->device == NULL) {
        *raw = d->wires[k->channel];
        return 1;
    }
    return d->lib.data_read(d->device, k->subdevice, k->channel, k->range, k->reference, raw) >= 0;
}

static int put(card *d, const channel *k, unsigned raw)
{
    if (d->device == NULL) {
        d->wires[k->channel] = raw;
        return 1;
    }
    return d->lib.data_write(d->device, k->subdevice, k->channel, k->range, k->reference, raw) >= 0;
}

static int receive(card *d, khz_exchange *x)
{
    for (int32_t i = 0; i < x->n; i++) {
        const channel *k = &d->channels[i];
        unsigned raw;
        if (!get(d, k, &raw)) {
            x->counters->n_malformed++;
            return KHZ_LINK_QUIET;
        }
        d->scratch[i] = k->low + k->step * (double)raw;
    }
    memcpy(x->values, d->scratch, sizeof(double) * (size_t)x->n);
    x->counters->n_received++;
    return KHZ_LINK_FRESH;
}

static int send_(card *d, khz_exchange *x)
{
    int result = KHZ_LINK_FRESH;
    for (int32_t i = 0; i < x->n; i++) {
        const channel *k = &d->channels[d->n[KHZ_RECEIVE] + i];
        const double steps = nearbyint((x->values[i] - k->low) / k->step);
        const double cut = fmin(fmax(steps, 0.0), (double)k->most);
        if (!put(d, k, (unsigned)cut)) {
            x->counters->n_refused++;
            result = KHZ_LINK_QUIET;
        }
    }
    x->counters->n_sent += result == KHZ_LINK_FRESH;
    return result;
}

static int exchange(void *device, int direction, khz_exchange *x)
{
    return direction == KHZ_RECEIVE ? receive(device, x) : send_(device, x);
}

const khz_device_class khz_comedi = {"comedi", size, open_, exchange, close_};
