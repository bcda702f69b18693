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
constexpr int64_t MOST_STRIPS = 40 << 20;  // bytes of tiles' cells and states, threads together
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

// Memory for each of so many threads, but for no more than there are items.
std::vector<Memory> scratch_of(const Call& call, const Unit& unit, int64_t items, int threads) {
    const int64_t bytes = unit.scratch(call);
    std::vector<Memory> scratch((size_t)std::clamp<int64_t>(items, 1, std::max(threads, 1)));
    for (auto& memory : scratch) memory = memory_of(bytes);
    return scratch;
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
    int64_t strip = 0;  // bytes of a tile's cells, where facts need them

    Plan(const Call& c, const Unit& u) : call(c), unit(u), cut(cut_of(c, u)) {
        per_batch = (cut.folded ? call.kv_heads : call.heads) * cut.ranges;
        items = call.batch * per_batch;
        if (call.received || call.groups || call.distance || call.weights)
            strip = narrowed(unit.strip(call));
    }

    // What is left of the bytes that the widest tile would need, each piece rounded up.
    int64_t narrowed(int64_t bytes) const {
        return (bytes * cut.width / unit.widest(call) + 1024) / 64 * 64;
    }

    // The call as a thread's memory is made for it: strips lie outside.
    Call bare() const {
        Call same = call;
        same.received = same.groups = same.distance = same.weights = nullptr;
        return same;
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
    std::vector<Memory> strips(plan.strip ? threads : 0);
    for (auto& memory : strips) memory = memory_of(plan.strip);
    const auto item = [&](int64_t index, int thread, const Stopped& stopped) {
        Rows rows{};
        const auto [begin, end] = plan.tiles(index, rows);
        if (plan.strip) rows.strip = strips[thread].get();
        for (int64_t tile = begin; tile < end && !stopped(); tile++) {
            plan.set(rows, index, tile);
            plan.unit.tile(plan.call, rows, scratch[thread].get());
        }
    };
    return run(plan.items, threads, item, stop);
}

// Few tiles, or tiles of many keys: the chunks of a tile at the same time, then merged in their
// order. As many tiles at once as there is room for; those of one item follow one another.
bool by_chunks(const Plan& plan, int threads, const std::vector<Memory>& scratch, const Stop& stop) {
    const int64_t chunks = ceil_div(plan.call.kv_len, CHUNK);
    const int64_t state = plan.narrowed(plan.unit.state(plan.call));
    const int64_t each = chunks * state + plan.strip;
    const int64_t at_once = std::max<int64_t>(std::min(MOST_STRIPS / each, plan.items), 1);
    const Memory memory = memory_of(at_once * each);
    std::vector<void*> states(at_once * chunks);
    for (int64_t i = 0; i < at_once * chunks; i++)
        states[i] = (char*)memory.get() + i / chunks * each + i % chunks * state;
    int64_t from = 0, nth = 0;
    const auto open = [&](int64_t i) {
        Rows rows{};
        const auto [begin, end] = plan.tiles(from + i, rows);
        if (begin + nth < end) plan.set(rows, from + i, begin + nth);
        if (plan.strip) rows.strip = (char*)memory.get() + i * each + chunks * state;
        return rows;
    };
    const auto gather = [&](int64_t part, int thread, const Stopped&) {
        const Rows rows = open(part / chunks);
        if (rows.count)
            plan.unit.part(plan.call, rows, part % chunks, scratch[thread].get(), states[part]);
    };
    const auto finish = [&](int64_t i, int thread, const Stopped&) {
        const Rows rows = open(i);
        if (rows.count)
            plan.unit.finish(plan.call, rows, &states[i * chunks], chunks, scratch[thread].get());
    };
    for (nth = 0; nth < plan.cut.range_tiles; nth++)
        for (from = 0; from < plan.items; from += at_once) {
            const int64_t count = std::min(at_once, plan.items - from);
            if (!run(count * chunks, threads, gather, stop)) return false;
            if (!run(count, threads, finish, stop)) return false;
        }
    return true;
}

// Blocks of weights: a band of rows is one item, so that its tiles are added up in one order.
bool by_bands(const Call& call, const Unit& unit, int threads, const Stop& stop) {
    const int32_t width = std::min<int32_t>(unit.widest(call), BAND);
    const int64_t items = call.bands ? call.band_count : ceil_div(call.row_count, BAND);
    const auto scratch = scratch_of(call, unit, items, threads);
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
    return run(items, (int)scratch.size(), item, stop);
}

// Gradients: the rows of a range, of all heads of a group, are one item: they add to the same keys,
// in one order.
bool by_groups(const Call& call, const Unit& unit, int threads, const Stop& stop) {
    const int64_t group = call.heads / call.kv_heads, width = unit.widest(call);
    const int64_t tiles = ceil_div(call.q_len, width);
    const int64_t items = call.batch * call.kv_heads * call.grad_ranges;
    const auto scratch = scratch_of(call, unit, items, threads);
    const auto item = [&](int64_t index, int thread, const Stopped& stopped) {
        Rows rows{};
        rows.range = index % call.grad_ranges;
        rows.kv_head = index / call.grad_ranges % call.kv_heads;
        rows.batch = index / call.grad_ranges / call.kv_heads;
        // every so many tiles: with causal the later ones take longer
        for (int64_t head = rows.kv_head * group; head < (rows.kv_head + 1) * group; head++)
            for (int64_t tile = rows.range; tile < tiles && !stopped(); tile += call.grad_ranges) {
                set_rows(call, rows, head, tile * width, width);
                unit.backward(call, rows, scratch[thread].get());
            }
    };
    return run(items, (int)scratch.size(), item, stop);
}

// Asking takes the caller's lock: now and then is enough, however many short runs a call is made of.
Stop patient(const Stop& stop) {
    if (!stop) return nullptr;
    auto last = std::chrono::steady_clock::now();
    return [&stop, last]() mutable {
        if (std::chrono::steady_clock::now() - last < PATIENCE) return false;
        const bool ends = stop();
        last = std::chrono::steady_clock::now();
        return ends;
    };
}

}  // namespace

bool compute(const Call& given, const Unit& unit, int threads, const Stop& asked) {
    const Stop stop = patient(asked);
    Call call = given;
    if (!call.entropy) call.entropy = call.part_heat;  // sums are kept for it
    if (call.merging) call.value.data = call.part_acc;  // what is summed, though no value is here
    const int64_t kept = call.kv_len * (call.head_dim + call.value_dim) * (int64_t)sizeof(float);
    if (cut_of(call, unit).tiles >= SHARED_BY && kept <= MOST_KEPT) call.kept_keys = call.kv_len;
    const int64_t keys = call.block_max && !call.bands ? call.key_count : call.kv_len;
    const double work = 2.0 * call.batch * call.heads * call.row_count * keys *
                        (call.head_dim + call.value_dim);
    if (work < ALONE) threads = 1;
    if (call.block_max) return by_bands(call, unit, threads, stop);
    if (call.out_grad.data) return by_groups(call, unit, threads, stop);
    const Plan plan(call, unit);
    const bool few = plan.items < 4 * threads && plan.cut.range_tiles == 1;
    const bool big = plan.strip * std::min<int64_t>(threads, plan.items) > MOST_STRIPS;
    const bool chunked = threads > 1 && call.kv_len > CHUNK && (few || big) && !call.part_count &&
                         !call.known;
    if (!chunked) threads = (int)std::min<int64_t>(threads, plan.items);
    const auto scratch = scratch_of(plan.bare(), unit, chunked ? threads : plan.items, threads);
    if (chunked) return by_chunks(plan, threads, scratch, stop);
    return by_tiles(plan, threads, scratch, stop);
}

}  // namespace softlookup
