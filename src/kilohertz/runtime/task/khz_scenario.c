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

static khz_status append(khz_scenario *s, const char *key, const char *value)
{
    if (s->n == s->capacity) {
        const int32_t capacity = s->capacity == 0 ? 64 : 2 * s->capacity;
        void *const more = realloc(s->settings, sizeof *s->settings * (size_t)capacity);
        if (more == NULL) {
            return KHZ_OUT_OF_MEMORY;
        }
        s->settings = (khz_device_setting *)more;
        s->capacity = capacity;
    }
    s->settings[s->n].key = copied(key);
    s->settings[s->n].value = copied(value);
    if (s->settings[s->n].key == NULL || s->settings[s->n].value == NULL) {
        return KHZ_OUT_OF_MEMORY;
    }
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
    char line[LINE_SIZE];
    khz_status status = KHZ_OK;
    while (status == KHZ_OK && fgets(line, (int)sizeof line, file) != NULL) {
        status = khz_scenario_add(s, line);
    }
    (void)fclose(file);
    return status;
}

const char *khz_scenario_text(const khz_scenario *s, const char *key, const char *fallback)
{
    for (int32_t i = s->n - 1; i >= 0; i--) {
        if (strcmp(s->settings[i].key, key) == 0) {
            return s->settings[i].value;
        }
    }
    return fallback;
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
        if (strncmp(s->settings[i].key, head, n_head) == 0) {
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
