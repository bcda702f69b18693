"""The aims: what a figure is held against, and which of several rows decides."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Aim(NamedTuple):
    """What one kind of work should reach.

    Attributes
    ----------
    work : str
    bar, stretch : float
    backend : str
        Whose kernels it is about: a wrong one reaches nothing.
    at_most : bool
        Whether smaller is better.
    unit : str
    """

    work: str
    bar: float
    stretch: float | None = None
    backend: str = "cuda"
    at_most: bool = True
    unit: str = "x"

    def reached(self, figure: float, mark: float) -> bool:
        """Return whether a figure keeps to a mark."""
        return figure <= mark if self.at_most else figure >= mark


FACTS = Aim("lse, entropy, top 8: of cuDNN's plain forward", 1.5)
HOPPER_FACTS = Aim("the same by the Hopper kernel", 1.25, 1.05, "cuda-hopper")
RECEIVED = Aim("received in addition: of cuDNN's plain forward", 0.7, 0.5)
ALL_WEIGHTS = Aim("faster than all weights, N 4,096", 15, at_most=False)
MEMORY = Aim("memory at twice the length", 2.3)
HOPPER = Aim(
    "the Hopper kernel's forward: of cuDNN's rate", 0.95, 1.0, "cuda-hopper", at_most=False
)
DECODE = Aim("one query, 131,072 keys, top 8: of cuDNN's bandwidth", 80, at_most=False, unit="%")
MAP = Aim("the map of 131,072 tokens, one causal head", 0.15, unit="s")
WATCH = Aim("a 1-billion Llama watched, 16,384 tokens: of blind", 1.3)
AIMS = (FACTS, HOPPER_FACTS, RECEIVED, ALL_WEIGHTS, MEMORY, HOPPER, DECODE, MAP, WATCH)


def judged(figures: Iterable[Mapping[str, Any]], wrong: Iterable[str]) -> list[dict[str, Any]]:
    """Return each aim with its worst row; `wrong` names the backends that are not right."""
    told, void = [], set(wrong)
    for aim in AIMS:
        known = [x for x in figures if x["work"] == aim.work and x["figure"] is not None]
        found: dict[str, Any] = {**aim._asdict(), "figure": None, "row": "", "met": None,
                                 "stretch_met": None, "void": aim.backend in void}  # fmt: skip
        if known:
            worst = (max if aim.at_most else min)(known, key=lambda x: x["figure"])
            figure = worst["figure"]
            found |= {"figure": figure, "row": worst["row"], "met": aim.reached(figure, aim.bar)}
            if aim.stretch is not None:
                found["stretch_met"] = aim.reached(figure, aim.stretch)
        told.append(found)
    return told
