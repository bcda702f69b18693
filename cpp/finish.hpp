    // ---- the end: sinks, the division, everything that is asked for; inside Tile.

    int64_t row_index(int i) const {
        return (rows.batch * call.heads + rows.head[i]) * call.row_count + rows.place[i];
    }

    // The numbers of one row that its answers are made of.
    struct End {
        T row_max, row_sum, key_sum, heat, sink, peak;  // peak: the largest score, no sink
        T keep;                                         // what brings acc to row_max
        bool seen, lost;                                // lost: a NaN or +inf is visible
    };

    End end_of(int i) const {
        End e;
        e.peak = e.row_max = whole.row_max[i];
        e.row_sum = e.key_sum = whole.row_sum[i];
        e.heat = whole.heat[i];
        e.seen = whole.seen[i] != 0;
        e.keep = 1;
        e.sink = 0;
        e.lost = e.row_sum != e.row_sum;
        if (call.sinks) {
            const T sink = ((const T*)call.sinks)[rows.head[i]];
            const T now = sink > e.row_max || sink != sink ? sink : e.row_max;
            const T shift = now < Of<T>::LOWEST ? Of<T>::LOWEST : now;
            const T moved = e.row_max - shift;
            e.keep = exp_one(moved);
            e.sink = exp_one(sink - shift);
            e.heat = (e.heat + (moved < Of<T>::NOTHING ? Of<T>::NOTHING : moved) * e.key_sum) * e.keep;
            e.key_sum *= e.keep;
            e.row_sum = e.key_sum + e.sink;
            e.row_max = now;
        }
        return e;
    }

    // exp of one number, with the lanes' own bits.
    INLINE T exp_one(T x) { return exp_of<T>(splat(x))[0]; }

    void finish(bool has_special) {
        alignas(VECTOR_BYTES) T share[MQ];   // 1 / row_sum, times what brings acc to row_max
        alignas(VECTOR_BYTES) T weigh_by[MQ];  // turns exp(score - row_max) into a weight
        alignas(VECTOR_BYTES) T shift[MQ];
        if (call.sinks) end_with_sinks(share, weigh_by, shift);
        else end_rows(share, weigh_by, shift);
        for (int i = rows.count; i < MQ; i++) weigh_by[i] = 0;
        if (call.lse || call.max_score || call.sink || call.entropy || call.shift || call.factor)
            for (int i = 0; i < rows.count; i++) write_row(i, weigh_by[i], shift[i]);
        if (call.top) write_top(weigh_by, shift);
        if (call.out) write_out(share, has_special);
        if (keeps_strip) sweep(weigh_by, shift);
        if (keeps_blocks) write_blocks(weigh_by, shift);
    }

    void end_rows(T* share, T* weigh_by, T* shift) const {
        const V lowest = splat(Of<T>::LOWEST);
        for (int i = 0; i < MQ; i += W) {
            const M seen = *(const M*)(whole.seen + i);
            const V most = load<T>(whole.row_max + i), by = 1 / load<T>(whole.row_sum + i);
            store<T>(share + i, seen ? by : V{});
            store<T>(weigh_by + i, seen ? by : V{});
            store<T>(shift + i, seen & ~(M)(most < lowest) ? most : lowest);
        }
    }

    void end_with_sinks(T* share, T* weigh_by, T* shift) {
        for (int i = 0; i < MQ; i++) {
            const End e = end_of(lane(i));
            share[i] = e.seen ? e.keep / e.row_sum : 0;
            weigh_by[i] = e.seen ? 1 / e.row_sum : 0;
            // an empty row's sink may be anything
            shift[i] = !e.seen || e.row_max < Of<T>::LOWEST ? Of<T>::LOWEST : e.row_max;
        }
    }

    void write_row(int i, T weigh_by, T shift) {
        const End e = end_of(i);
        const int64_t row = row_index(i);
        const T log_sum = log_of(e.row_sum);
        if (call.lse) ((T*)call.lse)[row] = e.seen ? e.row_max + log_sum : e.row_max;
        if (call.max_score) ((T*)call.max_score)[row] = e.lost ? (T)__builtin_nan("") : e.peak;
        if (call.sink) ((T*)call.sink)[row] = e.seen ? e.sink / e.row_sum : 1;
        if (call.entropy)
            ((T*)call.entropy)[row] = e.seen ? (log_sum * e.key_sum - e.heat) / e.row_sum : 0;
        if (call.shift) ((T*)call.shift)[row] = shift;
        if (call.factor) ((T*)call.factor)[row] = weigh_by;
    }

    static T log_of(T x) {
        if constexpr (sizeof(T) == 4) return __builtin_logf(x);
        else return __builtin_log(x);
    }

    INLINE auto narrowed(V x) {
        if constexpr (E::IN_PLACE) return x;
        else return E::narrow(x);
    }

    // Adding 0 makes a zero positive: its sign would tell how many hidden blocks went by.
    void write_out(const T* share, bool has_special) {
        S* out = (S*)call.out;
        if (!call.value.data) {  // there are no keys, so no values: every row is empty
            for (int i = 0; i < rows.count; i++)
                __builtin_memset(out + row_index(i) * call.value_dim, 0,
                                 call.value_dim * sizeof(S));
            return;
        }
        S* row[MQ];
        for (int i = 0; i < rows.count; i++) row[i] = out + row_index(i) * call.value_dim;
        for (int v = 0; v < MV && v * W < rows.count; v++) {
            const V by = load<T>(share + v * W);
            const M seen = *(const M*)(whole.seen + v * W);
            const int some = rows.count - v * W < W ? rows.count - v * W : W;
            int64_t d = 0;
            for (; !has_special && d + W <= call.value_dim; d += W) {
                V block[W];
#pragma GCC unroll 16
                for (int i = 0; i < W; i++) {
                    const V x = load<T>(whole.acc + ((d + i) * MV + v) * W) * by;
                    block[i] = seen ? x + V{} : V{};
                }
                transpose<W>(block);
                if (some == W)
#pragma GCC unroll 16
                    for (int i = 0; i < W; i++) put(row[v * W + i] + d, block[i]);
                else
                    for (int i = 0; i < some; i++) put(row[v * W + i] + d, block[i]);
            }
            for (int at = v * W; at < v * W + some; at++)
                for (int64_t e = d; e < call.value_dim; e++) {
                    T x = whole.acc[e * MQ + at] * share[at] + 0;
                    if (has_special) x += special[e * MQ + at];
                    row[at][e] = E::narrow(whole.seen[at] ? x : 0);
                }
        }
    }

    INLINE void put(S* at, V x) {
        const auto narrow = narrowed(x);
        __builtin_memcpy(at, &narrow, sizeof narrow);
    }

    // The lists' scores become weights where they stand, all rows at once.
    void write_top(const T* weigh_by, const T* shift) {
        for (int64_t k = 0; k < call.top * MQ; k += W) {
            const V apart = load<T>(whole.top_scores + k) - load<T>(shift + k % MQ);
            store<T>(whole.top_scores + k, exp_of<T>(apart) * load<T>(weigh_by + k % MQ));
        }
        for (int i = 0; i < rows.count; i++) write_list(i, weigh_by[i], shift[i]);
    }

    // Visible scores of -inf come last, in the order of their keys: put them behind the `scored` keys
    // of a list, and return how long it is then.
    int64_t add_unscored(int i, int64_t low, int64_t high, int64_t* list, int64_t scored) const {
        int64_t found = scored;
        for (int64_t key = low; found < call.top && key < high; key++) {
            if (!row_sees(i, key)) continue;
            bool taken = false;
            for (int64_t k = 0; k < scored && !taken; k++) taken = list[k] == key;
            if (!taken) list[found++] = key;
        }
        return found;
    }

    void write_list(int i, T weigh_by, T shift) {
        const int64_t at = row_index(i) * call.top;
        int64_t* keys_out = call.top_keys + at;
        T* weights_out = (T*)call.top_weights + at;
        int64_t scored = 0;
        while (scored < call.top && whole.top_keys[scored * MQ + i] >= 0) {
            keys_out[scored] = whole.top_keys[scored * MQ + i];
            weights_out[scored] = whole.top_scores[scored * MQ + i];
            scored++;
        }
        const bool seen = whole.seen[i] != 0;
        int64_t found = scored;
        if (seen) found = add_unscored(i, start[i], stop[i], keys_out, scored);
        for (int64_t k = scored; k < found; k++)
            weights_out[k] = exp_one(-(T)__builtin_inf() - shift) * weigh_by;
        for (; found < call.top; found++) {
            keys_out[found] = -1;
            weights_out[found] = 0;
        }
        if (seen && weigh_by != weigh_by)  // a NaN sink spoils a row too
            for (int64_t k = 0; k < call.top; k++) {
                keys_out[k] = -1;
                weights_out[k] = (T)__builtin_nan("");
            }
    }
