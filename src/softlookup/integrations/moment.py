"""Moment: one attention call where it stands in its model and its text."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup.arrays import MEMORY, BoolArray, IntArray
from softlookup.integrations.frames import Frame
from softlookup.integrations.labels import READS_TOKENS
from softlookup.integrations.masks import LazyMask, Sight
from softlookup.integrations.places import Place
from softlookup.integrations.resolving import host_part_of
from softlookup.integrations.routing import Call
from softlookup.integrations.seeing import Seen
from softlookup.integrations.sharing import Near, shares_there
from softlookup.watched.shares import Shares, shares_of


@dataclass(frozen=True)
class Moment:
    """One call where it stands: what is asked, where, and what its queries see."""

    place: Place
    part: str
    frame: Frame
    call: Call
    sight: Sight

    @property
    def every(self) -> int:
        """How many heads there are."""
        return int(self.call.query.shape[1])

    @property
    def input_keys(self) -> bool:
        """Whether its keys are tokens of the input, not of a decoder's own text."""
        return self.tokens and (self.place.cross or self.frame.side != "decoder")

    @property
    def tokens(self) -> bool:
        """Whether its rows stand at tokens; not at patches of an image beside a text."""
        return self.place.cross or self.part in READS_TOKENS

    @property
    def padding(self) -> BoolArray | None:
        """Which of its keys are padding, where any is."""
        return _slots(self._known, self.sight.key_start, self.sight.stop)

    @property
    def row_padding(self) -> BoolArray | None:
        """Which of its rows are padding, where any is."""
        known = self.frame.padding if self.place.cross else self._known
        return _slots(known, self.sight.start, int(self.call.query.shape[2]))

    def shares(self, seen: Seen, ids: IntArray | None = None) -> Shares | Any:
        """Return what the first and the previous token get of some of its rows.

        With the token ids of the text, (batch, positions), also what earlier occurrences get. Where
        the lookup lies on a GPU it is a tensor there, which `Glance` describes.
        """
        key_start, known = self.sight.key_start, self._known
        batch = len(seen.lse)
        rows, first = self.row_padding, np.zeros(batch, np.int64)
        if known is not None:
            first[:] = np.argmin(known, axis=1)
        offset = None if self.place.cross else self.sight.start + seen.rows.start - key_start
        row_padding = None if rows is None else rows[:, seen.rows]
        tokens = None if ids is None else self._tokens(ids, batch, seen.look.problem.kv_len)
        if seen.look.problem.place != MEMORY:
            near = Near(first - key_start, offset, row_padding, tokens)
            return shares_there(seen.look.problem, seen.lse, near)
        return shares_of(
            seen.look,
            seen.lse,
            offset=offset,
            first=first - key_start,
            row_padding=row_padding,
            tokens=tokens,
        )

    def _tokens(self, ids: IntArray, batch: int, kv_len: int) -> IntArray | None:
        """Return the text up to the last key; None where that is not known of all texts."""
        if self.place.cross or not self.tokens or len(ids) != batch:
            return None
        count = self.sight.key_start + kv_len
        part = ids[:, :count]
        free = np.arange(-1, part.shape[1] - count - 1, -1)  # slots of a cache, each its own
        return np.concatenate([part, np.broadcast_to(free, (batch, len(free)))], axis=1)

    @property
    def _known(self) -> BoolArray | None:
        """Which of the positions of its keys only fill up the batch."""
        mask = self.call.mask
        if isinstance(mask, LazyMask):
            return mask.padding
        return None if self.place.cross else self.frame.padding  # a cross call's are another text's


def _slots(padding: BoolArray | None, first: int, count: int) -> BoolArray | None:
    """Return the part over `count` positions; those that it does not know are no padding."""
    return None if padding is None else host_part_of(padding, first, count)
