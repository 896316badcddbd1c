#include "khz_method.h"

#include <string.h>

int32_t khz_method_index(const char *name)
{
    for (int32_t i = 0; i < khz_n_methods; i++) {
        if (strcmp(khz_methods[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}
