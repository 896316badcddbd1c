#include "khz_loops.h"

#include <math.h>
#include <string.h>

#include "khz_linear.h"

double khz_quotient(khz_context *c, int block, int place, double b, double a)
{
    if (a != 0.0) {
        return b / a;
    }
    if (b != 0.0) {
        c->block = c->status == KHZ_OK ? block : c->block;
        khz_fail(c, KHZ_SINGULAR, place, "division by zero");
    }
    return 0.0;
}

khz_status khz_linear(khz_context *c, int block, int place, int n, double *memory, int32_t *order, int32_t *factored,
                      double *b)
{
    const size_t bytes = sizeof(double) * (size_t)n * (size_t)n;
    double *const matrix = memory;
    double *const lu = matrix + n * n;
    double *const scale = lu + n * n;
    double *const work = scale + n;
    khz_status status = KHZ_OK;
    if (*factored == 0) {
        memcpy(lu, matrix, bytes);
        status = khz_lu_factor(n, lu, scale, order);
        *factored = status == KHZ_OK ? 1 : 2;
    }
    if (*factored == 1) {
        khz_lu_solve(n, lu, scale, order, b, work);
    } else if (status != KHZ_NOT_FINITE) {
        /* Singular: the solution of smallest norm where the equations agree. */
        memcpy(lu, matrix, bytes);
        status = khz_minimum_norm(n, lu, b, 1e-8, scale, order);
    }
    if (status != KHZ_OK) {
        *factored = 0;
        if (c->status == KHZ_OK) {
            c->block = block;
        }
        khz_fail(c, status, place,
                 status == KHZ_SINGULAR ? "a linear system of equations has no solution"
                                        : "a linear system of equations has a coefficient that is not a number");
    }
    return status;
}

khz_newton_problem khz_loop(int n, khz_residual_fn residual, khz_jacobian_fn jacobian, const double *nominal)
{
    const khz_newton_problem problem = {
        .n = n,
        .residual = residual,
        .jacobian = jacobian,
        .nominal = nominal,
        .max_iterations = 50,
        .rescue_iterations = 100,
        .tolerance = 1e-10,
    };
    return problem;
}

khz_status khz_nonlinear(khz_context *c, int block, int place, const khz_newton_problem *problem, void *instance,
                         double *x, double *memory, int32_t *order)
{
    const size_t bytes = sizeof(double) * (size_t)problem->n;
    double *const guess = memory;
    khz_newton_problem p = *problem;
    if (c->newton_cap > 0) {
        p.max_iterations = c->newton_cap;
        p.rescue_iterations = 0;
    }
    memcpy(guess, x, bytes);
    const khz_status status = khz_newton(&p, c, instance, x, memory + problem->n, order);
    if (status != KHZ_OK) {
        memcpy(x, guess, bytes);
        if (c->status == KHZ_OK) {
            c->block = block;
        }
        khz_fail(c, status, place, "a nonlinear system of equations has no solution near the present values");
    }
    return status;
}

/* One turn: discrete values, Reals, relations anew.  The number of relations that disagree, or -1: no solution here. */
static int mixed_turn(khz_context *c, const khz_mixed_problem *p, void *instance, const int32_t *r, int32_t *fresh)
{
    const int32_t status = c->status;
    (void)p->derive(instance);
    if (p->continuous(instance) != KHZ_OK) {
        c->status = status;
        return -1;
    }
    p->evaluate(instance, fresh);
    int disagree = 0;
    for (int i = 0; i < p->n; i++) {
        disagree += fresh[i] != r[p->relation[i]];
    }
    return disagree;
}

khz_status khz_mixed(khz_context *c, const khz_mixed_problem *p, void *instance, int32_t *r)
{
    enum { TURNS_TOGETHER = 12 };
    int32_t fresh[KHZ_MIXED_MOST];
    uint32_t random = 12345U;
    /* The mode as it was comes first: relations as the Reals have become meanwhile. */
    const int32_t before = c->status;
    if (p->continuous(instance) == KHZ_OK) {
        p->evaluate(instance, fresh);
        for (int i = 0; i < p->n; i++) {
            r[p->relation[i]] = fresh[i];
        }
    }
    c->status = before;
    for (int turn = 0; turn < KHZ_MIXED_CAP; turn++) {
        const int disagree = mixed_turn(c, p, instance, r, fresh);
        c->n_mixed++;
        if (disagree == 0) {
            if (!p->derive(instance)) {
                return (khz_status)c->status;
            }
            continue;
        }
        if (disagree > 0 && turn < TURNS_TOGETHER) {
            for (int i = 0; i < p->n; i++) {
                r[p->relation[i]] = fresh[i];
            }
            continue;
        }
        /* In circles: change a single relation, chosen by a fixed sequence. */
        random = random * 1664525U + 1013904223U;
        int chosen = (int)((random >> 8) % (uint32_t)(disagree > 0 ? disagree : (p->n > 0 ? p->n : 1)));
        for (int i = 0; i < p->n; i++) {
            if ((disagree < 0 || fresh[i] != r[p->relation[i]]) && chosen-- == 0) {
                r[p->relation[i]] = !r[p->relation[i]];
                break;
            }
        }
    }
    c->n_caps++;
    (void)p->derive(instance);
    return p->continuous(instance);
}

void khz_set_text(khz_context *c, char *target, const char *text)
{
    const size_t n = strlen(text);
    if (n >= KHZ_TEXT_SIZE) {
        khz_fail(c, KHZ_OUT_OF_MEMORY, KHZ_NOWHERE, "a String is longer than the room for it");
        return;
    }
    memmove(target, text, n + 1);
}
