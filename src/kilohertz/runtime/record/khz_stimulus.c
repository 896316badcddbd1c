#define _GNU_SOURCE
#include "khz_stimulus.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "khz_formula.h"

/* One field of a CSV line, quotes removed; NULL at the end of the line.  *line moves on. */
static char *field(char **line, char *room, size_t n_room)
{
    char *at = *line;
    if (at == NULL) {
        return NULL;
    }
    size_t n = 0;
    int quoted = 0;
    for (; *at != '\0' && *at != '\n' && *at != '\r' && (quoted || *at != ','); at++) {
        if (*at == '"') {
            quoted = !quoted;
        } else if (n + 1 < n_room && (n > 0 || !isspace((unsigned char)*at))) {
            room[n++] = *at;
        }
    }
    while (n > 0 && isspace((unsigned char)room[n - 1])) {
        n--;
    }
    room[n] = '\0';
    *line = *at == ',' ? at + 1 : NULL;
    return room;
}

/* Where each wanted column stands in the head line: place [n_columns + 1], time first. */
static khz_status find_columns(char *head, const char *const *columns, int32_t n_columns, int32_t *place, char *message,
                               size_t n_message)
{
    char room[1024];
    for (int32_t i = 0; i <= n_columns; i++) {
        place[i] = -1;
    }
    char *rest = head;
    int32_t at = 0;
    for (char *name = field(&rest, room, sizeof room); name != NULL; name = field(&rest, room, sizeof room)) {
        place[0] = strcmp(name, "time") == 0 ? at : place[0];
        for (int32_t i = 0; i < n_columns; i++) {
            place[i + 1] = strcmp(name, columns[i]) == 0 ? at : place[i + 1];
        }
        at++;
    }
    for (int32_t i = 0; i <= n_columns; i++) {
        if (place[i] < 0) {
            (void)snprintf(message, n_message, "no column `%.200s`", i == 0 ? "time" : columns[i - 1]);
            return KHZ_UNSUPPORTED;
        }
    }
    return KHZ_OK;
}

static khz_status grow(khz_stimulus *s, int64_t *capacity)
{
    if (s->n_rows < *capacity) {
        return KHZ_OK;
    }
    *capacity = *capacity == 0 ? 1024 : 2 * *capacity;
    const size_t n = (size_t)*capacity;
    double *const time = (double *)realloc(s->time, n * sizeof(double));
    s->time = time != NULL ? time : s->time;
    double *const values = (double *)realloc(s->values, n * ((size_t)s->n_columns + 1) * sizeof(double));
    s->values = values != NULL ? values : s->values;
    return time != NULL && values != NULL ? KHZ_OK : KHZ_OUT_OF_MEMORY;
}

static khz_status read_row(khz_stimulus *s, char *line, const int32_t *place)
{
    char room[1024];
    int32_t at = 0;
    int32_t found = 0;
    char *rest = line;
    for (char *text = field(&rest, room, sizeof room); text != NULL; text = field(&rest, room, sizeof room), at++) {
        for (int32_t i = 0; i <= s->n_columns; i++) {
            if (place[i] != at) {
                continue;
            }
            char *end = NULL;
            const double value = strtod(text, &end);
            if (end == text || *end != '\0') {
                return KHZ_UNSUPPORTED;
            }
            *(i == 0 ? &s->time[s->n_rows] : &s->values[s->n_rows * s->n_columns + i - 1]) = value;
            found++;
        }
    }
    return found == s->n_columns + 1 ? KHZ_OK : KHZ_UNSUPPORTED;
}

static khz_status read_rows(khz_stimulus *s, FILE *file, const int32_t *place, char *message, size_t n_message)
{
    char *line = NULL;
    size_t n_line = 0;
    int64_t capacity = 0;
    int64_t number = 1;
    khz_status status = KHZ_OK;
    while (status == KHZ_OK && getline(&line, &n_line, file) >= 0) {
        number++;
        if (line[strspn(line, " \t\r\n")] == '\0') {
            continue;
        }
        status = grow(s, &capacity);
        status = status == KHZ_OK ? read_row(s, line, place) : status;
        if (status == KHZ_OK && s->n_rows > 0 && s->time[s->n_rows] < s->time[s->n_rows - 1]) {
            status = KHZ_UNSUPPORTED;
        }
        s->n_rows++;
    }
    free(line);
    if (status == KHZ_OK && s->n_rows == 0) {
        (void)snprintf(message, n_message, "no rows");
        return KHZ_UNSUPPORTED;
    }
    if (status != KHZ_OK) {
        (void)snprintf(message, n_message, "line %lld is not a row of numbers with a time that does not fall",
                       (long long)number);
    }
    return status;
}

khz_status khz_stimulus_read(khz_stimulus *s, const char *path, const char *const *columns, int32_t n_columns,
                             char *message, size_t n_message)
{
    s->n_columns = n_columns;
    s->n_rows = 0;
    FILE *const file = fopen(path, "r");
    if (file == NULL) {
        (void)snprintf(message, n_message, "%s", strerror(errno));
        return KHZ_UNSUPPORTED;
    }
    char *head = NULL;
    size_t n_head = 0;
    int32_t *const place = (int32_t *)calloc((size_t)n_columns + 1, sizeof *place);
    khz_status status = KHZ_UNSUPPORTED;
    if (place == NULL || getline(&head, &n_head, file) < 0) {
        (void)snprintf(message, n_message, "it is empty");
    } else {
        status = find_columns(head, columns, n_columns, place, message, n_message);
        status = status == KHZ_OK ? read_rows(s, file, place, message, n_message) : status;
    }
    free(head);
    free(place);
    (void)fclose(file);
    return status;
}

/* The last row not after `time`, -1 before the first. */
static int64_t row_at(khz_stimulus *s, double time)
{
    /* mostly the row of the last call, or the one after it */
    for (int64_t i = s->at; i <= s->at + 1 && i < s->n_rows; i++) {
        if (s->time[i] <= time && (i + 1 == s->n_rows || s->time[i + 1] > time)) {
            return i;
        }
    }
    int64_t low = -1;
    int64_t high = s->n_rows;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (s->time[middle] <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

void khz_stimulus_at(khz_stimulus *s, double time, double *values)
{
    const size_t n = (size_t)s->n_columns;
    const int64_t found = row_at(s, time + KHZ_SOON);
    const int64_t i = found < 0 ? 0 : found;
    const int64_t after = found + 1 < s->n_rows ? found + 1 : i;
    const double *const row = s->values + (size_t)(s->mode == KHZ_STIMULUS_RECORDED ? after : i) * n;
    s->at = i;
    memcpy(values, row, n * sizeof(double));
    if (s->mode != KHZ_STIMULUS_LINEAR || found < 0 || i + 1 >= s->n_rows) {
        return;
    }
    const double part = (time - s->time[i]) / (s->time[i + 1] - s->time[i]);
    for (size_t k = 0; k < n; k++) {
        values[k] = row[k] + part * (row[n + k] - row[k]);
    }
}

void khz_stimulus_start(khz_stimulus *s, double time, double *values)
{
    const int32_t mode = s->mode;
    s->mode = mode == KHZ_STIMULUS_RECORDED ? KHZ_STIMULUS_HOLD : mode;
    khz_stimulus_at(s, time, values);
    s->mode = mode;
}
