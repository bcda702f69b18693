// x86-64-v4 with AVX512-BF16: dots of pairs of bfloat16. Other dtypes are x86-64-v4's.
#define UNIT x86_64_v4_bf16
#define SYMBOL softlookup_x86_64_v4_bf16
#define NAME "x86-64-v4-bf16"
#define VECTOR_BYTES 64
#define VECTORS 2
#define STEP_KEYS 8
#define ONLY_BF16
#include "unit.hpp"
