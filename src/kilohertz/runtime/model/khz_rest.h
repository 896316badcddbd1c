/* Relations at rest.  An event is found a little beyond the zero of its relation.  A quantity that stays there from
 * then on, as the relative speed of a clutch does that has locked, is zero as far as the run can tell: at later events
 * its relations say what they say at zero, not what the side says on which it was found (docs/decisions/0046). */
#ifndef KHZ_REST_H
#define KHZ_REST_H

#include "khz_model.h"

/* What `forced` holds for a relation that an event must leave as it is at zero. */
enum { KHZ_FORCED_AT_REST = 2 };

/* [n_r] each.  band: how far from zero the relation was found when it changed, and its noise; 0: it is free.
 * age: looks since then at which it was no further. */
typedef struct khz_rest {
    khz_real *band, *age;
} khz_rest;

/* What is within its band is not due, whatever its sign says. */
void khz_rest_quiet(const khz_model *m, const khz_rest *rest, khz_real *g);
/* After a step that was accepted, g there: what went further is free.  Whether any relation has a band still. */
int khz_rest_look(const khz_model *m, const khz_rest *rest, const khz_real *g);
/* Before an event, g there: relations at rest take the value they have at zero, and keep it in the event. */
void khz_rest_hold(const khz_model *m, void *instance, const khz_rest *rest, const khz_real *g);
/* After the event: relation i is not what it was before.  It was found at g, after a way that is `reach` long (0: it
 * jumped), with a noise that is this part of it. */
int khz_rest_found(const khz_rest *rest, int32_t i, khz_real g, khz_real reach, khz_real noise);

#endif
