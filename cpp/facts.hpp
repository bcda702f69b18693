    // ---- facts that need the final weights: one sweep over the strip; inside Tile.

    void sweep(const T* weigh_by, const T* shift) {
        alignas(VECTOR_BYTES) I chosen[MQ];  // -1 where the row counts for `received`
        bool some_lost = false;
        for (int i = 0; i < MQ; i++) {
            const bool counts = i < rows.count && (!call.from_rows ||
                                call.from_rows[rows.batch * call.q_len + rows.query[i]]);
            chosen[i] = counts ? -1 : 0;
            some_lost = some_lost || is_lost(weigh_by[i]);
        }
        __builtin_memset(shares, 0, 2 * kinds() * MQ * sizeof(T));
        const Receivers receivers = find_receivers();
        for (int64_t block = first / BLOCK * BLOCK; block < last; block += BLOCK) {
            const int64_t low = block > first ? block : first;
            const int64_t high = block + BLOCK < last ? block + BLOCK : last;
            const int count = (int)(high - low);
            T* here = strip + low * MQ;
            V by[MV];  // makes weights of the cells
            const T* before = peak + block / BLOCK * MQ;
            for (int v = 0; v < MV; v++) {
                const V then = larger(splat(Of<T>::LOWEST), load<T>(before + v * W));
                by[v] = exp_of<T>(then - load<T>(shift + v * W)) * load<T>(weigh_by + v * W);
                by[v] = (M)(by[v] - by[v] == V{}) ? by[v] : splat((T)1);  // lost, or an idle lane
            }
            if (some_lost) spoil_lost(low, high, here, weigh_by);
            if (call.received) add_received(receivers, low, count, here, by, chosen);
            if (!(call.groups || call.distance || call.weights)) continue;
            for (int j = 0; j < count * MV; j++)
                store<T>(here + j * W, load<T>(here + j * W) * by[j % MV]);
            if (call.groups) add_groups(low, count, here);
            if (call.distance) add_distance(low, count, here);
        }
        if (call.groups) write_shares((T*)call.groups, call.group_count, shares, weigh_by);
        if (call.distance)
            write_shares((T*)call.distance, call.bin_count, shares + call.group_count * MQ,
                         weigh_by);
        if (call.weights) write_weights();
    }

    // In a row that is lost every weight is NaN, but those of hidden keys are 0.
    void spoil_lost(int64_t low, int64_t high, T* here, const T* weigh_by) {
        for (int i = 0; i < rows.count; i++) {
            if (!is_lost(weigh_by[i])) continue;
            for (int64_t key = low; key < high; key++)
                here[(key - low) * MQ + i] = row_sees(i, key) ? (T)__builtin_nan("") : 0;
        }
    }

    // The rows of `received`, one for each head and range of queries, that the lanes add up to.
    struct Receivers {
        int count, end[MQ];  // one past the last lane of each
        T* row[MQ];
    };

    Receivers find_receivers() const {
        Receivers found;
        found.count = 0;
        for (int i = 0; call.received && i < rows.count; i++) {
            const int64_t range = rows.place[i] / call.range_rows;
            T* row = (T*)call.received + ((rows.batch * call.heads + rows.head[i]) *
                                          call.range_count + range) * call.kv_len;
            if (!found.count || found.row[found.count - 1] != row) found.row[found.count++] = row;
            found.end[found.count - 1] = i + 1;
        }
        return found;
    }

    // The sums over the lanes, for each key: one thread gathers all the rows of a receiver.
    void add_received(const Receivers& to, int64_t low, int count, const T* here, const V* by,
                      const I* chosen) {
        M lane = M{};
        for (int i = 0; i < W; i++) lane[i] = i;
        for (int r = 0, begin = 0; r < to.count; begin = to.end[r++]) {
            M takes[MV];
            for (int v = 0; v < MV; v++)
                takes[v] = *(const M*)(chosen + v * W) & (M)(lane + v * W >= begin) &
                           (M)(lane + v * W < to.end[r]);
            for (int j = 0; j < count; j += W)
                sum_lanes(here + j * MQ, count - j, by, takes, to.row[r] + low + j);
        }
    }

    // Up to W keys at a time.
    INLINE void sum_lanes(const T* here, int count, const V* by, const M* takes, T* to) {
        V sum[W];
#pragma GCC unroll 16
        for (int i = 0; i < W; i++) {
            sum[i] = V{};
            if (i < count)
#pragma GCC unroll 4
                for (int v = 0; v < MV; v++) {
                    const V x = load<T>(here + (i * MV + v) * W);
                    sum[i] = fma((V)((M)x & takes[v]), by[v], sum[i]);
                }
        }
        const V sums = add_lanes<W>(sum);
        if (count >= W) store_unaligned<T>(to, load_unaligned<T>(to) + sums);
        else for (int i = 0; i < count; i++) to[i] += sums[i];
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
