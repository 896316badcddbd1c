#define _GNU_SOURCE
#include "khz_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TURN_NS = 50000000, LAST_TRIES = 5 };

/* All bytes, or the error.  *done: whole units that are in the file; a part of one that went through is taken back. */
static int write_whole(khz_recorder *r, const void *data, size_t n, size_t unit, size_t *done_units)
{
    const char *at = (const char *)data;
    size_t left = n;
    while (left > 0) {
        const ssize_t done = write(r->fd, at, left);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            const int error = done < 0 ? errno : ENOSPC;
            *done_units = (n - left) / unit;
            r->file_size += (int64_t)(*done_units * unit);
            if (ftruncate(r->fd, (off_t)r->file_size) == 0) {
                (void)lseek(r->fd, (off_t)r->file_size, SEEK_SET);
            }
            return error;
        }
        at += done;
        left -= (size_t)done;
    }
    *done_units = n / unit;
    r->file_size += (int64_t)n;
    return 0;
}

static int write_head(khz_recorder *r, const khz_column *columns)
{
    char *text = NULL;
    size_t n = 0;
    FILE *const memory = open_memstream(&text, &n);
    if (memory == NULL) {
        return errno;
    }
    (void)fprintf(memory, "khz-recording 1\ncolumns %d\n", (int)r->n_columns);
    for (int32_t i = 0; i < r->n_columns; i++) {
        (void)fprintf(memory, "%s\t%s\t%s\n", columns[i].name, columns[i].unit, columns[i].description);
    }
    (void)fputs(r->parameters != NULL ? r->parameters : "", memory);
    (void)fflush(memory);
    const size_t pad = (8 - (n + 5) % 8) % 8;
    (void)fprintf(memory, "data%*s\n", (int)pad, "");
    (void)fclose(memory);
    size_t done = 0;
    const int error = write_whole(r, text, n, n, &done);
    free(text);
    return error;
}

int khz_recorder_open(khz_recorder *r, const char *path, const khz_column *columns, int32_t n_columns, uint64_t n_rows)
{
    const size_t row = sizeof(double) * (size_t)n_columns;
    const size_t size = khz_ring_size(row, n_rows);
    r->n_columns = n_columns;
    r->file_size = 0;
    r->state = r->from.kind == KHZ_TRIGGER_NONE ? 1 : 0;
    r->before = (double *)calloc((size_t)r->n_before + 1, row);
    volatile unsigned char *const memory = (volatile unsigned char *)malloc(size);
    if (memory == NULL || r->before == NULL) {
        return ENOMEM;
    }
    for (size_t i = 0; i < size; i += 1024) { /* every page is there before the first row; memset would be left out */
        memory[i] = 0;
    }
    khz_ring_init(&r->ring, (void *)(uintptr_t)memory, row, n_rows);
    r->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (r->fd < 0) {
        return errno;
    }
    return write_head(r, columns);
}

static int is_met(const khz_trigger *t, const double *row)
{
    if (t->kind == KHZ_TRIGGER_ABOVE) {
        return row[t->column] > t->value;
    }
    return t->kind == KHZ_TRIGGER_BELOW && row[t->column] < t->value;
}

static void keep_before(khz_recorder *r, const double *row)
{
    const size_t n = (size_t)r->n_columns;
    if (r->n_before == 0) {
        atomic_fetch_add(&r->n_not_wanted, 1);
        return;
    }
    const int32_t at = (r->before_first + r->before_count) % r->n_before;
    memcpy(r->before + (size_t)at * n, row, n * sizeof(double));
    if (r->before_count < r->n_before) {
        r->before_count++;
    } else {
        r->before_first = (r->before_first + 1) % r->n_before;
        atomic_fetch_add(&r->n_not_wanted, 1);
    }
}

/* Rows to the file; *n_done of them got there.  0 or errno. */
static int write_rows(khz_recorder *r, const double *rows, uint64_t n, uint64_t *n_done)
{
    size_t done = 0;
    const int error = n > 0 ? write_whole(r, rows, (size_t)n * r->ring.row, r->ring.row, &done) : 0;
    atomic_fetch_add(&r->n_written, done);
    *n_done = done;
    if (error != 0) {
        atomic_fetch_add(&r->n_refused_writes, 1);
        atomic_store(&r->last_error, error);
    }
    return error;
}

static int write_before(khz_recorder *r)
{
    while (r->before_count > 0) {
        const double *const row = r->before + (size_t)r->before_first * (size_t)r->n_columns;
        uint64_t done = 0;
        const int error = write_rows(r, row, 1, &done);
        if (error != 0) {
            return error;
        }
        r->before_first = (r->before_first + 1) % r->n_before;
        r->before_count--;
    }
    return 0;
}

/* Rows that stand side by side, as far as the triggers want them; *n_done of them are dealt with.  0 or errno. */
static int take(khz_recorder *r, const double *rows, uint64_t n, uint64_t *n_done)
{
    const size_t width = (size_t)r->n_columns;
    uint64_t first = 0; /* of those to be written at once */
    *n_done = 0;
    for (uint64_t i = 0; i < n; i++) {
        const double *const row = rows + i * width;
        if (r->state == 0 && is_met(&r->from, row)) {
            const int error = write_before(r);
            if (error != 0) {
                return error;
            }
            r->state = 1;
            first = i;
        }
        if (r->state == 1) {
            if (is_met(&r->until, row)) {
                uint64_t written = 0;
                const int error = write_rows(r, rows + first * width, i + 1 - first, &written);
                *n_done = first + written;
                if (error != 0) {
                    return error;
                }
                r->state = 2;
            }
            continue;
        }
        if (r->state == 0) {
            keep_before(r, row);
        } else {
            atomic_fetch_add(&r->n_not_wanted, 1);
        }
        *n_done = i + 1;
    }
    if (r->state == 1) {
        uint64_t written = 0;
        const int error = write_rows(r, rows + first * width, n - first, &written);
        *n_done = first + written;
        return error;
    }
    return 0;
}

/* Rows that stand side by side in the ring. */
static uint64_t waiting(khz_recorder *r, const unsigned char **rows)
{
    if (r->merge != NULL) {
        khz_merge_rows(r->merge, &r->ring);
    }
    return khz_ring_peek(&r->ring, rows);
}

/* Everything that waits; 0, or the error that stopped it. */
static int drain(khz_recorder *r)
{
    const unsigned char *rows = NULL;
    uint64_t n = 0;
    while ((n = waiting(r, &rows)) > 0) {
        uint64_t done = 0;
        const int error = take(r, (const double *)(const void *)rows, n, &done);
        khz_ring_release(&r->ring, done);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

static void rest(void)
{
    const struct timespec turn = {0, TURN_NS};
    (void)nanosleep(&turn, NULL);
}

static void *run(void *argument)
{
    khz_recorder *const r = (khz_recorder *)argument;
    while (!atomic_load(&r->stop)) {
        (void)drain(r);
        rest();
    }
    for (int i = 0; i < LAST_TRIES && drain(r) != 0; i++) {
        rest();
    }
    return NULL;
}

int khz_recorder_start(khz_recorder *r) { return pthread_create(&r->thread, NULL, run, r); }

uint64_t khz_recorder_close(khz_recorder *r)
{
    atomic_store(&r->stop, 1);
    (void)pthread_join(r->thread, NULL);
    (void)close(r->fd);
    uint64_t left = atomic_load(&r->ring.written) - atomic_load(&r->ring.read);
    for (int32_t i = 0; r->merge != NULL && i < r->merge->n_lanes; i++) {
        const khz_ring *const lane = &r->merge->lanes[i].ring;
        const uint64_t waits = atomic_load(&lane->written) - atomic_load(&lane->read);
        left = waits > left ? waits : left;
    }
    return left;
}
