"""Store: every call that was watched, by run and layer, in the order that a reader expects."""

from collections.abc import Mapping
from typing import Any

from softlookup.captures.capture import short_name
from softlookup.errors import OptionError
from softlookup.watched.calls import Calls
from softlookup.watched.glance import Glance
from softlookup.watched.texts import Texts


class Store:
    """All calls of all runs, with what names them.

    Parameters
    ----------
    title : str or None
        What was watched, in a few words; None: the model, and of a run how its text begins.
    about : mapping of str to str
        Where it comes from.
    texts : Texts
        What stands at token positions.
    """

    def __init__(self, title: str | None, about: Mapping[str, str], texts: Texts) -> None:
        self.title, self.about, self.texts = title, dict(about), texts
        self._runs: dict[int, dict[str, Calls]] = {}

    def add(self, path: str, number: int, part: str, glance: Glance) -> None:
        """Take in what one call showed."""
        layers = self._runs.setdefault(glance.run, {})
        if path in layers:
            layers[path].add(glance)
        else:
            layers[path] = Calls(path, number, part, glance)

    def titled(self, run: int | None = None) -> str:
        """Return what was watched, in a few words; of one run with the beginning of its text."""
        if self.title is not None:
            return self.title
        model = short_name(self.about)
        text = "" if run is None else self.texts.beginning(run)
        return f"{model}: {text}" if text else model

    @property
    def runs(self) -> tuple[int, ...]:
        """The numbers of the runs, in order."""
        return tuple(sorted(self._runs))

    def layers(self, run: int) -> list[Calls]:
        """Return the layers of a run, those of each part together, in the order of their calls."""
        there = list(self._runs.get(run, {}).values())
        order = list(dict.fromkeys(calls.part for calls in there))
        return sorted(there, key=lambda calls: order.index(calls.part))


class Reading:
    """What reads a store; it is neither pickled nor copied, or the whole store would go along."""

    def __reduce__(self) -> Any:
        raise OptionError(
            "seen", "cannot be pickled: it may hold a model's tokenizer and its arrays. Write its "
            "tables with to_parquet(), or capture().save() where keep=True kept them."
        )  # fmt: skip
