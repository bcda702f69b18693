// One instruction set's kernels: everything above, compiled in a namespace of its own. Exports one
// symbol. A unit defines UNIT (its namespace), SYMBOL, NAME and VECTOR_BYTES, and how wide tiles are:
// VECTORS of rows, STEP_KEYS keys and dims at a time. With ONLY_BF16 it holds that dtype alone.
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#include "call.hpp"

#define INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__)
#define KEEP(x) "+v"(x)
#else
#define KEEP(x) "+w"(x)
#endif

namespace softlookup {
namespace UNIT {
namespace {

typedef float f32v __attribute__((vector_size(VECTOR_BYTES)));
typedef double f64v __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t i32v __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t i64v __attribute__((vector_size(VECTOR_BYTES)));
typedef uint8_t u8v __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t i32u __attribute__((vector_size(VECTOR_BYTES), aligned(4)));

#if VECTOR_BYTES == 64
#include "lanes_avx512.hpp"
#elif VECTOR_BYTES == 32
#include "lanes_avx2.hpp"
#else
#include "lanes_128.hpp"
#endif
#include "lanes.hpp"
#include "elements.hpp"
#include "dots.hpp"
#include "thin.hpp"
#include "outer.hpp"
#if defined(__AVX512BF16__)
#include "pairs.hpp"
#endif
#include "tile.hpp"

int32_t lanes_of(const Call& call) { return VECTOR_BYTES / (call.dtype == F64 ? 8 : 4); }
int32_t widest(const Call& call) { return VECTORS * lanes_of(call); }

// Call `use` with a tile of the call's dtype, as narrow as its rows allow.
template <class Use> void with_tile(const Call& call, const Rows& rows, Use use) {
    const int vectors = (rows.count + lanes_of(call) - 1) / lanes_of(call);
    switch (call.dtype) {
#define CASE(DTYPE, E)                                                   \
    case DTYPE:                                                          \
        if (vectors <= 1) use(Tile<E, 1, STEP_KEYS>(call, rows));        \
        else if (VECTORS == 2 || vectors == 2) use(Tile<E, 2, STEP_KEYS>(call, rows)); \
        else use(Tile<E, VECTORS, STEP_KEYS>(call, rows));               \
        return;
        CASE(BF16, Brain16)
#if !defined(ONLY_BF16)
        CASE(F32, Same32)
        CASE(F64, Same64)
        CASE(F16, Half16)
#endif
#undef CASE
    }
}

int64_t scratch(const Call& call) {
    Rows rows{};
    rows.count = widest(call);
    int64_t bytes = 0;
    with_tile(call, rows, [&](auto tile) { bytes = tile.lay_out(nullptr); });
    return bytes;
}

int64_t state(const Call& call) {
    Room room{nullptr, 0};
    if (call.dtype == F64) State<double>().lay_out(room, call, widest(call));
    else State<float>().lay_out(room, call, widest(call));
    return room.used;
}

void tile(const Call& call, const Rows& rows, void* memory) {
    with_tile(call, rows, [&](auto some) { some.run(memory); });
}

void rectangle(const Call& call, const Rows& rows, void* memory) {
    with_tile(call, rows, [&](auto some) { some.run_rectangle(memory); });
}

void backward(const Call& call, const Rows& rows, void* memory) {
    with_tile(call, rows, [&](auto some) { some.run_backward(memory); });
}

void part(const Call& call, const Rows& rows, int64_t chunk, void* memory, void* into) {
    with_tile(call, rows, [&](auto some) { some.run_part(chunk, memory, into); });
}

void finish(const Call& call, const Rows& rows, void* const* states, int64_t count, void* memory) {
    with_tile(call, rows, [&](auto some) { some.run_end(states, count, memory); });
}

int64_t strip(const Call& call) {
    Room room{nullptr, 0};
    const int64_t lanes = (call.kv_len + BLOCK + call.kv_len / BLOCK + 2) * widest(call);
    room.take<char>(lanes * (call.dtype == F64 ? 8 : 4) + 64);
    return room.used;
}

// Nothing but the multiply-adds that the kernels are made of: what they could reach at most.
template <class T> double spin_of(int64_t rounds) {
    typedef typename Of<T>::V V;
    V sum[12];
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++) sum[i] = splat((T)i);
    const V a = splat((T)0.999), b = splat((T)0.001);
    for (int64_t round = 0; round < rounds; round++) {
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++) {
            sum[i] = fma(sum[i], a, b);
            asm volatile("" : KEEP(sum[i]));
        }
    }
    return 2.0 * 12 * lanes<T>() * (double)rounds;
}

double spin(int32_t dtype, int64_t rounds) {
#if defined(__AVX512BF16__)
    if (dtype == BF16) {
        f32v sum[12];
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++) sum[i] = splat((float)i);
        const Pairs a = every(0x3f803f80);
        for (int64_t round = 0; round < rounds; round++) {
#pragma GCC unroll 12
            for (int i = 0; i < 12; i++) {
                sum[i] = dot(sum[i], a, a);
                asm volatile("" : KEEP(sum[i]));
            }
        }
        return 4.0 * 12 * lanes<float>() * (double)rounds;
    }
#endif
    return dtype == F64 ? spin_of<double>(rounds) : spin_of<float>(rounds);
}

}  // namespace
}  // namespace UNIT
}  // namespace softlookup

extern "C" const softlookup::Unit SYMBOL;
const softlookup::Unit SYMBOL = {
    NAME,
    softlookup::UNIT::lanes_of,
    softlookup::UNIT::widest,
    softlookup::UNIT::scratch,
    softlookup::UNIT::state,
    softlookup::UNIT::strip,
    softlookup::UNIT::tile,
    softlookup::UNIT::rectangle,
    softlookup::UNIT::backward,
    softlookup::UNIT::part,
    softlookup::UNIT::finish,
    softlookup::UNIT::spin,
};
