// The same two loops for few rows against many keys, where memory is the limit: lanes along the keys,
// then along the dims, so that no lane is idle. The order of every sum, and so every bit, is that of
// dots.hpp; cells and acc are laid out as there. Keys and values lie dim next to dim. Included in a
// unit.

constexpr int AHEAD = 64;  // keys that are fetched early

// cells[j] of `count` keys for rows 0 ... rows - 1; what stands in the other lanes has no meaning.
template <class T, int ROWS>
static inline void dot_lanes(const T* __restrict query, const T* __restrict key, int64_t row,
                             int64_t dim, int rows, T* __restrict cells,
                             typename Of<T>::V* largest) {
    typedef typename Of<T>::V V;
    constexpr int W = lanes<T>();
    V sum[ROWS];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) sum[r] = V{};
    int64_t d = 0;
    for (; d + W <= dim; d += W) {
        V block[W];
#pragma GCC unroll 16
        for (int j = 0; j < W; j++) {
            block[j] = load_unaligned<T>(key + j * row + d);
            __builtin_prefetch(key + (j + AHEAD) * row + d, 0, 3);
        }
        transpose<W>(block);
#pragma GCC unroll 16
        for (int j = 0; j < W; j++)
#pragma GCC unroll 8
            for (int r = 0; r < ROWS; r++)
                sum[r] = fma(block[j], splat(query[(d + j) * W + r]), sum[r]);
    }
    for (; d < dim; d++) {
        V column;
        for (int j = 0; j < W; j++) column[j] = key[j * row + d];
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) sum[r] = fma(column, splat(query[d * W + r]), sum[r]);
    }
    V turned[W];
#pragma GCC unroll 16
    for (int j = 0; j < W; j++) turned[j] = j < ROWS && j < rows ? sum[j < ROWS ? j : 0] : sum[0];
    transpose<W>(turned);
    V most = largest[0];
#pragma GCC unroll 16
    for (int j = 0; j < W; j++) {
        store<T>(cells + j * W, turned[j]);
        most = larger(most, turned[j]);
    }
    largest[0] = most;
}

template <class T>
static void products_of_few(const T* query, const T* key, int64_t row, int64_t dim, int count,
                            int rows, T* cells, typename Of<T>::V* largest) {
    constexpr int W = lanes<T>();
    int j = 0;
    for (; j + W <= count; j += W) {
        const T* from = key + j * row;
        T* to = cells + j * W;
        if (rows == 1) dot_lanes<T, 1>(query, from, row, dim, rows, to, largest);
        else if (rows <= 4) dot_lanes<T, 4>(query, from, row, dim, rows, to, largest);
        else dot_lanes<T, 8>(query, from, row, dim, rows, to, largest);
    }
    if (j < count)
        products<T, 1, 1>(query, key + j * row, row, 1, dim, count - j, count - j, cells + j * W,
                          largest);
}

// The blocks' sums of DIMS vectors of dims for ROWS rows, from zero, into sums (rows, DIMS * W).
template <class T, int ROWS, int DIMS>
static inline void blend_lanes(const T* __restrict cells, const T* __restrict value, int64_t row,
                               int count, typename Of<T>::V (*sum)[4]) {
    typedef typename Of<T>::V V;
    constexpr int W = lanes<T>();
    V all[ROWS][DIMS];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
        for (int d = 0; d < DIMS; d++) all[r][d] = V{};
    for (int j = 0; j < count; j++) {
        V x[DIMS];
#pragma GCC unroll 4
        for (int d = 0; d < DIMS; d++) {
            x[d] = load_unaligned<T>(value + j * row + d * W);
            __builtin_prefetch(value + (j + AHEAD) * row + d * W, 0, 3);
        }
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            const V p = splat(cells[j * W + r]);
#pragma GCC unroll 4
            for (int d = 0; d < DIMS; d++) all[r][d] = fma(p, x[d], all[r][d]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
        for (int d = 0; d < DIMS; d++) sum[r][d] = all[r][d];
}

template <class T, int DIMS>
static inline void blend_some(const T* cells, const T* value, int64_t row, int count, int rows,
                              typename Of<T>::V keep, T* acc) {
    typedef typename Of<T>::V V;
    constexpr int W = lanes<T>();
    V sum[8][4];
    if (rows == 1) blend_lanes<T, 1, DIMS>(cells, value, row, count, sum);
    else if (rows <= 4) blend_lanes<T, 4, DIMS>(cells, value, row, count, sum);
    else {
        blend_lanes<T, 4, DIMS>(cells, value, row, count, sum);
        blend_lanes<T, 4, DIMS>(cells + 4, value, row, count, sum + 4);
    }
    for (int d = 0; d < DIMS; d++) {
        V turned[W];
        for (int r = 0; r < W; r++) turned[r] = r < rows && r < 8 ? sum[r][d] : sum[0][d];
        transpose<W>(turned);
        for (int i = 0; i < W; i++) {
            T* at = acc + (d * W + i) * W;
            store<T>(at, fma(load<T>(at), keep, turned[i]));
        }
    }
}

template <class T>
static void blend_of_few(const T* cells, const T* value, int64_t row, int64_t dim, int count,
                         int rows, const typename Of<T>::V* keep, T* acc) {
    constexpr int W = lanes<T>();
    int64_t d = 0;
    for (; d + 4 * W <= dim; d += 4 * W)
        blend_some<T, 4>(cells, value + d, row, count, rows, *keep, acc + d * W);
    for (; d + W <= dim; d += W)
        blend_some<T, 1>(cells, value + d, row, count, rows, *keep, acc + d * W);
    if (d < dim) blend<T, 1, 1>(cells, value + d, row, 1, dim - d, count, count, keep, acc + d * W);
}
