/* Corrections of CVODE's or IDA's Newton iteration that are small because its matrix is too steep.
 *
 * The iteration ends where a correction is small.  It is small too where the matrix is far steeper than the equations
 * are (a difference of derivatives over a jump; a slope that the solution has left behind), however much of them is
 * left open.  So where a matrix makes a small correction of a residual that matters, derivatives behind it tell. */
#ifndef KHZ_DOUBT_H
#define KHZ_DOUBT_H

#include "khz_offline.h"

typedef struct khz_doubt {
    double *y, *f;           /* [n_x] where derivatives were last asked for, and what they were */
    double *there, *rate;    /* [n_x] the same behind a correction */
    const double *jac;       /* the last Jacobian */
    const double *moved;     /* [n_x + n_k] a correction as unknowns of loops take part in it; NULL: there are none */
    const double *tolerance; /* [n_x] absolute ones */
    void *mem;               /* of the solver */
    double time;             /* of y */
    double gamma;            /* what a derivative counts in this step */
    double unit;             /* of residuals, in states */
} khz_doubt;

/* Doubles that it needs. */
int64_t khz_doubt_work(const khz_model *m);
void khz_doubt_open(khz_doubt *d, khz_offline *o, double *work, const double *jac, const double *tolerance, void *mem);
/* Derivatives f at (t, y) are what the solver goes on with. */
void khz_doubt_note(khz_doubt *d, const khz_model *m, double t, const double *y, const double *f);
/* Whether the correction x for residuals b leaves one of them open that it should have closed.  One right-hand side,
 * where it is looked at. */
int khz_doubt_is_due(khz_doubt *d, khz_offline *o, const double *x, const double *b);

#endif
