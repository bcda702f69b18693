import os

import numpy as np
import pytest

from captured import texts
from softlookup import captures, load
from softlookup.captures import Capture, label
from softlookup.captures.files import FORMS
from softlookup.errors import DtypeError, FileError, OptionError, ShapeError
from softlookup.lookup import Lookup


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileError) as caught:
        load(tmp_path / "none.json")
    assert str(caught.value) == (
        f"{tmp_path / 'none.json'}: must be a file; there is none. Check the path."
    )


def test_a_misspelt_file_is_told_from_its_neighbours(tmp_path):
    for name in ("planted.safetensors", "planted.safetensor", "lesson.json", "other.txt"):
        (tmp_path / name).write_text("{}")
    for name, near in {
        "plantd.safetensors": "Did you mean 'planted.safetensors'?",
        "leson.json": "Did you mean 'lesson.json'?",
        "other.npz": "Check the path.",
        "nothing.like.it": "Check the path.",
        "nowhere/planted.safetensors": "Check the path.",
    }.items():
        with pytest.raises(FileError) as caught:
            load(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name}: must be a file; there is none. {near}"


def test_a_hostile_neighbour_is_made_readable(tmp_path):
    (tmp_path / "planted\x1b[31m.npz").write_text("")
    with pytest.raises(FileError, match=r"Did you mean 'planted.*\.npz'\?") as caught:
        load(tmp_path / "planted[31m.npz")
    assert str(caught.value).isprintable()


def test_a_folder_is_named(tmp_path):
    (tmp_path / "run.npz").mkdir()
    with pytest.raises(FileError, match="it is a folder"):
        load(tmp_path / "run.npz")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="hardware: no named pipes on this system")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "run.json")
    with pytest.raises(FileError, match="no regular file"):
        load(tmp_path / "run.json")


@pytest.mark.parametrize("name", ["run.npy", "run", "run.pt", "run.pkl"])
def test_another_suffix_is_named(tmp_path, name):
    (tmp_path / name).write_text("{}")
    with pytest.raises(FileError, match=r"must end in \.json, \.npz or \.safetensors"):
        load(tmp_path / name)


@pytest.mark.parametrize("name", ["a\0b.json", "a" * 5000 + ".json"])
def test_an_impossible_name_is_a_sentence(name):
    with pytest.raises(FileError) as caught:
        load(name)
    assert str(caught.value).isprintable()


def test_a_hostile_name_is_made_readable(tmp_path):
    name = "\x1b[31m\u202e.json"
    with pytest.raises(FileError) as caught:
        load(tmp_path / name)
    assert "\x1b" not in str(caught.value)
    assert "\u202e" not in str(caught.value)


def lookup(q_len=2, kv_len=3, heads=2, batch=(2, 3)):
    rng = np.random.default_rng(1)
    return Lookup(
        rng.normal(size=(*batch, heads, q_len, 5)),
        rng.normal(size=(*batch, heads, kv_len, 5)),
        rng.normal(size=(*batch, heads, kv_len, 7)),
    )


def test_label_names_queries_and_keys():
    capture = label(lookup(), tokens=["a", "b"], title="two")
    assert isinstance(capture, Capture)
    assert (capture.title, texts(capture)) == ("two", (("a", "b"), ("0", "1", "2")))
    assert texts(label(lookup(3, 3), tokens=["abc"] * 3))[1] == ("abc",) * 3
    assert label(lookup()).title == "a lookup"


def test_a_capture_traces_one_head_with_its_tokens():
    capture = label(lookup(), tokens=["a", "b"], key_tokens=["x", "y", "z"])
    trace = capture.trace([1], head=1, batch=4)  # entry (1, 1)
    whole = capture.lookup().trace()
    np.testing.assert_allclose(trace.out[0], whole.out[1, 1, 1, 1], rtol=1e-12, atol=1e-14)
    assert (trace.tokens, trace.key_tokens) == (("a", "b"), ("x", "y", "z"))
    assert "token b asks" in str(trace)
    assert len(capture.trace().rows) == 2
    with pytest.raises(OptionError, match=r"batch: must lie in 0 \.\.\. 5; got 6"):
        capture.trace(batch=6)


def test_label_refuses_what_does_not_fit():
    with pytest.raises(ShapeError, match="q_len 2"):
        label(lookup(), tokens=["a"])
    with pytest.raises(ShapeError, match="kv_len 3"):
        label(lookup(), key_tokens=["a"])
    with pytest.raises(DtypeError):
        label(lookup(), tokens="ab")


@pytest.mark.parametrize(
    ("head", "batch", "culprit"),
    [(2, 0, "head"), (-1, 0, "head"), (0, 6, "batch"), (0, -1, "batch")],
)
def test_a_head_that_is_not_there_is_named(head, batch, culprit):
    with pytest.raises(OptionError) as caught:
        label(lookup()).lookup(head=head, batch=batch)
    assert caught.value.argument == culprit


def test_a_batch_entry_counts_the_last_axis_fastest():
    look = lookup()
    capture = label(look)
    for entry, where in enumerate(np.ndindex(2, 3)):
        one = capture.lookup(head=1, batch=entry)
        np.testing.assert_array_equal(one.attend(), look.attend()[where][1])


def test_the_forms_are_described_where_they_are_read():
    for name in ("query", "tokens", "title", "softcap", "kv_lens", "-inf", *FORMS):
        assert name in captures.__doc__
