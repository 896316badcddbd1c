/* Loops that have several solutions, in runs with states.
 *
 * A solution may end in the midst of a run (u^3 - 3*u = x for u below -1, where x exceeds 2): Newton's method finds
 * another one, and values jump though the model has no event.  Or a step is so long that it comes to another solution
 * while the one so far goes on.  Both are told.  From one row to the next where something changed abruptly without an
 * event, the way is made again in small parts from the solution before.  Where it jumps in the smallest part, there are
 * two solutions if the one behind the jump is found before it, too: else the jump is written in the model. */
#ifndef KHZ_BRANCHES_H
#define KHZ_BRANCHES_H

#include "khz_offline.h"

/* Doubles of `work`; before the first row; after a row, evaluated at o->instance, which stays as it is.
 * Bound: BRANCH_CHECKS ways of BRANCH_PARTS evaluations in a run.  Allocates: never. */
int64_t khz_branches_work(const khz_model *m);
void khz_branches_start(const khz_model *m, double *work);
void khz_branches_look(khz_offline *o, double *work);

#endif
