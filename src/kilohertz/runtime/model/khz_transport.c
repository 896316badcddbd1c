#include <math.h>

#include "khz_model.h"

/* A point that enters at 0 when the position is x keeps the label -x, one that enters at 1 the label 1 - x: at position
 * y stands what has the label y - x.  The line holds labels in ascending order, from -x to 1 - x at the last push. */

static int32_t place(const khz_transport *line, int32_t i) { return (line->first + i) % KHZ_DELAY_POINTS; }

khz_real khz_transport_value(const khz_transport *line, khz_real label, khz_real initial)
{
    if (line->count == 0) {
        return initial;
    }
    if (label <= line->label[place(line, 0)]) {
        return line->value[place(line, 0)];
    }
    if (label >= line->label[place(line, line->count - 1)]) {
        return line->value[place(line, line->count - 1)];
    }
    /* Bisection for the last point not after the label. */
    int32_t low = 0;
    int32_t high = line->count - 1;
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        if (line->label[place(line, middle)] <= label) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const int32_t a = place(line, low);
    const int32_t b = place(line, high);
    const khz_real part = (label - line->label[a]) / (line->label[b] - line->label[a]);
    return line->value[a] + part * (line->value[b] - line->value[a]);
}

khz_real khz_transport_present(const khz_transport *line, khz_real label, khz_real initial, khz_real position,
                               khz_real at_zero, khz_real at_one, khz_real positive)
{
    if (line->count == 0) {
        return initial;
    }
    const int is_positive = positive > 0.5;
    const int32_t outermost = place(line, is_positive ? 0 : line->count - 1);
    const khz_real from = line->label[outermost];
    const khz_real entering = is_positive ? -position : 1.0 - position;
    const khz_real value = is_positive ? at_zero : at_one;
    if (is_positive ? label <= entering : label >= entering) {
        return value;
    }
    if (is_positive ? label < from : label > from) {
        return value + (label - entering) / (from - entering) * (line->value[outermost] - value);
    }
    return khz_transport_value(line, label, initial);
}

/* Drop what has left at either end; the last point there moves to the end itself. */
static void cut(khz_transport *line, khz_real low, khz_real high)
{
    const khz_real at_low = khz_transport_value(line, low, 0.0);
    const khz_real at_high = khz_transport_value(line, high, 0.0);
    while (line->count > 1 && line->label[place(line, 1)] <= low) {
        line->first = place(line, 1);
        line->count--;
    }
    if (line->label[place(line, 0)] < low) {
        line->label[place(line, 0)] = low;
        line->value[place(line, 0)] = at_low;
    }
    while (line->count > 1 && line->label[place(line, line->count - 2)] >= high) {
        line->count--;
    }
    if (line->label[place(line, line->count - 1)] > high) {
        line->label[place(line, line->count - 1)] = high;
        line->value[place(line, line->count - 1)] = at_high;
    }
}

/* Does the outermost point say nothing that the new one and its neighbour do not, or stand too close to the latter for
 * the ring to hold a whole profile?  `i` and `next`: the outermost point and its neighbour. */
static int is_spare(const khz_transport *line, int32_t i, int32_t next, khz_real label)
{
    const khz_real gap = fabs(line->label[i] - line->label[next]);
    const khz_real fresh = fabs(label - line->label[i]);
    if (!(gap > 0.0)) {
        return !(fresh > 0.0); /* two points at one place are a jump; a third takes the place of the second */
    }
    return fresh > 0.0 && gap < 2.0 / KHZ_DELAY_POINTS;
}

static void enter_line(khz_transport *line, int at_zero, khz_real label, khz_real value)
{
    const int32_t end = at_zero ? place(line, 0) : place(line, line->count - 1);
    const int32_t next = at_zero ? place(line, 1) : place(line, line->count - 2 + KHZ_DELAY_POINTS);
    const int full = line->count == KHZ_DELAY_POINTS;
    if (full || (line->count > 1 && is_spare(line, end, next, label))) {
        line->label[end] = label;
        line->value[end] = value;
        return;
    }
    if (at_zero) {
        line->first = place(line, KHZ_DELAY_POINTS - 1);
    }
    line->count++;
    const int32_t fresh = at_zero ? place(line, 0) : place(line, line->count - 1);
    line->label[fresh] = label;
    line->value[fresh] = value;
}

void khz_transport_push(khz_transport *line, int32_t n_points, const khz_real *recorded)
{
    const khz_real x = recorded[2];
    const khz_real *const points = recorded + 4;
    if (line->count == 0) {
        for (int32_t i = 0; i < n_points && i < KHZ_DELAY_POINTS / 2; i++) {
            line->label[i] = points[i] - x;
            line->value[i] = points[n_points + i];
            line->count = i + 1;
        }
    }
    cut(line, -x, 1.0 - x);
    const int at_zero = recorded[3] > 0.5;
    enter_line(line, at_zero, at_zero ? -x : 1.0 - x, recorded[at_zero ? 0 : 1]);
}
