#include "units.hpp"

#include <stdexcept>
#include <utility>

extern "C" {
#if defined(__x86_64__)
extern const softlookup::Unit softlookup_x86_64_v4_bf16, softlookup_x86_64_v4,
    softlookup_x86_64_v3, softlookup_x86_64_v2;
#elif defined(__aarch64__)
extern const softlookup::Unit softlookup_neon;
#endif
}

namespace softlookup {
namespace {

struct Choice {
    const char* name;
    const Unit* unit;  // takes every dtype but perhaps one
    const Unit* bf16;  // takes bfloat16
    bool (*runs)();  // asks the processor, and whether the system keeps its registers
};

#if defined(__x86_64__)
bool has_v4() { return __builtin_cpu_supports("x86-64-v4") != 0; }
bool has_pairs() { return has_v4() && __builtin_cpu_supports("avx512bf16") != 0; }

// Best first on this machine. Dots of pairs are the faster way to multiply bfloat16 on AMD's
// processors alone: Intel's do them at half the rate of multiply-adds.
const std::vector<Choice>& choices() {
    static const std::vector<Choice> all = [] {
        std::vector<Choice> found = {
            {"x86-64-v4-bf16", &softlookup_x86_64_v4, &softlookup_x86_64_v4_bf16, has_pairs},
            {"x86-64-v4", &softlookup_x86_64_v4, &softlookup_x86_64_v4, has_v4},
            {"x86-64-v3", &softlookup_x86_64_v3, &softlookup_x86_64_v3,
             [] { return __builtin_cpu_supports("x86-64-v3") != 0; }},
            {"x86-64-v2", &softlookup_x86_64_v2, &softlookup_x86_64_v2,
             [] { return __builtin_cpu_supports("x86-64-v2") != 0; }},
        };
        if (!__builtin_cpu_is("amd")) std::swap(found[0], found[1]);
        return found;
    }();
    return all;
}
#elif defined(__aarch64__)
const std::vector<Choice>& choices() {
    static const std::vector<Choice> all = {
        {"neon", &softlookup_neon, &softlookup_neon, [] { return true; }}};
    return all;
}
#endif

}  // namespace

std::vector<std::string> compiled() {
    std::vector<std::string> names;
    for (const Choice& choice : choices()) names.push_back(choice.name);
    return names;
}

std::vector<std::string> supported() {
    std::vector<std::string> names;
    for (const Choice& choice : choices())
        if (choice.runs()) names.push_back(choice.name);
    return names;
}

const Unit& unit_of(const std::string& name, int dtype) {
    if (dtype < F16 || dtype > F64) throw std::invalid_argument("no such dtype");
    for (const Choice& choice : choices())
        if (name == choice.name && choice.runs())
            return dtype == BF16 ? *choice.bf16 : *choice.unit;
    throw std::invalid_argument("no such instruction set here: " + name);
}

}  // namespace softlookup
