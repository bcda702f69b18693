// The definition in two plain loops over doubles, written apart from the kernels.
#include <algorithm>
#include <numeric>

#include "problem.hpp"

namespace guards {
namespace {

struct Row {
    int64_t batch, head, query, index;  // index: in the answers
};

double score_of(const Problem& p, const Row& row, int64_t key, double& size) {
    double sum = 0;
    size = 0;
    for (int64_t d = 0; d < p.head_dim; d++) {
        const double term =
            p.q(row.batch, row.head, row.query, d) * p.k(row.batch, row.head, key, d);
        sum += term;
        size += std::fabs(term);
    }
    double score = p.scale * sum;
    size *= std::fabs(p.scale);
    if (p.softcap > 0) score = p.softcap * std::tanh(score / p.softcap);
    if (p.bias.given) {
        const double bias = p.bias.at(row.batch, row.head, row.query, key);
        score += bias;
        size += std::fabs(bias);
    }
    return score;
}

bool is_visible(const Problem& p, const Row& row, int64_t key) {
    if (key >= p.length(row.batch)) return false;
    const int64_t ahead = key - p.position(row.batch, row.query);  // within 2^60 and a little
    if (p.causal && ahead > 0) return false;
    if (p.right >= 0 && ahead > p.right) return false;
    if (p.left >= 0 && -ahead > p.left) return false;
    if (p.mask.given && p.mask.at(row.batch, row.head, row.query, key) == 0) return false;
    return !p.bias.given || p.bias.at(row.batch, row.head, row.query, key) != -INFINITY;
}

// What a row's answers are made of.
struct Softmax {
    bool seen = false, lost = false;
    double row_max = -INFINITY, peak = -INFINITY, row_sum = 0, sink = 0;
    std::vector<double> weights;
};

Softmax softmax_of(const Problem& p, const Row& row, const double* scores, const uint8_t* sees) {
    Softmax s;
    for (int64_t j = 0; j < p.kv_len; j++) {
        if (!sees[j]) continue;
        s.seen = true;
        if (std::isnan(scores[j]) || scores[j] == INFINITY) s.lost = true;
        else s.peak = std::max(s.peak, scores[j]);
    }
    s.row_max = s.peak;
    const double sink = p.sinks.empty() ? -INFINITY : p.sinks[row.head];
    const bool spoilt = s.lost || std::isnan(sink) || sink == INFINITY;
    s.row_max = std::max(s.row_max, std::isnan(sink) ? s.row_max : sink);
    s.weights.assign(p.kv_len, 0);
    if (!s.seen) return s;
    const bool nothing = s.row_max == -INFINITY;
    long double sum = 0;
    for (int64_t j = 0; j < p.kv_len; j++)
        if (sees[j] && !nothing) sum += s.weights[j] = std::exp(scores[j] - s.row_max);
    s.row_sum = (double)sum;
    s.sink = nothing || p.sinks.empty() ? 0 : std::exp(sink - s.row_max);
    s.row_sum += s.sink;
    s.lost = spoilt;
    for (int64_t j = 0; j < p.kv_len; j++)
        if (sees[j]) s.weights[j] = spoilt || nothing ? NAN : s.weights[j] / s.row_sum;
    return s;
}

double lse_of(const Problem& p, const Row& row, const Softmax& s) {
    if (!s.seen) return p.sinks.empty() ? -INFINITY : p.sinks[row.head];
    return s.lost ? NAN : s.row_max + std::log(s.row_sum);
}

double entropy_of(const Softmax& s) {
    if (!s.seen) return 0;
    long double sum = 0;
    for (const double w : s.weights) sum -= w == 0 ? 0 : w * std::log(w);
    return (double)sum;
}

void top_of(const Problem& p, const Row& row, const Softmax& s, const double* scores,
            const uint8_t* sees, Answers& to) {
    std::vector<int64_t> order;
    for (int64_t j = 0; j < p.kv_len; j++)
        if (sees[j]) order.push_back(j);
    if (!s.lost)
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
    for (int64_t r = 0; r < p.top; r++) {
        const bool there = r < (int64_t)order.size() && !s.lost;
        to.top_keys[row.index * p.top + r] = there ? order[r] : -1;
        to.top_weights[row.index * p.top + r] =
            there ? s.weights[order[r]] : s.seen && s.lost ? NAN : 0;
    }
}

void shares_of(const Problem& p, const Row& row, const Softmax& s, Answers& to) {
    for (int64_t j = 0; j < p.kv_len; j++) {
        const double w = s.weights[j];
        if (p.group_count && p.labels[row.batch * p.kv_len + j] >= 0)
            to.groups[row.index * p.group_count + p.labels[row.batch * p.kv_len + j]] += w;
        if (p.bin_count) {
            int64_t apart = p.position(row.batch, row.query) - j, bin = 0;
            for (apart = apart < 0 ? -apart : apart; apart; apart /= 2) bin++;
            to.distance[row.index * p.bin_count + bin] += w;
        }
        if (p.received &&
            (p.from_rows.empty() || p.from_rows[row.batch * p.q_len + row.query]))
            to.received[(row.batch * p.heads + row.head) * p.kv_len + j] += w;
    }
    bool odd = false;  // then every share is, also of kinds that no visible key is of
    for (const double w : s.weights) odd = odd || std::isnan(w);
    if (odd) {
        std::fill_n(to.groups.begin() + row.index * p.group_count, p.group_count, NAN);
        std::fill_n(to.distance.begin() + row.index * p.bin_count, p.bin_count, NAN);
    }
    for (std::size_t k = 0; k < p.keys.size(); k++)
        to.weights[row.index * (int64_t)p.keys.size() + (int64_t)k] = s.weights[p.keys[k]];
}

// 0 times a value that is not finite is NaN where the key is visible, and nothing elsewhere.
void out_of(const Problem& p, const Row& row, const Softmax& s, const uint8_t* sees, double* to) {
    for (int64_t d = 0; d < p.value_dim; d++) {
        long double sum = 0;
        for (int64_t j = 0; j < p.kv_len; j++)
            if (sees[j]) sum += s.weights[j] * p.v(row.batch, row.head, j, d);
        to[d] = (double)sum;
    }
}

void size_answers(const Problem& p, Expected& e) {
    const int64_t rows = p.batch * p.heads * p.row_count();
    Answers& a = e.answers;
    if (p.has_value) a.out.assign(rows * p.value_dim, 0);
    a.lse.assign(p.lse ? rows : 0, 0);
    a.entropy.assign(p.entropy ? rows : 0, 0);
    a.max_score.assign(p.max_score ? rows : 0, 0);
    a.sink.assign(p.sink ? rows : 0, 0);
    a.top_keys.assign(rows * p.top, 0);
    a.top_weights.assign(rows * p.top, 0);
    a.groups.assign(rows * p.group_count, 0);
    a.distance.assign(rows * p.bin_count, 0);
    a.weights.assign(rows * (int64_t)p.keys.size(), 0);
    a.received.assign(p.received ? p.batch * p.heads * p.kv_len : 0, 0);
    e.scores.assign(rows * p.kv_len, -INFINITY);
    e.sees.assign(rows * p.kv_len, 0);
    e.score_slack.assign(rows, 0);
    e.weight_slack = e.out_slack = e.score_slack;
}

// What rounding may do to a row: to its scores, relative to its weights, and to its output.
void slacken(const Problem& p, const Row& row, double size, Expected& e) {
    const double eps = p.compute() == F64 ? 0x1p-52 : 0x1p-23;
    const double own = p.dtype == BF16 ? 0x1p-8 : p.dtype == F16 ? 0x1p-11 : eps;
    const double slack = eps * ((double)p.head_dim + 16) * size + eps;
    e.score_slack[row.index] = slack;
    e.weight_slack[row.index] = 2 * slack + 128 * eps;
    double most = 0;
    for (int64_t j = 0; j < p.kv_len; j++)
        for (int64_t d = 0; d < p.value_dim && e.sees[row.index * p.kv_len + j]; d++)
            if (std::isfinite(p.v(row.batch, row.head, j, d)))
                most = std::max(most, std::fabs(p.v(row.batch, row.head, j, d)));
    const double tiny = p.dtype == F16 ? 0x1p-24 : 0x1p-120;  // below, few digits are left, or none
    e.out_slack[row.index] = (e.weight_slack[row.index] + 2 * own) * most + tiny;
}

void fill_row(const Problem& p, const Row& row, Expected& e) {
    double* scores = e.scores.data() + row.index * p.kv_len;
    uint8_t* sees = e.sees.data() + row.index * p.kv_len;
    double largest = 0;
    for (int64_t j = 0; j < p.kv_len; j++) {
        sees[j] = is_visible(p, row, j);
        if (!sees[j]) continue;
        double size;
        scores[j] = score_of(p, row, j, size);
        if (std::isfinite(size)) largest = std::max(largest, size);
    }
    const Softmax s = softmax_of(p, row, scores, sees);
    Answers& a = e.answers;
    slacken(p, row, largest, e);
    if (p.has_value) out_of(p, row, s, sees, a.out.data() + row.index * p.value_dim);
    if (p.lse) a.lse[row.index] = lse_of(p, row, s);
    if (p.entropy) a.entropy[row.index] = entropy_of(s);
    bool odd = false;  // a sink is none of the scores
    for (int64_t j = 0; j < p.kv_len; j++)
        odd = odd || (sees[j] && (std::isnan(scores[j]) || scores[j] == INFINITY));
    if (p.max_score) a.max_score[row.index] = odd ? NAN : s.peak;
    if (p.sink) a.sink[row.index] = !s.seen ? 1 : s.lost ? NAN : s.sink / s.row_sum;
    if (p.top) top_of(p, row, s, scores, sees, a);
    shares_of(p, row, s, a);
}

}  // namespace

Expected expected_of(const Problem& p) {
    Expected e;
    size_answers(p, e);
    for (int64_t b = 0; b < p.batch; b++)
        for (int64_t h = 0; h < p.heads; h++)
            for (int64_t place = 0; place < p.row_count(); place++)
                fill_row(p, {b, h, p.row_at(place), (b * p.heads + h) * p.row_count() + place}, e);
    return e;
}

}  // namespace guards
