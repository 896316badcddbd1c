/* What a step of CVODE or IDA has passed over.
 *
 * A step is judged by the derivatives at its end.  Where all rests, steps grow, and what time alone sets in motion in
 * the middle of one, without an event, and has come to rest by its end, is not seen.  The polynomial that a step leaves
 * has a slope at each instant; where derivatives there are others by more than the solver's own errors explain, the
 * step is not to be taken (docs/decisions/0079). */
#ifndef KHZ_OVERLOOKED_H
#define KHZ_OVERLOOKED_H

#include "khz_crossings.h"

/* So many instants of a run are looked at, at least, in steps that are longer than that. */
enum { KHZ_LOOKS = 500 };

/* The first instant behind `low`, and before `high`, that is to be looked at; `high` where there is none. */
double khz_next_look(const khz_offline *o, double low, double high);
/* With the model evaluated at (t, s->dense): whether the step has passed over what moves there. */
int khz_is_overlooked(khz_offline *o, const cvode_work *w, const cvode_solver *s, double t);

#endif
