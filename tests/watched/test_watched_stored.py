"""Facts in a Parquet file, read back: all that they told they tell again."""

import base64
import json
import zlib
from contextlib import suppress

import numpy as np
import pytest
from feeding import ASKED, IDS, PADDED, STEPS, drawn, feed, generated, watched

pq = pytest.importorskip("pyarrow.parquet", reason="tables (make setup installs what they need)")
pa = pytest.importorskip("pyarrow", reason="tables (make setup installs what they need)")

import softlookup as sl  # noqa: E402
from captured import two_stacks  # noqa: E402
from softlookup.captures import shipped  # noqa: E402
from softlookup.cli import main  # noqa: E402
from softlookup.errors import FileError, OptionError, PackageError  # noqa: E402
from softlookup.watched import exports, watch_capture  # noqa: E402

EVERYTHING = {
    **ASKED, "distance": True, "groups": np.repeat([0, 1, -1, 2], [3, 4, 4, 2])[None].repeat(2, 0)
}  # fmt: skip


def runs():
    """Two runs of two layers, the first left-padded and in steps."""
    mask = ~PADDED[:, None, None]
    made = watched()
    for number in (0, 3):
        whole = drawn(number, causal=True, mask=mask)
        feed(made, whole, STEPS, number=number, padding=PADDED, asked=EVERYTHING, ids=IDS)
        feed(made, drawn(number, causal=True, q_len=5), run=1, number=number)
    return made


def written():
    made = generated(drawn(7, causal=True))
    made.add_prompt(0, 7)
    return made


KINDS = {
    "runs, steps and padding": runs,
    "a text with repeats": lambda: watch_capture(
        shipped.load("causal"), top=4, distance=True, repeats=True, max_score=True
    ),
    "several parts": lambda: watch_capture(two_stacks(), sink=True, groups=[0, 1, -1]),
    "what was written": written,
    "a cropped cache": lambda: feed(watched(), drawn(9, causal=True), STEPS, crop=4, ids=IDS),
    "no texts": lambda: feed(watched(), drawn(9, causal=True), shares=False),
    "nothing but lse": lambda: watch_capture(
        shipped.load("sentence"), top=None, entropy=False, received=False
    ),
}


def again(seen, folder, **how):
    return sl.load(seen.to_parquet(folder / "seen.parquet", **how))


def assert_same_tables(one, other, of):
    left, right = one.table(of), other.table(of)
    assert list(left) == list(right)
    for name, column in left.items():
        assert column.dtype == right[name].dtype
        np.testing.assert_array_equal(column, right[name], err_msg=name)


@pytest.mark.parametrize("padding", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_all_that_was_told_is_told_again(tmp_path, kind, padding):
    seen = KINDS[kind]()
    found = again(seen, tmp_path, padding=padding)
    assert (found.title, found.about, found.runs) == (seen.title, seen.about, seen.runs)
    assert repr(found) == repr(seen)
    assert_same_tables(seen, found, "rows")
    assert repr(found.summary()) == repr(seen.summary())
    for run in range(seen.runs):
        for layer, one in zip(seen.run(run), found.run(run), strict=True):
            assert repr(one) == repr(layer)
            assert (one.causal, one.prompt, one.kv_heads) == (
                layer.causal, layer.prompt, layer.kv_heads
            )  # fmt: skip
            for name in ("queries", "keys", "spans", "padding", "key_padding", "counted",
                         "written", "key_written"):  # fmt: skip
                np.testing.assert_array_equal(getattr(one, name), getattr(layer, name), name)
            assert one.shares == layer.shares or vars(one.shares) == vars(layer.shares)
            for b in range(len(layer.counted)):
                assert one.tokens(b) == layer.tokens(b)
                assert one.key_tokens(b) == layer.key_tokens(b)
            if padding:
                for name in layer.asked:
                    left, right = getattr(layer, name), getattr(one, name)
                    np.testing.assert_array_equal(left, right, name)
    if "received" in seen.layers[0].asked:
        assert_same_tables(seen, found, "keys")
        for part in {layer.part for layer in seen}:
            assert list(found.rank_tokens(part=part)) == list(seen.rank_tokens(part=part))
    assert_same_tables(found, again(found, tmp_path), "rows")  # and once more


def test_rankings_at_a_row_are_what_they_were(tmp_path):
    seen = KINDS["a text with repeats"]()
    found = again(seen, tmp_path)
    assert repr(found.rank_heads("@26", reads="@2")) == repr(seen.rank_heads("@26", reads="@2"))
    assert repr(found.rank_heads(reads=0)) == repr(seen.rank_heads(reads=0))
    assert str(found[18].row(producing="@27")) == str(seen[18].row(producing="@27"))
    one = sl.load(seen[18].to_parquet(tmp_path / "layer.parquet"))
    assert repr(one.rank_tokens()) == repr(seen.rank_tokens(18))
    first = runs().run(1)
    assert list(again(first, tmp_path).summary()) == list(first.summary())


def test_an_older_pyarrow_keeps_it_in_the_schema(tmp_path, monkeypatch):
    monkeypatch.delattr(pq.ParquetWriter, "add_key_value_metadata", raising=False)
    seen = written()
    assert_same_tables(seen, again(seen, tmp_path), "keys")
    monkeypatch.setattr(exports, "_MOST_BESIDE", 100)
    with pytest.raises(PackageError, match="pyarrow: must be 16 or newer"):
        seen.to_parquet(tmp_path / "seen.parquet")


def test_a_page_needs_what_no_file_of_facts_holds(tmp_path, capsys):
    found = again(KINDS["a text with repeats"](), tmp_path)
    with pytest.raises(OptionError, match="as in no file of facts"):
        sl.show(found)
    assert main(["info", str(tmp_path / "seen.parquet")]) == 2
    assert "softlookup.load" in capsys.readouterr().err


@pytest.fixture
def file(tmp_path):
    return watch_capture(shipped.load("sentence"), top=2).to_parquet(tmp_path / "seen.parquet")


def refusal(file):
    with pytest.raises(FileError) as caught:
        sl.load(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert message.isprintable()
    assert len(message) < 400 + len(str(file))
    return message


def rewritten(file, change=None, lines=None):
    """Write a file again, with other texts beside it, or other lines."""
    with pq.ParquetFile(file) as stream:
        table, metadata = stream.read(), dict(stream.metadata.metadata)
    said = {name: text for name, text in metadata.items() if name.startswith(b"softlookup")}
    if change is not None:
        change(said)
    table = table if lines is None else lines(table)
    pq.write_table(table.replace_schema_metadata(said), file)


def test_other_tables_say_what_they_are(tmp_path, file):
    keys = watch_capture(shipped.load("sentence")).to_parquet(tmp_path / "keys.parquet", "keys")
    assert "a line for each row; it has one for each key" in refusal(keys)
    plain = tmp_path / "plain.parquet"
    pq.write_table(pa.table({"a": [1]}), plain)
    assert "a plain table, or of an older version" in refusal(plain)
    (tmp_path / "none.parquet").write_bytes(b"PAR1")
    assert "whole file of facts" in refusal(tmp_path / "none.parquet")
    assert "cannot be read" in refusal(tmp_path / "missing.parquet")
    assert "cannot be read" in refusal_of_folder(tmp_path)


def refusal_of_folder(tmp_path):
    (tmp_path / "folder.parquet").mkdir()
    return refusal(tmp_path / "folder.parquet")


def test_lines_must_stand_as_they_were_written(file):
    whole = file.read_bytes()
    for lines in (
        lambda table: table.slice(1),
        lambda table: table.slice(0, len(table) - 1),
        lambda table: pa.concat_tables([table, table.slice(0, 1)]),
        lambda table: table.sort_by([("entropy", "ascending")]),
        lambda table: table.drop_columns(["entropy"]),
    ):
        file.write_bytes(whole)
        rewritten(file, lines=lines)
        assert "whole file of facts" in refusal(file)
    file.write_bytes(whole)
    rewritten(file)
    assert sl.load(file)


def in_manifest(**change):
    def changed(said):
        said[b"softlookup"] = json.dumps(json.loads(said[b"softlookup"]) | change).encode()

    return changed


def in_layer(**change):
    def changed(said):
        manifest = json.loads(said[b"softlookup"])
        manifest["layers"][0] |= change
        said[b"softlookup"] = json.dumps(manifest).encode()

    return changed


def bomb(said):
    said[b"softlookup.0.spans"] = base64.b64encode(zlib.compress(bytes(2**24)))


FAULTS = {
    "no JSON": lambda said: said.update({b"softlookup": b"{"}),
    "deep": lambda said: said.update({b"softlookup": b"[" * 99_999}),
    "a list": lambda said: said.update({b"softlookup": b"[]"}),
    "newer": in_manifest(version=2),
    "no layers": in_manifest(layers=None),
    "about a number": in_manifest(about={"model": 1}),
    "vast": in_layer(rows=2**40),
    "negative": in_layer(batch=-1),
    "heads": in_layer(heads=[0]),
    "texts": in_layer(heads=["a"]),
    "dtype": in_layer(dtype="object"),
    "axes": in_layer(axes=[[9], [9]]),
    "more keys": in_layer(keys=10**6),
    "widths": in_layer(widths={"top": 99}),
    "shares": in_layer(shares={"rows": [1]}),
    "a number of nothing": in_layer(number="0"),
    "not base64": lambda said: said.update({b"softlookup.0.spans": b"@@"}),
    "not packed": lambda said: said.update({b"softlookup.0.spans": b"AAAA"}),
    "an array is gone": lambda said: said.pop(b"softlookup.0.counted"),
    "a bomb": bomb,
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_sentence(file, name):
    rewritten(file, FAULTS[name])
    refusal(file)


@pytest.mark.parametrize("at", [0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_short_is_told(file, at):
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * at)])
    refusal(file)


@pytest.mark.slow
def test_a_bit_that_flipped_is_told_or_does_no_harm(file):
    content = file.read_bytes()
    for at in range(len(content) - 1_500, len(content)):
        changed = bytearray(content)
        changed[at] ^= 8
        file.write_bytes(changed)
        with suppress(FileError):
            sl.load(file)
