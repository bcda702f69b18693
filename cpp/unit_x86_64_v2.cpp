// x86-64-v2: SSE4.2.
#define UNIT x86_64_v2
#define SYMBOL softlookup_x86_64_v2
#define NAME "x86-64-v2"
#define VECTOR_BYTES 16
#define VECTORS 2
#define STEP_KEYS 4
#include "unit.hpp"
