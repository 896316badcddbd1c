#include "khz_jacobian.h"

#include <float.h>
#include <math.h>
#include <string.h>

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
static khz_status checked(khz_status status, int32_t n, const double *rate)
{
    return status != KHZ_OK || khz_are_finite(n, rate) ? status : KHZ_NOT_FINITE;
}

/* The seeds of the columns of a colour, in a lane; the others are 0. */
static void set_seeds(const khz_model *m, double *seed, int32_t colour, int32_t lane, double value)
{
    for (int32_t k = m->seed_start[colour]; k < m->seed_start[colour + 1]; k++) {
        seed[KHZ_LANES * m->seed_column[k] + lane] = value;
    }
}

/* The entries of a colour from its lane. */
static void take_entries(const khz_model *m, const double *rate, int32_t colour, double *jac)
{
    const int32_t *const entry = m->colour_entry;
    const int32_t *const row = m->colour_row;
    const int32_t end = m->colour_start[colour + 1];
    int32_t k = m->colour_start[colour];
    for (; k + 2 <= end; k += 2) {
        jac[entry[k]] = rate[KHZ_LANES * row[k]];
        jac[entry[k + 1]] = rate[KHZ_LANES * row[k + 1]];
    }
    if (k < end) {
        jac[entry[k]] = rate[KHZ_LANES * row[k]];
    }
}

/* Colours from `first` on, before `end`. */
typedef struct colours {
    int32_t first, end;
} colours;

/* The colours of a part: whole calls of `directional`. */
static colours part_of(const khz_model *m, int32_t part, int32_t n_parts)
{
    const int64_t calls = (m->n_colours + m->n_lanes - 1) / m->n_lanes;
    const int32_t first = (int32_t)(calls * part / n_parts) * m->n_lanes;
    const int32_t end = (int32_t)(calls * (part + 1) / n_parts) * m->n_lanes;
    return (colours){first, end < m->n_colours ? end : m->n_colours};
}

static khz_status by_directions(const khz_model *m, void *instance, colours of, double *jac)
{
    double *const seed = khz_reals(instance, m->seed);
    const double *const rate = khz_reals(instance, m->xd_dir);
    khz_context *const c = (khz_context *)instance;
    khz_status status = rates_of(instance, m->resting);
    for (int32_t first = of.first; first < of.end && status == KHZ_OK; first += m->n_lanes) {
        const int32_t n = of.end - first < m->n_lanes ? of.end - first : m->n_lanes;
        const khz_phase_fn *const phase = m->directional + first / m->n_lanes;
        for (int32_t lane = 0; lane < n; lane++) {
            set_seeds(m, seed, first + lane, lane, 1.0);
        }
        c->is_again = first > of.first && phase[0] == phase[-1];
        status = rates_of(instance, *phase);
        for (int32_t lane = 0; lane < n; lane++) {
            take_entries(m, rate + lane, first + lane, jac);
            set_seeds(m, seed, first + lane, lane, 0.0);
        }
    }
    c->is_again = 0;
    return checked(status, m->jac_row[khz_n_y(m)], jac);
}

khz_status khz_along_column(const khz_model *m, void *instance, int32_t j, double by)
{
    const int32_t colour = m->jac_colour[j];
    double *const seed = khz_reals(instance, m->seed) + KHZ_LANES * j + colour % m->n_lanes;
    khz_status status = rates_of(instance, m->resting);
    *seed = by;
    status = status == KHZ_OK ? rates_of(instance, m->directional[colour / m->n_lanes]) : status;
    *seed = 0.0;
    return status;
}

double khz_rate_along(const khz_model *m, const void *instance, int32_t i, int32_t j)
{
    const double *const rate = (const double *)(const void *)((const char *)instance + m->xd_dir);
    for (int32_t k = m->jac_row[i]; k < m->jac_row[i + 1]; k++) {
        if (m->jac_column[k] == j) {
            return rate[KHZ_LANES * i + m->jac_colour[j] % m->n_lanes];
        }
    }
    return 0.0;
}

/* Component j of the point in the instance. */
static double place_of(const khz_model *m, void *instance, int32_t j)
{
    return j < m->n_x ? khz_reals(instance, m->x)[j] : *khz_reals(instance, m->z_place[j - m->n_x]);
}

/* The point y and F there, as they stand in the instance. */
static void present(const khz_model *m, void *instance, double *y, double *f)
{
    khz_get_point(m, instance, y);
    memcpy(f, khz_reals(instance, m->xd), sizeof(double) * (size_t)m->n_x);
    memcpy(f + m->n_x, khz_reals(instance, m->res), sizeof(double) * (size_t)m->n_z);
}

/* One colour: x moved in all its columns at once. */
static khz_status difference(const khz_model *m, void *instance, int32_t colour, double *jac, const double *x,
                             const double *xd, double *moved)
{
    khz_context *const c = (khz_context *)instance;
    const double *const nominal = khz_reals(instance, m->nominal);
    const int32_t n = khz_n_y(m);
    for (int32_t j = 0; j < n; j++) {
        const double size = sqrt(DBL_EPSILON) * fmax(fabs(x[j]), 1e-2 * nominal[j]);
        moved[j] = m->jac_colour[j] != colour ? x[j] : xd[j] < 0.0 ? x[j] - size : x[j] + size;
    }
    const khz_status status = khz_residuals(m, instance, c->time, moved, moved);
    for (int32_t k = m->colour_start[colour]; k < m->colour_start[colour + 1] && status == KHZ_OK; k++) {
        const int32_t i = m->colour_row[k];
        const int32_t j = m->jac_column[m->colour_entry[k]];
        jac[m->colour_entry[k]] = (moved[i] - xd[i]) / (place_of(m, instance, j) - x[j]);
    }
    return status;
}

static khz_status by_differences(const khz_model *m, void *instance, colours of, double *jac, double *work)
{
    const khz_context *const c = (const khz_context *)instance;
    const int32_t n = khz_n_y(m);
    double *const x = work;
    double *const xd = work + n;
    double *const moved = xd + n;
    present(m, instance, x, xd);
    khz_status status = KHZ_OK;
    for (int32_t colour = of.first; colour < of.end && status == KHZ_OK; colour++) {
        status = difference(m, instance, colour, jac, x, xd, moved);
    }
    const khz_status back = khz_residuals(m, instance, c->time, x, moved);
    return status == KHZ_OK ? back : status;
}

khz_status khz_jacobian_part(const khz_model *m, void *instance, int32_t part, int32_t n_parts, double *jac,
                             double *work)
{
    khz_context *const c = (khz_context *)instance;
    const colours of = part_of(m, part, n_parts);
    if (of.first >= of.end || (m->directional != NULL && by_directions(KHZ_COPY(c, m), instance, of, jac) == KHZ_OK)) {
        return KHZ_OK;
    }
    c->n_differences += m->directional != NULL ? 1U : 0U;
    c->n_detours += m->directional != NULL ? 1U : 0U;
    return by_differences(m, instance, of, jac, work);
}

khz_status khz_jacobian(const khz_model *m, void *instance, double *jac, double *work)
{
    return khz_jacobian_part(m, instance, 0, 1, jac, work);
}

khz_status khz_time_slope(const khz_model *m, void *instance, double scale, double *slope, double *work)
{
    khz_context *const c = (khz_context *)instance;
    const int32_t n = khz_n_y(m);
    if (m->directional != NULL) {
        const double *const rate = khz_reals(instance, m->xd_slope);
        const khz_status status = checked(rates_of(instance, KHZ_COPY(c, m)->time_slope), n, rate);
        khz_copy(slope, rate, n);
        if (status == KHZ_OK) {
            return KHZ_OK;
        }
    }
    const double time = c->time;
    double *const x = work;
    double *const xd = work + n;
    present(m, instance, x, xd);
    const double later = time + sqrt(DBL_EPSILON) * fmax(fabs(time), scale);
    const khz_status status = khz_residuals(m, instance, later, x, slope);
    for (int32_t i = 0; i < n && status == KHZ_OK; i++) {
        slope[i] = (slope[i] - xd[i]) / (later - time);
    }
    const khz_status back = khz_residuals(m, instance, time, x, xd + n);
    return status == KHZ_OK ? back : status;
}
