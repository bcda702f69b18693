    // ---- the best keys of each row; inside Tile. Lists fall; among equals the smaller key leads.

    void find_top(int64_t low, int count, const T* here, const V* largest, State<T>& state) {
        const int64_t last_place = (top_list(call) - 1) * MQ;
        for (int v = 0; v < MV; v++) {
            const V bar = load<T>(state.top_scores + last_place + v * W);
            if (!any(~(M)(largest[v] <= bar))) continue;  // NaN may hide a larger one
            if (call.top <= FEW) insert_few(low, count, here, v, state);
            else insert_many(low, count, here, v, state);
        }
    }

    // One sorted insertion for all lanes at once, the whole list in registers: a place takes the new
    // score, its neighbour's, or keeps its own.
    void insert_few(int64_t low, int count, const T* here, int v, State<T>& state) {
        V score[FEW];
        M key[FEW];
#pragma GCC unroll 8
        for (int k = 0; k < FEW; k++) {
            score[k] = load<T>(state.top_scores + k * MQ + v * W);
            key[k] = *(const M*)(state.top_keys + k * MQ + v * W);
        }
        for (int j = 0; j < count; j++) {
            const V x = load<T>(here + (j * MV + v) * W);
            if (!any((M)(x > score[FEW - 1]))) continue;
            const M position = M{} + (I)(low + j);
#pragma GCC unroll 8
            for (int k = FEW - 1; k > 0; k--) {
                const M before = (M)(x > score[k - 1]), at = (M)(x > score[k]);
                const V own = at ? x : score[k];
                const M own_key = at ? position : key[k];
                score[k] = before ? score[k - 1] : own;
                key[k] = before ? key[k - 1] : own_key;
            }
            const M at = (M)(x > score[0]);
            score[0] = at ? x : score[0];
            key[0] = at ? position : key[0];
        }
#pragma GCC unroll 8
        for (int k = 0; k < FEW; k++) {
            store<T>(state.top_scores + k * MQ + v * W, score[k]);
            *(M*)(state.top_keys + k * MQ + v * W) = key[k];
        }
    }

    // The same in memory, for lists of any length.
    void insert_many(int64_t low, int count, const T* here, int v, State<T>& state) {
        const int64_t top = call.top;
        const T* bar = state.top_scores + (top - 1) * MQ + v * W;
        for (int j = 0; j < count; j++) {
            const V x = load<T>(here + (j * MV + v) * W);
            if (!any((M)(x > load<T>(bar)))) continue;
            V pushed = x;
            M pushed_key = M{} + (I)(low + j);
            M moved = M{};  // whether this lane has found its place above
            for (int64_t k = 0; k < top; k++) {
                T* score_at = state.top_scores + k * MQ + v * W;
                M* key_at_k = (M*)(state.top_keys + k * MQ + v * W);
                const V old = load<T>(score_at);
                const M old_key = *key_at_k;
                moved |= (M)(x > old);
                store<T>(score_at, moved ? pushed : old);
                *key_at_k = moved ? pushed_key : old_key;
                pushed = moved ? old : pushed;
                pushed_key = moved ? old_key : pushed_key;
            }
        }
    }
