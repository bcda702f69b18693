    // ---- queries, turned so that rows lie in lanes; inside Tile.

    const S* key_at(int64_t key) const {
        return (const S*)call.key.data + rows.batch * call.key.batch +
               rows.kv_head * call.key.head + key * call.key.row;
    }
    const S* value_at(int64_t key) const {
        return (const S*)call.value.data + rows.batch * call.value.batch +
               rows.kv_head * call.value.head + key * call.value.row;
    }

    void load_query() {
        const T size = (T)(call.scale < 0 ? -call.scale : call.scale);
        scale_later = !(size == 0 || (size >= (T)0x1p-64 && size <= 1));
        const T scale = scale_later ? (T)1 : (T)call.scale;
        for (int v = 0; v < MV; v++) {
            const S* from[W];
            for (int i = 0; i < W; i++) {
                const int at = lane(v * W + i);
                from[i] = (const S*)call.query.data + rows.batch * call.query.batch +
                          rows.head[at] * call.query.head + rows.query[at] * call.query.row;
            }
            if constexpr (E::PAIRS) {
                int64_t d = 0;
                if (call.query.dim == 1)
                    for (; d + 2 * W <= call.head_dim; d += 2 * W) {
                        V block[W];
                        for (int i = 0; i < W; i++)
                            __builtin_memcpy(&block[i], from[i] + d, VECTOR_BYTES);
                        transpose<W>(block);
                        for (int i = 0; i < W; i++)
                            store<T>((T*)query_pairs + ((d / 2 + i) * MV + v) * W, block[i]);
                    }
                for (; d < call.head_dim; d += 2)
                    for (int i = 0; i < W; i++) {
                        const S* at = from[i] + d * call.query.dim;
                        const uint32_t next = d + 1 < call.head_dim ? at[call.query.dim] : 0;
                        query_pairs[(d / 2 * MV + v) * W + i] = (uint32_t)at[0] | next << 16;
                    }
                continue;
            }
            int64_t d = 0;
            if (call.query.dim == 1)
                for (; d + W <= call.head_dim; d += W) {
                    V block[W];
                    for (int i = 0; i < W; i++) block[i] = load_widened(from[i] + d) * scale;
                    transpose<W>(block);
                    for (int i = 0; i < W; i++) store<T>(query + ((d + i) * MV + v) * W, block[i]);
                }
            for (; d < call.head_dim; d++)
                for (int i = 0; i < W; i++)
                    query[(d * MV + v) * W + i] = E::widen(from[i][d * call.query.dim]) * scale;
        }
    }

    INLINE V load_widened(const S* from) {
        if constexpr (E::IN_PLACE) {
            return load_unaligned<T>(from);
        } else {
            u16w x;
            __builtin_memcpy(&x, from, sizeof x);
            return E::widen(x);
        }
    }
