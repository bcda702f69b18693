// A small pool of threads. It starts with the first work that is worth it; the caller takes part; a
// caller that finds it busy, itself included, does its work alone; a forked child starts its own.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>

namespace softlookup {

// Work takes an item, the number of its thread, and whether to stop, which it asks now and then
// where an item takes long. It throws nothing.
using Stopped = std::function<bool()>;
using Work = std::function<void(int64_t item, int thread, const Stopped& stopped)>;

constexpr auto PATIENCE = std::chrono::milliseconds(100);  // between two questions whether to stop

// Call `work` for each item, at most `threads` at once, `thread` below that number. Items are begun
// in ascending order. `stop`, asked by the calling thread only, before each item, where its work asks,
// and while it waits, ends the work early by returning true; run then returns false.
bool run(int64_t items, int threads, const Work& work, const std::function<bool()>& stop);

// The number of processors that this process may use.
int processors();

}  // namespace softlookup
