"""``softlookup map``: one head's whole map as a picture, exact, or one line that says why not."""

import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

import softlookup as sl
from patience import PATIENCE
from planted_places import planted
from softlookup.captures import Axis, Capture, Layer, shipped
from softlookup.cli import main, map_picture, mapping
from softlookup.cli.map_picture import LEFT, TOP, Cells, colors, span
from softlookup.shelf import find
from softlookup.viewer import Session
from softlookup.weightmap import WeightMap


def printed(capsys, *args):
    assert main(["map", *args]) == 0
    return capsys.readouterr().out


def picture_in(file):
    """Return the pixels of a picture, (height, width, 3)."""
    with Image.open(file) as image:
        return np.asarray(image)


def pooled(weights, side, pool):
    """Return what each cell of `side` x `side` weights shows, by plain sums and maxima."""
    rows, columns = (-(-length // side) for length in weights.shape)
    wide = np.zeros((rows * side, columns * side))
    wide[: weights.shape[0], : weights.shape[1]] = weights
    cells = wide.reshape(rows, side, columns, side)
    real = np.minimum(weights.shape[0] - side * np.arange(rows), side)[:, None]
    return cells.max(axis=(1, 3)) if pool == "max" else cells.sum(axis=(1, 3)) / real


def cells_of(values, seen, side, lengths=None):
    return Cells(values, seen, side, lengths or values.shape)


def assert_drawn(file, cells, width):
    """Assert that the picture shows these cells, all of them, each once."""
    rows, columns = cells.values.shape
    zoom = map_picture.zoom_of((rows, columns), width)
    picture = picture_in(file)[TOP : TOP + rows * zoom, LEFT : LEFT + columns * zoom]
    found = picture.reshape(rows, zoom, columns, zoom, 3).swapaxes(1, 2)
    assert (found == found[:, :, :1, :1]).all()
    expected = colors(cells, *span(cells))
    off = np.abs(found[:, :, 0, 0].astype(int) - expected.astype(int)).max(axis=-1)
    assert off.max() <= 4, "a step of the ramp at most: float32 beside float64"


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """Return a file of 1,800 tokens with planted facts, its capture and their places."""
    capture, places = planted(1800)
    file = tmp_path_factory.mktemp("planted") / "long.safetensors"
    capture.save(file)
    return str(file), capture, places


@pytest.mark.parametrize("pool", ["max", "share"])
@pytest.mark.parametrize("case", [(0, 1240, 2), (1, 640, 8), (0, 330, 16), (0, 320, 32)])
def test_the_picture_shows_every_weight(capsys, tmp_path, long, case, pool):
    (file, capture, places), (layer, width, side) = long, case
    out = tmp_path / "map.png"
    printed(capsys, file, "--layer", str(layer), "-o", str(out), "--pool", pool, "--width",
            str(width))  # fmt: skip
    weights = capture.lookup(layer, 0).weights()
    visible = np.tri(1800) - (np.tri(1800, k=-1 - places.window[0]) if layer else 0)
    seen = pooled(visible, side, "max") > 0
    assert_drawn(out, cells_of(pooled(weights, side, pool), seen, side), width)


def test_the_needle_is_one_dark_square(capsys, tmp_path, long):
    file, _, places = long
    out = tmp_path / "map.png"
    text = printed(capsys, file, "-o", str(out))
    row, column = (place // 2 for place in places.needle)
    picture = picture_in(out)
    darkest = tuple(int(part) for part in map_picture.ramp()[-1])
    around = picture[TOP + row - 2 : TOP + row + 3, LEFT + column - 2 : LEFT + column + 3]
    there = np.abs(around.astype(int) - darkest).sum(axis=-1) <= 6
    assert np.argwhere(there).tolist() == [[2, 2]]
    query, key = places.needle
    assert f"needle? @{query} reads needle @{key}  {places.weight:.3f}\n" in text


def test_what_is_printed(capsys, tmp_path, long):
    file, capture, _ = long
    out = tmp_path / "map.png"
    lines = printed(capsys, file, "-o", str(out)).splitlines()
    height, width, _ = picture_in(out).shape
    assert lines[0] == "layer 0 (needle, copy, first token) (choose with --layer)"
    assert lines[1] == (
        f"wrote {out}: {width} x {height} pixels, each pixel the largest of 2 x 2 weights"
    )
    assert lines[2] == "strongest  <start> @0 reads <start> @0  1.000"
    weights = capture.lookup(0, 0).weights()
    best = np.sort(weights, axis=None)[::-1][:3]
    assert [line.split()[-1] for line in lines[2:5]] == [f"{weight:.3f}" for weight in best]
    assert re.fullmatch(r"time       \d+\.\d s for 1,800 x 1,800 weights, \w+, float32", lines[5])
    assert len(lines) == 6


@pytest.mark.parametrize("pool", ["max", "share"])
@pytest.mark.parametrize(("width", "zoom"), [(1240, 33), (900, 22), (320, 3)])
def test_a_small_head_is_magnified(capsys, tmp_path, pool, width, zoom):
    out = tmp_path / "map.png"
    text = printed(capsys, "sentence", "--layer", "5", "--head", "4", "-o", str(out), "--pool",
                   pool, "--width", str(width))  # fmt: skip
    assert f"each {zoom} x {zoom} pixels one weight\n" in text
    assert "strongest  she @17 reads anna @9  0.691\n" in text
    weights = shipped.load("sentence").lookup(5, 4).weights()
    assert_drawn(out, cells_of(weights, None, 1), width)


def test_a_head_by_its_own_is_not_told_from_others(capsys, tmp_path):
    assert printed(capsys, "lesson", "-o", str(tmp_path / "map.png")).startswith("wrote ")


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_rows_of_nan_are_counted(capsys, tmp_path, rows):
    query = noise(40, 4)
    query[: min(rows, 2)] = np.nan
    query[2:rows] = np.inf
    text = printed(capsys, saved(tmp_path, query, noise(40, 4) ** 2), "-o", str(tmp_path / "m.png"))
    told = re.findall(r"^NaN        (\d+) of 40 queries, from", text, re.MULTILINE)
    assert told == ([str(rows)] if rows else [])


@pytest.mark.parametrize(("width", "there"), [(1240, True), (600, False)])
def test_tokens_stand_along_the_axes_where_there_is_room(
    capsys, tmp_path, monkeypatch, width, there
):
    written = texts_written(monkeypatch)
    printed(capsys, "sentence", "-o", str(tmp_path / "map.png"), "--width", str(width))
    for text, times in {"[CLS]": 2, "anna": 2, "bank @6": 2, "bank @13": 2, "the @1": 2}.items():
        assert written.count(text) == (times if there else 0), text
    assert ("10" in written) is not there


def test_the_lesson_calls_its_tokens_as_elsewhere(capsys, tmp_path, monkeypatch):
    written = texts_written(monkeypatch)
    printed(capsys, "lesson", "-o", str(tmp_path / "map.png"))
    assert [text for text in written if text in set("0123")] == [*"1231231"]  # the ramp ends at 1


def texts_written(monkeypatch):
    """Return a list that holds what is written into pictures from now on."""
    written, write = [], ImageDraw.ImageDraw.text

    def keep(pen, place, text, *args, **options):
        written.append(text)
        return write(pen, place, text, *args, **options)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", keep)
    return written


def saved(tmp_path, *arrays, heads=(), **options):
    """Write a capture of one layer, and return its path."""
    look = sl.Lookup(*arrays, **options)
    lengths = {"q": look.problem.q_len, "k": look.problem.kv_len}
    axes = [(Axis(tuple(f"{letter}{i}" for i in range(n))),) for letter, n in lengths.items()]
    file = tmp_path / "run.safetensors"
    Capture("odd", (Layer(look, *axes, heads=heads),)).save(file)
    return str(file)


def noise(*shape):
    return np.random.default_rng(5).standard_normal(shape, dtype=np.float32)


def test_a_head_of_a_batch_entry_is_chosen(capsys, tmp_path):
    query, key = noise(2, 3, 40, 4), noise(2, 3, 70, 4)
    file, out = saved(tmp_path, query, key, heads=(2, 5, 7)), tmp_path / "map.png"
    printed(capsys, file, "--head", "5", "--batch", "1", "-o", str(out))
    weights = sl.Lookup(query[1, 1], key[1, 1]).weights()
    assert_drawn(out, cells_of(weights, None, 1), 1240)


@pytest.mark.parametrize("shape", [(3000, 5), (5, 3000)])
def test_a_long_strip_keeps_its_shape(capsys, tmp_path, shape):
    query, key = noise(shape[0], 4), noise(shape[1], 4)
    out = tmp_path / "map.png"
    printed(capsys, saved(tmp_path, query, key), "-o", str(out))
    weights = sl.Lookup(query, key).weights()
    assert_drawn(out, cells_of(pooled(weights, 4, "max"), None, 4), 1240)


def test_nan_and_queries_that_see_nothing(capsys, tmp_path):
    query, key, mask = noise(30, 4), noise(30, 4), np.ones((30, 30), bool)
    query[3], mask[7] = np.nan, False
    out = tmp_path / "map.png"
    text = printed(capsys, saved(tmp_path, query, key, mask=mask), "-o", str(out))
    weights = sl.Lookup(query, key, mask=mask).weights()
    assert np.isnan(weights[3]).all()
    assert_drawn(out, cells_of(weights, mask, 1), 1240)
    told = [line for line in text.splitlines() if "NaN" in line]
    assert told == ["NaN        1 of 30 queries, from NaN or infinite numbers"]


def test_a_head_that_sees_nothing_has_no_strongest_link(capsys, tmp_path):
    out = tmp_path / "map.png"
    file = saved(tmp_path, noise(30, 4), noise(30, 4), mask=np.zeros((30, 30), bool))
    assert "strongest  none: no weight is above 0\n" in printed(capsys, file, "-o", str(out))
    assert_drawn(out, cells_of(np.zeros((30, 30)), np.zeros((30, 30), bool), 1), 1240)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["lesson"], "Missing option '--output' / '-o'"),
        (["lesson", "-o", "{0}/map.jpg"], "map.jpg: must end in .png; it ends in '.jpg'. Write -o"),
        (["lesson", "-o", "{0}/.png"], "must have a name before its ending; it has none. Write -o"),
        (["lesson", "-o", "{0}"], "must be a picture's file; it is a folder. Write -o"),
        (["lesson", "-o", "."], ".: must be a picture's file; it is a folder. Write -o map.png."),
        (["lesson", "-o", "{0}/none/map.png"], "cannot be written: No such file or directory"),
        (["lesson", "-o", "{0}/folder.png"], "cannot be written: Is a directory"),
        (["none.npz", "-o", "{0}/map.png"], "none.npz: must be a file; there is none"),
        (["lesson", "-o", "{0}/map.png", "--layer", "9"], "layer: must be a recorded one; got 9"),
        (["lesson", "-o", "{0}/map.png", "--head", "1"], "head: must lie in 0 ... 0; got 1"),
        (["lesson", "-o", "{0}/map.png", "--batch", "-1"], "batch: must lie in 0 ... 0; got -1"),
        (["lesson", "-o", "{0}/map.png", "--pool", "mean"], "pool: must be max or share; got mean"),
        (["lesson", "-o", "{0}/map.png", "--width", "319"], "320 ... 4,096 pixels; got 319. Axes"),
        (["lesson", "-o", "{0}/map.png", "--width", "4097"], "width: must lie in 320 ... 4,096"),
        (["lesson", "-o", "{0}/map.png", "--width", "x"], "Invalid value for '--width'"),
        (["lesson", "-o", "{0}/map.png", "--save"], "save: goes with a file; lesson comes with"),
        (["{0}/empty.npz", "-o", "{0}/map.png"], "at least one query and one key; this head has"),
        (["{0}/large.npz", "-o", "{0}/map.png"], "that of 2,000,000 x 2,000,000 weights takes"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(capsys, tmp_path, args, words):
    (tmp_path / "folder.png").mkdir()
    np.savez(tmp_path / "empty.npz", query=np.ones((3, 2)), key=np.ones((0, 2)))
    one = np.ones((2_000_000, 1), np.float16)
    np.savez(tmp_path / "large.npz", query=one, key=one)
    before = sorted(tmp_path.iterdir())
    assert main(["map", *(arg.format(tmp_path) for arg in args)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err[:-1].isprintable()
    assert words in err
    assert sorted(tmp_path.iterdir()) == before


def test_a_stop_on_the_way_leaves_what_was_there(capsys, tmp_path, monkeypatch, long):
    def stop(*_):
        raise KeyboardInterrupt

    out = tmp_path / "map.png"
    out.write_bytes(b"of yesterday")
    monkeypatch.setattr(WeightMap, "step", stop)
    assert main(["map", long[0], "-o", str(out)]) == 130
    assert capsys.readouterr().out == ""
    assert out.read_bytes() == b"of yesterday"
    assert list(tmp_path.iterdir()) == [out]


def test_how_far_it_is_is_told(capsys, tmp_path, monkeypatch, long):
    told = []

    @contextmanager
    def watched(what, total):
        told.append((what, total))
        yield told.append

    step = WeightMap.step
    monkeypatch.setattr(mapping, "progress_bar", watched)
    monkeypatch.setattr(WeightMap, "step", lambda the, _seconds: step(the, 0))
    printed(capsys, long[0], "-o", str(tmp_path / "map.png"))
    assert told[0] == ("band", 57)  # of 32 queries
    assert len(told) > 2
    assert told[1:] == sorted(told[1:])
    assert told[-1] < 57


def test_a_map_is_kept_where_the_page_finds_it(capsys, tmp_path):
    capture, file = planted(1800)[0], tmp_path / "long.safetensors"
    capture.save(file)
    first, again = tmp_path / "first.png", tmp_path / "again.png"
    name = "long.safetensors.maps/layer-1-head-0-batch-0.safetensors"
    text = printed(capsys, str(file), "--layer", "1", "-o", str(first), "--save")
    assert text.splitlines()[-1] == f"saved      {name}, which softlookup show opens, too"
    assert (tmp_path / name).is_file()
    text = printed(capsys, str(file), "--layer", "1", "-o", str(again), "--pool", "max")
    assert text.splitlines()[-1] == f"time       none: it was saved in {name}"
    assert first.read_bytes() == again.read_bytes()
    session = Session(find(str(file)))
    told, _ = session.handle("map", {"layer": "1"})
    assert (told["saved"], told["done"]) == (name, told["of"])


def test_nothing_is_kept_unless_it_is_asked_for(capsys, tmp_path):
    file = saved(tmp_path, noise(40, 4), noise(40, 4))
    printed(capsys, file, "-o", str(tmp_path / "map.png"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.png", "run.safetensors"]


def test_a_damaged_map_is_told_and_built_again(capsys, tmp_path):
    file = saved(tmp_path, noise(40, 4), noise(40, 4))
    kept = tmp_path / "run.safetensors.maps" / "layer-0-head-0-batch-0.safetensors"
    kept.parent.mkdir()
    kept.write_bytes(b"of another time")
    out = tmp_path / "map.png"
    assert main(["map", file, "-o", str(out), "--save"]) == 0
    text, said = capsys.readouterr()
    assert "layer-0-head-0-batch-0.safetensors" in said
    assert re.search(r"time       \d+\.\d s for 40 x 40 weights", text)
    assert_drawn(out, cells_of(sl.Lookup(noise(40, 4), noise(40, 4)).weights(), None, 1), 1240)
    assert main(["map", file, "-o", str(out)]) == 0
    text, said = capsys.readouterr()
    assert "it was saved in" in text
    assert "layer-0" not in said


def test_a_saved_map_of_one_pool_is_built_anew_with_both(capsys, tmp_path):
    file, out = saved(tmp_path, noise(40, 4), noise(40, 4)), tmp_path / "map.png"
    folder = tmp_path / "run.safetensors.maps"
    folder.mkdir()
    look, there = sl.load(file).lookup(0, 0), folder / "layer-0-head-0-batch-0.safetensors"
    look.map(pools=("share",)).save(there)
    assert main(["map", file, "-o", str(out), "--save"]) == 0
    text, said = capsys.readouterr()
    assert f"{there}: must hold max and share; it holds share." in said
    assert "saved " in text
    assert WeightMap.open(there, look).pools == ("max", "share")


def test_a_half_built_map_is_finished_and_saved(capsys, tmp_path):
    file, out = saved(tmp_path, noise(400, 4), noise(400, 4)), tmp_path / "map.png"
    folder = tmp_path / "run.safetensors.maps"
    folder.mkdir()
    look, there = sl.load(file).lookup(0, 0), folder / "layer-0-head-0-batch-0.safetensors"
    half = look.map(build=False)
    half.prepare(slice(0, 32), 0.0)
    half.save(there)
    assert 0 < half.done < half.of
    assert "saved " in printed(capsys, file, "-o", str(out), "--save")
    again = WeightMap.open(there, look)
    assert again.done == again.of


def test_a_place_where_no_map_can_be_kept_is_one_line(capsys, tmp_path):
    file = saved(tmp_path, noise(40, 4), noise(40, 4))
    (tmp_path / "run.safetensors.maps").write_text("a file where a folder would go")
    out = tmp_path / "map.png"
    assert main(["map", file, "-o", str(out), "--save"]) == 2
    text, said = capsys.readouterr()
    assert text.startswith(f"wrote {out}")
    assert "run.safetensors.maps" in said.splitlines()[-1]
    assert "cannot be written" in said.splitlines()[-1]


def test_pillow_is_loaded_where_a_picture_is_drawn_and_nowhere_else():
    program = """
import sys
import numpy as np
from softlookup.cli import commands, map_picture, mapping
assert "PIL" not in sys.modules
map_picture.draw(map_picture.Cells(np.ones((2, 2)), None, 1, (2, 2)), ("a", "b"), 320)
assert "PIL" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE)


def test_the_page_of_commands_names_the_limits():
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    assert (
        f"{mapping.NARROWEST} ... {mapping.WIDEST:,} pixels; {mapping.WIDTH:,} where left out"
        in page
    )
