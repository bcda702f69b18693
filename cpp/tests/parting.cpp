#include <algorithm>

#include "laying.hpp"

namespace guards {
namespace {

using softlookup::CHUNK;

// Unfinished rows of several parts, each array in memory of its own that ends at a guard.
class Parts {
public:
    Parts(const Problem& p, int64_t count)
        : count_(count), rows_(p.batch * p.heads * p.row_count()), size_(size_of(p.compute())) {
        const int64_t value_dim = p.has_value ? p.value_dim : 0;
        for (const int64_t each : {size_, size_, p.entropy ? size_ : 0, value_dim * size_,
                                   (int64_t)1, p.top * size_, p.top * 8}) {
            each_.push_back(each);
            held_.emplace_back(count * rows_ * each, Guarded::END);
        }
    }

    // Let a call fill, or read, so many parts from `first` on.
    void name(Call& call, int64_t first, int64_t count) {
        char* at[7];
        for (int i = 0; i < 7; i++)
            at[i] = each_[i] ? held_[i].data() + first * rows_ * each_[i] : nullptr;
        call.part_count = count;
        call.part_max = at[0], call.part_sum = at[1], call.part_heat = at[2], call.part_acc = at[3];
        call.part_seen = (uint8_t*)at[4], call.part_scores = at[5];
        call.part_keys = (int64_t*)at[6];
    }

    // Count the best keys of some parts from the first of all keys.
    void place(int64_t first, int64_t count, int64_t first_key) {
        if (!each_[6]) return;
        int64_t* keys = (int64_t*)held_[6].data();
        const int64_t top = each_[6] / 8;
        for (int64_t i = first * rows_ * top; i < (first + count) * rows_ * top; i++)
            if (keys[i] >= 0) keys[i] += first_key;
    }

    // Put one part in the place of another.
    void move(int64_t from, int64_t to) {
        for (int i = 0; i < 7; i++)
            std::memmove(held_[i].data() + to * rows_ * each_[i],
                         held_[i].data() + from * rows_ * each_[i], (size_t)(rows_ * each_[i]));
    }

private:
    int64_t count_, rows_, size_;
    std::vector<int64_t> each_;
    std::vector<Guarded> held_;
};

void must(const Call& call, const Unit& unit) {
    if (!softlookup::compute(call, unit, 1, nullptr)) fail("compute was stopped");
}

void gather(const Problem& piece, const Unit& unit, const Layout& layout, Parts& parts,
            int64_t first, int64_t count) {
    Problem bare = piece;
    bare.lse = bare.entropy = bare.max_score = bare.sink = false;
    Laid laid(bare, unit, layout);
    laid.call.out = nullptr;
    parts.name(laid.call, first, count);
    must(laid.call, unit);
}

// A call that has no keys and no queries, but their parts.
void merge(Call& call, const Unit& unit, Parts& parts, int64_t first, int64_t count) {
    call.query = call.key = call.value = {};
    call.mask = call.bias = {};
    call.q_offset = call.kv_lens = nullptr;
    call.kv_len = call.head_dim = 0;
    call.causal = 0, call.left = call.right = -1;
    call.merging = 1;
    parts.name(call, first, count);
    must(call, unit);
}

}  // namespace

Answers run_in_parts(const Problem& problem, const Unit& unit, const Layout& layout) {
    Random random{layout.seed + 2};
    const int64_t chunks = (problem.kv_len + CHUNK - 1) / CHUNK;
    Parts parts(problem, chunks);
    for (int64_t from = 0, count; from < chunks; from += count) {
        count = random.from(1, chunks - from);
        const int64_t last = std::min((from + count) * CHUNK, problem.kv_len);
        const Problem piece = problem.between(from * CHUNK, last);
        gather(piece, unit, {random.next(), layout.plain}, parts, from, count);
        parts.place(from, count, from * CHUNK);
    }
    Problem asked = problem.between(0, problem.kv_len);
    asked.entropy = problem.entropy;
    const int64_t early = random.from(1, chunks);  // merged beforehand, by someone else
    Problem quiet = asked;
    quiet.lse = quiet.entropy = quiet.max_score = quiet.sink = false;
    Laid before(quiet, unit, layout);
    before.call.out = nullptr;
    merge(before.call, unit, parts, 0, early);
    parts.move(0, early - 1);
    Laid laid(asked, unit, layout);
    merge(laid.call, unit, parts, early - 1, chunks - early + 1);
    return laid.answers();
}

Answers run_known(const Problem& problem, const Unit& unit, const Layout& layout) {
    const int64_t rows = problem.batch * problem.heads * problem.row_count();
    const int64_t size = size_of(problem.compute());
    Guarded shift(rows * size, Guarded::END), factor(rows * size, Guarded::END);
    Problem bare = problem;
    bare.lse = bare.entropy = bare.max_score = bare.sink = false;
    bare.top = 0;
    for (const int known : {0, 1}) {
        Problem asked = known ? bare : problem.plain();
        if (known) asked.has_value = false;
        Laid laid(asked, unit, layout);
        laid.call.shift = shift.data(), laid.call.factor = factor.data();
        laid.call.known = known;
        must(laid.call, unit);
        if (known) return laid.answers();
    }
    return {};
}

}  // namespace guards
