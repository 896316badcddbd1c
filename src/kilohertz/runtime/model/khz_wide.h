/* Arrays between a model that computes in singles and external code, which takes doubles. */
#ifndef KHZ_WIDE_H
#define KHZ_WIDE_H

#include "khz_base.h"

/* An array [n] as doubles in the arena; NULL where that has no room. */
static inline double *khz_widened(khz_context *c, const khz_real *a, size_t n)
{
    double *const wide = (double *)khz_arena(c, sizeof(double) * n);
    for (size_t i = 0; wide != NULL && i < n; i++) {
        wide[i] = (double)a[i];
    }
    return wide;
}

/* A number that the model can hold: `never` of external code is its largest double. */
static inline double khz_held(double v)
{
    const double most = (double)KHZ_LARGEST;
    return v > most && v <= DBL_MAX ? most : v < -most && v >= -DBL_MAX ? -most : v;
}

/* Doubles [n] as the numbers of the model. */
static inline void khz_narrow(khz_real *out, const double *wide, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (khz_real)khz_held(wide[i]);
    }
}

/* The same in the arena; NULL where that has no room. */
static inline khz_real *khz_narrowed(khz_context *c, const double *wide, size_t n)
{
    khz_real *const out = (khz_real *)khz_arena(c, sizeof(khz_real) * n);
    if (out != NULL) {
        khz_narrow(out, wide, n);
    }
    return out;
}

#endif
