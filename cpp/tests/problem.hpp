// A lookup as plain vectors of doubles in their logical order, and its answers. How it lies in
// memory is another matter: laying.hpp.
#pragma once
#include "checks.hpp"

namespace guards {

using softlookup::BF16;
using softlookup::F16;
using softlookup::F32;
using softlookup::F64;

// A mask or a bias, (entries, heads or 1, q_len or 1, kv_len or 1).
struct Over {
    bool given = false;
    int64_t sizes[4] = {1, 1, 1, 1};
    std::vector<double> data;
    std::vector<int64_t> entry;  // (batch,)

    double at(int64_t batch, int64_t head, int64_t query, int64_t key) const {
        const int64_t index[4] = {entry[batch], sizes[1] == 1 ? 0 : head, sizes[2] == 1 ? 0 : query,
                                  sizes[3] == 1 ? 0 : key};
        int64_t place = 0;
        for (int axis = 0; axis < 4; axis++) place = place * sizes[axis] + index[axis];
        return data[place];
    }
};

struct Problem {
    int dtype = F32;
    int64_t batch = 1, heads = 1, kv_heads = 1, q_len = 1, kv_len = 1, head_dim = 1, value_dim = 1;
    std::vector<double> query, key, value;  // numbers that the dtype has
    bool exact = false;                     // no score is rounded, so ties are ties for everyone
    bool repeats[3][4] = {};                // axes of query, key and value along which all is alike
    bool has_value = true;
    double scale = 1, softcap = 0;
    bool causal = false;
    int64_t left = -1, right = -1;
    std::vector<int64_t> q_offset, kv_lens;  // (batch,) or empty
    Over mask, bias;
    std::vector<double> sinks;  // (heads,) or empty
    std::vector<int64_t> rows;  // asked for; empty: all

    bool lse = true, entropy = false, max_score = false, sink = false, received = false;
    int64_t top = 0, group_count = 0, bin_count = 0;
    std::vector<int32_t> labels;     // (batch, kv_len)
    std::vector<uint8_t> from_rows;  // (batch, q_len) or empty
    std::vector<int64_t> keys;       // of a rectangle of weights; empty: none

    int compute() const { return dtype == F64 ? F64 : F32; }
    int64_t row_count() const { return rows.empty() ? q_len : (int64_t)rows.size(); }
    int64_t row_at(int64_t place) const { return rows.empty() ? place : rows[place]; }
    int64_t length(int64_t b) const { return kv_lens.empty() ? kv_len : kv_lens[b]; }
    int64_t position(int64_t b, int64_t i) const {
        return i + (q_offset.empty() ? 0 : q_offset[b]);
    }
    double q(int64_t b, int64_t h, int64_t i, int64_t d) const {
        return query[((b * heads + h) * q_len + i) * head_dim + d];
    }
    double k(int64_t b, int64_t h, int64_t j, int64_t d) const {
        return key[((b * kv_heads + h / (heads / kv_heads)) * kv_len + j) * head_dim + d];
    }
    double v(int64_t b, int64_t h, int64_t j, int64_t d) const {
        return value[((b * kv_heads + h / (heads / kv_heads)) * kv_len + j) * value_dim + d];
    }
    // Every fact off; what is left is the output and its lse.
    Problem plain() const;
    // One entry of the batch alone.
    Problem alone(int64_t b) const;
    // Some neighbouring keys alone, in their places; of the facts those that parts keep.
    Problem between(int64_t first, int64_t last) const;
    std::string words() const;
};

// Answers as the kernels lay them out; empty where not asked for. `received` is summed over ranges.
struct Answers {
    std::vector<double> out, lse, entropy, max_score, sink, top_weights, groups, distance, weights,
        received;
    std::vector<int64_t> top_keys;
};

// The answers by two plain loops in double, and how far a kernel may be from each row's.
struct Expected {
    Answers answers;
    std::vector<double> scores;          // (batch, heads, row_count, kv_len); -inf where hidden
    std::vector<uint8_t> sees;           // the same, whether a key is visible
    std::vector<double> score_slack, weight_slack, out_slack;  // (batch, heads, row_count)
};

Expected expected_of(const Problem& problem);

// End with a message where `got` is not `expected`.
void assert_right(const Problem& problem, const Answers& got, const Expected& expected);
// End with a message where two answers differ in a bit; what is empty in either is not asked for.
void assert_same_bits(const Answers& a, const Answers& b, const char* which);

// Draw a problem of every kind; `largest` bounds its cells times dims.
Problem draw(Random& random, int dtype, double largest);
Problem draw_facts(Problem problem, Random& random);

}  // namespace guards
