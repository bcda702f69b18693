    // ---- unfinished rows: what is known of them, written out, read in and merged; inside Tile.

    int64_t part_index(int64_t n, int i) const {
        return n * call.batch * call.heads * call.row_count + row_index(i);
    }

    // Each chunk by itself.
    void run_parts(void* scratch) {
        open(scratch);
        for (int64_t chunk = 0; chunk < call.part_count; chunk++) {
            empty(part);
            gather(chunk, part, false);
            const bool has_special = call.value.data && !is_finite(part);
            if (has_special) {
                __builtin_memset(special, 0, call.value_dim * MQ * sizeof(T));
                empty(part);
                gather(chunk, part, true);
            }
            write_part(chunk, part, has_special);
        }
    }

    // Parts that others have gathered, from the first to the last.
    void run_merge(void* scratch) {
        lay_out(scratch);
        find_spans();
        __builtin_memset(special, 0, call.value_dim * MQ * sizeof(T));
        bool has_special = false;
        empty(whole);
        for (int64_t n = 0; n < call.part_count; n++) {
            has_special |= read_part(n, part);
            merge(whole, part);
        }
        if (call.lse) finish(has_special);
        else write_part(0, whole, has_special);
    }

    // What is asked of the weights of these keys, in rows whose sums over all keys are known.
    void run_known(void* scratch) {
        open(scratch);
        gather_all(false);
        alignas(VECTOR_BYTES) T weigh_by[MQ], shift[MQ];
        for (int i = 0; i < MQ; i++) {
            const int64_t row = row_index(lane(i));
            weigh_by[i] = i < rows.count ? ((const T*)call.factor)[row] : 0;
            shift[i] = ((const T*)call.shift)[row];
        }
        sweep(weigh_by, shift);
    }

    // A value that is not finite stands in acc, in its own column, until all parts are merged.
    void write_part(int64_t n, const State<T>& state, bool has_special) {
        for (int i = 0; i < rows.count; i++) {
            const int64_t row = part_index(n, i);
            ((T*)call.part_max)[row] = state.row_max[i];
            ((T*)call.part_sum)[row] = state.row_sum[i];
            if (call.part_heat) ((T*)call.part_heat)[row] = state.heat[i];
            call.part_seen[row] = state.seen[i] != 0;
            T* acc = (T*)call.part_acc + row * call.value_dim;
            for (int64_t d = 0; d < call.value_dim; d++) {
                T x = call.value.data ? state.acc[d * MQ + i] : 0;
                if (has_special) x += special[d * MQ + i];
                acc[d] = x;
            }
            if (call.top) write_part_list(n, state, i);
        }
    }

    void write_part_list(int64_t n, const State<T>& state, int i) {
        const int64_t at = part_index(n, i) * call.top;
        int64_t* keys_out = call.part_keys + at;
        T* scores_out = (T*)call.part_scores + at;
        int64_t found = 0;
        for (; found < call.top && state.top_keys[found * MQ + i] >= 0; found++) {
            keys_out[found] = state.top_keys[found * MQ + i];
            scores_out[found] = state.top_scores[found * MQ + i];
        }
        const int64_t low = n * CHUNK > start[i] ? n * CHUNK : start[i];
        const int64_t end = (n + 1) * CHUNK, high = end < stop[i] ? end : stop[i];
        const int64_t scored = found;
        if (state.seen[i]) found = add_unscored(i, low, high, keys_out, scored);
        for (int64_t k = found; k < call.top; k++) keys_out[k] = -1;
        for (int64_t k = scored; k < call.top; k++) scores_out[k] = -(T)__builtin_inf();
    }

    // Returns whether a value was not finite; it is gathered in `special`, where no merge scales it.
    bool read_part(int64_t n, State<T>& state) {
        bool has_special = false;
        empty(state);
        for (int i = 0; i < rows.count; i++) {
            const int64_t row = part_index(n, i);
            state.row_max[i] = ((const T*)call.part_max)[row];
            state.row_sum[i] = ((const T*)call.part_sum)[row];
            if (call.part_heat) state.heat[i] = ((const T*)call.part_heat)[row];
            state.seen[i] = call.part_seen[row] ? -1 : 0;
            const T* acc = (const T*)call.part_acc + row * call.value_dim;
            for (int64_t d = 0; d < call.value_dim; d++) {
                const bool odd = !(acc[d] - acc[d] == 0);
                if (odd) special[d * MQ + i] += acc[d];
                state.acc[d * MQ + i] = odd ? 0 : acc[d];
                has_special = has_special || odd;
            }
            for (int64_t k = 0; k < call.top; k++) {
                state.top_keys[k * MQ + i] = (I)call.part_keys[row * call.top + k];
                state.top_scores[k * MQ + i] = ((const T*)call.part_scores)[row * call.top + k];
            }
        }
        return has_special;
    }
