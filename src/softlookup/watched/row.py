"""RowSeen: one row of a layer, what its heads read at one token."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from softlookup.inspection import Top
from softlookup.numerals import counted, fixed
from softlookup.tokens import listed
from softlookup.watched.choosing import check_batch
from softlookup.watched.glance import PER_ROW
from softlookup.watched.listing import Listing
from softlookup.watched.store import Reading

if TYPE_CHECKING:
    from softlookup.watched.layer import LayerSeen

_HEADS_SHOWN = 16
_KEYS_SHOWN = 3
_NUMBERS = ("entropy", "sink", "max_score", "lse")


class KeyRead(NamedTuple):
    """One key that a head reads: its token position, its text, its weight."""

    key: int
    token: str
    weight: float


class RowSeen(Reading, Mapping[str, Any]):
    """One row of a layer: the facts that were looked at, (batch, heads, ...), by name.

    ``row["entropy"]`` and ``row.entropy`` are the same; ``print(row)`` names the keys read most.

    Attributes
    ----------
    layer : LayerSeen
        Where it stands.
    position : int
        Its token position.
    """

    def __init__(self, layer: "LayerSeen", index: int, batch: int = 0) -> None:
        self.layer = layer
        self._asked = batch  # whose texts named it: shown first
        self.position = int(layer.queries[index])
        self._index = index
        self._names = tuple(name for name in layer.asked if name != "received")

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        if name == "top":
            return Top(*(part[:, :, self._index] for part in self.layer.top))
        return getattr(self.layer, name)[:, :, self._index]

    def __getattr__(self, name: str) -> Any:
        if name in PER_ROW or name == "top":
            return self[name] if name in self._names else getattr(self.layer, name)
        if name.startswith("_") or name == "layer":  # not there yet
            raise AttributeError(name)
        raise AttributeError(f"a row has no {name!r}; it has {', '.join(self._names)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def token(self, batch: int = 0) -> str | None:
        """Return the text at its position."""
        texts = self.layer.tokens(batch)
        return None if texts is None else texts[self._index]

    def produced(self, batch: int = 0) -> str | None:
        """Return the text that it produced."""
        texts = self.layer.produced(batch)
        return None if texts is None else texts[self._index]

    def reads(self, head: int, batch: int = 0) -> Listing[KeyRead]:
        """Return the top keys of one head, the largest weight first.

        Parameters
        ----------
        head : int
            Its number in the model.
        batch : int, default 0
            Which batch entry.

        Raises
        ------
        OptionError
            Where the head or its top keys were not looked at.
        """
        place, entries = self.layer.place(head), len(self["lse"])
        which = f", batch {check_batch(batch, entries)}" if entries > 1 else ""
        title = f"head {head} of {listed(self.layer.label)} in row {self.position}{which}"
        return Listing(f"{title} reads", self._reads(check_batch(batch, entries), place))

    def __repr__(self) -> str:
        lines = []
        entries = range(len(self["lse"]))
        for batch in sorted(entries, key=lambda one: one != self._asked):
            text, next_text = self.token(batch), self.produced(batch)
            said = "" if text is None else f" {listed(text)!r}"
            said += "" if next_text is None else f", produced {listed(next_text)!r}"
            where = f", batch {batch}" if len(self["lse"]) > 1 else ""
            wrote = ", written" if self.layer.written[self._index] else ""
            title = f"{listed(self.layer.label)}, row {self.position}{said}{wrote}{where}"
            lines += [title, *(f"  {line}" for line in self._heads(batch))]
        return "\n".join(lines)

    def _heads(self, batch: int) -> list[str]:
        """Return a line a head: its numbers, and what it reads."""
        numbers = [name for name in _NUMBERS if name in self._names]
        lines = []
        for place, head in list(enumerate(self.layer.heads))[:_HEADS_SHOWN]:
            said = ", ".join(f"{name} {fixed(self[name][batch, place])}" for name in numbers)
            if "top" in self._names:
                said += f"; reads {_listed(self._reads(batch, place)[:_KEYS_SHOWN])}"
            lines.append(f"head {head}: {said}")
        more = len(self.layer.heads) - _HEADS_SHOWN
        return [*lines, f"and {counted(more, 'more head')}"] if more > 0 else lines

    def _reads(self, batch: int, place: int) -> list[KeyRead]:
        """Return the top keys of the head at `place` that are there."""
        keys, weights = (part[batch, place].tolist() for part in self.top)
        texts = self.layer.key_tokens(batch)
        first = int(self.layer.keys[0]) if len(self.layer.keys) else 0
        return [
            KeyRead(key, "" if texts is None else texts[key - first], weight)
            for key, weight in zip(keys, weights, strict=True)
            if key >= 0
        ]


def _listed(reads: list[KeyRead]) -> str:
    """Write some keys in one line.

    Examples
    --------
    >>> _listed([KeyRead(2, "maker", 0.875), KeyRead(0, "", 0.05)]), _listed([])
    ("2 'maker' 0.875, 0 0.050", 'nothing')
    """
    texts = (f"{one.key}{f' {listed(one.token)!r}' if one.token else ''}" for one in reads)
    lines = [f"{text} {fixed(one.weight)}" for text, one in zip(texts, reads, strict=True)]
    return ", ".join(lines) or "nothing"
