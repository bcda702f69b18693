"""Bands and blocks of one head's weights for a map: two passes over q . k.

The first finds the rows' states, the second their weights, pooled before they leave the registers:
on a GPU the products of a second pass cost less than keeping what one pass would have to keep of
every row and 32 keys.
"""

from typing import Any

import numpy as np
import torch

from softlookup.arrays import Array, IntArray
from softlookup.backends.triton.launch import Launch, held, launch_of
from softlookup.backends.triton.row_states import states_of
from softlookup.backends.triton.weighing import blocks_of
from softlookup.device import DeviceArray
from softlookup.pooling import BAND, Normaliser, Pooled
from softlookup.problem import Problem


def pooled_bands(problem: Problem, bands: IntArray) -> Pooled:
    """Return whole bands of one head's rows, in blocks of `BAND` keys."""
    launch = launch_of(problem)
    rows = (bands[:, None] * BAND + np.arange(BAND)).reshape(-1)
    listed = launch.sent(np.minimum(rows, problem.q_len).astype(np.int32))
    state = states_of(launch, listed)
    keys = slice(0, problem.kv_len)
    blocks = blocks_of(launch, listed, keys, BAND, state.shift, state.factor)
    shift, factor, lse, entropy = (held(part[0]) for part in state)
    seen = None if blocks.seen is None else held(blocks.seen[0])
    normaliser = Normaliser(shift, factor)
    return Pooled(held(blocks.max[0]), held(blocks.total[0]), normaliser, lse, entropy, seen)


def cells_of(
    problem: Problem, rows: slice, keys: slice, size: int, normaliser: Normaliser
) -> tuple[DeviceArray, DeviceArray]:
    """Return `size` x `size` blocks of one head's rectangle: the largest weight and the sum."""
    launch = launch_of(problem)
    listed = torch.arange(rows.start, rows.stop, dtype=torch.int32, device=launch.device)
    shift, factor = (_there(launch, part) for part in normaliser)
    blocks = blocks_of(launch, listed, keys, size, shift, factor)
    most = held(blocks.max[0])
    return most, most if size == 1 else held(blocks.total[0])


def _there(launch: Launch, part: Array | DeviceArray) -> Any:
    """Return numbers as float32 on the device."""
    if isinstance(part, DeviceArray):
        return part.tensor
    return launch.sent(part.astype(np.float32))
