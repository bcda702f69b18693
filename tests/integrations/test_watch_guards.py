"""What must not be lost, mixed up or changed in silence while a model is watched."""

import copy
import gc
import inspect
import io
import pickle
import threading

import numpy as np
import pytest

import softlookup as sl
from patience import PATIENCE

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from eager import logits, run  # noqa: E402 (they need torch)
from tiny import BESIDE, FAMILIES, LLAMA, build, inputs_for  # noqa: E402

from softlookup.errors import BackendError, OptionError  # noqa: E402
from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models

WRITES = {"max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False}


@pytest.fixture
def llama():
    return build(FAMILIES["llama"])


def interrupt(model, at):
    """Let a layer be interrupted, as by Ctrl-C, at one of its calls."""
    calls = []

    def stop(*_):
        calls.append(0)
        if len(calls) == at:
            raise KeyboardInterrupt

    return model.model.layers[1].mlp.register_forward_pre_hook(stop)


def test_second_derivatives_are_those_of_the_model(llama):
    llama.set_attn_implementation("eager")
    ids = inputs_for(llama)["input_ids"]
    embedded = llama.get_input_embeddings()(ids).detach().requires_grad_()

    def curvature():
        loss = llama(inputs_embeds=embedded).logits.square().sum()
        (slope,) = torch.autograd.grad(loss, embedded, create_graph=True)
        return torch.autograd.grad(slope.sum(), embedded)[0]

    with sl.watch(llama, compute="model") as seen:
        watched = curvature()
    assert torch.equal(watched, curvature())
    assert len(seen) == 2
    with sl.watch(llama), pytest.raises(BackendError, match=r'create_graph: .*compute="model"'):
        curvature()


def test_it_is_titled_by_the_model_and_its_text(llama):
    inputs = inputs_for(llama)
    words = [f"w{i}" for i in range(inputs["input_ids"].shape[1])]
    for name, called in (
        ("someone/a-llama", "a-llama"),
        ("folder/gone/", "gone"),
        ("/", type(llama).__name__),
    ):
        llama.name_or_path = name
        with sl.watch(llama, keep=True, tokens=[words] * len(inputs["input_ids"])) as seen:
            llama(**inputs)
        assert seen.title == called
        assert seen.capture().title == f"{called}: {' '.join(words)}"


def test_what_runs_after_an_interrupt_is_seen(llama):
    inputs = inputs_for(llama)
    interrupt(llama, 1)
    with sl.watch(llama) as seen:
        with pytest.raises(KeyboardInterrupt):
            llama(**inputs)
        llama(**inputs)
        llama.model(**inputs)
    assert (seen.runs, len(seen.run(0)), len(seen.run(1))) == (2, 2, 2)


@pytest.mark.parametrize("compute", ["softlookup", "model"])
@pytest.mark.parametrize("transform", ["grad", "vjp", "vmap"])
def test_a_transform_of_torch_func_is_refused_by_one_sentence(llama, transform, compute):
    def loss(rows):
        return llama(inputs_embeds=rows).logits.sum()

    rows = torch.ones(1, 5, llama.config.hidden_size)
    calls = {
        "grad": lambda: torch.func.grad(loss)(rows),
        "vjp": lambda: torch.func.vjp(loss, rows),
        "vmap": lambda: torch.func.vmap(loss)(rows[None]),
    }
    with sl.watch(llama, compute=compute) as seen:
        with pytest.raises(OptionError, match=r"model: must not run inside a transform of torch.f"):
            calls[transform]()
        loss(rows)
    assert seen.runs == 1


def test_what_is_written_after_an_interrupt_is_seen(llama):
    inputs = inputs_for(llama)
    interrupt(llama, 3)
    with sl.watch(llama) as seen:
        with pytest.raises(KeyboardInterrupt):
            llama.generate(**inputs, **WRITES)
        llama.generate(**inputs, **WRITES)
    assert seen.runs == 2
    np.testing.assert_array_equal(seen.run(1)[1].queries, range(10))


def test_a_block_of_passes_that_were_cut_short_is_refused(llama):
    llama.model.layers[1].mlp.register_forward_pre_hook(lambda *_: 1 / 0)

    def twice():
        with sl.watch(llama):
            for _ in range(2):
                with pytest.raises(ZeroDivisionError):
                    llama(**inputs_for(llama))

    with pytest.raises(OptionError, match=r"finish a pass.*each of 2 was cut"):
        twice()


def test_no_pass_of_another_thread_is_lost_in_silence(llama):
    """It is refused while one goes on, or seen."""
    inputs, refused, inside, go_on = inputs_for(llama), [], threading.Event(), threading.Event()

    def wait(*_):
        inside.set()
        go_on.wait(PATIENCE)

    handle = llama.model.layers[0].mlp.register_forward_pre_hook(wait)
    with sl.watch(llama) as seen:
        thread = threading.Thread(target=llama, kwargs=inputs)
        thread.start()
        inside.wait(PATIENCE)
        for call in (llama, llama.model, llama.generate):
            with pytest.raises(OptionError, match="one thread at a time"):
                call(**inputs)
            refused.append(call)
        go_on.set()
        thread.join()
        handle.remove()
        llama(**inputs)
    assert (seen.runs, len(refused), len(seen.run(0)), len(seen.run(1))) == (2, 3, 2, 2)


def test_a_flag_counts_where_the_models_own_attention_skips_the_mask():
    """PaliGemma asks for a causal mask that sdpa skips, and reads both ways."""
    image = {"hidden_size": 24, "intermediate_size": 32, "num_hidden_layers": 2,
             "num_attention_heads": 4, "image_size": 8, "patch_size": 4,
             "projection_dim": 24}  # fmt: skip
    text = LLAMA | {"head_dim": 6, "model_type": "gemma"}
    config = hf.PaliGemmaConfig(text_config=text, vision_config=image, image_token_index=60,
                                projection_dim=24, hidden_size=24)  # fmt: skip
    model = build(lambda: hf.PaliGemmaForConditionalGeneration(config))
    ids = torch.tensor([[60, 60, 60, 60, 5, 7, 8], [60, 60, 60, 60, 5, 6, 9]])
    inputs = {"input_ids": ids, "pixel_values": torch.ones(2, 3, 8, 8),
              "attention_mask": torch.ones_like(ids)}  # fmt: skip
    with torch.no_grad():
        plain = logits(model(**inputs))
        whole = model.generate(**inputs, **WRITES)
        with sl.watch(model, keep=True) as seen:
            watched = logits(model(**inputs))
            written = model.generate(**inputs, **WRITES)
    torch.testing.assert_close(watched, plain, atol=1e-4, rtol=1e-4)
    assert torch.equal(whole, written)
    for layer, kept in zip(seen.capture().layers, capture(model, inputs).layers, strict=True):
        np.testing.assert_allclose(layer.look.weights(), kept.look.weights(), atol=2e-6)


def test_labels_and_rows_are_not_asked_of_patches():
    """A tower that reads the images has patches, of which there may be more than tokens."""
    model = build(
        lambda: hf.CLIPModel(
            hf.CLIPConfig(
                text_config=LLAMA | {"projection_dim": 8, "eos_token_id": 2},
                vision_config=LLAMA | {"image_size": 16, "patch_size": 4, "projection_dim": 8},
                projection_dim=8,
            )
        )
    )
    inputs = {"input_ids": torch.tensor([[1, 7, 8, 2]]), "pixel_values": torch.ones(1, 3, 16, 16)}
    with sl.watch(model, groups=[0, 1, 1, 0], from_rows=[3]) as seen:
        model(**inputs)
    assert (seen["text", 0].groups.sum(-1) > 0.99).all()
    with pytest.raises(OptionError, match="not looked at"):
        assert seen["vision", 0].groups
    sums = {layer.part: layer.received.sum(-1).mean() for layer in seen}
    assert sums == pytest.approx({"text": 1, "vision": 17})


def test_labels_of_a_text_go_with_every_answer_to_it(llama):
    ids = torch.tensor([[7, 8, 9], [20, 21, 22]])
    labels = np.array([[0, 0, 1], [1, 2, 2]])
    with sl.watch(llama, groups=labels) as seen:
        llama.generate(ids, max_new_tokens=2, min_new_tokens=2, do_sample=True,
                       num_return_sequences=2)  # fmt: skip
    assert seen[0].groups.shape[0] == 4
    np.testing.assert_allclose(seen[0].groups[0, :, 2, 2], 0)
    assert (seen[0].groups[2, :, 2, 2] > 0).all()
    with sl.watch(llama, groups=[0, 0, 1, 2, 2, 2]) as seen:  # some for what is written
        llama.generate(ids, max_new_tokens=3, min_new_tokens=3, do_sample=False)
    assert (seen[1].groups[..., 4, 2] > 0).all()


@pytest.mark.parametrize("family", ["llama", "gpt_oss", "gemma2", "t5", "bert"])
@pytest.mark.parametrize("compute", ["softlookup", "model"])
def test_autocast_is_followed(family, compute):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, (7, 4), "left")
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        plain = logits(model(**inputs))
        with sl.watch(model, compute=compute, keep=True) as seen:
            answer = logits(model(**inputs))
        with sl.watch(model, compute=compute, facts=None):
            assert torch.equal(answer, logits(model(**inputs)))
    assert answer.dtype == plain.dtype
    if compute == "model":
        assert torch.equal(answer, plain)
    assert {str(layer.look.problem.key.dtype) for layer in seen.capture().layers} == {"bfloat16"}


def copied(model):
    return copy.deepcopy(model)


def saved(model):
    return pickle.loads(pickle.dumps(model))  # noqa: S301 (its own)


def stored(model):
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize("way", [copied, saved, stored])
@pytest.mark.parametrize("family", ["llama", "t5"])
def test_a_copy_that_is_made_meanwhile_is_a_model_of_its_own(way, family):
    model = build(FAMILIES[family])
    inputs = inputs_for(model)
    with torch.no_grad():
        plain, whole = logits(model(**inputs)), model.generate(**inputs, **WRITES)
        with sl.watch(model) as seen:
            model(**inputs)
            gone = copied(model.config)
            other = way(model)
            del gone
            other(**inputs)
        for one in (other, copied(other)):
            assert torch.equal(logits(one(**inputs)), plain)
            assert torch.equal(one.generate(**inputs, **WRITES), whole)
        with sl.watch(other) as again:
            other.generate(**inputs, **WRITES)
    assert (seen.runs, again.runs) == (1, 1)
    assert other.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("family", ["llama", "t5", "whisper"])
def test_no_name_stays_behind_that_nobody_goes_by(family):
    model = build(FAMILIES[family])
    before = dict(hf.AttentionInterface._global_mapping)
    with sl.watch(model):
        model.generate(**inputs_for(model), **WRITES)
        copied(model.config)
    gc.collect()
    assert dict(hf.AttentionInterface._global_mapping) == before


def test_numbers_of_numpy_count(llama):
    with sl.watch(llama, top=np.int64(3), layers=np.arange(1), heads=np.arange(2)) as seen:
        llama(**inputs_for(llama))
    assert [(layer.number, layer.heads, layer.top.keys.shape[-1]) for layer in seen] == [
        (0, (0, 1), 3)
    ]
    with sl.watch(llama, layers=[""]) as seen:  # the path of the model itself
        llama(**inputs_for(llama))
    assert len(seen) == 2


class Wider(hf.DynamicCache):
    """Gives one key more than it masks, as models do that compress their keys."""

    def update(self, *args, **more):
        return tuple(torch.cat([one, one[:, :, :1]], 2) for one in super().update(*args, **more))


def test_training_inside_the_block_is_watched_until_weights_are_dropped(llama):
    inputs, attention = inputs_for(llama), llama.model.layers[1].self_attn
    with torch.no_grad(), sl.watch(llama) as seen:
        plain = logits(llama(**inputs))
        llama.train()
        assert torch.equal(logits(llama(**inputs)), plain)
        attention.attention_dropout = 0.1
        with pytest.raises(OptionError, match=r"its dropout is 0\.1.*model\.eval\(\)"):
            llama(**inputs)
    assert seen.runs == 2


@pytest.mark.parametrize("compute", ["softlookup", "model"])
def test_keys_that_the_mask_does_not_know_are_refused(llama, compute):
    named = {"cache", "past_key_values"} & set(inspect.signature(llama.forward).parameters)
    with pytest.raises(OptionError, match=r"7 x 7.*7 x 8"), sl.watch(llama, compute=compute):
        llama(**inputs_for(llama, (7, 4)), **{min(named): Wider()})


def test_keys_after_the_last_query_are_left_out_where_there_is_no_mask_as_sdpa_does(llama):
    named = {"cache", "past_key_values"} & set(inspect.signature(llama.forward).parameters)
    inputs = inputs_for(llama)
    with torch.no_grad(), sl.watch(llama) as seen:
        answer = logits(llama(**inputs, **{min(named): Wider()}))
    plain = logits(run(llama, inputs))
    assert (answer - plain).abs().max() <= 1e-5 * plain.abs().max()
    assert len(seen[1].keys) == 7


def test_a_model_that_computes_with_its_mask_gets_a_tensor():
    """Doge makes numbers of it, and adds its own."""
    config = hf.DogeConfig(**LLAMA, keep_window_size=4)
    model = build(lambda: hf.DogeForCausalLM(config))
    inputs = inputs_for(model)
    with torch.no_grad():
        plain = logits(model(**inputs))
        with sl.watch(model) as seen:
            watched = logits(model(**inputs))
    torch.testing.assert_close(watched, plain, atol=1e-4, rtol=1e-4)
    assert len(seen) == 2


def test_a_family_without_sdpa_is_captured_with_its_own_masks():
    """NLLB-MoE's decoder is causal by its mask alone."""
    config = hf.NllbMoeConfig(**BESIDE, num_experts=4, expert_capacity=64,
                              max_position_embeddings=64)  # fmt: skip
    model = build(lambda: hf.NllbMoeForConditionalGeneration(config))
    made = capture(model, inputs_for(model, (7, 4), "left"))
    own = [layer for layer in made.layers if layer.part == "decoder"]
    assert own
    for layer in own:
        assert not np.triu(layer.look.weights(), 1).any()
