// How a call is cut into items of work, and which of them may run at the same time.
#pragma once
#include <functional>

#include "call.hpp"

namespace softlookup {

// How the rows of a call are cut: the same for any number of threads, since `received` adds up in
// this order.
struct Cut {
    int32_t width;         // rows of a tile
    bool folded;           // a tile holds rows of several heads of one group
    int64_t tiles;         // of one head; of one kv head where folded
    int64_t range_tiles;   // that one item takes, one after the other
    int64_t ranges;        // items of one head; of one kv head where folded
};

Cut cut_of(const Call& call, const Unit& unit);

// Compute everything that `call` asks for; false where `stop` ended it early.
bool compute(const Call& call, const Unit& unit, int threads, const std::function<bool()>& stop);

}  // namespace softlookup
