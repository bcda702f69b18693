// The two inner loops. Lanes run along the rows of a tile (MV vectors of them), so that sums over
// keys and dims are plain additions, in ascending order, and K and V are read where they lie. At
// the diagonal only the last vector's rows see the keys from `shared` on. Included in a unit.

// cells[j] = sum over d of query[d] * key[j, d], for KEYS keys; d ascending. Of ALL vectors, MV.
template <class T, int MV, int KEYS, int ALL>
static inline void dot_keys(const T* __restrict query, const T* __restrict key, int64_t row,
                            int64_t step, int64_t dim, T* __restrict cells,
                            typename Of<T>::V* largest) {
    typedef typename Of<T>::V V;
    constexpr int W = lanes<T>();
    V sum[KEYS][MV];
#pragma GCC unroll 16
    for (int j = 0; j < KEYS; j++)
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) sum[j][v] = V{};
    for (int64_t d = 0; d < dim; d++) {
        V q[MV];
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) q[v] = load<T>(query + (d * ALL + v) * W);
#pragma GCC unroll 16
        for (int j = 0; j < KEYS; j++) {
            const V k = splat(key[j * row + d * step]);
#pragma GCC unroll 4
            for (int v = 0; v < MV; v++) sum[j][v] = fma(q[v], k, sum[j][v]);
        }
    }
#pragma GCC unroll 16
    for (int j = 0; j < KEYS; j++)
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) {
            store<T>(cells + (j * ALL + v) * W, sum[j][v]);
            largest[v] = larger(largest[v], sum[j][v]);
        }
}

template <class T, int MV, int KEYS, int ALL>
static void products_of(const T* query, const T* key, int64_t row, int64_t step, int64_t dim,
                        int count, T* cells, typename Of<T>::V* largest) {
    constexpr int MQ = ALL * lanes<T>();
    int j = 0;
    for (; j + KEYS <= count; j += KEYS)
        dot_keys<T, MV, KEYS, ALL>(query, key + j * row, row, step, dim, cells + j * MQ, largest);
    if constexpr (KEYS > 4)
        for (; j + 4 <= count; j += 4)
            dot_keys<T, MV, 4, ALL>(query, key + j * row, row, step, dim, cells + j * MQ, largest);
    for (; j < count; j++)
        dot_keys<T, MV, 1, ALL>(query, key + j * row, row, step, dim, cells + j * MQ, largest);
}

// The products of `count` keys with the tile's rows, and each row's largest.
template <class T, int MV, int KEYS>
static void products(const T* query, const T* key, int64_t row, int64_t step, int64_t dim,
                     int shared, int count, T* cells, typename Of<T>::V* largest) {
    products_of<T, MV, KEYS, MV>(query, key, row, step, dim, shared, cells, largest);
    if constexpr (MV > 1) {
        constexpr int W = lanes<T>(), LAST = MV - 1;
        if (shared < count)
            products_of<T, 1, KEYS, MV>(query + LAST * W, key + shared * row, row, step, dim,
                                        count - shared, cells + (shared * MV + LAST) * W,
                                        largest + LAST);
    }
}

// acc[d] = acc[d] * keep + sum over j of cells[j] * value[j, d], for DIMS dims; j ascending, the
// block's sum from zero.
template <class T, int MV, int DIMS>
static inline void blend_dims(const T* __restrict cells, const T* __restrict value, int64_t row,
                              int64_t step, int shared, int count,
                              const typename Of<T>::V* keep, T* __restrict acc) {
    typedef typename Of<T>::V V;
    constexpr int W = lanes<T>();
    V sum[DIMS][MV];
#pragma GCC unroll 16
    for (int d = 0; d < DIMS; d++)
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) sum[d][v] = V{};
    int j = 0;
    for (; j < shared; j++) {
        V p[MV];
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) p[v] = load<T>(cells + (j * MV + v) * W);
#pragma GCC unroll 16
        for (int d = 0; d < DIMS; d++) {
            const V x = splat(value[j * row + d * step]);
#pragma GCC unroll 4
            for (int v = 0; v < MV; v++) sum[d][v] = fma(p[v], x, sum[d][v]);
        }
    }
    if constexpr (MV > 1)
        for (; j < count; j++) {
            const V p = load<T>(cells + (j * MV + MV - 1) * W);
#pragma GCC unroll 16
            for (int d = 0; d < DIMS; d++)
                sum[d][MV - 1] = fma(p, splat(value[j * row + d * step]), sum[d][MV - 1]);
        }
#pragma GCC unroll 16
    for (int d = 0; d < DIMS; d++)
#pragma GCC unroll 4
        for (int v = 0; v < MV; v++) {
            T* at = acc + (d * MV + v) * W;
            store<T>(at, fma(load<T>(at), keep[v], sum[d][v]));
        }
}

template <class T, int MV, int DIMS>
static void blend(const T* cells, const T* value, int64_t row, int64_t step, int64_t dim,
                  int shared, int count, const typename Of<T>::V* keep, T* acc) {
    constexpr int MQ = MV * lanes<T>();
    int64_t d = 0;
    for (; d + DIMS <= dim; d += DIMS)
        blend_dims<T, MV, DIMS>(cells, value + d * step, row, step, shared, count, keep,
                                acc + d * MQ);
    if constexpr (DIMS > 4)
        for (; d + 4 <= dim; d += 4)
            blend_dims<T, MV, 4>(cells, value + d * step, row, step, shared, count, keep,
                                acc + d * MQ);
    for (; d < dim; d++)
        blend_dims<T, MV, 1>(cells, value + d * step, row, step, shared, count, keep,
                                acc + d * MQ);
}
