// x86-64-v2 and arm64: vectors of 128 bits.
#if defined(__aarch64__)
INLINE f32v fma(f32v a, f32v b, f32v c) {
    return (f32v)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
INLINE f64v fma(f64v a, f64v b, f64v c) {
    return (f64v)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
INLINE uint32_t bits(i32v m) { return vaddvq_u32((uint32x4_t)(m & (i32v){1, 2, 4, 8})); }
INLINE uint32_t bits(i64v m) { return (uint32_t)vaddvq_u64((uint64x2_t)(m & (i64v){1, 2})); }
template <class M> INLINE M bytes_as(const uint8_t* from) {
    uint32_t some = 0;
    __builtin_memcpy(&some, from, sizeof(M) / sizeof(M{}[0]));
    const int32x4_t wide = vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(some))));
    if constexpr (sizeof(M{}[0]) == 4) return (M)wide;
    else return (M)vmovl_s32(vget_low_s32(wide));
}
#else
INLINE f32v fma(f32v a, f32v b, f32v c) { return a * b + c; }  // no such instruction here: two roundings
INLINE f64v fma(f64v a, f64v b, f64v c) { return a * b + c; }
INLINE uint32_t bits(i32v m) { return (uint32_t)_mm_movemask_ps((__m128)m); }
INLINE uint32_t bits(i64v m) { return (uint32_t)_mm_movemask_pd((__m128d)m); }
template <class M> INLINE M bytes_as(const uint8_t* from) {
    if constexpr (sizeof(M{}[0]) == 4) return (M)_mm_cvtepi8_epi32(_mm_loadu_si32(from));
    else return (M)_mm_cvtepi8_epi64(_mm_loadu_si16(from));
}
#endif
INLINE f32v larger(f32v a, f32v x) { return a > x ? a : x; }
INLINE f64v larger(f64v a, f64v x) { return a > x ? a : x; }
INLINE f32v interleave_low(f32v a, f32v b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
INLINE f32v interleave_high(f32v a, f32v b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
INLINE f64v interleave_low(f64v a, f64v b) { return __builtin_shufflevector(a, b, 0, 2); }
INLINE f64v interleave_high(f64v a, f64v b) { return __builtin_shufflevector(a, b, 1, 3); }
INLINE u8v interleave_low(u8v a, u8v b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
INLINE u8v interleave_high(u8v a, u8v b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#include "lanes_by_integers.hpp"
