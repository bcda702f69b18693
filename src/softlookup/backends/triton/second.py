"""What takes a second pass over q . k, once the rows' sums are known."""

from typing import Any

from softlookup.backends.triton.launch import Launch, held
from softlookup.backends.triton.received import readers_of, received_of
from softlookup.backends.triton.shares import shares_of
from softlookup.facts import Facts, Findings


def asks_for(facts: Facts) -> bool:
    """Return whether any of the facts takes a second pass."""
    return facts.received or facts.labels is not None or facts.bins is not None


def completed(found: Findings, launch: Launch, shift: Any, factor: Any, facts: Facts) -> Findings:
    """Return `found` with those facts; the rows' normaliser are tensors (batch, heads, q_len)."""
    groups, distance = shares_of(launch, shift, factor, facts)
    received = received_of(launch, shift, factor, facts.from_rows) if facts.received else None
    readers = readers_of(launch, facts.from_rows) if facts.normalised else None
    return found._replace(
        rows=found.rows._replace(groups=held(groups), distance=held(distance)),
        received=held(received),
        readers=held(readers),
    )
