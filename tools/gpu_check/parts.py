"""All parts, in the order in which they run: what is right first, then the aims by their weight."""

from functools import partial

from gpu_check import bars, checks, lookups, torchs
from gpu_check.session import Part, Session

HALVES = lookups.CASES[:14], lookups.CASES[14:]


def _forward(backend: str, cases: tuple[lookups.Case, ...], session: Session) -> None:
    if _can(session, backend):
        checks.forward(session, backend, lookups.chosen(session, cases))


def _backward(backend: str, session: Session) -> None:
    if _can(session, backend):
        checks.backward(session, backend)


def _torchs(session: Session) -> None:
    if _can(session, "cuda-torch"):
        torchs.check(session)


def _can(session: Session, backend: str) -> bool:
    """Say why a backend that is not for every machine cannot run here."""
    reason = None if backend == "cuda" else checks.here(backend)
    if reason is not None:
        session.refuse(backend, reason)
    return reason is None


def _watching(session: Session) -> None:
    from gpu_check import models  # noqa: PLC0415 (transformers is slow to load, and may be missing)

    models.check(session)
    if not (session.dry or session.warming):  # without a device nobody waits for it
        models.check_waits(session)


LARGE, LONG = (4, 16, 4096, 128), (1, 16, 16_384, 128)
PARTS = (
    Part("forward, cuda", partial(_forward, "cuda", HALVES[0]), 25, shares=5),
    Part("forward, cuda, more", partial(_forward, "cuda", HALVES[1]), 25, shares=5),
    Part(
        "forward, cuda, masks and biases",
        partial(_forward, "cuda", lookups.LAID_OVER),
        25,
        shares=5,
    ),
    Part("forward, cuda-torch", partial(_forward, "cuda-torch", lookups.CASES), 15),
    Part("forward, cuda-hopper", partial(_forward, "cuda-hopper", lookups.CASES), 20, shares=2),
    Part("facts", checks.facts, 20, shares=3),
    Part("weights", checks.weights, 15),
    Part("map", checks.maps, 15),
    Part("backward, cuda", partial(_backward, "cuda"), 25, shares=4),
    Part("backward, cuda-torch", partial(_backward, "cuda-torch"), 15),
    Part("kernels of cuda-torch", _torchs, 15),
    Part("far addresses", checks.far, 15),
    Part("strips of rows", checks.strips, 10),
    Part("watch", _watching, 20),
    Part("time: forward", bars.square(LARGE, causal=False), 15),
    Part("time: forward, causal", bars.square(LARGE, causal=True), 15),
    Part("time: long, causal", bars.square(LONG, causal=True), 15),
    Part("time: decode", bars.decode, 10),
    Part("time: map", bars.long_map, 10),
    Part("time: watch", bars.watching, 30),
    Part("time: memory", bars.memory, 20),
    Part("time: Hopper", bars.hopper(LARGE, causal=False), 15),
    Part("time: Hopper, causal", bars.hopper(LARGE, causal=True), 15),
    Part("time: Hopper, long", bars.hopper(LONG, causal=False), 15),
    Part("time: Hopper, long, causal", bars.hopper(LONG, causal=True), 15),
    Part("time: long", bars.square(LONG, causal=False), 15),
    Part("time: backward", bars.gradients, 15),
    Part("time: 64 dims", bars.square((4, 16, 4096, 64), causal=False, aimed=False), 10),
    Part("time: 64 dims, causal", bars.square((4, 16, 4096, 64), causal=True, aimed=False), 10),
    Part("time: short", bars.square((16, 16, 1024, 128), causal=False, aimed=False), 10),
    Part("time: FlexAttention", bars.flex, 40),
    Part("time: ceilings", bars.ceilings, 10),
)
