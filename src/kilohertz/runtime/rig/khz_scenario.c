#include "khz_scenario.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 8192 };

void khz_scenario_wrong(khz_scenario *s, const char *format, ...)
{
    if (s->problem[0] != '\0') {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(s->problem, sizeof s->problem, format, arguments);
    va_end(arguments);
}

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text)) {
        text++;
    }
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1])) {
        n--;
    }
    text[n] = '\0';
    return text;
}

static char *copied(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *const copy = (char *)malloc(n);
    if (copy != NULL) {
        memcpy(copy, text, n);
    }
    return copy;
}

/* Where a key stands in the hash table, or the free place for it. */
static int32_t *place_of(const khz_scenario *s, const char *key)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (const char *c = key; *c != '\0'; c++) {
        hash = (hash ^ (uint32_t)(unsigned char)*c) * 16777619U;
    }
    const uint32_t mask = 2 * (uint32_t)s->capacity - 1;
    uint32_t at = hash & mask;
    while (s->table[at] != 0 && strcmp(s->settings[s->table[at] - 1].key, key) != 0) {
        at = (at + 1) & mask; /* the table is at most half full */
    }
    return &s->table[at];
}

static khz_status grow(khz_scenario *s)
{
    const int32_t capacity = s->capacity == 0 ? 64 : 2 * s->capacity;
    void *const more = realloc(s->settings, sizeof *s->settings * (size_t)capacity);
    int32_t *const table = (int32_t *)calloc(2 * (size_t)capacity, sizeof *table);
    unsigned char *const asked = (unsigned char *)calloc((size_t)capacity, 1); /* nobody has asked while it grows */
    if (more == NULL || table == NULL || asked == NULL) {
        return KHZ_OUT_OF_MEMORY;
    }
    free(s->asked);
    s->asked = asked;
    free(s->table);
    s->settings = (khz_device_setting *)more;
    s->table = table;
    s->capacity = capacity;
    for (int32_t i = 0; i < s->n; i++) {
        *place_of(s, s->settings[i].key) = i + 1;
    }
    return KHZ_OK;
}

static khz_status append(khz_scenario *s, const char *key, const char *value)
{
    if (s->n == s->capacity && grow(s) != KHZ_OK) {
        return KHZ_OUT_OF_MEMORY;
    }
    s->settings[s->n].key = copied(key);
    s->settings[s->n].value = copied(value);
    if (s->settings[s->n].key == NULL || s->settings[s->n].value == NULL) {
        return KHZ_OUT_OF_MEMORY;
    }
    *place_of(s, s->settings[s->n].key) = s->n + 1;
    s->n++;
    return KHZ_OK;
}

khz_status khz_scenario_add(khz_scenario *s, const char *line)
{
    char room[LINE_SIZE];
    if (strlen(line) >= sizeof room) {
        khz_scenario_wrong(s, "a line of more than %d characters", LINE_SIZE);
        return KHZ_UNSUPPORTED;
    }
    (void)snprintf(room, sizeof room, "%s", line);
    char *const text = trimmed(room);
    if (text[0] == '\0' || text[0] == '#') {
        return KHZ_OK;
    }
    char *const equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        khz_scenario_wrong(s, "not of the form key = value: %.200s", text);
        return KHZ_UNSUPPORTED;
    }
    *equals = '\0';
    return append(s, trimmed(text), trimmed(equals + 1));
}

khz_status khz_scenario_read(khz_scenario *s, const char *path)
{
    FILE *const file = fopen(path, "r");
    if (file == NULL) {
        khz_scenario_wrong(s, "cannot read %.300s: %s", path, strerror(errno));
        return KHZ_UNSUPPORTED;
    }
    const char *const slash = strrchr(path, '/');
    const int length = slash == NULL ? 0 : (int)(slash - path) + 1;
    (void)snprintf(s->folder, sizeof s->folder, "%.*s", length, path);
    char line[LINE_SIZE];
    khz_status status = KHZ_OK;
    while (status == KHZ_OK && fgets(line, (int)sizeof line, file) != NULL) {
        status = khz_scenario_add(s, line);
    }
    (void)fclose(file);
    return status;
}

const char *khz_scenario_beside(const khz_scenario *s, char *room, size_t size, const char *path)
{
    (void)snprintf(room, size, "%s%s", path[0] == '/' ? "" : s->folder, path);
    return room;
}

const char *khz_scenario_text(const khz_scenario *s, const char *key, const char *fallback)
{
    const int32_t at = s->n > 0 ? *place_of(s, key) : 0;
    if (at > 0) {
        s->asked[at - 1] = 1;
    }
    return at > 0 ? s->settings[at - 1].value : fallback;
}

int64_t khz_scenario_integer(khz_scenario *s, const char *key, int64_t fallback, int64_t low, int64_t high)
{
    const char *const text = khz_scenario_text(s, key, NULL);
    if (text == NULL) {
        return fallback;
    }
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high) {
        khz_scenario_wrong(s, "%.100s = %.100s: not an integer from %lld to %lld", key, text, (long long)low,
                           (long long)high);
        return fallback;
    }
    return (int64_t)value;
}

double khz_scenario_real(khz_scenario *s, const char *key, double fallback)
{
    const char *const text = khz_scenario_text(s, key, NULL);
    if (text == NULL) {
        return fallback;
    }
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0') {
        khz_scenario_wrong(s, "%.100s = %.100s: not a number", key, text);
        return fallback;
    }
    return value;
}

const char *khz_scenario_unknown(const khz_scenario *s, int32_t first)
{
    for (int32_t i = first; i < s->n; i++) {
        /* of a key that stands twice only the later one was looked for */
        if (!s->asked[i] && *place_of(s, s->settings[i].key) == i + 1) {
            return s->settings[i].key;
        }
    }
    return NULL;
}

const char *khz_scenario_key(char *room, const char *prefix, int32_t index, const char *key)
{
    (void)snprintf(room, KHZ_KEY_SIZE, "%.100s.%d.%.100s", prefix, (int)index, key);
    return room;
}

khz_status khz_scenario_part(khz_scenario *s, const char *prefix, int32_t index, khz_device_config *part)
{
    char head[KHZ_KEY_SIZE];
    const size_t n_head = strlen(khz_scenario_key(head, prefix, index, ""));
    khz_device_setting *const settings = (khz_device_setting *)calloc((size_t)s->n + 1, sizeof *settings);
    if (settings == NULL) {
        return KHZ_OUT_OF_MEMORY;
    }
    int32_t n = 0;
    for (int32_t i = 0; i < s->n; i++) {
        /* of a key that stands twice only the later one */
        if (strncmp(s->settings[i].key, head, n_head) == 0 && *place_of(s, s->settings[i].key) == i + 1) {
            s->asked[i] = 1;
            settings[n].key = s->settings[i].key + n_head;
            settings[n].value = s->settings[i].value;
            n++;
        }
    }
    part->name = "";
    part->settings = settings;
    part->n_settings = n;
    part->name = khz_config_text(part, "name", "device");
    return KHZ_OK;
}
