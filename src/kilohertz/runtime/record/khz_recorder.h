/* The recorder: rows from the step through a ring to a normal thread to a file.
 *
 * File: text lines, then rows of little-endian doubles.  The head is
 *     khz-recording 1
 *     columns N
 *     name<TAB>unit<TAB>description        N lines; the first column is `time`
 *     parameters M                         then M lines
 *     name<TAB>unit<TAB>description<TAB>value
 *     data                                 padded with blanks before the line's end to a multiple of 8 bytes
 * A row that the disk refuses stays in the ring and is tried again; the file always ends with a whole row.
 * Triggers are looked at by the thread, never by the step. */
#ifndef KHZ_RECORDER_H
#define KHZ_RECORDER_H

#include <pthread.h>

#include "khz_merge.h"

enum { KHZ_TRIGGER_NONE = 0, KHZ_TRIGGER_ABOVE = 1, KHZ_TRIGGER_BELOW = 2 };

typedef struct khz_trigger {
    int32_t kind, column;
    double value;
} khz_trigger;

typedef struct khz_column {
    const char *name, *unit, *description;
} khz_column;

typedef struct khz_recorder {
    khz_ring ring;
    khz_merge *merge; /* where the rows come from several threads: it fills the ring */
    int32_t n_columns;
    int fd;
    const char *parameters; /* lines of the head, as above; NULL: none */
    khz_trigger from, until;
    int32_t n_before; /* rows kept before the trigger */
    /* the thread's own */
    pthread_t thread;
    double *before; /* ring of n_before rows */
    int32_t before_first, before_count;
    int32_t state;     /* 0 waiting, 1 recording, 2 over */
    int64_t file_size; /* end of the last whole row */
    _Atomic uint64_t n_written, n_refused_writes, n_not_wanted;
    _Atomic int32_t last_error; /* errno of the last refused write, 0 */
    _Atomic int32_t stop;
} khz_recorder;

/* Open the file and write its head; ring and buffers are made here.  Allocates: yes.  0 or errno. */
int khz_recorder_open(khz_recorder *r, const char *path, const khz_column *columns, int32_t n_columns, uint64_t n_rows);
/* Start the thread.  0 or errno. */
int khz_recorder_start(khz_recorder *r);
/* Write what is left, as far as the disk takes it, and close.  Rows left in the ring are those lost at the end. */
uint64_t khz_recorder_close(khz_recorder *r);

#endif
