/* Changes that are over sooner than time can tell: a piston of 0.1 kg that meets a damper of 1e12 N.s/m stops within
 * 1e-13 s, and at 4 s two instants are 1e-15 s apart at least.  No step that its error bounds can be so short. */
#ifndef KHZ_LEAP_H
#define KHZ_LEAP_H

#include "khz_crossings.h"

/* The solver gave up at o->time, with s->y there: one implicit Euler step over some rounding errors of time, at most to
 * `until` and the next grid point.  1: the solver goes on behind it; o->time and s->y are there.  0: it did not help.
 * Taken only where the derivatives are much smaller behind it: what grows (a pole) is none.  Allocates, and frees. */
int khz_leap(khz_offline *o, const cvode_work *w, cvode_solver *s, double until);

#endif
