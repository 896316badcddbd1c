#include "rhs.h"

void empty_rhs(const void *parameters, double time, const double *x, double *xd)
{
    (void)parameters;
    (void)time;
    (void)x;
    (void)xd;
}
