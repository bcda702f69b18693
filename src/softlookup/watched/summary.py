"""Summary of all heads, and rankings of heads and of tokens."""

from collections.abc import Sequence
from functools import reduce
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array
from softlookup.errors import OptionError
from softlookup.tokens import listed
from softlookup.watched import measures
from softlookup.watched.choosing import check_batch, position_of, span
from softlookup.watched.layer import LayerSeen
from softlookup.watched.listing import Listing

_SUMMARY = MappingProxyType({
    "entropy": "mean over the rows, in nats: 0 where one key gets everything",
    "first": "mean weight on the first token",
    "previous": "mean weight on the token one before the query",
    "induction": "mean weight on tokens after earlier occurrences of the row's own",
    "duplicate": "mean weight on those occurrences",
    "sink": "mean share of the learned sink",
    "key": "position of the key that received most",
    "token": "its text",
    "share": "its mean weight over the rows that may see it",
})  # fmt: skip
_AT_ROW = MappingProxyType({
    "key": "position of the key", "token": "its text", "weight": "what the row gives it, of 1",
})  # fmt: skip
_READING = MappingProxyType({"share": "mean weight over the rows that may see the key"})
_RECEIVED = MappingProxyType({
    "received": "weights summed over rows and heads", "share": "part of all that was received",
})  # fmt: skip
_DIFFERENT = "token is empty where the texts differ"


class HeadSummary(NamedTuple):
    """One head over all rows that are no padding; None is what was not looked at.

    Attributes
    ----------
    part, layer, head
        Which head.
    entropy : float
        Mean over the rows, in nats.
    first : float
        Mean weight on the first token that is no padding, over the rows that see several keys:
        one visible key leaves no choice.
    previous : float
        Mean weight on the token before the row's own, over those of the same rows that see it;
        both are exact, and the page's.
    induction, duplicate : float
        Mean weight on the tokens after earlier occurrences of the row's own token, and on those
        occurrences, over the rows that see any; where ``repeats=True`` asked for them.
    sink : float
        Mean share of the learned sink.
    key : int
        The token position that received most.
    token : str
        Its text, where all texts have the same there.
    share : float
        Its mean weight over the rows that may see it.
    """

    part: str
    layer: int
    head: int
    entropy: float | None
    first: float | None
    previous: float | None
    induction: float | None
    duplicate: float | None
    sink: float | None
    key: int | None
    token: str
    share: float | None


class HeadAtRow(NamedTuple):
    """What one head reads most in one row."""

    part: str
    layer: int
    head: int
    key: int
    token: str
    weight: float


class HeadReading(NamedTuple):
    """How much one head reads one key: its mean weight over the rows that may see it."""

    part: str
    layer: int
    head: int
    share: float


class TokenReceived(NamedTuple):
    """What one token received: weights summed over rows and heads; `share` is of all of it."""

    position: int
    token: str
    received: float
    share: float


def summarise(title: str, layers: Sequence[LayerSeen]) -> Listing[HeadSummary]:
    """Return one record for each head, over all runs and batch entries."""
    alike: dict[str, list[LayerSeen]] = {}
    for layer in layers:
        alike.setdefault(layer.path, []).append(layer)
    records = [record for runs in alike.values() for record in _of_layer(runs)]
    entries = max((len(layer.counted) for layer in layers), default=1)
    known = any(layer.key_tokens() is not None for layer in layers)
    different = known and any(one.key is not None and not one.token for one in records)
    return Listing(
        f"{title}, {entries} texts together" if entries > 1 else title,
        records,
        _SUMMARY,
        _DIFFERENT if different else "",
    )


def _of_layer(runs: Sequence[LayerSeen]) -> list[HeadSummary]:
    """Return a record for each head of one layer over several runs."""
    one, asked = runs[0], runs[0].asked
    entropy, sink = (
        [
            measures.mean_over_rows(getattr(run, name), measures.live_rows(run))
            for run in runs
            if name in asked
        ]
        for name in ("entropy", "sink")
    )
    shares = {
        name: _mean([share(run) for run in runs])
        for name, share in (
            ("first", measures.first_share),
            ("previous", measures.previous_share),
            ("induction", measures.induction_share),
            ("duplicate", measures.duplicate_share),
        )
    }
    means = {"entropy": _mean(entropy), **shares, "sink": _mean(sink)}
    keys, received = _strongest(runs) if "received" in asked else (None, None)
    return [
        HeadSummary(
            one.part,
            one.number,
            head,
            **{name: _at(mean, place) for name, mean in means.items()},
            key=None if keys is None else int(keys[place]),
            token="" if keys is None else _shared_text(runs, int(keys[place])),
            share=_at(received, place),
        )
        for place, head in enumerate(one.heads)
    ]


def _at(fact: Array | None, place: int) -> float | None:
    return None if fact is None else float(fact[place])


def _mean(parts: Sequence[measures.Mean | None]) -> Array | None:
    """Return the mean over all parts; None where there is none, or one does not know."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return reduce(measures.Mean.and_, known).value


def _strongest(runs: Sequence[LayerSeen]) -> tuple[Array, Array]:
    """Return for each head the position that received most, padding left out, and its share."""
    last = max(int(run.keys.max(initial=-1)) for run in runs) + 1
    got, might = np.zeros((2, len(runs[0].heads), max(last, 1)))
    for run in runs:
        shown = ~run.key_padding[:, None]
        got[:, run.keys] += (run.received * shown).sum(axis=0)
        might[:, run.keys] += (measures.readers(run, run.keys) * shown).sum(axis=0)
    keys = np.argmax(got, axis=1)
    each = np.arange(len(keys))
    return keys, measures.Mean(got[each, keys], might[each, keys]).value


def _shared_text(runs: Sequence[LayerSeen], position: int) -> str:
    """Return the text at a position where all texts have the same there."""
    texts = {_text_at(run, batch, position) for run in runs for batch in range(len(run.counted))}
    return texts.pop() if len(texts) == 1 else ""


def _text_at(layer: LayerSeen, batch: int, position: int) -> str:
    texts = layer.key_tokens(batch)
    at = position - int(layer.keys[0]) if len(layer.keys) else -1
    return "" if texts is None or not 0 <= at < len(texts) else texts[at]


def rank_at_row(
    layers: Sequence[LayerSeen], argument: str, row: int | str, key: int | str | None, batch: int
) -> Listing[HeadAtRow]:
    """Return the heads by the weight of the key that they read most in one row, or of `key`.

    Parameters
    ----------
    argument, row : str, int or str
        As for `LayerSeen.row_named`.
    """
    records, said, found = [], "", key is None
    for layer in layers:
        seen = layer.row_named(argument, row, batch)
        _check_real(layer, seen.position, argument, batch)
        said = f"in row {seen.position}{quoted(seen.token(batch))}"
        keys, weights = (part[batch] for part in seen.top)  # (heads, top)
        chosen = np.zeros(keys.shape, bool)
        chosen[:, 0] = keys[:, 0] >= 0
        if key is not None:
            wanted = _key_of(layer, key, batch)
            chosen, found = keys == wanted, found or wanted in layer.keys
            said = f"on key {wanted}{quoted(_text_at(layer, batch, wanted))} {said}"
        for place, k in np.argwhere(chosen).tolist():
            at, text = int(keys[place, k]), _text_at(layer, batch, int(keys[place, k]))
            weight, head = float(weights[place, k]), layer.heads[place]
            records.append(HeadAtRow(layer.part, layer.number, head, at, text, weight))
    if not found and layers:
        raise _no_key(layers[0], key)
    records.sort(key=lambda one: -one.weight)
    which = "largest weight" if key is None else "weight"
    return Listing(f"heads by their {which} {said}{_entry(layers, batch)}", records, _AT_ROW)


def _check_real(layer: LayerSeen, position: int, argument: str, batch: int) -> None:
    """Refuse a row at padding: what it reads says nothing."""
    if layer.padding[batch][layer.queries == position].any():
        raise OptionError(
            argument, f"must be a token of the text; position {position} of batch entry {batch} is "
            "padding. layer.row() shows what it reads."
        )  # fmt: skip


def _key_of(layer: LayerSeen, key: int | str, batch: int) -> int:
    entries = len(layer.counted)
    batch = check_batch(batch, entries)
    return position_of(
        key, layer.keys, layer.key_tokens, batch=batch, entries=entries, argument="reads"
    )


def _no_key(layer: LayerSeen, key: int | str | None) -> OptionError:
    return OptionError(
        "reads", f"must be the token position of a key of {listed(layer.path)}, "
        f"{span(layer.keys)}; got {listed(str(key))}. Positions count from 0."
    )  # fmt: skip


def _entry(layers: Sequence[LayerSeen], batch: int) -> str:
    """Return whose text is meant, where there are several."""
    return f", batch {batch}" if any(len(layer.counted) > 1 for layer in layers) else ""


def rank_reading(layers: Sequence[LayerSeen], key: int | str, batch: int) -> Listing[HeadReading]:
    """Return the heads by how much they read one key."""
    records, said = [], ""
    for layer in layers:
        wanted = _key_of(layer, key, batch)
        at = np.flatnonzero(layer.keys == wanted)
        if not len(at):
            raise _no_key(layer, key)
        said = f"key {wanted}{quoted(_text_at(layer, batch, wanted))}"
        rows = measures.readers(layer, layer.keys[at])[batch, :, 0]
        got = layer.received[batch, :, at[0]]
        records += [
            HeadReading(layer.part, layer.number, head, float(got[i]) / max(int(rows[i]), 1))
            for i, head in enumerate(layer.heads)
        ]
    records.sort(key=lambda one: -one.share)
    title = f"heads by their mean weight on {said}{_entry(layers, batch)}"
    return Listing(title, records, _READING)


def quoted(text: str | None) -> str:
    """Return a text as it follows a position in a title; nothing where none is known."""
    return f" {listed(text)!r}" if text else ""


def rank_received(
    layers: Sequence[LayerSeen], head: int | None, batch: int
) -> Listing[TokenReceived]:
    """Return the tokens by what they received from some layers together, padding left out."""
    last = max((int(layer.keys.max(initial=-1)) for layer in layers), default=-1) + 1
    got, shown, texts = np.zeros(last), np.zeros(last, bool), [""] * last
    for layer in layers:
        check_batch(batch, len(layer.counted))
        heads = slice(None) if head is None else slice(layer.place(head), layer.place(head) + 1)
        got[layer.keys] += layer.received[batch, heads].sum(axis=0, dtype=np.float64)
        shown[layer.keys] |= ~layer.key_padding[batch]
        for position, text in zip(layer.keys.tolist(), layer.key_tokens(batch) or (), strict=False):
            texts[position] = text
    total = float(got[shown].sum()) or 1.0
    order = [int(i) for i in np.argsort(-got, kind="stable") if shown[i]]
    records = [TokenReceived(i, texts[i], float(got[i]), float(got[i]) / total) for i in order]
    title = "tokens by the weight that they received"
    wrote = [int(layer.keys[layer.key_written][0]) for layer in layers if layer.key_written.any()]
    note = f"written by the model from position {min(wrote)} on" if wrote else ""
    return Listing(f"{title}{_entry(layers, batch)}", records, _RECEIVED, note)
