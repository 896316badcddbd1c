/* The past of delay lines and transports: recorded point by point in rings of fixed size, read between points. */

#include <math.h>
#include <stdio.h>

#include "khz_model.h"
#include "khz_probe.h"
#include "khz_text.h"

#define HARDLY 1e-6 /* of a step: rounding */

/* The last point not after `at`, which is before the newest one. */
static int32_t last_before(const khz_delay *line, double at)
{
    int32_t low = 0;
    int32_t high = line->count - 1;
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        if (line->time[(line->first + middle) % KHZ_DELAY_POINTS] <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

khz_real khz_delay_value(khz_delay *line, double now, khz_real present, double at)
{
    line->longest = fmax(line->longest, now - at);
    if (line->count == 0 || at >= now) {
        return present;
    }
    const int32_t n = KHZ_DELAY_POINTS;
    const int32_t newest = (line->first + line->count - 1) % n;
    if (at >= line->time[newest]) {
        const double span = now - line->time[newest];
        const khz_real part = span > 0.0 ? (at - line->time[newest]) / span : 1.0;
        return line->value[newest] + part * (present - line->value[newest]);
    }
    if (at <= line->time[line->first]) {
        return line->value[line->first];
    }
    const int32_t low = last_before(line, at);
    const int32_t high = low + 1;
    const int32_t a = (line->first + low) % n;
    const int32_t b = (line->first + high) % n;
    const double span = line->time[b] - line->time[a];
    const khz_real part = span > 0.0 ? (at - line->time[a]) / span : 1.0;
    return line->value[a] + part * (line->value[b] - line->value[a]);
}

khz_real khz_delay_since(const khz_delay *line, double now, khz_real past, khz_real value, double at)
{
    const int is_whole = line->count < KHZ_DELAY_POINTS; /* nothing was dropped at its beginning */
    const int is_before = at < now && is_whole && (line->count == 0 || at < line->time[line->first]);
    return is_before ? past : value;
}

khz_real khz_delay_part(const khz_delay *line, double now, double at)
{
    if (line->count == 0 || at >= now) {
        return 1.0;
    }
    const double newest = line->time[(line->first + line->count - 1) % KHZ_DELAY_POINTS];
    return at <= newest ? 0.0 : (at - newest) / (now - newest);
}

khz_real khz_delay_pace(const khz_delay *line, double now, double at)
{
    if (line->count < 2 || at >= now || at < line->time[line->first]) {
        return 0.0;
    }
    const int32_t n = KHZ_DELAY_POINTS;
    const int32_t newest = (line->first + line->count - 1) % n;
    const int32_t low = at < line->time[newest] ? last_before(line, at) : line->count - 2;
    const int32_t a = (line->first + low) % n;
    const int32_t b = (line->first + low + 1) % n;
    const double span = line->time[b] - line->time[a];
    return span > 0.0 ? (line->value[b] - line->value[a]) / span : 0.0;
}

#define AND_KNOWS                                                                                                      \
    "is shorter than a step, and what goes into it depends on what it gives: it gives what went in when the step "     \
    "began"

#if defined(KHZ_ENSEMBLE_H) /* a target without texts */
static void tell_short(khz_context *c, double delay)
{
    (void)delay;
    khz_say(c, KHZ_SAID_WARNING, KHZ_NOWHERE, "a delay " AND_KNOWS);
}
#else
static void tell_short(khz_context *c, double delay)
{
    char text[KHZ_MESSAGE_SIZE];
    (void)snprintf(text, sizeof text, "a delay of %g s " AND_KNOWS, delay);
    khz_assert(c, 0, KHZ_NOWHERE, text);
}
#endif

khz_real khz_delay_held(khz_context *c, khz_delay *line, khz_real first, double at)
{
    const double delay = c->time - at;
    line->shortest = line->shortest > 0.0 ? fmin(line->shortest, delay) : delay;
    if (line->count == 0) {
        return first;
    }
    const int32_t newest = (line->first + line->count - 1) % KHZ_DELAY_POINTS;
    const double beyond = at - line->time[newest];
    if (!line->is_told && beyond > HARDLY * (c->time - line->time[newest])) {
        line->is_told = 1;
        tell_short(c, delay);
    }
    return beyond >= 0.0 ? line->value[newest] : khz_delay_value(line, c->time, line->value[newest], at);
}

double khz_delay_shortest(const khz_model *m, void *instance)
{
    const khz_delay *const lines = (const khz_delay *)(const void *)((const char *)instance + m->delays);
    double shortest = HUGE_VAL;
    for (int32_t i = 0; i < m->n_delays; i++) {
        shortest = lines[i].shortest > 0.0 ? fmin(shortest, lines[i].shortest) : shortest;
    }
    return shortest;
}

/* Is the newest point so close to the one before it that, at this pace, the ring would not reach back far enough?  Then
 * a new point takes its place.  Two points at one instant (a jump) stay. */
static int is_dense(const khz_delay *line, double now)
{
    if (line->count < 3) {
        return 0;
    }
    const int32_t n = KHZ_DELAY_POINTS;
    const double newest = line->time[(line->first + line->count - 1) % n];
    const double before = line->time[(line->first + line->count - 2) % n];
    return newest > before && now > newest && newest - before < line->longest / (n / 2);
}

void khz_delay_push(const khz_model *m, void *instance, khz_real *work)
{
    const khz_context *const c = (const khz_context *)instance;
    khz_delay *const lines = (khz_delay *)(void *)((char *)instance + m->delays);
    KHZ_COPY(c, m)->delay_sources(instance, work);
    for (int32_t i = 0; i < m->n_delays; i++) {
        khz_delay *const line = &lines[i];
        if (is_dense(line, c->time)) {
            line->count--;
        }
        const int32_t at = (line->first + line->count) % KHZ_DELAY_POINTS;
        line->time[at] = c->time;
        line->value[at] = work[i];
        if (line->count < KHZ_DELAY_POINTS) {
            line->count++;
        } else {
            line->first = (line->first + 1) % KHZ_DELAY_POINTS;
        }
    }
    khz_transport *const transports = (khz_transport *)(void *)((char *)instance + m->transports);
    const khz_real *recorded = work + m->n_delays;
    for (int32_t i = 0; i < m->n_transports; i++) {
        khz_transport_push(&transports[i], m->transport_points[i], recorded);
        recorded += 4 + 2 * m->transport_points[i];
    }
}
