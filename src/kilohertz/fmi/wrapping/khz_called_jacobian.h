/* The Jacobian of an FMU of Model Exchange that is called from Modelica: derivatives of states by states, one call for
 * each colour, kept for the point it was made at.  Part of khz_called_fmu.h.
 *
 * Columns that no row has both of share a colour.  A text says it all: references of states | of derivatives | the
 * colour of each column | its rows, from 0, columns apart by blanks, or "*" for all rows of all columns.  The first two
 * are empty where the FMU offers no directional derivatives. */
#ifndef KHZ_CALLED_JACOBIAN_H
#define KHZ_CALLED_JACOBIAN_H

#include <float.h>

typedef struct khz_called_jacobian {
    void *directional;      /* NULL: the FMU does not offer it, or offers what it does not have */
    khz_called_list states; /* as references, ... */
    khz_called_list rates;  /* ... and their derivatives */
    int32_t n_colours;
    int32_t *colours; /* of columns */
    int32_t *first;   /* of each column, and of one more: where its rows begin */
    int32_t *rows;
    double *values; /* by rows */
    double *nominals;
    double *moved, *there, *here; /* states, and derivatives at them; derivatives at the point */
    double *at_states, *at_inputs;
    double at_time;
    int32_t at_epoch; /* 0: it was made nowhere yet */
} khz_called_jacobian;

/* A part of the text that ends at a bar, in memory of its own; the rest of the text. */
static const char *khz_called_part(const char *text, char **part)
{
    const size_t n = strcspn(text, "|");
    *part = (char *)calloc(n + 1, 1);
    if (*part != NULL) {
        memcpy(*part, text, n);
    }
    return text + n + (text[n] == '|' ? 1 : 0);
}

/* Rows of columns; `rows` is NULL where they are only counted. */
static void khz_called_rows(const char *text, int32_t n, int32_t *first, int32_t *rows)
{
    const int is_full = text[0] == '*';
    int32_t k = 0;
    for (int32_t column = 0; column < n; column++) {
        first[column] = k;
        for (int32_t row = 0; is_full && row < n; row++, k++) {
            if (rows != NULL) {
                rows[k] = row;
            }
        }
        while (!is_full && *text != '\0' && *text != ' ') {
            char *rest = NULL;
            const long row = strtol(text, &rest, 10);
            if (rows != NULL) {
                rows[k] = (int32_t)(row >= 0 && row < n ? row : 0);
            }
            k++;
            text = rest + (*rest == ',' ? 1 : 0);
        }
        text += *text == ' ' ? 1 : 0;
    }
    first[n] = k;
}

static void khz_called_colours(khz_called_jacobian *j, const char *text, int32_t n)
{
    char *rest = NULL;
    for (int32_t column = 0; column < n; column++, text = rest) {
        j->colours[column] = (int32_t)strtol(text, &rest, 10);
        j->n_colours = j->colours[column] >= j->n_colours ? j->colours[column] + 1 : j->n_colours;
    }
}

static void *khz_called_own(size_t n, size_t size, int *fails)
{
    void *const memory = calloc(n + 1, size);
    *fails |= memory == NULL;
    return memory;
}

/* 0 where there is no memory. */
static int khz_called_jacobian_make(khz_called_jacobian *j, char *const *parts, int32_t n, int32_t n_inputs)
{
    int fails = 0;
    const size_t size = (size_t)n;
    j->colours = (int32_t *)khz_called_own(size, sizeof *j->colours, &fails);
    j->first = (int32_t *)khz_called_own(size, sizeof *j->first, &fails);
    double **const rooms[] = {&j->nominals, &j->moved, &j->there, &j->here, &j->at_states};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        *rooms[i] = (double *)khz_called_own(size, sizeof(double), &fails);
    }
    j->at_inputs = (double *)khz_called_own((size_t)n_inputs, sizeof(double), &fails);
    if (fails) {
        return 0;
    }
    khz_called_colours(j, parts[2], n);
    khz_called_rows(parts[3], n, j->first, NULL);
    j->rows = (int32_t *)khz_called_own((size_t)j->first[n], sizeof *j->rows, &fails);
    j->values = (double *)khz_called_own((size_t)j->first[n], sizeof *j->values, &fails);
    if (!fails) {
        khz_called_rows(parts[3], n, j->first, j->rows);
    }
    return !fails;
}

static void khz_called_jacobian_free(khz_called_jacobian *j)
{
    void *const all[] = {j->colours, j->first, j->rows, j->values,    j->nominals,
                         j->moved,   j->there, j->here, j->at_states, j->at_inputs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
}

/* ---------------------------------------------------------------------------------------------------------- columns */

/* All columns of a colour at once, where the FMU says them; 0 where it does not. */
static int khz_called_offered(khz_called_jacobian *j, void *instance, int32_t version, const double *along, double *out)
{
    typedef int (*ask_2)(void *, const uint32_t *, size_t, const uint32_t *, size_t, const double *, double *);
    typedef int (*ask_3)(void *, const uint32_t *, size_t, const uint32_t *, size_t, const double *, size_t, double *,
                         size_t);
    const khz_called_group *const x = &j->states.groups[0];
    const khz_called_group *const xd = &j->rates.groups[0];
    if (j->directional == NULL) {
        return 0;
    }
    const int status = version == 2 ? ((ask_2)j->directional)(instance, xd->references, xd->n_references, x->references,
                                                              x->n_references, along, out)
                                    : ((ask_3)j->directional)(instance, xd->references, xd->n_references, x->references,
                                                              x->n_references, along, x->n_values, out, xd->n_values);
    if (status > KHZ_CALLED_WARNING || status < 0) {
        j->directional = NULL; /* it is not asked again */
    }
    return j->directional != NULL;
}

/* How far a state is moved for a difference: half the digits of it, or of what it usually is. */
static double khz_called_shift(const khz_called_jacobian *j, const double *states, int32_t column)
{
    const double h = sqrt(DBL_EPSILON) * fmax(fabs(states[column]), j->nominals[column]);
    const volatile double there = states[column] + h; /* what is moved is what is divided by */
    return there - states[column];
}

/* Values of the columns of a colour: `there` holds what is known along all of them, to be divided where it is a
 * difference. */
static void khz_called_keep(khz_called_jacobian *j, int32_t n, int32_t colour, const double *states, int is_difference)
{
    for (int32_t column = 0; column < n; column++) {
        if (j->colours[column] != colour) {
            continue;
        }
        const double h = is_difference ? khz_called_shift(j, states, column) : 1.0;
        for (int32_t k = j->first[column]; k < j->first[column + 1]; k++) {
            const int32_t row = j->rows[k];
            j->values[k] = is_difference ? (j->there[row] - j->here[row]) / h : j->there[row];
        }
    }
}

/* out += J along */
static void khz_called_jacobian_apply(const khz_called_jacobian *j, int32_t n, const double *along, double *out)
{
    for (int32_t column = 0; column < n; column++) {
        if (along[column] != 0.0) {
            for (int32_t k = j->first[column]; k < j->first[column + 1]; k++) {
                out[j->rows[k]] += j->values[k] * along[column];
            }
        }
    }
}

#endif
