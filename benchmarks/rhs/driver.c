/* driver WHICH N_CALLS N_STATES < states: call one right-hand side over and over; for callgrind to count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "khz_model.h"
#include "rhs.h"

extern const khz_model *KHZ_MODEL(void);

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    const char which = argv[1][0];
    const long n_calls = strtol(argv[2], NULL, 10), n_states = strtol(argv[3], NULL, 10);
    const khz_model *const model = KHZ_MODEL();
    const size_t n = (size_t)model->n_x, count = n * (size_t)n_states;
    void *const instance = aligned_alloc(64, (khz_instance_size(model) + 63) / 64 * 64);
    double *const x = malloc(sizeof(double) * count), *const xd = malloc(sizeof(double) * n);
    if (instance == NULL || x == NULL || xd == NULL || fread(x, sizeof(double), count, stdin) != count) {
        return 3;
    }
    if (khz_instance_init(model, instance) != KHZ_OK || khz_initialize(model, instance, 0.0) != KHZ_OK) {
        return 4;
    }
    int failed = 0;
    for (long k = 0; k < n_calls; k++) {
        const double *const at = x + n * (size_t)(k % n_states);
        switch (which) {
        case 'o':
            failed |= khz_derivatives(model, instance, 0.0, at, xd) != KHZ_OK;
            break;
        case 's':
            memcpy(khz_reals(instance, model->x), at, sizeof(double) * n);
            failed |= model->step(instance) != KHZ_OK;
            break;
        case 'c':
            memcpy(khz_reals(instance, model->x), at, sizeof(double) * n);
            empty_rhs(hand_parameters, 0.0, at, xd);
            break;
        case 'h':
            hand_rhs(hand_parameters, 0.0, at, xd);
            break;
        default:
            empty_rhs(hand_parameters, 0.0, at, xd);
        }
    }
    return failed;
}
