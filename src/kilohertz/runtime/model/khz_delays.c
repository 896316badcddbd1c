/* The past of delay lines and transports: recorded point by point in rings of fixed size, read between points. */

#include <math.h>

#include "khz_model.h"
#include "khz_probe.h"

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
    /* Bisection for the last point not after `at`. */
    int32_t low = 0;
    int32_t high = line->count - 1;
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        if (line->time[(line->first + middle) % n] <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const int32_t a = (line->first + low) % n;
    const int32_t b = (line->first + high) % n;
    const double span = line->time[b] - line->time[a];
    const khz_real part = span > 0.0 ? (at - line->time[a]) / span : 1.0;
    return line->value[a] + part * (line->value[b] - line->value[a]);
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
