/* Runs that come to no end because the solution stays at a jump of derivatives that makes no event.
 *
 * On either side of such a jump (`noEvent`, a comparison inside a function) derivatives lead back to it.  No step of
 * a solver has a solution there: each is cut until its way over the jump is below the tolerance. */
#ifndef KHZ_STANDSTILL_H
#define KHZ_STANDSTILL_H

#include "khz_doubt.h"
#include "khz_offline.h"

typedef struct khz_standstill {
    double *low, *high;           /* [n_x] derivatives in the last steps of a count */
    int64_t n_steps, n_jacobians; /* of the run, where the count began; since: */
    double since;
} khz_standstill;

/* Doubles that it needs. */
int64_t khz_standstill_work(const khz_model *m);
void khz_standstill_open(khz_standstill *k, const khz_offline *o, double *work);
/* After a step of the solver: KHZ_OK, or KHZ_RUN_STANDS_STILL with o->code the state whose derivative jumps most. */
int32_t khz_standstill_look(khz_standstill *k, khz_offline *o);

#endif
