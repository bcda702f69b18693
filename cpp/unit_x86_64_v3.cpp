// x86-64-v3: AVX2 and FMA.
#define UNIT x86_64_v3
#define SYMBOL softlookup_x86_64_v3
#define NAME "x86-64-v3"
#define VECTOR_BYTES 32
#define VECTORS 2
#define STEP_KEYS 6
#include "unit.hpp"
