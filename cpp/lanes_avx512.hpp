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
#define TURNING(V, LOW, HIGH, REAL)                                                     \
    INLINE V interleave_low(V a, V b) { return (V)LOW((REAL)a, (REAL)b); }              \
    INLINE V interleave_high(V a, V b) { return (V)HIGH((REAL)a, (REAL)b); }
TURNING(f32v, _mm512_unpacklo_ps, _mm512_unpackhi_ps, __m512)
TURNING(f64v, _mm512_unpacklo_pd, _mm512_unpackhi_pd, __m512d)
TURNING(u8v, _mm512_unpacklo_epi8, _mm512_unpackhi_epi8, __m512i)
#undef TURNING
template <class V> INLINE V even_parts(V a, V b) {
    return (V)_mm512_shuffle_i32x4((__m512i)a, (__m512i)b, 0x88);
}
template <class V> INLINE V odd_parts(V a, V b) {
    return (V)_mm512_shuffle_i32x4((__m512i)a, (__m512i)b, 0xdd);
}
template <class M> INLINE M bytes_as(const uint8_t* from) {
    if constexpr (sizeof(M{}[0]) == 4)
        return (M)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)from));
    else
        return (M)_mm512_cvtepi8_epi64(_mm_loadl_epi64((const __m128i*)from));
}
