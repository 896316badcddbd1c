#include "khz_account.h"

static int bucket_of(int64_t value)
{
    if (value < 2 * KHZ_HISTOGRAM_SUB) {
        return value < 0 ? 0 : (int)value;
    }
    int octave = 0;
    uint64_t rest = (uint64_t)value;
    while (rest >= 2 * KHZ_HISTOGRAM_SUB) { /* at most 58 turns */
        rest >>= 1;
        octave++;
    }
    const int at = octave * KHZ_HISTOGRAM_SUB + (int)rest;
    return at < KHZ_HISTOGRAM_BUCKETS ? at : KHZ_HISTOGRAM_BUCKETS - 1;
}

static int64_t upper_end(int bucket)
{
    if (bucket < 2 * KHZ_HISTOGRAM_SUB) {
        return bucket;
    }
    const int octave = bucket / KHZ_HISTOGRAM_SUB - 1;
    const int64_t mantissa = bucket % KHZ_HISTOGRAM_SUB + KHZ_HISTOGRAM_SUB;
    return ((mantissa + 1) << octave) - 1;
}

void khz_histogram_add(khz_histogram *h, int64_t value)
{
    const int64_t v = value < 0 ? 0 : value;
    if (h->n == 0 || v < h->min) {
        h->min = v;
    }
    if (h->n == 0 || v > h->max) {
        h->max = v;
    }
    h->n++;
    h->sum += v;
    h->bucket[bucket_of(v)]++;
}

int64_t khz_histogram_quantile(const khz_histogram *h, double q)
{
    if (h->n == 0) {
        return 0;
    }
    const double wanted = q * (double)h->n;
    uint64_t passed = 0;
    for (int i = 0; i < KHZ_HISTOGRAM_BUCKETS; i++) {
        passed += h->bucket[i];
        if ((double)passed >= wanted && passed > 0) {
            const int64_t end = upper_end(i);
            return end < h->max ? end : h->max;
        }
    }
    return h->max;
}

double khz_histogram_mean(const khz_histogram *h) { return h->n > 0 ? (double)h->sum / (double)h->n : 0.0; }

void khz_account_time(khz_account *a, int kind, int64_t value, int64_t step)
{
    khz_histogram *const h = &a->time[kind];
    const int worst = h->n == 0 || (kind == KHZ_TIME_SLACK ? value < h->min : value > h->max);
    if (worst) {
        a->worst_cycle[kind] = step;
    }
    khz_histogram_add(h, value);
}

static void histogram_join(khz_histogram *h, const khz_histogram *more)
{
    if (more->n == 0) {
        return;
    }
    h->min = h->n == 0 || more->min < h->min ? more->min : h->min;
    h->max = h->n == 0 || more->max > h->max ? more->max : h->max;
    h->n += more->n;
    h->sum += more->sum;
    for (int i = 0; i < KHZ_HISTOGRAM_BUCKETS; i++) {
        h->bucket[i] += more->bucket[i];
    }
}

void khz_account_add(khz_account *a, const khz_account *more)
{
    uint64_t *const counts = (uint64_t *)(void *)&a->counts;
    const uint64_t *const others = (const uint64_t *)(const void *)&more->counts;
    for (size_t i = 0; i < sizeof a->counts / sizeof *counts; i++) {
        counts[i] += others[i];
    }
    for (int kind = 0; kind < KHZ_TIMES; kind++) {
        const khz_histogram *const h = &a->time[kind];
        const khz_histogram *const m = &more->time[kind];
        const int worse = kind == KHZ_TIME_SLACK ? m->min < h->min : m->max > h->max;
        a->worst_cycle[kind] = m->n > 0 && (h->n == 0 || worse) ? more->worst_cycle[kind] : a->worst_cycle[kind];
        histogram_join(&a->time[kind], m);
    }
}
