// arm64: NEON.
#define UNIT neon
#define SYMBOL softlookup_neon
#define NAME "neon"
#define VECTOR_BYTES 16
#define VECTORS 2
#define STEP_KEYS 6
#include "unit.hpp"
