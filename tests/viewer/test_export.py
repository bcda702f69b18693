"""The exported file as text: what goes in, how large it is, how it is written."""

import base64
import hashlib
import html
import json
import os
import re
import stat
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import softlookup as sl
from file_cases import CAPTURES, arrays, axis
from softlookup import Capture, Lookup, errors
from softlookup.captures import Layer, label
from softlookup.shelf import find, given
from softlookup.tokens import readable
from softlookup.viewer import export, inlined, packed
from softlookup.viewer.bundle import page_script
from softlookup.viewer.excerpt import choose

HOSTILE = ("</script><script>window.pwned=1</script>", "<!--", "]]>", "a\u2028b", "\0", "\ud800")

SCRIPT, DATA = 0, 1


class Elements(HTMLParser):
    """The elements of a page, as a browser's parser would find them, and the text in scripts."""

    def __init__(self):
        super().__init__()
        self.elements, self.scripts = [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.cdata_elem == "script":
            self.scripts[-1] += data


def written(tmp_path, look, **how):
    file = sl.export_html(look, tmp_path / "page.html", **how)
    page = Elements()
    page.feed(file.read_text("utf-8"))
    page.close()
    return page


def data_of(tmp_path, look, **how):
    return json.loads(written(tmp_path, look, **how).scripts[DATA])


def stored(data, which):
    entry = data["arrays"][which]
    raw = base64.b64decode(entry["data"])
    if entry["dtype"] == "bits":
        bits = np.unpackbits(np.frombuffer(raw, np.uint8), count=int(np.prod(entry["shape"])))
        return bits.reshape(entry["shape"]).astype(bool)
    return np.frombuffer(raw, np.dtype(entry["dtype"]).newbyteorder("<")).reshape(entry["shape"])


def layers_of(count, **how):
    same = (axis(str(i) for i in range(7)),)
    return Capture(
        "a model",
        tuple(
            Layer(Lookup(*arrays(seed, 7, 7, **how), causal=True), same, same, number=seed)
            for seed in range(count)
        ),
    )


def test_the_page_holds_what_it_needs_and_asks_nobody(tmp_path):
    page = written(tmp_path, "lesson")
    assert [tag for tag, _ in page.elements] == [
        "html", "head", "meta", "meta", "title", "meta", "meta", "meta", "meta", "link", "body",
        "div", "noscript", "script", "script",
    ]  # fmt: skip
    addresses = [a.get(name) for _, a in page.elements for name in ("src", "href") if name in a]
    assert addresses == ["data:,"]
    assert page.scripts[SCRIPT].strip() == page_script().decode().strip()


def test_the_policy_allows_its_one_script_and_nothing_else(tmp_path):
    page = written(tmp_path, "lesson")
    policy = next(a["content"] for _, a in page.elements if a.get("http-equiv"))
    digest = base64.b64encode(hashlib.sha256(page.scripts[SCRIPT].encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'none'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    order = [a.get("http-equiv") or tag for tag, a in page.elements]
    assert order.index("Content-Security-Policy") < order.index("title")  # nothing comes before it


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_inside_the_block_of_data(tmp_path, text):
    same = (axis([text, "b"]),)
    capture = Capture(
        text, (Layer(Lookup(*arrays(1, 2, 2)), same, same, text, 3, text),), {text: text}
    )
    plain = written(tmp_path, "lesson")
    page = written(tmp_path, capture)
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
    block = page.scripts[DATA]
    assert block.isascii()
    assert not set("<>&") & set(block)
    data = json.loads(block)
    assert data["info"]["axes"][0]["tokens"][0] == readable(text)
    raw = (tmp_path / "page.html").read_bytes().decode("utf-8")
    title = re.search(r"<title>(.*)</title>", raw)[1]
    assert html.unescape(title) == f"{readable(text)} - softlookup"


@pytest.mark.parametrize("name", CAPTURES)
def test_arrays_keep_their_dtype_and_every_bit(tmp_path, name):
    capture = CAPTURES[name]()
    data = data_of(tmp_path, capture, batch=None)
    for layer, entry in zip(capture.layers, data["layers"], strict=True):
        problem = layer.look.problem
        for side in ("query", "key", "value"):
            array = getattr(problem, side)
            if array is None:
                assert entry[side] is None
                continue
            assert data["arrays"][entry[side]]["dtype"] == array.dtype.name
            assert stored(data, entry[side]).tobytes() == np.ascontiguousarray(array).tobytes()
        lead = (problem.batch, problem.heads, problem.q_len, problem.kv_len)
        shown = True if entry["visible"] is None else stored(data, entry["visible"])
        traced = layer.look.trace().visible.reshape(lead)
        assert np.array_equal(np.broadcast_to(shown, lead), traced)


def test_what_layers_share_is_stored_once(tmp_path):
    data = data_of(tmp_path, layers_of(4))
    assert {entry["visible"] for entry in data["layers"]} == {data["layers"][0]["visible"]}
    assert sum(entry["dtype"] == "bits" for entry in data["arrays"]) == 1
    assert stored(data, data["layers"][0]["visible"]).shape == (1, 1, 7, 7)


def test_a_mask_alike_for_the_batch_is_stored_for_one(tmp_path):
    look = Lookup(*arrays(1, 7, 7, batch=(3,), heads=(2, 1)), causal=True)
    data = data_of(tmp_path, look, batch=None)
    assert stored(data, data["layers"][0]["visible"]).shape == (1, 1, 7, 7)


def test_nothing_hidden_takes_no_mask(tmp_path):
    look = Lookup(*arrays(1, 1, 5), causal=True, q_offset=4)
    assert data_of(tmp_path, look)["layers"][0]["visible"] is None


def test_the_shelf_of_a_file_is_the_file(tmp_path):
    info = data_of(tmp_path, "sentence", layers=0)["info"]
    assert [item["id"] for item in info["shelf"]] == ["sentence"]
    assert info["modes"] == ["steps", "heads"], "maps and tables need the session"


# Choosing


def test_chosen_layers_and_heads_go_in(tmp_path):
    data = data_of(tmp_path, layers_of(4, heads=(2, 3)), layers=[3, "layer 1"], heads=[1, 4, 5])
    assert [layer["label"] for layer in data["info"]["layers"]] == ["layer 3", "layer 1"]
    assert data["info"]["layers"][0]["heads"] == [1, 4, 5]
    assert data["info"]["about"]["part"] == "2 of 4 layers, 6 of 12 heads"


@pytest.mark.parametrize(
    ("heads", "kv_heads"),
    [([0], 1), ([4, 5], 1), ([0, 5], 2), ([0, 1, 3, 4], 2), ([0, 3, 4], 3), ([5, 0], 2), (2, 1)],
)
def test_chosen_heads_bring_their_kv_heads(heads, kv_heads):
    whole = layers_of(1, heads=(2, 3), batch=(2,)).layers[0]
    part = choose(
        Capture("x", (whole,)), heads=heads, batch=1
    ).layers[0]  # fmt: skip
    assert part.look.problem.kv_heads == kv_heads
    for head in part.heads:
        expected = whole.trace(head=head, batch=1)
        found = part.trace(head=head)
        for name in ("products", "weights", "out", "visible"):
            assert np.array_equal(getattr(found, name), getattr(expected, name)), name


@pytest.mark.parametrize("batch", range(3))
def test_one_batch_entry_keeps_all_that_shaped_it(batch):
    whole = CAPTURES["everything"]().layers[0]
    part = choose(
        Capture("x", (whole,)), heads=[5, 1], batch=batch
    ).layers[0]  # fmt: skip
    assert part.look.problem.batch_shape == ()
    for head in (5, 1):
        assert part.trace(head=head).record(0) == whole.trace(head=head, batch=batch).record(0)


def test_a_batch_entry_brings_its_own_axis(tmp_path):
    data = data_of(tmp_path, CAPTURES["padded batch"](), batch=1)
    assert data["info"]["axes"] == [
        {"tokens": list("uvwxyz"), "words": [0, 1, 1, 1, 2, 3], "padding": [], "prompt": None}
    ]
    assert data["info"]["about"]["part"] == "batch entry 1 of 2, counted from 0"


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"layers": 9}, errors.OptionError, "There are layer 0, layer 1"),
        ({"layers": []}, errors.OptionError, "must name at least one"),
        ({"layers": 1.5}, errors.DtypeError, "must be a list; got float"),
        ({"layers": [None]}, errors.DtypeError, "numbers or names; one is a NoneType"),
        ({"heads": [6]}, errors.OptionError, "must lie in 0 ... 5; got 6"),
        ({"heads": ["1"]}, errors.DtypeError, "must hold numbers; one is a str"),
        ({"batch": 1}, errors.OptionError, "must lie in 0 ... 0; got 1"),
        ({"batch": True}, errors.DtypeError, "must be a whole number or None; got True"),
        ({"largest": "1"}, errors.DtypeError, "must be a number of bytes; got '1'"),
    ],
)
def test_wrong_choices_are_refused(tmp_path, how, error, words):
    with pytest.raises(error, match=re.escape(words)):
        sl.export_html(layers_of(2, heads=(2, 3)), tmp_path / "page.html", **how)
    assert list(tmp_path.iterdir()) == []


# Sizes


def test_forty_tokens_of_72_heads_stay_below_3_mb():
    size = len(prepared(6, 40).content)
    assert 1_000_000 < size < 3_000_000


def test_512_tokens_of_one_layer_stay_below_10_mb():
    assert len(prepared(1, 512).content) < 10_000_000


def prepared(count, tokens, **how):
    same = (axis(str(i) for i in range(tokens)),)
    sizes = {"heads": (12, 1), "head_dim": 32, "value_dim": 32, "dtype": "float32"}
    layers = tuple(
        Layer(Lookup(*arrays(seed, tokens, tokens, **sizes)), same, same, number=seed)
        for seed in range(count)
    )
    return export.prepare(given(Capture("x", layers), "file"), **how)


def test_half_the_bytes_a_number_are_half_the_file():
    sizes = [
        len(label_size(dtype)) for dtype in ("float64", "float32", "float16", "bfloat16")
    ]  # fmt: skip
    bare = 2 * sizes[1] - sizes[0]  # the page without arrays
    assert [size - bare for size in sizes[2:]] == pytest.approx(
        [(sizes[1] - bare) / 2] * 2, rel=0.01
    )


def label_size(dtype):
    look = Lookup(*arrays(1, 64, 64, head_dim=32, value_dim=32, dtype=dtype))
    return export.prepare(given(label(look), "lookup")).content


def test_too_large_a_file_is_refused_with_its_size():
    exact = len(prepared(2, 40).content)
    assert len(prepared(2, 40, largest=exact).content) == exact
    with pytest.raises(errors.OptionError) as told:
        prepared(2, 40, largest=exact - 1)
    assert str(told.value) == (
        f"largest: must be at least the file's size, {export.megabytes(exact)} for 2 layers of 12 "
        f"heads; got {export.megabytes(exact - 1)}. Choose layers or heads "
        f"({export.megabytes(exact / 2)} a layer on average), or allow more."
    )


def test_a_size_out_of_reach_is_refused_before_anything_is_computed():
    one = np.zeros((1, 1), np.float32)
    far = np.broadcast_to(one, (400_000, 1))
    with pytest.raises(errors.OptionError, match=r"26,6\d\d.*MB for 1 head;.*Take fewer tokens"):
        export.prepare(given(label(Lookup(far, far, far, causal=True)), "lookup"))
    wide = np.broadcast_to(one, (100_000, 8192))
    with pytest.raises(errors.OptionError, match=r" 4,369.*MB for 1 head"):
        export.prepare(given(label(Lookup(wide, wide, wide)), "lookup"))


def test_what_is_stored_once_is_counted_once():
    """Twelve layers that share keys and values, each with arrays of its own."""
    same = (axis(str(i) for i in range(64)),)
    sizes = {"heads": (12, 1), "head_dim": 32, "value_dim": 32, "dtype": "float32"}
    _, key, value = arrays(0, 64, 64, **sizes)
    layers = tuple(
        Layer(Lookup(arrays(seed, 64, 64, **sizes)[0], key.copy(), value.copy(), causal=True),
              same, same, number=seed)
        for seed in range(12)
    )  # fmt: skip
    item = given(Capture("x", layers), "file")
    exact = len(export.prepare(item).content)
    arrays_alone = (12 * layers[0].look.problem.query.nbytes + key.nbytes + value.nbytes) * 4 / 3
    assert export._least(item.load()) < exact < arrays_alone + 500_000
    assert len(export.prepare(item, largest=exact).content) == exact
    assert exact - export._least(item.load()) < 30_000, "the least is nearly all of it"


def _rows(*shape):
    return np.ones(shape, np.float32)


@pytest.mark.parametrize("options", [
    {"mask": _rows(1, 1, 1, 999) > 2},  # one row of bits for all rows
    {"mask": _rows(1, 1, 999, 999) > 0},  # nothing hidden
    {"bias": _rows(1, 1, 1, 999) * -np.inf},
    {"causal": True, "q_offset": 999},
    {"window": (1000, None)},
    {"kv_lens": [999]},
], ids=["padding", "open", "bias", "late", "wide", "full"])  # fmt: skip
def test_a_mask_is_counted_as_it_is_stored(options):
    look = Lookup(*_rows(3, 1, 1, 999, 2), **options)
    item = given(label(look), "lookup")
    exact = len(export.prepare(item).content)
    assert len(export.prepare(item, largest=exact).content) == exact


def test_arrays_that_differ_in_one_number_are_two():
    first = np.zeros((1, 7, 1000), np.float32)
    second, negative = first.copy(), first.copy()
    second[0, 3, 501] = 1e-30
    negative[0, 3, 501] = -0.0
    for strided in (first, np.asfortranarray(first), first[:, ::1]):
        assert packed._bytes_once([first, strided]) == first.nbytes
    assert packed._bytes_once([first, second, negative, first[:, :0]]) == 3 * first.nbytes
    assert packed._bytes_once([first, first.reshape(7, 1, 1000)]) == 2 * first.nbytes
    square = np.zeros((99, 99), np.float32)
    square[3, 1] = 1
    assert packed._bytes_once([square, square.T]) == 2 * square.nbytes, "one memory, two arrays"


# Writing


def test_a_file_stays_as_it_was_until_the_new_one_is_whole(tmp_path, monkeypatch):
    file = tmp_path / "page.html"
    file.write_text("before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(errors.FileError, match="cannot be written: No space left on device"):
        sl.export_html("lesson", file)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]
    monkeypatch.undo()
    assert sl.export_html("lesson", str(file)) == file
    assert file.read_text().startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name == "nt", reason="hardware: Windows has no file modes")
def test_a_file_that_is_replaced_keeps_its_rights_and_its_link(tmp_path):
    file, link = tmp_path / "page.html", tmp_path / "link.html"
    file.write_text("before")
    file.chmod(0o600)
    link.symlink_to(file)
    assert sl.export_html("lesson", link) == link
    assert link.is_symlink()
    assert file.read_text("utf-8").startswith("<!doctype html>")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("page.txt", "must end in .html; it ends in '.txt'"),
        ("page", "must end in .html; it ends in 'page'"),
        ("none/page.html", "cannot be written: No such file or directory"),
        ("folder.html", "cannot be written: Is a directory"),
        ("a\0b.html", "cannot be written"),
        ("a\u202eb.txt", "a⟨202e⟩b.txt: must end in .html"),
    ],
)
def test_a_place_that_cannot_be_written(tmp_path, name, words):
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(errors.FileError) as told:
        sl.export_html("lesson", tmp_path / name)
    assert words in str(told.value)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.html"]


@pytest.mark.parametrize("script", ["a</SCRIPT >", "a<!--b"])
def test_a_script_that_would_end_its_element_is_refused(monkeypatch, script):
    monkeypatch.setattr(inlined, "page_script", script.encode)
    with pytest.raises(errors.ViewError, match="a script that can stand inside a page"):
        export.prepare(find("lesson"))
