/* Steps of a model with a fixed-step method, for an instruction counter:
 * driver METHOD PERIOD_NS INLINED SKIPPED STEPS [JACOBIAN_EVERY JACOBIAN_SPREAD].  Counted is what happens inside
 * khz_counted_step; with KHZ_MADE the step of that name, made for the model and these settings. */
#include <stdio.h>
#include <stdlib.h>

#include "khz_stepper.h"

extern const khz_model *KHZ_MODEL(void);
#ifdef KHZ_MADE
extern const khz_made KHZ_MADE;
static const khz_made *const made = &KHZ_MADE;
#else
static const khz_made *const made = NULL;
#endif
static uint32_t (*step)(khz_stepper *s);

__attribute__((noinline)) uint32_t khz_counted_step(khz_stepper *s);

uint32_t khz_counted_step(khz_stepper *s) { return step(s); }

int main(int argc, char **argv)
{
    if (argc != 6 && argc != 9) {
        return 2;
    }
    const khz_model *const m = KHZ_MODEL();
    khz_step_settings settings = {0};
    settings.method = khz_method_index(argv[1]);
    settings.period_ns = atoll(argv[2]);
    settings.inlined = atoi(argv[3]);
    settings.jacobian_every = argc == 9 ? atoi(argv[6]) : 1;
    settings.jacobian_spread = argc == 9 ? atoi(argv[7]) : 0;
    settings.newton = argc == 9 ? atoi(argv[8]) : 0;
    settings.events = KHZ_EVENTS_CATCH_UP;
    const size_t size = khz_stepper_size(m, &settings);
    khz_stepper *const s = size > 0 ? aligned_alloc(64, size) : NULL;
    if (s == NULL || khz_stepper_init(s, m, &settings, 0.0) != KHZ_OK) {
        return 3;
    }
    step = khz_stepper_made(s, made);
    if ((made != NULL) != (step != khz_stepper_step)) {
        return 4; /* it was made for other settings */
    }
    const long skipped = atol(argv[4]), steps = atol(argv[5]);
    for (long k = 0; k < skipped; k++) {
        (void)step(s);
    }
    uint32_t flags = 0;
    for (long k = 0; k < steps; k++) {
        flags |= khz_counted_step(s);
    }
    printf("%u\n", (unsigned)flags);
    free(s);
    return 0;
}
