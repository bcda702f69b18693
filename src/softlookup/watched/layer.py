"""LayerSeen: what one layer read in one run, over all its calls."""

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.captures.fitting import whole
from softlookup.errors import OptionError
from softlookup.facts import bin_ranges
from softlookup.inspection import Top
from softlookup.numerals import counted
from softlookup.tokens import listed
from softlookup.watched.calls import Calls
from softlookup.watched.choosing import check_batch, one_of, position_of, span
from softlookup.watched.exports import Tabular
from softlookup.watched.glance import Piece
from softlookup.watched.row import RowSeen
from softlookup.watched.shares import Shares
from softlookup.watched.store import Reading, Store

_HEADS_SHOWN = 16


class LayerSeen(Tabular, Reading):
    """What one layer read in one run: every step of it, joined when it is asked for.

    Attributes
    ----------
    path : str
        Where it stands in its model, e.g. ``"model.layers.3.self_attn"``.
    number : int
        Its number in the model, from 0.
    part : str
        Which stack it belongs to: "encoder", "decoder", "cross"; "" where there is but one.
    run : int
        Which run, from 0.
    heads, kv_heads : tuple of int
        The numbers of the heads in the model, in the order of the arrays, and the kv head that
        each of them reads.
    """

    def __init__(self, store: Store, calls: Calls) -> None:
        self._store, self._calls = store, calls
        self.path, self.number, self.run = calls.path, calls.number, calls.run
        self.heads, self.kv_heads = calls.heads, calls.kv_heads
        self.part = calls.part

    @property
    def label(self) -> str:
        """What a person calls it, e.g. ``"layer 3"`` or ``"decoder layer 0"``."""
        return f"{self.part} layer {self.number}".lstrip()

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of what was looked at."""
        piece = self._piece
        names = dict.fromkeys(name.partition("_keys")[0] for name in piece.facts)
        names.pop("top_weights", None)
        return (*names, *(("received",) if piece.received is not None else ()))

    @property
    def causal(self) -> bool:
        """Whether no row sees a key after its own position."""
        return self._calls.causal

    @property
    def queries(self) -> IntArray:
        """Token positions of the rows, (rows,)."""
        return self._piece.queries

    @property
    def keys(self) -> IntArray:
        """Token positions of the keys of all steps together, (keys,)."""
        return self._piece.keys

    @property
    def lse(self) -> Array:
        """Logarithm of the sum of ``exp(score)`` of each row, (batch, heads, rows)."""
        return self._fact("lse")

    @property
    def entropy(self) -> Array:
        """Entropy of each row in nats, (batch, heads, rows)."""
        return self._fact("entropy")

    @property
    def sink(self) -> Array:
        """Share of the learned sink in each row, (batch, heads, rows)."""
        return self._fact("sink")

    @property
    def max_score(self) -> Array:
        """Largest visible score of each row, (batch, heads, rows)."""
        return self._fact("max_score")

    @property
    def top(self) -> Top:
        """Token positions (-1 for none) and weights, each (batch, heads, rows, top)."""
        return Top(self._fact("top_keys"), self._fact("top_weights"))

    @property
    def groups(self) -> Array:
        """Share of each label in each row, (batch, heads, rows, labels)."""
        return self._fact("groups")

    @property
    def distance(self) -> Array:
        """Share of each bin of distance in each row, (batch, heads, rows, bins)."""
        return self._fact("distance")

    @property
    def distance_bins(self) -> tuple[tuple[int, int], ...]:
        """Smallest and largest distance of each bin."""
        return bin_ranges(self.distance.shape[-1])

    @property
    def received(self) -> Array:
        """Sum of the weights that each key got from all rows that count, (batch, heads, keys)."""
        found = self._piece.received
        if found is None:
            raise self._not_asked("received")
        return found.astype(self._calls.dtype, copy=False)

    @property
    def received_per_kv_head(self) -> Array:
        """The same over the heads that read a kv head, (batch, kv heads, keys).

        Only heads that were looked at count; their kv heads stand in order.
        """
        found = self.received
        order = sorted(set(self.kv_heads))
        total = np.zeros((len(found), len(order), found.shape[-1]))
        for place, kv_head in enumerate(self.kv_heads):
            total[:, order.index(kv_head)] += found[:, place]
        return total.astype(found.dtype)

    @property
    def shares(self) -> Shares | None:
        """What the first and the previous token get, summed over rows; None where not known."""
        return self._calls.shares

    @property
    def counted(self) -> BoolArray:
        """Which rows count in `received`, (batch, rows)."""
        return self._piece.counted

    @property
    def spans(self) -> IntArray:
        """Token positions (2, rows) of the first key that each row may see, and after the last.

        As far as rules say it: causal, windows, and what a cache still held.
        """
        return self._piece.spans

    @property
    def key_padding(self) -> BoolArray:
        """Which keys are padding, (batch, keys)."""
        piece = self._piece
        if piece.padding is None:
            return np.zeros((len(piece.counted), piece.key_count), bool)
        return piece.padding

    @property
    def padding(self) -> BoolArray:
        """Which rows stand at padding, (batch, rows)."""
        return self._piece.row_padding

    @property
    def prompt(self) -> int | None:
        """How many tokens generate() was given; None where it did not write."""
        return self._store.texts.prompt(self._calls, 0)

    @property
    def written(self) -> BoolArray:
        """Which rows stand at tokens that generate() wrote, (rows,)."""
        return self._written_at(self.prompt, self.queries)

    @property
    def key_written(self) -> BoolArray:
        """Which keys are tokens that generate() wrote, (keys,)."""
        return self._written_at(self._store.texts.prompt(self._calls, 1), self.keys)

    @staticmethod
    def _written_at(prompt: int | None, positions: IntArray) -> BoolArray:
        return np.zeros(len(positions), bool) if prompt is None else positions >= prompt

    @property
    def after_prompt(self) -> str:
        """What is said behind the number of rows, where some of them are of a prompt."""
        if self.prompt is None:
            return ""
        return f" ({np.count_nonzero(~self.written)} of the prompt)"

    def tokens(self, batch: int = 0) -> tuple[str, ...] | None:
        """Return the texts at `queries`; None where no text is known."""
        return self._texts_at(0, batch, self.queries)

    def key_tokens(self, batch: int = 0) -> tuple[str, ...] | None:
        """Return the texts at `keys`; None where no text is known."""
        return self._texts_at(1, batch, self.keys)

    def produced(self, batch: int = 0) -> tuple[str, ...] | None:
        """Return the text that each row produced, the one at the next position.

        None where no text is known, and for rows that produce none: those of an encoder.
        """
        if not self.produces:
            return None
        return self._texts_at(0, batch, self.queries + 1)

    @property
    def produces(self) -> bool:
        """Whether each row produced the token at the next position: those of a decoder did."""
        return self.causal or self.part.endswith(("decoder", "cross"))

    def place(self, head: int) -> int:
        """Return where the head of that number stands in the arrays.

        Raises
        ------
        OptionError
            Where it was not looked at.
        """
        wanted = whole(head, "head", "a head's number")
        if wanted in self.heads:
            return self.heads.index(wanted)
        some = ", ".join(str(number) for number in self.heads[:_HEADS_SHOWN])
        more = ", ..." if len(self.heads) > _HEADS_SHOWN else ""
        raise OptionError(
            "head", f"must be one that was looked at, of {some}{more}; got {wanted}. Choose one of "
            "those, or watch it, too."
        )  # fmt: skip

    def row(
        self,
        position: int | str | None = None,
        *,
        producing: int | str | None = None,
        batch: int = 0,
    ) -> RowSeen:
        """Return all that is known of one row.

        Parameters
        ----------
        position : int or str, optional
            Its token position, negative from the end; or its text, where only one is shown so.
        producing : int or str, optional
            Instead: the token that the row produced, one position further on.
        batch : int, default 0
            Whose texts are meant.

        Raises
        ------
        OptionError, ShapeError
            Where no such row was seen.
        """
        return self.row_named(*one_of(position=position, producing=producing), batch)

    def row_named(self, argument: str, token: int | str, batch: int) -> RowSeen:
        """Return the row at a token, or with "producing" the one that produced it.

        Raises
        ------
        OptionError, ShapeError, DtypeError
            Of `argument`, where no such row was seen.
        """
        entries = len(self.counted)
        batch, later = check_batch(batch, entries), int(argument == "producing")
        texts = self.produced if later else self.tokens
        positions = self.queries + later
        wanted = position_of(
            token, positions, texts, batch=batch, entries=entries, argument=argument
        )
        found = np.flatnonzero(positions == wanted)
        if not len(found):
            what = "of a token that a row produced" if later else "of a row"
            raise OptionError(
                argument, f"must be the token position {what} of {listed(self.path)}, "
                f"{span(positions)}; got {listed(str(token))}. Positions count from 0."
            )  # fmt: skip
        return RowSeen(self, int(found[-1]), batch)

    def _tabled(self) -> tuple["LayerSeen"]:
        return (self,)

    def __repr__(self) -> str:
        piece = self._piece
        shapes = {name.replace("_", ".", 1) if name.startswith("top_") else name: fact.shape
                  for name, fact in piece.facts.items()}  # fmt: skip
        if piece.received is not None:
            shapes["received"] = piece.received.shape
        width = max(len(name) for name in shapes)
        batch = len(piece.counted)
        which = f", batch {batch}" if batch > 1 else ""
        title = (
            f"{listed(self.label)} ({listed(self.path)}), run {self.run}: "
            f"{counted(len(self.heads), 'head')}, {counted(len(piece.queries), 'row')} at "
            f"{span(piece.queries)}{self.after_prompt}, {counted(piece.key_count, 'key')} at "
            f"{span(piece.keys)}{which}"
        )
        return "\n".join([title, *(f"  {name.ljust(width)}  {s}" for name, s in shapes.items())])

    @property
    def _piece(self) -> Piece:
        return self._calls.joined()

    def _fact(self, name: str) -> Array:
        found = self._piece.facts.get(name)
        if found is None:
            raise self._not_asked(name.partition("_keys")[0].partition("_weights")[0])
        return found

    def _not_asked(self, name: str) -> OptionError:
        given = {"top": "8", "groups": "[...]"}.get(name, "True")
        return OptionError(
            name, f"was not looked at; {', '.join(self.asked)} were. Write watch(model, "
            f"{name}={given})."
        )  # fmt: skip

    def _texts_at(self, which: int, batch: int, positions: IntArray) -> tuple[str, ...] | None:
        """Return the texts along the queries or the keys of one batch entry."""
        entries = len(self.counted)
        axis = self._store.texts.along(self._calls, which, check_batch(batch, entries), entries)
        if axis is None:
            return None
        texts = axis.tokens
        return tuple(texts[at] if 0 <= at < len(texts) else "" for at in positions.tolist())
