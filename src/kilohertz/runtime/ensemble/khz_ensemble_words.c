/* What a model says, without numbers in it: khz_text.h for a target without texts. */
static const char *khz_concat(khz_context *c, const char *a, const char *b)
{
    (void)c;
    return a[0] != '\0' ? a : b;
}

static const char *khz_string_int(khz_context *c, int32_t x)
{
    (void)c;
    (void)x;
    return "";
}

static const char *khz_string_real(khz_context *c, double x, int32_t significant_digits)
{
    (void)c;
    (void)x;
    (void)significant_digits;
    return "";
}

static const char *khz_pad(khz_context *c, const char *text, int32_t length, int32_t left)
{
    (void)c;
    (void)length;
    (void)left;
    return text;
}

static const char *khz_string_format(khz_context *c, double x, const char *format)
{
    (void)format;
    return khz_string_real(c, x, 6);
}

static void khz_assert(khz_context *c, int is_error, int place, const char *message)
{
    if (is_error) {
        khz_fail_settled(c, KHZ_ASSERTION, place, message);
    } else {
        khz_say(c, KHZ_SAID_WARNING, place, message);
    }
}

static void khz_terminate(khz_context *c, int place, const char *message)
{
    if (c->status == KHZ_OK) {
        khz_say(c, KHZ_SAID_END, place, message);
        khz_fail(c, KHZ_TERMINATED, place, message);
    }
}
