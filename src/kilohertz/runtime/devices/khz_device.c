#include "khz_device.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "khz_address.h"
#include "khz_drivers.h"

const khz_device_class *const *khz_device_all(void) { return khz_linked_drivers; }

const khz_device_class *khz_device_find(const char *name)
{
    for (int i = 0; khz_linked_drivers[i] != NULL; i++) {
        if (strcmp(khz_linked_drivers[i]->name, name) == 0) {
            return khz_linked_drivers[i];
        }
    }
    return NULL;
}

const char *khz_config_text(const khz_device_config *c, const char *key, const char *fallback)
{
    for (int32_t i = 0; i < c->n_settings; i++) {
        if (strcmp(c->settings[i].key, key) == 0) {
            return c->settings[i].value;
        }
    }
    return fallback;
}

int64_t khz_config_integer(const khz_device_config *c, const char *key, int64_t fallback, int64_t low, int64_t high,
                           int *good)
{
    const char *text = khz_config_text(c, key, NULL);
    if (text == NULL) {
        return fallback;
    }
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 0);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high) {
        *good = 0;
        return fallback;
    }
    return value;
}

static double real_of(const char *text, double fallback, int *good)
{
    if (text == NULL) {
        return fallback;
    }
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || isnan(value)) {
        *good = 0;
        return fallback;
    }
    return value;
}

double khz_config_real(const khz_device_config *c, const char *key, double fallback, int *good)
{
    return real_of(khz_config_text(c, key, NULL), fallback, good);
}

int khz_config_flag(const khz_device_config *c, const char *key, int fallback, int *good)
{
    const char *text = khz_config_text(c, key, NULL);
    if (text == NULL) {
        return fallback;
    }
    if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0) {
        return 1;
    }
    if (strcmp(text, "false") != 0 && strcmp(text, "0") != 0) {
        *good = 0;
    }
    return 0;
}

const char *khz_config_signal(const khz_device_config *c, int direction, int32_t index, const char *key,
                              const char *fallback)
{
    char full[128];
    const int n =
        snprintf(full, sizeof full, "%s.%ld.%s", direction == KHZ_RECEIVE ? "receive" : "send", (long)index, key);
    return n > 0 && (size_t)n < sizeof full ? khz_config_text(c, full, fallback) : fallback;
}

double khz_config_signal_real(const khz_device_config *c, int direction, int32_t index, const char *key,
                              double fallback, int *good)
{
    return real_of(khz_config_signal(c, direction, index, key, NULL), fallback, good);
}

int32_t khz_config_count(const khz_device_config *c, int direction, int *good)
{
    const char *key = direction == KHZ_RECEIVE ? "n_receive" : "n_send";
    return (int32_t)khz_config_integer(c, key, 0, 0, KHZ_DEVICE_VALUES, good);
}

khz_status khz_device_fail(char *message, size_t n_message, khz_status status, const char *format, ...)
{
    if (message != NULL && n_message > 0) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(message, n_message, format, arguments);
        va_end(arguments);
    }
    return status;
}

khz_status khz_device_listen(const khz_device_config *c, const char *text, int *listener, char *message,
                             size_t n_message)
{
    struct sockaddr_storage local;
    socklen_t n_local;
    if (!khz_address_read(text, &local, &n_local)) {
        return khz_device_fail(message, n_message, KHZ_DOMAIN, "%s: listen: \"%s\" is no address", c->name, text);
    }
    *listener = khz_listen(&local, n_local);
    if (*listener < 0) {
        return khz_device_fail(message, n_message, KHZ_UNSUPPORTED, "%s: cannot listen on %s: %s", c->name, text,
                               strerror(errno));
    }
    return KHZ_OK;
}
