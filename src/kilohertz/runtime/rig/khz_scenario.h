/* The flat scenario: `key = value` lines, written by `khz build` and read once at the start of the executable.
 * A line that begins with # is a comment.  Where a key stands twice the later line counts, so that words on the command
 * line (`key=value`) override the file. */
#ifndef KHZ_SCENARIO_H
#define KHZ_SCENARIO_H

#include "khz_device.h"

typedef struct khz_scenario {
    khz_device_setting *settings;
    int32_t n, capacity;
    unsigned char *asked; /* [capacity] not 0: somebody looked for the key */
    int32_t *table;       /* hash table: position + 1 of the last setting with a key; 2*capacity entries */
    char problem[512];    /* the first thing that was wrong, empty: nothing */
    char folder[4096];    /* of the file, with the slash at its end; empty: where the executable was started */
} khz_scenario;

/* Read a file, add one `key=value` text.  KHZ_UNSUPPORTED with a problem where that fails.  Allocates: yes; only before
 * the rig starts. */
khz_status khz_scenario_read(khz_scenario *s, const char *path);
khz_status khz_scenario_add(khz_scenario *s, const char *line);

/* Values by key; `fallback` where there is none.  A text that is no such number is a problem. */
const char *khz_scenario_text(const khz_scenario *s, const char *key, const char *fallback);
int64_t khz_scenario_integer(khz_scenario *s, const char *key, int64_t fallback, int64_t low, int64_t high);
double khz_scenario_real(khz_scenario *s, const char *key, double fallback);
/* The first key from position `first` on that nobody looked for; NULL: none.  Call when all has been read. */
const char *khz_scenario_unknown(const khz_scenario *s, int32_t first);
/* `prefix.index.key` and the like, put together in `room` (KHZ_KEY_SIZE bytes). */
enum { KHZ_KEY_SIZE = 256 };
const char *khz_scenario_key(char *room, const char *prefix, int32_t index, const char *key);
/* All settings under `prefix.index.` without it, for a device.  They share the texts of the scenario. */
khz_status khz_scenario_part(khz_scenario *s, const char *prefix, int32_t index, khz_device_config *part);
/* A file that the scenario names, in `room`: one that is not absolute lies beside the scenario. */
const char *khz_scenario_beside(const khz_scenario *s, char *room, size_t size, const char *path);
/* Note a problem; the first one stays. */
void khz_scenario_wrong(khz_scenario *s, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#endif
