"""Watched: what a model's attention did while it was watched, every run, layer and step of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from softlookup.arrays import IntArray
from softlookup.captures import Axis, Capture
from softlookup.captures.fitting import whole
from softlookup.errors import OptionError
from softlookup.numerals import counted
from softlookup.tokens import listed
from softlookup.watched.choosing import one_of, within
from softlookup.watched.exports import Tabular
from softlookup.watched.glance import Glance
from softlookup.watched.kept import join_run
from softlookup.watched.layer import LayerSeen
from softlookup.watched.listing import Listing
from softlookup.watched.store import Reading, Store
from softlookup.watched.summary import (
    HeadAtRow,
    HeadReading,
    HeadSummary,
    TokenReceived,
    rank_at_row,
    rank_reading,
    rank_received,
    summarise,
)
from softlookup.watched.texts import Read, Texts

_LISTED = 8  # layers that an error names
_WIDE = 200  # characters of a line


class Watched(Tabular, Reading):
    """What a model's attention did while it was watched.

    `softlookup.watch` makes one and fills it; reading it is possible at any time, during the run,
    too. It reads like a sequence of the layers of its first run.

    Parameters
    ----------
    about : mapping of str to str
        Where it comes from: ``model``, ``license``, ``made``, ``versions``.
    title : str, optional
        A few words; the model's name where left out, and of a capture also how its text begins.
    read : callable, optional
        From one text's token ids, and which of them are no padding (None where all are), to its
        `Axis`; asked when texts are shown.
    tokens : list of str, or one list for each batch entry, optional
        Texts of the first run's input.

    Raises
    ------
    DtypeError
        Where `tokens` are no texts.
    """

    def __init__(
        self,
        about: Mapping[str, str] | None = None,
        *,
        title: str | None = None,
        read: Read | None = None,
        tokens: Any = None,
    ) -> None:
        self._store = Store(title, about or {}, Texts(read, tokens))
        self._only: int | None = None

    def add(self, path: str, number: int, part: str, glance: Glance) -> None:
        """Take in what one attention call showed.

        Parameters
        ----------
        path : str
            The module's path in its model.
        number : int
            The layer's number.
        part : str
            Which stack it is in: "encoder", "decoder", "cross"; "" where there is but one.
        glance : Glance
            Its arrays are kept as they are; `out` is not kept.

        Raises
        ------
        ShapeError
            Where it has other heads or another batch than the layer's calls before it.
        """
        self._store.add(path, number, part, glance)

    def add_ids(self, run: int, side: str, start: int, ids: Any) -> None:
        """Take in token ids (batch, n) from position `start` on; `side` is "" or "decoder".

        Raises
        ------
        ShapeError
            Where the caller's own tokens are not as many, or for another batch.
        """
        self._store.texts.add(run, side, start, ids)

    def add_prompt(self, run: int, length: int) -> None:
        """Take in how many tokens the text of a run had where generate() went on from it."""
        self._store.texts.add_prompt(run, length)

    def add_axes(
        self, run: int, path: str, queries: tuple[Axis, ...], keys: tuple[Axis, ...]
    ) -> None:
        """Take in what stands along a layer's positions, instead of token ids.

        Parameters
        ----------
        run : int
        path : str
            The layer's.
        queries, keys : tuple of Axis
            From position 0 on, one for each batch entry or for all.
        """
        self._store.texts.record(run, path, queries, keys)

    def ids(self, run: int, side: str) -> IntArray | None:
        """Return the token ids (batch, n) of a run from position 0 on; None: none are known."""
        return self._store.texts.ids(run, side)

    @property
    def about(self) -> dict[str, str]:
        """Where it comes from."""
        return dict(self._store.about)

    @property
    def title(self) -> str:
        """What was watched, in a few words."""
        return self._store.titled()

    @property
    def runs(self) -> int:
        """How many runs there are: forwards, and calls of generate."""
        return len(self._numbers)

    def run(self, run: int) -> "Watched":
        """Return one run alone, to be read in the same ways.

        Raises
        ------
        OptionError
            Where there is no such run.
        """
        numbers = self._numbers
        if not numbers:
            raise OptionError(
                "run", "must be one that was watched; none was yet. Call the model in the with "
                "block."
            )  # fmt: skip
        wanted = whole(run, "run", "a whole number, which run")
        if wanted not in numbers:
            raise OptionError(
                "run", f"must {within(numbers[0], numbers[-1])}; got {wanted}. Runs count from 0."
            )
        one = object.__new__(Watched)
        one._store, one._only = self._store, wanted
        return one

    @property
    def layers(self) -> tuple[LayerSeen, ...]:
        """The layers of the first run: of each part together, in the order of their calls."""
        numbers = self._numbers
        return self._layers(numbers[0]) if numbers else ()

    def __getitem__(self, layer: int | str | tuple[str, int]) -> LayerSeen:
        """Return a layer of the first run, by its number, path or label, or (part, number)."""
        layers, wanted = self.layers, _layer_named(layer)
        found = [one for one in layers if wanted in _names(one)]
        if len(found) == 1:
            return found[0]
        if found:
            raise OptionError(
                "layer", f"must be one layer; {len(found)} are called {listed(str(layer))}. Choose "
                f"one of {_choices(found)}."
            )  # fmt: skip
        there = ", ".join(listed(one.label) for one in layers[:_LISTED]) or "none"
        more = f" and {len(layers) - _LISTED} more" if len(layers) > _LISTED else ""
        raise OptionError(
            "layer", f"must be one that was seen, of {there}{more}; got {listed(str(layer))}. "
            "Write its number, its path, or (part, number)."
        )  # fmt: skip

    def __iter__(self) -> Iterator[LayerSeen]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def tokens(self, batch: int = 0) -> tuple[str, ...] | None:
        """Return the texts that the first layer's rows stand at; None where none is known."""
        return self.layers[0].tokens(batch) if self.layers else None

    def summary(self) -> Listing[HeadSummary]:
        """Return one record for each head, over all runs and batch entries.

        Returns
        -------
        Listing of HeadSummary
            Prints as a table; ``seen.summary().by("first")`` puts the heads first that read the
            first token most.
        """
        return summarise(self._said(), self._tabled())

    def rank_heads(
        self,
        row: int | str | None = None,
        *,
        producing: int | str | None = None,
        reads: int | str | None = None,
        part: str | None = None,
        batch: int = 0,
    ) -> Listing[HeadAtRow] | Listing[HeadReading]:
        """Return the heads of the first run, the one that reads a key most strongly first.

        Parameters
        ----------
        row : int or str, optional
            Of the row at this token position: by the weight of the key that it reads most. A text
            stands for the one token that is shown so, as in all three.
        producing : int or str, optional
            The same of the row that produced the token at this position.
        reads : int or str, optional
            By the weight that the key at this position gets: in that row, as far as it is among the
            top keys there; without a row its mean over all rows that see it by rules (causal, a
            window). Rows from which a mask over single pairs hides it count, too.
        part : str, optional
            Which stack; needed where there are several.
        batch : int, default 0
            Which batch entry.

        Raises
        ------
        OptionError
            Where there is no such row, key, part or batch entry, or it was not looked at.
        """
        layers = self._part(part)
        if row is None and producing is None:
            if reads is None:
                raise OptionError(
                    "row", "must be given, or producing=, or reads=. Write rank_heads(12), "
                    "rank_heads(producing=13) or rank_heads(reads=0)."
                )  # fmt: skip
            return rank_reading(layers, reads, batch)
        name, token = one_of(row=row, producing=producing)
        return rank_at_row(layers, name, token, reads, batch)

    def rank_tokens(
        self,
        layer: int | str | tuple[str, int] | None = None,
        head: int | None = None,
        *,
        part: str | None = None,
        batch: int = 0,
    ) -> Listing[TokenReceived]:
        """Return the tokens of the first run by the attention that they received, most first.

        Parameters
        ----------
        layer : int, str or (part, number), optional
            As for ``seen[layer]``; all layers together where left out.
        head : int, optional
            Its number; all heads together where left out.
        part : str, optional
            Which stack; needed where there are several and `layer` is left out.
        batch : int, default 0
            Which batch entry.

        Raises
        ------
        OptionError
            Where there is no such layer, head, part or batch entry, or `received` was not looked
            at.
        """
        layers = self._part(part) if layer is None else (self[layer],)
        return rank_received(layers, head, batch)

    def capture(self, run: int | None = None) -> Capture:
        """Return what ``keep=True`` kept of a run as a capture: its grids, traces and maps.

        The rows of all steps stand together, over the keys of all positions.

        Parameters
        ----------
        run : int, optional
            Which run; the first where left out.

        Raises
        ------
        OptionError
            Where nothing was kept, or the steps do not make one lookup.
        """
        if run is None:
            run = self._numbers[0] if self._numbers else 0
        self.run(run)  # refuses one that is not there
        return join_run(self._store, int(run))

    def __repr__(self) -> str:
        layers = self.layers
        shown = [*layers[:_LISTED]]
        lines = [
            f"  {listed(one.label)}: {counted(len(one.heads), 'head')}, "
            f"{counted(len(one.queries), 'row')}{one.after_prompt}, "
            f"{counted(len(one.keys), 'key')}; "
            f"{', '.join(one.asked)}"
            for one in shown
        ]
        if "without" in self._store.about:
            lines.append(f"  without {listed(self._store.about['without'], _WIDE)}")
        more = len(layers) - len(shown)
        return "\n".join(
            [self._said(), *lines, *([f"  and {counted(more, 'more layer')}"] if more > 0 else [])]
        )

    def _repr_html_(self) -> str:
        """Return a table of all heads for a notebook: no script, every text escaped."""
        return self.summary()._repr_html_()

    def _said(self) -> str:
        runs = counted(self.runs, "run") if self._only is None else f"run {self._only}"
        return f"{listed(self.title)}: {runs}, {counted(len(self.layers), 'layer')}"

    def _part(self, part: str | None) -> tuple[LayerSeen, ...]:
        """Return the layers of one part of the first run.

        Raises
        ------
        OptionError
            Where there is no such part, or several and none was chosen.
        """
        layers = self.layers
        parts = list(dict.fromkeys(one.part for one in layers))
        if part is None and len(parts) <= 1:
            return layers
        if part not in parts and len(parts) <= 1:
            raise OptionError(
                "part", f"must be left out: all layers are of one part; got {part!r}. It chooses "
                "where there are several."
            )  # fmt: skip
        if part not in parts:
            names = ", ".join(repr(listed(name)) for name in parts) or "none"
            raise OptionError("part", f"must be one of {names}; got {part!r}. Write part=...")
        return tuple(one for one in layers if one.part == part)

    def _tabled(self) -> tuple[LayerSeen, ...]:
        return tuple(layer for run in self._numbers for layer in self._layers(run))

    @property
    def _numbers(self) -> tuple[int, ...]:
        return self._store.runs if self._only is None else (self._only,)

    def _layers(self, run: int) -> tuple[LayerSeen, ...]:
        return tuple(LayerSeen(self._store, calls) for calls in self._store.layers(run))


def _layer_named(given: Any) -> int | str | tuple[str, int]:
    """Return what a layer is asked for by.

    Raises
    ------
    DtypeError
        Where it is nothing that a layer may be called.
    """
    if isinstance(given, str):
        return given
    kinds = "a layer's number, its path or label, or (part, number)"
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
        return given[0], whole(given[1], "layer", kinds)
    return whole(given, "layer", kinds)


def _choices(found: Sequence[LayerSeen]) -> str:
    """Return what tells layers apart: their parts, or paths where a module was called again."""
    kinds = [(one.part, one.number) for one in found]
    if len(set(kinds)) < len(kinds):
        return ", ".join(repr(listed(one.path)) for one in found[:_LISTED])
    return f"{', '.join(map(repr, kinds[:_LISTED]))}, or a path"


def _names(layer: LayerSeen) -> tuple[Any, ...]:
    """Return what a layer may be called."""
    return layer.number, layer.path, layer.label, (layer.part, layer.number)
