#include "laying.hpp"

#include <algorithm>
#include <numeric>

namespace guards {

Laid::Laid(const Problem& problem, const Unit& unit, const Layout& layout)
    : problem_(problem), random_{layout.seed}, plain_(layout.plain) {
    lay_inputs();
    for (Guarded& input : held_) input.seal();
    lay_answers(unit);
}

Guarded& Laid::hold(int64_t bytes) {
    held_.emplace_back(bytes, random_.chance(.7) ? Guarded::END : Guarded::BEGIN);
    return held_.back();
}

char* Laid::block(const int64_t* sizes, const bool* repeats, int64_t element, int64_t* strides) {
    std::vector<int> axes = {3, 2, 1, 0};  // innermost first
    const int fixed = plain_ ? 4 : random_.chance(.6) ? 1 : 0;
    for (int i = 3; i > fixed; i--) std::swap(axes[i], axes[fixed + random_.below(i - fixed + 1)]);
    int64_t step = 1, first = 0, last = 0;
    for (const int axis : axes) {
        const bool shared = repeats && repeats[axis] && !plain_;
        const int64_t gap = plain_ || random_.chance(.7) ? 1 : random_.from(2, 3);
        strides[axis] = shared ? 0 : step * gap;
        if (!plain_ && random_.chance(.15)) strides[axis] = -strides[axis];
        const int64_t reach = strides[axis] * std::max<int64_t>(sizes[axis] - 1, 0);
        (reach < 0 ? first : last) += reach;
        if (!shared) step = std::max<int64_t>(step * gap * sizes[axis], 1);
        if (sizes[axis] == 1 && !plain_) strides[axis] = random_.from(-(1 << 30), 1 << 30);
    }
    const bool empty = !sizes[0] || !sizes[1] || !sizes[2] || !sizes[3];
    return hold(empty ? 0 : (last - first + 1) * element).data() - (empty ? 0 : first * element);
}

template <class Use>
static void for_each_place(const int64_t* sizes, const int64_t* strides, Use use) {
    int64_t index = 0;
    for (int64_t a = 0; a < sizes[0]; a++)
        for (int64_t b = 0; b < sizes[1]; b++)
            for (int64_t c = 0; c < sizes[2]; c++)
                for (int64_t d = 0; d < sizes[3]; d++, index++)
                    use(index, a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3]);
}

// Keys beyond the only kv_len are not even laid into memory: padding is never read.
softlookup::Strided Laid::strided(const std::vector<double>& from, const int64_t* sizes,
                                  int which) {
    int64_t strides[4], there[4] = {sizes[0], sizes[1], sizes[2], sizes[3]};
    if (which && problem_.batch == 1) there[2] = problem_.length(0);
    const int64_t element = size_of(problem_.dtype);
    char* data = block(there, problem_.repeats[which], element, strides);
    for_each_place(there, strides, [&](int64_t index, int64_t place) {
        const int64_t outer = there[2] * there[3];
        const int64_t own = outer ? index / outer * sizes[2] * sizes[3] + index % outer : 0;
        put(problem_.dtype, data + place * element, from[own], random_);
    });
    return {data, strides[0], strides[1], strides[2], strides[3]};
}

softlookup::Overlay Laid::overlay(const Over& over, int dtype) {
    if (!over.given) return {};
    int64_t strides[4];
    const int64_t element = dtype < 0 ? 1 : size_of(dtype);
    char* data = block(over.sizes, nullptr, element, strides);
    for_each_place(over.sizes, strides, [&](int64_t index, int64_t place) {
        char* at = data + place * element;
        if (dtype < 0) *at = over.data[index] == 0 ? 0 : random_.chance(.9) ? 1 : (char)255;
        else put(dtype, at, over.data[index], random_);
    });
    for (int axis = 0; axis < 4; axis++)
        if (over.sizes[axis] == 1) strides[axis] = 0;
    return {data, listed(over.entry), strides[0], strides[1], strides[2], strides[3]};
}

template <class X> const X* Laid::listed(const std::vector<X>& numbers) {
    if (numbers.empty()) return nullptr;
    char* to = hold((int64_t)(numbers.size() * sizeof(X))).data();
    std::memcpy(to, numbers.data(), numbers.size() * sizeof(X));
    return (const X*)to;
}

void Laid::lay_inputs() {
    const Problem& p = problem_;
    const int64_t query[4] = {p.batch, p.heads, p.q_len, p.head_dim};
    const int64_t key[4] = {p.batch, p.kv_heads, p.kv_len, p.head_dim};
    const int64_t value[4] = {p.batch, p.kv_heads, p.kv_len, p.value_dim};
    call.dtype = p.dtype;
    call.batch = p.batch, call.heads = p.heads, call.kv_heads = p.kv_heads;
    call.q_len = p.q_len, call.kv_len = p.kv_len;
    call.head_dim = p.head_dim, call.value_dim = p.has_value ? p.value_dim : 0;
    call.query = strided(p.query, query, 0);
    call.key = strided(p.key, key, 1);
    if (p.has_value && p.value_dim && p.kv_len) call.value = strided(p.value, value, 2);
    call.scale = p.scale, call.softcap = p.softcap, call.causal = p.causal;
    call.left = p.left, call.right = p.right;
    call.q_offset = listed(p.q_offset), call.kv_lens = listed(p.kv_lens);
    call.mask = overlay(p.mask, -1);
    call.bias = overlay(p.bias, p.compute());
    if (!p.sinks.empty()) {
        char* to = hold((int64_t)p.sinks.size() * size_of(p.compute())).data();
        for (std::size_t h = 0; h < p.sinks.size(); h++)
            put(p.compute(), to + (int64_t)h * size_of(p.compute()), p.sinks[h], random_);
        call.sinks = to;
    }
    call.rows = listed(p.rows), call.row_count = p.row_count();
    call.labels = listed(p.labels), call.from_rows = listed(p.from_rows);
    call.keys = listed(p.keys), call.key_count = (int64_t)p.keys.size();
}

template <class X> X* Laid::answer(int64_t count, int64_t size) {
    answer_bytes_ += count * size;
    return count ? (X*)hold(count * size).data() : nullptr;
}

void Laid::lay_answers(const Unit& unit) {
    const Problem& p = problem_;
    const int64_t rows = p.batch * p.heads * p.row_count(), size = size_of(p.compute());
    if (p.has_value) call.out = answer<void>(rows * p.value_dim, size_of(p.dtype));
    call.lse = answer<void>(p.lse ? rows : 0, size);
    call.entropy = answer<void>(p.entropy ? rows : 0, size);
    call.max_score = answer<void>(p.max_score ? rows : 0, size);
    call.sink = answer<void>(p.sink ? rows : 0, size);
    call.top = p.top, call.group_count = p.group_count, call.bin_count = p.bin_count;
    call.top_keys = answer<int64_t>(rows * p.top, 8);
    call.top_weights = answer<void>(rows * p.top, size);
    call.groups = answer<void>(rows * p.group_count, size);
    call.distance = answer<void>(rows * p.bin_count, size);
    call.weights = answer<void>(rows * (int64_t)p.keys.size(), size);
    call.range_rows = 1;
    if (p.received && p.kv_len) {
        call.received = &call;  // `cut_of` asks whether it is wanted
        const softlookup::Cut cut = softlookup::cut_of(call, unit);
        call.range_count = cut.ranges;
        call.range_rows = cut.folded ? call.row_count : cut.range_tiles * cut.width;
        const int64_t count = p.batch * p.heads * cut.ranges * p.kv_len;
        call.received = answer<void>(count, size);
        std::memset(call.received, 0, (std::size_t)(count * size));
    }
}

std::vector<double> Laid::read(const void* from, int dtype, int64_t count) const {
    std::vector<double> numbers(from ? (std::size_t)count : 0);
    for (std::size_t i = 0; i < numbers.size(); i++)
        numbers[i] = value_at(dtype, (const char*)from + (int64_t)i * size_of(dtype));
    return numbers;
}

Answers Laid::answers() const {
    const Problem& p = problem_;
    const int64_t rows = p.batch * p.heads * p.row_count(), heads = p.batch * p.heads;
    const int compute = p.compute();
    Answers a;
    a.out = read(call.out, p.dtype, rows * p.value_dim);
    a.lse = read(call.lse, compute, rows);
    a.entropy = read(call.entropy, compute, rows);
    a.max_score = read(call.max_score, compute, rows);
    a.sink = read(call.sink, compute, rows);
    a.top_weights = read(call.top_weights, compute, rows * p.top);
    if (call.top_keys) a.top_keys.assign(call.top_keys, call.top_keys + rows * p.top);
    a.groups = read(call.groups, compute, rows * p.group_count);
    a.distance = read(call.distance, compute, rows * p.bin_count);
    a.weights = read(call.weights, compute, rows * (int64_t)p.keys.size());
    const auto parts = read(call.received, compute, heads * call.range_count * p.kv_len);
    a.received.assign(call.received ? heads * p.kv_len : 0, 0);
    for (std::size_t i = 0; i < parts.size(); i++) {
        const int64_t all = call.range_count * p.kv_len, at = (int64_t)i;
        a.received[at / all * p.kv_len + at % p.kv_len] += parts[i];
    }
    return a;
}

}  // namespace guards
