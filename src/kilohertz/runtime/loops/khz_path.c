#include <string.h>

#include "khz_newton.h"
#include "khz_spare.h"

khz_status khz_newton_path(const khz_newton_problem *p, khz_context *c, void *instance, khz_real *x,
                           const khz_real *guess, khz_real *work, int32_t *order)
{
    const size_t bytes = sizeof(khz_real) * (size_t)p->n;
    khz_real *const lacking = work + KHZ_NEWTON_WORK(p->n) - 2 * p->n; /* behind what khz_newton uses */
    khz_real *const last = lacking + p->n;
    if (!khz_newton_evaluate(p, c, instance, guess, lacking)) {
        return KHZ_NO_CONVERGENCE;
    }
    khz_newton_problem part = *p;
    part.kept = NULL;
    part.bold = 0;
    part.rescue_iterations = 0;
    part.max_iterations = KHZ_PATH_NEWTON;
    part.offset = lacking;
    memcpy(last, guess, bytes);
    khz_real reached = 0.0;
    khz_real stride = KHZ_PATH_FIRST;
    for (int k = 0;
         k < KHZ_PATH_STRIDES && reached < 1.0 && stride >= KHZ_PATH_LEAST && khz_has_iterations(c, KHZ_MIXED_MEANS);
         k++) {
        const khz_real next = reached + stride < 1.0 ? reached + stride : 1.0;
        part.share = 1.0 - next;
        memcpy(x, last, bytes);
        if (khz_newton(&part, c, instance, x, work, order) == KHZ_OK) {
            memcpy(last, x, bytes);
            reached = next;
            stride *= KHZ_PATH_MORE;
        } else {
            stride *= KHZ_PATH_LESS;
        }
    }
    return reached < 1.0 ? KHZ_NO_CONVERGENCE : KHZ_OK;
}
