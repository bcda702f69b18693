"""Where a measurement shows the Hopper kernel right and faster, so that ``"auto"`` may take it.

A record enters with the run that it comes from (tools/gpu_check.sh writes it), and none without.
"""

from typing import NamedTuple


class Record(NamedTuple):
    """One measured kind of lookup.

    Attributes
    ----------
    capability : tuple of int
        Of the GPU that it was measured on.
    head_dim : int
    causal, looking : bool
        `looking`: with facts of the same pass.
    shortest, longest : int
        The range of q_len and kv_len that was measured.
    speed : float
        Time of what ``"auto"`` took before, in this kernel's time: above 1.
    source : str
        The file in ``benchmarks/results`` that says so.
    """

    capability: tuple[int, int]
    head_dim: int
    causal: bool
    looking: bool
    shortest: int
    longest: int
    speed: float
    source: str


RECORDS: tuple[Record, ...] = ()  # not yet run on a GPU


def covers(
    records: tuple[Record, ...],
    *,
    capability: tuple[int, int],
    head_dim: int,
    causal: bool,
    looking: bool,
    lengths: tuple[int, int],
) -> bool:
    """Return whether some record covers such a lookup, and shows it faster."""
    return any(
        record[:4] == (capability, head_dim, causal, looking)
        and record.shortest <= min(lengths)
        and max(lengths) <= record.longest
        and record.speed > 1
        for record in records
    )
