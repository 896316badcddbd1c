/* What timing itself costs on this machine, found by timing nothing. */
#ifndef KHZ_CALIBRATION_H
#define KHZ_CALIBRATION_H

#include "khz_probe.h"

/* The costs of a profile whose clock is chosen, and the borders of its narrow window.  Call before the first cycle. */
void khz_profile_calibrate(khz_profile *p);

#endif
