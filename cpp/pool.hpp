// A small pool of threads. It starts with the first work that is worth it; the caller takes part; a
// caller that finds it busy, itself included, does its work alone; a forked child starts its own.
#pragma once
#include <cstdint>
#include <functional>

namespace softlookup {

// Work takes an item, the number of its thread, and whether to stop, which it asks now and then
// where an item takes long. It throws nothing.
using Stopped = std::function<bool()>;
using Work = std::function<void(int64_t item, int thread, const Stopped& stopped)>;

// Call `work` for each item, at most `threads` at once, `thread` below that number. Items are begun
// in ascending order. `stop`, asked now and then by the calling thread only, ends the work early by
// returning true; run then returns false.
bool run(int64_t items, int threads, const Work& work, const std::function<bool()>& stop);

// The number of processors that this process may use.
int processors();

}  // namespace softlookup
