"""What the exported file works out in Chromium is what the session answers."""

import base64
import json
import math
import re

import numpy as np
import pytest

from file_cases import CAPTURES
from softlookup.shelf import given
from softlookup.viewer import Session
from softlookup.viewer.export import prepare

pytestmark = [pytest.mark.browser, pytest.mark.slow]

UNUSUAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
ASK = """async ([text, questions]) => {
  const { hostOf } = await import("/app.js");
  const host = hostOf(text);
  const plain = (name, value) =>
    typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
  const answers = [];
  for (const [op, args] of questions) {
    try {
      const { json, bytes } = await host.call(op, args);
      const letters = bytes && btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""));
      answers.push([json, letters]);
    } catch ({ message, argument, kind }) {
      answers.push([{ ok: false, error: message, argument, kind }, null]);
    }
  }
  return JSON.stringify(answers, plain);
}"""


def block_of(item):
    return re.search(rb'id="softlookup-data">(.*?)</script>', prepare(item).content)[1].decode()


def questions_about(capture):
    yield from [("info", {}), ("info", {"capture": "given"}), ("lesson", {})]
    for number, layer in enumerate(capture.layers):
        problem = layer.look.problem
        for batch in range(problem.batch):
            yield from about_layer({"layer": str(number), "batch": str(batch)}, problem)
    yield from WRONG


def about_layer(at, problem):
    yield from [("overview", at), ("overview", at | {"heads": "0:1"})]
    for head in range(problem.heads):
        yield from about_head(at | {"head": str(head)}, problem.q_len)
    for row in range(min(problem.q_len, 3)):
        yield "everywhere", at | {"query": str(row)}
    yield from [("grid", at | {"head": "mean"}), ("facts", at | {"head": "mean"})]
    over = {"layer": "mean", "like": at["layer"], "batch": at["batch"]}
    for head in ("0", str(problem.heads - 1), "mean"):
        one = over | {"head": head}
        yield from [("grid", one), ("facts", one), ("grid", one | {"words": "1"})]


def about_head(at, rows):
    yield from [("arrays", at), ("facts", at), ("grid", at), ("grid", at | {"words": "1"})]
    yield "grid", at | {"rows": "1:2", "keys": "0:2"}
    yield "weights", at | {"rows": "0,1", "keys": "1,0,1"}
    for row in range(min(rows, 12)):
        yield from [("trace", at | {"row": str(row), "top": top}) for top in ("2", "256")]


WRONG = [
    ("none", {}), ("trace", {"nothing": "1"}), ("lesson", {"nothing": "1"}), ("trace", {}),
    ("trace", {"row": "-1"}), ("trace", {"row": "1e0"}), ("trace", {"row": "0", "head": "99"}),
    ("trace", {"row": "0", "top": "0"}), ("trace", {"row": "0", "layer": "9"}),
    ("overview", {"batch": "77"}), ("overview", {"heads": "0:99"}),
    ("grid", {"rows": "2:1"}), ("grid", {"rows": "0:x"}),
    ("grid", {"rows": "0:1", "words": "1"}), ("grid", {"words": "2"}), ("grid", {"layer": "9"}),
    ("weights", {"rows": "0"}), ("weights", {"rows": "0," * 65, "keys": "0"}), ("everywhere", {}),
]  # fmt: skip


@pytest.mark.parametrize("name", CAPTURES)
def test_a_file_answers_what_the_session_answers(bundle_page, name):
    item = given(CAPTURES[name](), "lookup")
    session, questions = Session(item), list(questions_about(item.load()))
    answers = json.loads(bundle_page.evaluate(ASK, [block_of(item), questions]))
    for (op, args), (told, letters) in zip(questions, answers, strict=True):
        expected, blob = session.handle(op, args)
        expected = json.loads(json.dumps(expected))
        where = f"{op} {args}"
        if expected.get("ok") is False:
            assert told == {**expected, "kind": "refused"}, where
        else:
            assert_same_answer(op, told, expected, where)
            assert_same_bytes(op, letters, blob, expected, where)


@pytest.mark.parametrize("op", ["map", "tile", "strongest", "profile", "head"])
def test_a_file_works_out_no_map_and_says_so(bundle_page, op):
    block = block_of(given(CAPTURES["plain"](), "lookup"))
    ((told, _),) = json.loads(bundle_page.evaluate(ASK, [block, [[op, {"head": "0"}]]]))
    assert (told["ok"], told["argument"]) == (False, op)
    assert "worked out by the program" in told["error"]
    assert "softlookup show" in told["error"]


def assert_same_answer(op, told, expected, where):
    if op == "info":
        expected["shelf"] = expected["shelf"][:1]
        expected["modes"] = ["steps", "heads"]
    if op in ("overview", "facts"):  # the session's come from a float32 kernel, and say so
        assert told.pop("backend") == "this page, float64"
        expected.pop("backend")
    assert_near(told, expected, 2e-6 if op in ("overview", "facts") else 1e-12, where)


def assert_same_bytes(op, letters, blob, expected, where):
    if blob is None:
        assert letters is None, where
        return
    found = base64.b64decode(letters)
    assert len(found) == len(blob), where
    cells = math.prod(expected["shape"]) * 8 if op == "grid" else len(blob)
    kind, near = (np.float64, 1e-12) if op == "grid" else (np.float32, 2e-6)
    numbers = [np.frombuffer(one[:cells], kind) for one in (found, blob)]
    np.testing.assert_allclose(*numbers, rtol=0, atol=near, err_msg=where)
    assert found[cells:] == blob[cells:], where  # what is visible


def assert_near(found, expected, near, where):
    if isinstance(expected, dict):
        assert sorted(found) == sorted(expected), where
        for name, one in expected.items():
            assert_near(found[name], one, near, f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, one in enumerate(expected):
            assert_near(found[i], one, near, f"{where}[{i}]")
    elif isinstance(expected, float) or expected in UNUSUAL:
        number, goal = (UNUSUAL.get(one, one) for one in (found, expected))
        assert isinstance(number, int | float), f"{where}: {found!r} is not {expected!r}"
        if not math.isfinite(goal):
            assert str(float(number)) == str(goal), f"{where}: {number} is not {goal}"
        else:
            assert abs(number - goal) <= near * max(1, abs(goal)), f"{where}: {number}, not {goal}"
    else:
        assert found == expected, where
        assert type(found) is type(expected), where


def test_a_mask_that_reaches_the_page_wrong_would_be_seen(bundle_page):
    """The comparison above is not blind: one flipped bit of the mask fails it."""
    item = given(CAPTURES["everything"](), "lookup")
    data = json.loads(block_of(item))
    mask = data["arrays"][data["layers"][0]["visible"]]
    bits = bytearray(base64.b64decode(mask["data"]))
    bits[5] ^= 4
    mask["data"] = base64.b64encode(bits).decode()
    answers = json.loads(
        bundle_page.evaluate(ASK, [json.dumps(data), [["grid", {"head": "0"}]]])
    )  # fmt: skip
    expected, blob = Session(item).handle("grid", {"head": "0"})
    with pytest.raises(AssertionError):
        assert_same_bytes("grid", answers[0][1], blob, expected, "grid")
