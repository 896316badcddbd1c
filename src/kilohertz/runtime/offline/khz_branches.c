#include "khz_branches.h"

#include <math.h>
#include <string.h>

enum { BRANCH_CHECKS = 20, BRANCH_PARTS = 200, BRANCH_NONE = -1 };
static const double BRANCH_ABRUPT = 0.1;   /* of its size: a change that is looked at ... */
static const double BRANCH_FLOOR = 1e-6;   /* ... and not smaller: it would be rounding, */
static const double BRANCH_SUDDEN = 10.0;  /* ... where it is so many times the last one */
static const double BRANCH_NEAR = 0.05;    /* of their size: states that moved no more are joined by a straight way */
static const double BRANCH_PART = 0.1;     /* of a change: as much may a part of the way have */
static const double BRANCH_LEAST = 1e-9;   /* of the way: its smallest part */
static const double BRANCH_ANOTHER = 0.25; /* of a change: values so far apart are two solutions, */
static const double BRANCH_SAME = 1e-3;    /* of their distance: as near is the same */
static const double BRANCH_SHAKEN = 0.02;  /* of a value: a guess beside it */

/* The row before the last, the last one and this one; the point reached on the way between these. */
typedef struct branch_room {
    double *head;     /* times of both rows before, checks so far, passes of events until the last row */
    double *before;   /* [n_w + n_x] values */
    double *x;        /* [n_x] states on the way */
    char *last, *now; /* instances */
    char *left;
} branch_room;

/* From the last row to this one. */
typedef struct branch_way {
    double from, to;        /* time */
    const double *x, *x_to; /* states */
    int32_t value;          /* that is watched */
    double change;          /* of it, in all */
} branch_way;

enum { BRANCH_TIME_BEFORE, BRANCH_TIME_LAST, BRANCH_CHECKED, BRANCH_PASSES, BRANCH_HEAD };

static int32_t n_branch_values(const khz_model *m) { return m->n_w + m->n_x; }

int64_t khz_branches_work(const khz_model *m)
{
    const int64_t rows = BRANCH_HEAD + n_branch_values(m) + m->n_x + 3 * khz_offline_copied(m);
    return m->n_x > 0 && m->n_nonlinear > 0 ? rows : 0;
}

static branch_room branch_divide(const khz_model *m, double *work)
{
    double *const last = work + BRANCH_HEAD + n_branch_values(m) + m->n_x;
    const int64_t copy = khz_offline_copied(m);
    return (branch_room){work,         work + BRANCH_HEAD,    work + BRANCH_HEAD + n_branch_values(m),
                         (char *)last, (char *)(last + copy), (char *)(last + 2 * copy)};
}

/* Value i of an instance: first algebraic ones, then rates. */
static double branch_value_of(const khz_model *m, void *instance, int32_t i)
{
    return i < m->n_w ? khz_reals(instance, m->w)[i] : khz_reals(instance, m->xd)[i - m->n_w];
}

void khz_branches_start(const khz_model *m, double *work)
{
    if (khz_branches_work(m) > 0) {
        memset(work, 0, sizeof(double) * BRANCH_HEAD);
        work[BRANCH_PASSES] = -1.0; /* no row yet */
    }
}

/* This row is the last one from now on. */
static void branch_note(const khz_offline *o, const branch_room *r, int goes_on)
{
    const khz_model *const m = o->model;
    const khz_context *const c = (const khz_context *)o->instance;
    for (int32_t i = 0; i < n_branch_values(m) && goes_on; i++) {
        r->before[i] = branch_value_of(m, r->last, i);
    }
    r->head[BRANCH_TIME_BEFORE] = goes_on ? r->head[BRANCH_TIME_LAST] : c->time;
    r->head[BRANCH_TIME_LAST] = c->time;
    r->head[BRANCH_PASSES] = (double)c->n_passes;
    khz_offline_copy(m, r->last, o->instance);
}

/* The value that changed most, of those that changed abruptly; BRANCH_NONE where none did. */
static int32_t branch_abrupt(const khz_offline *o, const branch_room *r)
{
    const khz_model *const m = o->model;
    const double ratio = (((const khz_context *)o->instance)->time - r->head[BRANCH_TIME_LAST]) /
                         (r->head[BRANCH_TIME_LAST] - r->head[BRANCH_TIME_BEFORE]);
    double most = BRANCH_ABRUPT;
    int32_t found = BRANCH_NONE;
    for (int32_t i = 0; i < n_branch_values(m); i++) {
        const double last = branch_value_of(m, r->last, i);
        const double value = branch_value_of(m, o->instance, i);
        const double change = fabs(value - last);
        const double size = fmax(fabs(value), fabs(last));
        if (change > BRANCH_FLOOR && change > most * size &&
            change > BRANCH_SUDDEN * ratio * fabs(last - r->before[i])) {
            most = change / size;
            found = i;
        }
    }
    return found;
}

static int branch_is_short(const khz_model *m, void *from, void *to)
{
    const double *const x = khz_reals(from, m->x);
    const double *const x_to = khz_reals(to, m->x);
    for (int32_t i = 0; i < m->n_x; i++) {
        if (fabs(x_to[i] - x[i]) > BRANCH_NEAR * fmax(fabs(x[i]), khz_reals(to, m->nominal)[i])) {
            return 0;
        }
    }
    return 1;
}

/* The watched value at a point of the way, from the values that the instance has; NaN where it fails. */
static double branch_at(khz_offline *o, const branch_room *r, const branch_way *a, double s)
{
    for (int32_t i = 0; i < o->model->n_x; i++) {
        r->x[i] = a->x[i] + s * (a->x_to[i] - a->x[i]);
    }
    if (khz_offline_evaluate(o, a->from + s * (a->to - a->from), r->x) != KHZ_OK) {
        return NAN;
    }
    return branch_value_of(o->model, o->instance, a->value);
}

/* Guesses beside those that an instance has. */
static void branch_shake(const khz_model *m, void *instance)
{
    for (int32_t i = 0; i < m->n_w; i++) {
        khz_reals(instance, m->w)[i] *= i % 2 == 0 ? 1.0 + BRANCH_SHAKEN : 1.0 - BRANCH_SHAKEN;
    }
    for (int32_t i = 0; i < m->n_x; i++) {
        khz_reals(instance, m->xd)[i] *= i % 2 == 0 ? 1.0 - BRANCH_SHAKEN : 1.0 + BRANCH_SHAKEN;
    }
}

/* The way comes to the value `left` at the point s, and does not go on: whether this row's solution holds there as
 * well. It must be found from beside, too: else the value is hardly determined (an enthalpy while next to nothing
 * flows). */
static int branch_is_twofold(khz_offline *o, const branch_room *r, const branch_way *a, double s, double left)
{
    khz_offline_copy(o->model, o->instance, r->now);
    const double right = branch_at(o, r, a, s);
    branch_shake(o->model, o->instance);
    const double again = branch_at(o, r, a, s);
    const double apart = fabs(right - left);
    return apart > BRANCH_ANOTHER * a->change && fabs(again - right) <= BRANCH_SAME * apart;
}

/* Along the way in parts over which the value changes little: 1 where it leads to another solution than the one of this
 * row, or ends; 0 where it leads there, or cannot tell. */
static int branch_leads_elsewhere(khz_offline *o, const branch_room *r, const branch_way *a)
{
    const khz_model *const m = o->model;
    double s = 0.0;
    double part = 1.0;
    double value = branch_value_of(m, r->last, a->value);
    khz_offline_copy(m, r->left, r->last);
    for (int k = 0; k < BRANCH_PARTS && s < 1.0; k++) {
        const double next = s + part < 1.0 ? s + part : 1.0;
        khz_offline_copy(m, o->instance, r->left);
        const double there = branch_at(o, r, a, next);
        if (fabs(there - value) <= BRANCH_PART * a->change) {
            khz_offline_copy(m, r->left, o->instance);
            s = next;
            value = there;
            part *= 2.0;
        } else if ((part *= 0.5) < BRANCH_LEAST) {
            return branch_is_twofold(o, r, a, s, value);
        }
    }
    return s >= 1.0 && branch_is_twofold(o, r, a, 1.0, value);
}

static void branch_check(khz_offline *o, const branch_room *r, int32_t value)
{
    const khz_model *const m = o->model;
    khz_offline_copy(m, r->now, o->instance);
    const double last = branch_value_of(m, r->last, value);
    const double now = branch_value_of(m, r->now, value);
    const branch_way a = {.from = r->head[BRANCH_TIME_LAST],
                          .to = ((const khz_context *)o->instance)->time,
                          .x = khz_reals(r->last, m->x),
                          .x_to = khz_reals(r->now, m->x),
                          .value = value,
                          .change = fabs(now - last)};
    if (branch_leads_elsewhere(o, r, &a) && o->n_branches++ == 0) {
        o->first_branch = a.to;
        o->branch_value = value < m->n_w ? value : -1 - (value - m->n_w);
        o->branch_from = last;
        o->branch_to = now;
    }
    khz_offline_copy(m, o->instance, r->now);
}

void khz_branches_look(khz_offline *o, double *work)
{
    const khz_model *const m = o->model;
    if (khz_branches_work(m) == 0) {
        return;
    }
    const branch_room r = branch_divide(m, work);
    const khz_context *const c = (const khz_context *)o->instance;
    const int goes_on = r.head[BRANCH_PASSES] == (double)c->n_passes && c->time > r.head[BRANCH_TIME_LAST];
    if (goes_on && r.head[BRANCH_TIME_LAST] > r.head[BRANCH_TIME_BEFORE] && r.head[BRANCH_CHECKED] < BRANCH_CHECKS) {
        const int32_t value = branch_abrupt(o, &r);
        if (value != BRANCH_NONE && branch_is_short(m, r.last, o->instance)) {
            r.head[BRANCH_CHECKED] += 1.0;
            branch_check(o, &r, value);
        }
    }
    branch_note(o, &r, goes_on);
}
