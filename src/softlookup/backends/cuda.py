"""The lookup on a GPU, in Triton: the answer and its facts from one kernel.

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
MOST_DIM = 256
_MOST_LENGTH = 2**31 - 2**16  # a position, and where a row's keys end, are int32; tiles reach past


def missing() -> str | None:
    """Return why this backend cannot run on this machine, as a sentence, or None."""
    return machine.missing()


def unsupported(problem: Problem, facts: Facts) -> str | None:  # noqa: ARG001 (the common signature)
    """Return why this backend cannot take `problem`, as a sentence, or None."""
    reason = machine.elsewhere(problem)
    if reason is not None:
        return reason
    if problem.dtype.itemsize > 4:
        return f"It computes in float32; here is {problem.dtype}: pass cpu() of the tensors."
    for name, dim in (("head_dim", problem.head_dim), ("value_dim", problem.value_dim)):
        if dim > MOST_DIM:
            return f"It takes a {name} of up to {MOST_DIM}; here it is {dim}: pass cpu()."
    for name, length in (("q_len", problem.q_len), ("kv_len", problem.kv_len)):
        if length > _MOST_LENGTH:
            return f"It takes a {name} of up to {_MOST_LENGTH:,}; here it is {length:,}."
    both = problem.q_len + problem.kv_len
    if both > _MOST_LENGTH:
        return f"It takes q_len + kv_len of up to {_MOST_LENGTH:,}; here it is {both:,}."
    return None


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
