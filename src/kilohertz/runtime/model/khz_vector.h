/* Vectors of numbers, two at a time: half the instructions, and every element as one at a time would give it. */
#ifndef KHZ_VECTOR_H
#define KHZ_VECTOR_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_base.h"

/* Several directions side by side, as generated code has them: element by element as one alone would give it. */
enum { KHZ_LANES = 2 };
#ifdef __cplusplus /* a device (building/ensemble.py) */
#include "khz_lanes.h"
#else
typedef khz_real khz_pair __attribute__((vector_size(2 * sizeof(khz_real)), aligned(sizeof(khz_real)), may_alias));
typedef KHZ_BY_NUMBER(int64_t, int32_t) khz_bits; /* as many as a number has */
typedef khz_bits khz_flags
    __attribute__((vector_size(2 * sizeof(khz_real)))); /* what a comparison of pairs gives: all ones, or none */
typedef khz_real khz_lanes
    __attribute__((vector_size(sizeof(khz_real) * KHZ_LANES))); /* another variant would not do in `c ? a : b` */
typedef khz_real khz_loose_lanes __attribute__((vector_size(sizeof(khz_real) * KHZ_LANES), aligned(sizeof(khz_real)),
                                                may_alias)); /* among doubles */
#endif

static KHZ_INLINE khz_pair khz_pair_at(const khz_real *v) { return *(const khz_pair *)(const void *)v; }
static KHZ_INLINE void khz_set_pair(khz_real *v, khz_pair p) { *(khz_pair *)(void *)v = p; }

static KHZ_INLINE khz_pair khz_pair_of(khz_real a, khz_real b)
{
    const khz_pair both = {a, b};
    return both;
}

static KHZ_INLINE khz_lanes khz_spread(khz_real v)
{
    const khz_lanes none = {0.0};
    return v - none;
}

static inline void khz_copy(khz_real *to, const khz_real *from, int32_t n)
{
    memcpy(to, from, sizeof(khz_real) * (size_t)n);
}

/* out := x + factor*y; out may be x. */
static inline void khz_add_scaled(int32_t n, const khz_real *x, khz_real factor, const khz_real *y, khz_real *out)
{
    int32_t i = 0;
    for (; i + 2 <= n; i += 2) {
        khz_set_pair(out + i, khz_pair_at(x + i) + factor * khz_pair_at(y + i));
    }
    if (i < n) {
        out[i] = x[i] + factor * y[i];
    }
}

/* v := factor*v */
static inline void khz_scale(int32_t n, khz_real factor, khz_real *v)
{
    int32_t i = 0;
    for (; i + 2 <= n; i += 2) {
        khz_set_pair(v + i, factor * khz_pair_at(v + i));
    }
    if (i < n) {
        v[i] *= factor;
    }
}

/* The sum of eight at a time from *i on. */
static KHZ_INLINE khz_real khz_sum_of_eights(int32_t n, const khz_real *v, int32_t *i)
{
    khz_pair a = {0.0, 0.0};
    khz_pair b = {0.0, 0.0};
    for (; *i + 8 <= n; *i += 8) {
        a += khz_pair_at(v + *i);
        b += khz_pair_at(v + *i + 2);
        a += khz_pair_at(v + *i + 4);
        b += khz_pair_at(v + *i + 6);
    }
    a += b;
    return a[0] + a[1];
}

/* Not finite where one of v is not, or their sum is too large; its own value depends on the order and says nothing. */
static KHZ_INLINE khz_real khz_any_sum(int32_t n, const khz_real *v)
{
    int32_t i = 0;
    khz_real sum = n >= 8 ? khz_sum_of_eights(n, v, &i) : 0.0;
    for (; i < n; i++) {
        sum += v[i];
    }
    return sum;
}

/* Neither NaN nor infinity among v [n]: either would pass on to the sum, so each is looked at only where that is
 * odd. */
static inline int khz_are_finite(int32_t n, const khz_real *v)
{
    if (fabs(khz_any_sum(n, v)) <= KHZ_LARGEST) {
        return 1;
    }
    for (int32_t i = 0; i < n; i++) {
        if (!(fabs(v[i]) <= KHZ_LARGEST)) {
            return 0;
        }
    }
    return 1;
}

#endif
