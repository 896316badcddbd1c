/* Linearly and diagonally implicit methods: Jacobian, factors of W = M - h*gamma*J, stages.  Nothing here iterates to
 * convergence: every count is fixed by the method and the settings.
 *
 * In the index-1 form the algebraic unknowns z follow the states: M y' = F(t, y), y = (x, z), F = (xd, res),
 * M = diag(1, 0).  Without it n_y = n_x and M = I. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "khz_jacobian.h"
#include "khz_linear.h"
#include "khz_probe.h"
#include "khz_stepper_core.h"

/* --------------------------------------------------------------------------------------------------------- Jacobian */

/* df/dt from a point a little later; inputs move along as their mode says. */
static khz_status time_difference(khz_stepper *s, const khz_work *w, double t)
{
    const double period = (double)khz_settings_of(s)->period_ns / 1e9;
    const double size = fmax(fabs(t), period);
    const double d = (t + sqrt(KHZ_EPSILON) * size) - t;
    const khz_status status = khz_stepper_rhs(s, w, t + d, w->x0, w->ft);
    for (int32_t i = 0; i < khz_n_y(khz_model_of(s)); i++) {
        w->ft[i] = (w->ft[i] - w->f0[i]) / d;
    }
    return status;
}

/* How large the residuals of open loops are for unknowns of their size. */
static void size_residuals(const khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    const khz_real *const nominal = khz_reals(w->instance, m->nominal);
    for (int32_t i = 0; i < m->n_z; i++) {
        khz_real size = 0.0;
        for (int32_t k = m->jac_row[m->n_x + i]; k < m->jac_row[m->n_x + i + 1]; k++) {
            const int32_t j = m->jac_column[k];
            size += j < m->n_x ? 0.0 : fabs(w->jac[k]) * fmax(fabs(w->x0[j]), nominal[j]);
        }
        w->res_scale[i] = size;
    }
}

/* A matrix that is complete: the factors are those of another one. */
static khz_status in_use(khz_stepper *s, const khz_work *w, khz_status status)
{
    const khz_model *const m = khz_model_of(s);
    s->counts.jacobians++;
    s->jacobian_age = 0;
    s->factored_h = 0.0;
    return status == KHZ_OK && !khz_are_finite(m->jac_row[khz_n_y(m)], w->jac) ? KHZ_NOT_FINITE : status;
}

/* dF/dy at the point of the instance. */
static khz_status renew_matrix(khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    const khz_status status = khz_jacobian(m, w->instance, w->jac, w->jac_work);
    s->counts.rhs += m->directional == NULL ? (uint64_t)m->colours.n + 1u : 0u;
    if (khz_settings_of(s)->jacobian_spread) {
        khz_copy(w->jac_next, w->jac, m->jac_row[khz_n_y(m)]);
    }
    return in_use(s, w, status);
}

/* The columns of the next Jacobian that are this step's: between two that are due all are made once. */
static khz_status make_part(khz_stepper *s, const khz_work *w)
{
    const khz_model *const m = khz_model_of(s);
    const int32_t n_parts = khz_settings_of(s)->jacobian_every - 1;
    const khz_status status = khz_jacobian_part(m, w->instance, s->jacobian_age - 1, n_parts, w->jac_next, w->jac_work);
    s->counts.rhs += m->directional == NULL ? (uint64_t)(m->colours.n / n_parts) + 1u : 0u;
    return status;
}

/* The next Jacobian is complete. */
static khz_status take_next(khz_stepper *s, const khz_work *w)
{
    khz_copy(w->jac, w->jac_next, khz_model_of(s)->jac_row[khz_n_y(khz_model_of(s))]);
    return in_use(s, w, KHZ_OK);
}

/* What a step does about the matrix of a Jacobian that moves. */
typedef khz_status matrix_fn(khz_stepper *s, const khz_work *w);

/* The Jacobian at the beginning of the step, and df/dt where the method has a term for it.  A Jacobian that rests
 * between events is evaluated once after each that changes it, and df/dt as often as if it moved.  One that is spread
 * is evaluated at once where there is none; then every step makes some columns of the next. */
static khz_status renew_jacobian(khz_stepper *s, const khz_work *w, double t, int with_time)
{
    const khz_model *const m = khz_model_of(s);
    const int is_new = s->jacobian_age < 0;
    const int is_past_event = s->is_past_event;
    const int is_turn = s->jacobian_age > 0 && s->jacobian_age % khz_settings_of(s)->jacobian_every == 0;
    const int is_due = is_new || is_past_event || is_turn;
    const int is_spread =
        !is_new && !is_past_event && khz_settings_of(s)->jacobian_spread && khz_settings_of(s)->jacobian_every > 1;
    const int is_part = is_spread && !is_turn && s->jacobian_age > 0;
    s->is_past_event = 0;
    s->jacobian_age = is_past_event && !is_new ? 0 : s->jacobian_age; /* as if it had been evaluated now */
    const int moves = is_new || !m->jacobian_rests;
    if (is_part ? !moves : !is_due || !(moves || with_time)) {
        return KHZ_OK;
    }
    with_time = with_time && is_due;
    matrix_fn *const matrix = is_part ? make_part : is_spread ? take_next : renew_matrix;
    const int by_differences =
        m->directional == NULL || (m->n_u > 0 && khz_settings_of(s)->input_mode != KHZ_INPUT_HELD);
    const double scale = (double)khz_settings_of(s)->period_ns / 1e9;
    khz_status status = s->is_at_start ? KHZ_OK : khz_stepper_rhs(s, w, t, w->x0, w->stage);
    if (status == KHZ_OK) {
        KHZ_ENTER((khz_context *)w->instance, KHZ_PLACE_JACOBIAN);
        status = moves ? matrix(s, w) : KHZ_OK;
        if (status == KHZ_OK && with_time && !by_differences) {
            status = khz_time_slope(m, w->instance, scale, w->ft, w->jac_work);
        }
        KHZ_LEAVE((khz_context *)w->instance, KHZ_PLACE_JACOBIAN);
        if (status != KHZ_OK) {
            khz_stepper_note(s, status);
        }
    }
    if (status == KHZ_OK && with_time && by_differences) {
        status = time_difference(s, w, t);
    }
    size_residuals(s, w);
    s->jacobian_age = status == KHZ_OK ? s->jacobian_age : -1;
    return status;
}

/* ----------------------------------------------------------------------------------------------------- factors of W */

static khz_status factor_dense(khz_stepper *s, const khz_work *w, khz_real h_gamma)
{
    const khz_model *const m = khz_model_of(s);
    const size_t n = (size_t)khz_n_y(m);
    memset(w->dense, 0, sizeof(khz_real) * n * n);
    for (int32_t i = 0; i < khz_n_y(m); i++) {
        khz_real *const row = w->dense + (size_t)i * n;
        for (int32_t k = m->jac_row[i]; k < m->jac_row[i + 1]; k++) {
            row[m->jac_column[k]] = -h_gamma * w->jac[k];
        }
        row[i] += i < m->n_x ? 1.0 : 0.0;
    }
    s->is_dense = 1;
    return khz_lu_factor(khz_n_y(m), w->dense, w->scale, w->pivot);
}

static KHZ_INLINE khz_status factor_anew(khz_stepper *s, const khz_work *w, khz_real h_gamma)
{
    const khz_sparse_plan *const plan = khz_model_of(s)->lu_plan;
    s->counts.factorisations++;
    s->is_dense = plan == NULL;
    if (plan != NULL) {
        khz_sparse_assemble(plan, w->jac, h_gamma, khz_model_of(s)->n_x, w->matrix);
        s->is_dense = khz_sparse_factor(plan, w->matrix, w->lu);
        ((khz_context *)w->instance)->n_detours += s->is_dense ? 1U : 0U;
    }
    return s->is_dense ? factor_dense(s, w, h_gamma) : KHZ_OK;
}

static khz_status factor(khz_stepper *s, const khz_work *w, khz_real h_gamma)
{
    const khz_context *const c = (const khz_context *)w->instance;
    if (s->factored_h == h_gamma) {
        return KHZ_OK;
    }
    khz_status status;
    KHZ_WITHIN(c, KHZ_PLACE_FACTOR, status = factor_anew(s, w, h_gamma));
    s->factored_h = status == KHZ_OK ? h_gamma : 0.0;
    if (status != KHZ_OK) {
        khz_stepper_note(s, status);
    }
    return status;
}

static KHZ_INLINE void solve_plain(khz_stepper *s, const khz_work *w, khz_real *b)
{
    s->counts.solves++;
    if (s->is_dense) {
        khz_lu_solve(khz_n_y(khz_model_of(s)), w->dense, w->scale, w->pivot, b, w->solve);
    } else {
        khz_sparse_solve(khz_model_of(s)->lu_plan, w->lu, b);
    }
}

static void solve(khz_stepper *s, const khz_work *w, khz_real *b)
{
    const khz_context *const c = (const khz_context *)w->instance;
    KHZ_WITHIN(c, KHZ_PLACE_SOLVE, solve_plain(s, w, b));
}

/* out := x0 + sum of a[j]*k_j, j < count. */
static KHZ_INLINE void combine(const khz_stepper *s, const khz_work *w, const khz_real *a, int32_t count, khz_real *out)
{
    const int32_t n = khz_n_y(khz_model_of(s));
    const khz_real *base = w->x0;
    KHZ_STAGE_BY_STAGE
    for (int32_t j = 0; j < count; j++) {
        if (a[j] != 0.0) {
            khz_add_scaled(n, base, a[j], w->k + (size_t)j * (size_t)n, out);
            base = out;
        }
    }
    if (base == w->x0) {
        khz_copy(out, w->x0, n);
    }
}

/* ---------------------------------------------------------------------------------------------------------- methods */

/* u := h*gamma*(f + sum c_j*u_j/h + h*gamma_i*f_t), f in x1; the sum is over the stages before, of states alone. */
static KHZ_INLINE void stage_right_side(const khz_stepper *s, const khz_work *w, int32_t stage, double h, khz_real *u)
{
    const khz_method *const method = khz_method_of(s);
    const int32_t n = khz_n_y(khz_model_of(s));
    const khz_real *const coupling = method->coupling + stage * method->n_stages;
    const khz_real step = (khz_real)h;
    const khz_real h_gamma = step * method->gamma;
    const khz_real slope = step * method->time_weight[stage];
    memset(u, 0, sizeof(khz_real) * (size_t)n);
    KHZ_STAGE_BY_STAGE
    for (int32_t j = 0; j < stage; j++) {
        khz_add_scaled(khz_model_of(s)->n_x, u, coupling[j], w->k + (size_t)j * (size_t)n, u);
    }
    int32_t i = 0;
    for (; i + 2 <= n; i += 2) {
        const khz_pair sum = khz_pair_at(w->x1 + i) + khz_pair_at(u + i) / step;
        khz_set_pair(u + i, h_gamma * (sum + slope * khz_pair_at(w->ft + i)));
    }
    if (i < n) {
        u[i] = h_gamma * (w->x1[i] + u[i] / step + slope * w->ft[i]);
    }
}

static KHZ_INLINE khz_status rosenbrock_stage(khz_stepper *s, const khz_work *w, double t, double h, int32_t i)
{
    const khz_method *const method = khz_method_of(s);
    khz_real *const u = w->k + (size_t)i * (size_t)khz_n_y(khz_model_of(s));
    khz_status status = KHZ_OK;
    if (i > 0 && !method->reuses[i]) {
        combine(s, w, method->a + i * method->n_stages, i, w->stage);
        status = khz_stepper_stage(s, w, t + method->abscissa[i] * h, KHZ_SMALL_IN_STAGE, w->stage, w->x1);
    }
    stage_right_side(s, w, i, h, u);
    solve(s, w, u);
    return status;
}

/* E*u_i = f(t + alpha_i*h, x0 + sum a_ij*u_j) + M*sum c_ij*u_j/h + h*gamma_i*f_t with E = W/(h*gamma). */
khz_status khz_advance_rosenbrock(khz_stepper *s, const khz_work *w, double t, double h)
{
    const khz_method *const method = khz_method_of(s);
    const int32_t n = khz_n_y(khz_model_of(s));
    khz_status status = renew_jacobian(s, w, t, 1);
    status = status == KHZ_OK ? factor(s, w, h * method->gamma) : status;
    /* x1 holds the right-hand side of the model until the stages are done. */
    memcpy(w->x1, w->f0, sizeof(khz_real) * (size_t)n);
    status = status == KHZ_OK ? khz_each_stage(rosenbrock_stage, s, w, t, h, 0) : status;
    combine(s, w, method->weight, method->n_stages, w->x1);
    return status;
}

/* Index-1 form: did the last iteration of a stage still move something by more than a small part? */
static int has_moved(const khz_stepper *s, const khz_work *w, const khz_real *point, const khz_real *change)
{
    const khz_real *const nominal = khz_reals(w->instance, khz_model_of(s)->nominal);
    int moved = 0;
    for (int32_t i = 0; i < khz_n_y(khz_model_of(s)); i++) {
        moved |= !(fabs(change[i]) <= KHZ_SMALL_IN_STAGE * fmax(fabs(point[i]), nominal[i]));
    }
    return moved;
}

/* The largest change of a state, as a part of its size at the beginning of the step. */
static khz_real largest_change(const khz_stepper *s, const khz_work *w, const khz_real *change)
{
    const khz_real *const nominal = khz_reals(w->instance, khz_model_of(s)->nominal);
    khz_real largest = 0.0;
    for (int32_t i = 0; i < khz_model_of(s)->n_x; i++) {
        largest = khz_larger(largest, fabs(change[i]) / khz_larger(fabs(w->x0[i]), nominal[i]));
    }
    return largest;
}

/* Whether the Jacobian of this step is not that of its beginning. */
static int has_old_jacobian(const khz_stepper *s)
{
    return khz_settings_of(s)->jacobian_every > 1 && (s->jacobian_age > 0 || khz_settings_of(s)->jacobian_spread);
}

/* The first and the last change in a stage by an old Jacobian.  Where they say that iterations diverge it is of no use
 * any more: the last change is many times the first (then the step is, too), or it is larger and grows from stage to
 * stage. */
static void watch(khz_stepper *s, khz_real first, khz_real last)
{
    const int grows = last > first && last > s->last_change && last > KHZ_STALE_LEAST;
    s->n_growing = grows ? s->n_growing + 1 : 0;
    s->last_change = last;
    const int diverges = grows && last > (khz_settings_of(s)->newton > 2 ? 1.0 : KHZ_STALE) * first;
    s->is_lost |= diverges;
    if (diverges || s->n_growing >= KHZ_STALE_GROWTH) {
        s->jacobian_age = -1;
        s->n_growing = 0;
    }
}

/* One implicit stage: N simplified Newton iterations on v = h*gamma*f(t_i, base + v), from the state at the beginning;
 * algebraic unknowns are the solution of their equations in each stage, found from that of the stage before in `point`.
 * z [n] out: h times the derivatives of the stage; point [n] out: its state. */
static khz_status implicit_stage(khz_stepper *s, const khz_work *w, double t, double h, const khz_real *base,
                                 khz_real *z, khz_real *point)
{
    const int32_t n = khz_n_y(khz_model_of(s));
    const int32_t n_x = khz_model_of(s)->n_x;
    const khz_real h_gamma = h * khz_method_of(s)->gamma;
    khz_real *const d = w->ft; /* not needed by these methods */
    const int is_watched = khz_settings_of(s)->newton > 1 && has_old_jacobian(s);
    khz_real first = 0.0;
    memcpy(point, w->x0, sizeof(khz_real) * (size_t)n_x);
    for (int32_t turn = 0; turn < khz_settings_of(s)->newton; turn++) {
        /* How far the first guess is from the solution says nothing. */
        const khz_real part = turn == 0                               ? KHZ_LARGEST
                              : turn < khz_settings_of(s)->newton - 1 ? KHZ_SMALL_IN_STAGE
                                                                      : KHZ_SMALL;
        const khz_status status = khz_stepper_stage(s, w, t, part, point, d);
        if (status != KHZ_OK) {
            return status;
        }
        for (int32_t m = 0; m < n; m++) {
            d[m] = h_gamma * d[m] - (m < n_x ? point[m] - base[m] : 0.0);
        }
        solve(s, w, d);
        for (int32_t m = 0; m < n; m++) {
            point[m] += d[m];
        }
        first = is_watched && turn == 0 ? largest_change(s, w, d) : first;
    }
    if (is_watched) {
        watch(s, first, largest_change(s, w, d));
    }
    if (n > n_x && !s->is_closed && has_moved(s, w, point, d)) {
        return KHZ_NO_CONVERGENCE;
    }
    for (int32_t m = 0; m < n; m++) {
        z[m] = m < n_x ? (point[m] - base[m]) / khz_method_of(s)->gamma : 0.0;
    }
    return KHZ_OK;
}

static KHZ_INLINE khz_status dirk_stage(khz_stepper *s, const khz_work *w, double t, double h, int32_t i)
{
    const khz_method *const method = khz_method_of(s);
    const int32_t n = khz_n_y(khz_model_of(s));
    khz_real *const z = w->k + (size_t)i * (size_t)n;
    if (i == 0 && method->explicit_first) {
        for (int32_t m = 0; m < n; m++) {
            z[m] = m < khz_model_of(s)->n_x ? h * w->f0[m] : 0.0;
        }
        return KHZ_OK;
    }
    combine(s, w, method->a + i * method->n_stages, i, w->stage);
    return implicit_stage(s, w, t + method->abscissa[i] * h, h, w->stage, z, w->x1);
}

static khz_status dirk_stages(khz_stepper *s, const khz_work *w, double t, double h)
{
    const khz_method *const method = khz_method_of(s);
    khz_status status = renew_jacobian(s, w, t, 0);
    status = status == KHZ_OK ? factor(s, w, h * method->gamma) : status;
    memcpy(w->x1, w->x0, sizeof(khz_real) * (size_t)khz_n_y(khz_model_of(s)));
    status = status == KHZ_OK ? khz_each_stage(dirk_stage, s, w, t, h, 0) : status;
    if (!method->stiffly_accurate) {
        combine(s, w, method->weight, method->n_stages, w->x1);
    }
    return status;
}

/* By an old Jacobian that turns out to be of no use: once more by a new one. */
khz_status khz_advance_dirk(khz_stepper *s, const khz_work *w, double t, double h)
{
    s->is_lost = 0;
    const khz_status status = dirk_stages(s, w, t, h);
    if (!s->is_lost || status != KHZ_OK) {
        return status;
    }
    ((khz_context *)w->instance)->n_detours++;
    return dirk_stages(s, w, t, h);
}

/* The same stage, solved by the model itself: x = base + gamma_h*xd. */
static KHZ_INLINE khz_status inlined_stage(khz_stepper *s, const khz_work *w, double t, double h, int32_t i)
{
    const khz_method *const method = khz_method_of(s);
    const khz_model *const m = khz_model_of(s);
    const int32_t n = m->n_x;
    khz_real *const z = w->k + (size_t)i * (size_t)n;
    if (i == 0 && method->explicit_first) {
        for (int32_t j = 0; j < n; j++) {
            z[j] = h * w->f0[j];
        }
        return KHZ_OK;
    }
    combine(s, w, method->a + i * method->n_stages, i, w->stage);
    const khz_status status = khz_stepper_inlined(s, w, t + method->abscissa[i] * h, h * method->gamma);
    if (status != KHZ_OK) {
        return status;
    }
    memcpy(w->x1, khz_reals(w->instance, m->x), sizeof(khz_real) * (size_t)n);
    for (int32_t j = 0; j < n; j++) {
        z[j] = h * khz_reals(w->instance, m->xd)[j];
    }
    return KHZ_OK;
}

khz_status khz_advance_inlined(khz_stepper *s, const khz_work *w, double t, double h)
{
    const khz_method *const method = khz_method_of(s);
    const khz_model *const m = khz_model_of(s);
    memcpy(w->x1, w->x0, sizeof(khz_real) * (size_t)m->n_x);
    const khz_status status = khz_each_stage(inlined_stage, s, w, t, h, 0);
    if (status != KHZ_OK) {
        return status;
    }
    if (!method->stiffly_accurate) {
        combine(s, w, method->weight, method->n_stages, w->x1);
    }
    s->is_at_end = method->stiffly_accurate && m->inlined_is_all;
    return KHZ_OK;
}
