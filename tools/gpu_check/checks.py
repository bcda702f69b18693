"""Every kernel on fresh random inputs beside the exact lookup, float64 on the same device."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

import softlookup as sl
from gpu_check import exact, lookups
from gpu_check.poison import poisoned
from gpu_check.session import Session
from softlookup.backends import registry
from softlookup.integrations.torch import attend_with_lse

Tensor = Any
FACTS = lookups.named(
    "all options", "one query", "causal", "window, causal, sinks", "float32", "mask",
    "mask and bias, 128 dims, many tiles",
)  # fmt: skip
WEIGHTS = lookups.named(
    "causal", "all options", "one query", "mask", "mask and bias, 128 dims, many tiles"
)
MAPS = lookups.named("causal", "all options", "mask", "mask and bias, 128 dims, many tiles")
SLOPES = lookups.named(
    "causal", "full", "softcap", "sinks", "all options", "bias that hides", "float32",
    "causal, 128 dims, heads 8 over 2", "80 dims, values of 48",
    "mask and bias, 128 dims, many tiles",
)  # fmt: skip
ROW_FACTS = {"entropy": True, "max_score": True}


def forward(session: Session, backend: str, cases: tuple[lookups.Case, ...]) -> None:
    """Check the answer, without facts and with: bit for bit the same."""
    may_refuse = backend != "cuda"
    for case in cases:
        made = case.make(session)
        look = sl.Lookup(*made[:3], **made.options, backend=backend)
        out = session.attempt(case.name, poisoned_call, look.attend, may_refuse=may_refuse)
        if out is None:
            continue
        found, naive, _ = expected(session, made)
        if found is not None:
            session.compare(f"{case.name}: out", out, found.out, allowed(made, found, naive))
        asked = {**ROW_FACTS, "top": session.top} if backend != "cuda-torch" else {}
        asked["may_refuse"] = may_refuse
        seen = session.attempt(f"{case.name}: facts", poisoned_call, look.inspect, **asked)
        if seen is not None:
            session.same(f"{case.name}: out with facts", seen.out, out)
            rows(session, case.name, seen, made)


def allowed(made: lookups.Made, found: exact.Exact, naive: exact.Exact) -> Tensor | float:
    """Return what an answer may be off, in 16 bits row by row."""
    size = exact.loudest(found)
    return exact.budgets(made.query.dtype, found.out, naive.out, size, exact.ROW)


def rows(session: Session, name: str, seen: Any, made: lookups.Made) -> None:
    """Compare the facts of rows that come with the answer."""
    found, _, narrow = expected(session, made)
    if found is None:
        return
    size, kv_heads = exact.loudest(found), made.key.shape[1]
    session.compare(f"{name}: lse", seen.lse, found.lse,
                    exact.budget(found.lse, narrow.lse, exact.COARSE, size))  # fmt: skip
    if seen.entropy is None and seen.backend == "cuda-torch":  # it has no facts
        return
    wanted = exact.facts(found, kv_heads, made.options, ROW_FACTS)
    near = exact.facts(narrow, kv_heads, made.options, ROW_FACTS)
    for fact, whole in wanted.items():
        session.compare(f"{name}: {fact}", getattr(seen, fact), whole,
                        exact.budget(whole, near[fact], exact.COARSE, size))  # fmt: skip
    top_keys(session, name, seen.top, found, size)


def top_keys(
    session: Session, name: str, top: Any, found: exact.Exact, size: float, *, most: int = 0
) -> None:
    """Compare the best keys with torch.topk of the scores; indices wherever the gaps decide."""
    if top is None:
        session.holds(f"{name}: top", False, "it is not there")
        return
    close = 4 * exact.COARSE * size  # scores are sums in float32, whatever the dtype
    count = min(most or session.top, found.scores.shape[-1])
    best = found.scores.topk(min(count + 1, found.scores.shape[-1]), dim=-1)
    there = torch.isfinite(best.values[..., :count])
    keys = top.keys[..., :count]
    session.holds(f"{name}: top, how many", torch.equal(keys >= 0, there), "keys are missing")
    at = keys.clamp(min=0)
    scores = found.scores.gather(-1, at).masked_fill(~there, 0)
    session.compare(f"{name}: top, scores", scores,
                    best.values[..., :count].masked_fill(~there, 0), close)  # fmt: skip
    distinct = torch.where(there, at, -1 - torch.arange(count, device=at.device)).sort(-1).values
    session.holds(f"{name}: top, each key once", bool((distinct.diff(dim=-1) != 0).all()),
                  "a key stands twice")  # fmt: skip
    ends = torch.nn.functional.pad(best.values, (1, 1), value=torch.nan)
    alone = ~((ends.diff(dim=-1).abs() <= close) | ends.diff(dim=-1).isnan())
    decided = there.clone()
    decided[..., 1:] &= alone[..., 1:count]
    decided &= alone[..., 1 : count + 1] | ends[..., 2 : count + 2].isnan()
    wrong = decided & (keys != best.indices[..., :count])
    session.holds(f"{name}: top, positions", not bool(wrong.any()),
                  f"{int(wrong.sum())} of {int(decided.sum())} differ")  # fmt: skip
    weights = found.weights.gather(-1, at).masked_fill(~there, 0)
    weights = torch.where(found.weights.isnan().any(-1, keepdim=True), torch.nan, weights)
    session.compare(f"{name}: top, weights", top.weights[..., :count], weights,
                    2 * exact.COARSE * size)  # fmt: skip


def facts(session: Session) -> None:
    """Check all facts at once, `received` of chosen rows, ties, and the same bits twice."""
    for case in lookups.chosen(session, FACTS[: 2 if session.dry else None]):
        made = case.make(session)
        look = sl.Lookup(*made[:3], **made.options, backend="cuda")
        asked = facts_asked(session, made)
        seen = session.attempt(case.name, poisoned_call, look.inspect, **asked)
        if seen is None:
            continue
        again = look.inspect(received=True, from_rows=asked["from_rows"])
        every = look.inspect(received=True)
        even = look.inspect(received=True, from_rows=asked["from_rows"], normalised=True)
        session.same(f"{case.name}: received, asked for alone", again.received, seen.received)
        found, _, narrow = expected(session, made)
        if found is None:
            continue
        kv_heads, size = made.key.shape[1], exact.loudest(found)
        near = exact.facts(narrow, kv_heads, made.options, asked)
        readers = exact.readers(found, kv_heads, asked["from_rows"])
        for fact, whole in exact.facts(found, kv_heads, made.options, asked).items():
            actual = getattr(seen, fact)
            budget = exact.budget(whole, near[fact], exact.COARSE, size)
            if fact in readers:  # counts are exact, so that their product is the sum again
                again = getattr(even, fact) * readers[fact]
                session.compare(f"{case.name}: {fact}, normalised", again, whole, budget)
            if fact == "distance":  # bins that no pair falls into are there, too
                session.holds(f"{case.name}: empty bins", not bool(actual[..., whole.shape[-1] :]
                              .any()), "a bin beyond the last distance holds weight")  # fmt: skip
                actual = actual[..., : whole.shape[-1]]
            session.compare(f"{case.name}: {fact}", actual, whole, budget)
        top_keys(session, case.name, seen.top, found, size)
        sums, near_sums = found.weights.sum(-2), narrow.weights.sum(-2)
        session.compare(f"{case.name}: received of every row", every.received, sums,
                        exact.budget(sums, near_sums, exact.COARSE, size))  # fmt: skip
    _ties(session)
    _many_keys(session)


def _ties(session: Session) -> None:
    made = lookups.CASES[0].make(session)
    length = 40 if session.dry else 300
    query, key = made.query[..., :length, :], torch.zeros_like(made.key[..., :length, :])
    look = sl.Lookup(query, key, backend="cuda")
    seen = session.attempt("ties", poisoned_call, look.inspect, top=session.top)
    if seen is not None and seen.top is not None:
        first = torch.arange(session.top, device=seen.top.keys.device).expand_as(seen.top.keys)
        lower = torch.equal(seen.top.keys, first)
        session.holds("ties: the lower position", lower, "it is another")


def _many_keys(session: Session) -> None:
    """Check more top keys than one tile's best can hold."""
    made, name, most = lookups.named("causal")[0].make(session), "many top keys", 70
    look = sl.Lookup(*made[:3], **made.options, backend="cuda")
    seen = session.attempt(name, poisoned_call, look.inspect, top=most)
    found, _, _ = expected(session, made)
    if seen is not None and found is not None:
        top_keys(session, name, seen.top, found, exact.loudest(found), most=most)


def facts_asked(session: Session, made: lookups.Made) -> dict[str, Any]:
    """Return the facts to ask of a lookup, every one that it has."""
    q_len, kv_len = made.query.shape[-2], made.key.shape[-2]
    labels = torch.arange(kv_len) * 5 // kv_len
    asked = {"entropy": True, "max_score": True, "top": session.top, "received": True,
             "groups": labels, "from_rows": slice(q_len // 3, None)}  # fmt: skip
    if q_len == kv_len or "q_offset" in made.options:
        asked["distance"] = True
    if "sinks" in made.options:
        asked["sink"] = True
    return asked


def weights(session: Session) -> None:
    """Check a rectangle of the weights, of chosen rows and keys."""
    for case in lookups.chosen(session, WEIGHTS):
        made = case.make(session)
        q_len, kv_len = made.query.shape[-2], made.key.shape[-2]
        chosen = list(range(0, q_len, 3)), slice(kv_len // 4, kv_len - 1)
        look = sl.Lookup(*made[:3], **made.options, backend="cuda")
        part = session.attempt(case.name, poisoned_call, look.weights, *chosen)
        found, _, narrow = expected(session, made)
        if part is not None and found is not None:
            whole, near = (x.weights[:, :, chosen[0]][..., chosen[1]] for x in (found, narrow))
            budget = exact.budget(whole, near, exact.COARSE, exact.loudest(found))
            session.compare(case.name, part, whole, budget)


def maps(session: Session) -> None:
    """Check the pooled levels of one head, and its single weights."""
    for case in lookups.chosen(session, MAPS):
        made = case.make(session)
        look = sl.Lookup(*made[:3], **made.options, backend="cuda").head(1, batch=0)
        built = session.attempt(case.name, poisoned_call, look.map)
        found, _, narrow = expected(session, made)
        if built is None or found is None:
            continue
        size = exact.loudest(found)
        for level, pool in ((5, "max"), (5, "share"), (3, "max"), (3, "share"), (0, "max")):
            whole, near = (_pooled(x.weights[0, 1], 2**level, pool) for x in (found, narrow))
            budget = exact.budget(whole, near, exact.COARSE, size)
            cells = torch.as_tensor(getattr(built.level(level), pool))
            session.compare(f"{case.name}: level {level}, {pool}", cells, whole.cpu(), budget)


def _pooled(weights: Tensor, size: int, pool: str) -> Tensor:
    """Return the largest weight of each cell, or its sum along the keys, averaged over queries."""
    rows, columns = (range(0, length, size) for length in weights.shape)
    cells = [[weights[i : i + size, j : j + size] for j in columns] for i in rows]
    of = {"max": lambda cell: cell.amax(), "share": lambda cell: cell.sum(-1).mean()}[pool]
    if size == 1:
        return weights
    return torch.stack([torch.stack([of(cell) for cell in line]) for line in cells])


def far(session: Session) -> None:
    """Check keys whose addresses lie more than 2**31 numbers apart."""
    shape = (1, 2, 70, 32) if session.dry else (4, 64, 131_072, 128)
    if not session.dry and torch.cuda.get_device_properties(0).total_memory < 60 * 2**30:
        session.refuse("far", "the card has less than 60 GiB.")
        return
    batch, heads, _, dim = shape
    key, value = (torch.empty(shape, dtype=session.dtype, device=session.device)
                  .normal_(generator=session.generator) for _ in range(2))  # fmt: skip
    query = session.draw(batch, heads, 16, dim)
    look = sl.Lookup(query, key, value, backend="cuda")
    asked = {**ROW_FACTS, "top": session.top, "received": True}
    seen = session.attempt("far", poisoned_call, look.inspect, **asked)
    if seen is None or session.warming:
        return
    for at in ((0, 0), (batch - 1, heads - 1)):
        part = lookups.Made(*(x[at][None, None] for x in (query, key, value)), {})
        one = seen.out[at], seen.lse[at], type(seen.top)(*(x[at][None, None] for x in seen.top))
        found = _few(session, f"head {at}", part, one)
        sums, size = found.weights[0, 0].sum(0), exact.loudest(found)
        session.compare(f"head {at}: received", seen.received[at], sums, exact.COARSE * size)


def _few(
    session: Session, name: str, part: lookups.Made, seen: tuple[Tensor, Tensor, Any]
) -> exact.Exact:
    """Compare out, lse and top of some rows of a head with the exact lookup of them alone."""
    out, lse, top = seen
    found, naive, narrow = expected(session, part)
    size = exact.loudest(found)
    session.compare(f"{name}: out", out[None, None], found.out, allowed(part, found, naive))
    session.compare(f"{name}: lse", lse[None, None], found.lse,
                    exact.budget(found.lse, narrow.lse, exact.COARSE, size))  # fmt: skip
    top_keys(session, name, top, found, size)
    return found


def strips(session: Session) -> None:
    """Check a head of so many rows that its top keys are found strip by strip."""
    rows, keys = (70, 90) if session.dry else (20_000, 131_072)
    query, key, value = (session.draw(1, 1, length, 32 if session.dry else 128)
                         for length in (rows, keys, keys))  # fmt: skip
    look = sl.Lookup(query, key, value, backend="cuda")
    seen = session.attempt("strips", poisoned_call, look.inspect, top=session.top)
    if seen is None or session.warming:
        return
    for some in (slice(0, 40), slice(rows - 40, rows)):
        part = lookups.Made(query[:, :, some], key, value, {})
        top = type(seen.top)(*(x[:, :, some] for x in seen.top))
        name = f"strips, from row {some.start}"
        _few(session, name, part, (seen.out[0, 0, some], seen.lse[0, 0, some], top))


def backward(session: Session, backend: str, cases: tuple[lookups.Case, ...] = SLOPES) -> None:
    """Check the gradients of every input; of `cuda` with the lse's, and the same bits twice."""
    for case in lookups.chosen(session, cases):
        made, own = case.make(session), backend == "cuda"
        shape = made.query.shape[:-1]
        grads = [session.draw(*shape, made.value.shape[-1], dtype=made.query.dtype)]
        if own:
            grads.append(session.draw(*shape, dtype=torch.float32))
        found = session.attempt(case.name, _gradients, made, grads, backend, may_refuse=not own)
        if found is None or session.warming:
            continue
        again = _gradients(made, grads, backend)
        right = slopes_allowed(made, grads)
        for (name, gradient), (_, second) in zip(found, again, strict=True):
            if own:
                session.same(f"{case.name}: d {name} twice", second, gradient)
            session.compare(f"{case.name}: d {name}", gradient, *right[name])


def slopes_allowed(
    made: lookups.Made, grads: list[Tensor]
) -> dict[str, tuple[Tensor, Tensor | float]]:
    """Return the gradients, and what each may be off, in 16 bits head by head.

    Not row by row: of a row that sees one key alone nearly nothing comes back, but its rounding.
    """
    dtype = made.query.dtype
    whole, naive = (dict(_slopes(made, grads, each)) for each in (torch.float64, dtype))
    loud = exact.loudest(exact.lookup(*made, torch.float64))
    return {
        name: (x, exact.budgets(dtype, x, naive[name], loud + exact.largest(x), exact.HEAD))
        for name, x in whole.items()
    }


def _inputs(made: lookups.Made, dtype: Any = None) -> dict[str, Tensor]:
    """Return fresh leaves for what has a gradient, which has the leaf's dtype."""
    given = {"query": made.query, "key": made.key, "value": made.value}
    given |= {name: made.options[name] for name in ("bias", "sinks") if name in made.options}
    return {
        name: x.detach().clone().to(dtype or x.dtype).requires_grad_() for name, x in given.items()
    }


def _gradients(made: lookups.Made, grads: list[Tensor], backend: str) -> list[tuple[str, Tensor]]:
    leaves = _inputs(made)
    options = made.options | {name: leaves[name] for name in leaves if name in made.options}
    with poisoned():
        given = leaves["query"], leaves["key"], leaves["value"]
        found = attend_with_lse(*given, **options, backend=backend)[: len(grads)]
        torch.autograd.backward(found, _finite(found, grads))
    return [(name, leaf.grad) for name, leaf in leaves.items()]


def _slopes(made: lookups.Made, grads: list[Tensor], dtype: Any) -> Iterator[tuple[str, Tensor]]:
    leaves = _inputs(made, dtype)
    options = made.options | {name: leaves[name] for name in leaves if name in made.options}
    exactly = exact.lookup(leaves["query"], leaves["key"], leaves["value"], options, dtype)
    found = (exactly.out, exactly.lse)[: len(grads)]
    slopes = torch.autograd.grad(found, list(leaves.values()), _finite(found, grads))
    yield from zip(leaves, slopes, strict=True)


def _finite(found: Sequence[Tensor], grads: Sequence[Tensor]) -> list[Tensor]:
    """Return the gradients in the dtypes of what was found, 0 where a row sees nothing."""
    return [
        torch.where(torch.isfinite(x), grad.to(x.dtype), 0)
        for x, grad in zip(found, grads, strict=True)
    ]


def expected(
    session: Session, made: lookups.Made
) -> tuple[exact.Exact, exact.Exact, exact.Exact] | tuple[None, None, None]:
    """Return the lookup in float64, in its own dtype, and in float32; nothing while warming up."""
    if session.warming:
        return None, None, None
    with torch.no_grad():
        dtypes = torch.float64, made.query.dtype, torch.float32
        return tuple(exact.lookup(*made, dtype) for dtype in dtypes)  # type: ignore[return-value]


def poisoned_call(call: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Call with memory that holds NaN until it is written."""
    with poisoned():
        return call(*given, **options)


def here(name: str) -> str | None:
    """Return why a backend cannot run here, or None."""
    for backend in registry.backends():
        if name == backend.NAME:
            return backend.missing()
    return "this version does not have it."
