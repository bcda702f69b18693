"""The lookup on a GPU, in Triton: the answer and every fact, maps, gradients.

The kernels lie in ``triton/``; they are loaded, with torch, when a lookup comes. What is handed
back stays on the device, and nothing here waits for it.
"""

from softlookup.backends.triton import machine, verbs
from softlookup.facts import Facts, Findings
from softlookup.gradients import Residuals
from softlookup.problem import Problem

NAME = "cuda"
weights, pooled, cells = verbs.weights, verbs.pooled, verbs.cells
backward = verbs.backward


def missing() -> str | None:
    """Return why this backend cannot run on this machine, as a sentence, or None."""
    return machine.missing()


def unsupported(problem: Problem, facts: Facts) -> str | None:  # noqa: ARG001 (the common signature)
    """Return why this backend cannot take `problem`, as a sentence, or None."""
    return machine.unfit(problem)


def offers(problem: Problem, *, alone: bool) -> bool:  # noqa: ARG001 (the common signature)
    """Return whether ``"auto"`` may take it: whatever nobody before it takes."""
    return True


def forward(problem: Problem, facts: Facts) -> Findings:
    """Return out, lse and the facts asked for."""
    from softlookup.backends.triton import answers

    with machine.on_device(problem):
        return answers.answer(problem, facts)


def residuals(problem: Problem) -> Residuals:
    """Return the output, bit for bit that of `forward`, and what its gradients need of it."""
    from softlookup.backends.triton import answers

    with machine.on_device(problem):
        return answers.residuals(problem)
