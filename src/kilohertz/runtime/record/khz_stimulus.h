/* Playback: inputs over time from a CSV file, held or interpolated.  Read whole before the rig starts. */
#ifndef KHZ_STIMULUS_H
#define KHZ_STIMULUS_H

#include "khz_base.h"

/* Between rows: the value of the one before; a line; the value of the one after, as in a recording of a run, where a
 * row holds the inputs of the step that ended there. */
enum { KHZ_STIMULUS_HOLD = 0, KHZ_STIMULUS_LINEAR = 1, KHZ_STIMULUS_RECORDED = 2 };

typedef struct khz_stimulus {
    int64_t n_rows;
    int32_t n_columns; /* without time */
    int32_t mode;
    double *time;   /* [n_rows], never falling */
    double *values; /* [n_rows][n_columns] */
    int64_t at;     /* row last used */
} khz_stimulus;

/* Read `columns` (names of the head line) and the column `time`.  KHZ_UNSUPPORTED with a message where that fails. */
khz_status khz_stimulus_read(khz_stimulus *s, const char *path, const char *const *columns, int32_t n_columns,
                             char *message, size_t n_message);
/* Values [n_columns] at an instant; the first row before the beginning, the last one after the end.  Bound: log2
 * rows. */
void khz_stimulus_at(khz_stimulus *s, double time, double *values);
/* The same for initialisation: of a recording the row of this very instant. */
void khz_stimulus_start(khz_stimulus *s, double time, double *values);

#endif
