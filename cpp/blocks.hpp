    // ---- blocks of weights: the largest of each, and their sum; inside Tile.

    // A row is lost where its weights are NaN, but those of hidden keys, which are 0.
    void spoil(const T* weigh_by, int64_t low, int64_t high, int64_t per, T* most, T* sum,
               int64_t columns) const {
        const T nan = (T)__builtin_nan("");
        for (int i = 0; i < rows.count; i++) {
            if (!is_lost(weigh_by[i])) continue;
            const int64_t row = rows.place[i] / per * columns;
            for (int64_t key = low; key < high; key++)
                if (row_sees(i, key)) {
                    most[row + (key - call.key_from) / per] = nan;
                    if (sum) sum[row + (key - call.key_from) / per] = nan;
                }
        }
    }
    bool any_lost(const T* weigh_by) const {
        for (int i = 0; i < rows.count; i++)
            if (is_lost(weigh_by[i])) return true;
        return false;
    }

    // What each row has of a block of cells, BAND keys at a time, while `peak` is its row_max; a
    // block that nobody sees has no cells.
    void keep_blocks(int64_t block, int64_t low, int count, const T* here, const State<T>& state) {
        for (int v = 0; v < MV; v++) {
            store<T>(peak + block / BLOCK * MQ + v * W, load<T>(state.row_max + v * W));
            for (int64_t half = 0; half < BLOCK / BAND; half++) {
                const int64_t from = block + half * BAND - low, to = from + BAND;
                V most = V{}, sum = V{};
                for (int64_t j = from > 0 ? from : 0; j < (to < count ? to : count); j++) {
                    const V x = load<T>(here + (j * MV + v) * W);
                    most = larger(most, x);
                    sum += x;
                }
                store<T>(block_tops + (block / BAND + half) * MQ + v * W, most);
                store<T>(block_sums + (block / BAND + half) * MQ + v * W, sum);
            }
        }
    }

    // The rows' blocks together, once their final sums are known: lanes along W blocks.
    void write_blocks(const T* weigh_by, const T* shift) {
        const int64_t columns = (call.kv_len + BAND - 1) / BAND, row = rows.place[0] / BAND;
        T* most = (T*)call.block_max + row * columns;
        T* sum = (T*)call.block_sum + row * columns;
        const int64_t begin = first / BAND, end = (last + BAND - 1) / BAND;
        for (int64_t n = begin; n < end; n += W) {
            const int count = (int)(end - n < W ? end - n : W);
            V tops[W], sums[W];
            for (int i = 0; i < W; i++) {
                const int64_t at = n + (i < count ? i : 0);
                tops[i] = sums[i] = V{};
                for (int v = 0; v < MV; v++) {
                    const V by = factors(at, v, weigh_by, shift);
                    const M takes = (M)(by != V{});
                    const V top = load<T>(block_tops + at * MQ + v * W) * by;
                    const V all = load<T>(block_sums + at * MQ + v * W) * by;
                    tops[i] = larger(tops[i], takes ? top : V{});
                    sums[i] += takes ? all : V{};
                }
            }
            transpose<W>(tops);
            transpose<W>(sums);
            V top = tops[0], all = sums[0];
            for (int i = 1; i < W; i++) {
                top = larger(top, tops[i]);
                all += sums[i];
            }
            for (int i = 0; i < count; i++) {
                if (top[i] > most[n + i]) most[n + i] = top[i];
                sum[n + i] += all[i];
            }
        }
        if (any_lost(weigh_by)) {
            T *all_most = (T*)call.block_max, *all_sum = (T*)call.block_sum;
            spoil(weigh_by, first, last, BAND, all_most, all_sum, columns);
        }
    }

    // What turns a block's cells into weights; 0 for a row that is lost, empty, or none: an idle
    // lane's `peak` has no meaning.
    V factors(int64_t at, int v, const T* weigh_by, const T* shift) const {
        const V before = load<T>(peak + at / (BLOCK / BAND) * MQ + v * W);
        const V by = load<T>(weigh_by + v * W);
        const V moved = exp_of<T>(larger(splat(Of<T>::LOWEST), before) - load<T>(shift + v * W));
        return (M)(by != V{}) & (M)(by - by == V{}) ? moved * by : V{};
    }

    // A rectangle of rows whose sums are known: nothing is asked of the keys beside it.
    void run_rectangle(void* scratch) {
        open(scratch);
        alignas(VECTOR_BYTES) T weigh_by[MQ], shift[MQ], takes[MQ];
        for (int i = 0; i < MQ; i++) {
            const int64_t at = rows.place[lane(i)];
            weigh_by[i] = ((const T*)call.factor)[at];
            shift[i] = ((const T*)call.shift)[at];
            takes[i] = i < rows.count && !is_lost(weigh_by[i]) ? weigh_by[i] : 0;
        }
        const int64_t stop_at = call.key_from + call.key_count;
        const int64_t begin = first > call.key_from ? first : call.key_from;
        const int64_t end = last < stop_at ? last : stop_at;
        const int64_t columns = (call.key_count + call.block - 1) / call.block;
        for (int64_t block = begin / BLOCK * BLOCK; block < end; block += BLOCK) {
            const int64_t low = block > begin ? block : begin;
            const int count = (int)((block + BLOCK < end ? block + BLOCK : end) - low);
            if (call.mask.data && mask_hides(low, count)) continue;
            find_weights(low, count, takes, shift);
            for (int j = 0; j < count;) {  // blocks are aligned, the first key need not be
                const int64_t key = low + j, next = (key / call.block + 1) * call.block;
                const int many = (int)(next - low < count ? next - low : count) - j;
                add_block(j, many, (key - call.key_from) / call.block, columns);
                j += many;
            }
        }
        if (any_lost(weigh_by))
            spoil(weigh_by, begin, end, call.block, (T*)call.block_max, (T*)call.block_sum, columns);
    }

    // The weights of a block of keys, in `cells`; on the way their scores before the bias, `capped`.
    void find_weights(int64_t low, int count, const T* takes, const T* shift) {
        V largest[MV];
        for (int v = 0; v < MV; v++) largest[v] = splat(-(T)__builtin_inf());
        multiply(low, count, cells, largest);
        if (scale_later || call.softcap > 0) shape_scores(cells, count);
        if (call.out_grad.data && call.softcap > 0)
            __builtin_memcpy(capped, cells, (int64_t)count * MQ * sizeof(T));
        if (overlays(low, count)) hide(low, count, cells, largest, whole);
        to_weights(count, takes, shift);
    }

    // Turn scores in `cells` into weights; 0 where a row takes 0.
    void to_weights(int count, const T* takes, const T* shift) {
        for (int v = 0; v < MV; v++) {
            const V by = load<T>(takes + v * W), less = load<T>(shift + v * W);
            for (int j = 0; j < count; j++) {
                T* cell = cells + (j * MV + v) * W;
                const V x = exp_of<T>(load<T>(cell) - less) * by;
                store<T>(cell, (M)(by != V{}) ? x : V{});
            }
        }
    }

    // `many` keys from `j` lie in one column of blocks; so many rows share a row of them.
    void add_block(int j, int many, int64_t column, int64_t columns) {
        alignas(VECTOR_BYTES) T tops[MQ], sums[MQ];
        for (int v = 0; v < MV; v++) {
            V top = load<T>(cells + (j * MV + v) * W), sum = top;
            for (int n = 1; n < many; n++) {
                const V x = load<T>(cells + ((j + n) * MV + v) * W);
                top = larger(top, x);
                sum += x;
            }
            store<T>(tops + v * W, top);
            store<T>(sums + v * W, sum);
        }
        for (int i = 0; i < rows.count; i++) {
            const int64_t at = rows.place[i] / call.block * columns + column;
            T* most = (T*)call.block_max + at;
            if (tops[i] > *most) *most = tops[i];
            if (call.block_sum) ((T*)call.block_sum)[at] += sums[i];
        }
    }
