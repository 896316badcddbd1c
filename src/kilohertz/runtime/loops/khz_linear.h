/* Dense linear systems: LU with partial pivoting, and the minimum-norm solution of singular but consistent ones. */
#ifndef KHZ_LINEAR_H
#define KHZ_LINEAR_H

#include <math.h>
#include <string.h>

#include "khz_base.h"
#include "khz_vector.h"

/* The power of two that brings a positive number to [0.5, 1): by its bits where that is a normal number. */
static KHZ_INLINE khz_real khz_power_to_one(khz_real v)
{
    KHZ_BY_NUMBER(uint64_t, uint32_t) bits;
    memcpy(&bits, &v, sizeof bits);
    const KHZ_BY_NUMBER(uint64_t, uint32_t) exponent = bits >> (KHZ_DIGITS - 1);
    /* 2^(exponent - 1022) is the next power above; its inverse has 2045 - exponent.  In single precision 126 and 253.
     */
    if (exponent - 1 < KHZ_BY_NUMBER(2044, 252)) {
        bits = (KHZ_BY_NUMBER(2045, 253) - exponent) << (KHZ_DIGITS - 1);
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    int power;
    (void)frexp(v, &power);
    return ldexp((khz_real)1.0, -power);
}

/* Factorise a [n*n, row major] in place, rows scaled by their largest entry; scale [n] gets the factors, pivot [n] the
 * row order.  KHZ_SINGULAR when a pivot is lost in rounding, KHZ_NOT_FINITE on NaN.  Allocates: never. */
khz_status khz_lu_factor(int n, khz_real *a, khz_real *scale, int32_t *pivot);

/* The same into lu [n*n], a stays.  Large matrices with few entries are factorised as such (khz_pivoted.h): their
 * factors are for khz_lu_solve and khz_lu_solve_lanes alone. */
khz_status khz_lu_factor_copy(int n, const khz_real *a, khz_real *lu, khz_real *scale, int32_t *pivot);

/* Solve with the factors: b [n] in: right-hand side, out: solution; work [n].  Allocates: never. */
void khz_lu_solve(int n, const khz_real *lu, const khz_real *scale, const int32_t *pivot, khz_real *b, khz_real *work);

/* The same for a right-hand side in each lane; work [KHZ_LANES*n].  Every lane as one alone would give it. */
void khz_lu_solve_lanes(int n, const khz_real *lu, const khz_real *scale, const int32_t *pivot, khz_lanes *b,
                        khz_real *work);

/* Doubles of work that khz_minimum_norm needs. */
#define KHZ_MINIMUM_NORM_ROOM(n) (3 * (n))

/* Minimum-norm solution of a x = b for an a of any rank.  a [n*n] is destroyed; b [n] in: right-hand side, out: x.
 * KHZ_SINGULAR when no x solves the system to rounding (residual above `tolerance` times the scale of the row). */
khz_status khz_minimum_norm(int n, khz_real *a, khz_real *b, khz_real tolerance, khz_real *work, int32_t *order);

#endif
