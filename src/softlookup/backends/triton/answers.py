"""What a lookup on a GPU answers: which kernels run, in which order, for what is asked."""

from typing import Any

from softlookup.backends.triton import forward, second
from softlookup.backends.triton.careful import mend
from softlookup.backends.triton.forward import Asked
from softlookup.backends.triton.launch import Launch, held, launch_of
from softlookup.backends.triton.maxima import Strip
from softlookup.backends.triton.running import Room
from softlookup.backends.triton.top import Best, best_of, room_for_best
from softlookup.facts import NO_FACTS, Facts, Findings
from softlookup.gradients import Residuals
from softlookup.partials import RowFacts
from softlookup.pooling import Normaliser
from softlookup.problem import Problem


def answer(problem: Problem, facts: Facts, kernel: Any = forward) -> Findings:
    """Return out, lse and the facts asked for; nothing waits for the device.

    `kernel` is the module that launches: it has `room_for` and `run`, as `forward` has.
    """
    launch, later = launch_of(problem), second.asks_for(facts)
    room, best = run(launch, facts, kernel, normaliser=later)
    rows = RowFacts(
        entropy=held(room.entropy),
        sink=held(room.sink),
        max_score=held(room.peak),
        top_keys=held(best.keys),
        top_weights=held(best.weights),
    )
    found = Findings(held(out_of(launch, room)), held(room.lse), rows)
    return second.completed(found, launch, room.shift, room.factor, facts) if later else found


def residuals(problem: Problem, kernel: Any = forward) -> Residuals:
    """Return the output and what its gradients need of it, from the launch that answers."""
    launch = launch_of(problem)
    room, _ = run(launch, NO_FACTS, kernel, normaliser=True)
    normaliser = Normaliser(held(room.shift), held(room.factor))
    return Residuals(held(out_of(launch, room)), held(room.lse), normaliser)


def run(
    launch: Launch, facts: Facts, kernel: Any = forward, *, normaliser: bool = False
) -> tuple[Room, Best]:
    """Let the kernels fill a room with the first pass, and find the best keys where asked for."""
    p, top = launch.problem, facts.top
    asked = Asked(facts.entropy, facts.sink, facts.max_score, normaliser or top > 0)
    room, best = kernel.room_for(launch, asked), Best(None, None)
    if not (p.batch and p.heads and p.q_len):
        return room, room_for_best(launch, top) if top else best
    if top:
        best = best_of(launch, room, top, kernel)
    else:
        kernel.run(launch, room, Strip(0, p.batch * p.heads, 0, p.q_len))
    mend(launch, room)
    return room, best


def out_of(launch: Launch, room: Room) -> Any:
    """Return the output, which holds nothing where values have no axis or there are none."""
    if room.out is not None:
        return room.out
    p = launch.problem
    return launch.empty(p.batch, p.heads, p.q_len, p.value_dim, dtype=launch.inputs.query.dtype)
