// The same walk for every test of random problems: so many of them, from a seed, on every
// instruction set that this machine can run.
#pragma once
#include "../units.hpp"
#include "laying.hpp"

namespace guards {

// `given` holds COUNT and SEED; one problem in 16 may be `large`. `check` takes the drawn problem, the
// instruction set's name and random numbers, and ends the program where something is wrong.
template <class Check>
int roam(int count, char** given, const char* what, double large, double small, Check check) {
    tell_of_faults();
    const int64_t problems = count > 1 ? std::atoll(given[1]) : 200;
    const uint64_t seed = count > 2 ? std::strtoull(given[2], nullptr, 10) : 1;
    for (int64_t n = 0; n < problems; n++)
        for (const std::string& name : softlookup::supported()) {
            Random random{seed * 1000003 + (uint64_t)n};
            const int dtype = (int)random.below(4);
            if (name == "x86-64-v4-bf16" && dtype != BF16) continue;  // x86-64-v4's kernels
            const Problem problem = draw(random, dtype, n % 16 == 15 ? large : small);
            doing() = name + ", problem " + std::to_string(n) + ": " + problem.words();
            check(problem, name, random);
        }
    std::printf("%lld problems, %s, on", (long long)problems, what);
    for (const std::string& name : softlookup::supported()) std::printf(" %s", name.c_str());
    std::printf(": right\n");
    return 0;
}

}  // namespace guards
