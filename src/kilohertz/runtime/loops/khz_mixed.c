/* Mixed loops: the search for a mode, relations that agree with the Reals they lead to. */
#include <float.h>
#include <math.h>

#include "khz_loops.h"
#include "khz_spare.h"

/* A mode under trial, and the best one so far. */
typedef struct mixed_search {
    khz_context *c;
    const khz_mixed_problem *p;
    void *instance;
    int32_t *r;
    const int32_t *forced;
    int32_t vague; /* what the context had at the beginning: only the mode that stands counts */
    int32_t *fresh, *best, *entry, *changed; /* [n]; entry: as it was, and twice what the Reals said then */
    khz_real *distance;                      /* [n] */
    khz_real *largest;  /* [n] distance of each relation in any mode: what its violation is measured by */
    khz_real violation; /* of the best mode: how far its worst relation is from agreeing */
    int n_turns;
    int is_cut;  /* there were no turns left */
    int is_dear; /* a linear system took turns in the last mode */
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

/* The Reals of the present mode and what relations say of them; 0: no solution here. */
static int mixed_reals(mixed_search *m)
{
    const int32_t turns = m->c->turns_left;
    const int is_solved = m->p->continuous(m->instance) == KHZ_OK;
    m->is_dear = m->c->turns_left != turns;
    if (is_solved) {
        m->p->evaluate(m->instance, m->fresh, m->distance);
    }
    return is_solved;
}

/* One turn: discrete values, Reals, relations anew.  The number of relations that disagree, or -1: no solution here. */
static int mixed_turn(mixed_search *m)
{
    const int32_t status = m->c->status;
    m->c->n_mixed++;
    m->c->vague = m->vague;
    (void)m->p->derive(m->instance);
    if (!mixed_reals(m)) {
        m->c->status = status;
        return -1;
    }
    int disagree = 0;
    khz_real worst = 0.0;
    for (int i = 0; i < m->p->n; i++) {
        const khz_real distance = fabs(m->distance[i]);
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

static void mixed_take_best(mixed_search *m)
{
    for (int i = 0; i < m->p->n; i++) {
        m->r[m->p->relation[i]] = m->best[i];
    }
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
static int mixed_enumerate(mixed_search *m)
{
    const int n = m->p->n;
    for (int changes = 0; changes <= n && !m->is_cut; changes++) {
        for (uint32_t mask = (1U << changes) - 1U; mask < (1U << n); mask = same_bits(mask)) {
            for (int i = 0; i < n; i++) {
                m->r[m->p->relation[i]] = (m->entry[i] & 1) ^ (int32_t)((mask >> i) & 1U);
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

/* Of those that disagree the relation furthest from agreeing, measured by the largest distance it had in any mode; of
 * those that were changed lately the one that was so first, and only where there is nothing else. */
static int mixed_furthest(const mixed_search *m, int disagree, int turn)
{
    int chosen = -1;
    int chosen_late = 0;
    khz_real most = 0.0;
    for (int i = 0; i < m->p->n; i++) {
        if (disagree > 0 && m->fresh[i] == m->r[m->p->relation[i]]) {
            continue;
        }
        const int is_late = turn - m->changed[i] <= KHZ_MIXED_LATELY;
        const khz_real far = is_late ? -m->changed[i] : fabs(m->distance[i]) / fmax(m->largest[i], KHZ_MIXED_LEAST);
        if (chosen < 0 || is_late < chosen_late || (is_late == chosen_late && far > most)) {
            chosen = i;
            chosen_late = is_late;
            most = far;
        }
    }
    return chosen;
}

/* Many: change one by turns, and with it those that disagree at the same distance (a quantity that is compared twice).
 */
static int mixed_walk(mixed_search *m)
{
    for (int i = 0; i < m->p->n; i++) {
        m->changed[i] = -KHZ_MIXED_CAP;
    }
    for (int turn = 0; turn < KHZ_MIXED_CAP && mixed_may_turn(m, 1); turn++) {
        const int disagree = mixed_turn(m);
        if (disagree == 0 && !m->p->derive(m->instance)) {
            return 1;
        }
        if ((disagree < 0 || m->c->n_fruitless > 0) && !khz_has_iterations(m->c, KHZ_MIXED_ITERATIONS)) {
            return 0;
        }
        const int chosen = mixed_furthest(m, disagree, turn);
        for (int i = 0; i < m->p->n; i++) {
            int32_t *const own = &m->r[m->p->relation[i]];
            const int is_same = disagree > 0 && m->fresh[i] != *own && m->distance[i] == m->distance[chosen];
            if (i == chosen || is_same) {
                *own = !*own;
                m->changed[i] = turn;
            }
        }
    }
    return 0;
}

static int mixed_tried(mixed_search *m)
{
    const int n = m->p->n;
    if (n == 0) {
        return 0;
    }
    return (n > KHZ_MIXED_ALL && mixed_walk(m)) || (n <= KHZ_MIXED_FEW && !m->is_cut && mixed_enumerate(m));
}

/* Is a relation no further from changing than rounding? */
static int mixed_is_bare(const mixed_search *m, int i)
{
    return fabs(m->distance[i]) <= fmax(KHZ_MIXED_ROUNDING * m->largest[i], KHZ_MIXED_LEAST);
}

/* The number of relations that are wrong in the present mode by more than rounding, -1: no solution here. */
static int mixed_wrong(mixed_search *m)
{
    if (mixed_turn(m) < 0) {
        return -1;
    }
    int wrong = 0;
    for (int i = 0; i < m->p->n; i++) {
        wrong += m->fresh[i] != m->r[m->p->relation[i]] && !mixed_is_bare(m, i);
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

/* The present mode agrees.  Where it does by rounding alone (an acceleration of 1e-14 that a brake on the same shaft
 * leaves), the mode in which these relations are as at zero is the one that is meant, if it agrees as well. */
static void mixed_prefer_rest(mixed_search *m)
{
    int any = 0;
    for (int i = 0; i < m->p->n; i++) {
        any |= m->fresh[i] != m->p->at_zero[i] && mixed_is_bare(m, i) && !m->forced[m->p->relation[i]];
    }
    const int back = m->is_dear ? KHZ_MIXED_UNPLANNED + KHZ_MIXED_SINGULAR : 0;
    if (!any || !mixed_may_turn(m, 2 + back)) {
        return;
    }
    for (int i = 0; i < m->p->n; i++) {
        if (mixed_is_bare(m, i) && !m->forced[m->p->relation[i]]) {
            m->r[m->p->relation[i]] = m->p->at_zero[i];
        }
    }
    if (mixed_turn(m) != 0 || m->p->derive(m->instance)) {
        mixed_take_best(m);
        m->c->is_searching = 0; /* paid for */
        (void)mixed_turn(m);
    }
}

/* All relations agree, and yet other discrete values change with every turn: that is no rounding on a crossing. */
static int mixed_moves(mixed_search *m)
{
    return m->violation == 0.0 && mixed_turn(m) == 0 && m->p->derive(m->instance) > 1;
}

/* No mode agrees as long as values before the event are what they are: a latch that its own action resets.  Relations
 * are what the last pass said, and the next pass, with the values of this one as those before, may find a mode. */
static void mixed_lag(mixed_search *m)
{
    for (int i = 0; i < m->p->n; i++) {
        m->r[m->p->relation[i]] = m->entry[i] >> 1;
    }
    m->c->has_lagged = 1;
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
static int mixed_search_modes(khz_context *c, const khz_mixed_problem *p, void *instance, int32_t *r,
                              const int32_t *forced, const khz_mixed_room *room)
{
    mixed_search m;
    m.fresh = room->integers;
    m.best = m.fresh + p->n;
    m.entry = m.best + p->n;
    m.changed = m.entry + p->n;
    m.distance = room->reals;
    m.largest = m.distance + p->n;
    m.c = c;
    m.p = p;
    m.instance = instance;
    m.r = r;
    m.forced = forced;
    m.vague = c->vague;
    m.violation = KHZ_LARGEST;
    m.n_turns = 0;
    m.is_cut = 0;
    m.is_dear = 0;
    for (int i = 0; i < p->n; i++) {
        m.largest[i] = 0.0;
        m.fresh[i] = 0;
        m.distance[i] = 0.0;
        m.best[i] = m.entry[i] = r[p->relation[i]];
    }
    /* The mode as it was comes first: relations as the Reals have become meanwhile. */
    const int32_t before = c->status;
    int changed = 0;
    const int is_solved = mixed_reals(&m);
    for (int i = 0; i < p->n && is_solved; i++) {
        m.largest[i] = fabs(m.distance[i]);
        changed |= r[p->relation[i]] != m.fresh[i];
        r[p->relation[i]] = m.fresh[i];
        m.entry[i] |= m.fresh[i] << 1;
    }
    c->status = before;
    /* A dear mode that agrees is not looked at twice. */
    const int agrees = is_solved && m.is_dear && !changed && !p->derive(instance);
    m.n_turns += agrees;
    c->n_mixed += (uint32_t)agrees;
    if (agrees || mixed_together(&m)) {
        mixed_prefer_rest(&m);
        return 1;
    }
    c->n_detours++;
    if (mixed_tried(&m)) {
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
    const int contradicts = mixed_contradicts(&m);
    mixed_take_best(&m);
    if (c->is_searching == KHZ_SEARCH_CUT) {
        mixed_note_cut(&m);
        return 0;
    }
    c->unsettled = contradicts ? p->block : c->unsettled;
    if (contradicts && is_solved && c->lags_left > 0) {
        mixed_lag(&m);
        return 0;
    }
    if (mixed_moves(&m)) {
        c->block = c->status == KHZ_OK ? p->block : c->block;
        khz_fail(c, KHZ_NO_CONVERGENCE, KHZ_NOWHERE, "values that need each other do not settle");
    }
    return 0;
}

khz_status khz_mixed(khz_context *c, const khz_mixed_problem *p, void *instance, int32_t *r, const int32_t *forced,
                     const khz_mixed_room *room)
{
    const int32_t before = c->status;
    const int32_t vague = c->vague;
    c->n_strict++;
    c->searched_from = c->n_iterations;
    c->is_searching = KHZ_SEARCHING;
    const int agrees = mixed_search_modes(c, p, instance, r, forced, room);
    c->is_searching = 0;
    c->n_fruitless = agrees ? 0 : c->n_fruitless + (c->n_fruitless < KHZ_MIXED_FRUITLESS);
    c->n_strict--;
    if (agrees || c->status != before) {
        return (khz_status)c->status;
    }
    (void)p->derive(instance);
    c->vague = vague;
    c->searched_from = c->n_iterations;
    c->is_searching = c->newton_cap == 0 && c->n_fruitless > 1 ? KHZ_SEARCHING : 0; /* not again with all means */
    const khz_status status = p->continuous(instance);
    c->is_searching = 0;
    return status;
}
