#include "khz_ports.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DELAY = 1 << 16 };

/* What happens to one value on its way. */
typedef struct signal {
    const char *name;
    double gain, offset, low, high;
    double step, bottom, top; /* quantisation; step 0: none */
    double fallback, safe;
    int32_t delay, at; /* cycles; where the next value goes */
    size_t line;       /* first of `delay` values in the port's lines */
} signal;

struct khz_port {
    const khz_device_class *driver;
    const char *name;
    void *device;
    signal *signals[2];
    double *values[2]; /* as the driver sees them */
    double *held;      /* [n_receive] what came last, converted */
    double *lines;     /* delays of both directions */
    int32_t n[2];
    int32_t on_loss;
    int64_t timeout_ns, last_ns; /* last_ns: when something came last */
    int32_t started, lost;
    uint64_t n_came; /* messages in this cycle */
    khz_device_counters counters;
};

static size_t rounded(size_t n) { return (n + 63u) & ~(size_t)63u; }

static int32_t delay_of(const khz_device_config *c, int direction, int32_t i, int *good)
{
    const double cycles = khz_config_signal_real(c, direction, i, "delay", 0.0, good);
    if (!(cycles >= 0.0 && cycles <= (double)MAX_DELAY && cycles == floor(cycles))) {
        *good = 0;
        return 0;
    }
    return (int32_t)cycles;
}

/* Bytes of the parts: port, signals, values, delay lines; the device last. */
static size_t parts(const khz_device_config *c, size_t at[4], int32_t n[2], int *good)
{
    size_t n_line = 0;
    for (int direction = 0; direction < 2; direction++) {
        n[direction] = khz_config_count(c, direction, good);
        for (int32_t i = 0; i < n[direction]; i++) {
            n_line += (size_t)delay_of(c, direction, i, good);
        }
    }
    const size_t n_all = (size_t)n[0] + (size_t)n[1];
    at[0] = rounded(sizeof(khz_port));
    at[1] = at[0] + rounded(n_all * sizeof(signal));
    at[2] = at[1] + rounded((n_all + (size_t)n[0]) * sizeof(double));
    at[3] = at[2] + rounded(n_line * sizeof(double));
    return at[3];
}

size_t khz_port_size(const khz_device_config *c)
{
    size_t at[4];
    int32_t n[2];
    int good = 1;
    const size_t head = parts(c, at, n, &good);
    const khz_device_class *driver = khz_device_find(khz_config_text(c, "driver", ""));
    return head + (driver != NULL ? rounded(driver->size(c)) : 0);
}

/* Read one signal; NULL where all is well, otherwise the key that makes no sense. */
static const char *read_signal(signal *s, const khz_device_config *c, int direction, int32_t i)
{
    int good = 1;
    s->name = khz_config_signal(c, direction, i, "name", "");
    s->gain = khz_config_signal_real(c, direction, i, "gain", 1.0, &good);
    s->offset = khz_config_signal_real(c, direction, i, "offset", 0.0, &good);
    if (!good || !isfinite(s->gain) || !isfinite(s->offset)) {
        return "gain, offset";
    }
    s->low = khz_config_signal_real(c, direction, i, "min", -DBL_MAX, &good);
    s->high = khz_config_signal_real(c, direction, i, "max", DBL_MAX, &good);
    if (!good || !(s->low <= s->high)) {
        return "min, max";
    }
    const double bits = khz_config_signal_real(c, direction, i, "bits", 0.0, &good);
    s->bottom = khz_config_signal_real(c, direction, i, "low", s->low, &good);
    s->top = khz_config_signal_real(c, direction, i, "high", s->high, &good);
    if (!good || !(bits >= 0.0 && bits <= 32.0 && bits == floor(bits))) {
        return "bits, low, high";
    }
    if (bits > 0.0) {
        if (!(s->bottom < s->top && s->top - s->bottom <= DBL_MAX / 2)) {
            return "low, high (needed with bits)";
        }
        s->step = (s->top - s->bottom) / (exp2(bits) - 1.0);
    }
    s->fallback = khz_config_signal_real(c, direction, i, "default", 0.0, &good);
    s->safe = khz_config_signal_real(c, direction, i, "safe", s->fallback, &good);
    if (!good || !isfinite(s->fallback) || !isfinite(s->safe)) {
        return "default, safe";
    }
    s->delay = delay_of(c, direction, i, &good);
    return good ? NULL : "delay";
}

/* Gain, offset, saturation, quantisation. */
static double converted(khz_port *p, const signal *s, double value)
{
    double v = s->gain * value + s->offset;
    if (v < s->low || v > s->high) {
        v = v > s->high ? s->high : s->low;
        p->counters.n_saturated++;
    }
    if (s->step > 0.0) {
        v = fmin(fmax(v, s->bottom), s->top);
        v = fmin(s->bottom + s->step * nearbyint((v - s->bottom) / s->step), s->top);
    }
    return v;
}

/* Is there a number to pass on?  Counted where there is none. */
static int is_number(khz_port *p, const signal *s, double value)
{
    const int is = isfinite(s->gain * value + s->offset);
    p->counters.n_not_finite += (uint64_t)!is;
    return is;
}

static int loss_of(const char *text)
{
    static const char *const names[] = {"hold", "default", "safe", "stop"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static khz_status read_port(khz_port *p, const khz_device_config *c, char *message, size_t n_message)
{
    int good = 1;
    p->name = c->name;
    p->on_loss = loss_of(khz_config_text(c, "on_loss", "hold"));
    const double timeout = khz_config_real(c, "timeout", 0.0, &good);
    if (p->on_loss < 0 || !good || !(timeout >= 0.0 && timeout < 1e9)) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN,
                               "%s: on_loss is hold, default, safe or stop; timeout is in seconds", c->name);
    }
    p->timeout_ns = (int64_t)(timeout * 1e9);
    size_t line = 0;
    for (int direction = 0; direction < 2; direction++) {
        for (int32_t i = 0; i < p->n[direction]; i++) {
            signal *s = &p->signals[direction][i];
            const char *wrong = read_signal(s, c, direction, i);
            if (wrong != NULL) {
                return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: %s.%ld: %s: not a number or out of range",
                                       c->name, direction == KHZ_RECEIVE ? "receive" : "send", (long)i, wrong);
            }
            const double first = direction == KHZ_RECEIVE ? s->fallback : converted(p, s, s->fallback);
            s->line = line;
            for (int32_t k = 0; k < s->delay; k++) {
                p->lines[line++] = first;
            }
            if (direction == KHZ_RECEIVE) {
                p->held[i] = s->fallback;
            }
        }
    }
    return KHZ_OK;
}

khz_status khz_port_open(void *memory, const khz_device_config *c, char *message, size_t n_message)
{
    khz_port *p = memory;
    const char *name = khz_config_text(c, "driver", "");
    const khz_device_class *driver = khz_device_find(name);
    if (driver == NULL) {
        return khz_device_fail(message, n_message, KHZ_UNSUPPORTED, "%s: there is no driver \"%s\" in this program",
                               c->name, name);
    }
    size_t at[4];
    int32_t n[2];
    int good = 1;
    const size_t head = parts(c, at, n, &good);
    if (!good) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: n_receive, n_send or a delay is out of range",
                               c->name);
    }
    memset(memory, 0, head + rounded(driver->size(c)));
    char *base = memory;
    for (int direction = 0; direction < 2; direction++) {
        const size_t skip = direction ? (size_t)n[0] : 0;
        p->n[direction] = n[direction];
        p->signals[direction] = (signal *)(void *)(base + at[0]) + skip;
        p->values[direction] = (double *)(void *)(base + at[1]) + skip;
    }
    p->held = p->values[KHZ_SEND] + n[KHZ_SEND];
    p->lines = (double *)(void *)(base + at[2]);
    p->device = base + at[3];
    const khz_status status = read_port(p, c, message, n_message);
    if (status != KHZ_OK) {
        return status;
    }
    p->driver = driver;
    return driver->open(p->device, c, message, n_message);
}

void khz_port_close(khz_port *p) { p->driver->close(p->device); }

int32_t khz_port_count(const khz_port *p, int direction) { return p->n[direction]; }

const char *khz_port_signal(const khz_port *p, int direction, int32_t index)
{
    return p->signals[direction][index].name;
}

const char *khz_port_name(const khz_port *p) { return p->name; }

const khz_device_counters *khz_port_counters(const khz_port *p) { return &p->counters; }

uint64_t khz_port_came(const khz_port *p) { return p->n_came; }

/* The value of `delay` cycles ago; v takes its place. */
static double delayed(khz_port *p, signal *s, double v)
{
    if (s->delay == 0) {
        return v;
    }
    double *slot = &p->lines[s->line + (size_t)s->at];
    const double old = *slot;
    *slot = v;
    s->at = s->at + 1 < s->delay ? s->at + 1 : 0;
    return old;
}

/* Whether the link counts as lost, and the flags that say so. */
static uint32_t watch(khz_port *p, int64_t time_ns, int fresh)
{
    if (fresh || !p->started) {
        p->started = 1;
        p->last_ns = time_ns;
        p->lost = 0;
    }
    if (p->n[KHZ_RECEIVE] == 0 || p->timeout_ns == 0 || time_ns - p->last_ns <= p->timeout_ns) {
        return 0;
    }
    p->counters.n_timeouts += p->lost ? 0 : 1;
    p->lost = 1;
    return p->on_loss == KHZ_LOSS_STOP ? KHZ_PORT_LOST | KHZ_PORT_STOP : KHZ_PORT_LOST;
}

/* What came in this cycle: the newest is taken, those before it are overtaken (a driver may have said so itself). */
static void count(khz_port *p, const khz_device_counters *before, int fresh)
{
    khz_device_counters *const c = &p->counters;
    const uint64_t taken = c->n_received - before->n_received;
    c->n_overtaken += taken > 1 ? taken - 1 : 0;
    c->n_quiet += !fresh && c->n_received > 0 && p->n[KHZ_RECEIVE] > 0;
    p->n_came = fresh ? 1 + (c->n_overtaken - before->n_overtaken) : 0;
}

uint32_t khz_port_receive(khz_port *p, uint64_t cycle, int64_t time_ns, double *inputs)
{
    khz_exchange x = {cycle, time_ns, p->values[KHZ_RECEIVE], p->n[KHZ_RECEIVE], &p->counters};
    const khz_device_counters before = p->counters;
    const int result = p->driver->exchange(p->device, KHZ_RECEIVE, &x);
    count(p, &before, result == KHZ_LINK_FRESH);
    const uint32_t flags = (result == KHZ_LINK_FRESH ? (uint32_t)KHZ_PORT_FRESH : 0u) |
                           (result == KHZ_LINK_DOWN ? (uint32_t)KHZ_PORT_DOWN : 0u) |
                           watch(p, time_ns, result == KHZ_LINK_FRESH);
    for (int32_t i = 0; i < p->n[KHZ_RECEIVE]; i++) {
        signal *s = &p->signals[KHZ_RECEIVE][i];
        if (result == KHZ_LINK_FRESH && is_number(p, s, p->values[KHZ_RECEIVE][i])) {
            p->held[i] = converted(p, s, p->values[KHZ_RECEIVE][i]);
        }
        inputs[i] = delayed(p, s, p->held[i]);
        if (p->lost && p->on_loss == KHZ_LOSS_DEFAULT) {
            inputs[i] = s->fallback;
        } else if (p->lost && p->on_loss == KHZ_LOSS_SAFE) {
            inputs[i] = s->safe;
        }
    }
    return flags;
}

uint32_t khz_port_send(khz_port *p, uint64_t cycle, int64_t time_ns, const double *outputs, int safe)
{
    for (int32_t i = 0; i < p->n[KHZ_SEND]; i++) {
        signal *s = &p->signals[KHZ_SEND][i];
        const double v = delayed(p, s, converted(p, s, is_number(p, s, outputs[i]) ? outputs[i] : s->safe));
        p->values[KHZ_SEND][i] = safe ? converted(p, s, s->safe) : v;
    }
    khz_exchange x = {cycle, time_ns, p->values[KHZ_SEND], p->n[KHZ_SEND], &p->counters};
    const int result = p->driver->exchange(p->device, KHZ_SEND, &x);
    return (result == KHZ_LINK_FRESH ? (uint32_t)KHZ_PORT_FRESH : 0u) |
           (result == KHZ_LINK_DOWN ? (uint32_t)KHZ_PORT_DOWN : 0u);
}
