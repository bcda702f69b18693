"""After an edit the page computes by itself: held to `trace` within 1e-12."""

import math
import random

import numpy as np
import pytest

import softlookup as sl
from softlookup import captures
from softlookup.viewer import Session

pytestmark = pytest.mark.browser

NUMBERS = (
    "products", "scaled", "capped", "bias", "scores", "exp", "shifted_exp", "weights",
    "contributions", "out", "exp_sum", "row_max", "row_sum", "weights_sum", "lse", "scale",
    "softcap", "query", "key", "value",
)  # fmt: skip
EXACTLY = ("row", "token", "position", "keys", "key_tokens", "visible", "visible_count")

TRACE_ON_PAGE = """async ([capture, arrays, records, top]) => {
  const { infoOf, problemOf, revive, traceRow, unedited } = await import("/app.js");
  const info = infoOf(capture, 0, 0);
  const numbers = revive(arrays);
  const problem = problemOf(info, numbers, unedited(info, numbers), true);
  return [info.tokens.map((_, row) => traceRow(problem, row, top)), revive(records)];
}"""


def assert_near(actual, expected, where):
    if isinstance(expected, list):
        assert len(actual) == len(expected), where
        for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
            assert_near(a, b, f"{where}[{i}]")
    elif expected is None or not math.isfinite(expected):
        assert str(actual) == str(expected), where
    else:
        assert abs(actual - expected) <= 1e-12 * max(1.0, abs(expected)), (
            f"{where}: {actual} is not {expected}"
        )


def assert_same_record(actual, expected, where):
    for name in EXACTLY:
        assert actual[name] == expected[name], f"{where}.{name}"
    for name in NUMBERS:
        assert_near(actual[name], expected[name], f"{where}.{name}")
    for part in ("sink", "rest"):
        assert (actual[part] is None) == (expected[part] is None), f"{where}.{part}"
        for name in expected[part] or ():
            assert_near(actual[part][name], expected[part][name], f"{where}.{part}.{name}")


def drawn(seed):
    """Return the query, key and value of a small lookup, every size a different prime."""
    numbers = np.random.default_rng(seed)
    return [numbers.standard_normal(size) for size in ((7, 3), (7, 3), (7, 5))]


def whole(seed):
    numbers = np.random.default_rng(seed)
    return [numbers.integers(-4, 5, size).astype(float) for size in ((7, 3), (7, 3), (7, 5))]


def bias(seed):
    numbers = np.random.default_rng(seed).standard_normal((7, 7))
    numbers[2, 3] = numbers[5, 0] = -np.inf
    return numbers


CASES = {
    "plain": (drawn(1), {}),
    "causal": (drawn(2), {"causal": True}),
    "window": (drawn(3), {"causal": True, "window": (2, None)}),
    "window ahead": (drawn(4), {"window": (1, 2)}),
    "softcap": (drawn(5), {"softcap": 0.7}),
    "bias": (drawn(6), {"bias": bias(6)}),
    "sink": (drawn(7), {"sinks": np.array([0.3])}),
    "everything": (
        drawn(8),
        {"causal": True, "window": (4, None), "softcap": 2.0, "bias": bias(8),
         "sinks": np.array([-1.0]), "scale": 0.9},
    ),
    "scale 0": (drawn(9), {"scale": 0.0}),
    "scale below 0": (drawn(10), {"scale": -1.5}),
    "huge scores": (whole(11), {"scale": 1024.0}),
    "huge scores and a sink": (whole(12), {"scale": -4096.0, "sinks": np.array([1000.0])}),
    "far below 0": (whole(13), {"bias": np.full((7, 7), -2000.0)}),
    "empty rows": (drawn(14), {"mask": np.tri(7, k=-2, dtype=bool)}),
    "empty rows and a sink": (
        drawn(15), {"mask": np.tri(7, k=-2, dtype=bool), "sinks": np.array([2.0])},
    ),
    "empty rows and a sink of -inf": (
        drawn(26), {"mask": np.tri(7, k=-2, dtype=bool), "sinks": np.array([-np.inf])},
    ),
    "offset": (drawn(16), {"causal": True, "q_offset": 2}),
    "before the start": (drawn(17), {"causal": True, "q_offset": -3}),
    "few keys": (drawn(18), {"kv_lens": np.array(4)}),
    "NaN in a bias": ([*drawn(19)], {"bias": np.where(np.eye(7) > 0, np.nan, 0.0)}),
    "inf in a bias": ([*drawn(20)], {"bias": np.where(np.eye(7) > 0, np.inf, 0.0)}),
    "NaN beside hidden keys": (
        drawn(24), {"causal": True, "bias": np.where(np.eye(7) > 0, np.nan, 0.0)},
    ),
    "inf beside hidden keys": (
        drawn(25), {"causal": True, "bias": np.where(np.eye(7) > 0, np.inf, 0.0)},
    ),
    "grouped heads": (
        [drawn(21)[0][None].repeat(2, 0), drawn(22)[1][None], drawn(23)[2][None]], {},
    ),
}  # fmt: skip


def test_the_pages_arithmetic_is_that_of_trace(open_page):
    page = open_page()
    for name, (arrays, options) in CASES.items():
        session = Session(captures.label(sl.Lookup(*arrays, **options), tokens=list("abcdefg")))
        where = {"batch": "0", "head": "0"}
        for top in (7, 2):
            capture = session.handle("info", {})[0]
            records = [
                session.handle("trace", {**where, "row": str(row), "top": str(top)})[0]
                for row in range(7)
            ]
            given = session.handle("arrays", where)[0]
            actual, expected = page.page.evaluate(TRACE_ON_PAGE, [capture, given, records, top])
            for row in range(7):
                assert_same_record(actual[row], expected[row], f"{name}, row {row}, top {top}")


def test_random_edits_show_what_trace_gives(open_page):
    """Edit as a person does, and read every exact number of a row back from the screen."""
    draw = random.Random(20)
    options = {"causal": True, "softcap": 3.0, "sinks": np.array([0.25])}
    query, key, value = (np.round(part, 2) for part in drawn(30))
    page = open_page(sl.Lookup(query[:4], key[:4], value[:4, :2], **options), tokens=list("abcd"))
    for _ in range(12):
        edit_somehow(page, draw)
        page.press(str(draw.randint(1, page.count("table.tokens tbody tr"))))
        assert_row_is_traced(page, options)


def edit_somehow(page, draw):
    rows = page.count("table.tokens tbody tr")
    kind = draw.choice(["number"] * 4 + ["add", "remove", "wider", "narrower"])
    if kind == "add" and rows < 7:
        page.click("button[data-act=add]")
    elif kind == "remove" and rows > 2:
        page.press("e", "ArrowDown")
        page.click("button[data-act=remove]")
    elif kind in ("wider", "narrower"):
        which = draw.choice(["head_dim", "value_dim"])
        page.click(f"button[data-arg='{which}:{'+' if kind == 'wider' else '-'}']")
    side = draw.choice(["query", "key", "value"])
    spots = page.page.locator(f"button[data-arg^='{side}:']")
    _, row, col = spots.nth(draw.randrange(spots.count())).get_attribute("data-arg").split(":")
    page.change(side, row, col, str(round(draw.uniform(-3, 3), 3)))


def assert_row_is_traced(page, options):
    edit = page.edited()
    row = int(page.hash()["q"])
    arrays = [np.array(edit[name], float) for name in ("query", "key", "value")]
    look = sl.Lookup(*arrays, **options)
    record = look.trace([row]).record(0)
    seen = [j for j, visible in enumerate(record["visible"]) if visible]
    steps = {"score": "products", "scaled": "scaled", "capped": "capped", "exp": "exp",
             "weight": "weights", "reads": "contributions"}  # fmt: skip
    for step, name in steps.items():
        for j in seen:
            expected = record[name][j]
            expected = expected if isinstance(expected, list) else [expected]
            assert_near(page.exact(step, j), expected, f"{name}[{j}]")
    last = len(record["keys"]) + 1
    assert_near(page.exact("weight", last - 1), [record["sink"]["weight"]], "sink")
    assert_near(page.exact("exp", last), [record["exp_sum"]], "exp_sum")
    assert_near(page.exact("reads", last), record["out"], "out")


def test_scale_off_and_back(open_page):
    page = open_page()
    page.press("a", "s")
    assert page.row("scaled") == ["1.000", "0.000", "1.000", ""]
    look = sl.Lookup(*[np.array([[1.0, 0], [0, 1], [1, 1]])] * 3, scale=1)
    assert_near(page.exact("reads", 3), look.trace([0]).record(0)["out"], "out")
    page.press("s")
    assert page.row("exp")[-1] == "5.056"


def test_a_row_that_overflows_says_why_the_shift_exists(open_page):
    page = open_page()
    page.press("a")
    page.change("query", 0, 0, "1500")
    assert page.row("exp") == ["overflow", "1.000", "overflow", "overflow"]
    assert page.row("weight") == ["—"] * 4
    assert "more than a float64 can hold" in page.text(".note")
    page.press("r")
    assert page.row("shifted exp") == ["1.000", "0.000", "1.000", "2.000"]
    assert page.row("weight") == ["0.500", "0.000", "0.500", "1.000"]
    assert page.count(".note") == 0
