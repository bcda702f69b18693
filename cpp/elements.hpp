// How numbers of the inputs' dtype become numbers to compute with, and back. Included in a unit.

typedef uint16_t u16w __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef uint32_t u32v __attribute__((vector_size(VECTOR_BYTES)));

struct Same32 {
    typedef float T;
    typedef float S;
    static constexpr bool IN_PLACE = true, PAIRS = false;
    INLINE float widen(float x) { return x; }
    INLINE float narrow(float x) { return x; }
};

struct Same64 {
    typedef double T;
    typedef double S;
    static constexpr bool IN_PLACE = true, PAIRS = false;
    INLINE double widen(double x) { return x; }
    INLINE double narrow(double x) { return x; }
};

INLINE float of_bits(uint32_t bits) {
    float x;
    __builtin_memcpy(&x, &bits, 4);
    return x;
}
INLINE uint32_t bits_of(float x) {
    uint32_t bits;
    __builtin_memcpy(&bits, &x, 4);
    return bits;
}

struct Brain16 {
    typedef float T;
    typedef uint16_t S;
#if defined(__AVX512BF16__)
    static constexpr bool IN_PLACE = false, PAIRS = true;  // dots take pairs of them as they are
#else
    static constexpr bool IN_PLACE = false, PAIRS = false;
#endif
    INLINE float widen(uint16_t x) { return of_bits((uint32_t)x << 16); }
    INLINE f32v widen(u16w x) { return (f32v)(__builtin_convertvector(x, i32v) << 16); }
    INLINE uint16_t narrow(float x) {  // to nearest, ties to even
        const uint32_t bits = bits_of(x);
        if (x != x) return (uint16_t)(bits >> 16 | 0x40);
        return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    INLINE u16w narrow(f32v x) {
        const u32v bits = (u32v)x, near = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        return __builtin_convertvector((i32v)(x == x) ? near : bits >> 16 | 0x40, u16w);
    }
};

struct Half16 {
    typedef float T;
    typedef uint16_t S;
    static constexpr bool IN_PLACE = false, PAIRS = false;
    INLINE float widen(uint16_t x) {
        const uint32_t size = x & 0x7fff, sign = (uint32_t)(x & 0x8000) << 16;
        const float value = of_bits(size << 13) * 0x1p112f;  // exact, subnormal numbers too
        return of_bits(bits_of(value) | sign | (size >= 0x7c00 ? 0x7f800000u : 0u));
    }
    INLINE f32v widen(u16w x) {
        const i32v all = __builtin_convertvector(x, i32v), size = all & 0x7fff;
        const f32v value = (f32v)(size << 13) * 0x1p112f;
        const i32v special = (i32v)(size >= 0x7c00) & 0x7f800000;
        return (f32v)((i32v)value | ((all & 0x8000) << 16) | special);
    }
    INLINE uint16_t narrow(float x) {  // to nearest, ties to even
        const uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
        if (size > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x3ff));
        if (size >= 0x477ff000) return (uint16_t)(sign | 0x7c00);  // rounds beyond 65504
        if (size >= 0x38800000) {
            const uint32_t half = size - 0x38000000;
            return (uint16_t)(sign | (half + 0xfff + (half >> 13 & 1)) >> 13);
        }
        // subnormal: adding 2^-1 puts the half's last bit at the float's last bit
        return (uint16_t)(sign | (bits_of(of_bits(size) + 0.5f) - 0x3f000000));
    }
    INLINE u16w narrow(f32v x) {
        const u32v bits = (u32v)x, sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
        const u32v half = size - 0x38000000;
        u32v found = (half + 0xfff + (half >> 13 & 1)) >> 13;
        const u32v small = (u32v)((f32v)size + 0.5f) - 0x3f000000;
        found = (i32v)size >= 0x38800000 ? found : small;
        found = (i32v)size >= 0x477ff000 ? u32v{} + 0x7c00 : found;
        found = (i32v)size > 0x7f800000 ? (size >> 13 & 0x3ff) | 0x7e00 : found;
        return __builtin_convertvector(sign | found, u16w);
    }
};

// Copy `count` rows of `dim` numbers, widened, next to one another.
template <class E>
static void widen_rows(const typename E::S* from, int64_t row, int64_t step, int64_t count,
                       int64_t dim, typename E::T* to) {
    typedef typename E::T T;
    constexpr int W = lanes<T>();
    for (int64_t i = 0; i < count; i++, from += row, to += dim) {
        int64_t d = 0;
        if constexpr (!E::IN_PLACE) {
            if (step == 1)
                for (; d + W <= dim; d += W) {
                    u16w x;
                    __builtin_memcpy(&x, from + d, sizeof x);
                    store_unaligned<T>(to + d, E::widen(x));
                }
        }
        for (; d < dim; d++) to[d] = E::widen(from[d * step]);
    }
}
