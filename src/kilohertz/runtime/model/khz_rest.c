#include "khz_rest.h"

#include <math.h>

/* Looks after the event itself that show that a quantity stays: the first may be at the event's own instant. */
static const khz_real RESTED = 2.0;
/* Found further from zero than this part of its way, a quantity jumped, or the event was not located. */
static const khz_real FOUND = 1e-3;

void khz_rest_quiet(const khz_model *m, const khz_rest *rest, khz_real *g)
{
    for (int32_t i = 0; i < m->n_r; i++) {
        g[i] = fabs(g[i]) <= rest->band[i] ? fabs(g[i]) : g[i];
    }
}

int khz_rest_look(const khz_model *m, const khz_rest *rest, const khz_real *g)
{
    int any = 0;
    for (int32_t i = 0; i < m->n_r; i++) {
        const int stays = rest->band[i] > 0.0 && fabs(g[i]) <= rest->band[i];
        rest->band[i] = stays ? rest->band[i] : 0.0;
        rest->age[i] = stays ? fmin(rest->age[i] + (khz_real)1.0, RESTED) : 0.0;
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
