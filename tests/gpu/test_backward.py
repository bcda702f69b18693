"""Gradients on a GPU: every case and every edge as elsewhere, over many tiles, without chance."""

import re

import borrowed
import compiling
import numpy as np
import pytest
import sent
import torch

import cases
import slopes
from agreement import assert_same_bits
from cases import Case
from softlookup.backends.triton import backward
from softlookup.device import DeviceArray
from softlookup.errors import BackendError
from softlookup.gradients import Residuals
from softlookup.pooling import Normaliser
from softlookup.problem import build_problem

EDGES = borrowed.module("core/test_gradients.py")
TORCH = borrowed.module("integrations/test_torch_gradients.py")

for _name in (
    "test_a_bias_is_summed_over_the_axes_that_it_was_broadcast_over",
    "test_a_bias_repeated_by_the_caller_has_a_gradient_for_each_repeat",
    "test_over_several_batch_axes_and_in_one_head",
    "test_all_heads_of_one_kv_head_add_up",
    "test_a_row_that_sees_no_key_and_a_key_that_no_row_sees_get_nothing",
    "test_the_lse_of_an_empty_row_is_its_sink",
    "test_what_hidden_keys_hold_changes_nothing",
    "test_a_row_that_is_nan_spoils_what_it_sees_and_nothing_else",
    "test_a_gradient_that_is_not_finite_reaches_what_its_row_weighs",
    "test_gradients_are_taken_in_any_float_dtype_and_any_strides",
):
    globals()[_name] = getattr(EDGES, _name)


@pytest.fixture
def backend(monkeypatch):
    """Let the tests of `EDGES` look up tensors on this backend."""
    monkeypatch.setattr(EDGES, "sl", borrowed.TENSORS)
    return "cuda"


@pytest.mark.parametrize("name", borrowed.NAMES)
def test_every_case_is_exact(name):
    call = cases.build(name)
    out_grad, lse_grad = slopes.draw(call, np.random.default_rng(len(name)))
    look = sent.Lookup(*call.arrays, **call.options, backend="cuda")
    slopes.assert_gradients(
        look.gradients(out_grad, lse_grad=lse_grad), call, out_grad, lse_grad, rounded=True
    )


@pytest.mark.parametrize("options", [{}, {"causal": True, "q_offset": 0, "softcap": 2.0}], ids=str)
def test_what_an_answer_keeps_goes_with_it(options):
    call = Case("kept", heads=(4, 2), dtype="float16").build()
    slopes.assert_freed(*map(sent.sent, call.arrays), **options, backend="cuda")


def test_float64_is_refused_by_name():
    call = Case("wide", dtype="float64").build()
    look = sent.Lookup(*call.arrays, backend="cuda")
    with pytest.raises(BackendError, match=r"cuda: .*float64.*cpu\(\)"):
        look.gradients(call.query @ np.ones((5, 13)))


MANY = {
    "plain": {},
    "causal": {"causal": True, "q_offset": 19},
    "causal with leading empty rows": {"causal": True, "q_offset": -21},
    "a narrow window": {"window": (5, 4), "q_offset": 7},
    "a window of which the end is open": {"window": (3, None), "q_offset": 2},
    "padding": {"kv_lens": np.array([33])},
    "a tile of padding alone": {"kv_lens": np.array([16]), "softcap": 1.5},
    "all at once": {"causal": True, "q_offset": 11, "window": (29, 2), "softcap": 2.0,
                    "kv_lens": np.array([41]), "scale": -0.4,
                    "sinks": np.float32([0.5, -1.0])},
}  # fmt: skip


@pytest.mark.parametrize("options", MANY.values(), ids=MANY)
@pytest.mark.parametrize(("dtype", "rows", "keys"), [("float32", 16, 32), ("float16", 32, 16)])
def test_over_many_tiles(dtype, rows, keys, options, monkeypatch):
    monkeypatch.setattr(backward, "tile_of", lambda *_: backward.Tile(rows, keys, 4, 1))
    call = Case("many", (1,), (1, 2), 37, 53, 19, 7, dtype).build()
    rng = np.random.default_rng(3)
    mask = {"mask": rng.random((37, 53)) < 0.7} if "window" in options else {}
    bias = {"bias": rng.standard_normal((2, 1, 53), np.float32)} if "softcap" in options else {}
    call = call._replace(options={**options, **mask, **bias})
    out_grad, lse_grad = slopes.draw(call, rng)
    look = sent.Lookup(*call.arrays, **call.options, backend="cuda")
    slopes.assert_gradients(
        look.gradients(out_grad, lse_grad=lse_grad), call, out_grad, lse_grad, rounded=True
    )


def test_keys_beyond_the_last_stay_silent_where_all_others_are_far_away():
    call = Case("far", (1,), (1, 1), 5, 11, 4, 3).build()
    call.query[:], call.key[:] = np.abs(call.query) + 9, -np.abs(call.key) - 9  # exp(-score) is inf
    out_grad, lse_grad = slopes.draw(call, np.random.default_rng(9))
    look = sent.Lookup(*call.arrays, backend="cuda")
    slopes.assert_gradients(
        look.gradients(out_grad, lse_grad=lse_grad), call, out_grad, lse_grad, rounded=True
    )


@pytest.mark.parametrize("shape", [(37, 53), (2, 37, 53), (3, 1, 37, 53), (37, 1), (1, 1)], ids=str)
def test_a_bias_over_many_tiles(shape, monkeypatch):
    tile = backward.Tile(32, 16, 4, 1)
    monkeypatch.setattr(backward, "tile_of", lambda *_: tile)
    call = Case("bias", (3,), (1, 2), 37, 53, 5, 3).build()
    rng = np.random.default_rng(4)
    bias = rng.standard_normal(shape, np.float32)
    bias[rng.random(shape) < 0.2] = -np.inf
    call = call._replace(options={"bias": bias, "causal": True, "q_offset": 16})
    out_grad, lse_grad = slopes.draw(call, rng)
    found = sent.Lookup(*call.arrays, **call.options, backend="cuda").gradients(
        out_grad, lse_grad=lse_grad
    )
    size = 1.0
    if shape == (1, 1):  # one number sums all rows; each brings a rounding of its delta, either way
        size = slopes.largest_delta(call, out_grad, lse_grad) * np.sqrt(out_grad[..., 0].size)
    slopes.assert_gradients(found, call, out_grad, lse_grad, size=size, rounded=True)


@pytest.mark.parametrize("sizes", [{"q_len": 0}, {"kv_len": 0}, {"batch": (0,)}], ids=str)
@pytest.mark.parametrize("axes", ["qk", "q1", "1k", "11", "h11"])
def test_a_bias_where_there_is_nothing(axes, sizes):
    case = Case("nothing", **sizes)
    lengths = {"q": case.q_len, "k": case.kv_len, "h": 3, "1": 1}
    call = case.build()._replace(options={"bias": np.ones([lengths[axis] for axis in axes])})
    out_grad, lse_grad = slopes.draw(call, np.random.default_rng(10))
    look = sent.Lookup(*call.arrays, **call.options, backend="cuda")
    slopes.assert_gradients(
        look.gradients(out_grad, lse_grad=lse_grad), call, out_grad, lse_grad, rounded=True
    )


def test_only_the_kv_head_that_holds_nan_is_looked_at_number_by_number(monkeypatch):
    call = Case("one", (2,), (2, 1), 21, 35, 6, 9).build()
    rng = np.random.default_rng(5)
    out_grad, _ = slopes.draw(call, rng)
    mask = rng.random(35) < 0.6
    clean = sent.Lookup(*call.arrays, mask=mask, backend="cuda").gradients(out_grad)
    call.value[1, 0][~mask] = np.nan
    found = sent.Lookup(*call.arrays, mask=mask, backend="cuda").gradients(out_grad)
    for one, other in zip(clean[:3], found[:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
        assert_same_bits(one[0], other[0])
        assert_same_bits(one[1, 1], other[1, 1])
    seen = []
    kernel = backward.keys_kernel

    class Recorded:
        def __getitem__(self, grid):
            def run(x, y, *rest, **switches):
                seen.append((switches["CALM"], y.spoilt.tolist()))
                kernel[grid](x, y, *rest, **switches)

            return run

    monkeypatch.setattr(backward, "keys_kernel", Recorded())
    sent.Lookup(*call.arrays, mask=mask, backend="cuda").gradients(out_grad)
    assert seen == [(True, [[0, 0], [1, 0]]), (False, [[0, 0], [1, 0]])]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("options", ["nothing", "causal", "a tight softcap", "all at once"])
def test_autograd_of_the_written_out_formula(dtype, options):
    TORCH.test_gradients_are_those_of_the_written_out_formula(dtype, TORCH.OPTIONS[options], "cuda")


def test_no_bit_depends_on_whether_a_gradient_is_wanted():
    TORCH.test_no_bit_depends_on_whether_a_gradient_is_wanted("cuda")


def test_a_loss_of_the_lse_alone_and_inputs_that_need_no_gradient():
    draw = torch.Generator().manual_seed(8)
    query, key, value = torch.randn(3, 1, 2, 9, 8, generator=draw)
    key.requires_grad_()
    from softlookup.integrations.torch import attend_with_lse

    _, lse = attend_with_lse(query, key, value, backend="cuda")
    lse.sum().backward()
    exact = key.detach().double().requires_grad_()
    scaled = (query.double() @ exact.mT) * 8**-0.5
    torch.logsumexp(scaled, -1).sum().backward()
    assert query.grad is None
    torch.testing.assert_close(key.grad.double(), exact.grad, rtol=1e-5, atol=1e-6)


# Without numbers: on torch's device "meta" nothing can be read, so nothing can wait.


class Nothing:
    """In the place of a kernel: it is launched and does nothing."""

    launched = 0

    def __getitem__(self, _):
        return self

    def __call__(self, *_, **__):
        Nothing.launched += 1


KERNELS = ("rows_start_kernel", "keys_start_kernel", "keys_kernel", "rows_kernel", "bias_kernel")


@pytest.mark.parametrize("bias", [None, (33,), (17, 1), (4, 17, 33)], ids=str)
def test_nothing_waits_for_the_device(bias, monkeypatch):
    for name in KERNELS:
        monkeypatch.setattr(backward, name, Nothing())
    Nothing.launched = 0
    problem, kept, grad, of_lse = _given("meta", bias=bias, sinks=True)
    found = backward.gradients_of(problem, kept, grad, of_lse, bias=bias is not None)
    assert Nothing.launched == 6 + (bias == (4, 17, 33))
    assert found.query.shape == problem.query.shape
    assert found.key.shape == problem.key.shape
    assert found.value.shape == problem.value.shape
    assert found.sinks.shape == (4,)
    assert bias is None or found.bias.shape == bias


def _given(device, *, batch=2, heads=4, kv_heads=2, q_len=17, kv_len=33, head_dim=8, value_dim=16,
           dtype="bfloat16", bias=None, mask=None, sinks=False, lens=None, **options):  # fmt: skip
    """Return a problem, its residuals and incoming gradients, without any numbers."""

    def room(*shape, kind=None):
        kind = kind or getattr(torch, dtype)
        return DeviceArray(torch.empty(shape, dtype=kind, device=device))

    query, out = (room(batch, heads, q_len, dim) for dim in (head_dim, value_dim))
    key, value = (room(batch, kv_heads, kv_len, dim) for dim in (head_dim, value_dim))
    of_rows = [room(batch, heads, q_len, kind=torch.float32) for _ in range(3)]
    defaults = {"causal": False, "q_offset": 0, "window": None, "scale": None, "softcap": None}
    problem = build_problem(
        query, key, value, **{**defaults, **options},
        mask=None if mask is None else room(*mask, kind=torch.bool),
        bias=None if bias is None else room(*bias, kind=torch.float32),
        sinks=room(heads, kind=torch.float32) if sinks else None,
        kv_lens=None if lens is None else np.array(lens),
    )  # fmt: skip
    return problem, Residuals(out, of_rows[0], Normaliser(*of_rows[1:])), out, of_rows[0]


# Compiled, not run.


def launch_backward(**sizes):
    problem, kept, grad, of_lse = _given("cpu", **sizes)
    backward.gradients_of(problem, kept, grad, of_lse, bias=problem.bias is not None)


def _compiled(target, **sizes):
    return compiling.launches("test_backward:launch_backward", target, **sizes)


FAR = {"q_len": 4096, "kv_len": 4096}


MAIN = [("sm_80", 64, True), ("sm_80", 128, True), ("sm_90a", 64, True), ("sm_90a", 128, True),
        ("sm_90a", 128, False), ("sm_100a", 128, True)]  # fmt: skip
SHARED = {"sm_80": 99 * 1024, "sm_90a": 227 * 1024, "sm_100a": 227 * 1024}
MATRICES = {"sm_80": r"\bHMMA\b", "sm_90a": r"\bHGMMA\b", "sm_100a": r"\bUTC\w*MMA\b"}


@pytest.mark.parametrize(("target", "dim", "causal"), MAIN, ids=str)
def test_the_main_kernels_spill_nothing(target, dim, causal):
    made = _compiled(target, head_dim=dim, value_dim=dim, causal=causal, **FAR)
    first, second, calm_keys, calm_rows, *careful = made
    assert [kernel.name for kernel in made[2:]] == ["keys_kernel", "rows_kernel"] * 2
    for kernel in (first, second, calm_keys, calm_rows):
        assert (kernel.stack, kernel.spill_stores, kernel.spill_loads) == (0, 0, 0), kernel.name
    assert all(kernel.shared <= SHARED[target] for kernel in made)
    assert all(kernel.count(MATRICES[target]) for kernel in (calm_keys, calm_rows, *careful))


@pytest.mark.parametrize("kernel", ["keys", "rows"])
@pytest.mark.parametrize("capability", [120, 121])
def test_a_gpu_with_little_shared_memory_has_small_tiles(kernel, capability):
    assert backward._tile(kernel, 128, capability) == backward._tile(kernel, 128, 89)
    assert backward._tile(kernel, 128, 90) != backward._tile(kernel, 128, 89)


OTHERS = {
    "everything": {"causal": True, "window": (100, 3), "mask": (1, 1, 17, 33), "softcap": 3.0,
                   "bias": (4, 17, 33), "sinks": True, "lens": [9, 33], "dtype": "float16"},
    "a bias of keys": {"bias": (4, 1, 33), "head_dim": 80, "value_dim": 40},
    "a bias of rows": {"bias": (17, 1), "dtype": "float32", "head_dim": 64},
    "one of everything": {"batch": 1, "heads": 1, "kv_heads": 1, "q_len": 1, "kv_len": 1,
                          "head_dim": 1, "value_dim": 1, "bias": (1, 1), "sinks": True},
    "a mask and a bias of pairs, 128 dims": {
        "head_dim": 128, "value_dim": 128, "q_len": 1024, "kv_len": 1024,
        "mask": (1, 1, 1024, 1024), "bias": (1024, 1024),
    },
    "the widest": {"head_dim": 256, "value_dim": 256, **FAR},
    "the widest in float32": {"head_dim": 256, "value_dim": 256, "dtype": "float32"},
}  # fmt: skip
TARGETS = dict.fromkeys(OTHERS, ("sm_90a",)) | {
    "everything": ("sm_80",),
    "a mask and a bias of pairs, 128 dims": ("sm_80",),
    "the widest": ("sm_80", "sm_90a"),
    "the widest in float32": ("sm_80",),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_kernel_compiles(name):
    for target in TARGETS[name]:
        made = _compiled(target, **OTHERS[name])
        assert all(kernel.shared <= SHARED[target] for kernel in made)


def test_no_kernel_adds_floats_in_the_order_of_chance():
    made = _compiled("sm_90a", **OTHERS["everything"])
    adds = re.compile(r"\b(atom|red)\.\S*\.b?f\d+")
    assert len(made) == 7
    assert not any(adds.search(kernel.ptx) for kernel in made)
    assert any(re.search(r"\b(atom|red)\.\S*\.max\.\S*32", kernel.ptx) for kernel in made)
