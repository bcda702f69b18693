"""The picture of a map: every pixel belongs to one cell, colours can be read back as numbers."""

import numpy as np
import pytest

from softlookup.cli import map_picture
from softlookup.cli.map_picture import HIDDEN, LEFT, NAN, SOFT, TOP, Cells, colors, draw, ramp, span


def cells_of(values, seen, side, lengths=None):
    return Cells(values, seen, side, lengths or values.shape)


TWO = ("what it is", "what a cell is")


def rgb(color):
    return tuple(int(color[i : i + 2], 16) for i in (1, 3, 5))


def pixels(cells, width, lines=TWO):
    return np.asarray(draw(cells, lines, width))


def inside(cells, width):
    """Return the pixels of the cells, (rows, columns, zoom, zoom, 3)."""
    rows, columns = cells.values.shape
    zoom = map_picture.zoom_of((rows, columns), width)
    part = pixels(cells, width)[TOP : TOP + rows * zoom, LEFT : LEFT + columns * zoom]
    return part.reshape(rows, zoom, columns, zoom, 3).swapaxes(1, 2)


def values_of(found, low, top):
    """Read numbers back from colours, by the nearest of the ramp."""
    steps = np.abs(found[..., None, :].astype(int) - ramp().astype(int)).sum(axis=-1)
    assert (steps.min(axis=-1) == 0).all()
    return 10.0 ** (low + steps.argmin(axis=-1) / 255 * (top - low))


@pytest.mark.parametrize("shape", [(1, 1), (7, 31), (90, 3), (40, 40), (97, 113)])
def test_every_pixel_is_one_cell_and_no_cell_is_left_out(shape):
    values = np.random.default_rng(3).uniform(0.001, 1, shape).astype(np.float32)
    cells = cells_of(values, None, 1)
    found, (low, top) = inside(cells, 330), span(cells)
    assert (found == found[:, :, :1, :1]).all()
    read = values_of(found[:, :, 0, 0], low, top)
    expected = np.log10(np.maximum(values, 10.0**low))
    np.testing.assert_allclose(np.log10(read), expected, atol=(top - low) / 255 / 2 + 1e-6)


def test_each_colour_is_there_once():
    assert len(np.unique(ramp(), axis=0)) == 256
    assert {rgb(HIDDEN), rgb(NAN)}.isdisjoint(map(tuple, ramp().tolist()))


def test_hidden_cells_and_nan_have_colours_of_their_own():
    values = np.array([[0.5, np.nan, 0.0], [0.0, 0.25, 1.0]], np.float32)
    seen = np.array([[True, True, True], [False, True, True]])
    found = colors(cells_of(values, seen, 1), -1, 0)
    assert tuple(found[0, 1]) == rgb(NAN)
    assert tuple(found[1, 0]) == rgb(HIDDEN)
    assert tuple(found[0, 2]) == rgb(map_picture.RAMP[0])
    assert tuple(found[1, 2]) == rgb(map_picture.RAMP[-1])


def legend_of(picture, columns, color):
    """Whether a colour stands in the legend."""
    return (picture[:, LEFT + columns + 10 :] == rgb(color)).all(axis=-1).any()


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("nan", [False, True])
def test_the_legend_names_what_is_there(hidden, nan):
    values = np.full((50, 50), 0.5, np.float32)
    values[3, 3] = np.nan if nan else 0.25
    seen = np.ones((50, 50), bool)
    seen[0, 9] = not hidden
    picture = pixels(cells_of(values, seen, 1), 320)
    assert legend_of(picture, 100, HIDDEN) == hidden
    assert legend_of(picture, 100, NAN) == nan
    assert legend_of(picture, 100, map_picture.RAMP[-1])


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([[1.0, 0.5]], (-1, 0)),
        ([[1.0000002, 0.5]], (-1, 0)),
        ([[0.3, 0.02], [0.004, 0.9]], (-3, 0)),
        ([[0.001, 0.001]], (-4, -3)),
        ([[0.0, np.nan]], (-1, 0)),
        ([[1.0, 1e-30]], (-12, 0)),
        ([[0.5] + [1e-3] * 400 + [1e-9]], (-3, 0)),
    ],
)
def test_the_ramp_lies_between_powers_of_ten(values, ends):
    low, top = span(cells_of(np.array(values, np.float64), None, 1))
    assert (low, top) == ends


def test_hidden_zeros_do_not_stretch_the_ramp():
    cells = cells_of(np.array([[0.5, 1e-9]]), np.array([[True, False]]), 1)
    assert span(cells) == (-1, 0)


def test_ticks_stand_at_the_middle_of_their_weight():
    """100 x 100 cells of 4 x 4 weights, 2 pixels each: a number every 200 positions, below 400."""
    picture = pixels(cells_of(np.full((100, 100), 0.5), None, 4, (400, 399)), 410)
    below, beside = picture[TOP + 200 + 3], picture[:, LEFT - 4]
    across = [x - LEFT for x in np.flatnonzero((below == rgb(SOFT)).all(axis=-1))]
    down = np.flatnonzero((beside[TOP:] == rgb(SOFT)).all(axis=-1)).tolist()
    assert across == down == [0, 100]  # position 200 begins at pixel 100


def test_the_picture_is_never_wider_than_asked_for():
    for columns in (1, 5, 100, 113, 120):
        picture = pixels(cells_of(np.full((2, columns), 0.5), None, 1), 330, ("x" * 500, "y" * 500))
        assert picture.shape[1] <= 330


def test_texts_are_cut_to_the_margin_and_turned_where_they_are_wide():
    cells, width = np.full((20, 30), 0.5), LEFT + 30 * 14 + map_picture.RIGHT
    short = cells_of(cells, None, 1)._replace(
        texts=(["i"] * 20, [*"abcdefghijklmnopqrstuvwxyzABCD"])
    )
    same, found = ([*"w" * 20], ["ww"] * 29 + ["a very long word"]), []
    for texts in (short.texts, same):
        made = map_picture.texts_of(short._replace(texts=texts), 14, lambda text: 7 * len(text))
        found.append((made.turned, made.below, made.queries[3], made.keys[-1]))
    assert found == [(False, 0, "i @3", "D"), (True, 43, "w @3", "a ver...")]
    plain = pixels(short._replace(texts=None), width)
    turned = pixels(short._replace(texts=same), width)
    assert turned.shape[0] > plain.shape[0]
    assert (turned[: TOP + 280, LEFT:] == plain[: TOP + 280, LEFT:]).all()
    strip = turned[TOP + 280 + 8 : TOP + 280 + 62, LEFT + 29 * 14 : LEFT + 30 * 14]
    assert (strip != 255).any(axis=(1, 2)).sum() > 40  # the long one stands upright


@pytest.mark.parametrize(("side", "zoom"), [(1, 13), (2, 40)])
def test_without_room_for_texts_positions_stand(side, zoom):
    cells = cells_of(np.ones((2, 2)), None, side)._replace(texts=(["a", "b"], ["c", "d"]))
    assert map_picture.texts_of(cells, zoom, len) is None


def test_texts_that_the_font_lacks_are_spelt(monkeypatch):
    from PIL import ImageDraw

    written = []
    draw_text = ImageDraw.ImageDraw.text

    def keep(pen, place, text, *args, **options):
        written.append(text)
        return draw_text(pen, place, text, *args, **options)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", keep)
    pixels(cells_of(np.full((40, 40), 0.5), None, 1), 900, ("a bank ☃ é", "…"))
    assert written[:2] == ["a bank \\u2603 \\xe9", "..."]
    assert {"query", "key", "1", "0.1 or less"} <= set(written)
    assert all(text.isascii() for text in written)
