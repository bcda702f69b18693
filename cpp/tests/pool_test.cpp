// The pool of threads: many callers, callers that come back, stops, forks, an end with idle ones.
// Made to run under ThreadSanitizer. Usage: pool_test [ROUNDS [no-forks]]
#include "../pool.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "checks.hpp"

using namespace guards;
using softlookup::Stopped;

namespace {

void rest(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// Every item once, each written by one thread and read after; no two at once with one number.
void count_items(int64_t items, int threads) {
    std::vector<int64_t> seen(items, 0);
    std::vector<int64_t> sums(std::max(threads, 1), 0);  // plain numbers: a race is seen
    const auto work = [&](int64_t item, int thread, const Stopped& stopped) {
        if (thread < 0 || thread >= std::max(threads, 1)) fail("thread %d of %d", thread, threads);
        if (stopped()) fail("stopped by nobody");
        seen[item]++;
        sums[thread] += item;
    };
    if (!softlookup::run(items, threads, work, nullptr)) fail("run was stopped");
    int64_t sum = 0;
    for (const int64_t part : sums) sum += part;
    if (sum != items * (items - 1) / 2) fail("items add up to %lld", (long long)sum);
    for (int64_t item = 0; item < items; item++)
        if (seen[item] != 1) fail("item %lld: %lld times", (long long)item, (long long)seen[item]);
}

// Another thread takes part: the caller waits for it inside an item.
void need_help() {
    std::atomic<bool> helped{false};
    const auto work = [&](int64_t, int thread, const Stopped&) {
        if (thread) helped = true;
        for (int step = 0; !helped && step < 6000; step++) rest(5);
    };
    softlookup::run(2, 2, work, nullptr);
    if (!helped) fail("the caller was left alone");
}

void many_callers(int rounds) {
    doing() = "many callers";
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; caller++)
        callers.emplace_back([rounds, caller] {
            for (int n = 0; n < rounds; n++) count_items(n % 37, 1 + (n + caller) % 5);
        });
    for (auto& caller : callers) caller.join();
}

void nested(int rounds) {
    doing() = "runs within a run";
    for (int n = 0; n < rounds; n++)
        softlookup::run(5, 3, [](int64_t, int, const Stopped&) { count_items(7, 3); }, nullptr);
}

// `stop` comes from the calling thread, may run something itself, and reaches every thread.
void stops() {
    doing() = "a stop from the caller";
    const auto caller = std::this_thread::get_id();
    std::atomic<int64_t> done{0};
    const auto work = [&](int64_t, int, const Stopped& stopped) {
        for (int step = 0; step < 200 && !stopped(); step++) rest(5);
        done++;
    };
    const auto stop = [&] {
        if (std::this_thread::get_id() != caller) fail("another thread asks");
        count_items(9, 3);
        return true;
    };
    if (softlookup::run(1000, 3, work, stop)) fail("run went on to its end");
    if (done > 3) fail("%lld items were begun", (long long)done.load());
    // the caller has nothing left to do, and waits for another thread
    doing() = "a stop while others work";
    std::atomic<bool> begun{false};
    const auto slow = [&](int64_t, int thread, const Stopped& stopped) {
        if (thread) begun = true;
        for (int step = 0; step < 2000 && !(thread ? stopped() : begun.load()); step++) rest(5);
    };
    if (softlookup::run(2, 2, slow, [&] { return begun.load(); })) fail("nobody asked");
    count_items(50, 3);
}

// A child has none of the threads; it makes its own.
void forks() {
    doing() = "a fork";
    std::atomic<bool> over{false};
    std::thread busy([&] {
        while (!over) count_items(40, 3);
    });
    for (int n = 0; n < 8; n++) {
        rest(2);
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            doing() = "a forked child";
            need_help();
            for (int times = 0; times < 20; times++) count_items(30, 3);
            _exit(0);
        }
        int status = 0;
        const bool ended = waitpid(child, &status, 0) == child;
        if (!ended || status != 0) fail("a child ended with %d", status);
        if (n == 3) over = true;  // from now on it is not busy
    }
    over = true;
    busy.join();
}

}  // namespace

extern "C" const char* __tsan_default_options() { return "die_after_fork=0:halt_on_error=1"; }

int main(int count, char** given) {
    const int rounds = count > 1 ? std::atoi(given[1]) : 300;
    count_items(0, 4);
    count_items(1, 4);
    count_items(5, 0);
    need_help();
    many_callers(rounds);
    nested(rounds / 10 + 1);
    stops();
    if (count < 3) forks();
    many_callers(rounds / 10 + 1);
    if (softlookup::processors() < 1) fail("no processor");
    std::printf("the pool: right\n");  // its threads are idle as the process ends
}
