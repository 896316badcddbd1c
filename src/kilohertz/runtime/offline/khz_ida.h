/* IDA in the place of CVODE for off-line runs: the residual is F(t, x, xd) = xd - f(t, x).
 *
 * An off-line run asks its integrator for a handful of functions (`khz_sundials`).  Those below answer as CVODE does,
 * but integrate with IDA: another predictor, another Newton iteration and another error test, so that the two check
 * each other.  Events, recorder and Jacobian are the same. */
#ifndef KHZ_IDA_H
#define KHZ_IDA_H

#include "khz_offline.h"

typedef int (*khz_ida_residual_fn)(double t, void *y, void *yd, void *r, void *user);
typedef int (*khz_ida_jacobian_fn)(double t, double cj, void *y, void *yd, void *r, void *a, void *user, void *t1,
                                   void *t2, void *t3);

/* Functions of IDA (SUNDIALS 7), filled in by whoever loaded the library. */
typedef struct khz_ida_functions {
    void *(*vector_clone)(void *v);
    void (*vector_destroy)(void *v);
    double *(*vector_data)(void *v);
    int64_t (*vector_length)(void *v);
    double *(*matrix_data)(void *a);
    void *(*create)(void *context);
    void (*destroy)(void **mem);
    int (*init)(void *mem, khz_ida_residual_fn residual, double t, void *y, void *yd);
    int (*reinit)(void *mem, double t, void *y, void *yd);
    int (*tolerances)(void *mem, double relative, void *absolute);
    int (*set_user)(void *mem, void *user);
    int (*set_max_steps)(void *mem, long n);
    int (*set_max_step)(void *mem, double h);
    int (*set_stop)(void *mem, double t);
    int (*set_solver)(void *mem, void *solver, void *a);
    int (*set_jacobian)(void *mem, khz_ida_jacobian_fn jacobian);
    int (*set_newton_failures)(void *mem, int n);
    int (*set_error_failures)(void *mem, int n);
    int (*advance)(void *mem, double t, double *reached, void *y, void *yd, int task);
    int (*interpolate)(void *mem, double t, int k, void *y);
    int (*current_cj)(void *mem, double *cj);
} khz_ida_functions;

/* Replace the integrator in `table`; `functions` must outlive every run with it.  Allocates: when a solver is
 * created. */
KHZ_EXPORT void khz_use_ida(khz_sundials *table, const khz_ida_functions *functions);

/* Whether it was: residuals are derivatives then, those of CVODE states. */
int khz_is_ida(const khz_sundials *table);

#endif
