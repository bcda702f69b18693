    // ---- which keys the rows see; inside Tile.

    void find_spans() {
        const int64_t offset = call.q_offset ? call.q_offset[rows.batch] : 0;
        const int64_t valid = call.kv_lens ? call.kv_lens[rows.batch] : call.kv_len;
        first = call.kv_len;
        last = early_last = 0;
        for (int i = 0; i < MQ; i++) {
            const int64_t position = rows.query[lane(i)] + offset;
            int64_t low = 0, high = valid;
            int64_t right = call.right;
            if (call.causal) right = 0;  // together with a window the nearer end counts
            if (right >= 0 && right < call.kv_len - position && position + right + 1 < high)
                high = position + right + 1;
            if (call.left >= 0 && position > call.left) low = position - call.left;
            if (high < 0) high = 0;
            if (low > high) low = high;
            start[i] = low;
            stop[i] = high;
            if (low < high) {
                if (low < first) first = low;
                if (high > last) last = high;
                if (i < MQ - W && high > early_last) early_last = high;
            }
        }
        if (first > last) first = last;
    }

    // How many of these keys, from the first, any row but the last vector's may see.
    int shared_keys(int64_t low, int count) const {
        if (MV == 1 || early_last >= low + count) return count;
        return early_last > low ? (int)(early_last - low) : 0;
    }

    bool row_sees(int i, int64_t key) const {
        if (key < start[i] || key >= stop[i]) return false;
        if (call.mask.data && !mask_row[i][key * call.mask.key]) return false;
        if (call.bias.data) {
            const T b = bias_row[i][key * call.bias.key];
            if (b == -__builtin_inf()) return false;
        }
        return true;
    }
