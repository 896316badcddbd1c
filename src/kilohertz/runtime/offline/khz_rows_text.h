/* Rows of a result as text. */
#ifndef KHZ_ROWS_TEXT_H
#define KHZ_ROWS_TEXT_H

#include "khz_base.h"

enum { KHZ_LONGEST_NUMBER = 32 }; /* bytes of a number in a text, what ends it included */

/* Of numbers, each ended by a line feed, `n` for a row: in each row those at `shown`, commas between them.
 * text    in: the numbers of `n_rows` rows, and KHZ_LONGEST_NUMBER bytes more that may be read
 * places  [n + 1] work
 * rows    [(n_rows * n_shown + 1) * KHZ_LONGEST_NUMBER] out: the text
 * written out: its length
 * Gives how many bytes of `text` that took; -1 where a number is too long. */
KHZ_EXPORT int64_t khz_rows_text(const char *text, int32_t n, int32_t n_shown, const int32_t *shown, int32_t n_rows,
                                 int32_t *places, char *rows, int64_t *written);

#endif
