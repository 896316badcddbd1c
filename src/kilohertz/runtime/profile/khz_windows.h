/* Which cycles are timed, and which of their borders: as many as the time that profiling may cost pays for. */
#ifndef KHZ_WINDOWS_H
#define KHZ_WINDOWS_H

#include "khz_probe.h"

enum { KHZ_UNTIMED = 0x7fffffff }; /* more borders than there are */

/* Plan the cycle that begins; give the outer borders until its window does, or KHZ_UNTIMED. */
int32_t khz_plan_window(khz_profile *p); /* ALWAYS */
int32_t khz_plan_burst(khz_profile *p);  /* BURST */

/* After a cycle with a window: where the next one begins. */
void khz_move_window(khz_profile *p);

/* Nothing is known of the cycles yet; `khz_profile_weigh` walks to the usual one. */
void khz_weigh_anew(khz_profile *p);

#endif
