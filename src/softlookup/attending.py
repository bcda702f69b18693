"""`attend`: the answer of a lookup, and nothing else."""

import sys
from typing import Any

from softlookup.arrays import Array
from softlookup.backends import registry
from softlookup.facts import NO_FACTS
from softlookup.options import names_checked
from softlookup.problem import Problem, build_problem
from softlookup.tensors import Tensors, is_compiling, is_tensor


@names_checked
def attend(
    query: Any,
    key: Any,
    value: Any,
    *,
    causal: bool = False,
    q_offset: Any = None,
    window: Any = None,
    mask: Any = None,
    bias: Any = None,
    kv_lens: Any = None,
    scale: Any = None,
    softcap: Any = None,
    sinks: Any = None,
    backend: str = "auto",
) -> Array:
    """Look up `value` by the similarity of `query` and `key`.

    ``out[i] = sum_j weights[i, j] * value[j]`` where row i of ``weights`` is
    ``softmax(scale * query[i] @ key.T)`` over the keys that query i may see. All options are those
    of `Lookup`, where they are described.

    Parameters
    ----------
    query : ndarray of shape (..., heads, q_len, head_dim) or (q_len, head_dim)
        float16, bfloat16, float32 or float64; integers and lists become float64. A torch tensor is
        read where it lies.
    key : ndarray of shape (..., kv_heads, kv_len, head_dim)
    value : ndarray of shape (..., kv_heads, kv_len, value_dim)
    causal, q_offset, window, mask, bias, kv_lens, scale, softcap, sinks, backend
        See `Lookup`.

    Returns
    -------
    ndarray of shape (..., heads, q_len, value_dim)
        In the inputs' dtype, C-contiguous. A tensor where the query is one, with gradients where
        query, key, value, bias or sinks require them.

    Raises
    ------
    ShapeError, OptionError, DtypeError, BackendError
        One sentence with the real numbers and the next step.

    Examples
    --------
    With ``scale = log 3`` a key that matches exactly weighs three times one that does not match:

    >>> import numpy as np
    >>> query = np.array([[1.0, 0.0]])
    >>> key = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> value = np.array([[10.0], [20.0]])
    >>> attend(query, key, value, scale=np.log(3.0))
    array([[12.5]])
    """
    name = registry.check_backend(backend)
    options = {
        "causal": causal,
        "q_offset": q_offset,
        "window": window,
        "mask": mask,
        "bias": bias,
        "kv_lens": kv_lens,
        "scale": scale,
        "softcap": softcap,
        "sinks": sinks,
    }
    if is_tensor(query):
        verb = _attend_tensors
        if is_compiling():  # here, not in a function: torch.compile has to see it
            verb = sys.modules["torch"].compiler.disable(verb)
        return verb(query, key, value, options, name)
    return answer(build_problem(query, key, value, **options), name, None, alone=True)


def _attend_tensors(query: Any, key: Any, value: Any, options: dict[str, Any], name: str) -> Array:
    taken = {each: options[each] for each in ("bias", "sinks", "mask")}
    tensors, arrays = Tensors.seen(query=query, key=key, value=value, **taken)
    return answer(build_problem(**(options | arrays)), name, tensors, alone=True)


def answer(problem: Problem, name: str, tensors: Tensors | None, *, alone: bool = False) -> Array:
    """Return the answer, by the backend of this name; a tensor where tensors were given.

    `alone`: nothing else will be asked of this lookup.
    """
    problem.need_value()
    backend = registry.choose(problem, NO_FACTS, name, alone=alone)
    if tensors is None:
        return problem.restore(backend.forward(problem, NO_FACTS).out)
    from softlookup import autograd  # noqa: PLC0415 (whoever holds a tensor has torch)

    out: Array = autograd.answer(problem, backend, tensors)[0]
    return out
