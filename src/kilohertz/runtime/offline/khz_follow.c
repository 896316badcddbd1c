/* Loops of a model without states, from one output point to the next. */
#include <string.h>

#include "khz_offline.h"

/* Parts of the way, at the finest; evaluations of one way at most. */
enum { FOLLOW_FINEST = 64, FOLLOW_CAP = 200 };

int64_t khz_offline_follow_work(const khz_model *m)
{
    return m->n_x == 0 && m->n_nonlinear > 0 ? (int64_t)(m->size / sizeof(double)) + 1 : 0;
}

/* All of an instance but the free part of its arena, which is most of it. */
static void copy(const khz_model *m, void *to, const void *from)
{
    const size_t used = m->arena + ((const khz_context *)from)->arena_used;
    const size_t rest = m->arena + m->arena_size;
    memcpy(to, from, used);
    memcpy((char *)to + rest, (const char *)from + rest, m->size - rest);
}

/* One evaluation; 1 where every loop came to its solution in the usual way. */
static int is_plain(khz_offline *o, double t, const double *x)
{
    const khz_context *const c = (const khz_context *)o->instance;
    const uint32_t detours = c->n_detours;
    return khz_offline_evaluate(o, t, x) == KHZ_OK && c->n_detours == detours;
}

khz_status khz_offline_follow(khz_offline *o, double *kept, double t, const double *x)
{
    const khz_model *const m = o->model;
    const double from = ((const khz_context *)o->instance)->time;
    if (khz_offline_follow_work(m) == 0 || !(t > from)) {
        return khz_offline_evaluate(o, t, x);
    }
    double done = 0.0;
    double part = 1.0;
    copy(m, kept, o->instance);
    for (int turn = 0; turn < FOLLOW_CAP && part >= 1.0 / FOLLOW_FINEST; turn++) {
        const double next = done + part < 1.0 ? done + part : 1.0;
        const int plain = is_plain(o, next < 1.0 ? from + next * (t - from) : t, x);
        if (plain && next >= 1.0) {
            return KHZ_OK;
        }
        copy(m, plain ? (void *)kept : o->instance, plain ? o->instance : (void *)kept);
        done = plain ? next : done;
        part = plain ? 2.0 * part : 0.5 * part;
    }
    return khz_offline_evaluate(o, t, x); /* nothing to be gained by small steps */
}
