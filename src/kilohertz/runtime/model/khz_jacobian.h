/* The Jacobian d F/d y of a model (khz_model.h; without an index-1 form d xd/d x) along its colours: by its symbolic
 * directional derivative, or by differences where it has none or that is not finite.  All functions are called after
 * khz_residuals at the same point and leave the instance there. */
#ifndef KHZ_JACOBIAN_H
#define KHZ_JACOBIAN_H

#include "khz_model.h"

/* Doubles of work. */
KHZ_EXPORT size_t khz_jacobian_work(const khz_model *m);

/* jac [jac_row[n_y]]: d F/d y in the order of jac_row and jac_column.  At most n_colours directional derivatives and
 * n_colours + 1 evaluations of the derivatives.  Allocates: never. */
KHZ_EXPORT khz_status khz_jacobian(const khz_model *m, void *instance, khz_real *jac, khz_real *work);

/* Its part of so many, counted from 0: the entries of some columns; the others, finite, stay.  Parts may be made at
 * different points.  Allocates: never. */
KHZ_EXPORT khz_status khz_jacobian_part(const khz_model *m, void *instance, int32_t part, int32_t n_parts,
                                        khz_real *jac, khz_real *work);

/* Rates along column j of the Jacobian, `by` times as fast: for a model with `directional`.  khz_rate_along then gives
 * that of row i.  Allocates: never. */
KHZ_EXPORT khz_status khz_along_column(const khz_model *m, void *instance, int32_t j, khz_real by);
KHZ_EXPORT khz_real khz_rate_along(const khz_model *m, const void *instance, int32_t i, int32_t j);

/* slope [n_y]: d F/d time with y at rest.  `scale`: a time over which the model changes (the step), used for
 * differences alone.  One directional derivative, or two evaluations.  Allocates: never. */
KHZ_EXPORT khz_status khz_time_slope(const khz_model *m, void *instance, khz_real scale, khz_real *slope,
                                     khz_real *work);

#endif
