    // ---- a block of keys and of values, read where they lie or widened; inside Tile.

    // The products of a block's keys with the tile's rows, and each row's largest. What no row of a
    // vector sees may be anything, until `hide` has been there.
    void multiply(int64_t low, int count, T* here, V* largest) {
#if defined(__AVX512BF16__)
        if constexpr (E::PAIRS) {
            const S* from = key_at(low);
            int64_t row = call.key.row;
            if (call.key.dim != 1) {
                copy_block(from, row, call.key.dim, count, call.head_dim);
                from = plain;
                row = call.head_dim;
            }
            const float scale = scale_later ? 1.0f : (float)call.scale;
            if (is_thin())
                products_of_few_pairs(query_pairs, from, row, call.head_dim, scale, count,
                                      rows.count, here, largest);
            else
                products_of_pairs<MV>(query_pairs, from, row, call.head_dim, scale, count, here,
                                      largest);
            return;
        }
#endif
        const T* from = keys;
        int64_t row = call.head_dim, dim = 1;
        if constexpr (E::IN_PLACE) {
            from = key_at(low);
            row = call.key.row;
            dim = call.key.dim;
        } else if (call.kept_keys) {
            from = kept_widened(low, KEYS_READY, call.key, key_at(0), call.head_dim, kept_keys);
        } else {
            widen_rows<E>(key_at(low), call.key.row, call.key.dim, count, call.head_dim, keys);
        }
        if (is_thin() && dim == 1)
            products_of_few<T>(query, from, row, call.head_dim, count, rows.count, here, largest);
        else
            products<T, MV, STEP>(query, from, row, dim, call.head_dim, shared_keys(low, count),
                                  count, here, largest);
    }

    // Where the numbers of key `low` stand widened, in what is kept; a block is widened but once.
    const T* kept_widened(int64_t low, uint8_t what, const Strided& given, const S* numbers,
                          int64_t dim, T* all) {
        if (!(ready[low / BLOCK] & what)) {
            const int64_t block = low / BLOCK * BLOCK;
            widen_rows<E>(numbers + block * given.row, given.row, given.dim, keys_of(block), dim,
                          all + block * dim);
            ready[low / BLOCK] |= what;
        }
        return all + low * dim;
    }

    // How many keys of a block there are, padding left out.
    int keys_of(int64_t block) const {
        const int64_t valid = call.kv_lens ? call.kv_lens[rows.batch] : call.kv_len;
        return (int)(valid - block < BLOCK ? valid - block : BLOCK);
    }

    void copy_block(const S* from, int64_t row, int64_t step, int count, int64_t dim) {
        for (int j = 0; j < count; j++)
            for (int64_t d = 0; d < dim; d++) plain[j * dim + d] = from[j * row + d * step];
    }

    void read_values(int64_t low, int count, const T* here, State<T>& state, const V* keep,
                     bool finite_only) {
#if defined(__AVX512BF16__)
        if constexpr (E::PAIRS) {
            read_value_pairs(low, count, here, state, keep, finite_only);
            return;
        }
#endif
        const T* from = values;
        int64_t row = call.value_dim, dim = 1;
        if (!finite_only && !E::IN_PLACE && call.kept_keys) {
            from = kept_widened(low, VALUES_READY, call.value, value_at(0), call.value_dim,
                                kept_values);
        } else if (finite_only || !E::IN_PLACE) {
            widen_rows<E>(value_at(low), call.value.row, call.value.dim, count, call.value_dim,
                          values);
            if (finite_only) set_special_apart(low, count, here);
        } else {
            from = (const T*)value_at(low);
            row = call.value.row;
            dim = call.value.dim;
        }
        if (is_thin() && dim == 1)
            blend_of_few<T>(here, from, row, call.value_dim, count, rows.count, keep, state.acc);
        else
            blend<T, MV, STEP>(here, from, row, dim, call.value_dim, shared_keys(low, count), count,
                               keep, state.acc);
    }

#if defined(__AVX512BF16__)
    void read_value_pairs(int64_t low, int count, const T* here, State<T>& state, const V* keep,
                          bool finite_only) {
        const S* from = value_at(low);
        int64_t row = call.value.row;
        if (finite_only) {
            widen_rows<E>(from, row, call.value.dim, count, call.value_dim, values);
            set_special_apart(low, count, here);
            for (int64_t i = 0; i < count * call.value_dim; i++) plain[i] = E::narrow(values[i]);
        } else if (call.value.dim != 1) {
            copy_block(from, row, call.value.dim, count, call.value_dim);
        }
        if (finite_only || call.value.dim != 1) {
            from = plain;
            row = call.value_dim;
        }
        const int all = pair_weights<MV>(here, low, count, weight_pairs);
        if (is_thin()) {
            blend_of_few_pairs(weight_pairs, from, row, low, count, all, call.value_dim, rows.count,
                               keep[0], value_pairs, state.acc);
            return;
        }
        const uint32_t* pairs = value_pairs;
        if (call.kept_keys && !finite_only && call.value.dim == 1) {
            const int64_t block = low / BLOCK * BLOCK;
            if (!(ready[low / BLOCK] & VALUES_READY)) {
                pair_values(value_at(block), row, block, keys_of(block), call.value_dim,
                            kept_pairs + block / 2 * call.value_dim);
                ready[low / BLOCK] |= VALUES_READY;
            }
            pairs = kept_pairs + low / 2 * call.value_dim;
        } else {
            pair_values(from, row, low, count, call.value_dim, value_pairs);
        }
        blend_pairs<MV>(weight_pairs, pairs, call.value_dim, all, keep, state.acc);
    }
#endif

    // A value that is not finite goes, as NaN or inf, into its own column of the rows that see its
    // key, and into no other: it is taken out of the product, where 0 * NaN would be NaN.
    void set_special_apart(int64_t low, int count, const T* here) {
        for (int j = 0; j < count; j++)
            for (int64_t d = 0; d < call.value_dim; d++) {
                T& x = values[j * call.value_dim + d];
                if (x - x == 0) continue;
                for (int i = 0; i < rows.count; i++)
                    if (row_sees(i, low + j)) special[d * MQ + i] += here[j * MQ + i] * x;
                x = 0;
            }
    }
