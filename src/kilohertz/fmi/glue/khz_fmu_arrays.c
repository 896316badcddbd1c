/* Arrays of an FMU: value references that stand for several values. */
#include "khz_fmu.h"

static const khz_fmu_table *const table = &khz_fmu_described;

/* How many values a reference stands for. */
static size_t width(uint32_t reference)
{
    const uint32_t i = reference - table->n_values;
    return reference >= table->n_values && i < table->n_arrays ? table->arrays[i].n : 1U;
}

static uint32_t member(uint32_t reference, size_t i)
{
    const uint32_t array = reference - table->n_values;
    const int is_array = reference >= table->n_values && array < table->n_arrays;
    return is_array ? table->members[table->arrays[array].first + i] : reference;
}

uint32_t khz_fmu_next(const uint32_t *references, khz_fmu_place *p)
{
    if (p->value == width(references[p->at])) {
        p->at++;
        p->value = 0;
    }
    return member(references[p->at], p->value++);
}

int khz_fmu_fits(const khz_fmu *f, const uint32_t *references, size_t n, size_t n_values)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        found += width(references[i]);
    }
    if (found != n_values) {
        (void)khz_fmu_refuse(f, "there are not as many values as the value references stand for");
    }
    return found == n_values;
}

const uint32_t *khz_fmu_single(const khz_fmu *f, const uint32_t *references, size_t n, size_t n_values, uint32_t *room)
{
    if (!khz_fmu_fits(f, references, n, n_values)) {
        return NULL;
    }
    if (n_values > table->n_values) {
        (void)khz_fmu_refuse(f, "more derivatives are asked for in one call than there are values");
        return NULL;
    }
    khz_fmu_place p = {0, 0};
    for (size_t i = 0; i < n_values; i++) {
        room[i] = khz_fmu_next(references, &p);
    }
    return room;
}
