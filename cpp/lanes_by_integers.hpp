// Rounding and powers of two without instructions of their own.
INLINE f32v rounded(f32v x) { return (x + 12582912.0f) - 12582912.0f; }
INLINE f64v rounded(f64v x) { return (x + 6755399441055744.0) - 6755399441055744.0; }
INLINE f32v scaled(f32v p, f32v n) {
    const i32v exponent = ((i32v)(n + 12582912.0f) << 23) & (i32v)(n == n);  // NaN keeps its bits
    return (f32v)((i32v)p + exponent);
}
INLINE f64v scaled(f64v p, f64v n) {
    const i64v exponent = ((i64v)(n + 6755399441055744.0) << 52) & (i64v)(n == n);
    return (f64v)((i64v)p + exponent);
}
