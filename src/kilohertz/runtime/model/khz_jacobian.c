#include "khz_jacobian.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_limits.h"
#include "khz_probe.h"
#include "khz_vector.h"

size_t khz_jacobian_work(const khz_model *m) { return 3U * (size_t)khz_n_y(m); }

/* One of the model's phases for rates.  Differences take over where it fails: no failure of the model. */
static khz_status rates_of(void *instance, khz_phase_fn phase)
{
    khz_context *const c = (khz_context *)instance;
    c->arena_used = 0;
    const uint32_t n_vague = c->n_vague;
    const khz_status status = phase(instance);
    c->n_vague = n_vague; /* the values themselves, computed before, were determined */
    c->status = KHZ_OK;
    return status;
}

/* A rate is infinite at a root of zero, though the function itself is not. */
static khz_status checked(khz_status status, int32_t n, const khz_real *rate)
{
    return status != KHZ_OK || khz_are_finite(n, rate) ? status : KHZ_NOT_FINITE;
}

/* The seeds of the columns of a colour, in a lane; the others are 0. */
static void set_seeds(const khz_colours *along, khz_real *seed, int32_t colour, int32_t lane, khz_real value)
{
    for (int32_t k = along->seed_start[colour]; k < along->seed_start[colour + 1]; k++) {
        seed[KHZ_LANES * along->seed_column[k] + lane] = value;
    }
}

/* The entries of a colour from its lane. */
static void take_entries(const khz_colours *along, const khz_real *rate, int32_t colour, khz_real *jac)
{
    const int32_t *const entry = along->entry;
    const int32_t *const row = along->row;
    const int32_t end = along->start[colour + 1];
    int32_t k = along->start[colour];
    for (; k + 2 <= end; k += 2) {
        jac[entry[k]] = rate[KHZ_LANES * row[k]];
        jac[entry[k + 1]] = rate[KHZ_LANES * row[k + 1]];
    }
    if (k < end) {
        jac[entry[k]] = rate[KHZ_LANES * row[k]];
    }
}

/* The parts of sums of a colour from its lane: several terms may depend on one column. */
static void take_parts(const khz_sums *s, const khz_real *rate, int32_t colour, khz_real *parts)
{
    const int32_t end = s->part_start[colour + 1];
    for (int32_t k = s->part_start[colour]; k < end; k++) {
        parts[s->part[k]] = 0.0;
    }
    for (int32_t k = s->part_start[colour]; k < end; k++) {
        parts[s->part[k]] += rate[KHZ_LANES * s->part_row[k]];
    }
}

/* Colours from `first` on, before `end`. */
typedef struct colours {
    int32_t first, end;
} colours;

static const khz_colours *along_of(const khz_model *m) { return m->sums != NULL ? &m->sums->along : &m->colours; }

/* Colours of sums, which every part needs, and those of y in the same call of `directional`. */
static colours of_sums(const khz_model *m)
{
    const khz_sums *const s = m->sums;
    return s != NULL ? (colours){s->n_of_y - s->n_of_y % m->n_lanes, s->along.n} : (colours){0, 0};
}

/* The other colours of a part: whole calls of `directional`. */
static colours part_of(const khz_model *m, int32_t part, int32_t n_parts)
{
    const int32_t n = m->sums != NULL ? of_sums(m).first : m->colours.n;
    const int64_t calls = (n + m->n_lanes - 1) / m->n_lanes;
    const int32_t first = (int32_t)(calls * part / n_parts) * m->n_lanes;
    const int32_t end = (int32_t)(calls * (part + 1) / n_parts) * m->n_lanes;
    return (colours){first, end < n ? end : n};
}

/* The same by code that knows the columns and entries of each call. */
static khz_status run_around(const khz_model *m, void *instance, colours of, khz_real *jac)
{
    khz_context *const c = (khz_context *)instance;
    khz_status status = KHZ_OK;
    const int32_t begin = of.first / m->n_lanes;
    const int32_t end = (of.end + m->n_lanes - 1) / m->n_lanes;
    for (int32_t k = begin; k < end && status == KHZ_OK; k++) {
        m->around[k](instance, NULL);
        c->is_again = k > begin && m->directional[k] == m->directional[k - 1];
        status = rates_of(instance, m->directional[k]);
        m->around[k](instance, jac);
    }
    c->is_again = 0;
    return status;
}

/* Directions of some colours, from `first` on. */
static khz_status run_colours(const khz_model *m, void *instance, colours of, khz_real *jac)
{
    if (m->around != NULL) {
        return run_around(m, instance, of, jac);
    }
    const khz_colours *const along = along_of(m);
    khz_real *const seed = khz_reals(instance, m->seed);
    const khz_real *const rate = khz_reals(instance, m->xd_dir);
    khz_context *const c = (khz_context *)instance;
    khz_status status = KHZ_OK;
    for (int32_t first = of.first; first < of.end && status == KHZ_OK; first += m->n_lanes) {
        const int32_t n = of.end - first < m->n_lanes ? of.end - first : m->n_lanes;
        const khz_phase_fn *const phase = m->directional + first / m->n_lanes;
        for (int32_t lane = 0; lane < n; lane++) {
            set_seeds(along, seed, first + lane, lane, 1.0);
        }
        c->is_again = first > of.first && phase[0] == phase[-1];
        status = rates_of(instance, *phase);
        for (int32_t lane = 0; lane < n; lane++) {
            take_entries(along, rate + lane, first + lane, jac);
            if (m->sums != NULL) {
                take_parts(m->sums, rate + lane, first + lane, khz_reals(instance, m->parts));
            }
            set_seeds(along, seed, first + lane, lane, 0.0);
        }
    }
    c->is_again = 0;
    return status;
}

/* What sums add to entries in columns of some colours. */
static void add_sums(const khz_sums *s, const khz_real *parts, colours of, khz_real *jac)
{
    for (int32_t k = s->empty_start[of.first]; k < s->empty_start[of.end]; k++) {
        jac[s->empty[k]] = 0.0;
    }
    for (int32_t k = s->product_start[of.first]; k < s->product_start[of.end]; k++) {
        jac[s->product_entry[k]] += parts[s->product_weight[k]] * parts[s->product_slope[k]];
    }
}

static khz_status by_directions(const khz_model *m, void *instance, colours of, khz_real *jac)
{
    khz_status status = rates_of(instance, m->resting);
    status = status == KHZ_OK ? run_colours(m, instance, of, jac) : status;
    if (m->sums != NULL && status == KHZ_OK) {
        const colours last = of_sums(m);
        const khz_real *const parts = khz_reals(instance, m->parts);
        status = run_colours(m, instance, last, jac);
        add_sums(m->sums, parts, of, jac);
        add_sums(m->sums, parts, (colours){last.first, m->sums->n_of_y}, jac);
    }
    return checked(status, m->jac_row[khz_n_jacobian(m)], jac);
}

/* The colour of a column in `directional`. */
static int32_t colour_of(const khz_model *m, int32_t j)
{
    const khz_colours *const along = along_of(m);
    int32_t k = 0;
    while (m->sums != NULL && along->seed_column[k] != j) {
        k++;
    }
    int32_t colour = m->sums != NULL ? 0 : m->jac_colour[j];
    while (m->sums != NULL && along->seed_start[colour + 1] <= k) {
        colour++;
    }
    return colour;
}

/* Parts of all sums, with what they give to F. */
static khz_status weigh_sums(const khz_model *m, void *instance)
{
    khz_real *const seed = khz_reals(instance, m->seed);
    khz_real *const parts = khz_reals(instance, m->parts);
    khz_status status = KHZ_OK;
    for (int32_t colour = m->sums->n_of_y; colour < m->sums->along.n && status == KHZ_OK; colour++) {
        const int32_t lane = colour % m->n_lanes;
        set_seeds(&m->sums->along, seed, colour, lane, 1.0);
        status = rates_of(instance, m->directional[colour / m->n_lanes]);
        take_parts(m->sums, khz_reals(instance, m->xd_dir) + lane, colour, parts);
        set_seeds(&m->sums->along, seed, colour, lane, 0.0);
    }
    return status;
}

khz_status khz_along_column(const khz_model *m, void *instance, int32_t j, khz_real by)
{
    const int32_t colour = colour_of(m, j);
    const int32_t lane = colour % m->n_lanes;
    khz_real *const seed = khz_reals(instance, m->seed) + KHZ_LANES * j + lane;
    khz_status status = rates_of(instance, m->resting);
    status = status == KHZ_OK && m->sums != NULL ? weigh_sums(m, instance) : status;
    *seed = by;
    status = status == KHZ_OK ? rates_of(instance, m->directional[colour / m->n_lanes]) : status;
    *seed = 0.0;
    if (m->sums != NULL) {
        take_parts(m->sums, khz_reals(instance, m->xd_dir) + lane, colour, khz_reals(instance, m->parts));
    }
    return status;
}

/* The same for entry k, which sums have a part in. */
static khz_real with_sums(const khz_model *m, const void *instance, int32_t k, int32_t colour, khz_real rate)
{
    const khz_sums *const s = m->sums;
    const khz_real *const parts = (const khz_real *)(const void *)((const char *)instance + m->parts);
    khz_real sum = 0.0;
    for (int32_t at = s->along.start[colour]; at < s->along.start[colour + 1]; at++) {
        sum = s->along.entry[at] == k ? rate : sum;
    }
    for (int32_t at = s->product_start[colour]; at < s->product_start[colour + 1]; at++) {
        sum += s->product_entry[at] == k ? parts[s->product_weight[at]] * parts[s->product_slope[at]] : 0.0;
    }
    return sum;
}

khz_real khz_rate_along(const khz_model *m, const void *instance, int32_t i, int32_t j)
{
    const khz_real *const rate = (const khz_real *)(const void *)((const char *)instance + m->xd_dir);
    const int32_t colour = colour_of(m, j);
    for (int32_t k = m->jac_row[i]; k < m->jac_row[i + 1]; k++) {
        if (m->jac_column[k] == j) {
            const khz_real along = rate[KHZ_LANES * i + colour % m->n_lanes];
            return m->sums != NULL ? with_sums(m, instance, k, colour, along) : along;
        }
    }
    return 0.0;
}

/* Component j of the point in the instance. */
static khz_real place_of(const khz_model *m, void *instance, int32_t j)
{
    return j < m->n_x ? khz_reals(instance, m->x)[j] : *khz_reals(instance, m->z_place[j - m->n_x]);
}

/* The point y and F there, as they stand in the instance. */
static void present(const khz_model *m, void *instance, khz_real *y, khz_real *f)
{
    khz_get_point(m, instance, y);
    memcpy(f, khz_reals(instance, m->xd), sizeof(khz_real) * (size_t)m->n_x);
    memcpy(f + m->n_x, khz_reals(instance, m->res), sizeof(khz_real) * (size_t)m->n_z);
}

/* One colour: x moved in all its columns at once. */
static khz_status difference(const khz_model *m, void *instance, int32_t colour, khz_real *jac, const khz_real *x,
                             const khz_real *xd, khz_real *moved)
{
    khz_context *const c = (khz_context *)instance;
    const khz_real *const nominal = khz_reals(instance, m->nominal);
    const int32_t n = khz_n_y(m);
    for (int32_t j = 0; j < n; j++) {
        const khz_real size = sqrt(KHZ_EPSILON) * fmax(fabs(x[j]), KHZ_DIFFERENCE_LEAST * nominal[j]);
        moved[j] = m->jac_colour[j] != colour ? x[j] : xd[j] < 0.0 ? x[j] - size : x[j] + size;
    }
    const khz_status status = khz_residuals(m, instance, c->time, moved, moved);
    const khz_colours *const all = &m->colours;
    for (int32_t k = all->start[colour]; k < all->start[colour + 1] && status == KHZ_OK; k++) {
        const int32_t i = all->row[k];
        const int32_t j = m->jac_column[all->entry[k]];
        jac[all->entry[k]] = (moved[i] - xd[i]) / (place_of(m, instance, j) - x[j]);
    }
    return status;
}

static khz_status by_differences(const khz_model *m, void *instance, colours of, khz_real *jac, khz_real *work)
{
    const khz_context *const c = (const khz_context *)instance;
    const int32_t n = khz_n_y(m);
    khz_real *const x = work;
    khz_real *const xd = work + n;
    khz_real *const moved = xd + n;
    present(m, instance, x, xd);
    khz_status status = KHZ_OK;
    for (int32_t colour = of.first; colour < of.end && status == KHZ_OK; colour++) {
        status = difference(m, instance, colour, jac, x, xd, moved);
    }
    const khz_status back = khz_residuals(m, instance, c->time, x, moved);
    return status == KHZ_OK ? back : status;
}

/* Differences tell nothing of loops: what is infinite counts as 0 there, which makes Newton's iteration slower and
 * changes no answer. */
static khz_status without_infinities(const khz_model *m, khz_real *jac)
{
    const int32_t n = m->jac_row[khz_n_jacobian(m)];
    for (int32_t k = 0; k < n; k++) {
        jac[k] = fabs(jac[k]) <= KHZ_LARGEST ? jac[k] : 0.0;
    }
    return KHZ_OK;
}

khz_status khz_jacobian_part(const khz_model *m, void *instance, int32_t part, int32_t n_parts, khz_real *jac,
                             khz_real *work)
{
    khz_context *const c = (khz_context *)instance;
    const colours of = part_of(m, part, n_parts);
    const int is_empty = of.first >= of.end && m->sums == NULL;
    if (m->n_k > 0) {
        const khz_status status = by_directions(KHZ_COPY(c, m), instance, of, jac);
        return status == KHZ_NOT_FINITE ? without_infinities(m, jac) : status;
    }
    if (is_empty || (m->directional != NULL && by_directions(KHZ_COPY(c, m), instance, of, jac) == KHZ_OK)) {
        return KHZ_OK;
    }
    c->n_differences += m->directional != NULL ? 1U : 0U;
    c->n_detours += m->directional != NULL ? 1U : 0U;
    /* with sums the columns of a part are others: all of them */
    return by_differences(m, instance, m->sums != NULL ? (colours){0, m->colours.n} : of, jac, work);
}

khz_status khz_jacobian(const khz_model *m, void *instance, khz_real *jac, khz_real *work)
{
    return khz_jacobian_part(m, instance, 0, 1, jac, work);
}

khz_status khz_time_slope(const khz_model *m, void *instance, khz_real scale, khz_real *slope, khz_real *work)
{
    khz_context *const c = (khz_context *)instance;
    const int32_t n = khz_n_y(m);
    if (m->directional != NULL) {
        const khz_real *const rate = khz_reals(instance, m->xd_slope);
        const khz_status status = checked(rates_of(instance, KHZ_COPY(c, m)->time_slope), n, rate);
        khz_copy(slope, rate, n);
        if (status == KHZ_OK) {
            return KHZ_OK;
        }
    }
    const double time = c->time;
    khz_real *const x = work;
    khz_real *const xd = work + n;
    present(m, instance, x, xd);
    const double later = time + sqrt(KHZ_EPSILON) * fmax(fabs(time), (double)scale);
    const khz_status status = khz_residuals(m, instance, later, x, slope);
    for (int32_t i = 0; i < n && status == KHZ_OK; i++) {
        slope[i] = (slope[i] - xd[i]) / (later - time);
    }
    const khz_status back = khz_residuals(m, instance, time, x, xd + n);
    return status == KHZ_OK ? back : status;
}
