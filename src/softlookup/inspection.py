"""What can be asked of a lookup beside its output, and what comes back."""

from dataclasses import dataclass

from softlookup.arrays import Array


@dataclass(frozen=True, eq=False)
class Inspection:
    """The facts of a lookup, computed in the pass that computes the output.

    Attributes
    ----------
    out : ndarray of shape (..., heads, q_len, value_dim) or None
        The answer, bit for bit that of `Lookup.attend` on the same backend; None where the lookup
        has no value.
    lse : ndarray of shape (..., heads, q_len)
        Natural logarithm of the sum of ``exp(score)`` over visible keys and the sink; float32
        (float64 for float64); -inf for an empty row without a sink.
    backend : str
        Which backend computed it.
    """

    out: Array | None
    lse: Array
    backend: str
