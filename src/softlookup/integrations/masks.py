"""Masks as rules: what a model's own mask function shows, without a matrix of it.

Models ask for a mask once a pass and kind of layer. `LazyMask` keeps what they asked with; what
they get for it is in `unmade.py`. The model's mask function is evaluated in bands of rows, over
every pair, and compared with the rule that its first and last row suggest (causal, a window). Where
the rule gives the same for every pair, it is the mask; where it does not (chunks, packed texts,
prefixes), rows are looked at in bands, each with a mask of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import BoolArray
from softlookup.device import is_on_device
from softlookup.integrations.resolving import Resolved, host_part_of, part_of, resolve

_PAIRS = 2**22  # of a mask that are evaluated at once
_ROWS = 1_024  # of a band with a mask of its own


class Sight(NamedTuple):
    """What a call's queries see.

    Attributes
    ----------
    start : int
        The token position of the first query.
    key_start : int
        The token position of the first key.
    stop : int
        How many of the keys are tokens; what comes after them is an unused slot of a cache.
    options : dict
        `causal`, `window`, `q_offset`, `kv_lens`, `mask`, `bias`, as `Lookup` takes them.
    causal : bool
        Whether no query sees a key after its own position.
    bands : LazyMask or None
        Where no rule fits: asked for the mask of some rows.
    """

    start: int
    key_start: int
    stop: int
    options: dict[str, Any]
    causal: bool = False
    bands: "LazyMask | None" = None

    def rows(self, count: int) -> Iterator[tuple[slice, dict[str, Any]]]:
        """Return slices of `count` queries, and the options of each."""
        if self.bands is None:
            yield slice(0, count), self.options
            return
        step = self.bands.band
        for first in range(0, count, step):
            rows = slice(first, min(first + step, count))
            shown = self.bands.tile(rows, slice(0, self.stop))
            laid = self.options.get("mask")  # what a bias hides
            if laid is not None:
                shown = shown & (laid[..., rows, :] if laid.shape[-2] > 1 else laid)
            own = dict(self.options, mask=shown)
            if "q_offset" in own:
                own["q_offset"] += first
            if "bias" in own and own["bias"].shape[-2] > 1:
                own["bias"] = own["bias"][..., rows, :]
            yield rows, own


class LazyMask:
    """What a model asked its mask function with; a mask over pairs only where one is needed.

    Parameters
    ----------
    given : mapping
        The arguments of the mask function.
    theirs : callable, optional
        The mask function of the model's own kind of attention.

    Attributes
    ----------
    batch, q_len, kv_len : int
    start, key_start : int
        The token positions of the first query and the first key.
    theirs : callable or None
        As given.
    """

    theirs: Any

    def __init__(self, given: Mapping[str, Any], theirs: Callable[..., Any] | None = None) -> None:
        self._given, self.theirs = dict(given), theirs
        steps = self._given.pop("cache_position", None)  # how releases before 5.4 said the rows
        if steps is not None:
            self._given |= {"q_length": int(steps.shape[0]), "q_offset": int(steps[0])}
        self._dated = steps is not None
        self.batch, self.q_len, self.kv_len = (
            int(self._given[name]) for name in ("batch_size", "q_length", "kv_length")
        )
        self.start, self.key_start = (
            int(self._given.get(name, 0)) for name in ("q_offset", "kv_offset")
        )
        # A static cache counts in place: its number is read now, not when a mask is asked for.
        self._given["q_offset"] = self.start
        self._device = self._given.get("device", "cpu")

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The shape of a mask over pairs."""
        return self.batch, 1, self.q_len, self.kv_len

    @property
    def device(self) -> Any:
        """Where the mask lies."""
        import torch

        return torch.device(self._device)

    @property
    def band(self) -> int:
        """How many rows are evaluated at once."""
        return max(1, min(_ROWS, _PAIRS // max(1, self.kv_len * self.batch)))

    @cached_property
    def resolved(self) -> Resolved | None:
        """What is known of it, where it lies on a GPU; found with one wait. None in memory."""
        if not is_on_device(self):
            return None
        sizes, offset = (self.q_len, self.kv_len), self.start - self.key_start
        return resolve(self._shown, sizes, offset, self.device, self._given.get("attention_mask"))

    @cached_property
    def _allowed(self) -> BoolArray | None:
        """Which token positions may be seen, (batch, positions)."""
        if self.resolved is not None:
            return self.resolved.allowed
        mask = self._given.get("attention_mask")
        return None if mask is None else mask.bool().cpu().numpy()

    @cached_property
    def sees(self) -> BoolArray | None:
        """Which keys hold a token that may be seen, (batch, kv_len); None where all do."""
        if self._allowed is None:
            return None
        there = host_part_of(self._allowed, self.key_start, self.kv_len)
        return None if there.all() else there

    @cached_property
    def _sees_there(self) -> Any:
        """The same as a tensor where the mask lies, (batch, 1, 1, kv_len)."""
        import torch

        if self.sees is None:
            return None
        if self.resolved is None:
            return torch.from_numpy(self.sees[:, None, None])
        mask = self._given["attention_mask"]
        return part_of(mask, self.key_start, self.kv_len)[:, None, None]

    @cached_property
    def padding(self) -> BoolArray | None:
        """Which token positions only fill up the batch, (batch, positions); None where none do."""
        return None if self._allowed is None or self._allowed.all() else ~self._allowed

    @cached_property
    def own_is_none(self) -> bool:
        """Whether the mask function of the model's own kind makes None; no pair is looked at.

        Each call then says itself what it sees, by a flag, which need not say what the mask would
        have: PaliGemma's reads both ways where its mask function is causal.
        """
        if self.theirs is None:
            return True
        given = self._as_given() | {"mask_function": _needed}
        if self.resolved is not None and self._allowed is not None:  # read in memory: no one waits
            import torch

            given |= {"attention_mask": torch.from_numpy(self._allowed), "device": "cpu"}
        try:
            return self.theirs(**given) is None
        except _NeededError:
            return False

    @cached_property
    def of_sdpa(self) -> Any:
        """What sdpa's mask function makes, for sdpa to answer with, whoever was to answer."""
        from transformers.masking_utils import sdpa_mask

        return self.made_by(sdpa_mask)

    def made_by(self, function: Callable[..., Any]) -> Any:
        """Return what a mask function makes of what was asked with."""
        return function(**self._as_given())

    def asked(self, name: str) -> Any:
        """Return one of the arguments; None where it was not given."""
        return self._given.get(name)

    def _as_given(self) -> dict[str, Any]:
        """Return the arguments as this release names them."""
        given = dict(self._given)
        if self._dated:
            given["cache_position"] = self._positions(given.pop("q_offset"), given.pop("q_length"))
        return given

    def tile(self, rows: slice, keys: slice) -> Any:
        """Return which keys some rows see, a tensor of bool (batch, 1, rows, keys)."""
        shown = self._shown(rows, keys)
        if self.sees is not None:
            shown = shown & self._sees_there[..., keys]
        return shown.expand(self.batch, 1, rows.stop - rows.start, keys.stop - keys.start)

    def _shown(self, rows: slice, keys: slice) -> Any:
        """Return what the mask function shows of some pairs, padding left aside."""
        import torch

        function = self._given["mask_function"]
        batch, head = (torch.arange(n, device=self._device) for n in (self.batch, 1))
        at = self._positions(self.start + rows.start, rows.stop - rows.start)
        of = self._positions(self.key_start + keys.start, keys.stop - keys.start)
        if not self._given.get("use_vmap"):
            return function(
                batch[:, None, None, None], head[None, :, None, None],
                at[None, None, :, None], of[None, None, None, :],
            )  # fmt: skip
        from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

        for place in (3, 2, 1, 0):
            axes: list[int | None] = [None] * 4
            axes[place] = 0
            function = torch.vmap(function, in_dims=tuple(axes), out_dims=0)
        with TransformGetItemToIndex():  # a caller's function may index tensors
            return function(batch, head, at, of)

    def _positions(self, first: int, count: int) -> Any:
        import torch

        return torch.arange(first, first + count, device=self._device)

    @cached_property
    def sight(self) -> Sight:
        """The rule, or that there is none; every pair was compared with it."""
        offset = self.start - self.key_start
        rule, last, ahead = self._rule(offset)
        # Slots of a static cache that no token has filled yet come after the last query.
        filling = "allow_is_bidirectional_skip" not in self._given  # else keys of another text
        stop = min(self.kv_len, max(last, offset + self.q_len)) if filling else self.kv_len
        options: dict[str, Any] = {"q_offset": offset}
        bands = self if rule is None else None
        if rule is not None:
            options |= rule
            if self.sees is not None:
                options |= self._padding_options(stop)
        return Sight(self.start, self.key_start, stop, options, not ahead, bands)

    def _padding_options(self, stop: int) -> dict[str, Any]:
        """Return the keys that are seen, as counts where they come first; there are some hidden."""
        sees = np.asarray(self.sees)[:, :stop]
        lens = sees.sum(axis=1)
        if (sees == (np.arange(stop) < lens[:, None])).all():
            return {"kv_lens": lens}
        there = self._sees_there[..., :stop]
        return {"mask": there.numpy() if self.resolved is None else there}

    def _rule(self, offset: int) -> tuple[dict[str, Any] | None, int, bool]:
        """Return the rule, None where none fits all pairs.

        And how many keys any row sees, of those after the last query; whether a row sees a key
        after its own position.
        """
        left, right, fits, last, ahead = (self.resolved or self._compared(offset))[:5]
        if not fits:
            return None, last, ahead
        rule: dict[str, Any] = {}
        if right == 0:
            rule["causal"], right = True, None
        if left is not None or right is not None:
            rule["window"] = (left, right)
        return rule, last, ahead

    def _compared(self, offset: int) -> tuple[int | None, int | None, bool, int, bool]:
        """Compare every pair with the rule that is suggested; as the first five of `Resolved`."""
        import torch

        keys = torch.arange(self.kv_len)
        left, right, fits = self._suggested(offset)
        last, ahead = 0, False
        beyond = max(0, min(self.kv_len, offset + self.q_len))
        for rows in self._bands(self.kv_len):
            shown = self._shown(rows, slice(0, self.kv_len))
            shown = shown.broadcast_to(*shown.shape[:2], rows.stop - rows.start, self.kv_len)
            at = torch.arange(rows.start, rows.stop)[:, None] + offset
            if shown[..., beyond:].any():
                seen = shown[..., beyond:].flatten(0, -2).any(0).numpy()
                last = max(last, self.kv_len - int(seen[::-1].argmax()))
            if fits:
                ruled = _ruled(keys, at, left, right)
                fits = bool(shown.all() if ruled is None else (shown == ruled).all())
            if not ahead and not (fits and right == 0):
                ahead = bool((shown & (keys > at)).any())
        return left, right, fits, last, ahead

    def _bands(self, width: int) -> Iterator[slice]:
        step = max(1, min(_ROWS, _PAIRS // max(1, width)))
        for first in range(0, self.q_len, step):
            yield slice(first, min(first + step, self.q_len))

    def _suggested(self, offset: int) -> tuple[int | None, int | None, bool]:
        """Return how far the last row sees to its left and the first to its right.

        An end that reaches the first or the last key is open. No row leaves nothing to suggest.
        """
        every = slice(0, self.kv_len)
        first, last = (
            _flat(self._shown(slice(row, row + 1), every), self.kv_len)
            for row in (0, self.q_len - 1)
        )
        if not (first.any() and last.any()):
            return None, None, False
        begin, end = int(last.argmax()), self.kv_len - 1 - int(first[::-1].argmax())
        left = self.q_len - 1 + offset - begin if begin > 0 else None
        right = end - offset if end < self.kv_len - 1 else None
        return left, right, (left or 0) >= 0 and (right or 0) >= 0


class _NeededError(Exception):
    """A mask over pairs is made."""


def _needed(*_: Any) -> Any:
    raise _NeededError


def _flat(shown: Any, width: int) -> BoolArray:
    """Return which keys one row sees, in any batch entry."""
    flags: BoolArray = shown.broadcast_to(*shown.shape[:2], 1, width).flatten(0, -2).any(0).numpy()
    return flags


def _ruled(keys: Any, at: Any, left: int | None, right: int | None) -> Any:
    """Return what rows at positions `at` see by the rule; None for everything."""
    within = None if right is None else keys <= at + right
    if left is None:
        return within
    after = keys >= at - left
    return after if within is None else within & after
