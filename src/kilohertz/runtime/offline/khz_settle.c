/* The passes of an event off-line, until nothing changes.
 *
 * A relation at its zero that comes from a loop may change sides in every pass, by rounding alone: the loop finds its
 * way from another guess each time.  Where the passes do not settle, such relations are found by watching some more of
 * them; all that the passes did to discrete values and states is undone; and the event is made anew with them held. */
#include <math.h>
#include <string.h>

#include "khz_offline.h"

/* Passes before they are watched, of the first and of a later round (half of which leave relations held); passes that
 * are watched; rounds. */
enum { PATIENCE = 20, LATER = 200, WATCHED = 6, ROUNDS = 4, HELD = 100 };
static const double NOISE = 1e-8; /* of the largest value of what a relation compares */

static const double BEYOND = 2.0; /* times that noise is a relation taken to be as it was held */

/* [n_r] each: passes that changed a relation, HELD where it is held; the furthest from zero it was meanwhile. */
typedef struct held {
    double *marks, *reach;
} held;

typedef struct area {
    size_t offset, n_bytes;
} area;
enum { N_AREAS = 10 };

/* What passes change and go on from; all else follows from it. */
static void find_areas(const khz_model *m, area *areas)
{
    const size_t d = sizeof(double) * (size_t)m->n_d;
    const size_t n = sizeof(int32_t) * (size_t)m->n_m;
    const size_t s = (size_t)KHZ_TEXT_SIZE * (size_t)m->n_s;
    const size_t r = sizeof(int32_t) * (size_t)m->n_r;
    const area all[N_AREAS] = {{m->x, sizeof(double) * (size_t)m->n_x},
                               {m->d, d},
                               {m->pre_d, d},
                               {m->m, n},
                               {m->pre_m, n},
                               {m->s, s},
                               {m->pre_s, s},
                               {m->r, r},
                               {m->forced, r},
                               {m->sample_now, sizeof(int32_t) * (size_t)m->n_samples}};
    memcpy(areas, all, sizeof all);
}

int64_t khz_settle_work(const khz_model *m)
{
    area areas[N_AREAS];
    size_t n_bytes = 0;
    find_areas(m, areas);
    for (int k = 0; k < N_AREAS; k++) {
        n_bytes += areas[k].n_bytes;
    }
    return 2 * (int64_t)m->n_r + (int64_t)(n_bytes / sizeof(double)) + 1;
}

/* Into `kept`, or back from it. */
static void keep(const khz_model *m, void *instance, double *kept, int is_back)
{
    area areas[N_AREAS];
    char *at = (char *)kept;
    find_areas(m, areas);
    for (int k = 0; k < N_AREAS; k++) {
        char *const place = (char *)instance + areas[k].offset;
        memcpy(is_back ? place : at, is_back ? at : place, areas[k].n_bytes);
        at += areas[k].n_bytes;
    }
}

/* One more pass of the same event: marks what changed, notes how far from zero it is. */
static khz_status one_pass(khz_offline *o, const khz_event_work *w, const held *h)
{
    const khz_model *const m = o->model;
    const int32_t *const r = khz_ints(o->instance, m->r);
    int passes = 0;
    for (int32_t i = 0; i < m->n_r; i++) {
        w->g[i] = (double)r[i];
    }
    ((khz_context *)o->instance)->phase = KHZ_PHASE_EVENT;
    const khz_status status = khz_event_passes(m, o->instance, 1, &passes);
    for (int32_t i = 0; i < m->n_r; i++) {
        h->marks[i] += r[i] != (int32_t)w->g[i] ? 1.0 : 0.0;
    }
    m->crossings(o->instance, w->g);
    for (int32_t i = 0; i < m->n_r; i++) {
        h->reach[i] = fmax(h->reach[i], fabs(w->g[i]));
    }
    return status;
}

/* Marks relations that passes change again and again, and that are zero but for noise, as HELD; marks stay.
 * KHZ_EVENT_CAP: it goes on so. */
static khz_status watch(khz_offline *o, const khz_event_work *w, const held *h, int *any)
{
    const int32_t n_r = o->model->n_r;
    khz_status status = KHZ_EVENT_CAP;
    memset(h->reach, 0, sizeof(double) * (size_t)n_r);
    for (int k = 0; k < WATCHED && status == KHZ_EVENT_CAP; k++) {
        status = one_pass(o, w, h);
    }
    *any = 0;
    for (int32_t i = 0; i < n_r; i++) {
        const int is_noise = h->marks[i] > 0.0 && h->reach[i] <= NOISE * w->largest[i];
        h->marks[i] = is_noise || h->marks[i] >= HELD ? HELD : 0.0;
        *any |= is_noise;
    }
    return status;
}

/* Marked relations take the value they were to have, if the event is theirs, else that before it; and keep it, behind
 * the event as long as they are within the same noise. */
static void hold(khz_offline *o, const khz_event_work *w, const held *h)
{
    const khz_model *const m = o->model;
    int32_t *const r = khz_ints(o->instance, m->r);
    for (int32_t i = 0; i < m->n_r; i++) {
        if (h->marks[i] > 0.0) {
            const int32_t before = (int32_t)w->before[i];
            r[i] = w->g_high != NULL && w->g_high[i] < 0.0 ? !before : before;
            khz_ints(o->instance, m->forced)[i] = 1;
            w->band[i] = fmax(w->band[i], BEYOND * h->reach[i]);
        }
    }
}

/* The first relation of the first event that was made anew is what a warning tells. */
static void note_held(khz_offline *o, const double *marks)
{
    if (o->n_held++ > 0) {
        return;
    }
    o->first_held = ((const khz_context *)o->instance)->time;
    for (o->held_relation = 0; marks[o->held_relation] <= 0.0;) {
        o->held_relation++;
    }
}

khz_status khz_settle(khz_offline *o, const khz_event_work *w)
{
    const khz_model *const m = o->model;
    khz_context *const c = (khz_context *)o->instance;
    const uint32_t n_unsettled = c->n_unsettled;
    const held h = {w->kept, w->kept + m->n_r};
    double *const kept = w->kept + 2 * m->n_r;
    int any = 1;
    memset(h.marks, 0, sizeof(double) * (size_t)m->n_r);
    keep(m, o->instance, kept, 0);
    for (int round = 0; round < ROUNDS && any; round++) {
        int passes = 0;
        khz_status status = khz_event_passes(m, o->instance, round == 0 ? PATIENCE : LATER, &passes);
        status = status == KHZ_EVENT_CAP ? watch(o, w, &h, &any) : status;
        if (status != KHZ_EVENT_CAP) {
            return status;
        }
        if (any) {
            keep(m, o->instance, kept, 1);
            hold(o, w, &h);
            c->n_unsettled = n_unsettled;
            if (round == 0) {
                note_held(o, h.marks);
            }
        }
    }
    c->phase = any ? c->phase : KHZ_PHASE_EVENT;
    return khz_event(m, o->instance);
}
