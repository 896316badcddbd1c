#include "khz_signal.h"

#include <string.h>

#include "khz_math.h"

double khz_signal_get(const void *instance, const khz_signal *s)
{
    const char *const at = (const char *)instance + s->offset;
    if (s->type == KHZ_SIGNAL_REAL) {
        khz_real value = 0;
        memcpy(&value, at, sizeof value);
        return (double)(s->sign < 0 ? -value : value);
    }
    int32_t value = 0;
    memcpy(&value, at, sizeof value);
    if (s->sign < 0) {
        value = s->type == KHZ_SIGNAL_BOOLEAN ? !value : -value;
    }
    return (double)value;
}

void khz_signal_set(void *instance, const khz_signal *s, double value)
{
    char *const at = (char *)instance + s->offset;
    if (s->type == KHZ_SIGNAL_REAL) {
        const khz_real stored = (khz_real)(s->sign < 0 ? -value : value);
        memcpy(at, &stored, sizeof stored);
        return;
    }
    int32_t stored = khz_whole(value);
    if (s->type == KHZ_SIGNAL_BOOLEAN) {
        stored = (stored != 0) != (s->sign < 0);
    } else if (s->sign < 0 && stored != INT32_MIN) {
        stored = -stored;
    }
    memcpy(at, &stored, sizeof stored);
}

int32_t khz_signal_find(const khz_signal *table, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}
