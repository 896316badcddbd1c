#include "khz_formula.h"

#include <math.h>
#include <string.h>

static const char *const words[KHZ_OPERATIONS] = {
    [KHZ_OPERATION_NUMBER] = "number",
    [KHZ_OPERATION_TIME] = "time",
    [KHZ_OPERATION_WHEN] = "when",
    [KHZ_OPERATION_NEGATE] = "negate",
    [KHZ_OPERATION_NOT] = "not",
    [KHZ_OPERATION_ABS] = "abs",
    [KHZ_OPERATION_SIGN] = "sign",
    [KHZ_OPERATION_SQRT] = "sqrt",
    [KHZ_OPERATION_EXP] = "exp",
    [KHZ_OPERATION_LOG] = "log",
    [KHZ_OPERATION_LOG10] = "log10",
    [KHZ_OPERATION_SIN] = "sin",
    [KHZ_OPERATION_COS] = "cos",
    [KHZ_OPERATION_TAN] = "tan",
    [KHZ_OPERATION_ASIN] = "asin",
    [KHZ_OPERATION_ACOS] = "acos",
    [KHZ_OPERATION_ATAN] = "atan",
    [KHZ_OPERATION_SINH] = "sinh",
    [KHZ_OPERATION_COSH] = "cosh",
    [KHZ_OPERATION_TANH] = "tanh",
    [KHZ_OPERATION_FLOOR] = "floor",
    [KHZ_OPERATION_CEIL] = "ceil",
    [KHZ_OPERATION_ADD] = "add",
    [KHZ_OPERATION_SUBTRACT] = "subtract",
    [KHZ_OPERATION_MULTIPLY] = "multiply",
    [KHZ_OPERATION_DIVIDE] = "divide",
    [KHZ_OPERATION_POWER] = "power",
    [KHZ_OPERATION_LESS] = "less",
    [KHZ_OPERATION_LESS_EQUAL] = "less_equal",
    [KHZ_OPERATION_EQUAL] = "equal",
    [KHZ_OPERATION_AND] = "and",
    [KHZ_OPERATION_OR] = "or",
    [KHZ_OPERATION_ATAN2] = "atan2",
    [KHZ_OPERATION_MIN] = "min",
    [KHZ_OPERATION_MAX] = "max",
    [KHZ_OPERATION_NORMAL] = "normal",
    [KHZ_OPERATION_UNIFORM] = "uniform",
    [KHZ_OPERATION_HELD] = "held",
    [KHZ_OPERATION_LINES] = "lines",
    [KHZ_OPERATION_SELECT] = "select",
    [KHZ_OPERATION_BIT] = "bit",
};

int32_t khz_formula_operation(const char *word)
{
    for (int32_t i = 0; i < KHZ_OPERATIONS; i++) {
        if (strcmp(words[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

static int32_t operands(int32_t operation)
{
    if (operation <= KHZ_OPERATION_WHEN) {
        return 0;
    }
    return operation <= KHZ_OPERATION_CEIL ? 1 : operation <= KHZ_OPERATION_LINES ? 2 : 3;
}

static int is_table(int32_t operation) { return operation == KHZ_OPERATION_HELD || operation == KHZ_OPERATION_LINES; }

int32_t khz_formula_check(const khz_formula *f)
{
    int32_t depth = 0;
    for (int32_t i = 0; i < f->n; i++) {
        const int32_t operation = f->operation[i];
        if (operation < 0 || operation >= KHZ_OPERATIONS || depth < operands(operation)) {
            return KHZ_UNSUPPORTED;
        }
        depth += 1 - operands(operation);
        if (depth > KHZ_FORMULA_DEPTH) {
            return KHZ_UNSUPPORTED;
        }
        if (is_table(operation)) {
            const double rows = f->number[i];
            if (!(rows >= 1.0 && rows <= (double)(f->n - i - 1) / 2.0)) {
                return KHZ_UNSUPPORTED;
            }
            i += 2 * (int32_t)rows;
        }
    }
    return depth == 1 ? KHZ_OK : KHZ_UNSUPPORTED;
}

/* ---------------------------------------------------------------------------------------------------------- tables */

/* rows [2 n]: time and value in turn, times never falling. */
static double looked_up(const double *rows, int32_t n, double when, double time, int has_lines)
{
    int32_t low = -1;
    int32_t high = n;
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (rows[2 * middle] <= when) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double *const row = rows + 2 * (ptrdiff_t)(low < 0 ? 0 : low);
    if (!has_lines || low < 0 || high == n) {
        return row[1];
    }
    return row[1] + (time - row[0]) / (row[2] - row[0]) * (row[3] - row[1]);
}

/* ---------------------------------------------------------------------------------------------------------- random */

static int64_t whole(double a) { return a > -9e18 && a < 9e18 ? (int64_t)a : 0; }

/* SplitMix64 at a place of its sequence (Steele, Lea, Flood 2014): each index has a number of its own. */
static uint64_t scrambled(double index, double seed, uint64_t draw)
{
    uint64_t z =
        (uint64_t)whole(seed) * 0xD1342543DE82EF95U + (2U * (uint64_t)whole(index) + draw + 1U) * 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

static double uniform(double index, double seed, uint64_t draw)
{
    return (double)(scrambled(index, seed, draw) >> 11) * 0x1p-53;
}

double khz_uniform(double index, double seed) { return uniform(index, seed, 0); }

/* Box and Muller: one of the two numbers that two draws give. */
double khz_normal(double index, double seed)
{
    const double radius = sqrt(-2.0 * log(1.0 - uniform(index, seed, 0)));
    return radius * cos(6.283185307179586 * uniform(index, seed, 1));
}

/* Feedback of a shift register of each order, a primitive polynomial without its highest term. */
static const uint32_t feedback[32] = {
    0,    0,   0x3,  0x3,  0x3, 0x5, 0x3, 0x3,  0x1D, 0x11, 0x9,  0x5,  0x53, 0x1B, 0x443, 0x3,
    0x2D, 0x9, 0x81, 0x27, 0x9, 0x5, 0x3, 0x21, 0x87, 0x9,  0x47, 0x27, 0x9,  0x5,  0x53,  0x9,
};

static uint32_t product(uint32_t a, uint32_t b, int32_t order)
{
    const uint32_t top = 1U << (order - 1);
    const uint32_t mask = (top << 1) - 1U;
    uint32_t sum = 0;
    for (int32_t k = 0; k < order; k++) {
        sum ^= (b & 1U) != 0 ? a : 0U;
        b >>= 1;
        a = ((a << 1) & mask) ^ ((a & top) != 0 ? feedback[order] : 0U);
    }
    return sum;
}

/* The register after `index` steps is x^index times its start in the field of 2^order elements: no steps are made. */
static double bit(double index, double order_asked, double seed)
{
    const int32_t order = order_asked >= 2.0 && order_asked <= 31.0 ? (int32_t)order_asked : 31;
    const int64_t period = ((int64_t)1 << order) - 1;
    int64_t left = whole(index) % period;
    left += left < 0 ? period : 0;
    int64_t start = whole(seed) % period;
    start += start < 0 ? period : 0;
    left = (left + start) % period; /* a seed is a place to begin at */
    uint32_t power = 1;
    uint32_t square = 2; /* x */
    for (; left > 0; left >>= 1) {
        power = (left & 1) != 0 ? product(power, square, order) : power;
        square = product(square, square, order);
    }
    return (double)(power & 1U);
}

/* ----------------------------------------------------------------------------------------------------------- values */

static double of_one(int32_t operation, double a)
{
    switch (operation) {
    case KHZ_OPERATION_NEGATE:
        return -a;
    case KHZ_OPERATION_NOT:
        return a == 0.0 ? 1.0 : 0.0;
    case KHZ_OPERATION_ABS:
        return fabs(a);
    case KHZ_OPERATION_SIGN:
        return (double)((a > 0.0) - (a < 0.0));
    case KHZ_OPERATION_SQRT:
        return sqrt(a);
    case KHZ_OPERATION_EXP:
        return exp(a);
    case KHZ_OPERATION_LOG:
        return log(a);
    case KHZ_OPERATION_LOG10:
        return log10(a);
    case KHZ_OPERATION_SIN:
        return sin(a);
    case KHZ_OPERATION_COS:
        return cos(a);
    case KHZ_OPERATION_TAN:
        return tan(a);
    case KHZ_OPERATION_ASIN:
        return asin(a);
    case KHZ_OPERATION_ACOS:
        return acos(a);
    case KHZ_OPERATION_ATAN:
        return atan(a);
    case KHZ_OPERATION_SINH:
        return sinh(a);
    case KHZ_OPERATION_COSH:
        return cosh(a);
    case KHZ_OPERATION_TANH:
        return tanh(a);
    case KHZ_OPERATION_FLOOR:
        return floor(a);
    default:
        return ceil(a);
    }
}

static double of_two(int32_t operation, double a, double b)
{
    switch (operation) {
    case KHZ_OPERATION_ADD:
        return a + b;
    case KHZ_OPERATION_SUBTRACT:
        return a - b;
    case KHZ_OPERATION_MULTIPLY:
        return a * b;
    case KHZ_OPERATION_DIVIDE:
        return a / b;
    case KHZ_OPERATION_POWER:
        return pow(a, b);
    case KHZ_OPERATION_LESS:
        return (double)(a < b);
    case KHZ_OPERATION_LESS_EQUAL:
        return (double)(a <= b);
    case KHZ_OPERATION_EQUAL:
        return (double)(a == b);
    case KHZ_OPERATION_AND:
        return (double)(a != 0.0 && b != 0.0);
    case KHZ_OPERATION_OR:
        return (double)(a != 0.0 || b != 0.0);
    case KHZ_OPERATION_ATAN2:
        return atan2(a, b);
    case KHZ_OPERATION_MIN:
        return a < b ? a : b;
    case KHZ_OPERATION_MAX:
        return a > b ? a : b;
    case KHZ_OPERATION_NORMAL:
        return khz_normal(a, b);
    default:
        return khz_uniform(a, b);
    }
}

double khz_formula_value(const khz_formula *f, double when, double time)
{
    double stack[KHZ_FORMULA_DEPTH + 2] = {0.0};
    double *top = stack; /* one above the last value */
    for (int32_t i = 0; i < f->n; i++) {
        const int32_t operation = f->operation[i];
        switch (operands(operation)) {
        case 0:
            *top = operation == KHZ_OPERATION_NUMBER ? f->number[i] : operation == KHZ_OPERATION_TIME ? time : when;
            break;
        case 1:
            top -= 1;
            *top = of_one(operation, top[0]);
            break;
        case 2:
            top -= 2;
            if (is_table(operation)) {
                const int32_t rows = (int32_t)f->number[i];
                *top = looked_up(f->number + i + 1, rows, top[0], top[1], operation == KHZ_OPERATION_LINES);
                i += 2 * rows;
            } else {
                *top = of_two(operation, top[0], top[1]);
            }
            break;
        default:
            top -= 3;
            *top = operation == KHZ_OPERATION_BIT ? bit(top[0], top[1], top[2]) : top[0] != 0.0 ? top[1] : top[2];
            break;
        }
        top++;
    }
    return stack[0];
}

double khz_formula_sample(const khz_formula *f, double time) { return khz_formula_value(f, time + KHZ_SOON, time); }

void khz_formula_values(const khz_formula *f, const double *when, const double *time, int64_t n, double *values)
{
    for (int64_t i = 0; i < n; i++) {
        values[i] = khz_formula_value(f, when[i], time[i]);
    }
}
