    // ---- facts that need the final weights: one sweep over the strip; inside Tile.

    void sweep(const T* weigh_by, const T* shift) {
        alignas(VECTOR_BYTES) T chosen[MQ];  // 1 where the row counts for `received`
        for (int i = 0; i < MQ; i++)
            chosen[i] = i < rows.count && (!call.from_rows ||
                        call.from_rows[rows.batch * call.q_len + rows.query[i]]);
        __builtin_memset(shares, 0, 2 * kinds() * MQ * sizeof(T));
        for (int64_t block = first / BLOCK * BLOCK; block < last; block += BLOCK) {
            const int64_t low = block > first ? block : first;
            const int64_t high = block + BLOCK < last ? block + BLOCK : last;
            T* here = strip + low * MQ;
            for (int v = 0; v < MV; v++) {
                const V before = larger(splat(Of<T>::LOWEST), load<T>(peak + block / BLOCK * MQ + v * W));
                const V by = exp_of<T>(before - load<T>(shift + v * W)) * load<T>(weigh_by + v * W);
                for (int64_t j = 0; j < high - low; j++) {
                    T* cell = here + (j * MV + v) * W;
                    store<T>(cell, load<T>(cell) * by);
                }
            }
            clean_lost(low, high, here, weigh_by);
            if (call.received) add_received(low, (int)(high - low), here, chosen);
            if (call.groups) add_groups(low, (int)(high - low), here);
            if (call.distance) add_distance(low, (int)(high - low), here);
        }
        if (call.groups) write_shares((T*)call.groups, call.group_count, shares, weigh_by);
        if (call.distance)
            write_shares((T*)call.distance, call.bin_count, shares + call.group_count * MQ,
                         weigh_by);
        if (call.weights) write_weights();
    }

    // In a row that is lost every weight is NaN, but those of hidden keys are 0.
    void clean_lost(int64_t low, int64_t high, T* here, const T* weigh_by) {
        for (int i = 0; i < rows.count; i++) {
            if (!is_lost(weigh_by[i])) continue;
            for (int64_t key = low; key < high; key++)
                if (!row_sees(i, key)) here[(key - low) * MQ + i] = 0;
        }
    }

    // The sum over the lanes, for each key: rows of one range of queries, which one thread gathers.
    void add_received(int64_t low, int count, const T* here, const T* chosen) {
        for (int i0 = 0; i0 < rows.count;) {  // lanes of one head and range at a time
            int i1 = i0 + 1;
            while (i1 < rows.count && rows.head[i1] == rows.head[i0] &&
                   range_of(i1) == range_of(i0))
                i1++;
            T* to = (T*)call.received +
                    ((rows.batch * call.heads + rows.head[i0]) * call.range_count + range_of(i0)) *
                        call.kv_len + low;
            alignas(VECTOR_BYTES) T lane_counts[MQ];
            for (int i = 0; i < MQ; i++) lane_counts[i] = i >= i0 && i < i1 ? chosen[i] : 0;
            sum_lanes(here, count, lane_counts, to);
            i0 = i1;
        }
    }
    int64_t range_of(int i) const { return rows.place[i] / call.range_rows; }

    void sum_lanes(const T* here, int count, const T* counts, T* to) {
        const V zero = V{};
        int j = 0;
        for (; j + W <= count; j += W) {
            V block[W];
            for (int i = 0; i < W; i++) {
                V sum = zero;
                for (int v = 0; v < MV; v++) {
                    const V takes = load<T>(counts + v * W);
                    const V x = load<T>(here + ((j + i) * MV + v) * W);
                    sum += (M)(takes != zero) ? x : zero;
                }
                block[i] = sum;
            }
            transpose<T>(block);
            V all = block[0];
            for (int i = 1; i < W; i++) all += block[i];
            store_unaligned<T>(to + j, load_unaligned<T>(to + j) + all);
        }
        for (; j < count; j++) {
            alignas(VECTOR_BYTES) T lane_sums[W];
            V sum = zero;
            for (int v = 0; v < MV; v++)
                sum += (M)(load<T>(counts + v * W) != zero) ? load<T>(here + (j * MV + v) * W) : zero;
            store<T>(lane_sums, sum);
            T all = lane_sums[0];
            for (int i = 1; i < W; i++) all += lane_sums[i];
            to[j] += all;
        }
    }

    void add_groups(int64_t low, int count, const T* here) {
        const int32_t* label = call.labels + rows.batch * call.kv_len + low;
        for (int j = 0; j < count; j++) {
            if (label[j] < 0) continue;
            for (int v = 0; v < MV; v++) add_share(label[j], v, here + (j * MV + v) * W);
        }
    }

    int64_t kinds() const { return call.group_count + call.bin_count; }

    // Each sum stands beside what rounding took from it: one of 100,000 keys must be as good as one
    // of ten. Adding 0, as a hidden key does, changes neither.
    template <class X> INLINE void add_exactly(X& sum, X& lacks, X x) {
        const X total = sum + x, added = total - sum;
        lacks += (sum - (total - added)) + (x - added);
        sum = total;
    }
    void add_share(int64_t kind, int v, const T* from) {
        T* at = shares + kind * MQ + v * W;
        V sum = load<T>(at), lacks = load<T>(at + kinds() * MQ);
        add_exactly(sum, lacks, load<T>(from));
        store<T>(at, sum);
        store<T>(at + kinds() * MQ, lacks);
    }

    // Bins are the same for all lanes but near the rows' own positions and where a bin ends.
    void add_distance(int64_t low, int count, const T* here) {
        const int64_t offset = call.q_offset ? call.q_offset[rows.batch] : 0;
        for (int v = 0; v < MV; v++) {
            int64_t nearest[W], least = INT64_MAX, most = INT64_MIN;
            for (int i = 0; i < W; i++) {
                const int64_t at = nearest[i] = rows.query[lane(v * W + i)] + offset;
                least = at < least ? at : least;
                most = at > most ? at : most;
            }
            for (int j = 0; j < count; j++) {
                const T* cell = here + (j * MV + v) * W;
                const int64_t key = low + j;
                const int one = bin_of(least - key), other = bin_of(most - key);
                if (one == other && (least >= key) == (most >= key)) {
                    add_share(call.group_count + one, v, cell);
                    continue;
                }
                for (int i = 0; i < W; i++) {
                    const int64_t bin = call.group_count + bin_of(nearest[i] - key);
                    T* at = shares + bin * MQ + v * W + i;
                    add_exactly(*at, at[kinds() * MQ], cell[i]);
                }
            }
        }
    }
    static int bin_of(int64_t apart) {
        const uint64_t size = apart < 0 ? 0 - (uint64_t)apart : (uint64_t)apart;
        return size ? 64 - __builtin_clzll(size) : 0;
    }

    // Shares of rows whose weights are NaN are NaN, also those of kinds that no visible key is of.
    void write_shares(T* to, int64_t count, const T* from, const T* weigh_by) {
        for (int i = 0; i < rows.count; i++)
            for (int64_t n = 0; n < count; n++) {
                const T share = from[n * MQ + i] + from[(kinds() + n) * MQ + i];
                to[row_index(i) * count + n] = is_lost(weigh_by[i]) ? (T)__builtin_nan("") : share;
            }
    }

    // Whether a row's weights are NaN: a visible NaN or +inf, such a sink, or nothing but -inf.
    static bool is_lost(T weigh_by) { return !(weigh_by - weigh_by == 0); }

    void write_weights() {
        for (int i = 0; i < rows.count; i++) {
            T* to = (T*)call.weights + row_index(i) * call.key_count;
            for (int64_t k = 0; k < call.key_count; k++) {
                const int64_t key = call.keys[k];
                to[k] = key >= first && key < last ? strip[key * MQ + i] : 0;
            }
        }
    }
