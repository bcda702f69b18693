    // ---- gradients: the tile's rows against all the keys that they see; inside Tile.
    //
    // With p a weight and g the gradient of the output: the score's gradient is
    // p * (g . value - delta), delta that of the row: g . out less the gradient of its lse. An out of
    // 16 bits is rounded, which would show in every gradient of the row: there delta is the sum of
    // p * (g . value) itself, and the tile goes over its keys twice, once for that.
    static constexpr bool SUMS_DELTA = !E::IN_PLACE;

    struct Wide {  // a block of keys or values as T
        const T* data;
        int64_t row, dim;
    };

    Wide widened(const S* from, int64_t row, int64_t step, int count, int64_t dim, T* room) const {
        if constexpr (E::IN_PLACE)
            if (call.finite) return {from, row, step};
        widen_rows<E>(from, row, step, count, dim, room);
        return {room, dim, 1};
    }

    static T finite(T x) { return x - x == 0 ? x : 0; }

    void lay_out_backward(Room& room) {
        query_grad = room.take<T>(call.head_dim * MQ);
        grad_lanes = room.take<T>(call.value_dim * MQ);
        query_rows = room.take<T>(call.head_dim * MQ);
        grad_rows = room.take<T>(call.value_dim * MQ);
        const int64_t held = (SUMS_DELTA ? call.kv_len : BLOCK) * MQ;
        all_weights = SUMS_DELTA ? room.take<T>(held) : cells;
        all_flow = room.take<T>(held);
        all_capped = room.take<T>(call.softcap > 0 ? held : 0);
        wide_keys = room.take<T>(BLOCK * call.head_dim);
    }

    void run_backward(void* scratch) {
        open(scratch);
        load_rows();
        alignas(VECTOR_BYTES) T takes[MQ], shift[MQ], delta[MQ];
        bool lost = false;
        for (int i = 0; i < MQ; i++) {
            const int64_t at = row_index(lane(i));
            const T by = ((const T*)call.factor)[at];
            lost = lost || (i < rows.count && is_lost(by));
            takes[i] = i < rows.count && !is_lost(by) ? by : 0;
            shift[i] = ((const T*)call.shift)[at];
            delta[i] = ((const T*)call.delta)[at];
        }
        __builtin_memset(query_grad, 0, call.head_dim * MQ * sizeof(T));
        each_block([&](int64_t low, int count) {
            find_weights(low, count, takes, shift);
            find_pulls(low, count);
            if constexpr (SUMS_DELTA) add_to_delta(count, delta);
            else let_through(low, count, delta, lost);
        });
        if constexpr (SUMS_DELTA) {
            for (int i = 0; i < rows.count; i++) ((T*)call.delta)[row_index(i)] = delta[i];
            each_block([&](int64_t low, int count) { let_through(low, count, delta, lost); });
        }
        write_query_grad();
    }

    // Call `use` with the first key of each block that a row sees, and how many there are.
    template <class Use> void each_block(Use use) {
        for (int64_t block = first / BLOCK * BLOCK; block < last; block += BLOCK) {
            const int64_t low = block > first ? block : first;
            const int count = (int)((block + BLOCK < last ? block + BLOCK : last) - low);
            if (call.mask.data && mask_hides(low, count)) continue;
            const int64_t at = SUMS_DELTA ? low * MQ : 0;
            cells = all_weights + at;
            flow = all_flow + at;
            capped = all_capped + at;
            use(low, count);
        }
    }

    // What a block's weights and pulls are to the inputs.
    void let_through(int64_t low, int count, const T* delta, bool lost) {
        find_flow(count, delta);
        if (lost) spoil_cells(low, count);
        if (call.bias_grad.data) add_bias_grad(low, count);
        if (call.softcap > 0) uncap(count);
        add_block(low, count);
    }

    // The rows of the query, scaled, and of the output's gradient, which also lies in lanes. Numbers
    // that are not finite are left out of the rows: 0 times them is nothing.
    void load_rows() {
        for (int i = 0; i < rows.count; i++) {
            const S* query_at = (const S*)call.query.data + rows.batch * call.query.batch +
                                rows.head[i] * call.query.head + rows.query[i] * call.query.row;
            for (int64_t d = 0; d < call.head_dim; d++)
                query_rows[i * call.head_dim + d] =
                    finite(E::widen(query_at[d * call.query.dim]) * (T)call.scale);
        }
        for (int i = 0; i < MQ; i++) {
            const S* grad_at = grad_of(lane(i));
            for (int64_t d = 0; d < call.value_dim; d++) {
                const T x = E::widen(grad_at[d * call.out_grad.dim]);
                grad_lanes[d * MQ + i] = x;
                if (i < rows.count) grad_rows[i * call.value_dim + d] = finite(x);
            }
        }
    }
    const S* grad_of(int i) const {
        return (const S*)call.out_grad.data + rows.batch * call.out_grad.batch +
               rows.head[i] * call.out_grad.head + rows.query[i] * call.out_grad.row;
    }

    // g . value of a block in `flow`.
    void find_pulls(int64_t low, int count) {
        const Wide value =
            widened(value_at(low), call.value.row, call.value.dim, count, call.value_dim, values);
        V unused[MV];
        for (int v = 0; v < MV; v++) unused[v] = V{};
        products<T, MV, STEP>(grad_lanes, value.data, value.row, value.dim, call.value_dim, count,
                              count, flow, unused);
    }

    // Keys of weight 0 add nothing, whatever their values hold.
    void add_to_delta(int count, T* delta) const {
        for (int v = 0; v < MV; v++) {
            V sum = V{};
            for (int j = 0; j < count; j++) {
                const int64_t at = ((int64_t)j * MV + v) * W;
                const V p = load<T>(cells + at), x = p * load<T>(flow + at);
                sum += (M)(p != V{}) ? x : V{};
            }
            store<T>(delta + v * W, load<T>(delta + v * W) + sum);
        }
    }

    // The gradients of the scores in `flow`; exactly 0 where the weight is.
    void find_flow(int count, const T* delta) {
        for (int v = 0; v < MV; v++) {
            const V less = load<T>(delta + v * W);
            for (int j = 0; j < count; j++) {
                const int64_t at = ((int64_t)j * MV + v) * W;
                const V p = load<T>(cells + at), x = p * (load<T>(flow + at) - less);
                store<T>(flow + at, (M)(p != V{}) ? x : V{});
            }
        }
    }

    // A row whose weights are NaN gives NaN to all that it sees, and nothing to the rest.
    void spoil_cells(int64_t low, int count) {
        const T nan = (T)__builtin_nan("");
        for (int i = 0; i < rows.count; i++) {
            if (!is_lost(((const T*)call.factor)[row_index(i)])) continue;
            for (int j = 0; j < count; j++)
                cells[j * MQ + i] = flow[j * MQ + i] = row_sees(i, low + j) ? nan : 0;
        }
    }

    void add_bias_grad(int64_t low, int count) {
        const Overlay& to = call.bias_grad;
        for (int i = 0; i < rows.count; i++) {
            T* row = (T*)to.data + to.entry[rows.batch] * to.stride + rows.head[i] * to.head +
                     rows.query[i] * to.row + rows.range * call.bias_range + low * to.key;
            for (int j = 0; j < count; j++) row[j * to.key] += flow[j * MQ + i];
        }
    }

    // d (cap * tanh(x / cap)) / dx = 1 - tanh^2.
    void uncap(int count) {
        const V one = splat((T)1), by = splat(1 / cap());
        for (int j = 0; j < count * MV; j++) {
            const V t = load<T>(capped + j * W) * by, x = load<T>(flow + j * W);
            store<T>(flow + j * W, (M)(x != V{}) ? x * (one - t * t) : V{});
        }
    }

    void add_block(int64_t low, int count) {
        const Wide key =
            widened(key_at(low), call.key.row, call.key.dim, count, call.head_dim, wide_keys);
        if (!call.finite)
            for (int64_t i = 0; i < count * call.head_dim; i++) wide_keys[i] = finite(wide_keys[i]);
        V keep[MV];
        for (int v = 0; v < MV; v++) keep[v] = splat((T)1);
        blend<T, MV, STEP>(flow, key.data, key.row, key.dim, call.head_dim, count, count, keep,
                           query_grad);
        const int64_t at =
            ((rows.batch * call.kv_heads + rows.kv_head) * call.grad_ranges + rows.range) *
                call.kv_len + low;
        outer<T, MQ>(flow, query_rows, call.head_dim, count, rows.count,
                     (T*)call.key_grad + at * call.head_dim);
        T* value_grad = (T*)call.value_grad + at * call.value_dim;
        outer<T, MQ>(cells, grad_rows, call.value_dim, count, rows.count, value_grad);
        if (!call.finite) add_special(count, value_grad);
    }

    // What is not finite in the output's gradient reaches the values that the row weighs.
    void add_special(int count, T* value_grad) const {
        for (int i = 0; i < rows.count; i++)
            for (int64_t d = 0; d < call.value_dim; d++) {
                const T x = E::widen(grad_of(i)[d * call.out_grad.dim]);
                if (x - x == 0) continue;
                for (int j = 0; j < count; j++)
                    if (cells[j * MQ + i] != 0)
                        value_grad[j * call.value_dim + d] += cells[j * MQ + i] * x;
            }
    }

    void write_query_grad() const {
        for (int i = 0; i < rows.count; i++) {
            S* to = (S*)call.query_grad + row_index(i) * call.head_dim;
            for (int64_t d = 0; d < call.head_dim; d++)
                to[d] = E::narrow(query_grad[d * MQ + i] * (T)call.scale);
        }
    }
