// x86-64-v3: vectors of 256 bits.
INLINE f32v fma(f32v a, f32v b, f32v c) {
    return (f32v)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
INLINE f64v fma(f64v a, f64v b, f64v c) {
    return (f64v)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
INLINE f32v larger(f32v a, f32v x) { return (f32v)_mm256_max_ps((__m256)a, (__m256)x); }
INLINE f64v larger(f64v a, f64v x) { return (f64v)_mm256_max_pd((__m256d)a, (__m256d)x); }
INLINE uint32_t bits(i32v m) { return (uint32_t)_mm256_movemask_ps((__m256)m); }
INLINE uint32_t bits(i64v m) { return (uint32_t)_mm256_movemask_pd((__m256d)m); }
#define TURNING(V, LOW, HIGH, REAL)                                                     \
    INLINE V interleave_low(V a, V b) { return (V)LOW((REAL)a, (REAL)b); }              \
    INLINE V interleave_high(V a, V b) { return (V)HIGH((REAL)a, (REAL)b); }
TURNING(f32v, _mm256_unpacklo_ps, _mm256_unpackhi_ps, __m256)
TURNING(f64v, _mm256_unpacklo_pd, _mm256_unpackhi_pd, __m256d)
TURNING(u8v, _mm256_unpacklo_epi8, _mm256_unpackhi_epi8, __m256i)
#undef TURNING
template <class V> INLINE V even_parts(V a, V b) {
    return (V)_mm256_permute2f128_si256((__m256i)a, (__m256i)b, 0x20);
}
template <class V> INLINE V odd_parts(V a, V b) {
    return (V)_mm256_permute2f128_si256((__m256i)a, (__m256i)b, 0x31);
}
template <class M> INLINE M bytes_as(const uint8_t* from) {
    if constexpr (sizeof(M{}[0]) == 4)
        return (M)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)from));
    else
        return (M)_mm256_cvtepi8_epi64(_mm_loadu_si32(from));
}
#include "lanes_by_integers.hpp"
