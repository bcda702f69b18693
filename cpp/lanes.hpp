// Vectors of float and double, in the compiler's own vector extension, for the instruction set that
// the including unit is compiled for. Included inside the unit's namespace, after VECTOR_BYTES is
// defined and one of lanes_*.hpp, which spell what the extension lacks:
//
//   fma(a, b, c)   a * b + c, rounded once where the machine can
//   larger(a, x)   the larger one; x where either is NaN
//   scaled(p, n)   p * 2^n for whole n <= 0 that leads to a normal number
//   bits(m)        which lanes of a mask are set, the first in the lowest bit
//   bytes_as<M>(p) as many bytes as there are lanes, in lanes
//   interleave_low, interleave_high   the lanes of two, by turns, of the lower or upper half of each
//                  128 bits
//   even_parts, odd_parts             every other 128 bits of one, then of the other
//
// Nothing here comes from the standard library: the linker may keep one unit's copy of a shared
// inline function and run it on a machine that lacks its instructions.

template <class T> struct Of;

template <> struct Of<float> {
    typedef f32v V;
    typedef i32v M;
    typedef int32_t I;
    static constexpr float LOWEST = -3.40282346638528859812e+38f, LOG2E = 1.44269504088896340736f,
                           NOTHING = -87.3365f;  // exp of less counts as 0: it is no normal number
};

template <> struct Of<double> {
    typedef f64v V;
    typedef i64v M;
    typedef int64_t I;
    static constexpr double LOWEST = -1.79769313486231570815e+308,
                            LOG2E = 1.44269504088896340736, NOTHING = -708.396;
};

template <class M> INLINE bool any(M m) { return bits(m) != 0; }  // whether a lane is set

template <class T> constexpr int lanes() { return VECTOR_BYTES / (int)sizeof(T); }

template <class T> INLINE typename Of<T>::V splat(T x) { return x - typename Of<T>::V{}; }

template <class T> INLINE typename Of<T>::V load(const T* p) {
    return *(const typename Of<T>::V*)p;
}
template <class T> INLINE typename Of<T>::V load_unaligned(const T* p) {
    typename Of<T>::V v;
    __builtin_memcpy(&v, p, VECTOR_BYTES);
    return v;
}
template <class T> INLINE void store(T* p, typename Of<T>::V v) { *(typename Of<T>::V*)p = v; }
template <class T> INLINE void store_unaligned(T* p, typename Of<T>::V v) {
    __builtin_memcpy(p, &v, VECTOR_BYTES);
}

// (2^r - 1) / r for |r| <= 1/2 as the series of the exponential, to the last digit.
INLINE f32v series(f32v r) {
    f32v p = splat(1.525273380405984e-05f);
    p = fma(p, r, splat(1.540353039338161e-04f));
    p = fma(p, r, splat(1.3333558146428441e-03f));
    p = fma(p, r, splat(9.6181291076284769e-03f));
    p = fma(p, r, splat(5.5504108664821576e-02f));
    p = fma(p, r, splat(2.4022650695910069e-01f));
    return fma(p, r, splat(6.9314718055994529e-01f));
}
INLINE f64v series(f64v r) {
    f64v p = splat(1.3691488853904124e-12);
    p = fma(p, r, splat(2.5678435993488196e-11));
    p = fma(p, r, splat(4.4455382718708097e-10));
    p = fma(p, r, splat(7.0549116208011209e-09));
    p = fma(p, r, splat(1.0178086009239696e-07));
    p = fma(p, r, splat(1.3215486790144305e-06));
    p = fma(p, r, splat(1.5252733804059837e-05));
    p = fma(p, r, splat(1.5403530393381608e-04));
    p = fma(p, r, splat(1.3333558146428441e-03));
    p = fma(p, r, splat(9.6181291076284769e-03));
    p = fma(p, r, splat(5.5504108664821576e-02));
    p = fma(p, r, splat(2.4022650695910069e-01));
    return fma(p, r, splat(6.9314718055994529e-01));
}

// 2^r for |r| <= 1/2. The last coefficient is 1, so that exp(0) is exactly 1: a rescaling by it
// must change nothing, however often it happens.
INLINE f32v power(f32v r) {
    f32v p = splat(1.326472533e-03f);
    p = fma(p, r, splat(9.671512770e-03f));
    p = fma(p, r, splat(5.550733749e-02f));
    p = fma(p, r, splat(2.402224208e-01f));
    p = fma(p, r, splat(6.931469776e-01f));
    return fma(p, r, splat(1.0f));
}
INLINE f64v power(f64v r) { return fma(series(r), r, splat(1.0)); }

// exp(x) for x <= 0: exactly 1 at 0, exactly 0 below NOTHING and so at -inf, NaN for NaN. Numbers below
// the normal ones are not made: one costs some processors 200 cycles, and 130 in each product.
template <class T> INLINE typename Of<T>::V exp_of(typename Of<T>::V x) {
    const auto log2e = splat(Of<T>::LOG2E), least = splat(Of<T>::NOTHING);
    const auto some = larger(least, x), n = rounded(some * log2e);
    const auto found = scaled(power(fma(some, log2e, -n)), n);
    return x < least ? typename Of<T>::V{} : found;
}

// tanh, with an error relative to its size: as expm1(2x) / (expm1(2x) + 2) of -|x|.
template <class T> INLINE typename Of<T>::V tanh_of(typename Of<T>::V x) {
    const auto zero = splat((T)0), one = splat((T)1);
    auto y = x < zero ? x + x : -(x + x);  // NaN stays
    y = larger(splat((T)-60), y);
    const auto log2e = splat(Of<T>::LOG2E);
    const auto n = rounded(y * log2e);
    const auto r = fma(y, log2e, -n);
    const auto two_n = scaled(one, n);
    const auto less_one = fma(two_n, series(r) * r, two_n - one);
    const auto size = -less_one / (less_one + splat((T)2));
    return x < zero ? -size : size;
}

constexpr int SIXTEENS = VECTOR_BYTES / 16;  // parts of 128 bits, within which interleaving works

constexpr int swapped(int part) { return SIXTEENS == 4 ? (part & 1) << 1 | part >> 1 : part; }

// Where vector i of W has to stand before turning, so that its lane is lane i at the end.
template <int W, int WITHIN> constexpr int entry(int i) {
    return i % WITHIN * (W / WITHIN) + swapped(i / WITHIN);
}
template <class V> constexpr int within() { return 16 / (int)sizeof(V{}[0]); }

// Turn W vectors of W lanes: lane j of vector i becomes lane i of vector j. Interleaving the first
// half with the second half again and again is the whole of it within 128 bits; then the parts find
// their places. Bytes are turned within each 128 bits alone.
template <int W, class V> INLINE void transpose(V* v) {
    constexpr int WITHIN = W < within<V>() ? W : within<V>();
    V t[W];
#pragma GCC unroll 16
    for (int i = 0; i < W; i++) t[entry<W, WITHIN>(i)] = v[i];
#pragma GCC unroll 4
    for (int step = 1; step < WITHIN; step *= 2) {
        V s[W];
#pragma GCC unroll 8
        for (int i = 0; i < W / 2; i++) {
            s[2 * i] = interleave_low(t[i], t[i + W / 2]);
            s[2 * i + 1] = interleave_high(t[i], t[i + W / 2]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < W; i++) t[i] = s[i];
    }
    if constexpr (W > WITHIN)
#pragma GCC unroll 2
        for (int half = W / 2; half >= WITHIN; half /= 2)
#pragma GCC unroll 8
            for (int pair = 0; pair < W / 2; pair++) {
                const int i = pair / half * 2 * half + pair % half;
                const V low = even_parts(t[i], t[i + half]);
                t[i + half] = odd_parts(t[i], t[i + half]);
                t[i] = low;
            }
#pragma GCC unroll 16
    for (int i = 0; i < W; i++) v[i] = t[swapped(i / WITHIN) * WITHIN + i % WITHIN];
}

// Add up the lanes of each of W vectors: lane i is the sum of vector i. As turning does, but each
// pair becomes one.
template <int W, class V> INLINE V add_lanes(const V* v) {
    constexpr int WITHIN = within<V>();
    V t[W];
#pragma GCC unroll 16
    for (int i = 0; i < W; i++) t[entry<W, WITHIN>(i)] = v[i];
    int half = W / 2;
#pragma GCC unroll 4
    for (int step = 1; step < WITHIN; step *= 2, half /= 2)
#pragma GCC unroll 8
        for (int i = 0; i < half; i++)
            t[i] = interleave_low(t[i], t[i + half]) + interleave_high(t[i], t[i + half]);
    if constexpr (W > WITHIN)
#pragma GCC unroll 2
        for (; half > 0; half /= 2)
#pragma GCC unroll 2
            for (int i = 0; i < half; i++)
                t[i] = even_parts(t[i], t[i + half]) + odd_parts(t[i], t[i + half]);
    return t[0];
}
