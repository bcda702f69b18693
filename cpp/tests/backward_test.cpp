// Gradients against the plain loops, in guarded memory, on every instruction set, and the same bits
// for every number of threads. Usage: backward_test COUNT [SEED]
#include <algorithm>

#include "roaming.hpp"

using namespace guards;

namespace {

// All rows, every weight asked for, with a value.
Problem whole_of(Problem p) {
    p = p.plain();
    p.rows.clear();
    p.has_value = true;
    for (int64_t j = 0; j < p.kv_len; j++) p.keys.push_back(j);
    return p;
}

struct Numbers {
    std::vector<double> right, slack;
    explicit Numbers(int64_t count) : right((size_t)count, 0), slack((size_t)count, 0x1p-100) {}
    void add(int64_t at, double x, double off) {
        right[at] += x;
        slack[at] += off;
    }
};

struct Gradients {
    std::vector<double> out, delta, delta_slack;
    std::vector<double> given;  // of delta: all of it, or in 16 bits what comes of the lse
    Numbers query, key, value, bias;
    explicit Gradients(const Problem& p)
        : query(p.batch * p.heads * p.q_len * p.head_dim),
          key(p.batch * p.kv_heads * p.kv_len * p.head_dim),
          value(p.batch * p.kv_heads * p.kv_len * p.value_dim),
          bias(p.batch * p.heads * p.q_len * p.kv_len) {}
};

double score_slope(const Problem& p, int64_t b, int64_t h, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t d = 0; d < p.head_dim; d++) sum += p.q(b, h, i, d) * p.k(b, h, j, d);
    const double t = p.softcap > 0 ? std::tanh(p.scale * sum / p.softcap) : 0;
    return 1 - t * t;
}

void add_pair(const Problem& p, Gradients& g, const Expected& e, int64_t b, int64_t h, int64_t i,
              int64_t j) {
    const int64_t row = (b * p.heads + h) * p.q_len + i;
    const double weight = e.answers.weights[row * p.kv_len + j];
    if (weight == 0) return;
    const double eps = p.compute() == F64 ? 0x1p-52 : 0x1p-23;
    const double* out = g.out.data() + row * p.value_dim;
    double product = 0, size = std::fabs(g.delta[row]);
    for (int64_t d = 0; d < p.value_dim; d++) {
        const double term = out[d] * p.v(b, h, j, d);
        product += term;
        size += std::fabs(term);
    }
    const double off = e.weight_slack[row] + 8 * e.score_slack[row] +
                       eps * (double)(p.value_dim + p.q_len * (p.heads / p.kv_heads) + 64);
    const double slope = score_slope(p, b, h, i, j), flow = weight * (product - g.delta[row]);
    const double loose = weight * (size * off + g.delta_slack[row]);
    g.bias.add(row * p.kv_len + j, flow, loose);
    const int64_t kv = (b * p.kv_heads + h / (p.heads / p.kv_heads)) * p.kv_len + j;
    for (int64_t d = 0; d < p.head_dim; d++) {
        const double x = p.q(b, h, i, d) * p.scale, y = p.k(b, h, j, d) * p.scale;
        g.query.add(row * p.head_dim + d, flow * slope * y, loose * std::fabs(y));
        g.key.add(kv * p.head_dim + d, flow * slope * x, loose * std::fabs(x));
    }
    for (int64_t d = 0; d < p.value_dim; d++)
        g.value.add(kv * p.value_dim + d, weight * out[d], weight * std::fabs(out[d]) * off);
}

// What rounding may do to the sum of weight * (gradient of the output . value) over the keys.
double slack_of_delta(const Problem& p, const Gradients& g, const Expected& e, int64_t row) {
    const int64_t b = row / (p.heads * p.q_len), h = row / p.q_len % p.heads;
    double most = 0;
    for (int64_t j = 0; j < p.kv_len; j++) {
        double size = 0;
        for (int64_t d = 0; d < p.value_dim && e.sees[row * p.kv_len + j]; d++)
            size += std::fabs(g.out[row * p.value_dim + d] * p.v(b, h, j, d));
        most = std::max(most, size);
    }
    const double eps = 0x1p-23 * (double)(p.value_dim + 128);
    return most * (e.weight_slack[row] + 8 * e.score_slack[row] + eps);
}

Gradients expected_gradients(const Problem& p, const Expected& e, Random& random) {
    Gradients g(p);
    const int64_t rows = p.batch * p.heads * p.q_len;
    for (int64_t n = 0; n < rows * p.value_dim; n++)
        g.out.push_back(as(p.dtype, random.normal()));
    for (int64_t row = 0; row < rows; row++) {
        const double of_lse = random.chance(.3) ? as(p.compute(), random.normal()) : 0;
        double delta = of_lse;
        for (int64_t d = 0; d < p.value_dim; d++)
            delta += g.out[row * p.value_dim + d] * e.answers.out[row * p.value_dim + d];
        const bool summed = size_of(p.dtype) == 2;
        g.delta.push_back(summed ? delta : as(p.compute(), delta));
        g.given.push_back(summed ? of_lse : g.delta.back());
        g.delta_slack.push_back(summed ? slack_of_delta(p, g, e, row) : 0);
    }
    for (int64_t b = 0; b < p.batch; b++)
        for (int64_t h = 0; h < p.heads; h++)
            for (int64_t i = 0; i < p.q_len; i++)
                for (int64_t j = 0; j < p.kv_len; j++) add_pair(p, g, e, b, h, i, j);
    return g;
}

// Memory of its own for one array of the call.
struct Held {
    Guarded memory;
    int dtype;
    Held(int64_t count, int type, Random& random)
        : memory(count * size_of(type), random.chance(.5) ? Guarded::END : Guarded::BEGIN),
          dtype(type) {
        if (count) std::memset(memory.data(), 0, (size_t)(count * size_of(type)));
    }
    void fill(const std::vector<double>& from, Random& random) {
        for (size_t i = 0; i < from.size(); i++)
            put(dtype, memory.data() + (int64_t)i * size_of(dtype), from[i], random);
    }
    double at(int64_t index) const { return value_at(dtype, memory.data() + index * size_of(dtype)); }
    void* data() const { return memory.data(); }
};

void assert_numbers(const char* what, const Held& got, const Numbers& e, int64_t ranges,
                    int64_t each) {
    const double own = got.dtype == BF16 ? 0x1p-8 : got.dtype == F16 ? 0x1p-11 : 0;
    for (int64_t n = 0; n < (int64_t)e.right.size(); n++) {
        double sum = 0;
        for (int64_t range = 0; range < ranges; range++)
            sum += got.at((n / each * ranges + range) * each + n % each);
        const double right = e.right[n];
        if (got.dtype == F16 && std::fabs(right) > 6e4) continue;  // rounds to infinity
        const double slack = e.slack[n] + own * std::fabs(right) + (got.dtype == F16 ? 0x1p-24 : 0);
        if (!(std::fabs(sum - right) <= slack))
            fail("%s: number %lld is %.17g; must be %.17g within %.3g", what, (long long)n, sum,
                 right, slack);
    }
}

struct Run {
    Held query, key, value, bias, delta;
    int64_t ranges;
};

Run run_backward(const Problem& p, const Gradients& g, const Unit& unit, int threads, bool finite,
                 int64_t ranges, bool with_bias, Random& random) {
    const int64_t rows = p.batch * p.heads * p.q_len, T = p.compute();
    const int64_t kv = p.batch * p.kv_heads * ranges * p.kv_len;
    Run made{{rows * p.head_dim, p.dtype, random}, {kv * p.head_dim, (int)T, random},
             {kv * p.value_dim, (int)T, random},
             {with_bias ? rows * p.kv_len : 0, (int)T, random}, {rows, (int)T, random}, ranges};
    Held shift(rows, (int)T, random), factor(rows, (int)T, random);
    Held out(rows * p.value_dim, p.dtype, random);
    out.fill(g.out, random);
    out.memory.seal();
    made.delta.fill(g.given, random);
    if (size_of(p.dtype) > 2) made.delta.memory.seal();
    std::vector<int64_t> entry;
    for (int64_t b = 0; b < p.batch; b++) entry.push_back(b);
    Laid laid(p, unit, {random.next(), false});
    softlookup::Call call = laid.call;
    call.weights = nullptr, call.out = nullptr;
    call.shift = shift.data(), call.factor = factor.data();
    if (!softlookup::compute(call, unit, threads, nullptr)) fail("compute was stopped");
    call.lse = nullptr, call.keys = nullptr;
    call.out_grad = {out.data(), p.heads * p.q_len * p.value_dim, p.q_len * p.value_dim,
                     p.value_dim, 1};
    call.delta = made.delta.data(), call.finite = finite, call.grad_ranges = ranges;
    call.query_grad = made.query.data(), call.key_grad = made.key.data();
    call.value_grad = made.value.data();
    if (with_bias)
        call.bias_grad = {made.bias.data(), entry.data(), p.heads * p.q_len * p.kv_len,
                          p.q_len * p.kv_len, p.kv_len, 1};
    shift.memory.seal();
    factor.memory.seal();
    if (!softlookup::compute(call, unit, threads, nullptr)) fail("compute was stopped");
    return made;
}

bool same_bytes(const Held& a, const Held& b) {
    return !a.memory.bytes() ||
           std::memcmp(a.data(), b.data(), (size_t)a.memory.bytes()) == 0;
}

bool is_finite(const Problem& p) {
    for (const auto* all : {&p.query, &p.key, &p.value, &p.bias.data, &p.sinks})
        for (const double x : *all)
            if (std::isnan(x) || (std::isinf(x) && all != &p.bias.data)) return false;
    for (const double x : p.bias.data)
        if (x == INFINITY) return false;
    return true;
}

// Keys that nobody sees get exactly nothing, whatever numbers there are.
void assert_unseen(const Problem& p, const Expected& e, const Run& got) {
    for (int64_t n = 0; n < p.batch * p.kv_heads * p.kv_len; n++) {
        const int64_t b = n / p.kv_len / p.kv_heads, j = n % p.kv_len, group = p.heads / p.kv_heads;
        const int64_t from = (n / p.kv_len) * group;  // heads of all batch entries, counted through
        bool seen = false;
        for (int64_t row = from * p.q_len; row < (from + group) * p.q_len; row++)
            seen = seen || e.sees[row * p.kv_len + j];
        if (seen) continue;
        for (int64_t range = 0; range < got.ranges; range++) {
            const int64_t at = (n / p.kv_len * got.ranges + range) * p.kv_len + j;
            for (int64_t d = 0; d < p.head_dim; d++)
                if (got.key.at(at * p.head_dim + d) != 0) fail("an unseen key has a gradient");
            for (int64_t d = 0; d < p.value_dim; d++)
                if (got.value.at(at * p.value_dim + d) != 0)
                    fail("an unseen value has a gradient, batch %lld", (long long)b);
        }
    }
}

void check(const Problem& p, const Unit& unit, Random& random) {
    const Expected e = expected_of(p);
    Gradients g = expected_gradients(p, e, random);
    const bool finite = is_finite(p), bias = p.bias.given && random.chance(.7);
    const int64_t ranges = random.from(1, 3);
    if (!finite && !g.out.empty() && random.chance(.5))
        g.out[random.below((int64_t)g.out.size())] = random.among<double>({NAN, INFINITY});
    const Run got = run_backward(p, g, unit, 1, finite && random.chance(.7), ranges, bias, random);
    assert_unseen(p, e, got);
    if (!finite) return;
    assert_numbers("gradient of the query", got.query, g.query, 1, 1);
    assert_numbers("gradient of the key", got.key, g.key, ranges, std::max<int64_t>(p.kv_len * p.head_dim, 1));
    assert_numbers("gradient of the value", got.value, g.value, ranges,
                   std::max<int64_t>(p.kv_len * p.value_dim, 1));
    if (bias) assert_numbers("gradient of the bias", got.bias, g.bias, 1, 1);
    for (int64_t row = 0; row < (int64_t)g.delta.size(); row++)
        if (!(std::fabs(got.delta.at(row) - g.delta[row]) <= g.delta_slack[row] + 0x1p-100))
            fail("delta of row %lld is %.17g; must be %.17g within %.3g", (long long)row,
                 got.delta.at(row), g.delta[row], g.delta_slack[row]);
    const Run again = run_backward(p, g, unit, 3, true, ranges, bias, random);
    if (!same_bytes(got.query, again.query) || !same_bytes(got.key, again.key) ||
        !same_bytes(got.value, again.value) || !same_bytes(got.bias, again.bias))
        fail("bits of a gradient differ with threads, strides or a copy of the inputs");
}

}  // namespace

int main(int count, char** given) {
    return roam(count, given, "with gradients", 3e6, 3e5,
                [](const Problem& drawn, const std::string& name, Random& random) {
                    const Problem p = whole_of(drawn);
                    if (p.kv_len && p.value_dim)
                        check(p, softlookup::unit_of(name, p.dtype), random);
                });
}
