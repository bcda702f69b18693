"""The picture of a weight map: cells in colour, axes in positions, a legend in numbers.

Every cell is a square of the same number of pixels, every pixel belongs to one cell: nothing is
sampled, nothing is blended.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from softlookup.arrays import Array
from softlookup.cli.terminal import spell
from softlookup.ledger import name

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

RAMP = ("#fdf6da", "#c9e08c", "#62bf8b", "#2b8f9b", "#2f619f", "#46287c", "#250b3d")
HIDDEN, NAN = "#e2e3e7", "#d1293d"  # greys and reds are not in the ramp
PAPER, INK, SOFT = "#ffffff", "#1c1d20", "#5f6167"
STEPS = 256
LEFT, RIGHT, TOP, BOTTOM = 76, 132, 68, 46  # pixels around the cells
WRITTEN = 14  # pixels that a cell is wide where texts are written
MARGIN = 62  # pixels that a text may be long
BAR = 16  # pixels that the legend's ramp is wide
LETTERS = 13  # pixels that a line of text is high
LEGEND = 12 * LETTERS  # pixels that the legend needs
TICKS_APART = 80  # pixels between two numbers of an axis, at least
ROUNDING = 1e-5  # a share that is 1 may come as a little more
DECADES = 12  # that the legend spans at most


class Cells(NamedTuple):
    """One level of a map, as it is drawn.

    Attributes
    ----------
    values : ndarray of shape (rows, columns)
    seen : ndarray of bool or None
        False where no pair of a cell is visible; None where all are.
    side : int
        How many queries, and how many keys, a cell spans.
    lengths : (int, int)
        How many queries and keys there are; the last cells may stand for fewer.
    texts : (sequence of str, sequence of str) or None
        What the tokens of both axes are called; written where a cell is one weight and wide enough.
    """

    values: Array
    seen: Any
    side: int
    lengths: tuple[int, int]
    texts: tuple[Sequence[str], Sequence[str]] | None = None


def room(width: int) -> int:
    """Return how many pixels of a picture that wide are left for its cells."""
    return width - LEFT - RIGHT


def zoom_of(shape: tuple[int, int], width: int) -> int:
    """Return how many pixels wide a cell is."""
    return max(1, room(width) // max(shape))


def draw(cells: Cells, lines: tuple[str, str], width: int) -> "Image":
    """Return the picture: `lines` above, queries downwards, keys to the right.

    Parameters
    ----------
    cells : Cells
        At most ``room(width)`` rows and columns.
    lines : (str, str)
        What is drawn, and what a cell is.
    width : int
        How many pixels wide it may be.
    """
    from PIL import Image, ImageDraw, ImageFont

    zoom = zoom_of(cells.values.shape, width)
    high, wide = (count * zoom for count in cells.values.shape)
    tall = max(high, LEGEND)
    font = ImageFont.load_default(LETTERS)
    said = [shortened(spell(line), lambda text: font.getlength(text) <= width - 24)
            for line in lines]  # fmt: skip
    needed = max(LEFT + wide + RIGHT, *(24 + int(font.getlength(text)) for text in said))
    texts = texts_of(cells, zoom, font.getlength)
    below = texts.below if texts else 0
    image = Image.new("RGB", (needed, TOP + tall + BOTTOM + below), PAPER)
    low, top = span(cells)
    pixels = np.repeat(np.repeat(colors(cells, low, top), zoom, axis=0), zoom, axis=1)
    image.paste(Image.fromarray(pixels), (LEFT, TOP))
    pen = ImageDraw.Draw(image)
    pen.font = font
    pen.text((12, 10), said[0], fill=INK)
    pen.text((12, 30), said[1], fill=SOFT)
    _axes(image, pen, cells, zoom, texts)
    _legend(pen, (LEFT + wide + 24, tall), (low, top), _plain(cells))
    return image


def _plain(cells: Cells) -> list[tuple[str, str]]:
    """Return what is there beside numbers, with its colour."""
    there = (("hidden", HIDDEN, cells.seen is not None and not cells.seen.all()),
             ("NaN", NAN, bool(np.isnan(cells.values).any())))  # fmt: skip
    return [(words, color) for words, color, some in there if some]


def span(cells: Cells) -> tuple[int, int]:
    """Return the powers of ten between which the ramp lies.

    It ends above the largest value, and begins below all but the hundredth part of them.
    """
    values = cells.values if cells.seen is None else cells.values[cells.seen]
    positive = values[np.isfinite(values) & (values > 0)]
    if not positive.size:
        return -1, 0
    top = int(np.ceil(np.log10(positive.max()) - ROUNDING))
    low = int(np.floor(np.log10(np.quantile(positive, 0.01, method="lower")) + ROUNDING))
    return max(min(low, top - 1), top - DECADES), top


def ramp() -> Array:
    """Return the colours, (STEPS, 3), evenly between those that are named."""
    named = np.array([[int(one[i : i + 2], 16) for i in (1, 3, 5)] for one in RAMP])
    where = np.linspace(0, len(RAMP) - 1, STEPS)
    parts = [np.interp(where, range(len(RAMP)), named[:, i]) for i in range(3)]
    return np.stack(parts, axis=-1).round().astype(np.uint8)


def colors(cells: Cells, low: int, top: int) -> Array:
    """Return the colour of each cell, (rows, columns, 3)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        where = (np.log10(cells.values) - low) / (top - low) * (STEPS - 1)
    steps = np.clip(np.nan_to_num(where, nan=0, neginf=0), 0, STEPS - 1).round().astype(np.uint8)
    found = ramp()[steps]
    for some, color in ((np.isnan(cells.values), NAN), (_not(cells.seen), HIDDEN)):
        if some is not None:
            found[some] = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    return found


def _not(seen: Any) -> Any:
    return None if seen is None else ~seen


def tick_step(pixels_apart: Callable[[int], float], apart: float = TICKS_APART) -> int:
    """Return the smallest of 1, 2, 5, 10, ... whose ticks stand far enough apart.

    Examples
    --------
    >>> tick_step(lambda step: step / 128)
    20000
    >>> tick_step(lambda step: step * 24.0)
    5
    """
    step = 1
    while pixels_apart(step) < apart:
        first = int(str(step)[0])
        step = step * 5 // 2 if first == 2 else step * 2
    return step


def _axes(image: "Image", pen: "ImageDraw", cells: Cells, zoom: int, texts: "Texts | None") -> None:
    """Frame the cells, and write along both axes what they are."""
    high, wide = (count * zoom for count in cells.values.shape)
    below = texts.below if texts else 0
    if texts is None:
        _numbers(pen, (high, wide), cells.lengths, cells.side / zoom)
    else:
        _write(image, pen, texts, zoom)
    pen.rectangle((LEFT - 1, TOP - 1, LEFT + wide, TOP + high), outline=SOFT)
    pen.text((LEFT + wide / 2, TOP + high + 26 + below), "key", fill=INK, anchor="ma")
    pen.text((12, TOP - 6), "query", fill=INK, anchor="ls")


class Texts(NamedTuple):
    """What is written at each query and each key.

    Attributes
    ----------
    queries, keys : list of str
    turned : bool
        Whether those of the keys are, since they are wider than a cell.
    below : int
        How many pixels they take more than a number does.
    """

    queries: list[str]
    keys: list[str]
    turned: bool
    below: int


def texts_of(cells: Cells, zoom: int, length: Callable[[str], float]) -> Texts | None:
    """Return what is written at each query and each key; None where there is no room for it."""
    if cells.texts is None or cells.side > 1 or zoom < WRITTEN:
        return None
    queries, keys = (_labels(texts, length) for texts in cells.texts)
    widest = max(map(length, keys), default=0)
    turned = widest > zoom - 4
    return Texts(queries, keys, turned, max(int(widest) - LETTERS, 0) if turned else 0)


def _labels(texts: Sequence[str], length: Callable[[str], float]) -> list[str]:
    """Return as much of each text as fits; where it stands, too, if it stands there twice."""
    names = [spell(name(text)) for text in texts]
    often = Counter(names)
    ends = [f" @{i}" if often[each] > 1 else "" for i, each in enumerate(names)]
    return [_label(each, end, length) for each, end in zip(names, ends, strict=True)]


def _label(text: str, end: str, length: Callable[[str], float]) -> str:
    return shortened(text, lambda some: length(some + end) <= MARGIN) + end


def _write(image: "Image", pen: "ImageDraw", texts: Texts, zoom: int) -> None:
    """Write the texts along both axes, one a cell, from the middle of it."""
    from PIL import Image, ImageDraw

    bottom = TOP + zoom * len(texts.queries)
    for place, text in enumerate(texts.queries):
        y = TOP + (place + 0.5) * zoom
        pen.line((LEFT - 6, y, LEFT - 1, y), fill=SOFT)
        pen.text((LEFT - 9, y), text, fill=SOFT, anchor="rm")
    for place, text in enumerate(texts.keys):
        x = LEFT + (place + 0.5) * zoom
        pen.line((x, bottom, x, bottom + 5), fill=SOFT)
        if not texts.turned:
            pen.text((x, bottom + 7), text, fill=SOFT, anchor="ma")
            continue
        line = Image.new("L", (MARGIN, 2 * LETTERS))  # its end stands at the cell
        ImageDraw.Draw(line).text(
            (MARGIN, LETTERS), text, fill=255, anchor="rm", font=pen.getfont()
        )
        up = line.rotate(90, expand=True)
        image.paste(SOFT, (int(x) - LETTERS, bottom + 8), up)


def _numbers(
    pen: "ImageDraw", size: tuple[int, int], lengths: tuple[int, int], per_pixel: float
) -> None:
    """Write positions along both axes; a tick stands at the middle of its weight."""
    high, _ = size
    step = tick_step(lambda step: step / per_pixel)
    bottom = TOP + high
    for place in range(0, lengths[1], step):
        x = LEFT + (place + 0.5) / per_pixel
        pen.line((x, bottom, x, bottom + 5), fill=SOFT)
        pen.text((x, bottom + 7), f"{place:,}", fill=SOFT, anchor="ma")
    for place in range(0, lengths[0], step):
        y = TOP + (place + 0.5) / per_pixel
        pen.line((LEFT - 6, y, LEFT - 1, y), fill=SOFT)
        pen.text((LEFT - 9, y), f"{place:,}", fill=SOFT, anchor="rm")


def _legend(
    pen: "ImageDraw",
    place: tuple[int, int],
    powers: tuple[int, int],
    plain: Sequence[tuple[str, str]],
) -> None:
    """Draw the ramp with its powers of ten, and below it the colours that are no numbers."""
    (left, high), (low, top) = place, powers
    bar = min(high - len(plain) * 2 * BAR, 60 * (top - low))
    found, per_power = ramp(), (bar - 1) / (top - low)
    for line in range(bar):
        shade = tuple(int(part) for part in found[round((1 - line / (bar - 1)) * (STEPS - 1))])
        pen.line((left, TOP + line, left + BAR, TOP + line), fill=shade)
    every = tick_step(lambda step: step * per_power, 1.5 * LETTERS)
    above = [power for power in range(top, low, -every) if (power - low) >= every]
    for power in (*above, low):
        y = TOP + (top - power) * per_power
        pen.line((left + BAR + 1, y, left + BAR + 5, y), fill=SOFT)
        words = f"{decade(power)} or less" if power == low else decade(power)
        pen.text((left + BAR + 9, y), words, fill=SOFT, anchor="lm")
    for number, (words, color) in enumerate(plain):
        y = TOP + bar + BAR + 2 * BAR * number
        pen.rectangle((left, y, left + BAR, y + BAR), fill=color, outline=SOFT)
        pen.text((left + BAR + 9, y + BAR / 2), words, fill=SOFT, anchor="lm")


def decade(power: int) -> str:
    """Write a power of ten.

    Examples
    --------
    >>> decade(0), decade(-2), decade(-7)
    ('1', '0.01', '1e-7')
    """
    if -4 < power <= 0:
        return "1" if power == 0 else "0." + "0" * (-power - 1) + "1"
    return f"1e{power}"


def shortened(text: str, fits: Callable[[str], bool]) -> str:
    """Return as much of `text` as fits, with dots where it was longer.

    Examples
    --------
    >>> shortened("a long title", lambda text: len(text) <= 8)
    'a lon...'
    """
    if fits(text):
        return text
    fitting = [n for n in range(len(text)) if fits(text[:n] + "...")]
    return text[: fitting[-1] if fitting else 0] + "..."
