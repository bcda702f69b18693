"""What a part is given: random inputs, comparisons, and a place to say what was found.

A part is a function of a `Session`. When it warms up it only calls what it will check or time, so
that the kernels are compiled; comparisons cost nothing then.
"""

import json
import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from gpu_check import exact
from gpu_check.aims import Aim
from softlookup.errors import BackendError

Tensor = Any
OK, WRONG, REFUSED, FAILED = "ok", "wrong", "refused", "failed"


class Part(NamedTuple):
    """One thing to check or to time.

    Attributes
    ----------
    name : str
    run : callable
    limit : float
        The seconds it may take.
    shares : int
        How many processes compile for it.
    """

    name: str
    run: Callable[["Session"], None]
    limit: float
    shares: int = 1


@dataclass
class Session:
    """One worker's run of its parts.

    Attributes
    ----------
    seed : int
    dry : bool
        On the CPU, interpreted: tiny inputs, nothing is a figure.
    warming : bool
        Only compile.
    share : (int, int)
        Which of the lookups are compiled by this process: from where, and each how manieth.
    say : callable
        Takes one finding, a dict that JSON can hold.
    """

    seed: int
    dry: bool = False
    warming: bool = False
    share: tuple[int, int] = (0, 1)
    say: Callable[[dict[str, Any]], None] = lambda found: print(json.dumps(found), flush=True)
    part: str = ""
    generator: Any = field(init=False)

    def __post_init__(self) -> None:
        self.generator = torch.Generator(self.device).manual_seed(self.seed)

    @property
    def device(self) -> str:
        """Where tensors lie."""
        return "cpu" if self.dry else "cuda"

    @property
    def dtype(self) -> Any:
        """The half precision of this run; the interpreter is wrong for bfloat16."""
        return torch.float16 if self.dry else torch.bfloat16

    @property
    def top(self) -> int:
        """How many of the best keys are asked for; an interpreter takes long over each."""
        return 2 if self.dry else 7

    def draw(self, *shape: int, dtype: Any = None, scale: float = 1.0) -> Tensor:
        """Return fresh normal numbers."""
        drawn = torch.randn(*shape, generator=self.generator, device=self.device)
        return (drawn * scale).to(dtype or self.dtype)

    def begin(self, part: str) -> None:
        """Draw what follows as if the part ran alone."""
        self.part = part
        if not self.dry:
            torch.cuda.empty_cache()  # what the part before took
        self.generator.manual_seed(self.seed + sum(map(ord, part)))

    def compare(self, name: str, actual: Tensor, found: Tensor, budget: Tensor | float) -> None:
        """Say whether `actual` is `found` within errors of `budget`, which broadcasts to them."""
        if self.warming:
            return
        share = exact.error(actual, found, budget)
        status = OK if share <= 1 else WRONG
        self._found(name, status, share, "" if status == OK else _where(actual, found, budget))

    def same(self, name: str, left: Tensor, right: Tensor) -> None:
        """Say whether two tensors have the same bits."""
        if not self.warming:
            bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}
            left, right = (x.contiguous().view(bits[x.itemsize]) for x in (left, right))
            differs = int((left != right).sum()) if left.shape == right.shape else -1
            words = f"{differs} of {left.numel()} differ in their bits" if differs else ""
            self._found(name, WRONG if differs else OK, 0.0, words)

    def holds(self, name: str, true: bool, words: str) -> None:
        """Say whether something is so, and in `words` what there is where it is not."""
        if not self.warming:
            self._found(name, OK if true else WRONG, 0.0, "" if true else words)

    def attempt(
        self,
        name: str,
        call: Callable[..., Any],
        *given: Any,
        may_refuse: bool = False,
        **options: Any,
    ) -> Any:
        """Return what `call` returns; None where it is refused or fails, which is said."""
        try:
            found = call(*given, **options)
            if not self.warming:  # there it would only keep the next kernel from being compiled
                self.wait()
        except BackendError as error:
            self._found(name, REFUSED if may_refuse else WRONG, 0.0, str(error))
        except Exception as error:
            self._found(name, FAILED, 0.0, brief(error))
            if self.lost():
                raise
        else:
            return found
        return None

    def wait(self) -> None:
        """Wait until the device is done; what failed on it is raised here at the latest."""
        if not self.dry:
            torch.cuda.synchronize()

    def lost(self) -> bool:
        """Return whether the device can no longer be used by this process, whoever says so how."""
        try:
            self.wait()
        except Exception:  # noqa: BLE001 (each library has words of its own for it)
            return True
        return False

    def time(self, row: str, runner: str, **figures: Any) -> None:
        """Say how long something took, in milliseconds, with what belongs to it."""
        self._say("time", row=row, runner=runner, **figures)

    def missing(self, row: str, runner: str, words: str) -> None:
        """Say why something was not timed."""
        self._say("untimed", row=row, runner=runner, words=words)

    def aim(self, aim: Aim, row: str, figure: float | None) -> None:
        """Say what one row gives for an aim; a dry run meets none."""
        known = None if self.dry or figure is None or not math.isfinite(figure) else figure
        self._say("aim", work=aim.work, row=row, figure=known)

    def refuse(self, name: str, reason: str) -> None:
        """Say why something cannot be checked here."""
        self._found(name, REFUSED, 0.0, reason)

    def _found(self, name: str, status: str, of_budget: float, words: str) -> None:
        if not self.warming:
            share = of_budget if math.isfinite(of_budget) else None
            self._say("check", name=name, status=status, of_budget=share, words=words)

    def _say(self, kind: str, **found: Any) -> None:
        if not self.warming:
            self.say({"kind": kind, "part": self.part, **found})


def _where(actual: Tensor, found: Tensor, budget: Tensor | float) -> str:
    """Write the first place that is furthest off, in what it may be."""
    if actual.shape != found.shape:
        return f"shape {tuple(actual.shape)}, not {tuple(found.shape)}"
    off = (actual.double() - found.double()).abs()
    off = torch.where(actual.isnan() == found.isnan(), off.nan_to_num(0.0, torch.inf), torch.inf)
    off = torch.where(off == 0, 0.0, off / budget)
    at = torch.unravel_index(off.argmax(), off.shape)
    place = tuple(int(i) for i in at)
    return f"got {float(actual[at]):.5g} at {place}, exact {float(found[at]):.5g}"


def brief(error: BaseException) -> str:
    """Write an error in one line, with the last line of ours that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno})" if frames else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:240]}{where}"
