/* The number type of a step: `khz_real` is what a model computes in.  Time is a double in both: after an hour a single
 * tells instants a quarter of a millisecond apart, and no more.  Counts and accounts of a run are doubles too. */
#ifndef KHZ_NUMBER_H
#define KHZ_NUMBER_H

#include <float.h>
#include <math.h>

/* As the setting `number` has them. */
enum { KHZ_NUMBER_DOUBLE, KHZ_NUMBER_SINGLE };

#ifdef KHZ_SINGLE
#ifndef KHZ_OUTSIDE /* code of others, which computes in doubles */
#include <tgmath.h> /* sqrt(x) is that of the type of x */
#endif
typedef float khz_real;
#define KHZ_BY_NUMBER(of_double, of_single) of_single
#else
typedef double khz_real;
#define KHZ_BY_NUMBER(of_double, of_single) of_double
#endif

/* Its relative accuracy, its least normal and its largest number. */
#define KHZ_EPSILON KHZ_BY_NUMBER(DBL_EPSILON, FLT_EPSILON)
#define KHZ_LEAST KHZ_BY_NUMBER(DBL_MIN, FLT_MIN)
#define KHZ_DIGITS KHZ_BY_NUMBER(DBL_MANT_DIG, FLT_MANT_DIG) /* binary ones */
#define KHZ_LARGEST KHZ_BY_NUMBER(DBL_MAX, FLT_MAX)

/* Instants not further apart, as a part of time, differ by rounding alone: of sums of intervals, and of what a model
 * says in its own numbers (`time > 0.1`). */
#define KHZ_SAME_INSTANT KHZ_BY_NUMBER(16.0 * DBL_EPSILON, 4.0 * (double)FLT_EPSILON)

#endif
