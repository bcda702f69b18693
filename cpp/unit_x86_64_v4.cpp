// x86-64-v4: AVX-512.
#define UNIT x86_64_v4
#define SYMBOL softlookup_x86_64_v4
#define NAME "x86-64-v4"
#define VECTOR_BYTES 64
#ifndef VECTORS
#define VECTORS 2
#endif
#ifndef STEP_KEYS
#define STEP_KEYS 8
#endif
#include "unit.hpp"
