#include "khz_planned.h"

#include <string.h>

#include "khz_spare.h"

void khz_exchange(int32_t n, khz_real *a, khz_real *b)
{
    for (int32_t i = 0; i < n; i++) {
        const khz_real t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

/* Factorise a new matrix; where its pivots do not suit, leave it to the way out. */
static int is_planned(khz_context *c, const khz_linear_plan *plan, khz_real *memory, int32_t *order, int32_t *factored)
{
    if (*factored != 0) {
        return *factored == 3;
    }
    const khz_real *const a = memory + plan->room;
    if (plan->factor(a, memory + plan->room + plan->n_a, order) == 0) {
        c->n_factored++;
        *factored = 3;
        return 1;
    }
    c->n_detours++;
    if (plan->scattered != NULL) {
        return 0;
    }
    memset(memory, 0, sizeof(khz_real) * (size_t)plan->n * (size_t)plan->n);
    for (int32_t k = 0; k < plan->n_a; k++) {
        const int32_t at = plan->dense[k];
        memory[at] = a[k];
        if (plan->is_symmetric != 0) {
            memory[at % plan->n * plan->n + at / plan->n] = a[k];
        }
    }
    return 0;
}

khz_status khz_linear_planned(khz_context *c, int block, int place, const khz_linear_plan *plan, khz_real *memory,
                              int32_t *order, int32_t *factored, khz_real *b)
{
    if (is_planned(c, plan, memory, order, factored)) {
        plan->solve(memory + plan->room + plan->n_a, order, b);
        return KHZ_OK;
    }
    if (!khz_may_detour(c, KHZ_MIXED_UNPLANNED)) {
        khz_fail(c, KHZ_SINGULAR, place, "a linear system of equations has no solution");
        return KHZ_SINGULAR;
    }
    if (plan->scattered != NULL) {
        return khz_linear_scattered(c, block, place, plan->scattered, memory, factored, b);
    }
    return khz_linear(c, block, place, plan->n, memory, order, factored, b);
}

khz_status khz_linear_planned_lanes(khz_context *c, int block, int place, const khz_linear_plan *plan, khz_real *memory,
                                    int32_t *order, int32_t *factored, khz_lanes *b)
{
    if (is_planned(c, plan, memory, order, factored)) {
        plan->solve_lanes(memory + plan->room + plan->n_a, order, b);
        return KHZ_OK;
    }
    if (plan->scattered != NULL) {
        return khz_linear_scattered_lanes(c, block, place, plan->scattered, memory, factored, b);
    }
    return khz_linear_lanes(c, block, place, plan->n, memory, order, factored, b);
}
