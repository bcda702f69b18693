// A problem laid into guarded memory, in a way that only a seed knows; and the ways to run it.
#pragma once
#include <memory>

#include "../schedule.hpp"
#include "guarded.hpp"
#include "problem.hpp"

namespace guards {

using softlookup::Call;
using softlookup::Rows;
using softlookup::Unit;

struct Layout {
    uint64_t seed = 0;
    bool plain = false;  // C-contiguous
};

class Laid {
public:
    Laid(const Problem& problem, const Unit& unit, const Layout& layout);

    Call call{};

    Answers answers() const;
    int64_t answer_bytes() const;  // of all answers together

private:
    void lay_inputs();
    void lay_answers(const Unit& unit);
    softlookup::Strided strided(const std::vector<double>& from, const int64_t* sizes, int which);
    softlookup::Overlay overlay(const Over& over, int dtype);
    // Strides (in elements) for `sizes`, and a block that holds exactly what they reach.
    char* block(const int64_t* sizes, const bool* repeats, int64_t element, int64_t* strides);
    Guarded& hold(int64_t bytes);
    template <class X> const X* listed(const std::vector<X>& numbers);
    template <class X> X* answer(int64_t count, int64_t size);
    std::vector<double> read(const void* from, int dtype, int64_t count) const;

    Problem problem_;
    Random random_;
    bool plain_;
    int64_t answer_bytes_ = 0;
    std::vector<Guarded> held_;
    std::vector<std::pair<char*, int64_t>> inputs_;
};

// As the package runs it.
Answers run(const Problem& problem, const Unit& unit, int threads, const Layout& layout);
// Row by row, or a few rows of any heads of a group and in any order, by tiles or chunk by chunk;
// `received` is left out.
Answers run_in_pieces(const Problem& problem, const Unit& unit, const Layout& layout);

// Keys cut between chunks, each piece a problem of its own; their parts merged in two steps.
Answers run_in_parts(const Problem& problem, const Unit& unit, const Layout& layout);
// What is asked of the final weights, in rows whose sums are handed in.
Answers run_known(const Problem& problem, const Unit& unit, const Layout& layout);

}  // namespace guards
