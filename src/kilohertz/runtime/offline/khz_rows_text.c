/* Rows of a result as text: most names of a large model show the numbers of others. */
#include <string.h>

#include "khz_rows_text.h"

/* Where each number of a row begins, and where the next row does; whether none is too long. */
static int find_numbers(const char *row, int32_t n, int32_t *places)
{
    places[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        const char *const end = memchr(row + places[i], '\n', KHZ_LONGEST_NUMBER);
        if (end == NULL) {
            return 0;
        }
        places[i + 1] = (int32_t)(end - row) + 1;
    }
    return 1;
}

int64_t khz_rows_text(const char *text, int32_t n, int32_t n_shown, const int32_t *shown, int32_t n_rows,
                      int32_t *places, char *rows, int64_t *written)
{
    const char *at = text;
    char *to = rows;
    for (int32_t row = 0; row < n_rows; row++) {
        if (!find_numbers(at, n, places)) {
            return -1;
        }
        for (int32_t i = 0; i < n_shown; i++) {
            const int32_t *const place = places + shown[i];
            memcpy(to, at + place[0], KHZ_LONGEST_NUMBER); /* what is too much is overwritten by the next one */
            to += place[1] - place[0];
            to[-1] = ',';
        }
        to[-1] = '\n';
        at += places[n];
    }
    *written = to - rows;
    return at - text;
}
