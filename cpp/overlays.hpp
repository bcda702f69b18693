    // ---- mask and bias, turned so that rows lie in lanes; inside Tile.

    // Where the row of each lane begins; whether all begin in one place.
    template <class X> bool find_rows(const Overlay& over, const X** row) const {
        bool alike = true;
        for (int i = 0; i < MQ; i++) {
            row[i] = (const X*)over.data + over.entry[rows.batch] * over.stride +
                     rows.head[lane(i)] * over.head + rows.query[lane(i)] * over.row;
            alike = alike && row[i] == row[0];
        }
        return alike;
    }

    void find_overlays() {
        if (call.mask.data) mask_alike = find_rows(call.mask, mask_row);
        if (call.bias.data) bias_alike = find_rows(call.bias, bias_row);
    }

    // Whether the mask shows none of these keys to any row.
    bool mask_hides(int64_t low, int count) const {
        for (int i = 0; i < (mask_alike ? 1 : rows.count); i++) {
            const uint8_t* from = mask_row[i] + low * call.mask.key;
            uint8_t any_shown = 0;
            if (call.mask.key == 1)
                for (int j = 0; j < count; j++) any_shown |= from[j];
            else
                for (int j = 0; j < count; j++) any_shown |= from[j * call.mask.key];
            if (any_shown) return false;
        }
        return true;
    }

    // `shows` holds a byte a cell. Bytes are turned VECTOR_BYTES keys at a time, 16 within each 128
    // bits, and stay in the order that this leaves: here is that of lane 0 of vector v for key j.
    static int64_t shown_at(int v, int j) {
        const int group = j / VECTOR_BYTES * VECTOR_BYTES;
        const int part = (j - group) / 16, byte = j % 16 * W;
        return (int64_t)(v * BLOCK + group) * W + byte / 16 * VECTOR_BYTES + part * 16 + byte % 16;
    }

    void load_mask(int64_t low, int count) {
        const int64_t step = call.mask.key;
        for (int v = 0; v < MV; v++) {
            const uint8_t* const* row = mask_row + v * W;
            if (mask_alike) {
                for (int j = 0; j < count; j++)
                    __builtin_memset(shows + shown_at(v, j), row[0][(low + j) * step], W);
            } else if (step == 1) {
                for (int j = 0; j < count; j += VECTOR_BYTES)
                    turn_mask(row, low + j, count - j, shows + (v * BLOCK + j) * W);
            } else {
                for (int j = 0; j < count; j++)
                    for (int i = 0; i < W; i++)
                        shows[shown_at(v, j) + i] = row[i][(low + j) * step];
            }
        }
    }

    static void turn_mask(const uint8_t* const* row, int64_t low, int count, uint8_t* to) {
        u8v block[W];
        if (count >= VECTOR_BYTES) {
#pragma GCC unroll 16
            for (int i = 0; i < W; i++) {
                __builtin_memcpy(&block[i], row[i] + low, VECTOR_BYTES);
                __builtin_prefetch(row[i] + low + VECTOR_BYTES);
            }
        } else {
            for (int i = 0; i < W; i++) {
                block[i] = u8v{};
                __builtin_memcpy(&block[i], row[i] + low, count);
            }
        }
        transpose<W>(block);
#pragma GCC unroll 16
        for (int i = 0; i < W; i++) *(u8v*)(to + i * VECTOR_BYTES) = block[i];
    }

    // The bias of vector v's rows for W keys, the rows in lanes; of only `count`, the rest is left.
    void turn_bias(int v, int64_t low, int count, T* to) const {
        const T* const* row = bias_row + v * W;
        const int64_t step = call.bias.key;
        if (bias_alike) {
            for (int j = 0; j < count; j++) store<T>(to + j * W, splat(row[0][(low + j) * step]));
        } else if (step == 1 && count == W) {
            V block[W];
#pragma GCC unroll 16
            for (int i = 0; i < W; i++) {
                block[i] = load_unaligned<T>(row[i] + low);
                __builtin_prefetch(row[i] + low + BLOCK);
            }
            transpose<W>(block);
#pragma GCC unroll 16
            for (int i = 0; i < W; i++) store<T>(to + i * W, block[i]);
        } else {
            for (int j = 0; j < count; j++)
                for (int i = 0; i < W; i++) to[j * W + i] = row[i][(low + j) * step];
        }
    }

    // Add the bias, set what a row does not see to -inf, and find each row's largest score again.
    void hide(int64_t low, int count, T* here, V* largest, State<T>& state) {
        if (call.mask.data) load_mask(low, count);
        switch ((cuts(low, count) ? 1 : 0) + (call.mask.data ? 2 : 0) + (call.bias.data ? 4 : 0)) {
            case 0: return hide_by<false, false, false>(low, count, here, largest, state);
            case 1: return hide_by<true, false, false>(low, count, here, largest, state);
            case 2: return hide_by<false, true, false>(low, count, here, largest, state);
            case 3: return hide_by<true, true, false>(low, count, here, largest, state);
            case 4: return hide_by<false, false, true>(low, count, here, largest, state);
            case 5: return hide_by<true, false, true>(low, count, here, largest, state);
            case 6: return hide_by<false, true, true>(low, count, here, largest, state);
            default: return hide_by<true, true, true>(low, count, here, largest, state);
        }
    }

    bool overlays(int64_t low, int count) const {
        return call.mask.data || call.bias.data || cuts(low, count);
    }

    // Whether some row does not see some of these keys, by causal, window or kv_lens.
    bool cuts(int64_t low, int count) const {
        for (int i = 0; i < MQ; i++)
            if (start[i] > low || stop[i] < low + count) return true;
        return false;
    }

    template <bool CUT, bool MASK, bool BIAS>
    void hide_by(int64_t low, int count, T* here, V* largest, State<T>& state) {
        alignas(VECTOR_BYTES) I from[MQ], to[MQ];
        if constexpr (CUT)
            for (int i = 0; i < MQ; i++) {
                const int64_t a = start[i] - low, b = stop[i] - low;
                from[i] = (I)(a < 0 ? 0 : a > count ? count : a);
                to[i] = (I)(b < 0 ? 0 : b > count ? count : b);
            }
        const V hidden = splat(-(T)__builtin_inf());
        for (int v = 0; v < MV; v++) {
            M seen = *(const M*)(state.seen + v * W);
            V most = hidden;
            alignas(VECTOR_BYTES) T bias[BIAS ? W * W : 1];
            for (int j = 0; j < count; j++) {
                if constexpr (BIAS)
                    if (j % W == 0) turn_bias(v, low + j, count - j < W ? count - j : W, bias);
                const int64_t cell = ((int64_t)j * MV + v) * W;
                V x = load<T>(here + cell);
                M sees = M{} - 1;
                if constexpr (CUT)
                    sees &= (*(const M*)(from + v * W) <= (I)j) & (*(const M*)(to + v * W) > (I)j);
                if constexpr (MASK) sees &= (M)(bytes_as<M>(shows + shown_at(v, j)) != M{});
                if constexpr (BIAS) {
                    const V added = load<T>(bias + j % W * W);
                    x += added;
                    sees &= (M)(added != hidden);  // NaN is no -inf
                }
                x = sees ? x : hidden;
                seen |= sees;
                store<T>(here + cell, x);
                most = larger(most, x);
            }
            *(M*)(state.seen + v * W) = seen;
            largest[v] = most;
        }
    }
