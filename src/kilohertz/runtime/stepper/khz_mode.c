/* What an event may change: kept before it, given back where it fails; and relations that chatter. */
#include <string.h>

#include "khz_probe.h"
#include "khz_stepper_core.h"

enum { CHATTER_CAP = 40 };

void khz_mode_keep(const khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    khz_copy(w->kept_x, khz_reals(w->instance, m->x), m->n_x);
    khz_copy(w->kept_d, khz_reals(w->instance, m->d), m->n_d);
    khz_copy(w->kept_d + m->n_d, khz_reals(w->instance, m->pre_d), m->n_d);
    memcpy(w->kept_m, khz_ints(w->instance, m->m), sizeof(int32_t) * (size_t)m->n_m);
    memcpy(w->kept_m + m->n_m, khz_ints(w->instance, m->pre_m), sizeof(int32_t) * (size_t)m->n_m);
    memcpy(w->kept_r, khz_ints(w->instance, m->r), sizeof(int32_t) * (size_t)m->n_r);
    memcpy(w->kept_s, khz_texts(w->instance, m->s), (size_t)m->n_s * KHZ_TEXT_SIZE);
    memcpy(w->kept_s + (size_t)m->n_s * KHZ_TEXT_SIZE, khz_texts(w->instance, m->pre_s),
           (size_t)m->n_s * KHZ_TEXT_SIZE);
}

static void give_back(const khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    khz_copy(khz_reals(w->instance, m->x), w->kept_x, m->n_x);
    khz_copy(khz_reals(w->instance, m->d), w->kept_d, m->n_d);
    khz_copy(khz_reals(w->instance, m->pre_d), w->kept_d + m->n_d, m->n_d);
    memcpy(khz_ints(w->instance, m->m), w->kept_m, sizeof(int32_t) * (size_t)m->n_m);
    memcpy(khz_ints(w->instance, m->pre_m), w->kept_m + m->n_m, sizeof(int32_t) * (size_t)m->n_m);
    memcpy(khz_ints(w->instance, m->r), w->kept_r, sizeof(int32_t) * (size_t)m->n_r);
    memcpy(khz_texts(w->instance, m->s), w->kept_s, (size_t)m->n_s * KHZ_TEXT_SIZE);
    memcpy(khz_texts(w->instance, m->pre_s), w->kept_s + (size_t)m->n_s * KHZ_TEXT_SIZE,
           (size_t)m->n_s * KHZ_TEXT_SIZE);
    memset(khz_ints(w->instance, m->reinit), 0, sizeof(int32_t) * (size_t)m->n_x);
    memset(khz_ints(w->instance, m->sample_now), 0, sizeof(int32_t) * (size_t)m->n_samples);
}

/* An event failed: back to the mode before it, with one pass for the matrices that belong to that mode. */
void khz_mode_undo(const khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    int32_t *const forced = khz_ints(w->instance, m->forced);
    give_back(s, w);
    for (int32_t i = 0; i < m->n_r; i++) {
        forced[i] = 1;
    }
    ((khz_context *)w->instance)->status = KHZ_OK;
    (void)KHZ_COPY((const khz_context *)w->instance, m)->event(w->instance);
    give_back(s, w);
    memset(forced, 0, sizeof(int32_t) * (size_t)m->n_r);
}

/* Whether an event changed the Jacobian, by what it changed of the mode. */
int khz_mode_stirs(const khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    const khz_real *const d = khz_reals(w->instance, m->d);
    const int32_t *const ints = khz_ints(w->instance, m->m), *const r = khz_ints(w->instance, m->r);
    int stirs = m->n_stirring < 0 || m->n_z > 0;
    for (int32_t i = 0; i < m->n_stirring && !stirs; i++) {
        const int32_t k = m->stirring[i], of_m = k - m->n_d, of_r = of_m - m->n_m;
        stirs = of_m < 0   ? memcmp(&d[k], &w->kept_d[k], sizeof(khz_real)) != 0
                : of_r < 0 ? ints[of_m] != w->kept_m[of_m]
                           : r[of_r] != w->kept_r[of_r];
    }
    return stirs;
}

/* What is known of a relation whose event came late: at its instant the function would be zero, and a state that the
 * event sets takes it over zero again at once.  Where it turns before it is back there, its events are missed; likewise
 * where it came back after each of its last events and goes on now as if nothing had been set. */
enum { ON_TIME, CAME_LATE, IS_BEYOND, COMES_BACK };
enum { CAME_BACK_OFTEN = 3 };

static uint32_t *late_of(khz_stepper *s)
{
    return (uint32_t *)(void *)((char *)s + s->flips) + 4 * (size_t)khz_model_of(s)->n_r;
}

void khz_mode_came_late(khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    const int32_t *const r = khz_ints(w->instance, m->r);
    if (memcmp(w->kept_x, khz_reals(w->instance, m->x), sizeof(khz_real) * (size_t)m->n_x) == 0) {
        return;
    }
    for (int32_t i = 0; i < m->n_r; i++) {
        if (r[i] != w->kept_r[i]) {
            late_of(s)[i] = CAME_LATE;
            s->n_late = 1;
        }
    }
}

/* w->g0: at the end of the period, positive where the relation is as it was last set. */
void khz_mode_look_back(khz_stepper *s, const khz_work *w)
{
    uint32_t *const late = late_of(s);
    uint32_t *const missed = late - khz_model_of(s)->n_r, *const came_back = late + khz_model_of(s)->n_r;
    int32_t n = 0;
    for (int32_t i = 0; i < khz_model_of(s)->n_r; i++) {
        if (late[i] == ON_TIME) {
            continue;
        }
        if (late[i] == CAME_LATE) {
            late[i] = IS_BEYOND;
        } else if (late[i] == COMES_BACK ? w->g0[i] > w->depth[i] : w->g0[i] >= w->depth[i]) {
            const int goes_on = w->g0[i] > w->depth[i]; /* it may as well rest here */
            const int is_missed = goes_on && (late[i] == COMES_BACK || came_back[i] >= CAME_BACK_OFTEN);
            missed[i] += (uint32_t)is_missed;
            s->counts.unended += (uint64_t)is_missed;
            came_back[i] = 0u;
            late[i] = ON_TIME;
        } else {
            late[i] = COMES_BACK;
        }
        w->depth[i] = w->g0[i];
        n += late[i] != ON_TIME;
    }
    s->n_late = n;
}

/* A relation that changes again and again, in every or every other of many periods, chatters. */
void khz_mode_watch(khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    uint32_t *const found = (uint32_t *)(void *)((char *)s + s->flips);
    uint32_t *const last = found + m->n_r;
    uint32_t *const level = last + m->n_r;
    uint32_t *const late = late_of(s);
    const int32_t *const r = khz_ints(w->instance, m->r);
    const uint32_t now = (uint32_t)s->n + 1u;
    for (int32_t i = 0; i < m->n_r; i++) {
        if (r[i] == w->kept_r[i]) {
            continue;
        }
        late[m->n_r + i] += late[i] != ON_TIME; /* it came back */
        late[i] = ON_TIME;
        const uint32_t pause = now - last[i];
        const uint32_t rise = pause > 0u ? 3u : 0u;
        level[i] = level[i] + rise > pause ? level[i] + rise - pause : 0u;
        last[i] = now;
        if (level[i] >= CHATTER_CAP) {
            level[i] = 0u;
            found[i]++;
            s->counts.chattering++;
            s->flags |= KHZ_STEP_CHATTERS;
        }
    }
}
