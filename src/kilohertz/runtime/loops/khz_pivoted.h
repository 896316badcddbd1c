/* Sparse LU that chooses its pivots while it runs, in the room of a dense one: for systems so large that zeros would be
 * most of the work, whose order of pivots no plan knows. */
#ifndef KHZ_PIVOTED_H
#define KHZ_PIVOTED_H

#include "khz_base.h"
#include "khz_vector.h"

/* Factorise a [n*n, row major] into lu [n*n], rows scaled to a largest entry of one; scale [n] gets the factors.
 * 1: done, and pivot [n] says so to those who ask khz_is_pivoted.  0: the matrix is small, has many entries or gets
 * them on the way, or a pivot is lost in rounding: the dense way decides.  Allocates: never.
 * Bound: n*n/16 entries that are read, n^3/KHZ_PIVOTED_PRODUCTS multiplications. */
int khz_pivoted_factor(int n, const khz_real *a, khz_real *lu, khz_real *scale, int32_t *pivot);

static KHZ_INLINE int khz_is_pivoted(const int32_t *pivot) { return pivot[0] < 0; }

/* As khz_lu_solve and khz_lu_solve_lanes. */
void khz_pivoted_solve(int n, const khz_real *lu, const khz_real *scale, khz_real *b, khz_real *work);
void khz_pivoted_solve_lanes(int n, const khz_real *lu, const khz_real *scale, khz_lanes *b, khz_real *work);

#endif
