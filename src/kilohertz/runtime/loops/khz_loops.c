#include "khz_loops.h"

#include <float.h>
#include <math.h>
#include <string.h>

double khz_quotient(khz_context *c, int block, int place, double b, double a)
{
    if (a != 0.0) {
        return b / a;
    }
    if (b != 0.0) {
        c->block = c->status == KHZ_OK ? block : c->block;
        khz_fail(c, KHZ_SINGULAR, place, "division by zero");
    } else {
        khz_note_vague(c, block);
    }
    return 0.0;
}

khz_status khz_linear(khz_context *c, int block, int place, int n, double *memory, int32_t *order, int32_t *factored,
                      double *b)
{
    const size_t bytes = sizeof(double) * (size_t)n * (size_t)n;
    double *const matrix = memory;
    double *const lu = matrix + n * n;
    double *const scale = lu + n * n;
    double *const work = scale + n;
    khz_status status = KHZ_OK;
    if (*factored == 0) {
        memcpy(lu, matrix, bytes);
        c->n_factored++;
        status = khz_lu_factor(n, lu, scale, order);
        *factored = status == KHZ_OK ? 1 : 2;
    }
    if (*factored == 1) {
        khz_lu_solve(n, lu, scale, order, b, work);
    } else if (status != KHZ_NOT_FINITE) {
        /* Singular: the solution of smallest norm where the equations agree. */
        c->n_detours++;
        memcpy(lu, matrix, bytes);
        status = khz_minimum_norm(n, lu, b, KHZ_CONSISTENT, scale, order);
        if (status == KHZ_OK) {
            khz_note_vague(c, block);
        }
    }
    if (status != KHZ_OK) {
        *factored = 0;
        if (c->status == KHZ_OK) {
            c->block = block;
        }
        khz_fail(c, status, place,
                 status == KHZ_SINGULAR ? "a linear system of equations has no solution"
                                        : "a linear system of equations has a coefficient that is not a number");
    }
    return status;
}

khz_lanes khz_quotient_lanes(khz_context *c, int block, int place, khz_lanes b, double a)
{
    if (a != 0.0) {
        return b / a;
    }
    for (int lane = 0; lane < KHZ_LANES; lane++) {
        b[lane] = khz_quotient(c, block, place, b[lane], a);
    }
    return b;
}

khz_status khz_linear_lanes(khz_context *c, int block, int place, int n, double *memory, int32_t *order,
                            int32_t *factored, khz_lanes *b)
{
    double *const lu = memory + n * n;
    double *const one = lu + n * n + KHZ_MINIMUM_NORM_ROOM(n); /* a right-hand side, where lanes go one by one */
    if (*factored == 1) {
        khz_lu_solve_lanes(n, lu, lu + n * n, order, b, one);
        return KHZ_OK;
    }
    khz_status status = KHZ_OK;
    for (int lane = 0; lane < KHZ_LANES && status == KHZ_OK; lane++) {
        for (int i = 0; i < n; i++) {
            one[i] = b[i][lane];
        }
        status = khz_linear(c, block, place, n, memory, order, factored, one);
        for (int i = 0; i < n; i++) {
            b[i][lane] = one[i];
        }
    }
    return status;
}

khz_newton_problem khz_loop(int n, khz_residual_fn residual, khz_jacobian_fn jacobian, const double *sizes,
                            const khz_sparse_plan *plan, double *sparse, int32_t *kept)
{
    const khz_newton_problem problem = {
        .n = n,
        .residual = residual,
        .jacobian = jacobian,
        .nominal = sizes,
        .lower = sizes + n,
        .upper = sizes + 2 * n,
        .start = sizes + 3 * n,
        .plan = plan,
        .sparse = sparse,
        .kept = kept,
        .max_iterations = KHZ_NEWTON_CAP,
        .rescue_iterations = KHZ_RESCUE_CAP,
        .tolerance = KHZ_NEWTON_TOLERANCE,
    };
    return problem;
}

static double largest(int n, const double *v)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        worst = fabs(v[i]) <= DBL_MAX ? fmax(worst, fabs(v[i])) : DBL_MAX;
    }
    return worst;
}

/* A Newton cap was hit.  Where the residual became clearly smaller the values stay and the next call goes on from them;
 * else the last good ones do.  Noted for the stepper.  0: the residual has no value at either.  Two residuals. */
static int capped(khz_context *c, int block, const khz_newton_problem *p, void *instance, double *x,
                  const double *guess, double *residual)
{
    const double reached = largest(p->n, residual);
    p->residual(instance, guess, residual);
    const double before = largest(p->n, residual);
    if (reached <= KHZ_CAP_CLEARLY * before) {
        p->residual(instance, x, residual);
    } else {
        memcpy(x, guess, sizeof(double) * (size_t)p->n);
    }
    c->cap_block = block;
    c->cap_residual = fmin(reached, before);
    return fmin(reached, before) < DBL_MAX;
}

static int is_inside(const khz_newton_problem *p, const double *x)
{
    for (int i = 0; i < p->n; i++) {
        if (x[i] < p->lower[i] - KHZ_BOUND_SLACK * fmax(fabs(x[i]), p->nominal[i]) ||
            x[i] > p->upper[i] + KHZ_BOUND_SLACK * fmax(fabs(x[i]), p->nominal[i])) {
            return 0;
        }
    }
    return 1;
}

/* The unknowns that have a start value there; 0 where none has. */
static int restart(const khz_newton_problem *p, const double *guess, double *x)
{
    int any = 0;
    for (int i = 0; i < p->n; i++) {
        const int given = fabs(p->start[i]) <= DBL_MAX;
        x[i] = given ? p->start[i] : guess[i];
        any |= given && x[i] != guess[i];
    }
    return any;
}

/* Without a cap: plainly; inside the bounds, where that fails or leaves them; with all means; from the start values.
 * Bound: four times khz_newton's. */
static khz_status searched(khz_context *c, const khz_newton_problem *problem, void *instance, double *x,
                           const double *guess, double *work, int32_t *order)
{
    const size_t bytes = sizeof(double) * (size_t)problem->n;
    const uint32_t caps = c->n_caps;
    khz_newton_problem p = *problem;
    p.lower = NULL;
    p.upper = NULL;
    if (c->phase == KHZ_PHASE_CONTINUOUS) {
        return khz_newton(&p, c, instance, x, work, order);
    }
    p.rescue_iterations = 0;
    khz_status status = khz_newton(&p, c, instance, x, work, order);
    if (is_inside(problem, guess) && (status != KHZ_OK || !is_inside(problem, x))) {
        khz_newton_problem bounded = *problem;
        bounded.rescue_iterations = 0;
        memcpy(x, guess, bytes);
        status = khz_newton(&bounded, c, instance, x, work, order);
    }
    p.rescue_iterations = problem->rescue_iterations;
    if (status != KHZ_OK) {
        memcpy(x, guess, bytes);
        status = khz_newton(&p, c, instance, x, work, order);
    }
    if (status != KHZ_OK && restart(problem, guess, x)) {
        status = khz_newton(&p, c, instance, x, work, order);
    }
    c->n_caps = caps + (status == KHZ_OK ? 0U : 1U);
    return status;
}

khz_status khz_nonlinear(khz_context *c, int block, int place, const khz_newton_problem *problem, void *instance,
                         double *x, double *memory, int32_t *order)
{
    const size_t bytes = sizeof(double) * (size_t)problem->n;
    double *const guess = memory;
    memcpy(guess, x, bytes);
    khz_status status;
    c->n_strict++;
    if (c->newton_cap > 0) {
        khz_newton_problem p = *problem;
        p.lower = NULL;
        p.upper = NULL;
        /* At an event the solution may be far from the present values. */
        p.max_iterations = c->phase == KHZ_PHASE_CONTINUOUS ? c->newton_cap : KHZ_EVENT_NEWTON * c->newton_cap;
        p.rescue_iterations = 0;
        p.bold = 1;
        status = khz_newton(&p, c, instance, x, memory + problem->n, order);
    } else {
        status = searched(c, problem, instance, x, guess, memory + problem->n, order);
    }
    c->n_strict--;
    if (status == KHZ_NO_CONVERGENCE && c->newton_cap > 0 &&
        capped(c, block, problem, instance, x, guess, khz_newton_residual(problem->n, memory + problem->n))) {
        return KHZ_OK;
    }
    if (status != KHZ_OK) {
        memcpy(x, guess, bytes);
        if (c->status == KHZ_OK) {
            c->block = block;
        }
        khz_fail(c, status, place, "a nonlinear system of equations has no solution near the present values");
    }
    return status;
}

/* A mode under trial, and the best one so far. */
typedef struct mixed_search {
    khz_context *c;
    const khz_mixed_problem *p;
    void *instance;
    int32_t *r;
    int32_t vague; /* what the context had at the beginning: only the mode that stands counts */
    int32_t fresh[KHZ_MIXED_MOST];
    int32_t best[KHZ_MIXED_MOST];
    double distance[KHZ_MIXED_MOST];
    double largest[KHZ_MIXED_MOST]; /* distance of each relation in any mode: what its violation is measured by */
    double violation;               /* of the best mode: how far its worst relation is from agreeing */
    int n_turns;
    int is_cut; /* there were no turns left */
} mixed_search;

/* So many turns more?  The first of a search is free; in real time the others are counted over the whole period. */
static int mixed_may_turn(mixed_search *m, int n)
{
    if (m->n_turns > 0 && m->c->newton_cap > 0) {
        m->is_cut |= m->c->turns_left < n;
        m->c->turns_left -= m->is_cut ? 0 : n;
    }
    m->n_turns += n;
    return !m->is_cut;
}

/* One turn: discrete values, Reals, relations anew.  The number of relations that disagree, or -1: no solution here. */
static int mixed_turn(mixed_search *m)
{
    const int32_t status = m->c->status;
    m->c->n_mixed++;
    m->c->vague = m->vague;
    (void)m->p->derive(m->instance);
    if (m->p->continuous(m->instance) != KHZ_OK) {
        m->c->status = status;
        return -1;
    }
    m->p->evaluate(m->instance, m->fresh, m->distance);
    int disagree = 0;
    double worst = 0.0;
    for (int i = 0; i < m->p->n; i++) {
        const double distance = fabs(m->distance[i]);
        m->largest[i] = fmax(m->largest[i], distance);
        if (m->fresh[i] != m->r[m->p->relation[i]]) {
            disagree++;
            worst = fmax(worst, distance);
        }
    }
    if (worst < m->violation) {
        m->violation = worst;
        for (int i = 0; i < m->p->n; i++) {
            m->best[i] = m->r[m->p->relation[i]];
        }
    }
    return disagree;
}

static int mixed_settled(mixed_search *m)
{
    return mixed_may_turn(m, 1) && mixed_turn(m) == 0 && !m->p->derive(m->instance);
}

/* A mode in one number (FNV-1a). */
static uint64_t mixed_mode(const mixed_search *m)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int i = 0; i < m->p->n; i++) {
        hash = (hash ^ (uint64_t)m->r[m->p->relation[i]]) * UINT64_C(1099511628211);
    }
    return hash;
}

/* All relations at once, again and again, until it goes in circles. */
static int mixed_together(mixed_search *m)
{
    uint64_t seen[KHZ_MIXED_TOGETHER];
    for (int turn = 0; turn < KHZ_MIXED_TOGETHER && mixed_may_turn(m, 1); turn++) {
        const int disagree = mixed_turn(m);
        if (disagree == 0 && !m->p->derive(m->instance)) {
            return 1;
        }
        if (disagree > 0) {
            seen[turn] = mixed_mode(m);
            for (int i = 0; i < m->p->n; i++) {
                m->r[m->p->relation[i]] = m->fresh[i];
            }
            const uint64_t next = mixed_mode(m);
            for (int i = 0; i <= turn; i++) {
                if (seen[i] == next) {
                    return 0;
                }
            }
        } else {
            seen[turn] = 0;
        }
    }
    return 0;
}

/* The next larger number with as many bits. */
static uint32_t same_bits(uint32_t mask)
{
    const uint32_t lowest = mask & (0U - mask);
    const uint32_t carried = mask + lowest;
    return carried | (((mask ^ carried) >> 2) / lowest);
}

/* Few relations: every mode, those with the fewest changes first. */
static int mixed_enumerate(mixed_search *m, const int32_t *entry)
{
    const int n = m->p->n;
    for (int changes = 0; changes <= n && !m->is_cut; changes++) {
        for (uint32_t mask = (1U << changes) - 1U; mask < (1U << n); mask = same_bits(mask)) {
            for (int i = 0; i < n; i++) {
                m->r[m->p->relation[i]] = entry[i] ^ (int32_t)((mask >> i) & 1U);
            }
            if (mixed_settled(m)) {
                return 1;
            }
            if (mask == 0U || m->is_cut) {
                break;
            }
        }
    }
    return 0;
}

/* Many: change one of those that disagree, chosen by a fixed sequence. */
static int mixed_walk(mixed_search *m)
{
    uint32_t random = 12345U;
    for (int turn = 0; turn < KHZ_MIXED_CAP && mixed_may_turn(m, 1); turn++) {
        const int disagree = mixed_turn(m);
        if (disagree == 0 && !m->p->derive(m->instance)) {
            return 1;
        }
        random = random * 1664525U + 1013904223U;
        int chosen = (int)((random >> 8) % (uint32_t)(disagree > 0 ? disagree : m->p->n));
        for (int i = 0; i < m->p->n; i++) {
            int32_t *const own = &m->r[m->p->relation[i]];
            if ((disagree < 0 || m->fresh[i] != *own) && chosen-- == 0) {
                *own = !*own;
                break;
            }
        }
    }
    return 0;
}

/* The number of relations that are wrong in the present mode by more than rounding, -1: no solution here. */
static int mixed_wrong(mixed_search *m)
{
    if (mixed_turn(m) < 0) {
        return -1;
    }
    int wrong = 0;
    for (int i = 0; i < m->p->n; i++) {
        const int disagrees = m->fresh[i] != m->r[m->p->relation[i]];
        wrong += disagrees && fabs(m->distance[i]) > fmax(KHZ_MIXED_ROUNDING * m->largest[i], KHZ_MIXED_LEAST);
    }
    return wrong;
}

/* Does the best mode contradict itself?  Not so on a crossing: there both sides are wrong by rounding alone, this mode
 * and the one in which all that disagree are changed.  Two turns. */
static int mixed_contradicts(mixed_search *m)
{
    if (mixed_wrong(m) != 0) {
        return 1;
    }
    for (int i = 0; i < m->p->n; i++) {
        m->r[m->p->relation[i]] = m->fresh[i];
    }
    return mixed_wrong(m) != 0;
}

static void mixed_take_best(mixed_search *m)
{
    for (int i = 0; i < m->p->n; i++) {
        m->r[m->p->relation[i]] = m->best[i];
    }
}

/* All relations agree, and yet other discrete values change with every turn: that is no rounding on a crossing. */
static int mixed_moves(mixed_search *m)
{
    return m->violation == 0.0 && mixed_turn(m) == 0 && m->p->derive(m->instance) > 1;
}

static void mixed_note_cut(const mixed_search *m)
{
    if (m->c->n_cut == 0) {
        m->c->cut_first = m->p->block;
        m->c->cut_time = m->c->time;
    }
    m->c->n_cut++;
}

/* 1: a mode agrees and its values stand.  0: the one nearest to agreeing is taken, or c->status says what failed. */
static int mixed_search_modes(khz_context *c, const khz_mixed_problem *p, void *instance, int32_t *r)
{
    mixed_search m; /* field by field: most of its room is for relations that there are not */
    int32_t entry[KHZ_MIXED_MOST];
    m.c = c;
    m.p = p;
    m.instance = instance;
    m.r = r;
    m.vague = c->vague;
    m.violation = DBL_MAX;
    m.n_turns = 0;
    m.is_cut = 0;
    for (int i = 0; i < p->n; i++) {
        m.largest[i] = 0.0;
        m.fresh[i] = 0;
        m.distance[i] = 0.0;
        m.best[i] = entry[i] = r[p->relation[i]];
    }
    /* The mode as it was comes first: relations as the Reals have become meanwhile. */
    const int32_t before = c->status;
    if (p->continuous(instance) == KHZ_OK) {
        p->evaluate(instance, m.fresh, m.distance);
        for (int i = 0; i < p->n; i++) {
            r[p->relation[i]] = m.fresh[i];
        }
    }
    c->status = before;
    if (mixed_together(&m)) {
        return 1;
    }
    c->n_detours++;
    if (p->n > 0 && (p->n <= KHZ_MIXED_FEW ? mixed_enumerate(&m, entry) : mixed_walk(&m))) {
        return 1;
    }
    /* None agrees fully: on a crossing both sides may be wrong by rounding.  The one nearest to agreeing stays. */
    c->n_caps++;
    c->cap_block = p->block;
    c->cap_residual = m.violation;
    mixed_take_best(&m);
    if (!mixed_may_turn(&m, KHZ_MIXED_CHECK)) {
        mixed_note_cut(&m);
        return 0;
    }
    if (mixed_contradicts(&m)) {
        c->unsettled = p->block;
    }
    mixed_take_best(&m);
    if (mixed_moves(&m)) {
        c->block = c->status == KHZ_OK ? p->block : c->block;
        khz_fail(c, KHZ_NO_CONVERGENCE, KHZ_NOWHERE, "values that need each other do not settle");
    }
    return 0;
}

khz_status khz_mixed(khz_context *c, const khz_mixed_problem *p, void *instance, int32_t *r)
{
    const int32_t before = c->status;
    const int32_t vague = c->vague;
    c->n_strict++;
    const int agrees = mixed_search_modes(c, p, instance, r);
    c->n_strict--;
    if (agrees || c->status != before) {
        return (khz_status)c->status;
    }
    (void)p->derive(instance);
    c->vague = vague;
    return p->continuous(instance);
}

khz_status khz_expect_size(khz_context *c, int32_t size, int32_t expected)
{
    if (size != expected) {
        khz_fail(c, KHZ_BAD_INDEX, KHZ_NOWHERE, "a function returned an array of another size than expected");
    }
    return (khz_status)c->status;
}

void khz_set_text(khz_context *c, char *target, const char *text)
{
    const size_t n = strlen(text);
    if (n >= KHZ_TEXT_SIZE) {
        khz_fail(c, KHZ_OUT_OF_MEMORY, KHZ_NOWHERE, "a String is longer than the room for it");
        return;
    }
    memmove(target, text, n + 1);
}
