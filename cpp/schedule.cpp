#include "schedule.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "pool.hpp"

namespace softlookup {
namespace {

constexpr int64_t MOST_RANGES = 16;       // of a head, each with its own sums of `received`
constexpr int64_t MOST_KEPT = 8 << 20;    // bytes of widened keys and values, a thread
constexpr int64_t SHARED_BY = 4;          // tiles of a head, from where on it pays to keep them
constexpr double ALONE = 4e6;             // operations below which one thread is faster

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

Memory memory_of(int64_t bytes) {
    void* memory = std::aligned_alloc(64, (std::size_t)((bytes + 64) / 64 * 64));
    if (!memory) throw std::bad_alloc();
    std::memset(memory, 0, 64);  // of a thread's memory: nothing is kept yet
    return Memory(memory);
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Set rows `from` ... `from + width` of a head, or of a whole group where `head` is negative.
void set_rows(const Call& call, Rows& rows, int64_t head, int64_t from, int64_t width) {
    const int64_t group = call.heads / call.kv_heads;
    const int64_t all = head < 0 ? group * call.row_count : call.row_count;
    rows.count = (int32_t)std::min(width, all - from);
    for (int i = 0; i < rows.count; i++) {
        const int64_t row = from + i;
        rows.head[i] = (int32_t)(head < 0 ? rows.kv_head * group + row / call.row_count : head);
        rows.place[i] = head < 0 ? row % call.row_count : row;
        rows.query[i] = call.rows ? call.rows[rows.place[i]] : rows.place[i];
    }
}

}  // namespace

Cut cut_of(const Call& call, const Unit& unit) {
    const int64_t group = call.heads / call.kv_heads;
    const int32_t lanes = unit.lanes(call), widest = unit.widest(call);
    Cut cut{};
    cut.folded = group > 1 && call.row_count < lanes;
    const int64_t rows = cut.folded ? group * call.row_count : call.row_count;
    const bool narrow = call.causal || call.left >= 0 || call.right >= 0;
    cut.width = narrow && call.kv_len <= 128 ? lanes : widest;
    if (rows <= lanes) cut.width = lanes;
    cut.tiles = ceil_div(rows, cut.width);
    cut.range_tiles = 1;
    if (call.received) {
        cut.range_tiles = ceil_div(cut.tiles, MOST_RANGES);
        if (cut.folded) cut.range_tiles = cut.tiles;
    }
    cut.ranges = ceil_div(cut.tiles, cut.range_tiles);
    return cut;
}

namespace {

// The items of a call: `index` to rows.
struct Plan {
    const Call& call;
    const Unit& unit;
    Cut cut;
    int64_t per_batch, items;

    Plan(const Call& c, const Unit& u) : call(c), unit(u), cut(cut_of(c, u)) {
        per_batch = (cut.folded ? call.kv_heads : call.heads) * cut.ranges;
        items = call.batch * per_batch;
    }

    // The tiles of an item: the first and one past the last.
    std::pair<int64_t, int64_t> tiles(int64_t index, Rows& rows) const {
        rows.batch = index / per_batch;
        const int64_t rest = index % per_batch, head = rest / cut.ranges;
        // the last rows first: with causal they take longest, and a long end leaves others idle
        const int64_t range = cut.ranges - 1 - rest % cut.ranges;
        rows.kv_head = cut.folded ? head : head / (call.heads / call.kv_heads);
        return {range * cut.range_tiles, std::min(cut.tiles, (range + 1) * cut.range_tiles)};
    }

    void set(Rows& rows, int64_t index, int64_t tile) const {
        const int64_t head = index % per_batch / cut.ranges;
        set_rows(call, rows, cut.folded ? -1 : head, tile * cut.width, cut.width);
    }
};

using Stop = std::function<bool()>;

bool by_tiles(const Plan& plan, int threads, const std::vector<Memory>& scratch, const Stop& stop) {
    const auto item = [&](int64_t index, int thread, const Stopped& stopped) {
        Rows rows{};
        const auto [begin, end] = plan.tiles(index, rows);
        for (int64_t tile = begin; tile < end && !stopped(); tile++) {
            plan.set(rows, index, tile);
            plan.unit.tile(plan.call, rows, scratch[thread].get());
        }
    };
    return run(plan.items, threads, item, stop);
}

// Few tiles and many keys: the chunks of each tile at the same time, then merged in their order.
bool by_chunks(const Plan& plan, int threads, const std::vector<Memory>& scratch, const Stop& stop) {
    const Call& call = plan.call;
    const int64_t chunks = ceil_div(call.kv_len, CHUNK), state = plan.unit.state(call);
    const Memory states = memory_of(plan.items * chunks * state);
    const bool facts = call.received || call.groups || call.distance || call.weights;
    const int64_t strip = facts ? plan.unit.strip(call) : 0;
    const Memory strips = memory_of(plan.items * strip);
    std::vector<void*> at(plan.items * chunks);
    for (std::size_t i = 0; i < at.size(); i++) at[i] = (char*)states.get() + (int64_t)i * state;
    const auto open = [&](int64_t index) {
        Rows rows{};
        plan.set(rows, index, plan.tiles(index, rows).first);
        if (facts) rows.strip = (char*)strips.get() + index * strip;
        return rows;
    };
    const auto gather = [&](int64_t item, int thread, const Stopped&) {
        const int64_t index = item / chunks, chunk = item % chunks;
        plan.unit.part(call, open(index), chunk, scratch[thread].get(), at[item]);
    };
    if (!run(plan.items * chunks, threads, gather, stop)) return false;
    const auto end = [&](int64_t index, int thread, const Stopped&) {
        plan.unit.finish(call, open(index), &at[index * chunks], chunks, scratch[thread].get());
    };
    return run(plan.items, threads, end, stop);
}

// Blocks of weights: a band of rows is one item, so that its tiles are added up in one order.
bool by_bands(const Call& call, const Unit& unit, int threads, const Stop& stop) {
    const int32_t width = std::min<int32_t>(unit.widest(call), BAND);
    const int64_t items = call.bands ? call.band_count : ceil_div(call.row_count, BAND);
    threads = (int)std::clamp<int64_t>(items, 1, threads);
    const int64_t bytes = unit.scratch(call);
    std::vector<Memory> scratch(threads);
    for (auto& memory : scratch) memory = memory_of(bytes);
    const auto item = [&](int64_t index, int thread, const Stopped& stopped) {
        const int64_t first = call.bands ? call.bands[index] * BAND : call.row_from + index * BAND;
        const int64_t after = call.bands ? call.q_len : call.row_from + call.row_count;
        const int64_t count = std::min<int64_t>(BAND, after - first);
        Rows rows{};
        for (int64_t from = 0; from < count && !stopped(); from += width) {
            rows.count = (int32_t)std::min<int64_t>(width, count - from);
            for (int i = 0; i < rows.count; i++) {
                rows.place[i] = index * BAND + from + i;
                rows.query[i] = first + from + i;
            }
            (call.bands ? unit.tile : unit.rectangle)(call, rows, scratch[thread].get());
        }
    };
    return run(items, threads, item, stop);
}

}  // namespace

bool compute(const Call& given, const Unit& unit, int threads, const std::function<bool()>& stop) {
    Call call = given;
    const int64_t kept = call.kv_len * (call.head_dim + call.value_dim) * (int64_t)sizeof(float);
    if (cut_of(call, unit).tiles >= SHARED_BY && kept <= MOST_KEPT) call.kept_keys = call.kv_len;
    const int64_t keys = call.block_max && !call.bands ? call.key_count : call.kv_len;
    const double work = 2.0 * call.batch * call.heads * call.row_count * keys *
                        (call.head_dim + call.value_dim);
    if (work < ALONE) threads = 1;
    if (call.block_max) return by_bands(call, unit, threads, stop);
    const Plan plan(call, unit);
    const bool one_tile_each = plan.cut.range_tiles == 1 || plan.cut.tiles == 1;
    const bool chunked = plan.items < 4 * threads && call.kv_len > CHUNK && one_tile_each;
    if (!chunked) threads = (int)std::min<int64_t>(threads, plan.items);
    const int64_t bytes = unit.scratch(call);
    std::vector<Memory> scratch(std::max(threads, 1));
    for (auto& memory : scratch) memory = memory_of(bytes);
    if (threads > 1 && chunked) return by_chunks(plan, threads, scratch, stop);
    return by_tiles(plan, threads, scratch, stop);
}

}  // namespace softlookup
