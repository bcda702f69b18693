"""What `watch` sees, how it is chosen, and that the model is left as it was."""

import inspect
import threading

import numpy as np
import pytest

import softlookup as sl

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from eager import logits, run  # noqa: E402 (they need torch)
from tiny import FAMILIES, LLAMA, build, inputs_for  # noqa: E402

from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models


def watched(model, inputs, **asked):
    """Return what the model answers while it is watched, and what was seen."""
    with torch.no_grad(), sl.watch(model, **asked) as seen:
        outputs = model(**inputs)
    return logits(outputs), seen


@pytest.fixture
def llama():
    return build(FAMILIES["llama"])


def assert_same(one, other, heads=slice(None)):
    """Assert that a layer saw what another saw of some heads; sums over rows to a rounding."""
    for name in ("lse", "entropy"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name)[:, heads])
    for part, whole in zip(one.top, other.top, strict=True):
        np.testing.assert_array_equal(part, whole[:, heads])
    np.testing.assert_allclose(one.received, other.received[:, heads], rtol=1e-6)


def test_facts_are_those_of_the_captured_lookups(llama):
    inputs = inputs_for(llama, (7, 4), "left")
    _, seen = watched(llama, inputs, top=3, max_score=True, distance=True)
    made = capture(llama, inputs)
    for layer, kept in zip(seen, made.layers, strict=True):
        assert (layer.path, layer.number, layer.label) == (kept.name, kept.number, kept.label)
        rows = ~layer.padding
        found = kept.look.inspect(
            top=3, entropy=True, max_score=True, distance=True, received=True, from_rows=rows
        )
        for name in ("lse", "entropy", "max_score", "distance", "received"):
            fact = getattr(found, name)
            np.testing.assert_allclose(getattr(layer, name), fact, atol=2e-6, rtol=2e-6)
        np.testing.assert_array_equal(layer.top.keys, found.top.keys)


@pytest.mark.parametrize("family", ["llama", "gpt_oss", "t5"])
@pytest.mark.parametrize("heads", [[0], [1, 2], [3, 0]])
def test_chosen_layers_and_heads_are_those_of_the_whole(family, heads):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, (7, 4), "left")
    answer, whole = watched(model, inputs)
    same, some = watched(model, inputs, layers=[1], heads=heads)
    assert torch.equal(answer, same)
    chosen = [layer for layer in whole if layer.number == 1]
    assert [layer.path for layer in some] == [layer.path for layer in chosen]
    for layer, other in zip(some, chosen, strict=True):
        assert layer.heads == tuple(sorted(heads))
        assert layer.kv_heads == tuple(other.kv_heads[head] for head in sorted(heads))
        assert_same(layer, other, sorted(heads))


@pytest.mark.parametrize(
    ("layers", "paths"),
    [
        (["model.layers.1"], [1]),
        ("model.layers.0.self_attn", [0]),
        (["model.layers.0.self_attn", 1], [0, 1]),
        ("model", [0, 1]),
        (1, [1]),
    ],
)
def test_layers_are_named_by_number_or_path(llama, layers, paths):
    _, seen = watched(llama, inputs_for(llama), layers=layers)
    assert [layer.number for layer in seen] == paths


def test_what_is_left_out_is_not_there(llama):
    _, seen = watched(llama, inputs_for(llama), top=None, received=False)
    assert seen[0].asked == ("lse", "entropy")


def test_rows_of_padding_count_for_no_key(llama):
    """So that a batch is its texts one by one."""
    inputs = inputs_for(llama, (7, 4), "right")
    _, both = watched(llama, inputs)
    _, alone = watched(llama, {name: one[1:, :4] for name, one in inputs.items()})
    for layer, one in zip(both, alone, strict=True):
        np.testing.assert_allclose(layer.received[1, :, :4], one.received[0], atol=1e-5)
        np.testing.assert_allclose(layer.received[1].sum(-1), 4, atol=1e-5)


@pytest.mark.parametrize(
    ("chosen", "rows"),
    [
        (slice(5, None), [5, 6]),
        (slice(5, 40), [5, 6]),
        ([0, 6], [0, 6]),
        (range(1, 3), [1, 2]),
        (np.arange(9) % 3 == 0, [0, 3, 6]),
        (6, [6]),
    ],
)
def test_rows_are_chosen_by_token_position(llama, chosen, rows):
    inputs = inputs_for(llama)
    _, seen = watched(llama, inputs, from_rows=chosen)
    found = capture(llama, inputs).lookup(1).inspect(received=True, from_rows=rows)
    np.testing.assert_allclose(seen[1].received, found.received, atol=2e-6)


def test_rows_and_labels_go_by_token_position_in_every_step(llama):
    inputs = inputs_for(llama)
    labels = np.array([0, 0, 1, 1, 1, -1, 2])
    with sl.watch(llama, groups=labels, from_rows=[6, 8]) as seen:
        ids = llama.generate(**inputs, max_new_tokens=4, min_new_tokens=4, do_sample=False)
    _, whole = watched(llama, {"input_ids": ids[:, :-1]},
                       groups=np.append(labels, [-1] * 3), from_rows=[6, 8])  # fmt: skip
    for layer, one in zip(seen, whole, strict=True):
        np.testing.assert_array_equal(layer.queries, range(10))
        np.testing.assert_allclose(layer.groups, one.groups, atol=1e-5)
        np.testing.assert_allclose(layer.received, one.received, atol=1e-5)


def test_a_decoders_own_text_has_no_labels_of_the_input():
    model = build(FAMILIES["t5"])
    _, seen = watched(model, inputs_for(model), groups=[0, 1, 0, 1, 0, 1, 0], distance=True)
    has = {layer.label: ("groups" in layer.asked, "distance" in layer.asked) for layer in seen}
    assert has["encoder layer 0"] == (True, True)
    assert has["decoder layer 0"] == (False, True)
    assert has["cross layer 0"] == (True, False)


def test_sinks_are_asked_of_the_layers_that_have_them():
    model = build(FAMILIES["gpt_oss"])
    _, seen = watched(model, inputs_for(model), sink=True)
    look = capture(model, inputs_for(model)).lookup(1)
    np.testing.assert_allclose(seen[1].sink, look.inspect(sink=True).sink, atol=1e-6)


def test_every_forward_is_a_run_and_so_is_generate(llama):
    inputs, told = inputs_for(llama), []
    with torch.no_grad(), sl.watch(llama, progress=told.append) as seen:
        llama(**inputs)
        llama.model(**inputs)
        llama.generate(**inputs, max_new_tokens=3, min_new_tokens=3, do_sample=False)
        assert seen.runs == 3  # read while it goes on
        llama(**inputs)
    assert seen.runs == 4
    assert [len(seen.run(run)[0].queries) for run in range(4)] == [7, 7, 9, 7]
    assert_same(seen.run(1)[1], seen.run(0)[1])
    assert told == list(range(1, 2 * (3 + 3) + 1))


def llava():
    vision = hf.CLIPVisionConfig(hidden_size=24, intermediate_size=32, num_hidden_layers=2,
                                 num_attention_heads=4, image_size=8, patch_size=4)  # fmt: skip
    return hf.LlavaForConditionalGeneration(
        hf.LlavaConfig(
            vision_config=vision, text_config=hf.LlamaConfig(**LLAMA), image_token_index=60
        )
    )


def albert():
    return hf.AlbertModel(hf.AlbertConfig(vocab_size=61, hidden_size=24, num_hidden_layers=2,
                                          num_attention_heads=4, intermediate_size=32,
                                          embedding_size=12))  # fmt: skip


@pytest.mark.parametrize("make", [llava, albert])
def test_layers_are_called_as_in_a_capture(make):
    """Two stacks, one of them for images; one layer that is called twice."""
    model = build(make)
    inputs = {"input_ids": torch.tensor([[5, 60, 60, 60, 60, 7]])}
    if make is llava:
        inputs["pixel_values"] = torch.ones(1, 3, 8, 8)
    _, seen = watched(model, inputs)
    made = capture(model, inputs)
    names = [(layer.label, layer.name) for layer in made.layers]
    assert [(layer.label, layer.path) for layer in seen] == names
    if make is llava:
        with sl.watch(model) as written:
            model.generate(**inputs, max_new_tokens=3, min_new_tokens=3, do_sample=False)
        assert [(layer.label, layer.path) for layer in written] == names
        assert [len(layer.queries) for layer in written] == [5, 5, 8, 8]


def test_a_cache_of_an_earlier_run_says_where_tokens_stand():
    model = build(FAMILIES["mistral"])
    ids = inputs_for(model)["input_ids"]
    with torch.no_grad(), sl.watch(model) as seen:
        cache = model(ids[:, :5], use_cache=True).past_key_values
        named = {"cache", "past_key_values"} & set(inspect.signature(model.forward).parameters)
        model(ids[:, 5:], **{min(named): cache})
    _, whole = watched(model, {"input_ids": ids})
    later = seen.run(1)[1]
    assert (later.queries.tolist(), later.keys.tolist()) == ([5, 6], [3, 4, 5, 6])
    np.testing.assert_array_equal(later.top.keys, whole[1].top.keys[:, :, 5:])
    np.testing.assert_allclose(later.entropy, whole[1].entropy[:, :, 5:], atol=1e-5)


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_the_callers_own_mask_over_pairs_counts(llama, kind):
    ids = inputs_for(llama)["input_ids"]
    mask = torch.rand(2, 1, 7, 7, generator=torch.Generator().manual_seed(5)) > 0.4
    mask |= torch.eye(7, dtype=torch.bool)
    given = mask if kind == "bool" else torch.where(mask, 0.5, torch.finfo(torch.float32).min)
    answer, seen = watched(llama, {"input_ids": ids, "attention_mask": given})
    plain = logits(run(llama, {"input_ids": ids, "attention_mask": given}))
    assert (answer - plain).abs().max() <= 1e-5 * plain.abs().max()
    for layer in seen:
        keys = layer.top.keys
        there = np.take_along_axis(mask.numpy() & np.ones((2, 4, 7, 7), bool), keys, -1)
        assert there[keys >= 0].all()
        assert (keys[..., :7] >= 0).sum() == 4 * mask.sum()
        assert not layer.causal


def test_packed_texts_do_not_read_each_other(llama):
    ids, places = inputs_for(llama)["input_ids"], torch.tensor([[0, 1, 2, 0, 1, 2, 3]])
    inputs = {"input_ids": ids, "position_ids": places, "use_cache": False}
    answer, seen = watched(llama, inputs)
    plain = logits(run(llama, inputs))
    assert (answer - plain).abs().max() <= 1e-5 * plain.abs().max()
    keys = seen[1].top.keys
    assert set(keys[:, :, :3].flat) == {-1, 0, 1, 2}
    assert set(keys[:, :, 3:].flat) == {-1, 3, 4, 5, 6}


def test_long_chunks_are_looked_at_band_by_band(monkeypatch):
    from softlookup.integrations import masks

    model = build(
        lambda: hf.Llama4ForCausalLM(
            hf.Llama4TextConfig(**LLAMA, head_dim=6, num_local_experts=2, intermediate_size_mlp=32,
                                attention_chunk_size=5, num_experts_per_tok=1)
        )
    )  # fmt: skip
    inputs = inputs_for(model, (23, 17), "left")
    answer, whole = watched(model, inputs, groups=np.arange(23) % 3, distance=True)
    monkeypatch.setattr(masks, "_PAIRS", 23 * 2 * 4)  # four rows at once
    control, _ = watched(model, inputs, facts=None)
    assert torch.equal(answer, control)
    again, bands = watched(model, inputs, groups=np.arange(23) % 3, distance=True)
    assert torch.equal(answer, again)
    for layer, other in zip(bands, whole, strict=True):
        assert_same(layer, other)
        np.testing.assert_array_equal(layer.groups, other.groups)
        np.testing.assert_array_equal(layer.distance, other.distance)
    plain = logits(run(model, inputs))
    rows = inputs["attention_mask"].bool()
    assert (answer - plain)[rows].abs().max() <= 1e-5 * plain.abs().max()


@pytest.mark.parametrize("family", ["llama", "t5", "gpt_oss", "gemma2"])
def test_gradients_reach_the_model_as_ever(family):
    """The bias of T5, the sinks of gpt-oss and what a softcap squeezes among them."""
    model = build(FAMILIES[family])
    inputs = inputs_for(model)
    model.set_attn_implementation("eager")
    slopes = []
    for watching in (False, True):
        model.zero_grad()
        if watching:
            with sl.watch(model) as seen:
                answer = logits(model(**inputs))
        else:
            answer = logits(model(**inputs))
        answer.square().mean().backward()
        slopes.append({n: w.grad for n, w in model.named_parameters() if w.grad is not None})
    assert len(seen) > 0
    assert slopes[0].keys() == slopes[1].keys()
    for name, slope in slopes[0].items():
        largest = slope.abs().max().clamp(min=1e-6)
        assert (slopes[1][name] - slope).abs().max() <= 2e-5 * largest, name


def test_looking_changes_no_bit_where_gradients_are_wanted(llama):
    inputs = inputs_for(llama)
    with sl.watch(llama) as seen:
        answer = logits(llama(**inputs))
    plain, without = watched(llama, inputs)
    assert torch.equal(answer.detach(), plain)
    assert_same(seen[1], without[1])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("family", ["llama", "gemma2", "t5"])
def test_other_dtypes_are_watched_as_they_are(family, dtype):
    model = build(FAMILIES[family], dtype)
    inputs = inputs_for(model)
    answer, seen = watched(model, inputs)
    assert answer.dtype == dtype
    assert str(seen.layers[0].entropy.dtype) == ("float64" if dtype == torch.float64 else "float32")
    assert torch.equal(answer, watched(model, inputs, facts=None)[0])


def test_models_are_watched_side_by_side_and_in_other_threads(llama):
    bert = build(FAMILIES["bert"])
    with sl.watch(llama) as one, sl.watch(bert) as other:
        for model in (llama, bert):
            thread = threading.Thread(target=model, kwargs=inputs_for(model))
            thread.start()
            thread.join()
    assert (one.runs, other.runs) == (1, 1)
    assert_same(one[1], watched(llama, inputs_for(llama))[1][1])
    assert_same(other[1], watched(bert, inputs_for(bert))[1][1])


@pytest.mark.parametrize("setting", ["eager", "sdpa"])
def test_the_model_is_as_it_was_even_after_a_failure(setting):
    model = build(FAMILIES["t5"])
    model.set_attn_implementation(setting)
    configs = [module.config for module in model.modules() if hasattr(module, "config")]
    before = dict(hf.AttentionInterface._global_mapping)
    inputs = inputs_for(model)
    with pytest.raises(IndexError), sl.watch(model) as seen:  # noqa: PT012 (what came before stays)
        model(**inputs)
        model(**inputs | {"decoder_input_ids": torch.tensor([[99], [99]])})
    assert seen.runs == 1
    assert {config._attn_implementation for config in configs} == {setting}
    assert "generate" not in vars(model)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert dict(hf.AttentionInterface._global_mapping) == before
    watched(model, inputs)


def test_half_a_pass_leaves_nothing(llama):
    inputs = inputs_for(llama)
    broken = llama.model.layers[1].mlp.register_forward_pre_hook(lambda *_: 1 / 0)
    with sl.watch(llama) as seen:
        with pytest.raises(ZeroDivisionError):
            llama(**inputs)
        broken.remove()
        llama(**inputs)
    assert (seen.runs, len(seen)) == (1, 2)


@pytest.mark.slow
def test_a_compiled_model_is_watched(llama):
    inputs = inputs_for(llama)
    with torch.no_grad(), sl.watch(llama) as seen:
        compiled = torch.compile(llama, backend="eager")
        compiled(**inputs)
        compiled(**inputs)
    assert seen.runs == 2
    assert_same(seen.run(1)[1], watched(llama, inputs)[1][1])


@pytest.mark.parametrize("family", ["llama", "mistral", "t5", "gpt_oss", "gemma2", "whisper"])
@pytest.mark.parametrize("cache", ["dynamic", "static"])
def test_what_is_kept_are_the_lookups_that_were_seen(family, cache):
    model = build(FAMILIES[family])
    whole = inputs_for(model, (7, 5), "left")
    inputs = {name: one for name, one in whole.items() if not name.startswith("decoder_")}
    how = {"max_new_tokens": 5, "min_new_tokens": 5, "do_sample": False}
    how |= {"cache_implementation": "static"} if cache == "static" else {}
    with sl.watch(model, top=3, keep=True) as seen:
        model.generate(**inputs, **how)
        model.generate(**{name: one.flip(0) for name, one in inputs.items()}, **how)
    for number in range(2):
        made = seen.capture(run=number)
        assert len(made.layers) == len(seen.run(number))
        for kept in made.layers:
            layer = seen.run(number)[kept.name]
            weights, keys = kept.look.weights(), layer.top.keys
            first = layer.keys[0]
            again = np.take_along_axis(weights, np.maximum(keys - first, 0), -1) * (keys >= 0)
            np.testing.assert_allclose(again, layer.top.weights, atol=1e-5)


def test_what_is_kept_grows_with_the_tokens_alone(llama):
    with sl.watch(llama, keep=True, layers=[0]) as seen:
        llama.generate(torch.tensor([[5, 6, 7]]), max_new_tokens=40, min_new_tokens=40)
    (calls,) = seen._store.layers(0)
    keys = [look.problem.key for _, _, look in calls.looks]
    assert len(keys) == 40
    bases = {id(one.base) for one in keys}
    assert len(bases) <= 6  # doubled, never once a step


def test_what_was_received_grows_with_the_tokens_alone(llama):
    with sl.watch(llama, layers=[0]) as seen:
        llama.generate(torch.tensor([[5, 6, 7]]), max_new_tokens=40, min_new_tokens=40)
        (calls,) = seen._store.layers(0)
        assert all(piece.received is None for piece in calls._pieces)
    layer = seen[0]
    assert layer.received.shape == (1, 4, 42)
    np.testing.assert_allclose(layer.received.sum(-1), 42, atol=1e-3)
