// bfloat16 with the machine's own dot product of pairs: two neighbours along dims, or two keys, are
// multiplied and added to a float at once. Pairs begin at even dims and at even absolute keys, in
// every way to reach a row, so the order of sums is one. Included in a unit that has it.

typedef i32v Pairs;  // two bfloat16 a lane, the first in the low half

INLINE f32v dot(f32v sum, Pairs a, Pairs b) {
    return (f32v)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
}
INLINE Pairs every(uint32_t pair) { return (Pairs)_mm512_set1_epi32((int)pair); }
INLINE uint32_t pair_at(const uint16_t* at) {
    uint32_t pair;
    __builtin_memcpy(&pair, at, 4);
    return pair;
}
// Round two vectors of floats to bfloat16, to nearest even, lane by lane side by side.
INLINE Pairs paired(f32v low, f32v high) {
    const __m512i a = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh((__m512)low));
    const __m512i b = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh((__m512)high));
    return (Pairs)_mm512_or_si512(a, _mm512_slli_epi32(b, 16));
}
// Sixteen numbers of one row beside those of the next.
INLINE Pairs side_by_side(const uint16_t* low, const uint16_t* high) {
    const __m512i a = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)low));
    const __m512i b = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)high));
    return (Pairs)_mm512_or_si512(a, _mm512_slli_epi32(b, 16));
}

// cells[j] = scale * sum over pairs of dims; `dim` dims, an odd last one beside a zero.
template <int MV, int KEYS>
static inline void dot_key_pairs(const uint32_t* __restrict query, const uint16_t* __restrict key,
                                 int64_t row, int64_t dim, float scale, float* __restrict cells,
                                 f32v* largest) {
    f32v sum[KEYS][MV];
#pragma GCC unroll 16
    for (int j = 0; j < KEYS; j++)
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) sum[j][v] = f32v{};
    int64_t d = 0;
    for (; d < dim / 2; d++) {
        Pairs q[MV];
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) q[v] = *(const Pairs*)(query + (d * MV + v) * 16);
#pragma GCC unroll 16
        for (int j = 0; j < KEYS; j++) {
            const Pairs k = every(pair_at(key + j * row + 2 * d));
#pragma GCC unroll 4
            for (int v = 0; v < MV; v++) sum[j][v] = dot(sum[j][v], q[v], k);
        }
    }
    if (dim % 2)
#pragma GCC unroll 16
        for (int j = 0; j < KEYS; j++)
#pragma GCC unroll 4
            for (int v = 0; v < MV; v++)
                sum[j][v] = dot(sum[j][v], *(const Pairs*)(query + (d * MV + v) * 16),
                                every(key[j * row + 2 * d]));
#pragma GCC unroll 16
    for (int j = 0; j < KEYS; j++)
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) {
            const f32v x = sum[j][v] * scale;
            store<float>(cells + (j * MV + v) * 16, x);
            largest[v] = larger(largest[v], x);
        }
}

template <int MV>
static void products_of_pairs(const uint32_t* query, const uint16_t* key, int64_t row, int64_t dim,
                              float scale, int count, float* cells, f32v* largest) {
    int j = 0;
    for (; j + 8 <= count; j += 8)
        dot_key_pairs<MV, 8>(query, key + j * row, row, dim, scale, cells + j * MV * 16, largest);
    for (; j < count; j++)
        dot_key_pairs<MV, 1>(query, key + j * row, row, dim, scale, cells + j * MV * 16, largest);
}

// The same for few rows, lanes along sixteen keys.
template <int ROWS>
static inline void dot_lane_pairs(const uint32_t* __restrict query, const uint16_t* __restrict key,
                                  int64_t row, int64_t dim, float scale, int rows,
                                  float* __restrict cells, f32v* largest) {
    f32v sum[ROWS];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) sum[r] = f32v{};
    int64_t d = 0;
    for (; d + 32 <= dim; d += 32) {
        f32v block[16];
#pragma GCC unroll 16
        for (int j = 0; j < 16; j++) {
            __builtin_memcpy(&block[j], key + j * row + d, 64);
            __builtin_prefetch(key + (j + AHEAD) * row + d, 0, 2);
        }
        transpose<lanes<float>()>(block);
#pragma GCC unroll 16
        for (int j = 0; j < 16; j++)
#pragma GCC unroll 8
            for (int r = 0; r < ROWS; r++)
                sum[r] = dot(sum[r], (Pairs)block[j], every(query[(d / 2 + j) * 16 + r]));
    }
    for (; d < dim; d += 2) {
        Pairs column;
        for (int j = 0; j < 16; j++)
            column[j] = (int)(d + 1 < dim ? pair_at(key + j * row + d) : key[j * row + d]);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) sum[r] = dot(sum[r], column, every(query[d / 2 * 16 + r]));
    }
    f32v turned[16];
#pragma GCC unroll 16
    for (int j = 0; j < 16; j++)
        turned[j] = (j < ROWS && j < rows ? sum[j < ROWS ? j : 0] : sum[0]) * scale;
    transpose<lanes<float>()>(turned);
    f32v most = largest[0];
#pragma GCC unroll 16
    for (int j = 0; j < 16; j++) {
        store<float>(cells + j * 16, turned[j]);
        most = larger(most, turned[j]);
    }
    largest[0] = most;
}

static void products_of_few_pairs(const uint32_t* query, const uint16_t* key, int64_t row,
                                  int64_t dim, float scale, int count, int rows, float* cells,
                                  f32v* largest) {
    int j = 0;
    for (; j + 16 <= count; j += 16) {
        const uint16_t* from = key + j * row;
        float* to = cells + j * 16;
        if (rows == 1) dot_lane_pairs<1>(query, from, row, dim, scale, rows, to, largest);
        else if (rows <= 4) dot_lane_pairs<4>(query, from, row, dim, scale, rows, to, largest);
        else dot_lane_pairs<8>(query, from, row, dim, scale, rows, to, largest);
    }
    if (j < count)
        products_of_pairs<1>(query, key + j * row, row, dim, scale, count - j, cells + j * 16,
                             largest);
}

// Weights of two keys side by side, (pairs, lanes); keys of a pair that are not at hand weigh 0.
template <int MV>
static int pair_weights(const float* cells, int64_t low, int count, uint32_t* pairs) {
    const int odd = (int)(low % 2), all = (count + odd + 1) / 2;
    for (int i = 0; i < all; i++) {
        const int first = 2 * i - odd;
        for (int v = 0; v < MV; v++) {
            const f32v a = first >= 0 ? load<float>(cells + (first * MV + v) * 16) : f32v{};
            const f32v b = first + 1 < count ? load<float>(cells + ((first + 1) * MV + v) * 16) : f32v{};
            *(Pairs*)(pairs + (i * MV + v) * 16) = paired(a, b);
        }
    }
    return all;
}

// Values of two keys side by side, (pairs, dim); a key that is not at hand counts as 0.
static void pair_values(const uint16_t* value, int64_t row, int64_t low, int count, int64_t dim,
                        uint32_t* pairs) {
    const int odd = (int)(low % 2), all = (count + odd + 1) / 2;
    for (int i = 0; i < all; i++, pairs += dim) {
        const int first = 2 * i - odd;
        const bool has_first = first >= 0, has_second = first + 1 < count;
        const uint16_t* a = value + (has_first ? first : 0) * row;
        const uint16_t* b = value + (has_second ? first + 1 : 0) * row;
        int64_t d = 0;
        if (has_first && has_second)
            for (; d + 16 <= dim; d += 16) *(i32u*)(pairs + d) = side_by_side(a + d, b + d);
        for (; d < dim; d++)
            pairs[d] = (has_first ? a[d] : 0u) | (has_second ? (uint32_t)b[d] << 16 : 0u);
    }
}

template <int MV, int DIMS>
static inline void blend_dim_pairs(const uint32_t* __restrict weights,
                                   const uint32_t* __restrict value, int64_t row, int count,
                                   const f32v* keep, float* __restrict acc) {
    f32v sum[DIMS][MV];
#pragma GCC unroll 16
    for (int d = 0; d < DIMS; d++)
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) sum[d][v] = f32v{};
    for (int j = 0; j < count; j++) {
        Pairs p[MV];
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) p[v] = *(const Pairs*)(weights + (j * MV + v) * 16);
#pragma GCC unroll 16
        for (int d = 0; d < DIMS; d++) {
            const Pairs x = every(value[j * row + d]);
#pragma GCC unroll 4
            for (int v = 0; v < MV; v++) sum[d][v] = dot(sum[d][v], p[v], x);
        }
    }
#pragma GCC unroll 16
    for (int d = 0; d < DIMS; d++)
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) {
            float* at = acc + (d * MV + v) * 16;
            store<float>(at, fma(load<float>(at), keep[v], sum[d][v]));
        }
}

template <int MV>
static void blend_pairs(const uint32_t* weights, const uint32_t* value, int64_t dim, int count,
                        const f32v* keep, float* acc) {
    int64_t d = 0;
    for (; d + 8 <= dim; d += 8)
        blend_dim_pairs<MV, 8>(weights, value + d, dim, count, keep, acc + d * MV * 16);
    for (; d < dim; d++)
        blend_dim_pairs<MV, 1>(weights, value + d, dim, count, keep, acc + d * MV * 16);
}

// The same for few rows, lanes along sixteen dims of values that lie where they lie.
template <int ROWS>
static inline void blend_lane_pairs(const uint32_t* __restrict weights, const uint16_t* value,
                                    int64_t row, int64_t low, int count, int all, int rows,
                                    f32v keep, float* __restrict acc) {
    const int odd = (int)(low % 2);
    alignas(64) static const uint16_t nothing[16] = {};
    f32v sum[ROWS];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) sum[r] = f32v{};
    for (int i = 0; i < all; i++) {
        const int first = 2 * i - odd;
        const Pairs x = side_by_side(first >= 0 ? value + first * row : nothing,
                                     first + 1 < count ? value + (first + 1) * row : nothing);
        __builtin_prefetch(value + (first + AHEAD) * row, 0, 2);
        __builtin_prefetch(value + (first + 1 + AHEAD) * row, 0, 2);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) sum[r] = dot(sum[r], every(weights[i * 16 + r]), x);
    }
    f32v turned[16];
    for (int r = 0; r < 16; r++) turned[r] = r < ROWS && r < rows ? sum[r < ROWS ? r : 0] : sum[0];
    transpose<lanes<float>()>(turned);
    for (int i = 0; i < 16; i++) {
        float* at = acc + i * 16;
        store<float>(at, fma(load<float>(at), keep, turned[i]));
    }
}

// `spare` holds the last dims, fewer than sixteen, side by side.
static void blend_of_few_pairs(const uint32_t* weights, const uint16_t* value, int64_t row,
                               int64_t low, int count, int all, int64_t dim, int rows, f32v keep,
                               uint32_t* spare, float* acc) {
    int64_t d = 0;
    for (; d + 16 <= dim; d += 16) {
        float* to = acc + d * 16;
        if (rows == 1) blend_lane_pairs<1>(weights, value + d, row, low, count, all, rows, keep, to);
        else if (rows <= 4) blend_lane_pairs<4>(weights, value + d, row, low, count, all, rows, keep, to);
        else blend_lane_pairs<8>(weights, value + d, row, low, count, all, rows, keep, to);
    }
    if (d < dim) {
        pair_values(value + d, row, low, count, dim - d, spare);
        for (int64_t e = d; e < dim; e++)
            blend_dim_pairs<1, 1>(weights, spare + (e - d), dim - d, all, &keep, acc + e * 16);
    }
}
