/* Modelica's operators and functions where C has none of its own.  All are bounded and allocate nothing. */
#ifndef KHZ_MATH_H
#define KHZ_MATH_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_base.h"

enum { KHZ_LOOP_CAP = 100000000, KHZ_CALL_CAP = 10000000, KHZ_NESTED_BYTES = 1 << 20 };

static KHZ_INLINE khz_real khz_power2(khz_real x) { return x * x; }
static KHZ_INLINE khz_real khz_power3(khz_real x) { return x * x * x; }
static KHZ_INLINE khz_real khz_power4(khz_real x) { return (x * x) * (x * x); }
/* x^(-1/2) and x^(-3/4), the slopes of roots: a tenth of what pow takes. */
static KHZ_INLINE khz_real khz_inverse_root(khz_real x) { return 1.0 / sqrt(x); }
static KHZ_INLINE khz_real khz_inverse_root_3(khz_real x)
{
    const khz_real root = sqrt(x);
    return 1.0 / (root * sqrt(root));
}
static KHZ_INLINE khz_real khz_min(khz_real a, khz_real b) { return a < b ? a : b; }
static KHZ_INLINE khz_real khz_max(khz_real a, khz_real b) { return a > b ? a : b; }
static KHZ_INLINE int32_t khz_min_int(int32_t a, int32_t b) { return a < b ? a : b; }
static KHZ_INLINE int32_t khz_max_int(int32_t a, int32_t b) { return a > b ? a : b; }
static KHZ_INLINE int32_t khz_sign(khz_real x) { return (x > 0.0) - (x < 0.0); }
/* In doubles: time is, and what is left of it after many periods is still as good as a number of the type. */
static KHZ_INLINE khz_real khz_div(double a, double b) { return (khz_real)trunc(a / b); }
static KHZ_INLINE khz_real khz_mod(double a, double b) { return (khz_real)(a - floor(a / b) * b); }
static KHZ_INLINE khz_real khz_rem(double a, double b) { return (khz_real)(a - trunc(a / b) * b); }

/* Reals of a function that have no value yet. */
static inline void khz_unset(khz_real *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        x[i] = (khz_real)NAN;
    }
}

/* What an input that is an Integer makes of any number: the nearest one, within 32 bits; NaN is 0. */
static inline int32_t khz_whole(double value)
{
    return isnan(value) ? 0 : (int32_t)fmin(fmax(round(value), -2147483648.0), 2147483647.0);
}

/* Beyond the Integers of 32 bits: there is no value. */
static inline int32_t khz_no_integer(khz_context *c)
{
    khz_fail_settled(c, KHZ_DOMAIN, KHZ_NOWHERE, "a number beyond the Integers of 32 bits");
    return 0;
}

/* integer(x), MLS 3.7.2: the largest Integer not above x. */
static inline int32_t khz_integer(khz_context *c, double x)
{
    const double y = floor(x);
    return y >= -2147483648.0 && y <= 2147483647.0 ? (int32_t)y : khz_no_integer(c);
}

static inline int32_t khz_add_int(khz_context *c, int32_t a, int32_t b)
{
    int32_t sum;
    return __builtin_add_overflow(a, b, &sum) ? khz_no_integer(c) : sum;
}

static inline int32_t khz_sub_int(khz_context *c, int32_t a, int32_t b)
{
    int32_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? khz_no_integer(c) : difference;
}

static inline int32_t khz_mul_int(khz_context *c, int32_t a, int32_t b)
{
    int32_t product;
    return __builtin_mul_overflow(a, b, &product) ? khz_no_integer(c) : product;
}

static inline int32_t khz_neg_int(khz_context *c, int32_t a) { return khz_sub_int(c, 0, a); }
static inline int32_t khz_abs_int(khz_context *c, int32_t a) { return a < 0 ? khz_neg_int(c, a) : a; }

static inline int32_t khz_div_int(khz_context *c, int32_t a, int32_t b)
{
    if (b == 0) {
        khz_fail(c, KHZ_DOMAIN, KHZ_NOWHERE, "Integer division by zero");
        return 0;
    }
    return b == -1 ? khz_neg_int(c, a) : a / b;
}

static inline int32_t khz_rem_int(khz_context *c, int32_t a, int32_t b)
{
    return b == -1 ? 0 : a - khz_div_int(c, a, b) * b;
}

static inline int32_t khz_mod_int(khz_context *c, int32_t a, int32_t b)
{
    const int32_t r = khz_rem_int(c, a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* Number of elements of first:step:last. */
static inline int32_t khz_count(khz_context *c, int32_t first, int32_t step, int32_t last)
{
    if (step == 0) {
        khz_fail_settled(c, KHZ_DOMAIN, KHZ_NOWHERE, "the step of a range is zero");
    }
    if (step == 0 || (step > 0 ? first > last : first < last)) {
        return 0;
    }
    const int64_t n = ((int64_t)last - first) / step + 1;
    if (n > INT32_MAX) {
        khz_fail_settled(c, KHZ_DOMAIN, KHZ_NOWHERE, "a range has more elements than 32 bits can count");
    }
    return n > INT32_MAX ? 0 : (int32_t)n;
}

static inline int32_t khz_range_count(khz_context *c, khz_real first, khz_real step, khz_real last)
{
    if (step == 0.0) {
        khz_fail_settled(c, KHZ_DOMAIN, KHZ_NOWHERE, "the step of a range is zero");
    }
    if (step == 0.0 || (step > 0.0 ? first > last : first < last)) {
        return 0;
    }
    const khz_real n = floor((last - first) / step + KHZ_BY_NUMBER(1e-10, 1e-5f)) + 1.0;
    if (!(n <= INT32_MAX)) {
        khz_fail_settled(c, KHZ_DOMAIN, KHZ_NOWHERE, "a range has more elements than 32 bits can count");
    }
    return n <= INT32_MAX ? (int32_t)n : 0;
}

/* Whether arrays that must be of one size are. */
static inline int khz_fits(khz_context *c, int32_t size, int32_t other)
{
    if (size != other) {
        khz_wrong_sizes(c, size, other);
    }
    return size == other;
}

/* Whether an array can have a size. */
static inline int khz_is_size(khz_context *c, int32_t size)
{
    if (size < 0) {
        khz_fail_settled(c, KHZ_DOMAIN, KHZ_NOWHERE, "the size of an array is below zero");
    }
    return size >= 0;
}

/* A subscript (from one) as an offset (from zero); the first element where it is out of its bounds. */
static inline int32_t khz_index(khz_context *c, int32_t sub, int32_t size)
{
    if (sub < 1 || sub > size) {
        khz_wrong_subscript(c, sub, size);
        return 0;
    }
    return sub - 1;
}

/* A subscript as it is, in its bounds or not. */
static inline int32_t khz_subscript(khz_context *c, int32_t sub, int32_t size)
{
    if (sub < 1 || sub > size) {
        khz_wrong_subscript(c, sub, size);
    }
    return sub;
}

/* The same for first of `count` neighbours. */
static inline int32_t khz_slice(khz_context *c, int32_t first, int32_t count, int32_t size)
{
    if (count > 0 && (first < 1 || first + count - 1 > size)) {
        khz_wrong_subscript(c, first < 1 ? first : first + count - 1, size);
        return 0;
    }
    return first - 1;
}

/* Condition of every while loop: no failure so far, and the cap not reached. */
static inline int khz_goes_on(khz_context *c, int32_t turns)
{
    if (turns >= KHZ_LOOP_CAP) {
        khz_fail(c, KHZ_NO_CONVERGENCE, KHZ_NOWHERE, "a while loop does not end");
    }
    return c->status == KHZ_OK;
}

/* A function that calls itself, alone or round a circle, is entered: 0 where it cannot be, since there was a failure,
 * or its calls take too much of the stack, or are too many.  Call khz_leaves at its end in any case. */
static inline int khz_enters(khz_context *c, int place, const char *message)
{
    const size_t here = (size_t)__builtin_frame_address(0);
    if (c->n_nested++ == 0) {
        c->n_nested_calls = 0;
        c->nested_from = here;
    }
    c->n_nested_calls++;
    const size_t used = here < c->nested_from ? c->nested_from - here : here - c->nested_from;
    if (used > KHZ_NESTED_BYTES || c->n_nested_calls > KHZ_CALL_CAP) {
        khz_fail(c, KHZ_OUT_OF_MEMORY, place, message);
    }
    return c->status == KHZ_OK;
}

static inline void khz_leaves(khz_context *c) { c->n_nested--; }

/* A crossing function for the root finder: its sign tells whether the relation is still as buffered, its size how far
 * the crossing is.  Never zero: a solver cannot come to rest on the crossing and lose it. */
static KHZ_INLINE khz_real khz_crossing(int as_buffered, khz_real function)
{
    const khz_real size = fabs(function) + KHZ_LEAST;
    return as_buffered ? size : -size;
}

/* A nominal value that can be divided by. */
static inline khz_real khz_nominal(khz_real value)
{
    return fabs(value) > 0.0 && fabs(value) <= KHZ_LARGEST ? fabs(value) : 1.0;
}

static inline khz_real khz_dot(int32_t n, const khz_real *a, const khz_real *b)
{
    khz_real sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static inline int32_t khz_dot_int(khz_context *c, int32_t n, const int32_t *a, const int32_t *b)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum = khz_add_int(c, sum, khz_mul_int(c, a[i], b[i]));
    }
    return sum;
}

static inline void khz_cross(const khz_real *a, const khz_real *b, khz_real *y)
{
    y[0] = a[1] * b[2] - a[2] * b[1];
    y[1] = a[2] * b[0] - a[0] * b[2];
    y[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void khz_skew(const khz_real *a, khz_real *y)
{
    y[0] = 0.0, y[1] = -a[2], y[2] = a[1];
    y[3] = a[2], y[4] = 0.0, y[5] = -a[0];
    y[6] = -a[1], y[7] = a[0], y[8] = 0.0;
}

/* y [n*m] = a [n*k] * b [k*m] */
static inline void khz_matrix_product(int32_t n, int32_t k, int32_t m, const khz_real *a, const khz_real *b,
                                      khz_real *y)
{
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < m; j++) {
            khz_real sum = 0.0;
            for (int32_t l = 0; l < k; l++) {
                sum += a[i * k + l] * b[l * m + j];
            }
            y[i * m + j] = sum;
        }
    }
}

static inline void khz_matrix_product_int(khz_context *c, int32_t n, int32_t k, int32_t m, const int32_t *a,
                                          const int32_t *b, int32_t *y)
{
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < m; j++) {
            int32_t sum = 0;
            for (int32_t l = 0; l < k; l++) {
                sum = khz_add_int(c, sum, khz_mul_int(c, a[i * k + l], b[l * m + j]));
            }
            y[i * m + j] = sum;
        }
    }
}

/* y = a^power by repeated products; work [n*n]. */
static inline void khz_matrix_power(int32_t n, const khz_real *a, int32_t power, khz_real *y, khz_real *work)
{
    for (int32_t i = 0; i < n * n; i++) {
        y[i] = i / n == i % n ? 1.0 : 0.0;
    }
    for (int32_t turn = 0; turn < power; turn++) {
        khz_matrix_product(n, n, n, y, a, work);
        memcpy(y, work, sizeof(khz_real) * (size_t)n * (size_t)n);
    }
}

#endif
