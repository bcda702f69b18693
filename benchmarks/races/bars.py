"""What the core is meant to reach, and whether the rows measured here reach it.

A bar is judged by its worst row. "not measured" is an answer, too: a peer may be missing, and rows
that were taken while the machine was busy are told.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Figure = Callable[[Row], float | None]

FOUR = "lse, entropy, received, top 8"


@dataclass(frozen=True)
class Bar:
    """One line of the table: the rows it is about, their figure, and what that must be."""

    work: str
    about: dict[str, Any]  # fields of a row: a value, or a function that says whether it fits
    figure: Figure
    bar: float | None  # None: only reported
    stretch: float | None = None
    unit: str = "%"
    at_most: bool = False

    def chooses(self, row: Row) -> bool:
        """Whether the bar is about this row."""
        for field, wanted in self.about.items():
            found = row.get(field)
            if found is None or not (wanted(found) if callable(wanted) else wanted == found):
                return False
        return True

    def reached(self, figure: float, wanted: float | None) -> bool | None:
        """Whether `figure` is as good as what is wanted."""
        if wanted is None:
            return None
        return figure <= wanted if self.at_most else figure >= wanted


def share(row: Row) -> float | None:
    """Return the share of the hardware's limit, in percent."""
    return 100 * row["share"] if "share" in row else None


def more(row: Row) -> float | None:
    """Return the additional time, in percent."""
    return 100 * row["more"]


def times(name: str) -> Figure:
    """Return the figure that says how many times as long a peer takes."""
    return lambda row: row["peers"][name]["times"] if name in row["peers"] else None


def best_peer(row: Row) -> float | None:
    """Return how many times as long the fastest peer takes."""
    return min((peer["times"] for peer in row["peers"].values()), default=None)


def field(name: str) -> Figure:
    """Return the figure that is a field of the row."""
    return lambda row: row.get(name)


def at_least(length: int) -> Callable[[int], bool]:
    """Return whether a length is so much or more."""
    return lambda found: found >= length


def within(first: int, last: int) -> Callable[[int], bool]:
    """Return whether a length lies in first ... last."""
    return lambda found: first <= found <= last


_FULL = {"kind": "forward", "dtype": "float32", "mask": "full"}
_CAUSAL = {"kind": "forward", "dtype": "float32", "mask": "causal"}
_BF16 = {"kind": "forward", "dtype": "bfloat16", "length": at_least(512)}
_F32_DECODE = {"kind": "decode", "dtype": "float32"}
_BF16_DECODE = {"kind": "decode", "dtype": "bfloat16"}
_FOUR_FACTS = {"kind": "facts", "facts": FOUR}
_LONG = {"length": at_least(512)}

BARS = (
    Bar("float32 full, N >= 512, D 64: of FMA peak", _FULL | _LONG | {"dim": 64}, share, 85, 92),
    Bar("float32 full, N >= 512, D 128: of FMA peak", _FULL | _LONG | {"dim": 128}, share, 90, 92),
    Bar("float32 full, N >= 512: PyTorch", _FULL | _LONG, times("PyTorch"), 1.15, unit="x"),
    Bar("float32 full, N >= 512: the best peer", _FULL | _LONG, best_peer, 1.05, unit="x"),
    Bar("float32 full, N 128: of FMA peak", _FULL | {"length": 128}, share, 80, 85),
    Bar("float32 causal, N 64 ... 512: PyTorch", _CAUSAL | {"length": within(64, 512)},
        times("PyTorch"), 2.0, unit="x"),
    Bar("float32 causal, N to 2,048: PyTorch", _CAUSAL | {"length": within(513, 2048)},
        times("PyTorch"), 1.35, unit="x"),
    Bar("float32 causal, N beyond: PyTorch", _CAUSAL | {"length": at_least(2049)},
        times("PyTorch"), 1.25, unit="x"),
    Bar("float32 causal: the best peer", _CAUSAL, best_peer, 1.3, unit="x"),
    Bar("float32 causal, N >= 512: of FMA peak", _CAUSAL | _LONG, share, 80, 87),
    Bar("bfloat16, N >= 512: PyTorch", _BF16, times("PyTorch"), 2.2, unit="x"),
    Bar("bfloat16, N >= 512: OpenVINO", _BF16, times("OpenVINO"), 1.1, unit="x"),
    Bar("bfloat16 full, N >= 512: of dot peak", _BF16 | {"mask": "full"}, share, 75, 85),
    Bar("float16: of float32's rate", {"kind": "dtype", "dtype": "float16"}, share, 90),
    Bar("float64: of float32's rate", {"kind": "dtype", "dtype": "float64"}, share, 45),
    Bar("mask or bias, N <= 512: more", {"kind": "mask", "length": within(0, 512)}, more, 10, 5,
        at_most=True),
    Bar("mask or bias, N 2,048: more", {"kind": "mask", "length": 2048}, more, 20, 10,
        at_most=True),
    Bar("float32 decode: PyTorch", _F32_DECODE, times("PyTorch"), 2.0, unit="x"),
    Bar("float32 decode: of read bandwidth", _F32_DECODE, share, 75, 85),
    Bar("bfloat16 decode: PyTorch", _BF16_DECODE, times("PyTorch"), 1.6, unit="x"),
    Bar("bfloat16 decode: of read bandwidth", _BF16_DECODE, share, 60, 85),
    Bar("lse, entropy: more", {"kind": "facts", "facts": "lse, entropy"}, more, 2, at_most=True),
    Bar("received: more", {"kind": "facts", "facts": "received"}, more, 5, at_most=True),
    Bar("four facts, N <= 512: more", _FOUR_FACTS | {"length": within(0, 512)}, more, 40, 25,
        at_most=True),
    Bar("four facts, N 2,048: more", _FOUR_FACTS | {"length": 2048}, more, 26, 15, at_most=True),
    Bar("four facts, N 8,192: more", _FOUR_FACTS | {"length": 8192}, more, 15, 10, at_most=True),
    Bar("groups: more", {"kind": "facts", "facts": "groups"}, more, None, 15, at_most=True),
    Bar("distance: more", {"kind": "facts", "facts": "distance"}, more, None, 15, at_most=True),
    Bar("four facts in eager PyTorch, N 128", {"kind": "eager", "length": 128},
        times("PyTorch"), 3, unit="x"),
    Bar("four facts in eager PyTorch, full", {"kind": "eager", "mask": "full"} | _LONG,
        times("PyTorch"), 5, unit="x"),
    Bar("four facts in eager PyTorch, causal", {"kind": "eager", "mask": "causal"} | _LONG,
        times("PyTorch"), 6, unit="x"),
    Bar("two threads, N >= 512, 8 heads", {"kind": "threads"}, times("one thread"), 1.85, 1.95,
        unit="x"),
    Bar("a whole call on (1, 1, 16, 64), above the kernel", {"kind": "small", "heads": 1},
        field("above_us"), 15, 8, unit="us", at_most=True),
    Bar("100,000 tokens, one head, four facts", {"kind": "memory", "length": 100_000},
        field("mib"), 64, unit="MiB", at_most=True),
    Bar("memory after 10,000 calls: more", {"kind": "growth"}, field("mib"), 1, unit="MiB",
        at_most=True),
)  # fmt: skip


def judged(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield for each bar its worst figure, the row that has it, and whether it is met."""
    rows = list(rows)
    for bar in BARS:
        found = [(bar.figure(row), row) for row in rows if bar.chooses(row)]
        figures = [(figure, row) for figure, row in found if figure is not None]
        told = {"work": bar.work, "bar": bar.bar, "stretch": bar.stretch, "unit": bar.unit,
                "at_most": bar.at_most, "figure": None, "row": None, "met": None,
                "stretch_met": None, "rows": len(figures), "quiet": True}  # fmt: skip
        if figures:
            worst = max if bar.at_most else min
            figure, row = worst(figures, key=lambda each: each[0])
            told |= {"figure": figure, "row": row["name"], "quiet": row["quiet"],
                     "met": bar.reached(figure, bar.bar),
                     "stretch_met": bar.reached(figure, bar.stretch)}  # fmt: skip
        yield told


def written(told: dict[str, Any]) -> list[str]:
    """Return the line of one bar as cells: work, bar, stretch, the worst figure, met, its row."""
    sign, unit = "<=" if told["at_most"] else ">=", told["unit"]
    bar = "reported" if told["bar"] is None else f"{sign} {told['bar']:g} {unit}"
    stretch = "" if told["stretch"] is None else f"{told['stretch']:g} {unit}"
    if told["figure"] is None:
        return [told["work"], bar, stretch, "", "not measured", ""]
    met = {True: "met", False: "NOT MET", None: "reported"}[told["met"]]
    if told["stretch_met"]:
        met += ", the stretch too"
    busy = "" if told["quiet"] else " (machine busy)"
    return [told["work"], bar, stretch, f"{told['figure']:.3g} {unit}", met + busy, told["row"]]


COLUMNS = ("work", "bar", "stretch", "worst", "", "its row")
