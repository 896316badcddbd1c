/* What each hand-written model gives the driver: its parameters, and its derivatives at (time, x). */
#ifndef RHS_H
#define RHS_H

extern const void *const hand_parameters;

void hand_rhs(const void *parameters, double time, const double *x, double *xd);
/* The cost of calling. */
void empty_rhs(const void *parameters, double time, const double *x, double *xd);

#endif
