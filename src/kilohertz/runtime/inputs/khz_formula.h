/* A formula of time, as a stimulus: numbers, operations and tables in the order in which a stack takes them.
 *
 * There are two times: `time` goes into values, `when` into decisions (relations, floor, the row of a table).  A
 * periodic task has one instant for both; a solver with events decides once for the piece between two events, so that
 * a jump is on the right side of its instant. */
#ifndef KHZ_FORMULA_H
#define KHZ_FORMULA_H

#include "khz_base.h"

enum { KHZ_FORMULA_DEPTH = 64 };
/* Seconds: what begins so soon after the instant of a step has begun, since periods are whole nanoseconds and their
 * multiples are rounded. */
#define KHZ_SOON 1e-10

/* The words of the operations are these names in small letters (khz_formula_operation). */
enum {
    KHZ_OPERATION_NUMBER = 0, /* push number[i] */
    KHZ_OPERATION_TIME,
    KHZ_OPERATION_WHEN,
    KHZ_OPERATION_NEGATE,
    KHZ_OPERATION_NOT,
    KHZ_OPERATION_ABS,
    KHZ_OPERATION_SIGN,
    KHZ_OPERATION_SQRT,
    KHZ_OPERATION_EXP,
    KHZ_OPERATION_LOG,
    KHZ_OPERATION_LOG10,
    KHZ_OPERATION_SIN,
    KHZ_OPERATION_COS,
    KHZ_OPERATION_TAN,
    KHZ_OPERATION_ASIN,
    KHZ_OPERATION_ACOS,
    KHZ_OPERATION_ATAN,
    KHZ_OPERATION_SINH,
    KHZ_OPERATION_COSH,
    KHZ_OPERATION_TANH,
    KHZ_OPERATION_FLOOR,
    KHZ_OPERATION_CEIL, /* the last with one operand */
    KHZ_OPERATION_ADD,
    KHZ_OPERATION_SUBTRACT,
    KHZ_OPERATION_MULTIPLY,
    KHZ_OPERATION_DIVIDE,
    KHZ_OPERATION_POWER,
    KHZ_OPERATION_LESS,
    KHZ_OPERATION_LESS_EQUAL,
    KHZ_OPERATION_EQUAL,
    KHZ_OPERATION_AND,
    KHZ_OPERATION_OR,
    KHZ_OPERATION_ATAN2,
    KHZ_OPERATION_MIN,
    KHZ_OPERATION_MAX,
    KHZ_OPERATION_NORMAL,  /* (index, seed): normally distributed, mean 0, deviation 1 */
    KHZ_OPERATION_UNIFORM, /* (index, seed): from 0 up to 1 */
    KHZ_OPERATION_HELD,    /* (when, time): number[i] rows of time and value follow; that of the last one not after */
    KHZ_OPERATION_LINES,   /* likewise, lines between rows; the last with two operands */
    KHZ_OPERATION_SELECT,  /* (condition, a, b): a where it holds */
    KHZ_OPERATION_BIT,     /* (index, order, seed): of a sequence of 2^order - 1 bits, 0 or 1 */
    KHZ_OPERATIONS
};

typedef struct khz_formula {
    const int32_t *operation; /* [n] KHZ_OPERATION_* */
    const double *number;     /* [n] of a number, or a table's rows */
    int32_t n;
} khz_formula;

/* The operation of a word; -1 where there is none. */
int32_t khz_formula_operation(const char *word);
/* KHZ_UNSUPPORTED where it does not leave one value, or needs more than KHZ_FORMULA_DEPTH.  A formula that passed
 * cannot go wrong. */
KHZ_EXPORT int32_t khz_formula_check(const khz_formula *f);
/* Its value.  Call from: step.  Allocates: never.  Bound: n operations, each of constant time but `bit` (961 shifts)
 * and tables (log2 rows). */
double khz_formula_value(const khz_formula *f, double when, double time);
/* The value that a periodic task takes at an instant. */
KHZ_EXPORT double khz_formula_sample(const khz_formula *f, double time);
/* Random numbers that an index and a seed have of their own: normally distributed; evenly from 0 up to 1. */
double khz_normal(double index, double seed);
double khz_uniform(double index, double seed);
/* Values [n] at instants [n], for Python. */
KHZ_EXPORT void khz_formula_values(const khz_formula *f, const double *when, const double *time, int64_t n,
                                   double *values);

#endif
