// The traps of the arithmetic, one by one, on every instruction set that this machine can run.
#include <cfloat>

#include "../units.hpp"
#include "laying.hpp"

using namespace guards;

namespace {

Random dice{7};

void all(const std::vector<int64_t>& sizes, std::vector<double>& numbers, double x) {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    numbers.assign(count, x);
}

// Query, key and value of one head, random; sizes that are no multiple of a vector.
Problem some(int dtype, int64_t q_len, int64_t kv_len, int64_t head_dim = 17,
             int64_t value_dim = 19) {
    Problem p;
    p.dtype = dtype;
    p.q_len = q_len, p.kv_len = kv_len, p.head_dim = head_dim, p.value_dim = value_dim;
    all({q_len, head_dim}, p.query, 0), all({kv_len, head_dim}, p.key, 0);
    all({kv_len, value_dim}, p.value, 0);
    for (auto* numbers : {&p.query, &p.key, &p.value})
        for (double& x : *numbers) x = as(dtype, dice.normal());
    p.scale = .25;
    p.entropy = p.max_score = p.received = true;
    p.top = 3;
    p.keys = {kv_len - 1, 0};
    return p;
}

void lay(Over& over, int64_t rows, int64_t keys, double x) {
    over.given = true;
    over.sizes[2] = rows, over.sizes[3] = keys;
    over.entry = {0};
    over.data.assign(rows * keys, x);
}

Answers answers(const Problem& p, const std::string& name) {
    const Unit& unit = softlookup::unit_of(name, p.dtype);
    const Answers whole = run(p, unit, 1, {dice.next(), false});
    assert_same_bits(whole, run_in_pieces(p, unit, {dice.next(), false}), "rows in pieces");
    assert_same_bits(whole, run(p.plain(), unit, 1, {dice.next(), true}), "nothing else asked for");
    return whole;
}

void check(const Problem& p, const std::string& name) {
    assert_right(p, answers(p, name), expected_of(p));
}

void assert_all(const char* what, const std::vector<double>& got, double right, double slack = 0) {
    if (got.empty()) fail("no %s", what);
    for (std::size_t i = 0; i < got.size(); i++) {
        const bool same = std::isnan(right) ? std::isnan(got[i]) : got[i] == right;
        if (!same && !(std::fabs(got[i] - right) <= slack))
            fail("%s: %zu is %.17g; must be %.17g", what, i, got[i], right);
    }
}

// exp(0) is 1: with equal scores every sum is a count, however many blocks went by.
void equal_scores(const std::string& name, int dtype) {
    Problem p = some(dtype, 3, 10000, 1, 2);
    p.query.assign(p.query.size(), 1), p.key.assign(p.key.size(), -2);
    p.value.assign(p.value.size(), 1);
    const Answers got = answers(p, name);
    const double one = dtype == F64 ? 1. / 10000 : (double)(1.f / 10000);
    assert_all("out", got.out, 1);
    assert_all("weights", got.weights, one);
    assert_all("top_weights", got.top_weights, one);
    assert_all("max_score", got.max_score, -.5);
    for (std::size_t i = 0; i < got.top_keys.size(); i++)
        if (got.top_keys[i] != (int64_t)i % p.top) fail("ties go to the lower key");
}

// Scores that are all alike and far away: from products, or from a bias that is just a number.
void far_scores(const std::string& name, int dtype) {
    const double lowest = dtype == F64 ? -DBL_MAX : -FLT_MAX;
    for (const double far : {-2e30, 2e30, lowest, -1e5})
        for (const bool by_bias : {false, true}) {
            Problem p = some(dtype, 5, 131, 1, 3);
            if (dtype == F16 && !by_bias) continue;
            const double score = by_bias ? as(p.compute(), far) : as(dtype, far);
            if (!std::isfinite(score)) continue;
            p.scale = by_bias ? 0 : 1;
            p.query.assign(p.query.size(), 1), p.key.assign(p.key.size(), score);
            if (by_bias) p.key.assign(p.key.size(), 1), lay(p.bias, 1, p.kv_len, score);
            p.value.assign(p.value.size(), 2);
            const Answers got = answers(p, name);
            assert_all("out", got.out, 2);
            assert_all("max_score", got.max_score, score);
            assert_all("lse", got.lse, score, std::log(132.) + std::fabs(score) * 1e-6);
            assert_all("entropy", got.entropy, std::log(131.), 1e-5);
        }
}

// NaN, inf and -inf at every key in turn, in key, value and bias, seen by some rows only.
void odd_at_every_key(const std::string& name, int dtype) {
    for (int64_t key = 0; key < 131; key++)
        for (int where = 0; where < 3; where++) {
            Problem p = some(dtype, 6, 131);
            const double odd = dice.among<double>({NAN, NAN, INFINITY, -INFINITY});
            const int hidden_by = (int)dice.below(4);
            if (hidden_by == 0) p.causal = true, p.q_offset = {key - 3};
            if (hidden_by == 1) p.left = dice.from(0, 70), p.right = 2, p.q_offset = {key - 3};
            if (hidden_by == 2) p.kv_lens = {dice.from(key > 0 ? key : 1, p.kv_len)};
            if (hidden_by == 3) {
                lay(p.mask, p.q_len, p.kv_len, 1);
                for (double& shows : p.mask.data) shows = dice.chance(.5);
            }
            if (where == 0) p.key[key * p.head_dim + dice.below(p.head_dim)] = odd;
            if (where == 1) p.value[key * p.value_dim + dice.below(p.value_dim)] = odd;
            if (where == 2) lay(p.bias, 1, p.kv_len, .5), p.bias.data[key] = odd;
            check(p, name);
        }
}

// NaN in any of three chunks: merging must not lose it.
void odd_chunks(const std::string& name, int dtype) {
    for (int which = 1; which < 8; which++) {
        Problem p = some(dtype, 3, 8300, 3, 2);
        lay(p.mask, p.q_len, p.kv_len, 1);
        for (int64_t chunk = 0; chunk < 3; chunk++)
            if (which >> chunk & 1) {
                const int64_t key = 4096 * chunk + dice.below(100);
                p.key[key * p.head_dim] = NAN;
                p.mask.data[0 * p.kv_len + key] = 0;  // the first row sees none of them
            }
        check(p, name);
    }
}

void nothing_but_minus_infinity(const std::string& name, int dtype) {
    Problem p = some(dtype, 5, 70, 1, 3);
    p.query.assign(p.query.size(), 1), p.key.assign(p.key.size(), -INFINITY), p.scale = 1;
    p.top = 90;
    check(p, name);
    assert_all("lse", answers(p, name).lse, -INFINITY);
    assert_all("out", answers(p, name).out, NAN);
    p.sinks = {.5}, p.sink = true;
    check(p, name);
    assert_all("out", answers(p, name).out, 0);
    for (const bool causal : {false, true}) {
        if (causal) p.causal = true, p.q_offset = {-2};  // and rows that see nothing
        for (const double sink : {(double)NAN, (double)INFINITY, -(double)INFINITY, .25})
            p.sinks = {sink}, check(p, name);
    }
}

void scales(const std::string& name, int dtype) {
    Problem p = some(dtype, 4, 70, 1, 1);
    p.query.assign(p.query.size(), 1);
    for (std::size_t j = 0; j < p.key.size(); j++)
        p.key[j] = -(double)(j % 7), p.value[j] = (double)(j % 7);
    for (const double scale : {0., -.5, -1e-300, 1e-300, 1e-40}) p.scale = scale, check(p, name);
    p.scale = 1e300;  // 0 stays 0, and all else is far below
    assert_all("out", answers(p, name).out, 0);
    p.scale = -1e300;  // beyond float32: inf
    assert_all("out", answers(p, name).out, dtype == F64 ? 6 : NAN);
    p.scale = .5;
    for (const double cap : {1e-3, 1e8, 1e300}) p.softcap = cap, check(p, name);
    p.softcap = 1e-300;
    assert_all("lse", answers(p, name).lse, std::log(70.), 1e-5);
}

void tops(const std::string& name, int dtype) {
    Problem p = some(dtype, 5, 37);
    p.exact = true;  // with no key but zeros, all tie
    p.key.assign(p.key.size(), 0);
    p.kv_lens = {33};
    for (const int64_t top : {1, 32, 33, 34, 60}) p.top = top, check(p, name);
    p = some(dtype, 5, 4200, 2, 1);
    p.exact = true, p.top = 40;
    for (double& x : p.key) x = (double)dice.from(-1, 1);
    for (double& x : p.query) x = (double)dice.from(-2, 2);
    check(p, name);
}

// Rows that see nothing at the edges of tiles, and windows far outside.
void empty_rows(const std::string& name, int dtype) {
    for (const int64_t offset : {-64, -33, -32, -31, -17, -16, -1, 0, 63, 200})
        for (const int64_t left : {-1, 0, 20}) {
            Problem p = some(dtype, 70, 66);
            p.causal = true, p.q_offset = {offset}, p.left = left;
            check(p, name);
        }
    for (const int64_t far : {(int64_t)1 << 60, -((int64_t)1 << 60)})
        for (const int64_t side : {(int64_t)0, (int64_t)1 << 60, INT64_MAX}) {
            Problem p = some(dtype, 3, 70);
            p.q_offset = {far}, p.left = side, p.right = side;
            check(p, name);
            p.causal = true;
            check(p, name);
        }
}

// A mean halfway between two neighbours of a short format goes to the even one.
void ties_to_even(const std::string& name, int dtype) {
    if (dtype != F16 && dtype != BF16) return;
    const int64_t dims = 37;
    for (int first = dtype == F16 ? 1 : 0x0100; first < 0x7bff - dims; first += 61) {
        Problem p = some(dtype, dice.from(1, 20), 2, 1, dims);
        p.scale = 0;
        for (int64_t d = 0; d < dims; d++)
            for (int64_t j = 0; j < 2; j++) {
                const uint16_t bits = (uint16_t)(first + d + j);
                p.value[j * dims + d] = value_at(dtype, &bits);
            }
        const std::vector<double> out = answers(p, name).out;
        for (std::size_t i = 0; i < out.size(); i++) {
            const int64_t low = first + (int64_t)i % dims;
            const uint16_t even = (uint16_t)(low + low % 2);
            if (out[i] != value_at(dtype, &even)) fail("%#x and the next: %.9g", (int)low, out[i]);
        }
    }
}

// Windows that begin at odd keys: pairs of keys must stay the same pairs.
void odd_starts(const std::string& name, int dtype) {
    for (int64_t offset = 0; offset < 70; offset += 3) {
        Problem p = some(dtype, 40, 140, 33, 35);
        p.left = 9, p.right = 4, p.q_offset = {offset};
        check(p, name);
    }
}

}  // namespace

int main() {
    tell_of_faults();
    typedef void (*Trap)(const std::string&, int);
    const std::pair<const char*, Trap> traps[] = {
        {"equal scores", equal_scores}, {"far scores", far_scores},
        {"an odd number at every key", odd_at_every_key}, {"odd chunks", odd_chunks},
        {"nothing but -inf", nothing_but_minus_infinity}, {"scales", scales}, {"tops", tops},
        {"empty rows", empty_rows}, {"ties to even", ties_to_even}, {"odd starts", odd_starts}};
    for (const std::string& name : softlookup::supported())
        for (int dtype = F16; dtype <= F64; dtype++)
            for (const auto& [what, trap] : traps) {
                doing() = name + ", dtype " + std::to_string(dtype) + ": " + what;
                trap(name, dtype);
            }
    bool refused = false;
    try {
        softlookup::unit_of(softlookup::supported().front(), 4);
    } catch (const std::exception&) {
        refused = true;
    }
    if (!refused) fail("a dtype that is none was taken");
    std::printf("the traps: right\n");
}
