// What a tile's rows add to each key: a small matrix product whose sums run along the lanes of cells,
// so lanes here run along dims. Included in a unit.

// to[j, d] += sum over i of cells[j, i] * rows[i, d], for KEYS keys and DIMS vectors of dims; i
// ascending. Rows lie `dim` numbers apart, and so do keys in `to`.
template <class T, int MQ, int KEYS, int DIMS>
static inline void outer_some(const T* __restrict cells, const T* __restrict rows, int64_t dim,
                              int count, T* __restrict to) {
    typedef typename Of<T>::V V;
    constexpr int W = lanes<T>();
    V sum[KEYS][DIMS];
#pragma GCC unroll 16
    for (int j = 0; j < KEYS; j++)
#pragma GCC unroll 4
        for (int d = 0; d < DIMS; d++) sum[j][d] = V{};
    for (int i = 0; i < count; i++) {
        V x[DIMS];
#pragma GCC unroll 4
        for (int d = 0; d < DIMS; d++) x[d] = load_unaligned<T>(rows + i * dim + d * W);
#pragma GCC unroll 16
        for (int j = 0; j < KEYS; j++) {
            const V p = splat(cells[j * MQ + i]);
#pragma GCC unroll 4
            for (int d = 0; d < DIMS; d++) sum[j][d] = fma(p, x[d], sum[j][d]);
        }
    }
#pragma GCC unroll 16
    for (int j = 0; j < KEYS; j++)
#pragma GCC unroll 4
        for (int d = 0; d < DIMS; d++) {
            T* at = to + j * dim + d * W;
            store_unaligned<T>(at, load_unaligned<T>(at) + sum[j][d]);
        }
}

template <class T, int MQ, int KEYS>
static inline void outer_keys(const T* cells, const T* rows, int64_t dim, int count, T* to) {
    constexpr int W = lanes<T>(), DIMS = VECTOR_BYTES == 32 ? 2 : 4;
    int64_t d = 0;
    for (; d + DIMS * W <= dim; d += DIMS * W)
        outer_some<T, MQ, KEYS, DIMS>(cells, rows + d, dim, count, to + d);
    for (; d + W <= dim; d += W)
        outer_some<T, MQ, KEYS, 1>(cells, rows + d, dim, count, to + d);
    for (; d < dim; d++)
        for (int j = 0; j < KEYS; j++) {
            T sum = 0;
            for (int i = 0; i < count; i++) sum += cells[j * MQ + i] * rows[i * dim + d];
            to[j * dim + d] += sum;
        }
}

template <class T, int MQ>
static void outer(const T* cells, const T* rows, int64_t dim, int keys, int count, T* to) {
    constexpr int KEYS = VECTOR_BYTES == 64 ? 6 : 5;
    int j = 0;
    for (; j + KEYS <= keys; j += KEYS)
        outer_keys<T, MQ, KEYS>(cells + j * MQ, rows, dim, count, to + j * dim);
    for (; j < keys; j++) outer_keys<T, MQ, 1>(cells + j * MQ, rows, dim, count, to + j * dim);
}
