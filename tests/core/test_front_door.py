"""`attend` and `Lookup`: one signature, one head of many, and what a lookup says of itself."""

import inspect

import numpy as np
import pytest

import cases
import softlookup as sl
from cases import Case

CALL = Case("door", heads=(3, 5), q_len=7, kv_len=11).build()


def test_attend_and_lookup_share_one_list_of_options():
    attend, look = (inspect.signature(f).parameters for f in (sl.attend, sl.Lookup))
    options = [p for p in attend.values() if p.kind is p.KEYWORD_ONLY]
    assert options == [p for p in look.values() if p.kind is p.KEYWORD_ONLY]
    assert [(p.name, p.default) for p in options] == [
        ("causal", False), ("q_offset", None), ("window", None), ("mask", None), ("bias", None),
        ("kv_lens", None), ("scale", None), ("softcap", None), ("sinks", None), ("backend", "auto"),
    ]  # fmt: skip
    assert list(attend)[:3] == list(look)[:3] == ["query", "key", "value"]
    assert attend["value"].default is inspect.Parameter.empty
    assert look["value"].default is None


@pytest.mark.parametrize("name", ["plain in float32", "everything at once", "plain 2-D arrays",
                                  "everything at once in bfloat16", "5-D arrays"])  # fmt: skip
def test_attend_is_lookup_attend(backend, name):
    call = cases.build(name)
    np.testing.assert_array_equal(
        sl.attend(*call.arrays, **call.options, backend=backend),
        sl.Lookup(*call.arrays, **call.options, backend=backend).attend(),
    )


def test_nothing_is_computed_before_it_is_asked_and_asking_twice_is_the_same(backend):
    look = sl.Lookup(*CALL.arrays, backend=backend)
    np.testing.assert_array_equal(look.attend(), look.attend())
    np.testing.assert_array_equal(look.weights(), look.weights())


def test_auto_takes_a_backend_that_can():
    out = sl.attend(*CALL.arrays)
    np.testing.assert_allclose(out, sl.attend(*CALL.arrays, backend="blocked"), atol=1e-6)


def test_problem_says_sizes_and_options():
    problem = sl.Lookup(*CALL.arrays, causal=True, q_offset=4, window=(2, 1), softcap=9).problem
    sizes = (
        problem.heads, problem.kv_heads, problem.group, problem.q_len, problem.kv_len,
        problem.head_dim, problem.value_dim,
    )  # fmt: skip
    assert sizes == (15, 3, 5, 7, 11, 5, 13)
    assert problem.batch_shape == (2,)
    assert problem.dtype == np.float32
    assert problem.causal is True
    assert problem.window == (2, 1)
    assert problem.softcap == 9
    assert problem.query.shape == (2, 15, 7, 5)
    assert problem.key.shape == (2, 3, 11, 5)
    assert problem.value.shape == (2, 3, 11, 13)


def test_a_lookup_says_how_many_heads_it_has():
    def said(heads, kv_heads):
        query, key = (np.zeros((n, 2, 3)) for n in (heads, kv_heads))
        return repr(sl.Lookup(query, key)).partition(", ")[0]

    assert said(1, 1) == "Lookup(1 head over 1 kv_head"
    assert said(4, 2) == "Lookup(4 heads over 2 kv_heads"


def test_options_cannot_change_under_a_lookup():
    look = sl.Lookup(*CALL.arrays)
    with pytest.raises(AttributeError):
        look.problem.causal = True


@pytest.mark.parametrize("name", ["everything at once", "an offset for each batch entry", "sinks",
                                  "mask over the batch and keys", "padded keys, one entry empty",
                                  "grouped heads", "mask over keys", "5-D arrays",
                                  "3-D arrays"])  # fmt: skip
def test_head_is_the_lookup_of_that_one_head(backend, name):
    call, exact = cases.build(name), cases.exact(name)
    look = sl.Lookup(*call.arrays, **call.options, backend=backend)
    batch_shape = call.query.shape[:-3]
    for batch in {tuple(0 for _ in batch_shape), tuple(n - 1 for n in batch_shape)}:
        for head in {0, 1, call.query.shape[-3] - 1}:
            one = look.head(head, batch)
            where = (*batch, head)
            np.testing.assert_allclose(
                one.weights(), exact.weights[where].astype(float), rtol=2e-5, atol=1e-7
            )
            np.testing.assert_allclose(one.attend(), exact.out[where], rtol=1e-4, atol=1e-6)
            np.testing.assert_array_equal(one.trace().visible, exact.visible[where])
            assert one.trace().products.ndim == 2


def test_head_shares_memory_and_stands_first_by_default():
    look = sl.Lookup(*CALL.arrays)
    one = look.head(7, (1,))
    assert np.shares_memory(one.problem.query, CALL.query[1, 7])
    assert np.shares_memory(one.problem.key, CALL.key[1, 1])
    assert np.shares_memory(one.problem.value, CALL.value[1, 1])
    first = sl.Lookup(CALL.query[0], CALL.key[0], CALL.value[0])
    np.testing.assert_array_equal(
        first.head().attend(), sl.attend(CALL.query[0, 0], CALL.key[0, 0], CALL.value[0, 0])
    )


def test_head_without_value():
    assert sl.Lookup(CALL.query, CALL.key).head(3, (0,)).trace().out is None
