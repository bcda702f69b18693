// What a call asks of the kernels: plain data, filled once at the edge, read by every tile.
#pragma once
#include <stdint.h>

namespace softlookup {

enum Dtype { F16 = 0, BF16 = 1, F32 = 2, F64 = 3 };

constexpr int BLOCK = 64;      // keys, aligned to the absolute index: the order of sums rests on it
constexpr int64_t CHUNK = 4096;  // keys that one state gathers before states are merged
constexpr int MOST_ROWS = 64;  // of one tile
constexpr int BAND = 32;       // rows, and keys, of the largest block of weights that is pooled

// An array (batch, heads, length, dim) of any strides, counted in elements.
struct Strided {
    const void* data;
    int64_t batch, head, row, dim;
};

// A mask of bytes or a bias, laid over (heads, q_len, kv_len); an axis of stride 0 repeats.
struct Overlay {
    const void* data;
    const int64_t* entry;  // (batch,): which entry of `data` a batch uses
    int64_t stride, head, row, key;
};

struct Call {
    int32_t dtype;
    int64_t batch, heads, kv_heads, q_len, kv_len, head_dim, value_dim;
    Strided query, key, value;  // value.data is null where no output is asked for
    double scale, softcap;      // softcap 0: none
    int32_t causal;
    int64_t left, right;      // window, -1: open
    const int64_t* q_offset;  // (batch,) or null
    const int64_t* kv_lens;   // (batch,) or null
    Overlay mask, bias;       // data null: none; the bias is float, double for float64
    const void* sinks;        // (heads,) float, double for float64; or null

    const int64_t* rows;  // the queries that are asked for, or null for all
    int64_t row_count;

    // Answers, C-contiguous (batch, heads, row_count, ...); null where not asked for. float, double
    // for float64, but for `out`, which has the inputs' dtype, and the keys.
    void *out, *lse, *entropy, *max_score, *sink;
    int64_t top;
    int64_t* top_keys;
    void* top_weights;
    const int32_t* labels;  // (batch, kv_len), negative: none
    int64_t group_count;
    void* groups;
    int64_t bin_count;
    void* distance;
    void* received;            // (batch, heads, range_count, kv_len), zero at first
    int64_t range_count, range_rows;
    const uint8_t* from_rows;  // (batch, q_len) or null for all
    const int64_t* keys;       // of a rectangle of weights
    int64_t key_count;
    int64_t kept_keys;  // keys that a thread keeps widened between tiles: kv_len, or 0
    void* weights;  // (batch, heads, row_count, key_count)

    // Blocks of weights of one head of one batch entry: the largest of each, and their sum; zero at
    // first. Of whole bands of rows, (band_count, key blocks), where row_count is band_count * BAND;
    // or of a rectangle of known rows, (row_count / block, key_count / block), both rounded up.
    void *block_max, *block_sum;  // block_sum may be null
    const int64_t* bands;
    int64_t band_count;
    int64_t block;               // rows, and keys, of a rectangle's block: a power of 2 up to BAND
    int64_t row_from, key_from;  // multiples of `block`
    void *shift, *factor;  // (batch, heads, row_count): weight = exp(score - shift) * factor; given,
                           // or asked for
    int32_t known;  // whether they are given for what is asked of the final weights of all keys here

    // Unfinished rows, C-contiguous (part_count, batch, heads, row_count, ...): what is known of each
    // row after each CHUNK of the keys alone. Or, where `merging`, what was: it is merged from the
    // first to the last, and either ended, where `lse` is asked for, or left in the first one's
    // place. Then there are no keys here.
    int64_t part_count;  // 0: none
    int32_t merging;
    void *part_max, *part_sum, *part_heat, *part_acc;  // heat: for entropy, or null
    uint8_t* part_seen;
    void* part_scores;  // (..., top), falling; keys from the first one here on, -1 for none
    int64_t* part_keys;

    // Gradients, where out_grad.data is not null: of all rows, whose shift and factor are given.
    Strided out_grad;   // of the output, in the inputs' dtype
    void* delta;  // (batch, heads, q_len): out_grad . out, less the gradient of the lse. In 16 bits
                  // what is given is added to: there the kernels find out_grad . out, unrounded
    int32_t finite;     // whether query, key, value and out_grad are all finite
    int64_t grad_ranges;  // of a kv head's rows, each with its own sums
    void* query_grad;   // (batch, heads, q_len, head_dim) in the inputs' dtype
    void *key_grad, *value_grad;  // (batch, kv_heads, grad_ranges, kv_len, dim), zero at first
    Overlay bias_grad;    // zero at first; data null: not asked for
    int64_t bias_range;   // what lies between the sums of two ranges
};

// Some rows of one kv head, one a lane; a tile.
struct Rows {
    int64_t batch, kv_head;
    int32_t count;
    int32_t head[MOST_ROWS];
    int64_t place[MOST_ROWS];  // in the list of rows that are asked for
    int64_t query[MOST_ROWS];
    int64_t range;  // of gradients
    void* strip;  // where chunks of one tile are gathered at the same time: its cells; or null
};

// One instruction set's kernels.
struct Unit {
    const char* name;
    int32_t (*lanes)(const Call&);            // rows of a vector
    int32_t (*widest)(const Call&);           // rows of the widest tile
    int64_t (*scratch)(const Call&);          // bytes that a thread needs
    int64_t (*state)(const Call&);            // bytes of one chunk's state
    int64_t (*strip)(const Call&);            // bytes of a tile's cells, for facts
    void (*tile)(const Call&, const Rows&, void* scratch);
    void (*rectangle)(const Call&, const Rows&, void* scratch);
    void (*backward)(const Call&, const Rows&, void* scratch);
    void (*part)(const Call&, const Rows&, int64_t chunk, void* scratch, void* state);
    void (*finish)(const Call&, const Rows&, void* const* states, int64_t count, void* scratch);
    double (*spin)(int32_t dtype, int64_t rounds);  // operations of that many rounds of pure dots
};

}  // namespace softlookup
