"""The lookup on a Hopper GPU: a kernel whose warps specialise, for the plain shapes.

Not yet run on a GPU: it is asked for by name, and ``"auto"`` takes it only for what a recorded
measurement covers (``triton/records.py``). Everything but the forward pass is what ``cuda`` does.
"""

import importlib.util
from pathlib import Path
from typing import Any

from softlookup.backends.triton import machine, records, verbs
from softlookup.backends.triton.matrices import matrix_of
from softlookup.device import interpreted
from softlookup.facts import Facts, Findings
from softlookup.gradients import Residuals
from softlookup.problem import Problem

NAME = "cuda-hopper"
weights, pooled, cells = verbs.weights, verbs.pooled, verbs.cells
backward = verbs.backward
BLOCK = 128  # queries and keys of a tile
DIMS = (64, 128)
_MAJOR = 9
_MOST_KEYS = 2**19  # the position of a maximum in those of a strip is an int32
_MOST_ROWS = 2**31 - BLOCK  # the position of a row, all heads in a row, is an int32


def missing() -> str | None:
    """Return why this backend cannot run on this machine, as a sentence, or None."""
    reason = machine.missing()
    if reason is not None:
        return reason
    if interpreted():
        return "Triton's interpreter does not run it: it is written in Gluon."
    if not (Path(_origin("triton")).parent / "experimental" / "gluon").is_dir():
        return "This Triton has no Gluon, in which it is written: pip install 'triton>=3.6'."
    import torch

    capabilities = {torch.cuda.get_device_capability(n) for n in range(torch.cuda.device_count())}
    if all(major != _MAJOR for major, _ in capabilities):
        best = ".".join(map(str, max(capabilities)))
        return f"It needs a Hopper GPU, of compute capability 9; the best one here has {best}."
    return None


def _origin(package: str) -> str:
    spec = importlib.util.find_spec(package)
    return "" if spec is None or spec.origin is None else spec.origin


def unsupported(problem: Problem, facts: Facts) -> str | None:
    """Return why this backend cannot take `problem`, as a sentence, or None."""
    return (
        machine.unfit(problem)
        or _unfit_option(problem)
        or _unfit_size(problem)
        or _unfit_facts(problem, facts)
        or _unfit_position(problem)
        or _unfit_memory(problem)
        or _unfit_gpu(problem)
    )


def _unfit_option(problem: Problem) -> str | None:
    if problem.dtype.itemsize != 2:
        return f"It computes with float16 and bfloat16; here is {problem.dtype}."
    if problem.value is None:
        return "It needs values, which a map leaves out; here are none."
    for name in ("mask", "bias", "window", "kv_lens", "softcap", "sinks"):
        if getattr(problem, name) is not None:
            return f"It takes no {name}."
    if not problem.scale > 0:
        return f"It takes a positive scale; here it is {problem.scale:g}."
    return None


def _unfit_size(problem: Problem) -> str | None:
    if problem.head_dim not in DIMS or problem.value_dim != problem.head_dim:
        return (
            f"It takes a head_dim and a value_dim of 64 or of 128; here they are "
            f"{problem.head_dim} and {problem.value_dim}."
        )
    if not problem.batch * problem.heads:
        return "It takes one head or more; here is none."
    for name, length in (("q_len", problem.q_len), ("kv_len", problem.kv_len)):
        if not length or length % BLOCK:
            return f"It takes a {name} of whole tiles of {BLOCK}; here it is {length}."
    rows = max(problem.q_len * problem.heads, problem.kv_len * problem.kv_heads) * problem.batch
    if rows > _MOST_ROWS:
        return f"It takes up to {_MOST_ROWS:,} rows of all heads; here are {rows:,}."
    return None


def _unfit_position(problem: Problem) -> str | None:
    if not problem.causal or problem.q_offset is None:
        return None
    first, most = int(problem.q_offset[0]), problem.kv_len - problem.q_len
    if (problem.q_offset != first).any():
        return "It takes one q_offset for the whole batch; here they differ."
    if first % BLOCK or not 0 <= first <= most:
        return (
            f"Causal, it takes a q_offset of whole tiles of {BLOCK} from 0 to kv_len - q_len = "
            f"{most}; here it is {first}."
        )
    return None


def _unfit_facts(problem: Problem, facts: Facts) -> str | None:
    if facts.top and problem.kv_len > _MOST_KEYS:
        return f"It finds the best keys of up to {_MOST_KEYS:,}; here are {problem.kv_len:,}."
    return None


def _unfit_memory(problem: Problem) -> str | None:
    arrays: Any = {"query": problem.query, "key": problem.key, "value": problem.value}
    for name, array in arrays.items():
        matrix = matrix_of(array.tensor)
        if matrix is None or matrix.rows > _MOST_ROWS:
            copy = "clone()" if array.tensor.is_contiguous() else "contiguous()"
            return (
                f"It reads rows that begin at multiples of 16 bytes and whose step every head and "
                f"batch entry shares; {name} has the strides {tuple(array.tensor.stride())}: "
                f"pass {name}.{copy}."
            )
    return None


def _unfit_gpu(problem: Problem) -> str | None:
    capability = _capability(problem)
    if capability is None or capability[0] == _MAJOR:
        return None
    return f"It needs compute capability 9; {problem.place} has {'.'.join(map(str, capability))}."


def _capability(problem: Problem) -> tuple[int, int] | None:
    query: Any = problem.query
    if query.tensor.device.type != "cuda":
        return None
    import torch

    major, minor = torch.cuda.get_device_capability(query.tensor.device)
    return major, minor


def offers(problem: Problem, *, alone: bool) -> bool:
    """Return whether ``"auto"`` may take it: where a recorded measurement shows it faster."""
    capability = _capability(problem)
    return capability is not None and records.covers(
        records.RECORDS,
        capability=capability,
        head_dim=problem.head_dim,
        causal=problem.causal,
        looking=not alone,
        lengths=(problem.q_len, problem.kv_len),
    )


def forward(problem: Problem, facts: Facts) -> Findings:
    """Return out, lse and the facts asked for."""
    from softlookup.backends.triton import answers, hopper_launch

    with machine.on_device(problem):
        return answers.answer(problem, facts, hopper_launch)


def residuals(problem: Problem) -> Residuals:
    """Return the output, bit for bit that of `forward`, and what its gradients need of it."""
    from softlookup.backends.triton import answers, hopper_launch

    with machine.on_device(problem):
        return answers.residuals(problem, hopper_launch)
