"""Long tables: every line is the fact that its names say, in each form that a table comes in."""

import json
import subprocess
import sys

import numpy as np
import pytest
from feeding import ASKED, IDS, PADDED, STEPS, drawn, feed, generated, watched

import softlookup as sl
from captured import HOSTILE
from softlookup.captures import Axis
from softlookup.errors import DtypeError, FileError, OptionError, PackageError
from softlookup.watched import Glance

EVERYTHING = {
    **ASKED, "distance": True, "groups": np.repeat([0, 1, -1, 2], [3, 4, 4, 2])[None].repeat(2, 0)
}  # fmt: skip


@pytest.fixture
def seen():
    """Two runs of two layers, the first left-padded and in steps; tables need no more."""
    mask = ~PADDED[:, None, None]
    made = watched()
    for number in (0, 3):
        whole = drawn(number, causal=True, mask=mask)
        feed(made, whole, STEPS, number=number, padding=PADDED, asked=EVERYTHING, ids=IDS)
        feed(made, drawn(number, causal=True, q_len=5), run=1, number=number)
    return made


def test_every_line_of_rows_is_the_fact_that_it_names(seen):
    table = seen.table()
    layers = {(run, layer.number): layer for run in (0, 1) for layer in seen.run(run)}
    size = 2 * 6 * (13 + 9) + 2 * 2 * 6 * 5
    assert {name: len(column) for name, column in table.items()} == dict.fromkeys(table, size)
    names = [f"group_{g}" for g in range(3)]
    bins = ["distance_0", "distance_1", "distance_2", "distance_4", "distance_8"]
    for i in range(size):
        line = {name: column[i] for name, column in table.items()}
        layer = layers[line["run"], line["layer"]]
        batch, head, row = line["batch"], layer.place(line["head"]), line["position"]
        at = (batch, head, row)
        assert line["path"] == layer.path
        assert line["entropy"] == layer.entropy[at]
        assert line["lse"] == layer.lse[at]
        assert line["max_score"] == layer.max_score[at]
        for k in range(3):
            assert line[f"top_key_{k + 1}"] == layer.top.keys[at][k]
            assert line[f"top_weight_{k + 1}"] == layer.top.weights[at][k]
        shares = [line[name] for name in (*names, *bins)]
        if line["run"] == 1:  # not looked at there
            assert np.isnan(shares).all()
            assert line["token"] is None
            continue
        assert not PADDED[batch, row]
        np.testing.assert_array_equal(shares, [*layer.groups[at], *layer.distance[at]])
        assert line["token"] == f" w{IDS[batch, row]}"
        assert line["produces"] == (f" w{IDS[batch, row] + 1}" if row < 12 else None)
    lines = zip(*(table[n] for n in ("run", "layer", "batch", "head", "position")), strict=True)
    assert len(set(lines)) == size


def test_what_was_written_is_marked_in_tables_rows_and_rankings():
    made = generated(drawn(causal=True))
    assert not made.table()["written"].any()
    made.add_prompt(0, 7)
    feed(made, drawn(causal=True), run=1)
    for of in ("rows", "keys"):
        table = made.table(of)
        assert table["written"].dtype == bool
        np.testing.assert_array_equal(
            table["written"], (table["run"] == 0) & (table["position"] >= 7)
        )
    assert (made[0].prompt, made.run(1)[0].prompt) == (7, None)
    assert "13 rows (7 of the prompt), 13 keys" in repr(made)
    assert "row 7 ' w7', produced ' w8', written" in repr(made[0].row(7))
    assert "written" not in repr(made[0].row(6))
    assert repr(made.rank_tokens()).endswith("written by the model from position 7 on")
    assert "written" not in repr(made.run(1).rank_tokens())


def test_keys_of_another_text_were_not_written():
    made = feed(watched(), drawn(kv_len=9), part="cross", asked={"received": True})
    made.add_prompt(0, 1)
    assert made.layers[0].written.sum() == 12
    assert not made.table("keys")["written"].any()


def test_every_line_of_keys_is_what_it_received(seen):
    table = seen.table("keys")
    assert list(table) == [
        "run", "part", "layer", "path", "batch", "head", "position", "token", "written", "kv_head",
        "received",
    ]  # fmt: skip
    total = 0
    for run in (0, 1):
        for layer in seen.run(run):
            here = (table["run"] == run) & (table["layer"] == layer.number)
            for batch in range(2):
                shown = ~layer.key_padding[batch]
                for place, head in enumerate(layer.heads):
                    some = here & (table["batch"] == batch) & (table["head"] == head)
                    assert table["position"][some].tolist() == layer.keys[shown].tolist()
                    got = layer.received[batch, place, shown]
                    np.testing.assert_array_equal(table["received"][some], got)
                    assert set(table["kv_head"][some]) == {head // 2}
                    total += some.sum()
    assert total == len(table["run"])


def test_lines_at_padding_come_when_asked_for(seen):
    for of in ("rows", "keys"):
        some, all_of_them = (seen.run(0).table(of, padding=padding) for padding in (False, True))
        assert len(all_of_them["run"]) - len(some["run"]) == 2 * 6 * 4
        assert (all_of_them["position"][all_of_them["batch"] == 1] < 4).any()
        assert not (some["position"][some["batch"] == 1] < 4).any()


def test_one_layer_and_one_run_have_tables_of_their_own(seen):
    whole = seen.table()
    for part, here in (
        (seen[3], (whole["layer"] == 3) & (whole["run"] == 0)),
        (seen.run(1), whole["run"] == 1),
    ):
        for name, column in part.table().items():
            np.testing.assert_array_equal(column, whole[name][here], name)


def test_a_dict_is_json(seen):
    plain = seen.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["group_0"][-1] == "NaN"
    assert plain["entropy"] == seen.table()["entropy"].tolist()


def test_facts_of_some_layers_are_missing_in_others():
    seen = watched()
    feed(seen, drawn(1, causal=True, sinks=np.ones(6, np.float32)), asked={"sink": True})
    feed(seen, drawn(2, causal=True), number=1, asked={"top": 2})
    feed(seen, drawn(2, causal=True), run=1, number=1, asked={"top": 3})
    assert (seen.table()["top_key_3"][seen.table()["run"] == 0] == -1).all()
    table = seen.run(0).table()
    first = table["layer"] == 0
    assert np.isnan(table["sink"]).tolist() == (~first).tolist()
    assert (table["top_key_1"][first] == -1).all()
    assert np.isnan(table["top_weight_2"][first]).all()
    assert (table["top_key_1"][~first] >= 0).all()
    with pytest.raises(OptionError, match=r"received: was not looked at; lse, sink were"):
        seen.table("keys")


def test_nothing_seen_is_an_empty_table():
    assert {len(column) for column in watched().table().values()} == {0}
    assert {len(column) for column in watched().table("keys").values()} == {0}


def test_a_table_is_of_rows_or_of_keys(seen):
    with pytest.raises(OptionError, match=r"of: must be 'rows' or 'keys'; got 'heads'"):
        seen.table("heads")


def pyarrow():
    return pytest.importorskip(
        "pyarrow", reason='pyarrow is missing: pip install "softlookup[tables]"'
    )


def pandas():
    return pytest.importorskip(
        "pandas", reason='pandas is missing: pip install "softlookup[tables]"'
    )


def assert_same_table(columns, table):
    """Assert that columns of lists are those of a table of NumPy arrays."""
    assert list(columns) == list(table)
    for name, column in table.items():
        there = np.array(columns[name], column.dtype)
        np.testing.assert_array_equal(there, column, name)


@pytest.mark.parametrize("of", ["rows", "keys"])
def test_arrow_has_the_same_table(seen, of):
    pa = pyarrow()
    table = seen.to_arrow(of)
    assert_same_table(table.to_pydict(), seen.table(of))
    assert table.schema.field("token").type == pa.dictionary(pa.int32(), pa.string())
    assert table.schema.field("position").type == pa.int64()
    assert table.column("token").num_chunks == 4
    assert seen[0].to_arrow(of).num_rows == len(seen[0].table(of)["run"])
    assert watched().to_arrow(of).num_rows == 0


@pytest.mark.parametrize("of", ["rows", "keys"])
def test_pandas_has_the_same_table(seen, of):
    pandas()
    frame = seen.to_pandas(of)
    columns = {
        name: [None if text != text else text for text in frame[name]]
        if frame[name].dtype == "category" else frame[name]
        for name in frame
    }  # fmt: skip
    assert_same_table(columns, seen.table(of))
    assert (frame.token == " w104").sum() == 2 * 6


def test_a_ranking_is_a_frame(seen):
    frame = pandas().DataFrame(seen.rank_tokens())
    assert list(frame) == ["position", "token", "received", "share"]
    assert frame.share.sum() == pytest.approx(1)
    assert frame.token[0] == seen.rank_tokens()[0].token


def test_nothing_is_loaded_before_it_is_asked_for():
    heavy = "{'torch', 'transformers', 'pandas', 'pyarrow', 'starlette', 'rich'}"
    program = f"import sys, softlookup.watched; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"


@pytest.mark.parametrize("of", ["rows", "keys"])
def test_parquet_has_the_same_table(seen, tmp_path, of):
    pyarrow()
    import pyarrow.parquet as pq

    file = seen.to_parquet(tmp_path / "seen.parquet", of)
    assert_same_table(pq.read_table(file).to_pydict(), seen.table(of))
    assert pq.ParquetFile(file).num_row_groups == 4, "a layer at a time"
    assert [found.name for found in tmp_path.iterdir()] == ["seen.parquet"]


def test_hostile_tokens_survive(tmp_path):
    pyarrow()
    whole, ids = drawn(causal=True, q_len=len(HOSTILE)), np.array([range(len(HOSTILE))] * 2)
    seen = watched()
    seen._store.texts._read = lambda ids, seen: Axis(tuple(texts[i] for i in ids))
    feed(seen, whole, ids=ids)
    texts = (*HOSTILE[:-1], "\\ud800")  # a text that is what half a surrogate pair is written as
    plain = {None if text == "" else text.replace("\ud800", "\\ud800") for text in texts}
    assert set(seen.to_arrow().to_pydict()["token"]) == plain
    assert seen.to_parquet(tmp_path / "hostile.parquet").is_file()
    assert seen.to_pandas().token.isna().sum() == 12


def test_a_file_that_cannot_be_written_is_refused_first(seen, tmp_path, monkeypatch):
    pyarrow()
    monkeypatch.setattr(sl.watched.exports, "columns_of", None)  # no work is done before
    (tmp_path / "folder.parquet").mkdir()
    for path, fragments in (
        (tmp_path / "seen.csv", ["must end in .parquet", "seen.parquet"]),
        (tmp_path / "missing" / "seen.parquet", ["cannot be written: No such file or directory"]),
        (tmp_path / "folder.parquet", ["cannot be written: Is a directory"]),
    ):
        with pytest.raises(FileError) as refused:
            seen.to_parquet(path)
        for fragment in fragments:
            assert fragment in str(refused.value)


@pytest.mark.parametrize("path", [None, b"seen.parquet", 3])
def test_a_path_is_a_text_or_a_path(seen, path):
    with pytest.raises(DtypeError, match=f"path: must be a text or .* got {type(path).__name__}"):
        seen.to_parquet(path)


def test_a_file_that_fails_half_way_leaves_what_was_there(seen, tmp_path, monkeypatch):
    pyarrow()
    file = tmp_path / "seen.parquet"
    file.write_bytes(b"before")
    made = sl.watched.exports._as_arrow

    def failing(pa, column):
        if failing.left == 0:
            raise RuntimeError("the disk is full")
        failing.left -= 1
        return made(pa, column)

    failing.left = 40
    monkeypatch.setattr(sl.watched.exports, "_as_arrow", failing)
    with pytest.raises(RuntimeError, match="the disk is full"):
        seen.to_parquet(file)
    assert file.read_bytes() == b"before"
    assert [found.name for found in tmp_path.iterdir()] == ["seen.parquet"]


@pytest.mark.parametrize(("verb", "package"), [
    ("to_arrow", "pyarrow"), ("to_pandas", "pandas"), ("to_parquet", "pyarrow"),
])  # fmt: skip
def test_a_package_that_is_missing_is_named(seen, tmp_path, monkeypatch, verb, package):
    monkeypatch.setitem(sys.modules, package, None)
    given = [tmp_path / "seen.parquet"] if verb == "to_parquet" else []
    with pytest.raises(PackageError) as refused:
        getattr(seen, verb)(*given)
    assert refused.value.argument == package
    assert 'pip install "softlookup[tables]"' in str(refused.value)


def test_float64_facts_stay_float64():
    arrays = [np.random.default_rng(1).standard_normal((1, 1, 3, 5)) for _ in range(3)]
    seen = watched()
    found = sl.Lookup(*arrays).inspect(entropy=True, received=True)
    seen.add("a.0", 0, "", Glance((0,), (0,), 0, 0, 0, found))
    assert seen.table()["entropy"].dtype == seen.table("keys")["received"].dtype == np.float64
