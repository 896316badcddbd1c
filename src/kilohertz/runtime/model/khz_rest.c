#include "khz_rest.h"

#include <math.h>

#include "khz_vector.h"

/* Looks after the event itself that show that a quantity stays: the first may be at the event's own instant. */
static const double RESTED = 2.0;
/* Found further from zero than this part of its way, a quantity jumped, or the event was not located. */
static const double FOUND = 1e-3;

/* Of two numbers g: |g| where it is no more than the band. */
static KHZ_INLINE void quiet_pair(double *g, const double *band)
{
    const khz_pair own = khz_pair_at(g);
    const khz_flags within = (khz_flags)((khz_pair)((khz_flags)own & INT64_MAX) <= khz_pair_at(band));
    khz_set_pair(g, (khz_pair)((khz_flags)own & ~(within & INT64_MIN)));
}

void khz_rest_quiet(const khz_model *m, const khz_rest *rest, double *g)
{
    const int32_t n = m->n_r;
    const double *const band = rest->band;
    int32_t i = 0;
    for (; i + 2 <= n; i += 2) {
        quiet_pair(g + i, band + i);
    }
    if (i < n) {
        g[i] = fabs(g[i]) <= band[i] ? fabs(g[i]) : g[i];
    }
}

int khz_rest_look(const khz_model *m, const khz_rest *rest, const double *g)
{
    const int32_t n = m->n_r;
    double *const band = rest->band;
    double *const age = rest->age;
    int any = 0;
    for (int32_t i = 0; i < n; i++) {
        if (band[i] == 0.0) {
            continue; /* free, and of no age */
        }
        const int stays = fabs(g[i]) <= band[i];
        band[i] = stays ? band[i] : 0.0;
        age[i] = !stays ? 0.0 : age[i] < RESTED ? age[i] + 1.0 : RESTED;
        any |= stays;
    }
    return any;
}

void khz_rest_hold(const khz_model *m, void *instance, const khz_rest *rest, const double *g)
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

int khz_rest_found(const khz_rest *rest, int32_t i, double g, double reach, double noise)
{
    const int is_near = fabs(g) <= FOUND * reach;
    rest->band[i] = is_near ? fabs(g) + noise * reach : 0.0;
    rest->age[i] = 0.0;
    return is_near;
}
