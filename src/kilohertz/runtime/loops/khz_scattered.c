#include "khz_scattered.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_columns.h"
#include "khz_limits.h"
#include "khz_linear.h"
#include "khz_spare.h"
#include "khz_sparse.h"

/* The parts of the memory of a system. */
typedef struct scattered_room {
    khz_real *work, *scale, *free, *x, *given; /* [KHZ_LANES*n], [n], [KHZ_MOST_LOST*n], [n], [n_a] */
    const khz_real *a;                         /* [n_a] */
    khz_factors f;
    khz_loose_int *n_pivots, *n_of, *mark, *stack, *next, *found; /* [1], [n], .., [n + 1] */
} scattered_room;

khz_real *khz_scattered_entries(const khz_scattered *s, khz_real *memory)
{
    return memory + KHZ_SCATTERED_ROOM(s->n, s->n_a, s->n_lu) + 1;
}

static scattered_room scattered_room_in(const khz_scattered *s, khz_real *memory)
{
    const int32_t n = s->n;
    scattered_room r = {.work = memory, .scale = memory + KHZ_LANES * n};
    r.a = khz_scattered_entries(s, memory);
    r.free = r.scale + n;
    r.x = r.free + (size_t)KHZ_MOST_LOST * (size_t)n;
    r.given = r.x + n;
    r.f.n = n;
    r.f.value = r.given + s->n_a;
    r.n_pivots = (khz_loose_int *)(void *)(r.f.value + s->n_lu);
    r.f.n_pivots = *r.n_pivots;
    r.f.start = r.n_pivots + 1;
    r.f.diagonal = r.f.start + n + 1;
    r.f.order = r.f.diagonal + n;
    r.f.number = r.f.order + n;
    r.n_of = r.f.number + n;
    r.mark = r.n_of + n;
    r.stack = r.mark + n;
    r.next = r.stack + n;
    r.found = r.next + n;
    r.f.row = r.found + n + 1;
    return r;
}

/* The matrix by columns, its rows brought to size one; 0: something is no number.  A row of zeros has size one. */
static int scattered_scale(const khz_scattered *s, scattered_room *r)
{
    khz_real total = 0.0;
    memset(r->scale, 0, sizeof(khz_real) * (size_t)s->n);
    memset(r->n_of, 0, sizeof(int32_t) * (size_t)s->n);
    for (int32_t p = 0; p < s->n_a; p++) {
        const khz_real size = fabs(r->a[s->place[p]]);
        r->scale[s->row[p]] = khz_larger(r->scale[s->row[p]], size);
        r->n_of[s->row[p]]++;
        total += size;
    }
    for (int32_t i = 0; i < s->n; i++) {
        r->scale[i] = r->scale[i] > 0.0 ? khz_power_to_one(r->scale[i]) : 1.0;
    }
    for (int32_t p = 0; p < s->n_a; p++) {
        r->given[p] = r->scale[s->row[p]] * r->a[s->place[p]];
    }
    return total <= KHZ_LARGEST;
}

static khz_real along(int32_t n, const khz_real *a, const khz_real *b)
{
    khz_real sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Take the parts of v along the first directions out of it. */
static void scattered_project(const scattered_room *r, int32_t n_directions, khz_real *v)
{
    const int32_t n = r->f.n;
    for (int32_t k = 0; k < n_directions; k++) {
        const khz_real *const direction = r->free + (size_t)k * (size_t)n;
        khz_add_scaled(n, v, -along(n, direction, v), direction, v);
    }
}

/* For each column without a pivot the direction in which the solution is free, of length one and at right angles to
 * those before; twice, since once leaves rounding. */
static void scattered_directions(const khz_scattered *s, scattered_room *r)
{
    const int32_t n = s->n;
    for (int32_t k = r->f.n_pivots; k < n; k++) {
        const int32_t before = k - r->f.n_pivots, column = r->f.order[k];
        khz_real *const v = r->free + (size_t)before * (size_t)n;
        memset(v, 0, sizeof(khz_real) * (size_t)n);
        for (int32_t p = s->start[column]; p < s->start[column + 1]; p++) {
            v[s->row[p]] = -r->given[p] / r->scale[s->row[p]];
        }
        khz_columns_solve(&r->f, r->scale, v, r->work);
        v[column] = 1.0;
        for (int turn = 0; turn < 2; turn++) {
            scattered_project(r, before, v);
            khz_scale(n, 1.0 / sqrt(along(n, v, v)), v);
        }
    }
}

static int scattered_columns(const khz_scattered *s, scattered_room *r)
{
    khz_columns m = {.f = r->f, .most_entries = s->n_lu, .most_lost = KHZ_MOST_LOST, .products_left = INT64_MAX};
    m.given = r->given;
    m.given_start = s->start;
    m.given_row = s->row;
    m.n_of = r->n_of;
    m.x = r->x;
    m.mark = r->mark;
    m.stack = r->stack;
    m.next = r->next;
    m.found = r->found;
    if (!scattered_scale(s, r)) {
        return KHZ_COLUMNS_NOT_FINITE;
    }
    memcpy(m.f.order, s->order, sizeof(int32_t) * (size_t)s->n);
    const int status = khz_columns_factor(&m);
    r->f.n_pivots = *r->n_pivots = m.f.n_pivots;
    return status;
}

/* The solution of smallest norm; 0: the equations contradict each other. */
static int scattered_solve_singular(const scattered_room *r, khz_real *b)
{
    const int32_t n = r->f.n;
    khz_real size = KHZ_CONSISTENT_LEAST;
    for (int32_t i = 0; i < n; i++) {
        size = khz_larger(size, fabs(b[i] * r->scale[i]));
    }
    khz_columns_solve(&r->f, r->scale, b, r->work);
    for (int32_t k = r->f.n_pivots; k < n; k++) {
        if (!(fabs(r->work[k]) <= KHZ_CONSISTENT * size)) {
            return 0;
        }
    }
    scattered_project(r, n - r->f.n_pivots, b);
    scattered_project(r, n - r->f.n_pivots, b);
    return 1;
}

static khz_status scattered_failed(khz_context *c, int block, int place, khz_status status, int32_t *factored,
                                   const char *saying)
{
    *factored = 0;
    if (c->status == KHZ_OK) {
        c->block = block;
    }
    khz_fail(c, status, place, saying);
    return status;
}

/* Factorise a new matrix. */
static khz_status scattered_prepare(khz_context *c, int block, int place, const khz_scattered *s, scattered_room *r,
                                    int32_t *factored)
{
    if (*factored != 0) {
        return KHZ_OK;
    }
    c->n_factored++;
    const int found = scattered_columns(s, r);
    if (found == KHZ_COLUMNS_NOT_FINITE) {
        return scattered_failed(c, block, place, KHZ_NOT_FINITE, factored,
                                "a linear system of equations has a coefficient that is not a number");
    }
    if (found != KHZ_COLUMNS_DONE) {
        return scattered_failed(c, block, place, KHZ_SINGULAR, factored,
                                "a large linear system of equations has too many equations that depend on others");
    }
    *factored = r->f.n_pivots == s->n ? 1 : 2;
    if (*factored == 2) {
        scattered_directions(s, r);
    }
    return KHZ_OK;
}

khz_status khz_linear_scattered(khz_context *c, int block, int place, const khz_scattered *s, khz_real *memory,
                                int32_t *factored, khz_real *b)
{
    scattered_room r = scattered_room_in(s, memory);
    const khz_status status = scattered_prepare(c, block, place, s, &r, factored);
    if (status != KHZ_OK) {
        return status;
    }
    if (*factored == 1) {
        khz_columns_solve(&r.f, r.scale, b, r.work);
        return KHZ_OK;
    }
    if (khz_may_detour(c, KHZ_MIXED_SINGULAR)) {
        c->n_detours++;
        if (scattered_solve_singular(&r, b)) {
            khz_note_vague(c, block);
            return KHZ_OK;
        }
    }
    return scattered_failed(c, block, place, KHZ_SINGULAR, factored, "a linear system of equations has no solution");
}

khz_status khz_linear_scattered_lanes(khz_context *c, int block, int place, const khz_scattered *s, khz_real *memory,
                                      int32_t *factored, khz_lanes *b)
{
    scattered_room r = scattered_room_in(s, memory);
    khz_status status = scattered_prepare(c, block, place, s, &r, factored);
    if (status == KHZ_OK && *factored == 1) {
        khz_columns_solve_lanes(&r.f, r.scale, b, r.work);
        return KHZ_OK;
    }
    for (int lane = 0; lane < KHZ_LANES && status == KHZ_OK; lane++) {
        for (int32_t i = 0; i < s->n; i++) {
            r.x[i] = b[i][lane];
        }
        status = khz_linear_scattered(c, block, place, s, memory, factored, r.x);
        for (int32_t i = 0; i < s->n; i++) {
            b[i][lane] = r.x[i];
        }
    }
    return status;
}

int khz_scattered_factor(const khz_scattered *s, khz_real *memory)
{
    scattered_room r = scattered_room_in(s, memory);
    return scattered_columns(s, &r) != KHZ_COLUMNS_DONE || r.f.n_pivots < s->n;
}

void khz_scattered_solve(const khz_scattered *s, khz_real *memory, khz_real *b)
{
    scattered_room r = scattered_room_in(s, memory);
    khz_columns_solve(&r.f, r.scale, b, r.work);
}
