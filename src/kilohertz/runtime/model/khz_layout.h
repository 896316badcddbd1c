/* How the compiler laid out the structures that others read, and the values of the enumerators: for whoever reads them
 * by the headers' text (kilohertz/runtime/definitions.py), and for reports, which name what they count.
 *
 * The tables themselves are written from the headers when a program is built: khz_model_layout.c, khz_task_layout.c. */
#ifndef KHZ_LAYOUT_H
#define KHZ_LAYOUT_H

#include "khz_base.h"

typedef struct khz_field {
    const char *structure, *name;
    uint32_t offset, size; /* in bytes */
} khz_field;

typedef struct khz_enumerator {
    const char *word; /* in lower case: khz_no_convergence */
    int64_t value;
} khz_enumerator;

typedef struct khz_layout {
    int32_t n_fields, n_enumerators;
    const khz_field *fields;
    const khz_enumerator *enumerators;
} khz_layout;

KHZ_EXPORT extern const khz_layout khz_model_layout;

/* The word of a value among the enumerators that begin with `prefix` ("khz_end_"), without it; "?" where there is
 * none.  Bound: one look at each enumerator. */
const char *khz_word(const khz_layout *layout, const char *prefix, int64_t value);
/* One number for all of it (FNV-1a): two programs with the same one can share memory. */
uint32_t khz_layout_digest(const khz_layout *layout);

#endif
