"""Parts of a lookup, by the core and by NumPy: cut anywhere, merged and ended, they are the whole.

Scores are halves of whole numbers, so that keys tie, exactly, also across the parts.
"""

import itertools

import numpy as np
import pytest

import softlookup as sl
from agreement import assert_same_bits
from softlookup import machine
from softlookup.backends import blocked, blocked_parts, cpu, cpu_parts
from softlookup.backends.pieces import facts_of_keys, keys_of, nothing_seen
from softlookup.facts import NO_FACTS, build_facts

ROWS, KEYS = 11, 9001
CHOSEN = np.array([7, 2, 2, 10, 0])
needs_core = pytest.mark.skipif(cpu.missing() is not None, reason=f"hardware: cpu: {cpu.missing()}")
BACKENDS = [pytest.param((cpu, cpu_parts), id="core", marks=needs_core),
            pytest.param((blocked, blocked_parts), id="NumPy")]  # fmt: skip
ASKED = {
    "nothing": {},
    "all": {"entropy": True, "sink": True, "max_score": True, "top": 7, "groups": ...,
            "distance": True},
    "a long list": {"top": 13},
    "groups": {"groups": ...},
    "distance": {"distance": True},
    "entropy and groups": {"entropy": True, "groups": ...},
}  # fmt: skip


def problem_of(dtype=np.float64, *, loud=False, **options):
    """Return a lookup whose rows see, each, other numbers that are hard to cut.

    Where it is `loud` a row that sees an infinite value sees a score later that is larger by 5,000.
    """
    rng = np.random.default_rng(5)
    shapes = (2, 4, ROWS, 6), (2, 2, KEYS, 6), (2, 2, KEYS, 3)
    query, key, value = (np.round(rng.standard_normal(shape)) for shape in shapes)
    key[:, :, 0] = 3 * query[:, ::2, 1]  # the best key of some rows is the first of all
    query[..., 0] = 1
    lost = [3, 4095, 4096, 6000, 8999]
    key[:, :, lost, 0] = -np.inf
    key[:, :, [700, 7000], 1] = np.nan
    value[:, :, 100, 0], value[:, :, 5000, 0], value[:, :, 8500, 1] = np.inf, -np.inf, np.inf
    value[:, :, 4500, 2] = np.nan
    special, spoilt = [100, 4500, 5000, 8500], [700, 7000]
    mask = rng.random((ROWS, KEYS)) > 0.2
    mask[:, [0, *lost]] = True
    mask[:, special + spoilt] = False
    mask[2] = False  # an empty row
    mask[3] = False
    mask[3, lost] = True  # sees nothing but -inf
    mask[4] = False
    mask[4, [*lost, 50, 5050]] = True  # fewer scores than keys that are asked for
    mask[5, special] = True  # +inf and -inf, in two parts
    mask[6, 100] = mask[7, 8500] = mask[10, 5000] = True
    mask[8, 7000] = True
    mask[:, 5040] = False
    if loud:
        query[:, :, 6, 2], key[:, :, 5040, 2], mask[6, 5040] = 1, 1e4, True
    mask[9, :4096] = False
    options = {"mask": mask, "kv_lens": np.array([KEYS, 5051]), "q_offset": KEYS - 4,
               "scale": 0.5, "sinks": np.array([0.5, np.nan, 2.0, -np.inf]), **options}  # fmt: skip
    with np.errstate(invalid="ignore"):
        arrays = [array.astype(dtype) for array in (query, key, value)]
    return sl.Lookup(*arrays, **options).problem


def asked(problem, name):
    """Return the facts of that name."""
    options = dict(ASKED[name])
    if "groups" in options:
        options["groups"] = np.arange(KEYS) % 5 - 1
    if problem.sinks is None:
        options.pop("sink", None)
    return build_facts(problem, **options)


def pieces(gatherer, problem, facts, cuts, rows=None):
    """Return the parts over the keys between the cuts, one for each."""
    found = []
    for start, stop in itertools.pairwise((0, *cuts, KEYS)):
        keys = slice(start, stop)
        some = facts_of_keys(facts, keys)
        part = gatherer.merged(gatherer.parts(keys_of(problem, keys), some, rows), some)
        if part.tally is not None and part.tally.best is not None:
            best = part.tally.best
            best = best._replace(keys=best.keys + np.where(best.keys < 0, 0, start))
            part = part._replace(tally=part.tally._replace(best=best))
        found.append(part)
    return found


def numbers(found):
    """Yield (name, array) of the answer and of every fact that was asked for."""
    yield from (("out", found.out), ("lse", found.lse))
    for name, array in zip(found.rows._fields, found.rows, strict=True):
        if array is not None:
            yield name, array


def assert_alike(found, whole, tolerance):
    ours, others = dict(numbers(found)), dict(numbers(whole))
    assert set(ours) == set(others)
    for name, array in ours.items():
        if name == "top_keys":
            np.testing.assert_array_equal(array, others[name])
        else:
            np.testing.assert_allclose(array, others[name], rtol=tolerance, atol=tolerance,
                                       err_msg=name)  # fmt: skip


@pytest.mark.parametrize("both", BACKENDS)
@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("cuts", [(), (4096, 8192), (1,), (700, 5000, 6001), (4097, 8192)], ids=str)
def test_keys_cut_anywhere_give_the_whole(both, name, cuts):
    backend, gatherer = both
    problem = problem_of()
    facts = asked(problem, name)
    parts = pieces(gatherer, problem, facts, cuts)
    found, normaliser = gatherer.ended(parts, facts, problem.dtype, problem.sinks)
    whole = backend.forward(problem, facts)
    assert_alike(found, whole, 1e-12)
    of_all, _ = gatherer.ended([gatherer.merged(parts, facts)], facts, problem.dtype, problem.sinks)
    assert_alike(of_all, whole, 1e-12)
    assert np.isfinite(normaliser.shift[np.isfinite(normaliser.factor)]).all()
    weights = gatherer.rectangle(problem, np.arange(ROWS), np.arange(KEYS), normaliser)
    np.testing.assert_allclose(
        weights, backend.weights(problem, np.arange(ROWS), np.arange(KEYS)), rtol=1e-12
    )


@pytest.mark.parametrize("both", BACKENDS)
def test_parts_are_left_as_they_are(both):
    _, gatherer = both
    problem = problem_of(sinks=None)
    facts = build_facts(problem, entropy=True, max_score=True, top=7)
    parts = pieces(gatherer, problem, facts, (5000,))
    before = [array.copy() for part in parts for array in arrays_of(part)]
    for some in (parts, parts[1:]):
        gatherer.ended(some, facts, problem.dtype, None)
    for array, was in zip((a for part in parts for a in arrays_of(part)), before, strict=True):
        np.testing.assert_array_equal(array, was)


@pytest.mark.parametrize("both", BACKENDS)
def test_sinks_beyond_the_dtype_are_its_largest_number(both):
    backend, gatherer = both
    problem = problem_of(np.float32, sinks=np.array([1e300, -1e300, 0.0, 1e38]))
    facts = build_facts(problem, sink=True)
    parts = gatherer.parts(problem, facts)
    found, _ = gatherer.ended(parts, facts, problem.dtype, problem.sinks)
    assert np.isfinite(found.lse[:, :, 2]).all()
    assert_alike(found, backend.forward(problem, facts), 1e-5)


@needs_core
@pytest.mark.parametrize("name", ["all", "a long list"])
@pytest.mark.parametrize(
    "both", [(cpu_parts, blocked_parts), (blocked_parts, cpu_parts)], ids=["core", "NumPy"]
)
def test_parts_of_one_kind_end_in_the_other(both, name):
    one, other = both
    problem = problem_of()
    facts = asked(problem, name)
    parts = pieces(one, problem, facts, (700, 5000, 6001))
    whole = blocked.forward(problem, facts)
    with np.errstate(all="ignore"):  # NaN is an answer
        for some in (parts, [one.merged(parts, facts)], [other.merged(parts, facts)]):
            found, _ = other.ended(some, facts, problem.dtype, problem.sinks)
            assert_alike(found, whole, 1e-11)


def same_bits(found, whole, left_out=()):
    ours, others = dict(numbers(found)), dict(numbers(whole))
    for name in set(ours) - set(left_out):
        assert_same_bits(ours[name], others[name])


@needs_core
@pytest.mark.parametrize("name", ["all", "a long list", "nothing"])
@pytest.mark.parametrize("sinks", [True, False])
def test_the_core_s_parts_end_in_the_bits_of_the_whole(isa, name, sinks):
    for dtype in (np.float32, np.float64):
        problem = problem_of(dtype, loud=True, **({} if sinks else {"sinks": None}))
        facts = asked(problem, name)
        found, _ = cpu_parts.ended(
            cpu_parts.parts(problem, facts), facts, problem.dtype, problem.sinks
        )
        same_bits(found, cpu.forward(problem, facts), ("groups", "distance"))


@needs_core
def test_a_part_is_the_state_of_its_keys_alone(isa):
    problem = problem_of()
    facts = asked(problem, "all")
    for n, part in enumerate(cpu_parts.parts(problem, facts)):
        keys = slice(4096 * n, min(4096 * (n + 1), KEYS))
        (other,) = blocked_parts.parts(keys_of(problem, keys), facts_of_keys(facts, keys))
        lost = np.isnan(other.row_sum)
        np.testing.assert_array_equal(part.seen, other.seen)
        np.testing.assert_array_equal(np.isnan(part.row_sum), lost)
        np.testing.assert_array_equal(part.row_max[~lost], other.row_max[~lost])
        np.testing.assert_allclose(part.row_sum[~lost], other.row_sum[~lost], rtol=1e-12)
        np.testing.assert_allclose(part.acc[~lost], other.acc[~lost], rtol=1e-9, atol=1e-9)
        best, theirs = part.tally.best, other.tally.best
        moved = np.where(theirs.keys < 0, -1, theirs.keys + keys.start)
        np.testing.assert_array_equal(best.keys[~lost], moved[~lost])
        np.testing.assert_array_equal(best.scores[~lost], theirs.scores[~lost])
        for name in ("moments", "groups", "distance"):
            ours, others = (getattr(each.tally, name)[~lost] for each in (part, other))
            np.testing.assert_allclose(ours, others, rtol=1e-9, atol=1e-9, err_msg=name)


@needs_core
def test_what_is_merged_keeps_no_memory_of_what_it_was_made_of():
    problem, facts = problem_of(), build_facts(problem_of(), entropy=True, top=7)
    whole = cpu_parts.merged(cpu_parts.parts(problem, facts), facts)
    for array in arrays_of(whole):
        held = array if array.base is None else array.base
        assert held.nbytes <= 2 * array.nbytes  # of moments, its sum and its heat in one


def arrays_of(part):
    """Return all arrays of a part."""
    tally = part.tally
    return [*part[:4], *(tally.best if tally and tally.best else ()),
            *(each for each in (tally.peak, tally.moments) if each is not None)]  # fmt: skip


@pytest.mark.parametrize("both", BACKENDS)
def test_chosen_rows_have_the_parts_that_they_have_among_all(both):
    _, gatherer = both
    problem = problem_of()
    facts = build_facts(problem, entropy=True, max_score=True, top=7)
    every, some = gatherer.parts(problem, facts), gatherer.parts(problem, facts, CHOSEN)
    for whole, few in zip(every, some, strict=True):
        for ours, others in zip(arrays_of(few), arrays_of(whole), strict=True):
            np.testing.assert_allclose(ours, others[:, :, CHOSEN], rtol=1e-12)


@pytest.mark.parametrize("both", BACKENDS)
@pytest.mark.parametrize("from_rows", [None, CHOSEN])
def test_what_keys_receive_is_what_rows_give(both, from_rows, monkeypatch):
    backend, gatherer = both
    monkeypatch.setattr(cpu_parts, "_AT_ONCE", 5000)
    for dtype in (np.float32, np.float64):
        problem = problem_of(dtype)
        facts = build_facts(problem, received=True, from_rows=from_rows)
        _, normaliser = gatherer.ended(
            gatherer.parts(problem, facts), facts, problem.dtype, problem.sinks
        )
        found = gatherer.received(problem, facts.from_rows, normaliser)
        assert found.dtype == np.float64
        whole = backend.forward(problem, facts).received
        np.testing.assert_allclose(found, whole, rtol=1e-5 if dtype == np.float32 else 1e-12)
        weights = gatherer.rectangle(
            problem,
            CHOSEN,
            np.array([8999, 0, 50, 50]),
            type(normaliser)(*(x[:, :, CHOSEN] for x in normaliser)),
        )
        other = backend.weights(problem, CHOSEN, np.array([8999, 0, 50, 50]))
        np.testing.assert_allclose(weights, other, rtol=1e-6)


@needs_core
def test_no_number_of_threads_changes_a_bit_of_a_part(isa, monkeypatch):
    problem = problem_of(np.float32)
    facts = asked(problem, "all")
    found = []
    for threads in ("1", "3", "64"):
        monkeypatch.setenv(machine.THREADS, threads)
        parts = cpu_parts.parts(problem, facts)
        whole, normaliser = cpu_parts.ended(parts, facts, problem.dtype, problem.sinks)
        found.append([*itertools.chain(*(arrays_of(part) for part in parts)),
                      *(array for _, array in numbers(whole)),
                      cpu_parts.received(keys_of(problem, slice(0, 7000)), None, normaliser),
                      cpu_parts.received(problem, None, normaliser)[:, :, :7000]])  # fmt: skip
    for other in found:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(other[-2], other[-1])


@needs_core
@pytest.mark.parametrize(("asked", "expected"), [(None, 1), ("5", 5)])
def test_one_thread_computes_a_part_unless_a_number_is_given(asked, expected, monkeypatch):
    given = []

    class Core:
        @staticmethod
        def forward(_call, _isa, threads):
            given.append(threads)

    monkeypatch.setattr(machine, "needed_core", lambda: Core)
    monkeypatch.delenv(machine.THREADS, raising=False)
    if asked:
        monkeypatch.setenv(machine.THREADS, asked)
    cpu_parts.parts(problem_of(), NO_FACTS)
    assert given == [expected]


@pytest.mark.parametrize("both", BACKENDS)
@pytest.mark.parametrize("sizes", [
    (0, 4, 2, 7, 9, 3), (2, 4, 2, 0, 9, 3), (2, 4, 2, 7, 9, 0), (2, 4, 2, 7, 0, 3),
    (2, 0, 0, 7, 9, 3), (2, 4, 2, 7, 9, None),
], ids=str)  # fmt: skip
def test_axes_of_no_length(both, sizes):
    backend, gatherer = both
    batch, heads, kv_heads, q_len, kv_len, value_dim = sizes
    rng = np.random.default_rng(2)
    query, key = (
        rng.standard_normal((batch, *shape, 5)) for shape in ((heads, q_len), (kv_heads, kv_len))
    )
    value = None if value_dim is None else rng.standard_normal((batch, kv_heads, kv_len, value_dim))
    problem = sl.Lookup(query, key, value, q_offset=0).problem
    facts = build_facts(problem, entropy=True, max_score=True, top=2, distance=True, received=True)
    parts = gatherer.parts(problem, facts) or [
        nothing_seen((batch, heads, q_len), problem.value_dim, problem.compute_dtype, facts)
    ]
    whole = backend.forward(problem, facts)
    for some in (parts, [parts[0]] * 2, [gatherer.merged([parts[0]] * 2, facts)]):
        found, normaliser = gatherer.ended(some, facts, problem.dtype, None)
        assert {n: x.shape for n, x in numbers(found)} == {n: x.shape for n, x in numbers(whole)}
    np.testing.assert_allclose(found.lse, whole.lse + (np.log(2) if kv_len else 0))
    rows, keys = np.arange(q_len), np.arange(kv_len)
    assert gatherer.rectangle(problem, rows, keys, normaliser).shape == (
        batch,
        heads,
        q_len,
        kv_len,
    )
    received = gatherer.received(problem, None, normaliser)
    assert received.shape == whole.received.shape
    assert received.any() == whole.received.any()


@needs_core
def test_what_many_rows_give_is_added_up_in_float64():
    rng = np.random.default_rng(6)
    query, key = (rng.standard_normal((2, 2, n, 4)).astype(np.float32) for n in (301, 40))
    problem = sl.Lookup(query, key).problem
    _, normaliser = cpu_parts.ended(
        cpu_parts.parts(problem, NO_FACTS), NO_FACTS, problem.dtype, None
    )
    from_rows = np.asfortranarray(rng.random((2, 301)) > 0.5)
    found = cpu_parts.received(problem, from_rows, normaliser)
    weights = cpu_parts.rectangle(problem, np.arange(301), np.arange(40), normaliser)
    expected = (weights.astype(float) * from_rows[:, None, :, None]).sum(axis=2)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert (found != found.astype(np.float32)).any()


@pytest.fixture(params=machine.supported())
def isa(request, monkeypatch):
    monkeypatch.setenv(machine.ISA, request.param)
    return request.param
