/* Many instances of one model side by side: instance i at memory + i*stride.  In CUDA each door is a kernel, one thread
 * an instance; in C it is a function that takes one instance after the other.  Doors of a model M:
 *
 *     M_size(&size)                                    bytes of an instance; a stride is a multiple of 64
 *     M_prepare(memory, stride, n)                     defaults
 *     M_put(memory, stride, n, offset, values)         one number of each instance: a parameter, an input
 *     M_start(memory, stride, n, start, status)        initial equations; status [n]: khz_status
 *     M_steps(memory, stride, n, n_steps)              so many steps of each, until its run ends
 *     M_take(memory, stride, n, offset, values)
 *
 * An offset is one in the instance: M_place(p, V_mass).  Memory that another program of the same number type has
 * started (khz_stepper_start) goes on here, with the same bits in C. */

#ifdef __CUDACC__
#define KHZ_EACH(i, n)                                                                                                 \
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                                                  \
    if (i < (n))
#else
#define KHZ_EACH(i, n) for (int64_t i = 0; i < (n); i++)
#endif

KHZ_CODE khz_stepper *khz_member(unsigned char *memory, size_t stride, int64_t i)
{
    return (khz_stepper *)(void *)(memory + (size_t)i * stride);
}

KHZ_CODE khz_real *khz_member_number(unsigned char *memory, size_t stride, int64_t i, size_t offset)
{
    return khz_reals(khz_stepper_instance(khz_member(memory, stride, i)), offset);
}

/* As a stepper is told them: the period of all internal steps. */
KHZ_CODE khz_step_settings khz_member_settings(void)
{
    khz_step_settings s = khz_made_settings;
    s.period_ns *= s.internal_steps;
    return s;
}

KHZ_DOOR void KHZ_OF_MODEL(size)(size_t *size);
KHZ_DOOR void KHZ_OF_MODEL(prepare)(unsigned char *memory, size_t stride, int64_t n);
KHZ_DOOR void KHZ_OF_MODEL(put)(unsigned char *memory, size_t stride, int64_t n, size_t offset, const khz_real *values);
KHZ_DOOR void KHZ_OF_MODEL(start)(unsigned char *memory, size_t stride, int64_t n, double start, int32_t *status);
KHZ_DOOR void KHZ_OF_MODEL(steps)(unsigned char *memory, size_t stride, int64_t n, int64_t n_steps);
KHZ_DOOR void KHZ_OF_MODEL(take)(unsigned char *memory, size_t stride, int64_t n, size_t offset, khz_real *values);

KHZ_DOOR void KHZ_OF_MODEL(size)(size_t *size)
{
    const khz_step_settings settings = khz_member_settings();
    *size = khz_stepper_size(&this_model, &settings);
}

KHZ_DOOR void KHZ_OF_MODEL(prepare)(unsigned char *memory, size_t stride, int64_t n)
{
    const khz_step_settings settings = khz_member_settings();
    KHZ_EACH(i, n) { (void)khz_stepper_prepare(khz_member(memory, stride, i), &this_model, &settings); }
}

KHZ_DOOR void KHZ_OF_MODEL(put)(unsigned char *memory, size_t stride, int64_t n, size_t offset, const khz_real *values)
{
    KHZ_EACH(i, n) { *khz_member_number(memory, stride, i, offset) = values[i]; }
}

KHZ_DOOR void KHZ_OF_MODEL(start)(unsigned char *memory, size_t stride, int64_t n, double start, int32_t *status)
{
    KHZ_EACH(i, n) { status[i] = (int32_t)khz_stepper_start(khz_member(memory, stride, i), start); }
}

KHZ_DOOR void KHZ_OF_MODEL(steps)(unsigned char *memory, size_t stride, int64_t n, int64_t n_steps)
{
    KHZ_EACH(i, n)
    {
        khz_stepper *const s = khz_member(memory, stride, i);
        for (int64_t k = 0; k < n_steps && (s->flags & (uint32_t)KHZ_STEP_TERMINATED) == 0; k++) {
            (void)khz_stepper_step(s);
        }
    }
}

KHZ_DOOR void KHZ_OF_MODEL(take)(unsigned char *memory, size_t stride, int64_t n, size_t offset, khz_real *values)
{
    KHZ_EACH(i, n) { values[i] = *khz_member_number(memory, stride, i, offset); }
}
