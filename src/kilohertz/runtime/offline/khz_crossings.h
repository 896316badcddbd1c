/* Events in the steps of an off-line run: whether one is due, where, and whether the solution goes on after it. */
#ifndef KHZ_CROSSINGS_H
#define KHZ_CROSSINGS_H

#include "khz_doubt.h"
#include "khz_offline.h"
#include "khz_plan_solver.h"
#include "khz_rest.h"
#include "khz_standstill.h"

/* What a run keeps besides the solver. */
typedef struct cvode_work {
    double *g, *g_high, *g_middle, *at, *delayed, *x, *xd, *k;
    double *band, *largest, *peak, *n_small, *before; /* [n_r] each: see khz_settle_bands */
    khz_rest rest;
    double *felt; /* [n_felt + n_x]: see khz_note_felt */
    double *jac, *plan;
    double *there;              /* like jac: see khz_overlooked.c */
    double *doubt, *standstill; /* see khz_doubt.h; khz_standstill.h */
    double *path, *kept;        /* see khz_offline_follow; khz_settle */
    double *branches;           /* see khz_branches.h */
    double *old;                /* the instance before an event: see khz_is_felt */
} cvode_work;

/* Steps that are made again, because an assertion failed in them or they passed over something. */
typedef struct retry {
    double end;      /* of the last such step */
    double from, at; /* what was passed over lies between */
    int in_a_row, total;
} retry;

typedef struct cvode_solver {
    void *context, *y, *dense, *absolute, *matrix, *linear, *mem;
    void *slope, *correction; /* see khz_overlooked.c */
    double began;             /* where its last step did */
    double reached;           /* how far the solver has integrated: beyond an event that changes nothing for it */
    khz_plan_solver plan;
    khz_doubt doubt;
    khz_standstill standstill;
    retry retry;
    int leaps_in_a_row; /* see khz_leap.h */
} cvode_solver;

/* Crossing functions at an instant within the last step; 1 where an event is due, 0 where not, < 0 a failure. */
int32_t khz_crossed(khz_offline *o, const cvode_work *w, const cvode_solver *s, double t, double *g);
/* Go to the first event in (low, high]: o->time and s->y are there.  *root is 0 where there is none after all. */
int32_t khz_set_event(khz_offline *o, const cvode_work *w, const cvode_solver *s, double low, double high, int *root);
/* Before and after an event: relations that do not settle get dead bands. */
void khz_note_relations(const khz_offline *o, const cvode_work *w);
khz_status khz_settle_bands(khz_offline *o, const cvode_work *w, const double *x);
/* After a step that was accepted; before an event; after one that was located: relations at rest (khz_rest.h). */
void khz_look_at_rest(const khz_offline *o, const cvode_work *w);
khz_status khz_hold_at_rest(khz_offline *o, const cvode_work *w, const double *x);
void khz_find_at_rest(const khz_offline *o, const cvode_work *w, int root);
/* Before an event, and after it: whether derivatives are others now, so that the solver has to begin anew. */
void khz_note_felt(const khz_offline *o, const cvode_work *w, const double *x);
int khz_is_felt(khz_offline *o, const cvode_work *w, const cvode_solver *s, const double *x);
/* Before an event whose relations may have changed by noise: derivatives as they are (1), else 0.  After it, where it
 * is felt: whether it was noise indeed, so that the solver goes on.  Where a limited integrator rests, the sign of its
 * input is rounding: if each change of it made the solver begin anew, its steps would be so short that rounding decides
 * again.  It is noise where derivatives differ by less than the solver can tell: over its last step, by its tolerance.
 */
int khz_note_rates(khz_offline *o, const cvode_work *w, const double *x);
int khz_is_noise(khz_offline *o, const cvode_work *w, const cvode_solver *s, const double *x);

#endif
