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
INLINE f32v interleave_low(f32v a, f32v b) {
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
INLINE f32v interleave_high(f32v a, f32v b) {
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
INLINE f64v interleave_low(f64v a, f64v b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
INLINE f64v interleave_high(f64v a, f64v b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
#include "lanes_by_integers.hpp"
