#include "khz_merge.h"

#include <string.h>

/* The last step that a row stands for. */
static int64_t until(int64_t step, int64_t every) { return step % every == 0 ? step : step - step % every + every - 1; }

/* The step of the row that stands for a step. */
static int64_t due(int64_t step, int64_t every) { return step % every == 0 ? step : step - step % every + 1; }

int khz_merge_wants(int64_t step, int64_t every, int64_t record_every)
{
    return until(step, every) / record_every * record_every >= step;
}

/* The oldest row of a lane, NULL where there is none. */
static const double *head(khz_lane_rows *l)
{
    const unsigned char *rows = NULL;
    return khz_ring_peek(&l->ring, &rows) > 0 ? (const double *)(const void *)rows : NULL;
}

/* The row begins a round: the lane went back to a snapshot. */
static int goes_back(const khz_lane_rows *l, const double *row) { return (uint64_t)row[1] > l->rounds; }

static void take(khz_merge *m, khz_lane_rows *l, const double *row)
{
    const int64_t step = (int64_t)row[0];
    const int64_t last_shown = until(step, l->every) / m->record_every * m->record_every;
    m->n_late += (uint64_t)(l->last >= 0 && (l->rounds < m->rounds || last_shown < m->next));
    for (int32_t i = 0; i < l->n; i++) {
        m->row[l->places[i]] = row[KHZ_MERGE_HEAD + i];
    }
    l->last = step;
    khz_ring_release(&l->ring, 1);
}

/* Take rows up to the next merged one.  1 where nothing more can come for it, 0 where the lane has to be waited for. */
static int advance(khz_merge *m, khz_lane_rows *l)
{
    const int ended = atomic_load_explicit(&l->ended, memory_order_acquire); /* before its last rows are looked at */
    for (;;) {
        const double *const row = head(l);
        if (row == NULL) {
            return ended || (l->rounds == m->rounds && l->last >= 0 && until(l->last, l->every) >= m->next);
        }
        if (goes_back(l, row)) {
            if (l->rounds >= m->rounds) {
                return 1; /* the others have to come so far first */
            }
            l->rounds++;
            l->last = -1;
            continue;
        }
        if (l->rounds == m->rounds && (int64_t)row[0] > m->next) {
            return 1;
        }
        take(m, l, row);
    }
}

static int is_crowded(const khz_merge *m)
{
    for (int32_t i = 0; i < m->n_lanes; i++) {
        const khz_ring *const r = &m->lanes[i].ring;
        if (4 * (atomic_load(&r->written) - atomic_load(&r->read)) > 3 * r->capacity) {
            return 1;
        }
    }
    return 0;
}

/* Every lane that is waited for has gone back, and all before is merged: begin the round at its first step. */
static int begin_round(khz_merge *m, int waits)
{
    int64_t first = -1;
    for (int32_t i = 0; i < m->n_lanes; i++) {
        khz_lane_rows *const l = &m->lanes[i];
        const double *const row = head(l);
        if (row == NULL && (!waits || atomic_load(&l->ended))) {
            continue;
        }
        if (row == NULL || !goes_back(l, row) || l->last >= m->next) {
            return 0;
        }
        first = first < 0 || (int64_t)row[0] < first ? (int64_t)row[0] : first;
    }
    if (first < 0) {
        return 0;
    }
    m->rounds++;
    m->next = (first + m->record_every - 1) / m->record_every * m->record_every;
    return 1;
}

/* What the lanes have for the next merged row. */
typedef struct found {
    int32_t complete; /* no lane lost its part */
    int32_t fresh;    /* a lane ended a period just then */
    int32_t ahead;    /* a lane has a row for later */
} found;

static found look(khz_merge *m, int settled)
{
    found f = {1, 0, 0};
    for (int32_t i = 0; i < m->n_lanes; i++) {
        khz_lane_rows *const l = &m->lanes[i];
        const double *const row = head(l);
        const int here = l->rounds == m->rounds && l->last == due(m->next, l->every);
        f.fresh |= here && l->last == m->next;
        f.complete &= here || !settled || (row == NULL && atomic_load(&l->ended));
        f.ahead |= row != NULL && !goes_back(l, row);
    }
    return f;
}

void khz_merge_rows(khz_merge *m, khz_ring *out)
{
    for (;;) {
        int settled = 1;
        for (int32_t i = 0; i < m->n_lanes; i++) {
            settled &= advance(m, &m->lanes[i]);
        }
        if (!settled && !is_crowded(m)) {
            return;
        }
        if (begin_round(m, settled)) {
            continue;
        }
        const found f = look(m, settled);
        if (!f.fresh && !f.ahead) {
            return;
        }
        if (f.complete && f.fresh) {
            double *const row = (double *)khz_ring_reserve(out);
            if (row == NULL) {
                out->dropped--; /* the lanes' rings hold it; nothing is lost yet */
                return;
            }
            m->row[0] = m->start + (double)(m->next * m->period_ns) / 1e9;
            memcpy(row, m->row, sizeof(double) * (size_t)m->n_columns);
            khz_ring_commit(out);
        }
        m->n_incomplete += (uint64_t)(f.fresh && !f.complete);
        m->next += m->record_every;
    }
}
