"""One strip by the Hopper kernel, emulated, and what the oracle says of it."""

from dataclasses import dataclass
from typing import NamedTuple

import emulation
import numpy as np
import sent
import torch

import oracle
from budget import assert_within_budget
from softlookup.backends.triton import forward, hopper, hopper_launch
from softlookup.backends.triton.launch import launch_of
from softlookup.backends.triton.maxima import CHUNK, Strip
from softlookup.problem import build_problem

OTHERS = ("window", "mask", "bias", "kv_lens", "scale", "softcap", "sinks")


@dataclass(frozen=True)
class Kind:
    """A lookup that the kernel takes."""

    causal: bool = False
    head_dim: int = 64
    dtype: str = "float16"
    q_len: int = 256
    kv_len: int = 256
    q_offset: int = 0
    batch: int = 1
    heads: tuple[int, int] = (2, 2)  # kv_heads, group
    spread: float = 2.0

    def tensors(self, seed=0):
        generator = torch.Generator().manual_seed(seed)
        kv_heads, group = self.heads
        shapes = [
            (self.batch, kv_heads * group, self.q_len, self.head_dim),
            (self.batch, kv_heads, self.kv_len, self.head_dim),
            (self.batch, kv_heads, self.kv_len, self.head_dim),
        ]
        query, key, value = (torch.randn(shape, generator=generator) for shape in shapes)
        return [x.to(getattr(torch, self.dtype)) for x in (query * self.spread, key, value)]

    def problem(self, query, key, value):
        return build_problem(
            query, key, value, causal=self.causal, q_offset=self.q_offset, **dict.fromkeys(OTHERS)
        )


class Ran(NamedTuple):
    room: object
    maxima: object


def run(monkeypatch, problem, *, entropy=True, maxima=True, seed=0, haste=0.3, source=None):
    """Return what the emulated kernel makes of all rows of a problem."""
    monkeypatch.setattr(hopper, "look_up_kernel", emulation.Emulated(seed, haste, source))
    launch = launch_of(problem)
    room = hopper_launch.room_for(launch, forward.Asked(entropy=entropy, peak=True))
    room.out.fill_(float("nan"))
    pairs, held = problem.batch * problem.heads, None
    if maxima:
        shape = (pairs, problem.kv_len // CHUNK, problem.q_len, hopper_launch.ONLY_PARTS)
        held = torch.full(shape, float("-inf"))
    hopper_launch.run(launch, room, Strip(0, pairs, 0, problem.q_len, held))
    return Ran(room, held)


def expected(kind, tensors, dtype=None):
    """Return the oracle's answer; in the inputs' own dtype where `dtype` is given."""
    arrays = [sent.brought(tensor) for tensor in tensors]
    return oracle.lookup(*arrays, causal=kind.causal, q_offset=kind.q_offset, dtype=dtype)


def assert_right(kind, tensors, ran):
    """Compare everything that a run stored with the oracle."""
    exact = expected(kind, tensors)
    naive = expected(kind, tensors, sent.brought(tensors[0]).dtype)
    single = expected(kind, tensors, np.float32)
    room = ran.room
    assert_within_budget(sent.brought(room.out), exact.out, naive.out, "out")
    assert_within_budget(room.lse.numpy(), exact.lse, single.lse, "lse", size=20.0)
    scores = np.where(exact.visible, exact.scores, -np.inf)
    weights = np.exp(scores - room.shift.numpy()[..., None]) * room.factor.numpy()[..., None]
    assert_within_budget(
        weights.astype(np.float32), exact.weights, single.weights, "normaliser", size=20.0
    )
    peak = scores.max(-1)
    assert_within_budget(room.peak.numpy(), peak, peak.astype(np.float32), "peak", size=20.0)
    assert not room.spoilt.any()
    if room.entropy is not None:
        entropy = oracle.facts(exact, kind.heads[0])["entropy"]
        naive = oracle.facts(single, kind.heads[0])["entropy"].astype(np.float32)
        assert_within_budget(room.entropy.numpy(), entropy, naive, "entropy", size=20.0)
        assert not room.faint.any()
    if ran.maxima is not None:
        # of a chunk of 32 keys, part p holds those whose position modulo 8 is 2 p or 2 p + 1
        parts = scores.reshape(-1, kind.q_len, kind.kv_len // 32, 4, 4, 2).max((-1, -3))
        parts = parts.transpose(0, 2, 1, 3) * np.log2(np.e)
        narrow = parts.astype(np.float32)
        assert_within_budget(ran.maxima.numpy(), parts, narrow, "maxima", size=20.0)
