"""Every case on a GPU, interpreted: answers, facts of rows, and what changes no bit."""

import dataclasses
import re

import borrowed
import compiling
import numpy as np
import pytest
import torch
from aloft import problem_of
from looked import inspect, look_of

import cases
import softlookup as sl
from agreement import assert_answer, assert_same_bits, expect
from looking import assert_facts, everything, is_asked, positioned
from softlookup.backends.triton import answers, forward, splitting
from softlookup.backends.triton.launch import launch_of
from softlookup.backends.triton.maxima import Strip
from softlookup.device import DeviceArray
from softlookup.facts import Facts

LONG = [name for name in borrowed.NAMES if name.startswith(("several tiles", "many keys"))]
TILES = [name for name in LONG if name.startswith("several tiles")]
MANY = [  # of those whose queries are few, what is looked up as if they were many, too
    "plain in float16", "causal with leading empty rows", "an offset for each batch entry",
    "window both ways", "mask that leaves empty rows", "bias in bfloat16 on float16",
    "padded keys, one entry empty", "negative scale and softcap", "scale 0",
    "sinks and empty rows", "grouped heads", "everything at once", "no keys but sinks",
    "head_dim 0", "value_dim 0", "transposed in memory",
]  # fmt: skip


def case_of(name):
    """Return the call of a case with the position that facts need, its lookup, and what to ask."""
    call = cases.build(name)
    call = call._replace(options=positioned(look_of(*call.arrays, **call.options), call.options))
    look = look_of(*call.arrays, **call.options)
    asked = {"entropy": True, "max_score": True, "sink": look.problem.sinks is not None}
    return call, look, asked


def assert_case(name):
    call, look, asked = case_of(name)
    found = inspect(look, **asked)
    narrow = cases.naive(name, cases.accumulator(call.query.dtype))
    assert found.backend == "cuda"
    assert_answer(found, cases.exact(name), cases.naive(name), narrow)
    assert_facts(found, asked, call, look.problem)
    bare = inspect(look)
    assert_same_bits(bare.out, found.out)
    assert_same_bits(bare.lse, found.lse)


BOTH = ("everything at once", "sinks and empty rows", "padded keys, one entry empty", "scale 0")


@pytest.mark.parametrize(
    "name", [n for n in borrowed.NAMES if n in BOTH or n not in (*MANY, *TILES)]
)
def test_few_queries_are_exact_and_facts_change_no_bit(name):
    assert_case(name)


SEGMENTED = {
    "plain": {},
    "padded": {"kv_lens": [190, 3], "q_offset": [100, 0]},
    "sinks": {"sinks": np.array([0.5, -2.0, 1.0, 0.0], np.float32), "q_offset": 180},
    "empty rows": {"mask": np.arange(200) % 7 < np.arange(3)[:, None], "q_offset": 190},
    "capped": {"bias": np.linspace(-3, 3, 200)[None].astype(np.float32), "softcap": 2.0},
}


@pytest.mark.parametrize("name", SEGMENTED)
def test_segments_that_are_merged_are_exact_and_facts_change_no_bit(name, monkeypatch):
    monkeypatch.setattr(splitting, "_LEAST_KEYS", 64)
    monkeypatch.setattr(splitting, "_INTERPRETED", 64)
    rng = np.random.default_rng(6)
    shapes = (2, 4, 3, 16), (2, 2, 200, 16), (2, 2, 200, 5)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    options = {"q_offset": 0, **SEGMENTED[name], "causal": name in ("padded", "sinks")}
    look = look_of(*arrays, **options)
    asked = {"entropy": True, "max_score": True, "sink": name == "sinks", "top": 3}
    exact, naive, narrow = expect(*arrays, **options)
    found, bare = inspect(look, **asked), inspect(look)
    assert_answer(found, exact, naive, narrow)
    assert_facts(found, asked, cases.Call(*arrays, options), look.problem)
    assert_same_bits(bare.out, found.out)
    assert_same_bits(bare.lse, found.lse)


@pytest.mark.parametrize("name", [*MANY, *LONG])
def test_many_queries_are_exact_and_facts_change_no_bit(name, monkeypatch):
    monkeypatch.setattr(splitting, "_MOST_ROWS", 0)
    assert_case(name)


@pytest.mark.parametrize("most", [0, 64])
def test_a_fact_alone_has_the_bits_it_has_among_others(most, monkeypatch):
    monkeypatch.setattr(splitting, "_MOST_ROWS", most)
    _, look, asked = case_of("sinks")
    among = inspect(look, **asked)
    for fact in filter(lambda fact: is_asked(asked, fact), asked):
        alone = inspect(look, **{fact: True})
        assert_same_bits(getattr(alone, fact), getattr(among, fact))


@pytest.mark.parametrize("name", ["sinks", "padded keys, one entry empty"])
def test_all_facts_at_once(name):
    call, look, _ = case_of(name)
    asked = everything(look, np.random.default_rng(len(name)))
    found = inspect(look, **asked)
    assert_facts(found, asked, call, look.problem)
    assert_same_bits(found.out, inspect(look).out)


SPECIAL = {
    "a hidden value": lambda q, k, v: v.__setitem__((0, 5), np.nan),
    "values": lambda q, k, v: (
        v.__setitem__((0, 8, 3), np.nan), v.__setitem__((0, 9, 2), np.inf),
        v.__setitem__((0, 10, 2), -np.inf), v.__setitem__((0, 11, 1), -np.inf),
    ),
    "a hidden key": lambda q, k, v: k.__setitem__((0, 5), np.inf),
    "a query": lambda q, k, v: q.__setitem__((1, 2, 0), np.nan),
    "a score of inf": lambda q, k, v: (k.__setitem__((0, 7), np.inf), q.__setitem__((0, 1), 1.0)),
    "a score of -inf": lambda q, k, v: (
        k.__setitem__((0, 7), -np.inf), np.abs(q, out=q), v.__setitem__((0, 7, 4), np.inf),
    ),
    "scores of -inf": lambda q, k, v: (k.__setitem__(slice(None), -np.inf), np.abs(q, out=q)),
}  # fmt: skip


@pytest.mark.parametrize("most", [0, 64])
@pytest.mark.parametrize("sinks", [None, np.array([0.5, -2.0], np.float32)], ids=["", "sinks"])
@pytest.mark.parametrize("kind", SPECIAL)
def test_what_is_not_finite_stays_where_it_belongs(kind, sinks, most, monkeypatch):
    monkeypatch.setattr(splitting, "_MOST_ROWS", most)
    rng = np.random.default_rng(3)
    shapes = (2, 11, 16), (1, 53, 16), (1, 53, 5)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    with np.errstate(all="ignore"):
        SPECIAL[kind](*arrays)
    options = {"mask": np.arange(53) != 5, "sinks": sinks, "q_offset": 41, "causal": True}
    look = look_of(*arrays, **options)
    asked = {"entropy": True, "max_score": True, "sink": sinks is not None}
    found, bare = inspect(look, **asked), inspect(look)
    exact, naive, narrow = expect(*arrays, **options)
    assert_answer(found, exact, naive, narrow)
    assert_facts(found, asked, cases.Call(*arrays, options), look.problem)
    assert_same_bits(bare.out, found.out)


@pytest.mark.parametrize("key", [0, 40])
def test_an_infinite_value_whose_weight_is_0_is_nan_wherever_it_lies(key):
    """It is 0 times infinity; a tile of keys that was the best so far is forgotten."""
    arrays = [np.zeros(shape, np.float32) for shape in ((1, 16), (75, 16), (75, 4))]
    arrays[0][0, 0], arrays[1][70, 0] = 20.0, 20.0
    arrays[2][key] = np.inf, -np.inf, 1.0, 2.0
    found = inspect(look_of(*arrays, scale=1.0))
    np.testing.assert_array_equal(found.out, [[np.nan, np.nan, 0.0, 0.0]])
    np.testing.assert_array_equal(found.out, sl.attend(*arrays, scale=1.0, backend="blocked"))


def test_a_cap_holds_what_is_infinite():
    rng = np.random.default_rng(4)
    shapes = (3, 16), (19, 16), (19, 5)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    arrays[0][1, 0], arrays[1][7], arrays[1][9] = np.nan, np.inf, -np.inf
    np.abs(arrays[0], out=arrays[0])
    found = inspect(look_of(*arrays, softcap=2.0), max_score=True)
    exact, naive, narrow = expect(*arrays, softcap=2.0)
    assert np.isfinite(exact.out[[0, 2]]).all()
    assert_answer(found, exact, naive, narrow)


@pytest.mark.parametrize("causal", [False, True])
def test_free_tiles_need_no_visibility_and_see_a_score_of_minus_infinity(causal):
    """Without a mask: what the loop that tests nothing has to leave to the careful kernel."""
    rng = np.random.default_rng(5)
    shapes = (1, 130, 16), (1, 261, 16), (1, 261, 16)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    np.abs(arrays[0], out=arrays[0])
    arrays[1][0, 3], arrays[2][0, 200, 1] = -np.inf, np.nan
    options = {"causal": causal, "q_offset": 131}
    look = look_of(*arrays, **options)
    asked = {"entropy": True, "max_score": True}
    exact, naive, narrow = expect(*arrays, **options)
    found = inspect(look, **asked)
    assert_answer(found, exact, naive, narrow)
    assert_facts(found, asked, cases.Call(*arrays, options), look.problem)
    assert_same_bits(inspect(look).out, found.out)


def test_strips_change_no_bit():
    arrays = [np.random.default_rng(1).standard_normal((3, 300, 16)).astype("f4") for _ in "qkv"]
    launch = launch_of(look_of(*arrays, causal=True).problem)
    whole, cut = (forward.room_for(launch, forward.Asked(entropy=True)) for _ in range(2))
    forward.run(launch, whole, Strip(0, 3, 0, 300))
    for strip in (Strip(0, 1, 0, 300), Strip(1, 2, 0, 128), Strip(1, 2, 128, 172)):
        forward.run(launch, cut, strip)
    for name in ("out", "lse", "entropy"):
        assert torch.equal(getattr(whole, name), getattr(cut, name)), name


@pytest.mark.parametrize("heads", [1, 3, 8])
def test_flags_lie_where_nothing_is_compiled_anew(heads):
    arrays = [np.ones((5, heads, 2, 16), np.float32) for _ in "qkv"]
    room = forward.room_for(launch_of(look_of(*arrays).problem), forward.Asked(entropy=True))
    for flags in (room.spoilt, room.faint):
        assert flags.shape == (5, heads)
        assert flags.is_contiguous()
        assert not flags.any()
        assert flags.data_ptr() % 16 == 0


def test_descriptors_read_what_pointers_read():
    rng = np.random.default_rng(2)
    arrays = [rng.standard_normal((2, 2, 96, 40)).astype(np.float16) for _ in "qkv"]
    problem = look_of(*arrays, causal=True).problem
    launch = launch_of(problem)
    rooms = [forward.room_for(launch, forward.Asked()) for _ in range(2)]
    for room, fits in zip(rooms, (False, True), strict=True):
        forward.run(launch._replace(fits_descriptors=fits), room, Strip(0, 4, 0, 96))
    assert torch.equal(rooms[0].out, rooms[1].out)


def launch_answers(facts=True, top=0, descriptors=True, **sizes):
    problem = problem_of(**sizes)
    launch = launch_of(problem)
    launch = launch._replace(fits_descriptors=descriptors and launch.fits_descriptors)
    answers.run(launch, Facts(entropy=facts, max_score=facts, top=top), forward)


@pytest.mark.parametrize(
    ("top", "causal", "head_dim"),
    [(0, True, 64), (0, False, 128), (0, True, 128), (8, True, 64), (8, True, 128)],
)
def test_hopper_keeps_everything_in_registers(head_dim, causal, top):
    kernels = compiling.launches(
        "test_forward:launch_answers", "sm_90a", head_dim=head_dim, causal=causal,
        facts=top > 0, top=top,
    )  # fmt: skip
    kernel = next(kernel for kernel in kernels if kernel.name == "forward_kernel")
    assert kernel.spill_stores == kernel.spill_loads == 0
    assert kernel.shared <= 232448
    assert kernel.count(r"\bHGMMA\b")
    assert kernel.count(r"\bUTMALDG\b")
    assert kernel.count(r"\bMUFU.EX2\b") <= 144  # two loops of a tile, and the ends of rows


@pytest.mark.parametrize("length", [1, 128])
def test_a_shift_in_units_is_rounded_where_it_is_stored_as_where_it_is_read(length):
    """Else a factor cancels a rounding that is none, and weights do not sum to 1.

    Interpreted, nothing is contracted: one rounding of a product and a sum shows in the PTX alone.
    """
    kernels = compiling.launches("test_forward:launch_answers", "sm_90a", length=length, top=3)
    rounded = {
        kernel.name: re.findall(r"fma\.rn\.f32 .*, 0f[3B]FB8AA3B, (\S+);", kernel.ptx)
        for kernel in kernels
    }
    stored = {"forward_kernel", "parts_kernel", "merge_kernel"}
    assert {name for name, addends in rounded.items() if addends} - stored == {"keys_kernel"}
    assert stored & {name for name, addends in rounded.items() if addends}
    for addends in rounded.values():
        assert set(addends) <= {"0f00000000"}


@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_ampere_has_room(head_dim):
    kernels = compiling.launches(
        "test_forward:launch_answers", "sm_80", head_dim=head_dim, causal=True, top=8
    )
    for kernel in kernels:
        assert kernel.shared <= 101376, kernel.name


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
def test_every_option_compiles(target):
    more = {"mask": True, "bias": True, "kv_lens": 999, "softcap": 30.0, "sinks": True}
    for some in ({"window": [100, 0], **more}, {"dtype": "float32"}, {"length": 1, "top": 3}):
        compiling.launches("test_forward:launch_answers", target, **some)


def launch_calls(calls):
    """Launch decoding by each (keys, window): what a kernel is compiled for."""
    for length, left in calls:
        problem = problem_of(length=length, head_dim=64, window=[left, 0])
        query = DeviceArray(problem.query.tensor[:, :, :1].clone())
        offset = np.array([length - 1])
        problem = dataclasses.replace(problem, query=query, q_offset=offset)
        answers.run(launch_of(problem), Facts(entropy=True), forward)


def test_what_is_of_one_segment_is_not_merged():
    kernels = compiling.launches("test_forward:launch_answers", "sm_90a", length=64, heads=2)
    assert [kernel.name for kernel in kernels] == ["parts_kernel", "careful_kernel"]
    assert all(kernel.spill_stores == 0 for kernel in kernels)


def test_lengths_and_ends_that_change_compile_nothing_anew():
    """Among them are 1 and 16, the numbers that Triton compiles anew for."""
    calls = [
        (4095, 4094),
        (4096, 4094),
        (4097, 4080),
        (4112, 2000),
        (4096, 4095),
    ]  # first: 0, 1, 16
    kernels = compiling.launches("test_forward:launch_calls", "sm_80", calls=calls)
    names = {kernel.name for kernel in kernels}
    assert names == {"parts_kernel", "merge_kernel", "careful_kernel"}
    assert len(kernels) == len(names) * len(calls)
    assert len({(kernel.name, kernel.sass) for kernel in kernels}) == len(names)
