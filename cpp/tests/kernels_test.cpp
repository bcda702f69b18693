// Random lookups on every instruction set that this machine can run, against two plain loops, and
// every way to reach a row against every other, bit for bit. Usage: kernels_test COUNT [SEED]
#include "roaming.hpp"

using namespace guards;

namespace {

void check(const Problem& problem, const std::string& name, Random& random) {
    const Unit& unit = softlookup::unit_of(name, problem.dtype);
    const Layout layout{random.next(), false};
    const std::string what = doing();
    const Answers whole = run(problem, unit, 1, layout);
    doing() = what + " against the plain loops";
    assert_right(problem, whole, expected_of(problem));
    doing() = what;
    assert_same_bits(whole, run(problem, unit, 2 + (int)random.below(2), {random.next(), false}),
                     "threads and strides");
    assert_same_bits(whole, run_in_pieces(problem, unit, {random.next(), false}), "rows in pieces");
    assert_same_bits(whole, run(problem, unit, 1, {random.next(), true}), "contiguous arrays");
    assert_same_bits(whole, run(problem.plain(), unit, 1, layout), "nothing else asked for");
    if (problem.lse && problem.kv_len)
        assert_same_bits(whole, run_in_parts(problem, unit, {random.next(), false}), "keys in parts");
    if (!problem.keys.empty() || problem.received || problem.group_count || problem.bin_count)
        assert_same_bits(whole, run_known(problem, unit, {random.next(), false}), "sums known");
    if (problem.batch == 1) return;
    const int64_t b = random.below(problem.batch);
    const Answers alone = run(problem.alone(b), unit, 1, {random.next(), false});
    Answers part = whole;
    const auto cut = [&](auto& all) {
        const int64_t each = (int64_t)all.size() / problem.batch;
        all = {all.begin() + b * each, all.begin() + (b + 1) * each};
    };
    cut(part.out), cut(part.lse), cut(part.entropy), cut(part.max_score), cut(part.sink);
    cut(part.top_keys), cut(part.top_weights), cut(part.groups), cut(part.distance);
    cut(part.weights), cut(part.received);
    assert_same_bits(part, alone, "without batch mates");
}

}  // namespace

// Some are large enough for several threads, and for the chunks of one tile at once.
int main(int count, char** given) { return roam(count, given, "all answers", 1e7, 5e5, check); }
