"""What the first token and the token before get while a model runs, beside its eager weights."""

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from eager_steps import CACHES, eager_generation, generate  # noqa: E402 (they need torch)
from tiny import FAMILIES, WRITERS, build, inputs_for  # noqa: E402

pytestmark = pytest.mark.models


def means(weights, rows, first):
    """Return both means of each head by loops over the rows that see several keys."""
    got = [[] for _ in range(weights.shape[1])], [[] for _ in range(weights.shape[1])]
    for batch, head, row in np.ndindex(weights.shape[:3]):
        weight = weights[batch, head, row]
        if rows[batch, row] and (weight > 0).sum() > 1:
            got[0][head].append(weight[first[batch]])
            if 0 < row <= len(weight) and weight[row - 1] > 0:  # else it does not see it
                got[1][head].append(weight[row - 1])
    return [[np.mean(part) for part in side] for side in got]


def repeats(weights, rows, ids, after):
    """Return the mean weight of each head on keys `after` earlier occurrences of a row's token."""
    got = [[] for _ in range(weights.shape[1])]
    for batch, head, row in np.ndindex(weights.shape[:3]):
        weight = weights[batch, head, row]
        keys = [j + after for j in range(row) if ids[batch, j] == ids[batch, row]]
        keys = [j for j in keys if j < row and weight[j] > 0]
        if rows[batch, row] and keys and (weight > 0).sum() > 1:
            got[head].append(weight[keys].sum())
    return [np.mean(part) if part else np.nan for part in got]


def assert_shares(seen, expected, real):
    """Assert the summary of all heads; `real` says which tokens of the input are no padding."""
    records = {(one.part, one.layer, one.head): one for one in seen.summary()}
    assert records
    for (part, number), eager in expected.items():
        start = np.zeros(len(real), int) if part == "decoder" else np.argmax(real, axis=1)
        first, previous = means(eager.weights, eager.counted, start)
        for head in range(eager.weights.shape[1]):
            record = records[part, number, head]
            assert record.first == pytest.approx(first[head], abs=2 * eager.bound)
            if part == "cross":
                assert record.previous is None
            else:
                assert record.previous == pytest.approx(previous[head], abs=2 * eager.bound)


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("lengths", [(7, 7), (7, 4)])
@pytest.mark.parametrize("family", WRITERS)
def test_they_are_exact_while_a_model_writes(family, lengths, cache):
    model = build(WRITERS[family])
    given = inputs_for(model, lengths, "left")
    _, expected = eager_generation(model, given, cache_implementation=CACHES[cache])
    with torch.no_grad(), sl.watch(model, top=1, received=False) as seen:
        generate(model, given, cache_implementation=CACHES[cache])
    mask = given.get("attention_mask")
    real = np.ones((2, 1), bool) if mask is None else mask.bool().numpy()
    assert_shares(seen, expected, real)


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("lengths", [(7, 7), (7, 4)])
@pytest.mark.parametrize("family", ["llama", "mistral", "gemma2", "gemma3"])
def test_means_are_over_the_rows_that_may_see_the_key(family, lengths, cache):
    model = build(WRITERS[family])
    given = inputs_for(model, lengths, "left")
    _, expected = eager_generation(model, given, cache_implementation=CACHES[cache])
    with torch.no_grad(), sl.watch(model, top=None, entropy=False) as seen:
        generate(model, given, cache_implementation=CACHES[cache])
    for batch, key in ((0, 0), (0, 5), (1, 4), (1, 8)):
        for one in seen.rank_heads(reads=key, batch=batch):
            eager = expected[one.part, one.layer]
            weights = eager.weights[batch, one.head, eager.counted[batch], key]
            mean = weights.sum() / max((weights > 0).sum(), 1)
            assert one.share == pytest.approx(mean, abs=eager.bound)


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("family", WRITERS)
def test_earlier_occurrences_are_told_while_a_model_writes(family, cache):
    model = build(WRITERS[family])
    given = inputs_for(model, (7, 5), "left")
    if "input_ids" in given:
        given["input_ids"] %= 5  # so that tokens repeat; what is hidden is hidden
    written, expected = eager_generation(model, given, cache_implementation=CACHES[cache])
    with torch.no_grad(), sl.watch(model, top=None, received=False, repeats=True) as seen:
        generate(model, given, cache_implementation=CACHES[cache])
    records = {(one.part, one.layer, one.head): one for one in seen.summary()}
    told = 0
    for (part, number), eager in expected.items():
        ids = given.get("input_ids") if part == "encoder" else written
        for head in range(eager.weights.shape[1]):
            record = records[part, number, head]
            if part == "cross" or ids is None:
                assert (record.induction, record.duplicate) == (None, None)
                continue
            for after, number_told in ((1, record.induction), (0, record.duplicate)):
                share = repeats(eager.weights, eager.counted, ids.numpy(), after)[head]
                bound = 2 * eager.bound * eager.weights.shape[3]
                assert number_told == pytest.approx(share, abs=bound, nan_ok=True)
                told += not np.isnan(share)
    assert told


@pytest.mark.filterwarnings("ignore:`past_key_values` is deprecated")  # its new name is of 5.24
def test_what_a_cache_let_go_before_gets_nothing():
    """A run that goes on behind a window: its first key is token 3, not the first token."""
    model = build(FAMILIES["mistral"])
    ids = torch.arange(5, 12)[None]
    with torch.no_grad(), sl.watch(model) as seen:
        cache = model(ids[:, :5], use_cache=True).past_key_values
        model(ids[:, 5:], past_key_values=cache)
    later = seen.run(1)
    assert later[0].keys[0] > 0
    assert {one.first for one in later.summary()} == {0.0}
    assert min(one.previous for one in later.summary()) > 0
