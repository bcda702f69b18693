// How answers are held against the plain loops, and against one another bit for bit.
#include <set>

#include "problem.hpp"

namespace guards {
namespace {

// Whether x is y, for NaN and the infinities too, or no farther from it than `slack`.
bool is_near(double x, double y, double slack) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (std::isinf(x) || std::isinf(y)) return x == y;
    return std::fabs(x - y) <= slack;
}

void assert_size(const char* what, std::size_t got, std::size_t expected) {
    if (got != expected) fail("%s: %zu numbers; must be %zu", what, got, expected);
}

// Each row has `each` numbers; slack(row, number expected) is what they may be off.
template <class Slack>
void assert_near(const char* what, const std::vector<double>& got,
                 const std::vector<double>& expected, int64_t each, Slack slack) {
    assert_size(what, got.size(), expected.size());
    for (int64_t i = 0; i < (int64_t)got.size(); i++)
        if (!is_near(got[i], expected[i], slack(i / each, expected[i])))
            fail("%s: row %lld, number %lld is %.17g; must be %.17g within %.3g", what,
                 (long long)(i / each), (long long)(i % each), got[i], expected[i],
                 slack(i / each, expected[i]));
}

// Scores that lie nearer to one another than rounding may change order; nothing else may.
void assert_top(const Problem& p, const Answers& got, const Expected& e) {
    assert_size("top_keys", got.top_keys.size(), e.answers.top_keys.size());
    for (std::size_t at = 0; at < got.top_keys.size(); at++) {
        const int64_t row = (int64_t)at / p.top, first = row * p.top;
        const int64_t key = got.top_keys[at], right = e.answers.top_keys[at];
        if (key == right) continue;
        if (key < 0 || right < 0 || key >= p.kv_len)
            fail("top_keys: row %lld has %lld; must be %lld", (long long)row, (long long)key,
                 (long long)right);
        const auto begin = got.top_keys.begin() + first;
        const std::set<int64_t> all(begin, begin + p.top);
        const double* scores = e.scores.data() + row * p.kv_len;
        const bool twice = (int64_t)all.size() < p.top && all.count(-1) == 0;
        if (twice || !e.sees[row * p.kv_len + key] ||
            !is_near(scores[key], scores[right], 2 * e.score_slack[row]) ||
            (p.exact && scores[key] == scores[right]))
            fail("top_keys: row %lld has %lld (%.17g); must be %lld (%.17g)", (long long)row,
                 (long long)key, scores[key], (long long)right, scores[right]);
    }
}

bool same(double a, double b) {
    return std::isnan(a) ? std::isnan(b) : std::memcmp(&a, &b, sizeof a) == 0;
}
bool same(int64_t a, int64_t b) { return a == b; }

template <class X>
void assert_same(const char* which, const char* what, const std::vector<X>& a,
                 const std::vector<X>& b) {
    if (a.empty() || b.empty()) return;
    assert_size(what, a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); i++)
        if (!same(a[i], b[i]))
            fail("%s: bits of %s differ at %zu: %.17g and %.17g", which, what, i, (double)a[i],
                 (double)b[i]);
}

}  // namespace

void assert_right(const Problem& p, const Answers& got, const Expected& e) {
    const Answers& right = e.answers;
    const double eps = p.compute() == F64 ? 0x1p-52 : 0x1p-23, length = (double)p.kv_len + 1;
    const auto weight = [&](int64_t row, double x) {
        return (e.weight_slack[row] + eps * 8) * std::fabs(x) + 0x1p-120;
    };
    const auto sums = [&](int64_t row, double) { return e.weight_slack[row] + 64 * eps; };
    const auto score = [&](int64_t row, double x) {
        return 2 * e.score_slack[row] + 8 * eps * (2 + std::fabs(x));
    };
    const auto heat = [&](int64_t row, double x) {
        return 4 * (e.weight_slack[row] + 2 * e.score_slack[row]) * (std::log(length) + 2 + x);
    };
    assert_near("out", got.out, right.out, std::max<int64_t>(p.value_dim, 1),
                [&](int64_t row, double) { return e.out_slack[row]; });
    assert_near("lse", got.lse, right.lse, 1, score);
    assert_near("entropy", got.entropy, right.entropy, 1, heat);
    assert_near("max_score", got.max_score, right.max_score, 1, score);
    assert_near("sink", got.sink, right.sink, 1, weight);
    assert_near("groups", got.groups, right.groups, std::max<int64_t>(p.group_count, 1), sums);
    assert_near("distance", got.distance, right.distance, std::max<int64_t>(p.bin_count, 1), sums);
    const int64_t keys = std::max<int64_t>((int64_t)p.keys.size(), 1);
    assert_near("weights", got.weights, right.weights, keys, weight);
    double most = 0;
    for (const double slack : e.weight_slack) most = std::max(most, slack);
    assert_near("received", got.received, right.received, std::max<int64_t>(p.kv_len, 1),
                [&](int64_t, double x) { return (most + 64 * eps) * (1 + std::fabs(x)); });
    assert_top(p, got, e);
    assert_size("top_weights", got.top_weights.size(), right.top_weights.size());
    for (std::size_t at = 0; at < got.top_weights.size(); at++) {
        const int64_t row = (int64_t)at / p.top;
        if (!is_near(got.top_weights[at], right.top_weights[at],
                     2 * weight(row, right.top_weights[at]) + 2 * e.score_slack[row]))
            fail("top_weights: %zu is %.17g; must be %.17g", at, got.top_weights[at],
                 right.top_weights[at]);
    }
}

void assert_same_bits(const Answers& a, const Answers& b, const char* which) {
    assert_same(which, "out", a.out, b.out);
    assert_same(which, "lse", a.lse, b.lse);
    assert_same(which, "entropy", a.entropy, b.entropy);
    assert_same(which, "max_score", a.max_score, b.max_score);
    assert_same(which, "sink", a.sink, b.sink);
    assert_same(which, "top_keys", a.top_keys, b.top_keys);
    assert_same(which, "top_weights", a.top_weights, b.top_weights);
    assert_same(which, "groups", a.groups, b.groups);
    assert_same(which, "distance", a.distance, b.distance);
    assert_same(which, "weights", a.weights, b.weights);
    assert_same(which, "received", a.received, b.received);
}

}  // namespace guards
