"""The tables of the lesson. Every cell is computed when the table is asked for."""

import math
import sys

import numpy as np

from softlookup.lesson import worked
from softlookup.lesson.parts import Table, number, numbers, row
from softlookup.lesson.scaling import KEYS, SIZES, Growth, measure
from softlookup.lookup import Lookup
from softlookup.numerals import product_terms
from softlookup.tracing import Trace

LARGE_SCORES = (1000.0, 999.0, 998.0)
_SIGN_KEYS = ((2.0, 0.0), (1.0, 1.0), (0.0, 1.0), (-1.0, 0.0))
_SHARES = (0.5, 0.9, 0.99, 0.999, 0.9999)


def growth() -> tuple[Growth, ...]:
    """Return the measurements at every d_k of the lesson."""
    return tuple(measure(size) for size in SIZES)


def vectors_table() -> Table:
    """Return queries, keys and values of the worked example."""
    problem = worked.example().lookup().problem
    arrays = (problem.query[0, 0], problem.key[0, 0], worked.steps().value)
    return Table(
        "The worked example: three tokens, two dimensions",
        ("token", "query", "key", "value"),
        tuple(
            (token, *(row(array[position], 0) for array in arrays if array is not None))
            for position, token in enumerate(worked.TOKENS)
        ),
    )


def scores_table(trace: Trace) -> Table:
    """Return the scores of the first traced query, term by term."""
    query = trace.query[0]
    cells = [
        (
            key_token,
            product_terms(query, key) or "",
            number(product, 0),
        )
        for key_token, key, product in zip(
            trace.key_tokens, trace.key, trace.products[0], strict=True
        )
    ]
    return Table(
        f"Token {trace.tokens[trace.rows[0]]} asks: its score against every key",
        ("key", "query · key", "score"),
        tuple(cells),
    )


def signs_table() -> Table:
    """Return a large, a small, a zero and a negative score, and what softmax makes of them."""
    trace = Lookup([[1.0, 0.0]], _SIGN_KEYS).trace([0])
    return Table(
        f"The query {row(trace.query[0], 0)} against four keys; the weights come later: each "
        f"score divided by √{trace.query.shape[-1]}, then softmax",
        ("key", "score", "weight"),
        tuple(
            (row(key, 0), number(product, 0), number(weight))
            for key, product, weight in zip(
                trace.key, trace.products[0], trace.weights[0], strict=True
            )
        ),
    )


def growth_table(measured: tuple[Growth, ...]) -> Table:
    """Return how scores spread at each d_k, and how sharp the weights get."""
    return Table(
        f"The same kind of vectors at three sizes, {KEYS} keys; "
        f"1/{KEYS} = {number(1 / KEYS)} would be an even weight",
        (
            "d_k", "√d_k", "spread of scores", "spread of scaled scores",
            "largest weight, undivided", "largest weight, divided",
            "w(1-w), undivided", "w(1-w), divided",
        ),
        tuple(
            (
                f"{size.head_dim:,}",
                *numbers((math.sqrt(size.head_dim), size.spread, size.scaled_spread)),
                *numbers((size.largest, size.scaled_largest, size.slope, size.scaled_slope)),
            )
            for size in measured
        ),
    )  # fmt: skip


def rows_table(measured: tuple[Growth, ...]) -> Table:
    """Return all weights of the first query, undivided and divided."""
    lines = []
    for size in measured:
        lines.append((f"{size.head_dim:,}", "no", *numbers(size.row)))
        lines.append((f"{size.head_dim:,}", "yes", *numbers(size.scaled_row)))
    return Table(
        "The weights of one of these queries",
        ("d_k", "divided", *(f"key {position + 1}" for position in range(KEYS))),
        tuple(lines),
    )


def slope_table() -> Table:
    """Return how much a weight answers to its own score."""
    return Table(
        "How much a weight w moves when its own score moves a little",
        ("w", *(f"{share:g}" for share in _SHARES)),
        (("w(1-w)", *(f"{share * (1 - share):.6f}" for share in _SHARES)),),
    )


def softmax_table(trace: Trace) -> Table:
    """Return softmax of the first traced row: exponentiate, add up, divide."""
    return Table(
        f"Softmax of the scaled scores of token {trace.tokens[trace.rows[0]]}",
        ("", *(f"key {token}" for token in trace.key_tokens), "sum"),
        (
            ("scaled score", *numbers(trace.scaled[0]), ""),
            ("exp", *numbers(trace.exp[0]), number(trace.exp_sum[0])),
            ("weight", *numbers(trace.weights[0]), number(trace.weights[0].sum())),
        ),
    )


def readings_table(trace: Trace, caption: str) -> Table:
    """Return both readings of softmax on the first traced row."""
    with np.errstate(all="ignore"):  # the textbook form overflows where the lesson says so
        textbook = trace.exp[0] / trace.exp_sum[0]
    keys = (f"key {token}" for token in trace.key_tokens)
    return Table(
        caption,
        ("", *keys, "sum"),
        (
            ("score x", *numbers(trace.scores[0]), ""),
            ("textbook: exp(x)", *numbers(trace.exp[0]), number(trace.exp_sum[0])),
            ("its weights", *numbers(textbook), number(textbook.sum())),
            ("shifted: exp(x - max)", *numbers(trace.shifted_exp[0]), number(trace.row_sum[0])),
            ("its weights", *numbers(trace.weights[0]), number(trace.weights[0].sum())),
        ),
    )


def large_scores() -> Trace:
    """Trace one query whose textbook exponentials overflow float64."""
    scores = np.array(LARGE_SCORES)
    return Lookup([[1.0]], scores[:, None], scale=1.0).trace([0], key_tokens=worked.TOKENS)


def overflow_limit() -> float:
    """Return the largest x whose exponential float64 can hold."""
    return math.log(sys.float_info.max)


def transpose_table(trace: Trace) -> Table:
    """Return the keys lined up as columns."""
    turned = trace.key.T
    return Table(
        "Kᵀ: each key has become a column",
        ("", *(f"key {token}" for token in trace.key_tokens)),
        tuple(
            (f"component {component + 1}", *numbers(line, 0))
            for component, line in enumerate(turned)
        ),
    )


def products_table(trace: Trace) -> Table:
    """Return all scores: Q times K transposed."""
    return Table(
        "Q · Kᵀ: every query meets every key",
        ("", *(f"key {token}" for token in trace.key_tokens)),
        tuple(
            (f"query {trace.tokens[position]}", *numbers(trace.products[index], 0))
            for index, position in enumerate(trace.rows)
        ),
    )


def layer_table(trace: Trace) -> Table:
    """Return the full layer: a row of weights and an output for every token."""
    out = trace.out
    return Table(
        "The full layer: softmax(Q · Kᵀ / √d_k) · V",
        ("token", *(f"weight of {token}" for token in trace.key_tokens), "output"),
        tuple(
            (
                trace.tokens[position],
                *numbers(trace.weights[index]),
                "" if out is None else row(out[index]),
            )
            for index, position in enumerate(trace.rows)
        ),
    )


def blend_table(trace: Trace) -> Table:
    """Return what the first traced row reads of each value."""
    value, reads, out = trace.value, trace.contributions, trace.out
    if value is None or reads is None or out is None:
        return Table("", (), ())
    cells = [
        (key_token, number(weight), row(vector, 0), row(read))
        for key_token, weight, vector, read in zip(
            trace.key_tokens, trace.weights[0], value, reads[0], strict=True
        )
    ]
    total = ("sum", number(trace.weights[0].sum()), "", row(out[0]))
    return Table(
        f"What token {trace.tokens[trace.rows[0]]} reads",
        ("key", "weight", "value", "weight × value"),
        (*cells, total),
    )
