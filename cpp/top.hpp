    // ---- the best keys of each row; inside Tile. Lists fall; among equals the smaller key leads.

    // Scores that wait for their place, in the order of their keys: what one row has stands in one
    // lane, from the first line on.
    struct Waiting {
        alignas(VECTOR_BYTES) T score[BLOCK * W];
        alignas(VECTOR_BYTES) I key[BLOCK * W];
        alignas(VECTOR_BYTES) I held[W];
    };

    void find_top(int64_t low, int count, const T* here, const V* largest, State<T>& state) {
        const int64_t last_place = (top_list(call) - 1) * MQ;
        for (int v = 0; v < MV && v * W < rows.count; v++) {
            const int mine = rows.count - v * W < W ? rows.count - v * W : W;
            const uint32_t live = (uint32_t)-1 >> (32 - mine);  // other lanes are nobody's
            const V bar = load<T>(state.top_scores + last_place + v * W);
            if (!(bits(~(M)(largest[v] <= bar)) & live)) continue;  // NaN may hide a larger one
            Waiting line;
            int longest = -1;
            if (!(bits((M)(bar == splat(-(T)__builtin_inf()))) & live))
                longest = line_up(low, count, here + v * W, bar, live, line);
            if (call.top <= FEW) insert_few(low, count, here + v * W, line, longest, v, state);
            else insert_many(low, count, here + v * W, line, longest, v, state);
        }
    }

    // Once lists are full a key is new for one row of many. What passes each row's bar is lined up,
    // so that one insertion takes one score of every row; with few branches, for nobody can tell
    // which keys will pass. Returns the length of the longest line.
    int line_up(int64_t low, int count, const T* here, V bar, uint32_t live, Waiting& line) {
        constexpr int EACH = 8 * sizeof(I), PARTS = BLOCK / EACH;
        alignas(VECTOR_BYTES) I passing[PARTS][W];  // a bit for each key
        M some = M{};
        for (int part = 0; part < PARTS; part++) {
            M all = M{}, bit = M{} + 1;
            for (int j = part * EACH; j < count && j < (part + 1) * EACH; j++, bit <<= 1)
                all |= (M)(load<T>(here + j * MQ) > bar) & bit;
            *(M*)passing[part] = all;
            some |= all;
        }
        *(M*)line.held = M{};
        int longest = 0;
        for (uint32_t who = bits((M)(some != M{})) & live; who; who &= who - 1) {
            const int i = __builtin_ctz(who);
            uint64_t left = (uint64_t)passing[0][i];
            if (PARTS == 2) left = (uint32_t)left | (uint64_t)passing[PARTS - 1][i] << 32;
            const int held = __builtin_popcountll(left);
            int at = 0;
            do {
#pragma GCC unroll 4
                for (int n = 0; n < 4; n++, at++) {  // the last ones may be nobody's
                    const int j = __builtin_ctzll(left | 1ull << (BLOCK - 1));
                    line.score[at * W + i] = here[j * MQ + i];
                    line.key[at * W + i] = (I)(low + j);
                    left &= left - 1;
                }
            } while (at < held);
            line.held[i] = held;
            longest = held > longest ? held : longest;
        }
        return longest;
    }

    // One sorted insertion for all lanes at once, the whole list in registers: a place takes the
    // new score, its neighbour's, or keeps its own. Without lines, -1, the block itself goes in.
    void insert_few(int64_t low, int count, const T* here, const Waiting& line, int longest, int v,
                    State<T>& state) {
        V score[FEW];
        M key[FEW];
#pragma GCC unroll 8
        for (int k = 0; k < FEW; k++) {
            score[k] = load<T>(state.top_scores + k * MQ + v * W);
            key[k] = *(const M*)(state.top_keys + k * MQ + v * W);
        }
        const auto insert = [&](V x, M position) __attribute__((always_inline)) {
            M at = (M)(x > score[FEW - 1]);
#pragma GCC unroll 8
            for (int k = FEW - 1; k > 0; k--) {
                const M before = (M)(x > score[k - 1]);
                const V next = before ? score[k - 1] : x;
                const M next_key = before ? key[k - 1] : position;
                score[k] = at ? next : score[k];
                key[k] = at ? next_key : key[k];
                at = before;
            }
            score[0] = at ? x : score[0];
            key[0] = at ? position : key[0];
        };
        if (longest < 0)
            for (int j = 0; j < count; j++) {
                const V x = load<T>(here + j * MQ);
                if (any((M)(x > score[FEW - 1]))) insert(x, M{} + (I)(low + j));
            }
        for (int j = 0; j < longest; j++) insert(waiting(line, j), *(const M*)(line.key + j * W));
#pragma GCC unroll 8
        for (int k = 0; k < FEW; k++) {
            store<T>(state.top_scores + k * MQ + v * W, score[k]);
            *(M*)(state.top_keys + k * MQ + v * W) = key[k];
        }
    }

    static V waiting(const Waiting& line, int j) {
        const M there = (M)(*(const M*)line.held > (I)j);
        return there ? load<T>(line.score + j * W) : splat(-(T)__builtin_inf());
    }

    // The same in memory, for lists of any length.
    void insert_many(int64_t low, int count, const T* here, const Waiting& line, int longest, int v,
                     State<T>& state) {
        const T* bar = state.top_scores + (call.top - 1) * MQ + v * W;
        for (int j = 0; j < (longest < 0 ? count : longest); j++) {
            V pushed = longest < 0 ? load<T>(here + j * MQ) : waiting(line, j);
            if (!any((M)(pushed > load<T>(bar)))) continue;
            M pushed_key = longest < 0 ? M{} + (I)(low + j) : *(const M*)(line.key + j * W);
            M moved = M{};  // whether this lane has found its place above
            for (int64_t k = 0; k < call.top; k++) {
                T* score_at = state.top_scores + k * MQ + v * W;
                M* key_at_k = (M*)(state.top_keys + k * MQ + v * W);
                const V old = load<T>(score_at);
                const M old_key = *key_at_k;
                moved |= (M)(pushed > old);
                store<T>(score_at, moved ? pushed : old);
                *key_at_k = moved ? pushed_key : old_key;
                pushed = moved ? old : pushed;
                pushed_key = moved ? old_key : pushed_key;
            }
        }
    }
