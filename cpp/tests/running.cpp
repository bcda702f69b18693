#include <algorithm>

#include "laying.hpp"

namespace guards {
namespace {

// One thread's memory for a unit: it ends at a page that nobody may touch, and begins as garbage.
struct Desk {
    Guarded scratch, strip;
    std::vector<Guarded> states;
    std::vector<void*> places;

    Desk(const Call& call, const Unit& unit, Random& random)
        : scratch(unit.scratch(call), side(random)), strip(unit.strip(call), side(random)) {
        const int64_t chunks = (call.kv_len + softlookup::CHUNK - 1) / softlookup::CHUNK;
        for (int64_t chunk = 0; chunk < chunks; chunk++) {
            states.emplace_back(unit.state(call), side(random));
            places.push_back(states.back().data());
        }
    }
    static Guarded::Side side(Random& random) {
        return random.chance(.7) ? Guarded::END : Guarded::BEGIN;
    }
};

void run_piece(const Call& call, const Unit& unit, Rows& rows, Random& random) {
    Desk desk(call, unit, random);
    if (random.chance(.5)) {
        unit.tile(call, rows, desk.scratch.data());
        return;
    }
    if (call.groups || call.distance || call.weights) rows.strip = desk.strip.data();
    std::vector<int64_t> order(desk.places.size());
    for (std::size_t i = 0; i < order.size(); i++) order[i] = (int64_t)i;
    for (std::size_t i = order.size(); i > 1; i--)
        std::swap(order[i - 1], order[random.below((int64_t)i)]);
    for (const int64_t chunk : order)
        unit.part(call, rows, chunk, desk.scratch.data(), desk.places[chunk]);
    unit.finish(call, rows, desk.places.data(), (int64_t)desk.places.size(), desk.scratch.data());
}

}  // namespace

Answers run(const Problem& problem, const Unit& unit, int threads, const Layout& layout) {
    Laid laid(problem, unit, layout);
    if (!softlookup::compute(laid.call, unit, threads, nullptr)) fail("compute was stopped");
    return laid.answers();
}

Answers run_in_pieces(const Problem& whole, const Unit& unit, const Layout& layout) {
    Problem problem = whole;
    problem.received = false;
    Laid laid(problem, unit, layout);
    const Call& call = laid.call;
    Random random{layout.seed + 1};
    const int64_t group = call.heads / call.kv_heads;
    std::vector<int64_t> all(group * call.row_count);
    Rows rows{};
    for (rows.batch = 0; rows.batch < call.batch; rows.batch++)
        for (rows.kv_head = 0; rows.kv_head < call.kv_heads; rows.kv_head++) {
            for (std::size_t i = 0; i < all.size(); i++) all[i] = (int64_t)i;
            for (std::size_t i = all.size(); i > 1; i--)
                std::swap(all[i - 1], all[random.below((int64_t)i)]);
            for (std::size_t from = 0; from < all.size(); from += rows.count) {
                const int64_t widest = random.chance(.3) ? 1 : random.from(1, unit.widest(call));
                rows.count = (int32_t)std::min<int64_t>(widest, (int64_t)(all.size() - from));
                rows.strip = nullptr;
                for (int i = 0; i < rows.count; i++) {
                    const int64_t row = all[from + i];
                    rows.head[i] = (int32_t)(rows.kv_head * group + row / call.row_count);
                    rows.place[i] = row % call.row_count;
                    rows.query[i] = problem.row_at(rows.place[i]);
                }
                run_piece(call, unit, rows, random);
            }
        }
    Answers answers = laid.answers();
    answers.received.clear();
    return answers;
}

}  // namespace guards
