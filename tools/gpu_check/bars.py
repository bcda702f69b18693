"""What is timed, beside which peers, and which aims it decides."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

import softlookup as sl
from gpu_check import aims, names, peers
from gpu_check.checks import here, poisoned_call
from gpu_check.session import Session, brief
from gpu_check.timing import Time, race, seconds

Tensor = Any
Call = Callable[[], Any]
Shape = tuple[int, int, int, int]  # batch, heads, length, head_dim
MIB = 2**20
TINY = (1, 1, 24, 16)  # a dry run's
ROW_APART = 0.05  # that two kernels may be in half precision, of the length of a row


def looking(session: Session) -> dict[str, Any]:
    """Return the facts of the aims; an interpreter takes long over each best key."""
    return {"entropy": True, "top": 1 if session.dry else 8}


def ceilings(session: Session) -> None:
    """Time what this card does at most: a matrix product, a copy."""
    size = 64 if session.dry else 8192
    left, right = session.draw(size, size), session.draw(size, size)
    found = race(session, "ceilings", {"product": lambda: left @ right})
    rates(session, "ceilings", found, flops=2 * size**3)
    big = session.draw((1 if session.dry else 1024) * MIB)
    into = torch.empty_like(big)
    found = race(session, "ceilings", {"copy": lambda: into.copy_(big)})
    rates(session, "ceilings", found, moved=2 * big.nbytes)


def rates(session: Session, row: str, times: Mapping[str, Time], *, flops: float = 0,
          moved: float = 0) -> None:  # fmt: skip
    """Say TFLOP/s and TB/s of what was timed, by what is useful."""
    for name, took in times.items():
        if flops:
            session.time(row, name, tflops=round(flops / took.device / 1e9, 1))
        if moved:
            session.time(row, name, terabytes=round(moved / took.device / 1e9, 3))


def square(shape: Shape, *, causal: bool, aimed: bool = True) -> Callable[[Session], None]:
    """Return what times a forward over as many queries as keys, beside the peers."""

    def run(session: Session) -> None:
        q, k, v, row = _drawn(session, shape, causal=causal)
        runners = peers.blind(session, q, k, v, causal=causal) | ours(
            session, q, k, v, causal=causal
        )
        if aimed and shape[2] == 4096:
            runners[names.ALL_WEIGHTS] = peers.all_weights(q, k, v, causal=causal)
        times = _timed(session, row, runners, q, causal=causal)
        if not (times and aimed):
            return
        plain, received = (
            ratio(times, names.FACTS, names.CUDNN),
            ratio(times, names.RECEIVED, names.CUDNN),
        )
        known = plain is not None and received is not None
        session.aim(aims.FACTS, row, plain)
        session.aim(aims.RECEIVED, row, received - plain if known else None)
        session.aim(aims.ALL_WEIGHTS, row, ratio(times, names.ALL_WEIGHTS, names.RECEIVED))

    return run


def hopper(shape: Shape, *, causal: bool) -> Callable[[Session], None]:
    """Return what times the Hopper kernel, apart from the rest: it may hang."""

    def run(session: Session) -> None:
        reason = here("cuda-hopper")
        if reason is not None:
            session.missing("Hopper", names.HOPPER, reason)
            return
        q, k, v, row = _drawn(session, shape, causal=causal)
        look = sl.Lookup(q, k, v, causal=causal, backend="cuda-hopper")
        runners = peers.blind(session, q, k, v, causal=causal)
        runners |= {
            names.HOPPER: look.attend,
            names.HOPPER_FACTS: lambda: look.inspect(**looking(session)),
        }
        times = _timed(session, f"{row}, Hopper", runners, q, causal=causal)
        session.aim(aims.HOPPER, row, ratio(times, names.CUDNN, names.HOPPER))
        session.aim(aims.HOPPER_FACTS, row, ratio(times, names.HOPPER_FACTS, names.CUDNN))

    return run


def flex(session: Session) -> None:
    """Time FlexAttention, apart from the rest: torch compiles it for a long time."""
    for causal in (False, True):
        q, k, v, row = _drawn(session, (4, 16, 4096, 128), causal=causal)
        runners = {names.FLEX: peers.flex(session, q, k, v, causal=causal)}
        runners |= peers.blind(session, q, k, v, causal=causal)
        _timed(session, f"{row}, FlexAttention", runners, q, causal=causal)


def _drawn(session: Session, shape: Shape, *, causal: bool) -> tuple[Tensor, Tensor, Tensor, str]:
    shape = TINY if session.dry else shape
    batch, heads, length, dim = shape
    row = f"{batch} x {heads} x {length:,} x {dim}{', causal' if causal else ''}"
    return *(session.draw(*shape) for _ in range(3)), row


def _timed(session: Session, row: str, runners: dict[str, Call], q: Tensor, *,
           causal: bool) -> dict[str, Time]:  # fmt: skip
    """Race them, and see that all give the same answer at this size, too."""
    times = race(session, row, runners)
    batch, heads, length, dim = q.shape
    rates(session, row, times, flops=4 * batch * heads * length**2 * dim / (1 + causal))
    if names.CUDNN in times:
        right = runners[names.CUDNN]().float()
        for name in times:
            if name not in names.PEERS:
                out = poisoned_call(runners[name])
                off = (getattr(out, "out", out).float() - right).norm(dim=-1) / right.norm(dim=-1)
                words = f"{row}: {name}, rows beside cuDNN's"
                session.compare(words, off, torch.zeros_like(off), ROW_APART)
    return times


def ours(session: Session, q: Tensor, k: Tensor, v: Tensor, **options: Any) -> dict[str, Call]:
    """Return our own runners, blind and looking."""
    cuda = sl.Lookup(q, k, v, **options, backend="cuda")
    return {
        names.AUTO: _attending(q, k, v, **options),
        names.ATTEND: cuda.attend,
        names.FACTS: lambda: cuda.inspect(**looking(session)),
        names.RECEIVED: lambda: cuda.inspect(**looking(session), received=True),
    }


def ratio(times: Mapping[str, Time], top: str, bottom: str) -> float | None:
    """Return how often the device takes as long for one as for another, where both ran."""
    known = top in times and bottom in times
    return times[top].device / times[bottom].device if known else None


def decode(session: Session) -> None:
    """Time one query over a long cache, with its best keys."""
    heads, kv_heads, length, dim = (2, 1, 130, 16) if session.dry else (32, 8, 131_072, 128)
    row = f"decode {heads} over {kv_heads} x {length:,} x {dim}"
    q = session.draw(1, heads, 1, dim)
    k, v = (session.draw(1, kv_heads, length, dim) for _ in range(2))
    times = race(session, row, peers.blind(session, q, k, v) | ours_decoding(session, q, k, v))
    rates(session, row, times, moved=k.nbytes + v.nbytes)
    share = ratio(times, names.CUDNN, names.TOP)
    session.aim(aims.DECODE, row, None if share is None else 100 * share)


def ours_decoding(session: Session, q: Tensor, k: Tensor, v: Tensor) -> dict[str, Call]:
    """Return the answer alone, and with the best keys."""
    cuda = sl.Lookup(q, k, v, backend="cuda")
    return {
        names.AUTO: _attending(q, k, v),
        names.ATTEND: cuda.attend,
        names.TOP: lambda: cuda.inspect(top=1 if session.dry else 8),
    }


def long_map(session: Session) -> None:
    """Time all weights of one long causal head, pooled."""
    length, dim = (40, 16) if session.dry else (131_072, 128)
    row = f"map {length:,} x {dim}, causal"
    q, k = (session.draw(1, length, dim) for _ in range(2))
    look = sl.Lookup(q, k, causal=True, backend="cuda")
    took = seconds(session, row, "map", look.map)
    session.aim(aims.MAP, row, took)


def memory(session: Session) -> None:
    """Measure the highest memory above the inputs, at a length and at twice the length."""
    if session.dry:
        return
    heads, dim, found = 8, 128, []
    for length in (32_768,) if session.warming else (32_768, 65_536):
        q, k, v = (session.draw(1, heads, length, dim) for _ in range(3))
        look = sl.Lookup(q, k, v, causal=True, backend="cuda")
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        seen = look.inspect(**looking(session), received=True)
        torch.cuda.synchronize()
        if session.warming:
            return
        found.append((torch.cuda.max_memory_allocated() - before) / MIB)
        session.time(
            f"memory {heads} x {length:,} x {dim}", names.RECEIVED, mib=round(found[-1], 1)
        )
        del seen
    session.aim(aims.MEMORY, f"{heads} x 65,536 x {dim}", found[1] / found[0])


def gradients(session: Session) -> None:
    """Time one backward pass, beside those of torch."""
    batch, heads, length, dim = TINY if session.dry else (4, 16, 4096, 128)
    for causal in (False, True):
        row = f"backward {batch} x {heads} x {length:,} x {dim}{', causal' if causal else ''}"
        q, k, v = (session.draw(batch, heads, length, dim).requires_grad_() for _ in range(3))
        grad = session.draw(batch, heads, length, dim)
        forwards = peers.blind(session, q, k, v, causal=causal)
        for name in ("auto", "cuda"):
            forwards[f"backward, {name}"] = _attending(q, k, v, causal=causal, backend=name)
        runners = {}
        for name, forward in forwards.items():
            try:
                out = forward()
                session.wait()
            except Exception as error:
                session.missing(row, name, brief(error))
                if session.lost():
                    raise
                continue
            runners[name] = _backward_of(out, (q, k, v), grad)
        rates(session, row, race(session, row, runners),
              flops=10 * batch * heads * length**2 * dim / (1 + causal))  # fmt: skip


def _attending(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Call:
    """Return the answer alone: a `Lookup` may be asked for more, and so is never torch's."""
    return lambda: sl.attend(q, k, v, **options)


def _backward_of(out: Tensor, inputs: tuple[Tensor, ...], grad: Tensor) -> Call:
    return lambda: torch.autograd.grad(out, inputs, grad, retain_graph=True)


def watching(session: Session) -> None:
    """Time a forward of a random Llama, every head watched, beside the same unwatched."""
    from gpu_check import models  # noqa: PLC0415 (transformers is slow to load, and may be missing)

    model, ids = models.llama(session, large=not session.dry)
    row = f"{models.words(model)}, {ids.shape[1]:,} tokens"

    def forward(watched: Any) -> Call:
        def call() -> None:
            with torch.no_grad(), watched():
                model(ids, use_cache=False, logits_to_keep=1)

        return call

    ways = models.ways(model)
    took = {name: seconds(session, row, name, forward(way)) for name, way in ways.items()}
    blind, every = took[names.BLIND], took[names.EVERY]
    share = None if blind is None or every is None else every / blind
    session.aim(aims.WATCH, row, share)
