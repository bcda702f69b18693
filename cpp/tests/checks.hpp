// What every check here needs: random numbers from a seed, a way to fail that says where, and the
// formats of numbers, converted plainly and apart from the kernels.
#pragma once
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../call.hpp"

namespace guards {

inline std::string& doing() {  // what is being checked; printed where it fails
    static std::string text;
    return text;
}

[[noreturn]] inline void fail(const char* format, ...) {
    std::fprintf(stderr, "FAILED %s\n  ", doing().c_str());
    va_list parts;
    va_start(parts, format);
    std::vfprintf(stderr, format, parts);
    va_end(parts);
    std::fputc('\n', stderr);
    std::_Exit(1);
}

struct Random {
    uint64_t state;
    uint64_t next() {  // splitmix64
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    int64_t below(int64_t end) { return (int64_t)(next() % (uint64_t)end); }
    int64_t from(int64_t low, int64_t high) { return low + below(high - low + 1); }
    double part() { return (double)(next() >> 11) * 0x1p-53; }
    bool chance(double p) { return part() < p; }
    double normal() {
        const double size = std::sqrt(-2 * std::log(1 - part()));
        return size * std::cos(6.283185307179586 * part());
    }
    template <class X> X among(const std::vector<X>& some) {
        return some[below((int64_t)some.size())];
    }
};

inline int64_t size_of(int dtype) {
    return dtype == softlookup::F64 ? 8 : dtype == softlookup::F32 ? 4 : 2;
}

inline double half_value(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
    if (exponent == 31) size = fraction ? NAN : INFINITY;
    return bits & 0x8000 ? -size : size;
}

inline uint16_t half_of(double x) {  // to nearest, ties to even; no NaN
    const double size = std::fabs(x);
    const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    if (size >= 65520) return sign | 0x7c00;
    if (size < 0x1p-14) return sign | (uint16_t)std::nearbyint(std::ldexp(size, 24));
    int exponent;
    const double fraction = std::nearbyint(std::ldexp(std::frexp(size, &exponent), 11));
    return sign | (uint16_t)(((exponent + 14) << 10) + (int)fraction - 1024);
}

inline double brain_value(uint16_t bits) {
    const uint32_t wide = (uint32_t)bits << 16;
    float x;
    std::memcpy(&x, &wide, 4);
    return x;
}

inline uint16_t brain_of(double x) {  // towards zero; no NaN
    const float narrow = (float)x;
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return (uint16_t)(bits >> 16);
}

inline double value_at(int dtype, const void* at) {
    uint16_t half;
    float single;
    double whole;
    switch (dtype) {
        case softlookup::F64: std::memcpy(&whole, at, 8); return whole;
        case softlookup::F32: std::memcpy(&single, at, 4); return single;
        default: std::memcpy(&half, at, 2);
    }
    return dtype == softlookup::F16 ? half_value(half) : brain_value(half);
}

// A NaN of any sign and payload, quiet or not.
inline void put_nan(int dtype, void* at, Random& random) {
    const int bytes = (int)size_of(dtype), fraction = dtype == softlookup::F64  ? 52
                                                      : dtype == softlookup::F32 ? 23
                                                      : dtype == softlookup::F16 ? 10 : 7;
    const uint64_t one = 1, payload = 1 + random.next() % ((one << fraction) - 1);
    const uint64_t exponent = ((one << (8 * bytes - 1)) - 1) >> fraction << fraction;
    const uint64_t bits = exponent | payload | (random.chance(.5) ? one << (8 * bytes - 1) : 0);
    std::memcpy(at, &bits, bytes);
}

inline void put(int dtype, void* at, double x, Random& random) {
    if (std::isnan(x)) return put_nan(dtype, at, random);
    const float single = (float)x;
    const uint16_t half = dtype == softlookup::F16 ? half_of(x) : brain_of(x);
    if (dtype == softlookup::F64) std::memcpy(at, &x, 8);
    else if (dtype == softlookup::F32) std::memcpy(at, &single, 4);
    else std::memcpy(at, &half, 2);
}

// The nearest number that the dtype has.
inline double as(int dtype, double x) {
    if (std::isnan(x)) return x;
    if (dtype == softlookup::F64) return x;
    if (dtype == softlookup::F32) return (float)x;
    return dtype == softlookup::F16 ? half_value(half_of(x)) : brain_value(brain_of(x));
}

}  // namespace guards
