"""How kernels are launched: which arrays go through descriptors, and by how many programs."""

from collections import Counter

import numpy as np
import pytest
import torch
import triton.language as tl
from aloft import problem_of
from looked import inspect, look_of
from triton.runtime.interpreter import interpreter_builder

import softlookup as sl
from softlookup.backends.triton import careful, forward
from softlookup.backends.triton.launch import Launch, launch_of
from softlookup.backends.triton.maxima import Strip


def test_each_array_goes_through_a_descriptor_where_it_fits():
    """One that is repeated, begins askew or is transposed leaves the others theirs."""
    room = torch.zeros(2, 4, 64, 72, dtype=torch.float16)
    fits, narrow = room[..., :64], room[..., :63]
    launch = launch_of(problem_of(length=64, head_dim=64))._replace(fits_descriptors=True)
    for tensor, expected in [
        (fits, True), (room[1:], True), (room[..., 8:], True), (narrow, True), (room[:1, :1], True),
        (fits[:, :1].expand(2, 4, 64, 64), False), (room[..., 4:68], False),
        (fits.transpose(2, 3), False), (room[:, :, :0], False), (None, False),
        (torch.zeros(1, 1, 64, 63, dtype=torch.float16), False),
    ]:  # fmt: skip
        assert (launch.descriptor(tensor, 16, 64) is not None) == expected
    without = launch._replace(fits_descriptors=False)
    assert without.descriptor(fits, 16, 64) is None


def test_a_repeated_key_is_read_past_the_descriptors_of_the_others():
    rng = np.random.default_rng(6)
    arrays = [rng.standard_normal((2, 2, 96, 40)).astype(np.float16) for _ in "qkv"]
    arrays[1][:, 1] = arrays[1][:, 0]
    look = look_of(*arrays, causal=True)
    repeated = look.problem.key.tensor[:, :1].expand(2, 2, 96, 40)
    again = sl.Lookup(
        look.problem.query.tensor, repeated, look.problem.value.tensor, causal=True, backend="cuda"
    )
    rooms = []
    for problem, fits in ((look.problem, False), (again.problem, True)):
        launch = launch_of(problem)._replace(fits_descriptors=fits)
        rooms.append(forward.room_for(launch, forward.Asked()))
        forward.run(launch, rooms[-1], Strip(0, 4, 0, 96))
    assert torch.equal(rooms[0].out, rooms[1].out)


@pytest.mark.parametrize("heads", [1, 2, 5, 13])
def test_few_programs_answer_the_flagged_heads_alone(heads, monkeypatch):
    """Whether there are more of them than multiprocessors (4 here), or several for each."""
    rng, programs, start = np.random.default_rng(heads), [], Launch.start

    def started(launch, kernel, count, *arguments, **options):
        programs.append((kernel, count))
        start(launch, kernel, count, *arguments, **options)

    monkeypatch.setattr(Launch, "start", started)
    monkeypatch.setattr(careful, "_AT_ONCE", tl.constexpr(4))
    shapes = (2 * heads, 35, 16), (heads, 67, 16), (heads, 67, 5)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    mask = np.ones((35, 67), bool)
    mask[::2, 40] = False  # where a value that is not finite must not be seen
    calm = inspect(look_of(*arrays, mask=mask), entropy=True)
    arrays[2][heads - 1, 40] = np.nan, np.inf, -np.inf, 1.0, np.inf
    arrays[1][0, 3] = -np.inf  # whose entropy is flagged, where it is hit by positive queries
    arrays[0][:2] = np.abs(arrays[0][:2])
    found = inspect(look_of(*arrays, mask=mask), entropy=True)
    exact = sl.Lookup(*arrays, mask=mask, backend="blocked").inspect(entropy=True)
    for name in ("out", "entropy"):
        got, wanted = getattr(found, name), getattr(exact, name)
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6, err_msg=name)
    assert np.isnan(found.out[-1, 1::2, 0]).all()
    assert np.isfinite(found.out[-1, ::2]).all()
    if heads > 2:
        np.testing.assert_array_equal(found.out[2:-2], calm.out[2:-2])
    counts = [count for kernel, count in programs if kernel is careful.careful_kernel]
    assert counts == [4] * 2


def test_one_flagged_head_of_many_is_the_work_of_all_programs(monkeypatch):
    """By one program alone, an infinite value in long rows would hold the GPU up for seconds."""
    worked, answers = Counter(), careful._answer

    def answered(*given):
        worked[interpreter_builder.grid_idx[0]] += 1
        return answers(*given)

    monkeypatch.setattr(careful, "_answer", answered)
    arrays = [np.ones((13, length, 16), np.float32) for length in (16 * 10, 32, 32)]
    arrays[2][7, 5] = np.inf
    assert np.isinf(inspect(look_of(*arrays)).out[7]).all()
    assert sorted(worked.values()) == [2, 2, 3, 3]
