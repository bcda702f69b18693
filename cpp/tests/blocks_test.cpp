// Blocks of weights against the plain loops, in guarded memory, on every instruction set: whole bands
// in any order, and rectangles of rows whose sums are known. Usage: blocks_test COUNT [SEED]
#include <algorithm>

#include "roaming.hpp"

using namespace guards;
using softlookup::BAND;

namespace {

// The first head of the first batch entry alone, and every weight of it asked for.
Problem one_head(const Problem& drawn) {
    Problem p = drawn.alone(0).plain();
    const auto first = [](std::vector<double>& all, int64_t count) { all.resize((size_t)count); };
    first(p.query, p.q_len * p.head_dim);
    first(p.key, p.kv_len * p.head_dim);
    for (Over* over : {&p.mask, &p.bias}) {
        if (!over->given) continue;
        const int64_t each = over->sizes[2] * over->sizes[3];
        const int64_t from = over->entry[0] * over->sizes[1] * each;
        over->data = {over->data.begin() + from, over->data.begin() + from + each};
        over->sizes[0] = over->sizes[1] = 1;
        over->entry = {0};
    }
    if (!p.sinks.empty()) p.sinks.resize(1);
    p.heads = p.kv_heads = 1;
    p.has_value = false;
    p.rows.clear();
    for (int64_t j = 0; j < p.kv_len; j++) p.keys.push_back(j);
    return p;
}

int64_t up(int64_t count, int64_t each) { return (count + each - 1) / each; }

struct Block {
    double most = 0, sum = 0, slack = 0x1p-120;
};

// The blocks of rows and keys from (row, key) on, each `size` wide.
Block block_of(const Problem& p, const Expected& e, int64_t row, int64_t rows_end, int64_t key,
               int64_t keys_end, int64_t size) {
    const double eps = p.compute() == F64 ? 0x1p-52 : 0x1p-23;
    Block block;
    for (int64_t i = row; i < std::min(row + size, rows_end); i++)
        for (int64_t j = key; j < std::min(key + size, keys_end); j++) {
            const double x = e.answers.weights[i * p.kv_len + j];
            if (std::isnan(x) || std::isnan(block.most)) block.most = NAN;
            else block.most = std::max(block.most, x);
            block.sum += x;
            block.slack += (e.weight_slack[i] + 64 * eps) * std::fabs(x) + 0x1p-120;
        }
    return block;
}

void assert_block(const char* what, int64_t row, int64_t column, double got, double right,
                  double slack) {
    if (std::isnan(right) ? std::isnan(got) : std::fabs(got - right) <= slack) return;
    fail("%s (%lld, %lld) is %.17g; must be %.17g within %.3g", what, (long long)row,
         (long long)column, got, right, slack);
}

struct Room {
    Guarded memory;
    int dtype;
    Room(int64_t count, const Problem& p, Random& random)
        : memory(count * size_of(p.compute()),
                 random.chance(.5) ? Guarded::END : Guarded::BEGIN),
          dtype(p.compute()) {
        if (count) std::memset(memory.data(), 0, (size_t)(count * size_of(dtype)));
    }
    double at(int64_t index) const { return value_at(dtype, memory.data() + index * size_of(dtype)); }
    // Rows from place `from` on, for `count` rows, as numbers that lie alone.
    void copy_to(Room& other, int64_t from, int64_t to, int64_t count) const {
        std::memcpy(other.memory.data() + to * size_of(dtype),
                    memory.data() + from * size_of(dtype), (size_t)(count * size_of(dtype)));
    }
};

void run_call(const softlookup::Call& call, const Unit& unit, Random& random) {
    const int threads = 1 + (int)random.below(3);
    if (!softlookup::compute(call, unit, threads, nullptr)) fail("compute was stopped");
}

// All bands in a drawn order; shift and factor come back in the order of the rows.
void check_bands(const Problem& p, const Expected& e, const Unit& unit, Random& random, Room& shift,
                 Room& factor) {
    std::vector<int64_t> bands;
    for (int64_t band = 0; band < up(p.q_len, BAND); band++) bands.push_back(band);
    for (std::size_t i = bands.size(); i > 1; i--)
        std::swap(bands[i - 1], bands[random.below((int64_t)i)]);
    const int64_t count = (int64_t)bands.size(), columns = up(p.kv_len, BAND);
    Room most(count * columns, p, random), sum(count * columns, p, random);
    Room shifts(count * BAND, p, random), factors(count * BAND, p, random);
    Room lse(count * BAND, p, random);
    Laid laid(p, unit, {random.next(), false});
    softlookup::Call call = laid.call;
    call.weights = nullptr, call.row_count = count * BAND, call.lse = lse.memory.data();
    call.bands = bands.data(), call.band_count = count, call.block_max = most.memory.data();
    call.block_sum = sum.memory.data();
    call.shift = shifts.memory.data(), call.factor = factors.memory.data();
    run_call(call, unit, random);
    for (int64_t slot = 0; slot < count; slot++) {
        const int64_t row = bands[slot] * BAND, rows = std::min<int64_t>(BAND, p.q_len - row);
        shifts.copy_to(shift, slot * BAND, row, rows);
        factors.copy_to(factor, slot * BAND, row, rows);
        for (int64_t j = 0; j < columns; j++) {
            const Block right = block_of(p, e, row, p.q_len, j * BAND, p.kv_len, BAND);
            const int64_t at = slot * columns + j;
            assert_block("max of a band's block", row, j, most.at(at), right.most, right.slack);
            assert_block("sum of a band's block", row, j, sum.at(at), right.sum, right.slack);
        }
    }
}

void check_rectangle(const Problem& p, const Expected& e, const Unit& unit, Random& random,
                     const Room& shift, const Room& factor) {
    const int64_t size = (int64_t)1 << random.below(6);
    const int64_t row = random.below(up(p.q_len, size)) * size;
    const int64_t key = random.below(up(p.kv_len, size)) * size;
    const int64_t rows = random.from(1, p.q_len - row), keys = random.from(1, p.kv_len - key);
    const int64_t columns = up(keys, size), cells = up(rows, size) * columns;
    const bool sums = random.chance(.7);
    Room most(cells, p, random), sum(cells, p, random), shifts(rows, p, random);
    Room factors(rows, p, random);
    shift.copy_to(shifts, row, 0, rows);
    factor.copy_to(factors, row, 0, rows);
    shifts.memory.seal();
    factors.memory.seal();
    Laid laid(p, unit, {random.next(), false});
    softlookup::Call call = laid.call;
    call.weights = nullptr, call.lse = nullptr, call.keys = nullptr;
    call.row_from = row, call.row_count = rows, call.key_from = key, call.key_count = keys;
    call.block = size, call.block_max = most.memory.data();
    call.block_sum = sums ? sum.memory.data() : nullptr;
    call.shift = shifts.memory.data(), call.factor = factors.memory.data();
    run_call(call, unit, random);
    for (int64_t i = 0; i < up(rows, size); i++)
        for (int64_t j = 0; j < columns; j++) {
            const Block right = block_of(p, e, row + i * size, row + rows, key + j * size,
                                         key + keys, size);
            const int64_t at = i * columns + j;
            assert_block("max of a block", i, j, most.at(at), right.most, right.slack);
            if (sums) assert_block("sum of a block", i, j, sum.at(at), right.sum, right.slack);
        }
}

void check(const Problem& p, const Unit& unit, Random& random) {
    const Expected e = expected_of(p);
    Room shift(p.q_len, p, random), factor(p.q_len, p, random);
    check_bands(p, e, unit, random, shift, factor);
    for (int times = 0; times < 4 && p.q_len && p.kv_len; times++)
        check_rectangle(p, e, unit, random, shift, factor);
}

}  // namespace

int main(int count, char** given) {
    return roam(count, given, "in blocks", 1e7, 5e5,
                [](const Problem& drawn, const std::string& name, Random& random) {
                    const Problem p = one_head(drawn);
                    check(p, softlookup::unit_of(name, p.dtype), random);
                });
}
