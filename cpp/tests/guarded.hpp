// Memory between two pages that nobody may touch. It ends exactly where the upper one begins, or
// begins exactly where the lower one ends, so that one element too far is a fault.
#pragma once
#include <csignal>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "checks.hpp"

namespace guards {

class Guarded {
public:
    enum Side { BEGIN, END };

    Guarded() = default;
    Guarded(int64_t bytes, Side side) : bytes_(bytes) {
        const int64_t page = sysconf(_SC_PAGESIZE);
        inner_ = (bytes + page - 1) / page * page;
        whole_ = inner_ + 2 * page;
        map_ = (char*)mmap(nullptr, (size_t)whole_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map_ == MAP_FAILED) fail("mmap of %lld bytes", (long long)whole_);
        const int writable = PROT_READ | PROT_WRITE;
        if (inner_ && mprotect(map_ + page, (size_t)inner_, writable)) fail("mprotect");
        data_ = map_ + page + (side == END ? inner_ - bytes : 0);
        if (inner_) std::memset(map_ + page, 0xff, (size_t)inner_);  // NaN in every format
    }
    Guarded(Guarded&& other) noexcept { *this = std::move(other); }
    Guarded& operator=(Guarded&& other) noexcept {
        std::swap(map_, other.map_);
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(inner_, other.inner_);
        std::swap(whole_, other.whole_);
        return *this;
    }
    ~Guarded() {
        if (map_) munmap(map_, (size_t)whole_);
    }

    char* data() const { return data_; }
    int64_t bytes() const { return bytes_; }

    // From now on, whoever writes to it ends here.
    void seal() {
        const int64_t page = sysconf(_SC_PAGESIZE);
        if (inner_ && mprotect(map_ + page, (size_t)inner_, PROT_READ)) fail("mprotect");
    }

private:
    char *map_ = nullptr, *data_ = nullptr;
    int64_t bytes_ = 0, inner_ = 0, whole_ = 0;
};

// Say what was being done when the memory around was touched.
inline void tell_of_faults() {
    for (const int sign : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
        std::signal(sign, [](int which) { fail("signal %d", which); });
}

}  // namespace guards
