/* Loops of a model without states, from one output point to the next. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_offline.h"

/* Parts of the way, at the finest; evaluations of one way at most. */
enum { FOLLOW_FINEST = 64, FOLLOW_CAP = 200 };
static const double FORESEEN = 0.01; /* of its size: a value not further from where the way so far leads to */
static const double NEARER = 0.1;    /* times that far: another solution, which is that of the way */
static const double REACH = 4.0;     /* times the last part of the way it tells of what comes */

/* The point before the last, and the times of both; the last one is an instance. */
typedef struct follow_path {
    double time, last;
    uint32_t n_passes; /* of events until then: what comes before one tells nothing of what comes after it */
    double *before;    /* [n_w] algebraic values */
} follow_path;

/* The way as far as it was made, and where it began: each an instance, and the path that leads to it.  A path over
 * whole ways stays from one to the next. */
typedef struct follow_room {
    follow_path *path, *start_path;
    void *kept, *start;
} follow_room;

enum { PATH_HEAD = (sizeof(follow_path) + sizeof(double) - 1) / sizeof(double) };

int64_t khz_offline_follow_work(const khz_model *m)
{
    return m->n_x == 0 && m->n_nonlinear > 0 ? 2 * (khz_offline_copied(m) + PATH_HEAD + m->n_w) : 0;
}

static follow_room divide_room(const khz_model *m, double *work)
{
    double *const second = work + PATH_HEAD + m->n_w;
    const follow_room room = {(follow_path *)(void *)work, (follow_path *)(void *)second, second + PATH_HEAD + m->n_w,
                              second + PATH_HEAD + m->n_w + khz_offline_copied(m)};
    room.path->before = work + PATH_HEAD;
    room.start_path->before = second + PATH_HEAD;
    return room;
}

void khz_offline_follow_start(const khz_model *m, double *work)
{
    if (khz_offline_follow_work(m) > 0) {
        divide_room(m, work).start_path->last = NAN; /* no path yet */
    }
}

static const khz_context *context(const void *instance) { return (const khz_context *)instance; }

static void copy_path(const khz_model *m, follow_path *to, const follow_path *from)
{
    double *const before = to->before;
    *to = *from;
    to->before = before;
    memcpy(before, from->before, sizeof(double) * (size_t)m->n_w);
}

/* The point at the end of a path is the one before from now on; the last is at t. */
static void note_path(const khz_model *m, follow_path *path, void *end, double t)
{
    path->time = context(end)->time;
    path->last = t;
    path->n_passes = context(end)->n_passes;
    memcpy(path->before, khz_reals(end, m->w), sizeof(double) * (size_t)m->n_w);
}

/* How far t is beyond the end of a path, in parts of its own length; DBL_MAX where it tells nothing. */
static double ahead(const follow_path *path, const void *end, double t)
{
    const double from = context(end)->time;
    const double ratio = (t - from) / (from - path->time);
    const int leads = path->last == from && path->n_passes == context(end)->n_passes;
    return leads && ratio <= REACH ? ratio : DBL_MAX;
}

static double foreseen(const follow_path *path, const double *at, double ratio, int32_t i)
{
    return at[i] + ratio * (at[i] - path->before[i]);
}

/* How far the present values are from where a path leads to, of their size. */
static double surprise(const khz_offline *o, const follow_path *path, void *end, double ratio)
{
    const double *const at = khz_reals(end, o->model->w);
    const double *const w = khz_reals(o->instance, o->model->w);
    double most = 0.0;
    for (int32_t i = 0; i < o->model->n_w; i++) {
        const double size = fmax(fabs(w[i]), fmax(fabs(at[i]), fabs(path->before[i])));
        const double off = fabs(w[i] - foreseen(path, at, ratio, i));
        most = off > most * size ? off / size : most;
    }
    return most;
}

/* One evaluation; 1 where every loop came to its solution in the usual way. */
static int is_plain(khz_offline *o, double t, const double *x)
{
    const uint32_t detours = context(o->instance)->n_detours;
    return khz_offline_evaluate(o, t, x) == KHZ_OK && context(o->instance)->n_detours == detours;
}

/* The instance as at the end of a path, but where that leads to: guesses of loops. */
static void look_ahead(khz_offline *o, const follow_path *path, void *end, double ratio)
{
    const khz_model *const m = o->model;
    const double *const at = khz_reals(end, m->w);
    khz_offline_copy(m, o->instance, end);
    double *const w = khz_reals(o->instance, m->w);
    for (int32_t i = 0; i < m->n_w; i++) {
        w[i] = foreseen(path, at, ratio, i);
    }
}

/* One part of the way, to t; 1 where every loop came to its solution in the usual way.  A solution far from where the
 * path leads to may be another one: that of the path is one that is much nearer. */
static int is_followed(khz_offline *o, const follow_room *room, double t, const double *x)
{
    const double ratio = ahead(room->path, room->kept, t);
    if (!is_plain(o, t, x)) {
        return 0;
    }
    const double off = ratio < DBL_MAX ? surprise(o, room->path, room->kept, ratio) : 0.0;
    if (off <= FORESEEN) {
        return 1;
    }
    look_ahead(o, room->path, room->kept, ratio);
    if (is_plain(o, t, x) && surprise(o, room->path, room->kept, ratio) <= NEARER * off) {
        return 1;
    }
    khz_offline_copy(o->model, o->instance, room->kept);
    return is_plain(o, t, x);
}

/* Small steps lead nowhere: the way ends, or parts.  From its last point, from where it began, from where it leads to:
 * the solution that is least of a surprise. */
static khz_status jump(khz_offline *o, const follow_room *room, double t, const double *x)
{
    enum { FROM_LAST, FROM_START, FROM_AHEAD, AGAIN };
    const double ratio = ahead(room->start_path, room->start, t);
    double least = DBL_MAX;
    int best = FROM_LAST;
    khz_status status = KHZ_OK;
    for (int turn = ratio < DBL_MAX ? FROM_LAST : AGAIN; turn <= AGAIN; turn++) {
        const int way = turn == AGAIN ? best : turn;
        if (way == FROM_AHEAD) {
            look_ahead(o, room->start_path, room->start, ratio);
        } else {
            khz_offline_copy(o->model, o->instance, way == FROM_LAST ? room->kept : room->start);
        }
        status = khz_offline_evaluate(o, t, x);
        if (turn < AGAIN && status == KHZ_OK) {
            const double off = surprise(o, room->start_path, room->start, ratio);
            best = off < least ? way : best;
            least = fmin(off, least);
        }
    }
    return status;
}

khz_status khz_offline_follow(khz_offline *o, double *work, double t, const double *x)
{
    const khz_model *const m = o->model;
    const double from = context(o->instance)->time;
    if (khz_offline_follow_work(m) == 0 || !(t > from)) {
        return khz_offline_evaluate(o, t, x);
    }
    const follow_room room = divide_room(m, work);
    double done = 0.0;
    khz_offline_copy(m, room.kept, o->instance);
    copy_path(m, room.path, room.start_path);
    double part = ahead(room.path, room.kept, t) < DBL_MAX ? 1.0 : 0.5; /* a first part makes a path */
    for (int turn = 0; turn < FOLLOW_CAP && part >= 1.0 / FOLLOW_FINEST; turn++) {
        const double next = done + part < 1.0 ? done + part : 1.0;
        const double to = next < 1.0 ? from + next * (t - from) : t;
        const int plain = is_followed(o, &room, to, x);
        if (plain && next >= 1.0) {
            note_path(m, room.start_path, turn == 0 ? room.kept : room.start, t);
            return KHZ_OK;
        }
        if (turn == 0) {
            khz_offline_copy(m, room.start, room.kept);
        }
        if (plain) {
            note_path(m, room.path, room.kept, to);
        }
        khz_offline_copy(m, plain ? room.kept : o->instance, plain ? o->instance : room.kept);
        done = plain ? next : done;
        part = plain ? 2.0 * part : 0.5 * part;
    }
    const khz_status status = jump(o, &room, t, x);
    note_path(m, room.start_path, room.start, t);
    return status;
}
