"""The ledger as text: columns are keys, rows are steps, the last corner is the output.

Numbers are rounded for reading; sums are of the exact values. Texts of tokens are made readable.
"""

import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from softlookup.numerals import (
    MOST_IN_VECTOR,
    alike,
    brief,
    evenly,
    fixed,
    product_terms,
    short,
    vector,
)
from softlookup.tokens import listed

if TYPE_CHECKING:
    from softlookup.tracing import Trace

_WIDTH = 100
_LONGEST_NAME = 18
_AT_ONCE = """\
all queries at once: the queries are the rows of Q. The keys stand as columns, which is what
the transpose in Q · Kᵀ does, so that one matrix product lets every query meet every key."""
_FEW = 4  # keys whose arithmetic is written out one by one


def row_text(record: dict[str, Any]) -> str:
    """Return one row (`softlookup.Trace.record`) as a ledger and its five steps in numbers."""
    who = f"token {name(record['token'])}"
    title = f"{who} asks with query {vector(record['query'])}"
    if not record["visible_count"]:
        title += ": it sees no visible keys"
    return "\n".join([title, "", *_table(record), "", *_steps(record)])


def layer_text(trace: "Trace") -> str:
    """Return all traced queries at once: Q . K^T as one product, then the full layer."""
    record = [trace.record(i) for i in range(len(trace.rows))]
    if not record:
        return "no queries"
    tokens = [name(one["token"]) for one in record]
    keys = [name(token) for token in record[0]["key_tokens"]]
    divide, _ = scale_words(record[0])
    queries = [[short(x) for x in one["query"]] for one in record]
    columns = [[short(x) for x in row] for row in zip(*record[0]["key"], strict=True)]
    products = _cells(record, "products", hide=False)
    scaled = _cells(record, "scaled", hide=False)
    weights = _cells(record, "weights")
    blocks = [
        _AT_ONCE,
        _matrix("Q", tokens, None, queries),
        _matrix("Kᵀ", None, keys, columns),
        _matrix("scores = Q · Kᵀ", tokens, keys, products),
        _matrix(f"scaled = scores {divide}", tokens, keys, scaled),
        _matrix("weights = softmax of every row", tokens, keys, weights),
    ]
    if record[0]["out"] is not None:
        outs = [[vector(one["out"], fixed)] for one in record]
        blocks.append(_matrix("out = weights · V", tokens, None, outs))
    return "\n\n".join(blocks)


def name(token: str) -> str:
    """Return a token's text as one readable, short label."""
    return listed(token, _LONGEST_NAME)


def scale_words(record: dict[str, Any]) -> tuple[str, str]:
    """Return how the scale is written after a number, and as an operator between two numbers."""
    scale, head_dim = float(record["scale"]), len(record["query"])
    if head_dim and scale == float(head_dim) ** -0.5:
        root = short(float(head_dim) ** 0.5)
        return f"÷ √{head_dim} = {root}", f"÷ {root}"
    return f"× {short(scale)}", f"× {short(scale)}"


class _Line(NamedTuple):
    """One step of the ledger: a cell for each key, for the sink and for the keys not shown."""

    label: str
    cells: Sequence[str]
    sink: str = ""
    rest: str = ""
    total: str = ""


def _table(record: dict[str, Any]) -> list[str]:
    rest = record["rest"]
    keys = [name(token) for token in record["key_tokens"]]
    heading = _Line("", keys, "sink", _more(rest) if rest else "")
    lines = [heading, *_score_lines(record), *_softmax_lines(record), *_value_lines(record)]
    return aligned(
        [
            [
                line.label,
                *line.cells,
                *([line.sink] if record["sink"] else []),
                *([line.rest] if rest else []),
                line.total,
            ]
            for line in lines
        ]
    )


def _score_lines(record: dict[str, Any]) -> list[_Line]:
    lines = [
        _Line("key", [brief(key) for key in record["key"]]),
    ]
    lines += [
        _Line({"products": "score"}.get(field, field), list(map(_writer(record, field), row)))
        for field in ("products", "scaled", "capped", "bias")
        if (row := record[field]) is not None
    ]
    sink = record["sink"]
    if record["bias"] is not None or sink or not all(record["visible"]):
        write = _writer(record, "scores")
        seen_as = _unless_hidden(record, "scores", write)
        lines.append(_Line("seen as", seen_as, write(sink["logit"]) if sink else ""))
    return lines


def _softmax_lines(record: dict[str, Any]) -> list[_Line]:
    sink, rest = record["sink"], record["rest"]
    total = float(record["weights_sum"]) + (float(sink["weight"]) if sink else 0.0)
    lines = []
    for label, field, extra, added in (
        ("exp", "exp", "exp", record["exp_sum"]),
        ("shifted exp", "shifted_exp", "shifted_exp", record["row_sum"]),
        ("weight", "weights", "weight", total),
    ):
        write = _writer(record, field)
        lines.append(
            _Line(
                label,
                _unless_hidden(record, field, write),
                write(sink[extra]) if sink else "",
                write(rest[extra]) if rest else "",
                f"sum {write(added)}",
            )
        )
    return lines


def _value_lines(record: dict[str, Any]) -> list[_Line]:
    if record["value"] is None:
        return []
    rest = record["rest"]
    write = _writer(record, "contributions")
    reads = _unless_hidden(record, "contributions", lambda part: brief(part, write))
    others = brief(rest["contribution"], write) if rest else ""
    return [
        _Line("value", [brief(value) for value in record["value"]]),
        _Line("reads", reads, "nothing", others),
    ]


# What a sink and the keys that are not shown have in a row.
_SINKS = {"scores": "logit", "exp": "exp", "shifted_exp": "shifted_exp", "weights": "weight"}
_RESTS = {**_SINKS, "contributions": "contribution"}
_BEFORE = ("products", "scaled", "capped", "bias")  # hidden keys have these, too


def _writer(record: dict[str, Any], field: str) -> Callable[[Any], str]:
    """Return how the numbers of one row of the ledger are written."""
    row = [
        x
        for x, seen in zip(record[field], record["visible"], strict=True)
        if seen or field in _BEFORE
    ]
    for part, names in ((record["sink"], _SINKS), (record["rest"], _RESTS)):
        if part and names.get(field) in part:
            row.append(part[names[field]])
    if field == "products":
        return evenly(row)
    if field == "contributions":  # they are added up, so the largest that `brief` shows decides
        shown = (x for part in row for x in (part if len(part) <= MOST_IN_VECTOR else part[:2]))
        row = [max((abs(float(x)) for x in shown if np.isfinite(x)), default=1.0)]
    write = alike(row)
    return (lambda x: _or_overflow(x, write)) if field == "exp" else write


def _unless_hidden(record: dict[str, Any], field: str, write: Any) -> list[str]:
    return [
        write(x) if seen else "hidden"
        for x, seen in zip(record[field], record["visible"], strict=True)
    ]


def _more(rest: dict[str, Any]) -> str:
    """Return what the keys that are not shown are called."""
    hidden = rest["count"] - rest["visible"]
    if not hidden:
        return f"and {rest['count']:,} more"
    more = [f"and {rest['visible']:,} more"] if rest["visible"] else []
    return ", ".join([*more, f"{hidden:,} hidden"])


def _or_overflow(number: Any, write: Callable[[Any], str]) -> str:
    """Write the result of a textbook exp: what a float64 cannot hold is said, not shown as inf."""
    text = write(number)
    return "overflow" if text == "inf" else text


def _steps(record: dict[str, Any]) -> list[str]:
    """Return the five steps, each with its numbers, for a few keys or for the strongest one."""
    seen = [i for i, visible in enumerate(record["visible"]) if visible]
    out = None if record["out"] is None else vector(record["out"], fixed)
    if not seen:
        return [] if out is None else [f"blend  no visible key, so nothing is read: {out}"]
    few = seen if len(seen) <= _FEW else [max(seen, key=lambda i: _order(record["scores"][i]))]
    steps = [_multiply(record, few), _divide(record, few), *_adjust(record, few)]
    steps += _exponentiate(record, few)
    steps += [_normalise(record, few), *_check(record, seen)]
    if out is not None:
        steps.append(("blend", f"{_blend(record, seen)} = {out}"))
    width = max(len(label) for label, _ in steps) + 2
    return [
        line
        for label, words in steps
        for line in textwrap.wrap(
            label.ljust(width) + words,
            _WIDTH,
            subsequent_indent=" " * width,
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]


def _order(score: Any) -> float:
    value = float(score)
    return -np.inf if np.isnan(value) else value


def _multiply(record: dict[str, Any], few: list[int]) -> tuple[str, str]:
    parts, write = [], _writer(record, "products")
    for i in few:
        terms = (
            product_terms(record["query"], record["key"][i])
            or f"query · key {name(record['key_tokens'][i])}"
        )
        parts.append(f"{terms} = {write(record['products'][i])}")
    return "multiply and add", ",  ".join(parts)


def _divide(record: dict[str, Any], few: list[int]) -> tuple[str, str]:
    words, operator = scale_words(record)
    product, write = _writer(record, "products"), _writer(record, "scaled")
    parts = [
        f"{product(record['products'][i])} {operator} = {write(record['scaled'][i])}" for i in few
    ]
    return ("divide" if words.startswith("÷") else "scale"), f"{',  '.join(parts)}   ({words})"


def _adjust(record: dict[str, Any], few: list[int]) -> list[tuple[str, str]]:
    steps, before, write = [], record["scaled"], _writer(record, "scaled")
    if record["capped"] is not None:
        cap, capped = short(record["softcap"]), _writer(record, "capped")
        parts = [
            f"{cap} · tanh({write(before[i])} ÷ {cap}) = {capped(record['capped'][i])}" for i in few
        ]
        steps.append(("cap", ",  ".join(parts)))
        before, write = record["capped"], capped
    if record["bias"] is not None:
        bias, score = _writer(record, "bias"), _writer(record, "scores")
        parts = [
            f"{write(before[i])} + {bias(record['bias'][i])} = {score(record['scores'][i])}"
            for i in few
        ]
        steps.append(("add the bias", ",  ".join(parts)))
    return steps


def _exponentiate(record: dict[str, Any], few: list[int]) -> list[tuple[str, str]]:
    score, exp, small = (_writer(record, name) for name in ("scores", "exp", "shifted_exp"))
    textbook = [f"e^{score(record['scores'][i])} = {exp(record['exp'][i])}" for i in few]
    top = score(record["row_max"])
    shifted = [
        f"e^({score(record['scores'][i])} - {top}) = {small(record['shifted_exp'][i])}" for i in few
    ]
    words = ",  ".join(textbook) + f",  sum {exp(record['exp_sum'])}"
    if np.isinf(float(record["exp_sum"])):
        words += "   (more than a float64 can hold: the shifted form below gives the weights)"
    same = ",  ".join(shifted) + f",  sum {small(record['row_sum'])}"
    return [
        ("exponentiate", words),
        ("  or shifted", f"{same}   (minus the maximum: same weights)"),
    ]


def _normalise(record: dict[str, Any], few: list[int]) -> tuple[str, str]:
    field, total = ("exp", "exp_sum")
    if not 0 < float(record["exp_sum"]) < np.inf:
        field, total = ("shifted_exp", "row_sum")
    exp, weight = _writer(record, field), _writer(record, "weights")
    parts = [
        f"{exp(record[field][i])} ÷ {exp(record[total])} = {weight(record['weights'][i])}"
        for i in few
    ]
    return "normalise", ",  ".join(parts)


def _check(record: dict[str, Any], seen: list[int]) -> list[tuple[str, str]]:
    write = _writer(record, "weights")
    parts = [write(record["weights"][i]) for i in seen]
    total = float(record["weights_sum"])
    if record["rest"] and record["rest"]["visible"]:
        parts.append(f"{write(record['rest']['weight'])} ({_more(record['rest'])})")
    if record["sink"]:
        parts.append(f"{write(record['sink']['weight'])} (sink)")
        total += float(record["sink"]["weight"])
    return [("check:", f"{' + '.join(parts)} = {write(total)}")]


def _blend(record: dict[str, Any], seen: list[int]) -> str:
    write, read = _writer(record, "weights"), _writer(record, "contributions")
    parts = [f"{write(record['weights'][i])}·{brief(record['value'][i])}" for i in seen]
    if record["rest"] and record["rest"]["visible"]:
        parts.append(f"{brief(record['rest']['contribution'], read)} ({_more(record['rest'])})")
    return " + ".join(parts)


def _cells(records: list[dict[str, Any]], field: str, *, hide: bool = True) -> list[list[str]]:
    """Return a matrix of numbers, all written alike."""
    write = (evenly if field == "products" else alike)(
        x
        for one in records
        for x, seen in zip(one[field], one["visible"], strict=True)
        if seen or not hide
    )
    return [
        [
            write(x) if seen or not hide else "hidden"
            for x, seen in zip(one[field], one["visible"], strict=True)
        ]
        for one in records
    ]


def _matrix(
    title: str, rows: list[str] | None, columns: list[str] | None, cells: list[list[str]]
) -> str:
    """Write a matrix with its row and column labels."""
    lines = [["  ", *columns]] if columns else []
    lines += [[f"  {rows[i] if rows else ''}", *row] for i, row in enumerate(cells)]
    return "\n".join([title, *aligned(lines)])


def aligned(rows: list[list[str]]) -> list[str]:
    """Pad cells so that columns stand in line; too wide a table goes on in a further band.

    The first column, the label, stands at the left of every band.
    """
    widths = [max(_columns(cell) for cell in column) for column in zip(*rows, strict=True)]
    bands: list[list[int]] = [[]]
    for column in range(1, len(widths)):
        taken = widths[0] + sum(widths[i] + 2 for i in bands[-1])
        if bands[-1] and taken + widths[column] + 2 > _WIDTH and widths[column]:
            bands.append([])
        bands[-1].append(column)
    lines: list[str] = []
    for number, band in enumerate(bands):
        lines += [""] if lines else []
        lines += [
            "  ".join(row[i] + " " * (widths[i] - _columns(row[i])) for i in (0, *band)).rstrip()
            for row in rows
            if number == 0 or any(row[i] for i in band)
        ]
    return lines


def _columns(text: str) -> int:
    """Return how many terminal columns `text` takes."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
