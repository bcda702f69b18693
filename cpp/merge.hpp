    // ---- merging states; inside Tile. `left` holds the smaller keys, and becomes both.

    void merge(State<T>& left, const State<T>& right) const {
        const V lowest = splat(Of<T>::LOWEST), deep = splat(Of<T>::NOTHING);
        V keep_left[MV], keep_right[MV];
        for (int v = 0; v < MV; v++) {
            const int at = v * W;
            const V a = load<T>(left.row_max + at), b = load<T>(right.row_max + at);
            const V now = larger(larger(a, b), b != b ? b : a);
            const V shift = larger(lowest, now);
            const V l = keep_left[v] = exp_of<T>(a - shift), r = keep_right[v] = exp_of<T>(b - shift);
            const V left_sum = load<T>(left.row_sum + at), right_sum = load<T>(right.row_sum + at);
            if (call.entropy) {
                const V x = fma(larger(deep, a - shift), left_sum, load<T>(left.heat + at));
                const V y = fma(larger(deep, b - shift), right_sum, load<T>(right.heat + at));
                store<T>(left.heat + at, fma(x, l, y * r));
            }
            store<T>(left.row_sum + at, fma(left_sum, l, right_sum * r));
            store<T>(left.row_max + at, now);
            *(M*)(left.seen + at) |= *(const M*)(right.seen + at);
        }
        if (call.value.data)
            for (int64_t d = 0; d < call.value_dim; d++)
                for (int v = 0; v < MV; v++) {
                    const int64_t at = (d * MV + v) * W;
                    const V other = load<T>(right.acc + at) * keep_right[v];
                    store<T>(left.acc + at, fma(load<T>(left.acc + at), keep_left[v], other));
                }
        if (call.top)
            for (int i = 0; i < rows.count; i++) merge_top(left, right, i);
    }

    // Merge two falling lists of one row; among equals the smaller key, which stands left.
    void merge_top(State<T>& left, const State<T>& right, int i) const {
        const int64_t top = top_list(call);
        for (int64_t r = 0; r < top; r++) {
            const T score = right.top_scores[r * MQ + i];
            const I key = right.top_keys[r * MQ + i];
            if (key < 0) return;
            int64_t k = top;
            while (k > 0 && (left.top_keys[(k - 1) * MQ + i] < 0 ||
                             score > left.top_scores[(k - 1) * MQ + i]))
                k--;
            if (k == top) return;  // what follows is no larger
            for (int64_t t = top - 1; t > k; t--) {
                left.top_scores[t * MQ + i] = left.top_scores[(t - 1) * MQ + i];
                left.top_keys[t * MQ + i] = left.top_keys[(t - 1) * MQ + i];
            }
            left.top_scores[k * MQ + i] = score;
            left.top_keys[k * MQ + i] = key;
        }
    }
