"""Problems whose arrays lie on a device, of zeros, for kernels that are compiled and never run."""

import numpy as np
import torch

from softlookup.device import DeviceArray
from softlookup.options import Overlay
from softlookup.problem import Problem

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def problem_of(
    dtype="bfloat16", length=1024, head_dim=128, heads=1, *, causal=False, window=None,
    mask=False, bias=False, kv_lens=None, softcap=None, sinks=False,
):  # fmt: skip
    """Return a problem of zeros; `mask` and `bias` lie over queries and keys."""
    array = DeviceArray(torch.zeros(1, heads, length, head_dim, dtype=DTYPES[dtype]))

    def overlay(kind):
        laid = DeviceArray(torch.zeros(1, 1, length, length, dtype=kind))
        return Overlay(laid, np.zeros(1, np.int64))

    return Problem(
        query=array,
        key=array,
        value=array,
        batch_shape=(1,),
        plain=False,
        causal=causal,
        q_offset=np.zeros(1, np.int64),
        window=None if window is None else tuple(window),
        mask=overlay(torch.bool) if mask else None,
        bias=overlay(torch.float32) if bias else None,
        kv_lens=None if kv_lens is None else np.array([kv_lens]),
        scale=head_dim**-0.5,
        softcap=softcap,
        sinks=DeviceArray(torch.zeros(heads)) if sinks else None,
    )
