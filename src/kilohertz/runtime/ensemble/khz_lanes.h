/* Two numbers side by side for a compiler that has no vectors of C: CUDA.  Element by element as khz_vector.h has it,
 * in the same memory. */
#ifndef KHZ_LANES_H
#define KHZ_LANES_H

template <size_t A> struct __align__(A) khz_two {
    khz_real v[2];
    __device__ khz_real &operator[](int i) { return v[i]; }
    __device__ khz_real operator[](int i) const { return v[i]; }
    template <size_t B> __device__ operator khz_two<B>() const { return {{v[0], v[1]}}; }
    template <size_t B> __device__ khz_two &operator+=(const khz_two<B> &b) { return *this = *this + b; }
    template <size_t B> __device__ khz_two &operator-=(const khz_two<B> &b) { return *this = *this - b; }
    __device__ khz_two &operator*=(khz_real b) { return *this = *this * b; }
    __device__ khz_two operator-() const { return {{-v[0], -v[1]}}; }
};

#define KHZ_OPERATOR(op)                                                                                               \
    template <size_t A, size_t B> __device__ khz_two<A> operator op(const khz_two<A> &a, const khz_two<B> &b)          \
    {                                                                                                                  \
        return {{a.v[0] op b.v[0], a.v[1] op b.v[1]}};                                                                 \
    }                                                                                                                  \
    template <size_t A> __device__ khz_two<A> operator op(const khz_two<A> &a, khz_real b)                             \
    {                                                                                                                  \
        return {{a.v[0] op b, a.v[1] op b}};                                                                           \
    }                                                                                                                  \
    template <size_t A> __device__ khz_two<A> operator op(khz_real a, const khz_two<A> &b)                             \
    {                                                                                                                  \
        return {{a op b.v[0], a op b.v[1]}};                                                                           \
    }
KHZ_OPERATOR(+)
KHZ_OPERATOR(-)
KHZ_OPERATOR(*)
KHZ_OPERATOR(/)
#undef KHZ_OPERATOR

typedef khz_two<sizeof(khz_real)> khz_pair;
typedef khz_two<sizeof(khz_real)> khz_loose_lanes;
typedef khz_two<2 * sizeof(khz_real)> khz_lanes;

#endif
