#include "pool.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif
#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace softlookup {
namespace {

// One run's items, taken one at a time.
struct Run {
    const Work& work;
    int64_t items;
    const std::function<bool()>& stop;
    std::atomic<int64_t> next{0};
    std::atomic<bool> stopped{false};

    // By the calling thread alone: whether to stop.
    bool ask() {
        if (!stopped.load(std::memory_order_relaxed) && stop && stop())
            stopped.store(true, std::memory_order_relaxed);
        return stopped.load(std::memory_order_relaxed);
    }

    void take(int thread) {
        const Stopped ends = [&] {
            return thread == 0 ? ask() : stopped.load(std::memory_order_relaxed);
        };
        while (!ends()) {
            const int64_t item = next.fetch_add(1, std::memory_order_relaxed);
            if (item >= items) return;
            work(item, thread, ends);
        }
    }
};

// Lives on the heap and is never destroyed: at exit a daemon thread may still be inside.
class Pool {
public:
    void run(Run& run, int threads) {
        hire(threads - 1);
        {
            std::lock_guard<std::mutex> hold(mutex_);
            run_ = &run;
            wanted_ = threads - 1;
            round_++;
        }
        wake_.notify_all();
        run.take(0);
        std::unique_lock<std::mutex> hold(mutex_);
        run_ = nullptr;  // who has not begun by now need not
        while (!done_.wait_for(hold, PATIENCE, [this] { return busy_ == 0; })) {
            hold.unlock();
            run.ask();
            hold.lock();
        }
    }

private:
    // As many threads as there may be; fewer do the same work.
    void hire(int count) {
        try {
            while ((int)threads_.size() < count) {
                const int number = (int)threads_.size() + 1;
                threads_.emplace_back([this, number] { serve(number); });
            }
        } catch (const std::exception&) {
        }
    }

    [[noreturn]] void serve(int number) {
        int64_t seen = 0;
        std::unique_lock<std::mutex> hold(mutex_);
        for (;;) {
            wake_.wait(hold, [&] { return round_ != seen; });
            seen = round_;
            Run* run = run_;
            if (!run || number > wanted_) continue;
            busy_++;
            hold.unlock();
            run->take(number);
            hold.lock();
            if (--busy_ == 0) done_.notify_all();
        }
    }

    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    Run* run_ = nullptr;
    int64_t round_ = 0;
    int wanted_ = 0, busy_ = 0;
};

// Never destroyed either. `busy` is no mutex: a caller may come back while it is inside, by way of
// a signal's handler, and must then find the pool busy.
struct Shared {
    std::atomic<bool> busy{false};
    Pool* pool = nullptr;
};
std::atomic<Shared*> shared{nullptr};

#if !defined(_WIN32)
// A child has the memory of the pool but none of its threads, and perhaps its locks held for ever.
void forget_in_child() { shared.store(new Shared, std::memory_order_release); }
#endif

Shared& instance() {
    Shared* there = shared.load(std::memory_order_acquire);
    if (there) return *there;
    static std::once_flag once;
    std::call_once(once, [] {
        shared.store(new Shared, std::memory_order_release);
#if !defined(_WIN32)
        pthread_atfork(nullptr, nullptr, forget_in_child);
#endif
    });
    return *shared.load(std::memory_order_acquire);
}

}  // namespace

bool run(int64_t items, int threads, const Work& work, const std::function<bool()>& stop) {
    Run all{work, items, stop};
    if (threads > items) threads = (int)items;
    if (threads > 1) {
        Shared& common = instance();
        if (!common.busy.exchange(true, std::memory_order_acquire)) {
            if (!common.pool) common.pool = new Pool;
            common.pool->run(all, threads);
            common.busy.store(false, std::memory_order_release);
            return !all.stopped;
        }
    }
    all.take(0);
    return !all.stopped;
}

int processors() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    const unsigned count = std::thread::hardware_concurrency();
    return count ? (int)count : 1;
}

}  // namespace softlookup
