"""The words of the lesson: what a lookup is, step by step, and what to be able to do at the end."""

from softlookup.lesson import figures, worked
from softlookup.lesson.parts import Box, Section, number, row
from softlookup.lesson.scaling import KEYS, QUERIES, Growth


def sections() -> tuple[Section, ...]:
    """Return the sections of the lesson in reading order; every number in them is computed now."""
    return (
        _lookup(),
        _library(),
        _scores(),
        _scaling(),
        _softmax(),
        _readings(),
        _all_queries(),
        _output(),
    )


def recap() -> tuple[str, ...]:
    """Return the lesson in five points."""
    return (
        (
            "Attention is a soft lookup: a query is matched with every key, and the answer is a "
            "blend of all values."
        ),
        (
            "A score is query · key: large where they point the same way, zero where they have "
            "nothing in common, negative where they oppose."
        ),
        (
            "Scores are divided by √d_k, because a sum of d_k products spreads by about √d_k; "
            "otherwise softmax turns sharp and stops learning."
        ),
        (
            "Softmax turns a row of scores into weights: all positive, adding up to 1, in the "
            "same order."
        ),
        (
            "The output is the sum of the values, each multiplied by its weight; all queries at "
            "once are softmax(Q · Kᵀ / √d_k) · V."
        ),
    )


def checklist() -> tuple[Box, ...]:
    """Return the four skills; a box ticks itself when its exercise is solved."""
    return (
        Box("scores", "I can compute the scores of a query."),
        Box("scaling", "I can say why scores are divided by √d_k."),
        Box("softmax", "I can run softmax on a row: exponentiate, add up, divide."),
        Box("output", "I can produce the output as a weighted sum of values."),
    )


def _lookup() -> Section:
    return Section(
        "lookup",
        "A soft lookup",
        (
            (
                "A dictionary finds the one key that equals what you ask for and gives back its "
                "value. Attention asks more gently: it compares the query with every key, notes "
                "how well each one matches, and gives back a blend of all values. The better a "
                "key matches, the more of its value is in the blend."
            ),
            (
                "Every token does this. Its query asks, the keys of all tokens are matched with "
                "it, and it reads their values. Queries, keys and values are rows of numbers "
                "that a model has learned to produce; here they are small enough to follow with "
                "a pencil."
            ),
        ),
        (figures.vectors_table(),),
    )


def _library() -> Section:
    return Section(
        "library",
        "In a library",
        (
            (
                "You walk in with a topic in your head: that is the query. Every book has a "
                "label on its spine: that is its key. What stands inside the book is its value."
            ),
            (
                "You hold your topic against each label. A label that fits makes you read much "
                "of that book, one that fits a little makes you read a little, and you leave "
                "with a mixture of what you read. The label decides how much you read; what you "
                "take home is the contents."
            ),
        ),
    )


def _scores() -> Section:
    trace = worked.steps([0])
    return Section(
        "scores",
        "What a score means",
        (
            (
                "The score of a query against a key is their dot product: multiply them number "
                "by number and add up. It says how well the key matches."
            ),
            (
                "Large and positive: the two point the same way, a good match. Zero: they have "
                "nothing in common, the key neither fits nor contradicts. Negative: they point "
                "in opposite directions, and this key will be read least of all."
            ),
            (
                "A score of zero does not mean that nothing is read. Softmax comes later and "
                "leaves every key some weight; what counts is how a score compares with the "
                "others."
            ),
        ),
        (figures.scores_table(trace), figures.signs_table()),
    )


def _scaling() -> Section:
    measured = figures.growth()
    small, large = measured[0], measured[-1]
    return Section(
        "scaling",
        "Why divide by √d_k",
        (
            (
                "A score adds up d_k products, where d_k is the length of a key. If the numbers "
                "in queries and keys spread by about 1, one product does too, and a sum of d_k "
                "of them spreads by about √d_k. Longer vectors have larger scores, only because "
                "they are longer."
            ),
            _growth_words(small, large),
            (
                "Softmax turns differences between scores into ratios between weights, so large "
                f"scores make it sharp. At d_k = {large.head_dim:,} the largest of {KEYS} weights "
                f"is {number(large.largest)} on average without the division and "
                f"{number(large.scaled_largest)} with it; at d_k = {small.head_dim} it is "
                f"{number(small.largest)} and {number(small.scaled_largest)}."
            ),
            (
                "Sharp weights are hard to train. When a score moves a little, its weight w "
                "moves by w(1-w) times as much. That product is largest at w = 0.5 and goes to 0 "
                "as w goes to 1 or to 0: a row that has put all its weight on one key no longer "
                "answers, and there is nothing to learn from. For the largest weights at d_k = "
                f"{large.head_dim:,} it is {number(large.slope)} on average without the division, "
                f"{number(large.scaled_slope)} with it."
            ),
        ),
        (figures.growth_table(measured), figures.rows_table(measured), figures.slope_table()),
    )


def _growth_words(small: Growth, large: Growth) -> str:
    return (
        f"Here are {QUERIES} queries with {KEYS} keys each, all of the same kind (independent "
        f"standard normal numbers from a fixed seed). From d_k = {small.head_dim} to "
        f"{large.head_dim:,} the spread of their scores grows from {number(small.spread)} to "
        f"{number(large.spread)}; divided by √d_k it is {number(small.scaled_spread)} and "
        f"{number(large.scaled_spread)}."
    )


def _softmax() -> Section:
    trace = worked.steps([0])
    return Section(
        "softmax",
        "What softmax fixes",
        (
            (
                "Scores cannot be used as shares: they may be negative, and they add up to "
                "anything. Softmax exponentiates each score, adds the results up, and divides "
                "each by the sum."
            ),
            (
                "That fixes three things. The exponential makes every number positive. The "
                "division makes the weights add up to 1. And the order is kept: a larger score "
                "always has the larger weight."
            ),
        ),
        (figures.softmax_table(trace),),
    )


def _readings() -> Section:
    trace, large = worked.steps([0]), figures.large_scores()
    limit = number(figures.overflow_limit(), 1)
    return Section(
        "readings",
        "Two readings of softmax",
        (
            (
                "The textbook takes exp(x) of each score x. Programs first subtract the largest "
                "score of the row: exp(x - max). Above and below the fraction bar that is the "
                "same factor, exp(-max), so the weights are the same."
            ),
            (
                "The shift is there because computers run out of numbers. In double precision "
                f"exp(x) overflows for x above {limit}; from then on the textbook form divides "
                "infinity by infinity and has no answer. Shifted, the largest term is exp(0) = "
                "1, and nothing can overflow."
            ),
        ),
        (
            figures.readings_table(trace, f"Token {worked.TOKENS[0]}, read both ways"),
            figures.readings_table(large, "A row with large scores, read both ways"),
        ),
    )


def _all_queries() -> Section:
    trace = worked.steps()
    return Section(
        "all-queries",
        "All queries at once",
        (
            (
                "Stack the queries as rows of Q and the keys as rows of K. A matrix product "
                "multiplies rows of its left side with columns of its right side, so the keys "
                "have to be lined up as columns: that is the transpose, Kᵀ. Then Q · Kᵀ lets "
                "every query meet every key, and the cell in row i and column j is the score of "
                "query i against key j."
            ),
            (
                "Divide everything by √d_k, run softmax along each row, multiply with V: that is "
                "the full layer. Row i of the result is what token i reads, the same as if it "
                "had asked alone."
            ),
        ),
        (
            figures.transpose_table(trace),
            figures.products_table(trace),
            figures.layer_table(trace),
        ),
    )


def _output() -> Section:
    trace = worked.steps([0])
    out = "" if trace.out is None else row(trace.out[0])
    return Section(
        "output",
        "What the output is",
        (
            (
                "Multiply each value by its weight and add up. The output has the length of a "
                "value, whatever the number of keys, and lies among the values: it is a weighted "
                "mean of them."
            ),
            (
                f"Token {worked.TOKENS[0]} leaves with {out}. It is no longer only its own "
                "vector: it now carries what it read from the others, in proportion to how well "
                "they matched."
            ),
        ),
        (figures.blend_table(trace),),
    )
