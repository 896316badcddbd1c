/* Signals of a built executable: every name that can be recorded, watched, set or connected.
 * `signals.c` of a model holds one table of these; the sign is -1 where the name is the negative of what is stored
 * (for a Boolean: its opposite). */
#ifndef KHZ_SIGNAL_H
#define KHZ_SIGNAL_H

#include "khz_base.h"

enum { KHZ_SIGNAL_LOCAL = 0, KHZ_SIGNAL_INPUT = 1, KHZ_SIGNAL_OUTPUT = 2, KHZ_SIGNAL_PARAMETER = 3 };

typedef struct khz_signal {
    const char *name;
    const char *unit;
    const char *description;
    int32_t type;
    int32_t causality;
    int64_t offset; /* in the instance, bytes */
    int32_t sign;
    int32_t tunable;      /* may be set while the model runs */
    int32_t is_view;      /* computed only where somebody looks (khz_model.view) */
    double least, most;   /* that it may be set to */
    const char *literals; /* of an enumeration, with blanks between them, from 1 on; "" of others */
} khz_signal;

/* A name with what it names.  Allocates: never.  Call from: anywhere. */
double khz_signal_get(const void *instance, const khz_signal *s);
void khz_signal_set(void *instance, const khz_signal *s, double value);
/* Position of a name in the table, -1 where it is not there. */
int32_t khz_signal_find(const khz_signal *table, int32_t n, const char *name);

#endif
