/* A step of CVODE or IDA that was made: events in it, its rows, and whether it is taken. */
#ifndef KHZ_INSPECT_H
#define KHZ_INSPECT_H

#include "khz_crossings.h"

/* What rounding makes of a time. */
double khz_slack(double t);
/* The step from `before` to o->time was made: look for events in it, record the grid points before the first (those on
 * an event are left to it); *root tells of one.  Where an assertion fails in it, or it passed over something, the run
 * is back at o->time before that, and steps are short until it is past.  event_follows: a time event is at o->time. */
int32_t khz_inspect(khz_offline *o, const cvode_work *w, cvode_solver *s, double before, int event_follows, int *root);

#endif
