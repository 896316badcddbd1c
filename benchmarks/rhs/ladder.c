/* A line of twenty sections: resistor and inductor along, capacitor and leak across; a source before, a load behind. */
#include "rhs.h"

enum { N = 20 };

typedef struct section {
    double R, L, C, leak;
} section;

typedef struct parameters {
    double V, load;
    section section[N];
} parameters;

#define SECTION {0.1, 1e-3, 1e-5, 1e5}
#define FIVE SECTION, SECTION, SECTION, SECTION, SECTION

static const parameters defaults = {10.0, 50.0, {FIVE, FIVE, FIVE, FIVE}};
const void *const hand_parameters = &defaults;

/* x: currents i[N], then voltages v[N] */
void hand_rhs(const void *parameters_, double time, const double *restrict x, double *restrict xd)
{
    const parameters *const p = parameters_;
    const double *const i = x, *const v = x + N;
    double *const di = xd, *const dv = xd + N;
    double before = p->V;
    (void)time;
    for (int k = 0; k < N; k++) {
        const section *const s = &p->section[k];
        const double behind = k + 1 < N ? i[k + 1] : v[k] / p->load;
        di[k] = (before - s->R * i[k] - v[k]) / s->L;
        dv[k] = (i[k] - v[k] / s->leak - behind) / s->C;
        before = v[k];
    }
}
