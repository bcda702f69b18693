"""The weights of chosen rows and keys: the rows' states over all keys, then the pairs asked for."""

import numpy as np

from softlookup.arrays import IntArray
from softlookup.backends.triton.launch import launch_of
from softlookup.backends.triton.row_states import states_of
from softlookup.backends.triton.weighing import pairs_of
from softlookup.device import DeviceArray
from softlookup.problem import Problem


def weights_of_pairs(problem: Problem, rows: IntArray, keys: IntArray) -> DeviceArray:
    """Return the weights, (batch, heads, len(rows), len(keys)); exactly 0 where hidden."""
    launch = launch_of(problem)
    listed, wanted = (launch.sent(chosen.astype(np.int32)) for chosen in (rows, keys))
    state = states_of(launch, listed)
    found = pairs_of(launch, listed, wanted, state.shift, state.factor)
    return DeviceArray(found.reshape(problem.batch, problem.heads, len(rows), len(keys)))
