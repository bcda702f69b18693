// One tile: some rows of one kv head, one a lane, against all the keys that they see. Included in a
// unit. The state of a lookup, its merge and its end are those of softlookup/partials.py.

// Room in a thread's scratch memory, handed out piece by piece; counts only where `base` is null.
struct Room {
    char* base;
    int64_t used;
    template <class X> X* take(int64_t count) {
        X* here = base ? (X*)(base + used) : nullptr;
        used += (count * (int64_t)sizeof(X) + 63) / 64 * 64;
        return here;
    }
};

// The best keys of a row are kept in a list of at least FEW: so many fit into registers.
constexpr int FEW = 8;
INLINE int64_t top_list(const Call& call) {
    return call.top == 0 || call.top > FEW ? call.top : FEW;
}

// What is known of the rows after some keys. Leading axes: keys or dims, then lanes.
template <class T> struct State {
    T *row_max, *row_sum, *heat;  // heat: sum of exp(x) * x with x = score - row_max
    T* acc;                       // (value_dim, lanes)
    typename Of<T>::I* seen;      // -1 where any key is visible
    T* top_scores;                // (top, lanes), falling
    typename Of<T>::I* top_keys;

    void lay_out(Room& room, const Call& call, int width) {
        typedef typename Of<T>::I I;
        row_max = room.take<T>(width);
        row_sum = room.take<T>(width);
        heat = room.take<T>(width);
        seen = room.take<I>(width);
        acc = room.take<T>(call.value.data ? call.value_dim * width : 0);
        top_scores = room.take<T>(top_list(call) * width);
        top_keys = room.take<I>(top_list(call) * width);
    }
};

// Whose keys and values a thread has widened, one head's at a time; zero at first: nobody's.
struct Kept {
    int64_t batch, kv_head;  // each plus one
};
constexpr uint8_t KEYS_READY = 1, VALUES_READY = 2;

template <class E, int MV, int STEP> struct Tile {
    typedef typename E::T T;
    typedef typename E::S S;
    typedef typename Of<T>::V V;
    typedef typename Of<T>::M M;
    typedef typename Of<T>::I I;
    static constexpr int W = lanes<T>(), MQ = MV * W;

    const Call& call;
    const Rows& rows;
    int64_t start[MQ], stop[MQ], first, last;
    int64_t early_last;  // where the keys end that any row but the last vector's sees
    T* query;                // (head_dim, lanes), scaled where that is safe
    T *cells, *strip, *peak;  // scores, then exp(score - row_max), of a block; of all; row_max then
    T *keys, *values;        // a block, widened
    uint32_t *query_pairs, *weight_pairs, *value_pairs;  // where dots take pairs
    uint16_t* plain;         // a block of keys or values, copied
    T *special, *shares;  // shares: (groups, then bins; lanes), then what rounding took
    Kept* kept;              // and what is kept of that head, where tiles share it:
    uint8_t* ready;          // blocks that are widened
    T *kept_keys, *kept_values;
    uint32_t* kept_pairs;
    uint8_t* shows;  // not 0 where the mask shows
    const uint8_t* mask_row[MQ];  // what each lane's row has of the overlays
    const T* bias_row[MQ];
    bool mask_alike = false, bias_alike = false;
    T *block_tops, *block_sums;  // of each row and BAND keys, relative to `peak`
    T *query_grad, *grad_lanes, *query_rows, *grad_rows, *flow, *capped, *wide_keys;
    T *all_weights, *all_flow, *all_capped;  // of all keys, or of a block
    State<T> whole, part;
    bool scale_later, keeps_strip, keeps_blocks;

    Tile(const Call& c, const Rows& r) : call(c), rows(r) {}

    static bool wants_strip(const Call& c) {
        return c.received || c.groups || c.distance || c.weights;
    }

    // Lay out everything; the same code counts how much that is.
    int64_t lay_out(void* scratch) {
        Room room{(char*)scratch, 0};
        keeps_strip = wants_strip(call);
        keeps_blocks = call.bands != nullptr;
        const int64_t keep = E::IN_PLACE ? 0 : call.kept_keys;
        kept = room.take<Kept>(1);
        ready = room.take<uint8_t>(keep ? keep / BLOCK + 1 : 0);
        kept_keys = room.take<T>(E::PAIRS ? 0 : keep * call.head_dim);
        kept_values = room.take<T>(E::PAIRS ? 0 : keep * call.value_dim);
        kept_pairs = room.take<uint32_t>(E::PAIRS ? (keep + 1) / 2 * call.value_dim : 0);
        query = room.take<T>(E::PAIRS ? 0 : call.head_dim * MQ);
        query_pairs = room.take<uint32_t>(E::PAIRS ? (call.head_dim + 1) / 2 * MQ : 0);
        weight_pairs = room.take<uint32_t>(E::PAIRS ? (BLOCK / 2 + 1) * MQ : 0);
        value_pairs = room.take<uint32_t>(E::PAIRS ? (BLOCK / 2 + 1) * call.value_dim : 0);
        const int64_t wider = call.head_dim > call.value_dim ? call.head_dim : call.value_dim;
        plain = room.take<uint16_t>(E::PAIRS ? BLOCK * wider : 0);
        cells = room.take<T>(BLOCK * MQ);
        shows = room.take<uint8_t>(call.mask.data ? BLOCK * MQ : 0);
        keys = room.take<T>(E::IN_PLACE || E::PAIRS ? 0 : BLOCK * call.head_dim);
        values = room.take<T>(BLOCK * call.value_dim);
        special = room.take<T>(call.value_dim * MQ);
        shares = room.take<T>(2 * (call.group_count + call.bin_count) * MQ);
        if (keeps_strip) {
            Room shared{(char*)rows.strip, 0};
            Room& there = rows.strip ? shared : room;
            strip = there.template take<T>((call.kv_len + BLOCK) * MQ);
            peak = there.template take<T>((call.kv_len / BLOCK + 2) * MQ);
        }
        if (keeps_blocks) {
            const int64_t blocks = call.kv_len / BLOCK + 2;
            peak = room.take<T>(blocks * MQ);
            block_tops = room.take<T>(blocks * (BLOCK / BAND) * MQ);
            block_sums = room.take<T>(blocks * (BLOCK / BAND) * MQ);
        }
        if (call.out_grad.data) lay_out_backward(room);
        whole.lay_out(room, call, MQ);
        part.lay_out(room, call, MQ);
        return room.used;
    }

    // Few rows: memory is the limit, and idle lanes cost.
    bool is_thin() const { return MV == 1 && rows.count <= 8 && rows.count * 2 <= W; }

    int lane(int i) const {
        const int most = rows.count > 0 ? rows.count - 1 : 0;
        return i < most ? i : most;
    }

#include "spans.hpp"
#include "loading.hpp"
#include "overlays.hpp"
#include "reading.hpp"

    // ---- one chunk of keys

    void empty(State<T>& state) const {
        for (int i = 0; i < MQ; i++) {
            state.row_max[i] = -(T)__builtin_inf();
            state.row_sum[i] = state.heat[i] = 0;
            state.seen[i] = 0;
        }
        if (call.value.data)
            __builtin_memset(state.acc, 0, call.value_dim * MQ * sizeof(T));
        for (int64_t k = 0; k < top_list(call) * MQ; k++) {
            state.top_scores[k] = -(T)__builtin_inf();
            state.top_keys[k] = -1;
        }
    }

    // Gather the keys of one chunk that the tile sees into `state`, which starts empty.
    void gather(int64_t chunk, State<T>& state, bool finite_only) {
        const int64_t begin = chunk * CHUNK;
        const int64_t end = begin + CHUNK < last ? begin + CHUNK : last;
        for (int64_t block = begin; block < end; block += BLOCK) {
            const int64_t low = block > first ? block : first;
            const int64_t high = block + BLOCK < end ? block + BLOCK : end;
            if (low >= high) continue;
            const int count = (int)(high - low);
            T* here = keeps_strip ? strip + low * MQ : cells;
            if (call.mask.data && mask_hides(low, count)) {
                if (keeps_strip) skip(block, count, here, state);
                if (keeps_blocks) keep_blocks(block, low, 0, here, state);
                continue;
            }
            take(block, low, count, here, state, finite_only);
        }
    }

    // A block that nobody sees leaves a strip of zeros.
    void skip(int64_t block, int count, T* here, const State<T>& state) {
        __builtin_memset(here, 0, (int64_t)count * MQ * sizeof(T));
        for (int i = 0; i < MQ; i++) peak[block / BLOCK * MQ + i] = state.row_max[i];
    }

    void take(int64_t block, int64_t low, int count, T* here, State<T>& state, bool finite_only) {
        V largest[MV];
        for (int v = 0; v < MV; v++) largest[v] = splat(-(T)__builtin_inf());
        multiply(low, count, here, largest);
        if (scale_later || call.softcap > 0) shape_scores(here, count);
        if (scale_later || call.softcap > 0 || overlays(low, count))
            hide(low, count, here, largest, state);
        else
            for (int v = 0; v < MV; v++) *(M*)(state.seen + v * W) = M{} - 1;
        if (call.top) find_top(low, count, here, largest, state);
        V keep[MV];
        weigh(low, count, here, largest, state, keep);
        if (keeps_strip)
            for (int v = 0; v < MV; v++)
                store<T>(peak + block / BLOCK * MQ + v * W, load<T>(state.row_max + v * W));
        if (keeps_blocks) keep_blocks(block, low, count, here, state);
        if (call.value.data) read_values(low, count, here, state, keep, finite_only);
    }

    static constexpr T BIG = -Of<T>::LOWEST, TINY = sizeof(T) == 4
                                 ? (T)1.17549435082228750797e-38
                                 : (T)2.22507385850720138309e-308;

    // The cap as a number that T has; 0 where there is none.
    T cap() const {
        const double given = call.softcap;
        if (given > 0 && given < (double)TINY) return TINY;
        return given > (double)BIG ? BIG : (T)given;
    }

    // Scale and cap products where the query could not be scaled beforehand.
    void shape_scores(T* here, int count) {
        T factor = (T)call.scale, again = 1;
        const double size = call.scale < 0 ? -call.scale : call.scale;
        if (size > (double)BIG || size < (double)TINY) {
            again = size > 1 ? (T)0x1p64 : (T)0x1p-64;
            double rest = call.scale / (double)again;
            if (rest > (double)BIG) rest = (double)BIG;
            if (rest < -(double)BIG) rest = -(double)BIG;
            factor = (T)rest;
        }
        const T most = cap();
        for (int j = 0; j < count * MV; j++) {
            V x = load<T>(here + j * W);
            if (scale_later) x = x * factor * again;
            if (most > 0) x = most * tanh_of<T>(x / most);
            store<T>(here + j * W, x);
        }
    }

    // Turn scores into exp(score - row_max), and bring the state to the new row_max.
    void weigh(int64_t low, int count, T* here, const V* largest, State<T>& state, V* keep) {
        const V lowest = splat(Of<T>::LOWEST), deep = splat(Of<T>::NOTHING);
        const int shared = shared_keys(low, count);
        for (int v = 0; v < MV; v++) {
            const int some = v + 1 < MV ? shared : count;
            const V before = load<T>(state.row_max + v * W);
            const V now = larger(before, largest[v]);
            const V shift = larger(lowest, now);  // -inf - -inf would be NaN
            keep[v] = exp_of<T>(before - shift);
            V sum = V{}, heat = V{};
            if (call.entropy)
                for (int j = 0; j < some; j++) {
                    T* cell = here + (j * MV + v) * W;
                    const V x = load<T>(cell) - shift;
                    const V p = exp_of<T>(x);
                    sum += p;
                    heat = fma(p, larger(deep, x), heat);
                    store<T>(cell, p);
                }
            else
                for (int j = 0; j < some; j++) {
                    T* cell = here + (j * MV + v) * W;
                    const V p = exp_of<T>(load<T>(cell) - shift);
                    sum += p;
                    store<T>(cell, p);
                }
            for (int j = some; j < count; j++) store<T>(here + (j * MV + v) * W, V{});
            const V row_sum = load<T>(state.row_sum + v * W);
            if (call.entropy) {
                const V moved = larger(deep, before - shift);
                const V old = fma(moved, row_sum, load<T>(state.heat + v * W));
                store<T>(state.heat + v * W, fma(old, keep[v], heat));
            }
            store<T>(state.row_sum + v * W, fma(row_sum, keep[v], sum));
            store<T>(state.row_max + v * W, now);
        }
    }

#include "top.hpp"
#include "merge.hpp"
#include "facts.hpp"
#include "blocks.hpp"
#include "finish.hpp"
#include "parts.hpp"
#include "backward.hpp"

    // ---- the ways to run a tile

    void open(void* scratch) {
        lay_out(scratch);
        if (!E::IN_PLACE && call.kept_keys &&
            (kept->batch != rows.batch + 1 || kept->kv_head != rows.kv_head + 1)) {
            *kept = Kept{rows.batch + 1, rows.kv_head + 1};
            __builtin_memset(ready, 0, call.kept_keys / BLOCK + 1);
        }
        find_spans();
        find_overlays();
        load_query();
    }

    void run(void* scratch) {
        if (call.part_count) return call.merging ? run_merge(scratch) : run_parts(scratch);
        if (call.known) return run_known(scratch);
        open(scratch);
        gather_all(false);
        end();
    }

    // Gather one chunk into a state of its own.
    void run_part(int64_t chunk, void* scratch, void* memory) {
        open(scratch);
        State<T> state;
        Room room{(char*)memory, 0};
        state.lay_out(room, call, MQ);
        empty(state);
        gather(chunk, state, false);
    }

    // Merge the states of all chunks, from the first to the last, and end.
    void run_end(void* const* states, int64_t count, void* scratch) {
        open(scratch);
        empty(whole);
        for (int64_t chunk = first / CHUNK; chunk * CHUNK < last && chunk < count; chunk++) {
            State<T> state;
            Room room{(char*)states[chunk], 0};
            state.lay_out(room, call, MQ);
            merge(whole, state);
        }
        end();
    }

    void end() {
        if (call.value.data && !is_finite(whole)) {
            __builtin_memset(special, 0, call.value_dim * MQ * sizeof(T));
            gather_all(true);
            finish(true);
        } else {
            finish(false);
        }
    }

    void gather_all(bool finite_only) {
        empty(whole);
        bool begun = false;
        for (int64_t chunk = first / CHUNK; chunk * CHUNK < last; chunk++) {
            if (!begun) {
                gather(chunk, whole, finite_only);
                begun = true;
                continue;
            }
            empty(part);
            gather(chunk, part, finite_only);
            merge(whole, part);
        }
    }

    // Whether every number of the output is finite: else a value may not have been.
    bool is_finite(const State<T>& state) const {
        V odd = V{};
        for (int64_t d = 0; d < call.value_dim * MV; d++) {
            const V x = load<T>(state.acc + d * W);
            odd += x - x;
        }
        return !any(~(M)(odd == V{}));
    }
};
