"""Each of torch's kernels, whichever `cuda-torch` would choose here: lse, empty rows, slopes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

import softlookup as sl
from gpu_check import checks, exact, lookups
from gpu_check.session import Session
from softlookup.backends import cuda_torch

WAYS = "cudnn", "flash"


def check(session: Session) -> None:
    """Check what a kernel of torch says of a row, and of one without a finite score."""
    for way in WAYS:
        with _chosen(way) as there:
            if not there(lookups.TORCHS[0].make(session)):
                session.refuse(way, f"torch has no {way} attention for this GPU.")
                continue
            cases = tuple(case._replace(name=f"{way}: {case.name}") for case in lookups.TORCHS)
            checks.forward(session, "cuda-torch", cases)
            checks.backward(session, "cuda-torch", cases)
            _empty_rows(session, way)


@contextmanager
def _chosen(way: str) -> Iterator[Any]:
    """Let `cuda-torch` use one of the kernels; give what tells whether it can take a lookup."""
    own = cuda_torch.way_of

    def there(made: lookups.Made) -> bool:
        if way == "flash":
            return True
        return own(sl.Lookup(*made[:3]).problem) == way

    cuda_torch.way_of = lambda _: way
    try:
        yield there
    finally:
        cuda_torch.way_of = own


def _empty_rows(session: Session, way: str) -> None:
    """Compare a row whose every score is -inf with the lookup in memory, and its neighbours."""
    made = lookups.TORCHS[0].make(session)
    length = min(made.query.shape[-2], 40)
    query = made.query[:, :, :length].clone()
    made.key[..., 0] = made.key[..., 0].abs() + 1
    query[:, :, 3, 0] = -torch.inf
    name = f"{way}: a row of -inf"
    look = sl.Lookup(query, *made[1:3], backend="cuda-torch")
    seen = session.attempt(name, checks.poisoned_call, look.inspect)
    if seen is None or session.warming:
        return
    inputs = (x.double().cpu().numpy() for x in (query, *made[1:3]))
    whole = sl.Lookup(*inputs, backend="blocked").inspect()
    out, lse = (torch.from_numpy(x).to(seen.lse.device) for x in (whole.out, whole.lse))
    _, naive, narrow = checks.expected(session, made._replace(query=query))
    budgets = exact.budgets(query.dtype, out, naive.out, 1.0, exact.ROW)
    session.compare(f"{name}, out", seen.out, out, budgets)
    session.compare(f"{name}, lse", seen.lse, lse, exact.budget(lse, narrow.lse, exact.COARSE))
