"""What a view is told, whoever hosts it."""

import json
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captured import HOSTILE
from softlookup import Lookup, lesson
from softlookup.captures import label
from softlookup.shelf import find
from softlookup.viewer import Session
from softlookup.viewer.session import OPERATIONS


def ask(session, op, **args):
    answer, blob = session.handle(op, {name: str(given) for name, given in args.items()})
    assert blob is None
    json.dumps(answer, allow_nan=False)
    return answer


@pytest.fixture
def taught():
    return Session(find("lesson"))


def session_of(*, batch=(), heads=None, q_len=3, kv_len=5, head_dim=2, value_dim=7, **options):
    rng = np.random.default_rng(3)
    lead = batch if heads is None else (*batch, heads)
    arrays = [
        rng.normal(size=(*lead, length, dim))
        for length, dim in ((q_len, head_dim), (kv_len, head_dim), (kv_len, value_dim))
    ]
    return Session(label(Lookup(*arrays, **options)))


def layer_of(session):
    """Return what is told about the first layer."""
    return ask(session, "info")["layers"][0]


def test_the_protocol_of_the_lesson(taught, assert_golden):
    asked = [
        ("info", {}),
        ("arrays", {}),
        ("trace", {"row": "0"}),
        ("trace", {"row": "1", "top": "1"}),
        ("weights", {"rows": "0,2", "keys": "2,0"}),
        ("trace", {"row": "3"}),
        ("none", {}),
        ("grid", {"rows": "0:1"}),
        ("grid", REAL | {"rows": "6:8", "keys": "5:8"}),
        ("grid", REAL | {"head": "mean", "words": "1", "layer": "6"}),
        ("everywhere", {"capture": "sentence", "query": "17"}),
        ("map", {}),
        ("tile", {"level": "0", "i": "0", "j": "0"}),
        ("tile", REAL | {"capture": "causal", "level": "2", "i": "0", "j": "0"}),
        ("at", {"query": "1", "key": "2"}),
        ("block", {"rows": "1:3", "keys": "1:3"}),
        ("strongest", {"rows": "1:3"}),
        ("strip", {"axis": "queries", "buckets": "2"}),
        ("profile", {}),
    ]
    said = {f"{op} {json.dumps(args)}": in_json(*taught.handle(op, args)) for op, args in asked}
    for one in said.values():  # which backend there is depends on the machine
        for name in ("backend", "by", "bytes"):
            one.pop(name, None)
    del said["info {}"]["version"], said["info {}"]["shelf"]  # test_session_heads.py
    assert_golden("protocol.json", json.dumps(rounded(said), indent=1) + "\n")


REAL = {"capture": "sentence", "layer": "2", "head": "3"}  # a head of a real model


def in_json(answer, blob):
    """Return an answer with its bytes, float64 weights and what is visible, as lists."""
    if blob is None:
        return answer
    if "axis" in answer:
        numbers = np.frombuffer(blob, "<f4").reshape(3, answer["buckets"])
        return {"json": answer, "numbers": [[f"{x:.4f}" for x in some] for some in numbers]}
    if "level" in answer:
        pools = np.frombuffer(blob, "u1").reshape(2, answer["rows"], answer["columns"])
        return {"json": answer, "codes": [[bytes(row).hex(" ") for row in pool] for pool in pools]}
    cells = math.prod(answer["shape"])
    weights, visible = (
        np.frombuffer(blob, "<f8", cells),
        np.frombuffer(blob, "u1", cells, 8 * cells),
    )
    return {"json": answer, "weights": weights.tolist(), "visible": visible.tolist()}


def rounded(thing):
    """Round to 12 digits: the last bit of exp depends on the processor."""
    if isinstance(thing, dict):
        return {name: rounded(part) for name, part in thing.items()}
    if isinstance(thing, list):
        return [rounded(part) for part in thing]
    return float(f"{thing:.12g}") if isinstance(thing, float) else thing


def test_info_says_what_shapes_the_lookup():
    session = session_of(
        batch=(2, 3), heads=4, causal=True, q_offset=1, window=(2, None), softcap=11.0,
        kv_lens=np.array([[5, 4, 3], [5, 5, 5]]), sinks=np.zeros(4), mask=np.ones((3, 5), bool),
    )  # fmt: skip
    info = layer_of(session)
    assert info["batch_shape"] == [2, 3]
    assert info["sizes"] == {
        "batch": 6, "heads": 4, "kv_heads": 4, "group": 1, "q_len": 3, "kv_len": 5, "head_dim": 2,
        "value_dim": 7,
    }  # fmt: skip
    assert info["options"] == {
        "scale": 2**-0.5, "softcap": 11.0, "causal": True, "window": [2, None], "q_offset": 1,
        "mask": True, "bias": False, "kv_lens": [5, 4, 3, 5, 5, 5], "sinks": True,
    }  # fmt: skip
    assert (ask(session, "info")["source"], info["dtype"]) == ("lookup", "float64")


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({"q_len": 12, "kv_len": 12, "head_dim": 8, "value_dim": 8}, None),
        ({"q_len": 13}, "12 tokens; here are 13"),
        ({"kv_len": 13}, "12 tokens; here are 13"),
        ({"head_dim": 9}, "8 dimensions; here are 9"),
        ({"value_dim": 9}, "8 dimensions; here are 9"),
    ],
)
def test_small_lookups_can_be_edited(sizes, reason):
    session = session_of(**sizes)
    info = layer_of(session)
    answer = ask(session, "arrays")
    if reason is None:
        assert info["editable"]
        assert info["editable_reason"] is None
        assert len(answer["query"]) == 12
    else:
        assert not info["editable"]
        assert reason in info["editable_reason"]
        assert answer["ok"] is False
        assert reason in answer["error"]


def test_without_a_value_nothing_can_be_edited():
    session = Session(label(Lookup([[1.0]], [[1.0]])))
    info = layer_of(session)
    assert (info["editable"], info["sizes"]["value_dim"]) == (False, None)
    assert "value" in info["editable_reason"]
    record = ask(session, "trace", row=0)
    assert (record["weights"], record["out"], record["value"]) == ([1.0], None, None)


def test_numbers_arrive_bit_for_bit():
    session = session_of(batch=(2,), heads=3, causal=True, q_offset=1)
    look = session.open("given").capture.lookup()
    for batch, head, row in np.ndindex(2, 3, 3):
        trace = look.head(head, batch).trace(rows=[row])
        record = ask(session, "trace", batch=batch, head=head, row=row)
        for name in ("products", "scores", "visible", "exp", "shifted_exp", "weights", "out"):
            assert record[name] == getattr(trace, name)[0].tolist()
        keys = "4,1,1"
        rectangle = ask(session, "weights", batch=batch, head=head, rows=row, keys=keys)
        assert rectangle["weights"] == [trace.weights[0, [4, 1, 1]].tolist()]
        assert rectangle["visible"] == [trace.visible[0, [4, 1, 1]].tolist()]
    both = ask(session, "weights", batch=1, head=2, rows="2,0", keys="3,0")
    alone = [ask(session, "weights", batch=1, head=2, rows=r, keys="3,0") for r in (2, 0)]
    assert both["weights"] == [one["weights"][0] for one in alone]
    arrays = ask(session, "arrays", batch=1, head=2)
    for name in ("query", "key", "value"):
        assert arrays[name] == getattr(look.problem, name)[1, 2].tolist()


def test_a_long_row_is_shortened_honestly():
    session = session_of(kv_len=1009)
    record = ask(session, "trace", row=1)
    assert len(record["keys"]) == 12
    assert record["rest"]["count"] == 1009 - 12
    assert sum(record["weights"]) + record["rest"]["weight"] == pytest.approx(1, abs=1e-12)
    assert len(ask(session, "trace", row=1, top=256)["keys"]) == 256


def test_numbers_that_json_lacks_are_texts():
    session = Session(label(Lookup([[1.0]], [[np.inf], [np.nan]], [[1.0], [-np.inf]])))
    record = ask(session, "trace", row=0)
    assert record["products"] == ["Infinity", "NaN"]
    assert record["weights"] == ["NaN", "NaN"]
    assert ask(session, "arrays")["value"] == [[1.0], ["-Infinity"]]


def test_an_empty_row_and_empty_axes_have_answers():
    hidden = session_of(mask=np.zeros((3, 5), bool))
    record = ask(hidden, "trace", row=0)
    assert (record["visible_count"], record["out"], record["lse"]) == (0, [0.0] * 7, "-Infinity")
    assert ask(session_of(q_len=0), "trace", row=0)["argument"] == "row"
    assert ask(session_of(kv_len=0, q_offset=0), "trace", row=0)["keys"] == []
    assert ask(session_of(batch=(0,), heads=1), "trace", row=0)["argument"] == "batch"


def test_hostile_texts_travel_as_visible_text():
    count = len(HOSTILE)
    look = Lookup(np.eye(count), np.eye(count), np.eye(count))
    session = Session(label(look, tokens=HOSTILE, title="\x1b]0;<b>\u202e"))
    info = ask(session, "info")
    (axis,) = info["axes"]
    texts = [info["title"], *axis["tokens"]]
    texts += ask(session, "trace", row=5)["key_tokens"]
    for text in texts:
        assert text
        text.encode("utf-8")  # no half of a surrogate pair
        assert text.isprintable()
    assert axis["tokens"][0] == HOSTILE[0]  # markup is text like any other
    assert len(set(axis["tokens"])) == count


def test_the_lesson_and_its_exercises_are_carried(taught):
    text = ask(taught, "lesson")
    assert [section["id"] for section in text["sections"]]
    assert len(text["recap"]) == 5
    assert [box["skill"] for box in text["checklist"]] == list(lesson.SKILLS)
    for skill in lesson.SKILLS:
        exercise = ask(taught, "exercise", skill=skill, seed=7)
        assert json.dumps(exercise) == json.dumps(lesson.exercise(skill, 7).to_dict())
        count = len(exercise["fields"])
        answer = "x" if exercise["kind"] == "choice" else json.dumps(["0"] * count)
        told = ask(taught, "check", skill=skill, seed=7, answer=answer)
        assert ("correct" in told) or told["ok"] is False


WITH_BYTES = ("overview", "grid", "tile", "strip")

texts = st.one_of(
    st.text(max_size=12), st.integers().map(str), st.sampled_from(["0", "1", "2", "0,1", "[]"])
)


@given(
    op=st.one_of(st.sampled_from(sorted(OPERATIONS)), st.text(max_size=9)),
    args=st.dictionaries(
        st.one_of(
            st.sampled_from(
                [
                    *[
                        "batch",
                        "head",
                        "row",
                        "top",
                        "rows",
                        "keys",
                        "skill",
                        "seed",
                        "answer",
                        "capture",
                        "layer",
                        "like",
                        "level",
                        "i",
                        "j",
                        "axis",
                        "work",
                    ]
                ]
            ),
            st.text(max_size=5),
        ),
        st.one_of(texts, st.sampled_from(lesson.SKILLS)),
        max_size=4,
    ),
)
def test_nothing_asked_raises(op, args):
    answer, blob = Session(find("lesson")).handle(op, args)
    if op != "head":  # which has a picture once it is whole
        assert (blob is not None) == (op in WITH_BYTES and answer.get("ok") is not False)
    json.dumps(answer, allow_nan=False)
    if answer.get("ok") is False:
        assert answer["error"].isprintable()


@given(answer=st.one_of(texts, st.lists(texts, max_size=5).map(json.dumps)))
@pytest.mark.parametrize("skill", lesson.SKILLS)
def test_no_answer_raises(skill, answer):
    session = Session(find("lesson"))
    told = ask(session, "check", skill=skill, seed=3, answer=answer)
    assert "correct" in told or told["ok"] is False


def test_a_long_answer_is_not_even_read(taught):
    told = ask(taught, "check", skill="scores", seed=1, answer="9" * 2001)
    assert "at most 2000 characters; got 2001" in told["error"]


def test_many_threads_get_the_same_answers():
    session = session_of(kv_len=401)
    alone = [ask(session, "trace", row=i % 3) for i in range(24)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda i: ask(session, "trace", row=i % 3), range(24)))
    assert together == alone
