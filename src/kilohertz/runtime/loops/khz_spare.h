/* What a period of real time has for all loops together, beyond their usual way.  Off-line (newton_cap 0): no end. */
#ifndef KHZ_SPARE_H
#define KHZ_SPARE_H

#include "khz_base.h"
#include "khz_limits.h"
#include "khz_vector.h"

/* So many more?  Taken at once. */
static KHZ_INLINE int khz_may_take(const khz_context *c, int32_t *left, int32_t n)
{
    if (c->newton_cap == 0) {
        return 1;
    }
    const int may = *left >= n;
    *left -= may ? n : 0;
    return may;
}

/* One residual more than the iteration of a nonlinear loop usually takes? */
static KHZ_INLINE int khz_may_try(khz_context *c) { return khz_may_take(c, &c->trials_left, 1); }

/* Another iteration of a nonlinear loop beyond the cap of a step, or the minimum-norm solution of one? */
static KHZ_INLINE int khz_may_iterate(khz_context *c) { return khz_may_take(c, &c->iterations_left, 1); }

/* A linear system takes more than its usual way: a search for a mode pays for that with turns, or does without. */
static KHZ_INLINE int khz_may_detour(khz_context *c, int32_t turns)
{
    if (c->is_searching == 0 || khz_may_take(c, &c->turns_left, turns)) {
        return 1;
    }
    c->is_searching = KHZ_SEARCH_CUT;
    return 0;
}

/* Has a search for a mode taken fewer iterations off-line, or is there none?  Half of them after one that found none.
 */
static KHZ_INLINE int khz_has_iterations(const khz_context *c, uint32_t iterations)
{
    return c->is_searching == 0 || c->newton_cap > 0 ||
           c->n_iterations - c->searched_from < iterations >> c->n_fruitless;
}

#endif
