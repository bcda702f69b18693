"""Asking: what a watch looks at in every call of a model, and where a call's tokens stand in it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray, as_ndarray
from softlookup.errors import DtypeError, OptionError, ShapeError
from softlookup.integrations.admission import as_integer
from softlookup.integrations.masks import Sight
from softlookup.integrations.routing import Call
from softlookup.problem import pick

_NO_GROUP = -1


class Asked(NamedTuple):
    """What is looked at in every call, as `Lookup.inspect` names it.

    Attributes
    ----------
    plain : dict
        What is the same in every call.
    sink : bool
        Asked of calls that have sinks.
    distance : bool
        Asked of calls whose keys are the queries' own text.
    from_rows : object
        Token positions, as `inspect` takes rows; or a function of token ids that returns them.
    groups : ndarray of int, callable or None
        A label for each token position of the input, (positions,) or (batch, positions); or a
        function of token ids that returns them.
    repeats : bool
        Whether what earlier occurrences of a row's token get is told.
    """

    plain: Mapping[str, Any]
    sink: bool
    distance: bool
    from_rows: Any
    groups: Any
    repeats: bool = False

    def of(
        self,
        call: Call,
        sight: Sight,
        *,
        tokens: bool,
        input_keys: bool,
        growing: bool,
        cross: bool,
        row_padding: BoolArray | None,
    ) -> dict[str, Any]:
        """Return what is asked of one call; what rows of padding read counts for nobody.

        `tokens`: whether its rows stand at tokens, not at patches of an image beside a text;
        `input_keys`: whether its keys are tokens of the input; `growing`: whether more may come.
        """
        asked = dict(self.plain)
        if self.sink and call.sinks is not None:
            asked["sink"] = True
        if self.distance and not cross:
            asked["distance"] = True
        if self.from_rows is not None and tokens:
            asked["from_rows"] = self._rows(sight.start, int(call.query.shape[2]))
        if row_padding is not None and asked["received"]:
            asked["from_rows"] = asked.get("from_rows", True) & ~row_padding
        if self.groups is not None and input_keys:
            asked["groups"] = self._labels(sight, int(call.query.shape[0]), growing=growing)
        return asked

    def of_text(self, rows: IntArray | None, inputs: IntArray | None) -> "Asked":
        """Return what is asked where the ids of a text are known: functions have been called.

        Parameters
        ----------
        rows, inputs : ndarray of int64 of shape (batch, tokens), or None
            The ids of the text that the rows are of, and of the input; None where they are unknown.
        """
        from_rows, groups = self.from_rows, self.groups
        if callable(from_rows):
            from_rows = as_rows(from_rows(_known(rows, "from_rows", "positions")))
        if callable(groups):
            ids = _known(inputs, "groups", "labels")
            groups = as_labels(groups(ids))
            if groups.shape not in {ids.shape, ids.shape[1:]}:
                raise ShapeError(
                    "groups", f"must return a label for each token id, {ids.shape[1:]} or "
                    f"{ids.shape}; got {groups.shape}. Give -1 to those without one."
                )  # fmt: skip
        return self._replace(from_rows=from_rows, groups=groups)

    def _rows(self, start: int, count: int) -> BoolArray:
        """Return which rows of a call stand at the token positions that count."""
        chosen, rows = self.from_rows, np.zeros(start + count, bool)
        if isinstance(chosen, np.ndarray) and chosen.dtype == np.bool_:
            part = chosen[..., start : start + count]
            flags = np.zeros((*chosen.shape[:-1], count), bool)
            flags[..., : part.shape[-1]] = part
            return flags
        if isinstance(chosen, np.ndarray):  # positions that no token has yet count later
            chosen = chosen[chosen < len(rows)]
        rows[pick(chosen, len(rows), "from_rows")] = True
        return rows[start:]

    def highest_row(self) -> int:
        """Return the last token position that is to count; -1 for any."""
        chosen = self.from_rows
        if not isinstance(chosen, np.ndarray) or not chosen.size:
            return -1
        if chosen.dtype != np.bool_:
            return int(chosen.max())
        return int(np.flatnonzero(chosen.any(axis=tuple(range(chosen.ndim - 1)))).max(initial=-1))

    def _labels(self, sight: Sight, batch: int, *, growing: bool) -> Array:
        """Return the labels of a call's keys; tokens that are generated may have some, or none."""
        labels: Array = np.asarray(self.groups)
        first, stop = sight.key_start, sight.key_start + sight.stop
        there = labels.shape[-1]
        if sight.start == 0 and (there < stop or not (growing or there == stop)):
            raise ShapeError(
                "groups", f"must hold a label for each of {stop} token positions; got {there}. "
                "Give -1 to those without one; more labels only to generate(), for what it writes."
            )  # fmt: skip
        if growing and labels.ndim == 2 and batch > len(labels) and batch % len(labels) == 0:
            labels = np.repeat(labels, batch // len(labels), axis=0)  # several answers to a text
        some = np.full((*labels.shape[:-1], sight.stop), _NO_GROUP, np.int64)
        part = labels[..., first:stop]
        some[..., : part.shape[-1]] = part
        return some


def _known(ids: IntArray | None, name: str, what: str) -> IntArray:
    """Return token ids for a function to read."""
    if ids is None:
        raise OptionError(
            name, "must not be a function where token ids are unknown: the model was given others, "
            f"as inputs_embeds, or a cache from outside. Pass {what}."
        )  # fmt: skip
    return ids.copy()  # it may write to them


def as_rows(given: Any) -> Any:
    """Return a slice, or positions or bools as an array, checked as far as they can be."""
    if isinstance(given, slice):
        ends = [end for end in (given.start, given.stop) if end is not None]
    elif given is None:
        return None
    else:
        spread = (
            np.arange(given.start, given.stop, given.step) if isinstance(given, range) else given
        )
        given = np.atleast_1d(as_ndarray(spread, "from_rows"))
        ends = given.ravel().tolist() if given.dtype.kind in "iu" else []
    if any(as_integer(end) is not None and end < 0 for end in ends):
        raise OptionError(
            "from_rows", f"must be token positions from 0: how many tokens there will be is not "
            f"known before; got {min(ends)}. Count from the start."
        )  # fmt: skip
    return given


def as_labels(given: Any) -> Array:
    """Return labels as an array, checked as far as they can be."""
    labels = as_ndarray(given, "groups")
    if labels.dtype.kind not in "iu" or labels.ndim not in {1, 2}:
        raise DtypeError(
            "groups", f"must be integers of shape (tokens,) or (batch, tokens); got {labels.dtype} "
            f"of shape {labels.shape}. Number the groups from 0."
        )  # fmt: skip
    return labels
