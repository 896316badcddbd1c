/* Off-line: steps with a profile, their records side by side in memory. */
#ifndef KHZ_PROFILED_H
#define KHZ_PROFILED_H

#include "khz_probe.h"
#include "khz_stepper.h"

/* Attach a profile to a stepper as the only model of its thread, with the timed copy of the model; NULL detaches it. */
KHZ_EXPORT void khz_profiled_attach(khz_stepper *s, khz_profile *p, const khz_model *timed);
/* Make n steps; records [n * khz_profile_record_size].  The number of steps made: fewer where the model ended. */
KHZ_EXPORT uint64_t khz_profiled_steps(khz_stepper *s, khz_profile *p, uint64_t n, unsigned char *records);
/* Sizes and calibration, for a caller that sees no headers. */
KHZ_EXPORT size_t khz_profiled_size(int32_t n_places);
KHZ_EXPORT size_t khz_profiled_record_size(int32_t n_places);
KHZ_EXPORT void khz_profiled_init(khz_profile *p, int32_t n_places, int mode);
/* What was calibrated: ns of a tick, of a reading, khz_probe_costs in their order; 1: counter.  costs [11] */
KHZ_EXPORT void khz_profiled_costs(const khz_profile *p, double *costs);
/* 1: this program has probes (it was compiled with KHZ_PROFILE). */
KHZ_EXPORT int32_t khz_profiled_is_built_in(void);

#endif
