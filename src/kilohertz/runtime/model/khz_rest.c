#include "khz_rest.h"

#include <math.h>

#include "khz_vector.h"

/* Looks after the event itself that show that a quantity stays: the first may be at the event's own instant. */
static const khz_real RESTED = 2.0;
/* Found further from zero than this part of its way, a quantity jumped, or the event was not located. */
static const khz_real FOUND = 1e-3;

static KHZ_INLINE khz_real quiet(khz_real g, khz_real band) { return fabs(g) <= band ? fabs(g) : g; }

/* Of two numbers g: |g| where it is no more than the band. */
static KHZ_INLINE void quiet_pair(khz_real *g, const khz_real *band)
{
#ifdef __cplusplus /* a device (building/ensemble.py) */
    g[0] = quiet(g[0], band[0]);
    g[1] = quiet(g[1], band[1]);
#else
    static const khz_bits digits = KHZ_BY_NUMBER(INT64_MAX, INT32_MAX); /* all but the sign */
    const khz_pair own = khz_pair_at(g);
    const khz_flags within = (khz_flags)((khz_pair)((khz_flags)own & digits) <= khz_pair_at(band));
    khz_set_pair(g, (khz_pair)((khz_flags)own & ~(within & ~digits)));
#endif
}

void khz_rest_quiet(const khz_model *m, const khz_rest *rest, khz_real *g)
{
    const int32_t n = m->n_r;
    const khz_real *const band = rest->band;
    int32_t i = 0;
    for (; i + 2 <= n; i += 2) {
        quiet_pair(g + i, band + i);
    }
    if (i < n) {
        g[i] = quiet(g[i], band[i]);
    }
}

int khz_rest_look(const khz_model *m, const khz_rest *rest, const khz_real *g)
{
    const int32_t n = m->n_r;
    khz_real *const band = rest->band;
    khz_real *const age = rest->age;
    int any = 0;
    for (int32_t i = 0; i < n; i++) {
        if (band[i] == 0.0) {
            continue; /* free, and of no age */
        }
        const int stays = fabs(g[i]) <= band[i];
        band[i] = stays ? band[i] : 0.0;
        age[i] = !stays ? 0.0 : age[i] < RESTED ? age[i] + (khz_real)1.0 : RESTED;
        any |= stays;
    }
    return any;
}

void khz_rest_hold(const khz_model *m, void *instance, const khz_rest *rest, const khz_real *g)
{
    int32_t *const r = khz_ints(instance, m->r);
    int32_t *const forced = khz_ints(instance, m->forced);
    for (int32_t i = 0; i < m->n_r; i++) {
        if (rest->age[i] >= RESTED && fabs(g[i]) <= rest->band[i] && !forced[i]) {
            r[i] = m->at_zero[i];
            forced[i] = KHZ_FORCED_AT_REST;
        }
    }
}

int khz_rest_found(const khz_rest *rest, int32_t i, khz_real g, khz_real reach, khz_real noise)
{
    const int is_near = fabs(g) <= FOUND * reach;
    rest->band[i] = is_near ? fabs(g) + noise * reach : 0.0;
    rest->age[i] = 0.0;
    return is_near;
}
