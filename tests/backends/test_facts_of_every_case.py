"""Every fact of every case on every backend, beside the oracle and beside `weights`."""

import numpy as np
import pytest

import cases
from agreement import assert_same_bits
from budget import loudest
from looking import PER_ROW, assert_facts, everything, look_of, positioned

NAMES = tuple(cases.NAMED)


def _asked(name, backend):
    call = cases.build(name)
    call = call._replace(options=positioned(look_of(call, backend), call.options))
    look = look_of(call, backend)
    return call, look, everything(look, np.random.default_rng(len(name)))


@pytest.mark.parametrize("name", NAMES)
def test_all_facts_at_once_are_exact_and_change_no_bit(name, backend):
    call, look, asked = _asked(name, backend)
    found = look.inspect(**asked)
    assert_facts(found, asked, call, look.problem)
    assert_same_bits(found.out, look.attend())
    assert_same_bits(found.lse, look.inspect().lse)


@pytest.mark.parametrize("name", NAMES)
def test_received_of_all_rows_and_normalised(name, backend):
    call, look, asked = _asked(name, backend)
    for more in ({}, {"normalised": True},
                 {"normalised": True, "from_rows": asked["from_rows"]}):  # fmt: skip
        some = {"received": True, **more}
        found = look.inspect(**some)
        assert_facts(found, some, call, look.problem)
        assert_same_bits(found.out, look.attend())


@pytest.mark.parametrize("name", NAMES)
def test_a_fact_alone_has_the_bits_it_has_among_others(name, backend):
    _, look, asked = _asked(name, backend)
    among = look.inspect(**asked)
    for fact in (*PER_ROW, "top"):
        if asked[fact] is False:
            continue
        alone = look.inspect(**{fact: asked[fact]})
        assert_same_bits(alone.out, among.out)
        if fact == "top":
            assert_same_bits(alone.top.weights, among.top.weights)
            np.testing.assert_array_equal(alone.top.keys, among.top.keys)
        else:
            assert_same_bits(getattr(alone, fact), getattr(among, fact))


@pytest.mark.parametrize("name", NAMES)
def test_facts_are_the_reductions_of_weights(name, backend):
    _, look, asked = _asked(name, backend)
    found, plain = look.inspect(**asked), look.problem.plain

    def headed(array):
        return array[None] if plain else array

    weights = headed(look.weights()).astype(np.float64)
    logs = np.log(np.where(weights > 0, weights, 1))
    rows = np.asarray(asked["from_rows"])[..., None, :, None]
    labels = np.asarray(asked["groups"])[..., None, None, :]
    keys = headed(found.top.keys)
    padded = np.concatenate([weights, np.zeros((*weights.shape[:-1], 1))], axis=-1)  # at -1: 0
    reductions = {
        "entropy": -(weights * logs).sum(-1),
        "received": np.where(rows, weights, 0).sum(-2),
        **({"sink": 1 - weights.sum(-1)} if asked["sink"] else {}),
    }
    facts = {fact: headed(getattr(found, fact)) for fact in reductions}
    for label in range(labels.max(initial=-1) + 1):
        facts[f"group {label}"] = headed(found.groups)[..., label]
        reductions[f"group {label}"] = np.where(labels == label, weights, 0).sum(-1)
    facts["top"], reductions["top"] = (
        headed(found.top.weights),
        np.take_along_axis(padded, keys, -1),
    )
    room = 40 * np.finfo(look.problem.compute_dtype).eps * loudest(cases.exact(name))
    for fact, reduction in reductions.items():
        np.testing.assert_allclose(facts[fact], reduction, rtol=room, atol=room, err_msg=fact)
