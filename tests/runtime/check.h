/* Checks of the C tests: the first that fails names its place and ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline int near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(1.0, fabs(b)); }

#endif
