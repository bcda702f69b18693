// Problems of every kind from a seed: sizes at the edges of vectors, blocks and chunks, every
// option, numbers that are not finite.
#include <algorithm>
#include <numeric>

#include "problem.hpp"

namespace guards {
namespace {

// Numbers of a few kinds: normal ones; small whole ones, whose sums are exact and often tie; ones
// so small that products vanish; ones among the smallest that there are.
double number(Random& random, int kind) {
    if (kind == 1) return (double)random.from(-2, 2);
    return random.normal() * (kind == 3 ? 3e-45 : kind == 2 ? 1e-20 : 1);
}

std::vector<double> numbers(const Problem& p, const int64_t* sizes, const bool* repeats, int kind,
                            Random& random) {
    std::vector<double> all(sizes[0] * sizes[1] * sizes[2] * sizes[3]);
    for (double& x : all) x = as(p.dtype, number(random, kind));
    int64_t index = 0;
    for (int64_t a = 0; a < sizes[0]; a++)
        for (int64_t b = 0; b < sizes[1]; b++)
            for (int64_t c = 0; c < sizes[2]; c++)
                for (int64_t d = 0; d < sizes[3]; d++, index++) {
                    const int64_t at[4] = {repeats[0] ? 0 : a, repeats[1] ? 0 : b,
                                           repeats[2] ? 0 : c, repeats[3] ? 0 : d};
                    int64_t from = 0;
                    for (int axis = 0; axis < 4; axis++) from = from * sizes[axis] + at[axis];
                    all[index] = all[from];
                }
    return all;
}

void draw_sizes(Problem& p, Random& random, double largest) {
    const std::vector<int64_t> dims = {0, 1, 2, 3, 5, 7, 8, 12, 15, 16, 17, 31, 32, 33, 40, 64, 65,
                                       80};
    const std::vector<int64_t> lengths = {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65,
                                          66, 100, 127, 128, 129, 191, 200, 257};
    p.batch = random.from(1, 3);
    p.kv_heads = random.from(1, 3);
    p.heads = p.kv_heads * random.among<int64_t>({1, 1, 2, 3, 7});
    p.q_len = random.among<int64_t>({1, 1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 33, 40, 63, 64, 65, 70});
    p.kv_len = random.among(lengths);
    p.head_dim = random.among(dims);
    p.value_dim = random.among(dims);
    if (random.chance(largest > 2e6 ? .5 : .06)) {  // over the end of a chunk
        p.kv_len = random.among<int64_t>({4095, 4096, 4097, 4160, 8192, 8193, 8200, 12300});
        p.q_len = random.from(1, 5);
    }
    const auto cost = [&] {
        const double cells = (double)p.batch * p.heads * p.q_len * (p.kv_len + 1);
        return cells * (p.head_dim + p.value_dim + 8);
    };
    if (cost() > largest) p.batch = 1;
    if (cost() > largest) p.heads /= p.kv_heads, p.kv_heads = 1;
    while (cost() > largest && p.head_dim + p.value_dim > 9) p.head_dim /= 2, p.value_dim /= 2;
    while (cost() > largest && p.q_len > 1) p.q_len /= 2;
    if (p.q_len == p.kv_len || random.chance(.8)) return;
    p.q_len = std::min<int64_t>(p.q_len, 40);
}

void draw_positions(Problem& p, Random& random) {
    const int64_t far = (int64_t)1 << 60, gap = p.kv_len - p.q_len;
    p.causal = random.chance(.35);
    const auto side = [&] {
        return random.among<int64_t>(
            {-1, 0, 1, 2, 15, 16, 63, 64, random.from(0, 70), 4000, far, INT64_MAX});
    };
    if (random.chance(.35)) p.left = side(), p.right = side();
    const bool needs = p.causal || p.left >= 0 || p.right >= 0;
    if (needs || random.chance(.3)) {
        p.q_offset.resize(p.batch);
        const std::vector<int64_t> some = {0, 0, gap, gap, gap, gap, 1, -1, gap - 3, gap + 2,
                                           -p.q_len, p.kv_len, far, -far, random.from(-100, 200)};
        for (int64_t& offset : p.q_offset) offset = random.among(some);
    }
    if (random.chance(.3)) {
        p.kv_lens.resize(p.batch);
        for (int64_t& length : p.kv_lens)
            length = random.among<int64_t>({0, p.kv_len, random.from(0, p.kv_len)});
    }
}

void draw_over(const Problem& p, Over& over, Random& random) {
    over.given = true;
    over.sizes[0] = random.from(1, p.batch);
    over.sizes[1] = random.chance(.5) ? 1 : p.heads;
    over.sizes[2] = random.chance(.4) ? 1 : p.q_len;
    over.sizes[3] = random.chance(.15) ? 1 : p.kv_len;
    for (int64_t b = 0; b < p.batch; b++) over.entry.push_back(random.below(over.sizes[0]));
    over.data.resize(over.sizes[0] * over.sizes[1] * over.sizes[2] * over.sizes[3]);
}

void draw_overlays(Problem& p, Random& random, int kind) {
    if (random.chance(.3)) {
        draw_over(p, p.mask, random);
        const double shown = random.among<double>({.03, .3, .8, .98});
        const int64_t run = random.chance(.5) ? 1 : 64;  // whole blocks hidden, or single keys
        bool shows = true;
        for (std::size_t i = 0; i < p.mask.data.size(); i++) {
            if ((int64_t)i % run == 0) shows = random.chance(shown);
            p.mask.data[i] = shows;
        }
    }
    if (random.chance(.3)) {
        draw_over(p, p.bias, random);
        const double hidden = random.among<double>({0, .05, .5, .97});
        for (double& x : p.bias.data)
            x = random.chance(hidden) ? -INFINITY : as(p.compute(), number(random, kind));
    }
}

// Put some NaN and infinities among the numbers.
void spoil(std::vector<double>& all, Random& random) {
    if (all.empty()) return;
    for (int64_t times = random.from(1, 3); times; times--)
        all[random.below((int64_t)all.size())] =
            random.among<double>({NAN, NAN, INFINITY, -INFINITY});
}

void draw_spoilt(Problem& p, Random& random) {
    bool none[3][4] = {};
    if (random.chance(.08)) spoil(p.query, random), std::memcpy(p.repeats[0], none[0], 4);
    if (random.chance(.12)) spoil(p.key, random), std::memcpy(p.repeats[1], none[1], 4);
    if (random.chance(.15)) spoil(p.value, random), std::memcpy(p.repeats[2], none[2], 4);
    if (p.bias.given && random.chance(.2)) spoil(p.bias.data, random);
    if (!p.sinks.empty() && random.chance(.2)) spoil(p.sinks, random);
    if (p.bias.given && random.chance(.05))
        for (double& x : p.bias.data)
            if (!random.chance(.3)) x = -INFINITY;
}

}  // namespace

Problem draw(Random& random, int dtype, double largest) {
    Problem p;
    p.dtype = dtype;
    draw_sizes(p, random, largest);
    for (auto& repeats : p.repeats)
        for (bool& axis : repeats) axis = random.chance(.06);
    const int kind = (int)random.among<int64_t>({0, 0, 0, 0, 1, 1, 2, 3});
    const int64_t query[4] = {p.batch, p.heads, p.q_len, p.head_dim};
    const int64_t key[4] = {p.batch, p.kv_heads, p.kv_len, p.head_dim};
    const int64_t value[4] = {p.batch, p.kv_heads, p.kv_len, p.value_dim};
    p.query = numbers(p, query, p.repeats[0], kind == 1, random);
    p.key = numbers(p, key, p.repeats[1], kind == 1, random);
    p.has_value = !random.chance(.08);
    p.value = numbers(p, value, p.repeats[2], kind, random);
    p.scale = random.among<double>({0, .5, -.25, 1, 1, 1.5, 0x1p-70});
    if (random.chance(.5) && p.head_dim) p.scale = 1 / std::sqrt((double)p.head_dim);
    if (random.chance(.25)) p.softcap = random.among<double>({.5, 1, 3, 30, 1e6});
    p.exact = kind == 1 && p.softcap == 0 && p.scale * 16 == std::nearbyint(p.scale * 16);
    draw_positions(p, random);
    draw_overlays(p, random, kind == 1);
    if (random.chance(.25))
        for (int64_t h = 0; h < p.heads; h++)
            p.sinks.push_back(as(p.compute(), random.normal() * 2));
    if (random.chance(.2))
        for (int64_t n = random.from(1, p.q_len); n; n--) p.rows.push_back(random.below(p.q_len));
    if (random.chance(.25)) draw_spoilt(p, random);
    return draw_facts(p, random);
}

Problem draw_facts(Problem p, Random& random) {
    p.lse = random.chance(.9);
    p.entropy = random.chance(.4);
    p.max_score = random.chance(.4);
    p.sink = random.chance(.6) && !p.sinks.empty();
    p.received = random.chance(.35) && p.kv_len && p.rows.empty();
    if (random.chance(.35)) p.top = random.among<int64_t>({1, 2, 5, 8, p.kv_len + 3});
    p.top = std::min<int64_t>(p.top, 300);
    if (random.chance(.3)) {
        p.group_count = random.from(1, 5);
        const bool none = random.chance(.15);
        for (int64_t j = 0; j < p.batch * p.kv_len; j++)
            p.labels.push_back(none ? -1 : (int32_t)random.from(-2, p.group_count - 1));
        if (p.labels.empty()) p.group_count = 0;
    }
    if (p.received && random.chance(.4))
        for (int64_t i = 0; i < p.batch * p.q_len; i++) p.from_rows.push_back(random.chance(.6));
    if (random.chance(.3) && p.kv_len) {
        int64_t farthest = 0;
        for (int64_t b = 0; b < p.batch; b++) {
            const int64_t low = p.position(b, 0) - (p.kv_len - 1);
            const int64_t high = p.position(b, p.q_len - 1);
            farthest = std::max({farthest, std::abs(low), std::abs(high)});
        }
        for (p.bin_count = 1; farthest; farthest /= 2) p.bin_count++;
    }
    if (random.chance(.25) && p.kv_len)
        for (int64_t n = random.from(1, 9); n; n--) p.keys.push_back(random.below(p.kv_len));
    return p;
}

Problem Problem::plain() const {
    Problem p = *this;
    p.entropy = p.max_score = p.sink = p.received = false;
    p.lse = true;
    p.top = p.group_count = p.bin_count = 0;
    p.labels.clear(), p.from_rows.clear(), p.keys.clear();
    return p;
}

template <class X>
static std::vector<X> part_of(const std::vector<X>& all, int64_t b, int64_t batch) {
    const int64_t each = (int64_t)all.size() / batch;
    return std::vector<X>(all.begin() + b * each, all.begin() + (b + 1) * each);
}

Problem Problem::alone(int64_t b) const {
    Problem p = *this;
    p.batch = 1;
    p.query = part_of(query, b, batch), p.key = part_of(key, b, batch);
    p.value = part_of(value, b, batch);
    p.q_offset = part_of(q_offset, b, batch), p.kv_lens = part_of(kv_lens, b, batch);
    p.labels = part_of(labels, b, batch), p.from_rows = part_of(from_rows, b, batch);
    if (mask.given) p.mask.entry = {mask.entry[b]};
    if (bias.given) p.bias.entry = {bias.entry[b]};
    return p;
}

// The numbers of keys `first` ... `last` among `length`, each of `each` numbers.
static std::vector<double> some_keys(const std::vector<double>& all, int64_t length, int64_t each,
                                     int64_t first, int64_t last) {
    std::vector<double> some;
    for (std::size_t from = 0; length && from < all.size(); from += length * each)
        some.insert(some.end(), all.begin() + from + first * each, all.begin() + from + last * each);
    return some;
}

Problem Problem::between(int64_t first, int64_t last) const {
    Problem p = *this;
    p.kv_len = last - first;
    p.key = some_keys(key, kv_len, head_dim, first, last);
    p.value = some_keys(value, kv_len, value_dim, first, last);
    if (q_offset.empty()) p.q_offset.assign(batch, 0);
    for (int64_t& offset : p.q_offset) offset -= first;
    for (int64_t& valid : p.kv_lens)
        valid = std::min(std::max<int64_t>(valid - first, 0), last - first);
    for (Over* over : {&p.mask, &p.bias})
        if (over->given && over->sizes[3] != 1) {
            over->data = some_keys(over->data, kv_len, 1, first, last);
            over->sizes[3] = last - first;
        }
    p.group_count = p.bin_count = 0;
    p.received = false;
    p.labels.clear(), p.from_rows.clear(), p.keys.clear();
    return p;
}

std::string Problem::words() const {
    std::string text;
    const auto tell = [&](const char* name, double x) {
        char part[64];
        std::snprintf(part, sizeof part, "%s%s %g", text.empty() ? "" : ", ", name, x);
        text += part;
    };
    tell("dtype", dtype), tell("batch", (double)batch);
    tell("heads", (double)heads), tell("kv_heads", (double)kv_heads);
    tell("q_len", (double)q_len), tell("kv_len", (double)kv_len);
    tell("head_dim", (double)head_dim), tell("value_dim", (double)value_dim);
    tell("scale", scale), tell("softcap", softcap), tell("causal", causal);
    tell("left", (double)left), tell("right", (double)right);
    if (!q_offset.empty()) tell("q_offset[0]", (double)q_offset[0]);
    if (!kv_lens.empty()) tell("kv_lens[0]", (double)kv_lens[0]);
    if (!sinks.empty()) tell("sinks[0]", sinks[0]);
    tell("mask", mask.given), tell("bias", bias.given), tell("rows", (double)rows.size());
    tell("top", (double)top), tell("groups", (double)group_count), tell("bins", (double)bin_count);
    tell("keys", (double)keys.size()), tell("received", received);
    return text;
}

}  // namespace guards
