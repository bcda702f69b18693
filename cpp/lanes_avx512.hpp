// x86-64-v4: vectors of 512 bits.
INLINE f32v fma(f32v a, f32v b, f32v c) {
    return (f32v)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
INLINE f64v fma(f64v a, f64v b, f64v c) {
    return (f64v)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
INLINE f32v larger(f32v a, f32v x) { return (f32v)_mm512_max_ps((__m512)a, (__m512)x); }
INLINE f64v larger(f64v a, f64v x) { return (f64v)_mm512_max_pd((__m512d)a, (__m512d)x); }
INLINE f32v rounded(f32v x) { return (f32v)_mm512_roundscale_ps((__m512)x, 8); }
INLINE f64v rounded(f64v x) { return (f64v)_mm512_roundscale_pd((__m512d)x, 8); }
INLINE f32v scaled(f32v p, f32v n) { return (f32v)_mm512_scalef_ps((__m512)p, (__m512)n); }
INLINE f64v scaled(f64v p, f64v n) { return (f64v)_mm512_scalef_pd((__m512d)p, (__m512d)n); }
INLINE uint32_t bits(i32v m) { return _mm512_movepi32_mask((__m512i)m); }
INLINE uint32_t bits(i64v m) { return _mm512_movepi64_mask((__m512i)m); }
INLINE f32v interleave_low(f32v a, f32v b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
INLINE f32v interleave_high(f32v a, f32v b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
INLINE f64v interleave_low(f64v a, f64v b) {
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
INLINE f64v interleave_high(f64v a, f64v b) {
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
