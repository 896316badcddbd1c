/* Inside the stepper: its work area and the pieces that khz_stepper.c, the kernels and the event algorithms share. */
#ifndef KHZ_STEPPER_CORE_H
#define KHZ_STEPPER_CORE_H

#include "khz_stepper.h"

/* The work area, laid out anew at every call: the stepper keeps no pointers into itself. */
typedef struct khz_work {
    void *instance;
    double *x0, *x1;          /* state at the beginning and the end of a (sub-)step */
    double *f0;               /* derivatives at the beginning */
    double *stage;            /* point of a stage */
    double *k;                /* [n_stages*n_x] what the stages gave */
    double *g0, *g1;          /* crossing functions at the beginning and the end */
    double *at, *delayed;     /* time events, sources of delay lines */
} khz_work;

khz_work khz_stepper_divide(khz_stepper *s);

/* Derivatives at (t, x), counted.  A failure is counted too and sets flags. */
khz_status khz_stepper_rhs(khz_stepper *s, const khz_work *w, double t, const double *x, double *xd);

/* From x0 (with f0 where s->is_fresh) at t to x1 at t + h with the method of the settings. */
khz_status khz_advance(khz_stepper *s, const khz_work *w, double t, double h);
khz_status khz_advance_explicit(khz_stepper *s, const khz_work *w, double t, double h);

#endif
