"""What the first key and the key before get of each row, worked out where the lookup lies: a GPU.

The twin of `softlookup.watched.shares`, in torch's own operations, none of which waits.
"""

from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import BoolArray, IntArray
from softlookup.device import send
from softlookup.options import Overlay
from softlookup.problem import Problem
from softlookup.watched.repeats import Earlier, entry_of, pairs

_NUMBERS = 2**26  # that are worked on at once


class Near(NamedTuple):
    """Which keys are meant.

    Attributes
    ----------
    first : ndarray of int of shape (batch,)
        The key of the first token that is no padding; negative where it is none of them.
    offset : int or None
        Row 0 stands at this key; None where keys are another text's.
    row_padding : ndarray of bool of shape (batch, q_len) or None
        Which rows count for nothing.
    tokens : ndarray of int of shape (batch, tokens) or None
        Which token stands at each key, where what earlier occurrences get is asked for.
    """

    first: IntArray
    offset: int | None
    row_padding: BoolArray | None
    tokens: IntArray | None


def shares_there(problem: Problem, lse: Any, near: Near) -> Any:
    """Return a float64 tensor of shape (4 or 8, heads), what `Shares` says.

    How many rows see several keys, and what the first key gets of them; how many of them see the
    key before, and what it gets (NaN where that is not known); with tokens the rows and the total
    of what comes after earlier occurrences, and those of the occurrences.
    """
    import torch

    cells = Cells(problem)
    lse = lse.reshape(problem.batch, problem.heads, problem.q_len)
    some, first = [], cells.sent(near.first)[:, None]
    each = problem.batch * problem.heads * max(problem.head_dim, 1)
    chosen = [lse.new_zeros((problem.batch, problem.heads, 0), dtype=torch.bool)]
    step = max(1, _NUMBERS // each)
    for start in range(0, problem.q_len, step):
        at = slice(start, min(start + step, problem.q_len))
        rows = cells.rows(at)
        here = cells.sees_several(rows).expand(problem.batch, problem.heads, len(rows))
        if near.row_padding is not None:
            here = here & ~cells.sent(near.row_padding[:, at])[:, None]
        keys = [first.expand(-1, len(rows))]
        if near.offset is not None:
            keys.append((rows + near.offset - 1)[None].expand(problem.batch, -1))
        some.append(_near(cells, at, lse[:, :, at], keys, here))
        chosen.append(here)
    found = [torch.stack(some).sum(0)]
    if near.tokens is not None and near.offset is not None:
        found.append(_repeats(problem, lse, torch.cat(chosen, dim=2), near))
    return torch.cat(found)


def _near(cells: "Cells", at: slice, lse: Any, keys: list[Any], chosen: Any) -> Any:
    """Return the first four numbers of each head, of the rows `at`."""
    import torch

    nothing = lse.new_full(chosen.shape[1:2], torch.nan, dtype=torch.float64)
    found = []
    for place, some in enumerate(keys):
        counted = chosen & cells.sees(cells.rows(at), some) if place else chosen
        found += [counted, torch.where(counted, cells.weights(at, some, lse), 0)]
    sums = [one.sum((0, 2), dtype=torch.float64) for one in found]
    return torch.stack([*sums, *[nothing] * (4 - len(sums))])


def _repeats(problem: Problem, lse: Any, chosen: Any, near: Near) -> Any:
    """Return the last four numbers of each head."""
    import torch

    found = lse.new_zeros((2, 2, problem.heads), dtype=torch.float64)
    position = np.arange(problem.q_len) + (near.offset or 0)
    most = max(1, _NUMBERS // max(problem.heads * problem.head_dim, 1))
    for b, tokens in enumerate(np.asarray(near.tokens)):
        cells, earlier = Cells(entry_of(problem, b)), Earlier.of(tokens, problem.kv_len)
        wanted = np.ones(problem.q_len, bool)
        if near.row_padding is not None:
            wanted = ~near.row_padding[b]
        for place, after in enumerate((1, 0)):
            reads = lse.new_zeros((problem.heads, problem.q_len), dtype=torch.float64)
            for at, keys in pairs(position, earlier, wanted, after, most):
                rows, some = cells.sent(at), cells.sent(keys)[None]
                here = chosen[b][:, rows]
                given = cells.weights(rows, some, lse[b : b + 1][:, :, rows])[0]
                found[place, 1] += torch.where(here, given, 0).sum(1, dtype=torch.float64)
                seen = here & cells.sees(rows, some)[0]
                reads.index_add_(1, rows, seen.to(torch.float64))
            found[place, 0] += (reads > 0).sum(1)
    return found.flatten(0, 1)


class Cells:
    """Single cells of a lookup on a device: what chosen rows give to one key each."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._query, self._key = problem.query.tensor, problem.key.tensor  # type: ignore[attr-defined]
        self._device = self._query.device
        self._offset = self._alike(problem.q_offset)
        self._lens = self._alike(problem.kv_lens)
        self._laid = [
            (one.array.tensor, self._entry(one))  # type: ignore[attr-defined]
            for one in (problem.mask, problem.bias)
            if one is not None
        ]

    def sent(self, array: Any) -> Any:
        """Return an array of memory there."""
        return send(array, self._device)

    def _alike(self, given: IntArray | None) -> Any:
        """Return a number for each batch entry, as one where they are the same."""
        if given is None or (len(given) and (given == given[0]).all()):
            return None if given is None else int(given[0])
        return self.sent(given)[:, None]

    def _entry(self, overlay: Overlay) -> Any:
        entry = overlay.entry
        return None if not entry.any() else self.sent(entry)

    def rows(self, at: slice) -> Any:
        """Return the numbers of some rows, there."""
        import torch

        return torch.arange(at.start, at.stop, device=self._device)

    def weights(self, at: Any, keys: Any, lse: Any) -> Any:
        """Return the weight of one key of each row, (batch, heads, rows); 0 where it is hidden.

        `at` is a slice of rows, or their numbers as a tensor.
        """
        import torch

        problem, rows = self._problem, self.rows(at) if isinstance(at, slice) else at
        seen = self.sees(rows, keys)
        if not problem.kv_len:
            return torch.zeros_like(lse)
        there = keys.clamp(0, problem.kv_len - 1)
        batch = torch.arange(problem.batch, device=self._device)[:, None]
        key = self._key[batch, :, there].to(lse.dtype).transpose(1, 2)  # (batch, kv_heads, rows, d)
        query = self._query[:, :, at].unflatten(1, (problem.kv_heads, -1))  # as the key is, below
        scores = (query * key[:, :, None]).sum(-1).flatten(1, 2) * problem.scale
        if problem.softcap is not None:
            scores = problem.softcap * torch.tanh(scores / problem.softcap)
        if problem.bias is not None:
            scores = scores + self._at(*self._laid[-1], rows, there)
        return torch.where(seen, scores - lse, -torch.inf).exp()

    def sees(self, rows: Any, keys: Any) -> Any:
        """Return whether each row sees one key, (batch, heads or 1, rows)."""
        start, stop = self._limits(rows)
        seen = ((keys >= start) & (keys < stop))[:, None]
        there = keys.clamp(0, max(self._problem.kv_len - 1, 0))
        for array, entry in self._laid if self._problem.kv_len else ():
            over = self._at(array, entry, rows, there)
            seen = seen & (~over.isneginf() if over.is_floating_point() else over)
        return seen

    def _limits(self, rows: Any) -> tuple[Any, Any]:
        """Return the keys that rules leave, start <= key < stop, (batch or 1, rows)."""
        problem = self._problem
        left, right = problem.window or (None, None)
        right = 0 if problem.causal else right
        start, stop = rows[None] * 0, rows[None] * 0 + problem.kv_len
        if self._offset is not None:
            at = rows[None] + self._offset
            start = start if left is None else (at - left).clamp(0, problem.kv_len)
            stop = stop if right is None else (at + right + 1).clamp(0, problem.kv_len)
        if self._lens is not None:
            stop = stop.clamp(max=self._lens)
        return start, stop

    def _at(self, array: Any, entry: Any, rows: Any, keys: Any) -> Any:
        """Return a mask or bias at one key of each row, (batch or 1, heads or 1, rows)."""
        import torch

        at = torch.zeros(1, dtype=torch.int64, device=self._device) if entry is None else entry
        head = torch.arange(array.shape[1], device=self._device)[None, :, None]
        row = rows[None, None] * int(array.shape[2] > 1)
        key = keys[:, None] * int(array.shape[3] > 1)
        return array[at[:, None, None], head, row, key]

    def sees_several(self, rows: Any) -> Any:
        """Return whether each row sees more than one key, (batch or 1, heads or 1, rows)."""
        import torch

        start, stop = self._limits(rows)
        if not self._laid:
            return (stop - start > 1)[:, None]
        if all(array.shape[2] == 1 for array, _ in self._laid):  # the same keys for every row
            shown = self._shown(None)[:, :, 0].long().cumsum(-1)
            counts = torch.nn.functional.pad(shown, (1, 0))
            low, high = (one[:, None].expand(*self._wide(counts), -1) for one in (start, stop))
            counts = counts.expand(*low.shape[:2], -1)
            return counts.gather(2, torch.maximum(low, high)) - counts.gather(2, low) > 1
        keys = torch.arange(self._problem.kv_len, device=self._device)
        wide = self._problem.batch * self._problem.heads * max(self._problem.kv_len, 1)
        found = []
        for some in rows.split(max(1, _NUMBERS // wide)):
            start, stop = self._limits(some)
            within = (keys >= start[..., None]) & (keys < stop[..., None])
            found.append((self._shown(some) & within[:, None]).sum(-1) > 1)
        return torch.cat([one.expand(*self._wide(*found), -1) for one in found], dim=2)

    def _wide(self, *arrays: Any) -> tuple[int, int]:
        return self._problem.batch, max(one.shape[1] for one in arrays)

    def _shown(self, rows: Any) -> Any:
        """Return what mask and bias leave of some rows, (batch or 1, heads or 1, rows or 1, keys).

        A mask that counts for every key is spread.
        """
        shown: Any = True
        for array, entry in self._laid:
            part = array[:1] if entry is None else array[entry]
            part = part if rows is None or array.shape[2] == 1 else part[:, :, rows]
            part = ~part.isneginf() if part.is_floating_point() else part
            shown = part & shown
        return shown.expand(*shown.shape[:3], self._problem.kv_len)
