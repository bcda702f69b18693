"""With compute="model" an answer that is not that of the lookup looked at is refused."""

import contextlib
import re

import numpy as np
import pytest

import softlookup as sl

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from eager import logits  # noqa: E402 (they need torch)
from tiny import FAMILIES, build, inputs_for  # noqa: E402

from softlookup.errors import OptionError  # noqa: E402

pytestmark = pytest.mark.models


@contextlib.contextmanager
def attention(verb):
    """Let models be set to an attention of one's own, which is called "mine"."""
    interfaces = hf.AttentionInterface, hf.AttentionMaskInterface
    interfaces[0].register("mine", verb)
    interfaces[1].register("mine", hf.AttentionMaskInterface()["eager"])
    try:
        yield "mine"
    finally:
        for one in interfaces:
            one._global_mapping.pop("mine")


def answering(weigh, calls=None):
    """Return an attention whose weights are `weigh(module, scores)`, scores masked by eager's."""

    def verb(module, query, key, value, mask, *, scaling, **_):
        if calls is not None:
            calls.append((module, query, key, value, mask, scaling))
        group = query.shape[1] // key.shape[1]
        key, value = (one.repeat_interleave(group, 1) for one in (key, value))
        scores = query @ key.transpose(2, 3) * scaling + mask
        return (weigh(module, scores) @ value).transpose(1, 2).contiguous(), None

    return verb


def without_sinks(_, scores):
    return scores.softmax(-1)


def watched(model, inputs, name, **asked):
    model.set_attn_implementation(name)
    with torch.no_grad(), sl.watch(model, compute="model", **asked) as seen:
        model(**inputs)
    return seen


def expected_gaps(call, head, row):
    """Return how far the answer without sinks is from the one with them, in float64."""
    module, query, key, value, mask, scaling = call
    q, k, v = (one.double().numpy() for one in (query, key, value))
    mine = head // (q.shape[1] // k.shape[1])
    gaps = []
    for b in range(len(q)):
        scores = k[b, mine] @ q[b, head, row] * scaling + mask[b, 0, row].double().numpy()
        weights = np.exp(scores - scores.max())
        sink = np.exp(float(module.sinks.detach()[head]) - scores.max())
        plain, real = (weights / (weights.sum() + more) @ v[b, mine] for more in (0, sink))
        gaps.append(np.abs(plain - real))
    return np.array(gaps)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_sinks_that_are_left_out_are_found(dtype):
    model, calls = build(FAMILIES["gpt_oss"], dtype), []
    inputs = inputs_for(model)
    with attention(answering(without_sinks, calls)) as name:
        with pytest.raises(OptionError) as refused:
            watched(model, inputs, name)
        said = str(refused.value)
        found = re.search(
            r"off by (\S+) at head (\d) of row (\d), where rounding .* (\S+)\. ", said
        )
        apart, head, row, room = map(float, found.groups())
        gaps = expected_gaps(calls[0], int(head), int(row))
        assert np.isclose(apart, gaps, rtol=0.06 if dtype == torch.float32 else 0.1).any()
        assert room < apart / 3
        assert said.startswith('compute: must be "softlookup"')
        assert "'mine'" in said
        assert "model.layers.0.self_attn" in said
        with torch.no_grad(), sl.watch(model) as seen:  # which computes them
            model(**inputs)
        assert len(seen) == 2


def causal_lost(_, scores):
    return torch.where(scores < -1e30, 0, scores).softmax(-1)


def a_little_sharper(_, scores):
    return (scores * 1.001).softmax(-1)


def not_a_number(_, scores):
    return scores.softmax(-1) * torch.nan


WRONG = {one.__name__: one for one in (causal_lost, a_little_sharper, not_a_number)}


@pytest.mark.parametrize("name", WRONG)
def test_other_answers_are_found(name):
    model = build(FAMILIES["llama"])
    with (
        attention(answering(WRONG[name])) as mine,
        pytest.raises(OptionError, match="does not answer by what is looked at"),
    ):
        watched(model, inputs_for(model), mine)


def test_an_answer_in_padding_counts_for_nothing():
    model = build(FAMILIES["llama"])
    model.model.layers = model.model.layers[:1]
    inputs = inputs_for(model, (7, 4), "right")

    def verb(*given, **more):
        out, _ = answering(without_sinks)(*given, **more)
        return torch.cat([out[:, :4], torch.full_like(out[:, 4:], torch.nan)], 1), None

    with attention(verb) as name:
        with pytest.raises(OptionError, match=r"off by inf at head . of row 6"):
            watched(model, inputs, name)
        padded = {one: given[1:] for one, given in inputs.items()}  # its last three are padding
        assert len(watched(model, padded, name)) == 1


def test_only_heads_that_are_looked_at_are_compared():
    model = build(FAMILIES["llama"])

    def first_head_wrong(_, scores):
        weights = scores.softmax(-1)
        return torch.cat([weights[:, :1] * 0.9, weights[:, 1:]], 1)

    with attention(answering(first_head_wrong)) as name:
        assert len(watched(model, inputs_for(model), name, heads=[1, 3])) == 2
        with pytest.raises(OptionError, match="at head 0"):
            watched(model, inputs_for(model), name, heads=[0, 2])


KINDS = [
    (family, dtype)
    for family in ("gpt2", "llama", "gemma2", "t5", "vit", "gpt_oss")
    for dtype in (torch.bfloat16, torch.float16, torch.float64)
][:-1]  # gpt-oss multiplies its experts in float32 at most


@pytest.mark.parametrize(("family", "dtype"), KINDS)
def test_what_rounding_does_is_no_other_answer(family, dtype):
    model = build(FAMILIES[family], dtype)
    inputs = inputs_for(model, (7, 4), "left")
    inputs = {n: x.to(dtype) if x.is_floating_point() else x for n, x in inputs.items()}
    with torch.no_grad():
        plain = logits(model(**inputs))
        with sl.watch(model, compute="model") as seen:
            answer = logits(model(**inputs))
    torch.testing.assert_close(answer, plain, atol=0, rtol=0, equal_nan=True)  # in padding
    assert seen.runs == 1
