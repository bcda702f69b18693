"""Session: what a view may ask, and what it is told. Every host carries this and nothing else.

A request is ``(op, args)``, a name and texts; the answer is ``(json, bytes)``, where bytes is None
for every op that there is so far. A refusal is ``{"ok": false, "error": ..., "argument": ...}``.
Numbers that JSON lacks travel as the texts ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``.

Any number of threads may ask at once; one is answered at a time.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from softlookup import lesson
from softlookup.captures import Capture
from softlookup.errors import SoftlookupError, ViewError
from softlookup.lookup import Lookup
from softlookup.reference import steps
from softlookup.tokens import readable
from softlookup.tracing import to_json
from softlookup.viewer import arguments
from softlookup.viewer.arguments import Arguments

EDIT_TOKENS = 12
EDIT_DIMS = 8
LEDGER_KEYS = 12
MOST_KEYS = 256  # columns of one record
MOST_CELLS = 64  # rows, and keys, of one rectangle of weights
CELLS_AT_ONCE = 2**20  # each with ten float64 numbers


Source = Literal["lesson", "file", "lookup"]
Json = dict[str, Any]


class Operation(NamedTuple):
    """One thing a view may ask: how it is answered, and the arguments it takes."""

    answer: Callable[["Session", Arguments], Json]
    arguments: tuple[str, ...] = ()


class Session:
    """Answer the questions of a view on one capture, one after the other.

    Parameters
    ----------
    capture : Capture
        What is shown.
    source : {"lesson", "file", "lookup"}
        Where it came from.
    """

    def __init__(self, capture: Capture, source: Source = "lookup") -> None:
        self.capture = capture
        self.source = source
        self._one_at_a_time = threading.Lock()  # a row of a long context fills memory and cores
        self.title = readable(capture.title)
        self.tokens = tuple(readable(token) for token in capture.tokens)
        self.key_tokens = tuple(readable(token) for token in capture.key_tokens)

    def handle(self, op: str, args: Arguments) -> tuple[Json, bytes | None]:
        """Answer one request; what cannot be answered comes back as a sentence, never raised."""
        try:
            operation = OPERATIONS.get(op)
            if operation is None:
                raise ViewError("op", f"must be one of {', '.join(OPERATIONS)}; got {op[:40]!r}.")
            arguments.check_names(args, operation.arguments, op)
            with self._one_at_a_time:
                return operation.answer(self, args), None
        except SoftlookupError as error:
            return {"ok": False, "error": str(error), "argument": error.argument}, None


def _editable(look: Lookup) -> str | None:
    """Return why the numbers of `look` cannot be edited on the page, or None where they can."""
    problem = look.problem
    if problem.value is None:
        return "There is no value to blend."
    longest = max(problem.q_len, problem.kv_len)
    if longest > EDIT_TOKENS:
        return f"Numbers can be edited up to {EDIT_TOKENS} tokens; here are {longest}."
    widest = max(problem.head_dim, problem.value_dim)
    if widest > EDIT_DIMS:
        return f"Numbers can be edited up to {EDIT_DIMS} dimensions; here are {widest}."
    return None


def _integers(given: Any) -> int | list[int] | None:
    """Return one number where all batch entries share it, else one for each."""
    if given is None:
        return None
    entries = [int(entry) for entry in np.ravel(given)]
    return entries[0] if len(set(entries)) == 1 else entries


def _info(session: Session, _: Arguments) -> Json:
    problem = session.capture.look.problem
    reason = _editable(session.capture.look)
    return {
        "version": version("softlookup"),
        "modes": ["lesson"],
        "title": session.title,
        "source": session.source,
        "batch_shape": list(problem.batch_shape),
        "sizes": {
            "batch": problem.batch,
            "heads": problem.heads,
            "kv_heads": problem.kv_heads,
            "group": problem.group,
            "q_len": problem.q_len,
            "kv_len": problem.kv_len,
            "head_dim": problem.head_dim,
            "value_dim": None if problem.value is None else problem.value_dim,
        },
        "tokens": list(session.tokens),
        "key_tokens": list(session.key_tokens),
        "dtype": str(problem.dtype),
        "options": _options(session.capture.look),
        "editable": reason is None,
        "editable_reason": reason,
        "limits": {
            "edit_tokens": EDIT_TOKENS,
            "edit_dims": EDIT_DIMS,
            "ledger_keys": LEDGER_KEYS,
        },
    }


def _options(look: Lookup) -> Json:
    problem = look.problem
    return {
        "scale": to_json(problem.scale),
        "softcap": to_json(problem.softcap),
        "causal": problem.causal,
        "window": None if problem.window is None else list(problem.window),
        "q_offset": _integers(problem.q_offset),
        "mask": problem.mask is not None,
        "bias": problem.bias is not None,
        "kv_lens": _integers(problem.kv_lens),
        "sinks": problem.sinks is not None,
    }


def _one_head(session: Session, args: Arguments) -> Lookup:
    problem = session.capture.look.problem
    batch = arguments.whole(args, "batch", problem.batch, default=0)
    head = arguments.whole(args, "head", problem.heads, default=0)
    return session.capture.head(head, batch)


def _arrays(session: Session, args: Arguments) -> Json:
    reason = _editable(session.capture.look)
    if reason is not None:
        raise ViewError("arrays", f"go to the page only where they can be edited. {reason}")
    look = _one_head(session, args)
    problem = look.problem
    traced = look.trace()
    return {
        "query": to_json(traced.query.astype(np.float64)),
        "key": to_json(traced.key.astype(np.float64)),
        "value": None if traced.value is None else to_json(traced.value.astype(np.float64)),
        "visible": to_json(traced.visible),
        "bias": to_json(traced.bias),
        "sink": None if traced.sinks is None else to_json(traced.sinks.astype(np.float64)[0]),
        "scale": to_json(problem.scale),
        "softcap": to_json(problem.softcap),
        "q_offset": _integers(problem.q_offset),
    }


def _trace(session: Session, args: Arguments) -> Json:
    look = _one_head(session, args)
    row = arguments.whole(args, "row", look.problem.q_len, default=None)
    top = arguments.whole(args, "top", MOST_KEYS + 1, default=LEDGER_KEYS, low=1)
    traced = look.trace(rows=[row], tokens=session.tokens, key_tokens=session.key_tokens)
    return traced.record(0, top=top)


def _weights(session: Session, args: Arguments) -> Json:
    look = _one_head(session, args)
    rows = arguments.wholes(args, "rows", look.problem.q_len, MOST_CELLS)
    keys = arguments.wholes(args, "keys", look.problem.kv_len, MOST_CELLS)
    bare = replace(look.problem, value=None)  # no output is asked for
    at_once = max(1, CELLS_AT_ONCE // max(bare.kv_len, 1))
    weights, visible = [], []
    for start in range(0, len(rows), at_once):
        some = steps(bare, np.array(rows[start : start + at_once]))
        weights += to_json(some.weights[0, 0][:, keys])
        visible += to_json(some.visible[0, 0][:, keys])
    return {"weights": weights, "visible": visible}


def _lesson(_: Session, __: Arguments) -> Json:
    return {
        "sections": [section.to_dict() for section in lesson.sections()],
        "recap": list(lesson.recap()),
        "checklist": [point.to_dict() for point in lesson.checklist()],
    }


def _exercise(_: Session, args: Arguments) -> Json:
    skill = arguments.word(args, "skill", lesson.SKILLS)
    seed = arguments.whole(args, "seed", lesson.LARGEST_SEED + 1, default=None)
    return lesson.exercise(skill, seed).to_dict()


def _check(_: Session, args: Arguments) -> Json:
    skill = arguments.word(args, "skill", lesson.SKILLS)
    seed = arguments.whole(args, "seed", lesson.LARGEST_SEED + 1, default=None)
    return lesson.check(skill, seed, arguments.answer(args, "answer")).to_dict()


OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        "info": Operation(_info),
        "arrays": Operation(_arrays, ("batch", "head")),
        "trace": Operation(_trace, ("batch", "head", "row", "top")),
        "weights": Operation(_weights, ("batch", "head", "rows", "keys")),
        "lesson": Operation(_lesson),
        "exercise": Operation(_exercise, ("skill", "seed")),
        "check": Operation(_check, ("skill", "seed", "answer")),
    }
)
