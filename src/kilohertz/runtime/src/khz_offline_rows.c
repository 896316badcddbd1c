/* What every off-line run shares: rows of the recorder, the grid of outputs, the end. */
#include <string.h>

#include "khz_offline.h"

int32_t khz_offline_record(khz_offline *o)
{
    if (o->n_rows == o->capacity) {
        if (o->flush(o->n_rows, o->time) != 0) {
            return KHZ_RUN_STOPPED;
        }
        o->n_rows = 0;
    }
    double *const row = o->rows + (size_t)o->n_rows * (size_t)o->n_columns;
    const char *const base = (const char *)o->instance;
    for (int32_t i = 0; i < o->n_columns; i++) {
        if (o->kind[i] == 0) {
            memcpy(&row[i], base + o->offset[i], sizeof(double));
        } else {
            int32_t value;
            memcpy(&value, base + o->offset[i], sizeof value);
            row[i] = (double)value;
        }
    }
    o->n_rows++;
    return KHZ_OK;
}

double khz_offline_grid(const khz_offline *o, int64_t k)
{
    return k >= o->n_grid ? o->stop : o->start + (double)k * o->grid_step;
}

int32_t khz_offline_finish(khz_offline *o)
{
    khz_context *const c = (khz_context *)o->instance;
    c->phase = KHZ_PHASE_TERMINAL;
    const int32_t status = (int32_t)khz_event(o->model, o->instance);
    c->phase = KHZ_PHASE_CONTINUOUS;
    return status == KHZ_TERMINATED ? KHZ_OK : status;
}

int32_t khz_offline_deliver(khz_offline *o, int32_t status)
{
    const int stopped = o->flush(o->n_rows, o->time);
    o->n_rows = 0;
    return status == KHZ_OK && stopped ? KHZ_RUN_STOPPED : status;
}
