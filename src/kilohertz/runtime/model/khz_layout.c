#include "khz_layout.h"

#include <string.h>

const char *khz_word(const khz_layout *layout, const char *prefix, int64_t value)
{
    const size_t n = strlen(prefix);
    for (int32_t i = 0; i < layout->n_enumerators; i++) {
        const khz_enumerator *const e = &layout->enumerators[i];
        if (e->value == value && strncmp(e->word, prefix, n) == 0) {
            return e->word + n;
        }
    }
    return "?";
}

static uint32_t hash_bytes(uint32_t hash, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    }
    return hash;
}

static uint32_t hash_number(uint32_t hash, uint64_t number)
{
    char bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (char)(unsigned char)(number >> (8 * i));
    }
    return hash_bytes(hash, bytes, sizeof bytes);
}

uint32_t khz_layout_digest(const khz_layout *layout)
{
    uint32_t hash = 2166136261u;
    for (int32_t i = 0; i < layout->n_fields; i++) {
        const khz_field *const f = &layout->fields[i];
        hash = hash_bytes(hash, f->structure, strlen(f->structure));
        hash = hash_bytes(hash, f->name, strlen(f->name));
        hash = hash_number(hash_number(hash, f->offset), f->size);
    }
    for (int32_t i = 0; i < layout->n_enumerators; i++) {
        const khz_enumerator *const e = &layout->enumerators[i];
        hash = hash_number(hash_bytes(hash, e->word, strlen(e->word)), (uint64_t)e->value);
    }
    return hash;
}
