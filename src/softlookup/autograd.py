"""The answer as a torch tensor, with gradients where an input requires them.

torch is imported when the first tensor comes. The backward pass is a function of its own, so that
differentiating it once more says what is missing.
"""

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import MEMORY, Array, without_repeats
from softlookup.backends.registry import Backend
from softlookup.errors import BackendError
from softlookup.facts import NO_FACTS
from softlookup.gradients import (
    Gradients,
    Residuals,
    check_lse_grad,
    check_out_grad,
    restore,
)
from softlookup.options import Overlay
from softlookup.plainness import check_plain
from softlookup.pooling import Normaliser
from softlookup.problem import Problem
from softlookup.tensors import Tensors, tensor_of, view


def answer(problem: Problem, backend: Backend, tensors: Tensors) -> tuple[Any, Any]:
    """Return out and lse as tensors; they carry gradients where `tensors` require them."""
    import torch  # noqa: PLC0415 (whoever holds a tensor has it)

    wanted = any(each is not None and each.requires_grad for each in tensors)
    if wanted and torch.is_grad_enabled():
        kept = _with_own_arrays(problem, tensors)
        out, lse = _functions().attend.apply(*tensors, kept, backend)
        return out, lse
    found = backend.forward(problem, NO_FACTS)
    return tensor_of(problem.restore(found.out)), tensor_of(problem.restore(found.lse))


def _with_own_arrays(problem: Problem, tensors: Tensors) -> Problem:
    """Return the problem with a copy of every array in memory that is no tensor's.

    Until `backward` such an array may be written to, which nobody would hear of; of a tensor torch
    does.
    """
    if problem.place != MEMORY:  # what came from memory was sent there
        return problem
    copies: dict[str, Any] = {}
    for name, tensor in zip(Tensors._fields, tensors, strict=True):
        given = getattr(problem, name)
        if tensor is not None or given is None:
            continue
        laid = isinstance(given, Overlay)
        copies[name] = given._replace(array=_copy(given.array)) if laid else _copy(given)
    return replace(problem, **copies) if copies else problem


def _copy(array: Array) -> Array:
    return np.broadcast_to(np.copy(without_repeats(array)), array.shape)


class _Functions(NamedTuple):
    attend: Any
    pull: Any


@cache
def _functions() -> _Functions:
    """Return the two functions; torch has to be there before they can be."""
    import torch  # noqa: PLC0415 (as above)

    class Pull(torch.autograd.Function):  # type: ignore[misc]
        """The gradients of `Attend`; they have none themselves."""

        @staticmethod
        def forward(_: Any, how: "_Kept", out_grad: Any, lse_grad: Any, *given: Any) -> Any:
            return how.pull(out_grad, lse_grad, Tensors(*given))

        @staticmethod
        def backward(_: Any, *__: Any) -> Any:
            raise BackendError(
                "create_graph",
                "must not lead to a second derivative of a lookup; got one. Write the lookup out "
                'in torch where its gradients have to be differentiated; watch(compute="model") '
                "leaves it to the model's attention, whose eager one has them.",
            )

    class Attend(torch.autograd.Function):  # type: ignore[misc]
        """out and lse of a lookup."""

        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            *given, problem, backend = inputs
            kept = backend.residuals(problem)
            out, lse = (tensor_of(problem.restore(part)) for part in kept[:2])
            ctx.save_for_backward(*given, out, lse)
            ctx.normaliser, ctx.problem, ctx.backend = kept.normaliser, problem, backend
            ctx.set_materialize_grads(False)
            return out, lse

        @staticmethod
        def backward(ctx: Any, out_grad: Any, lse_grad: Any) -> Any:
            _check_grads(out_grad, lse_grad)
            *given, out, lse = ctx.saved_tensors  # refused by torch where one was changed since
            with_bias = ctx.needs_input_grad[Tensors._fields.index("bias")]
            how = _Kept(ctx.problem, ctx.backend, out, lse, ctx.normaliser, with_bias)
            return (*Pull.apply(how, out_grad, lse_grad, *given), None, None, None)

    return _Functions(Attend, Pull)


class _Kept(NamedTuple):
    """What the backward pass needs beside the gradients that come in."""

    problem: Problem
    backend: Backend
    out: Any
    lse: Any
    normaliser: Normaliser
    with_bias: bool

    def pull(self, out_grad: Any, lse_grad: Any, given: Tensors) -> tuple[Any, ...]:
        """Return the gradients of query, key, value, bias and sinks; None for what has none."""
        p = self.problem
        rows = (p.batch, p.heads, p.q_len)
        out = view(self.out, "out").reshape(*rows, p.value_dim)
        lse = view(self.lse, "lse").reshape(rows)
        grad, of_lse = _incoming(p, self.out, out_grad, lse_grad)
        kept = Residuals(out, lse, self.normaliser)
        found = self.backend.backward(p, kept, grad, of_lse, bias=self.with_bias)
        return tuple(
            tensor_of(part).reshape(each.shape) if part is not None and each is not None else None
            for part, each in zip(restore(p, found), given[: len(Gradients._fields)], strict=True)
        )


def _check_grads(*grads: Any) -> None:
    """Check that what comes in can be read: the gradients of one loss, not of many at once."""
    import torch  # noqa: PLC0415 (as above)

    inside = torch._C._functorch  # noqa: SLF001 (no public name tells)
    for argument, grad in zip(("out_grad", "lse_grad"), grads, strict=True):
        if grad is None:
            continue
        if inside.is_batchedtensor(grad) or inside.is_legacy_batchedtensor(grad):
            raise BackendError(
                "is_grads_batched",
                "must not be asked of a lookup, which takes the gradients of one loss at a time; "
                "got those of many, batched by vmap. Call backward() or torch.autograd.grad() for "
                "each: vectorize=False in a Jacobian, check_batched_grad=False in gradcheck.",
            )
        check_plain(grad, argument)


def _incoming(problem: Problem, out: Any, out_grad: Any, lse_grad: Any) -> tuple[Any, Any]:
    """Return what comes in as arrays; None for an output that no loss reads."""
    grad = None if lse_grad is None else view(lse_grad, "lse_grad")
    of_lse = check_lse_grad(problem, grad)
    if out_grad is None:
        shape = (problem.batch, problem.heads, problem.q_len, problem.value_dim)
        return view(out.new_zeros(()).expand(shape), "out_grad"), of_lse
    return check_out_grad(problem, view(out_grad, "out_grad")), of_lse
