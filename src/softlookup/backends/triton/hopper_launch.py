"""How the kernel of `hopper` is launched, under the names by which that of `forward` is."""

from typing import Any

import torch
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from softlookup.backends.triton import hopper
from softlookup.backends.triton.forward import Asked
from softlookup.backends.triton.launch import Launch, multiprocessors
from softlookup.backends.triton.matrices import Matrix, as_matrix
from softlookup.backends.triton.maxima import Strip
from softlookup.backends.triton.running import Room

ONLY_PARTS = 4  # of a chunk of maxima; see `maxima.Strip`
_STAGES = 2  # rooms for keys and values: what fits beside one for out
_CACHED = 2**24  # bytes of keys and values that stay in the L2 cache beside all else
_EMULATED = 3  # multiprocessors, where there are none
_DTYPES = {torch.bfloat16: gl.bfloat16, torch.float16: gl.float16}


def room_for(launch: Launch, asked: Asked) -> Room:
    """Return room for what is asked of all rows, in one piece, which `run` relies on."""
    p = launch.problem
    rows = launch.empty(5, p.batch, p.heads, p.q_len)
    spoilt, faint = launch.flags(entropy=asked.entropy)
    return Room(
        out=launch.empty(p.batch, p.heads, p.q_len, p.value_dim, dtype=launch.inputs.query.dtype),
        lse=rows[0],
        shift=rows[1],
        factor=rows[2],
        peak=rows[3] if asked.peak else None,
        entropy=rows[4] if asked.entropy else None,
        spoilt=spoilt,
        faint=faint,
    )


def run(launch: Launch, room: Room, strip: Strip) -> None:
    """Launch the kernel for a strip of rows, which begins and ends with whole tiles."""
    p, x = launch.problem, launch.inputs
    tiles = strip.rows // hopper.BLOCK
    count = tiles * strip.pairs
    matrices = [_matrix(tensor) for tensor in (x.query, x.key, x.value)]
    rows = (hopper.ROWS, hopper.BLOCK, hopper.BLOCK)
    sources = [
        _descriptor(tensor, matrix, height, p.head_dim)
        for tensor, matrix, height in zip((x.query, x.key, x.value), matrices, rows, strict=True)
    ]
    offset = 0 if p.q_offset is None else int(p.q_offset[0])
    hopper.look_up_kernel[(min(count, multiprocessors(launch.device, _EMULATED)),)](
        *sources,
        _descriptor(room.out, _matrix(room.out), hopper.ROWS, p.head_dim),
        room.lse,
        p.batch * p.heads * p.q_len,
        room.lse if strip.maxima is None else strip.maxima,
        room.spoilt,
        room.spoilt if room.faint is None else room.faint,
        torch.zeros(1, dtype=torch.int32, device=launch.device),
        (p.heads, p.group, *(matrix[3:] for matrix in matrices)),
        launch.sizes.unit,
        p.q_len,
        p.kv_len // hopper.BLOCK,
        offset // hopper.BLOCK,
        strip.pair,
        strip.row // hopper.BLOCK,
        count,
        tiles,
        _beside(launch, strip),
        HEAD_DIM=p.head_dim,
        STAGES=_STAGES,
        CAUSAL=p.causal,
        ENTROPY=room.entropy is not None,
        MAXIMA=strip.maxima is not None,
        num_warps=hopper.WARPS,
        maxnreg=hopper.REGISTERS,
    )


def _matrix(tensor: Any) -> Matrix:
    matrix = as_matrix(tuple(tensor.shape), tensor.stride())
    assert matrix is not None  # noqa: S101 (`unsupported` refuses what is none)
    return matrix


def _descriptor(tensor: Any, matrix: Matrix, height: int, dim: int) -> TensorDescriptor:
    layout = gl.NVMMASharedLayout.get_default_for([height, dim], _DTYPES[tensor.dtype])
    shape = [matrix.rows, matrix.columns]
    return TensorDescriptor(tensor, shape, [matrix.step, 1], [height, dim], layout)


def _beside(launch: Launch, strip: Strip) -> int:
    """Return how many heads are taken at a time: a divisor of all, whose keys stay in the cache."""
    p = launch.problem
    each = 2 * p.kv_len * p.head_dim * p.dtype.itemsize
    most = max(min(_CACHED // each, strip.pairs), 1)
    return next(number for number in range(most, 0, -1) if strip.pairs % number == 0)
