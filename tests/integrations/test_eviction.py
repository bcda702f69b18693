"""The example of eviction scores gives what a dense computation over eager weights gives."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from eager import LATER, eager_weights  # noqa: E402 (they need torch)
from tiny import FAMILIES, build, inputs_for  # noqa: E402

from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models
PATH = Path(__file__).resolve().parents[2] / "examples" / "eviction_scores.py"
SPEC = importlib.util.spec_from_file_location("eviction_scores", PATH)
scores = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(scores)
LENGTH, WINDOW = 37, 8


def by_group(each, kv_heads):
    """Return the mean over the query heads of each kv head."""
    return each.unflatten(1, (kv_heads, -1)).mean(2)


def dense_observed(weights, kv_heads):
    """Return column means over the queries at or after each key."""
    seeing = torch.arange(weights.shape[-1], 0, -1)
    return by_group(weights.sum(2) / seeing, kv_heads)


def dense_snapkv(weights, kv_heads, window, kernel):
    """Return pooled column means of the last queries; the keys of the window get the largest."""
    means = weights[:, :, -window:, :-window].mean(2)
    pooled = torch.nn.functional.avg_pool1d(means, kernel, stride=1, padding=kernel // 2)
    old = by_group(pooled, kv_heads)
    return torch.nn.functional.pad(old, (0, window), value=float(old.max()))


@pytest.fixture(params=["llama", "gpt2", "qwen3", "gpt_oss", "deepseek_v3"])
def layers(request):
    """Each fully causal layer of a model with its eager weights, float64."""
    model = build(FAMILIES[request.param])
    inputs = inputs_for(model, (LENGTH, LENGTH))
    made = capture(model, inputs)
    theirs = [torch.from_numpy(one).double() for one in eager_weights(model, inputs)]
    pairs = [(one.look, weights) for one, weights in zip(made.layers, theirs, strict=True)]
    full = [pair for pair in pairs if pair[1][0, 0, -1, 0] > 0]  # no window between
    assert full
    return full


def test_observed_attention_is_the_mean_of_the_eager_columns(layers):
    for look, weights in layers:
        expected = dense_observed(weights, look.problem.kv_heads)
        np.testing.assert_allclose(scores.observed_attention(look), expected, atol=LATER)


@pytest.mark.parametrize("kernel", [1, 5])
def test_snapkv_is_the_pooled_mean_of_the_last_eager_rows(layers, kernel):
    for look, weights in layers:
        expected = dense_snapkv(weights, look.problem.kv_heads, WINDOW, kernel)
        found = scores.snapkv(look, WINDOW, kernel)
        np.testing.assert_allclose(found, expected, atol=LATER)
        assert found[..., -WINDOW:].min() == found.max()


def test_the_same_keys_are_kept(layers):
    for look, weights in layers:
        expected = dense_snapkv(weights, look.problem.kv_heads, WINDOW, 5).numpy()
        kept = scores.kept(scores.snapkv(look, WINDOW, 5), 20)
        assert (kept[..., -WINDOW:] == np.arange(LENGTH - WINDOW, LENGTH)).all()
        theirs, order = np.take_along_axis(expected, kept, -1), -np.sort(-expected, axis=-1)
        np.testing.assert_allclose(theirs.min(-1), order[..., 19], atol=2 * LATER)


@pytest.mark.parametrize("family", ["llama", "gpt2", "deepseek_v3"])
def test_a_watch_gives_the_same_scores(family):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, (LENGTH, LENGTH))
    found = {}
    for name, rows in (("all", None), ("last", range(LENGTH - WINDOW, LENGTH))):
        asked = {"top": None, "entropy": False, "from_rows": rows}
        with torch.no_grad(), sl.watch(model, **asked) as found[name]:
            model(**inputs)
    theirs = [torch.from_numpy(one).double() for one in eager_weights(model, inputs)]
    for every, last, weights in zip(found["all"], found["last"], theirs, strict=True):
        kv_heads = len(set(every.kv_heads))
        group = len(every.heads) // kv_heads
        observed = every.received_per_kv_head / (group * np.arange(LENGTH, 0, -1))
        np.testing.assert_allclose(observed, dense_observed(weights, kv_heads), atol=LATER)
        means = last.received_per_kv_head / (group * WINDOW)
        expected = dense_snapkv(weights, kv_heads, WINDOW, 5)
        np.testing.assert_allclose(scores.smoothed(means, WINDOW, 5), expected, atol=LATER)
