"""What cannot be watched faithfully is refused by name: what it must say, and what to do."""

import inspect
import sys

import pytest

import softlookup as sl

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from test_capture_refusals import Silent, on_meta  # noqa: E402 (it needs torch)
from tiny import FAMILIES, build, deberta, falcon, inputs_for  # noqa: E402

from refusals import assert_refuses  # noqa: E402
from softlookup.errors import (  # noqa: E402
    DtypeError,
    OptionError,
    OptionNameError,
    PackageError,
    ShapeError,
)
from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models


def llama():
    return build(FAMILIES["llama"])


def forward(make=llama, **asked):
    """Return a call that watches one pass."""

    def call():
        model = make()
        with sl.watch(model, **asked):
            model(**inputs_for(model))

    return call


def generation(make=llama, from_rows=None, **how):
    """Return a call that watches what a model writes."""

    def call():
        model = make()
        with sl.watch(model, from_rows=from_rows):
            model.generate(**inputs_for(model), max_new_tokens=2, **how)

    return call


def twice(inner):
    def call():
        model = llama()
        with sl.watch(model):
            inner(model)

    return call


def watch_again(model):
    with sl.watch(model):
        pass


def by_position(*given):
    return twice(lambda model: model.generate(inputs_for(model)["input_ids"], *given[1:]))


def of_configured_beams():
    model = llama()
    model.generation_config.num_beams = 3
    with sl.watch(model):
        model.generate(**inputs_for(model), generation_config=hf.GenerationConfig(max_length=9))


def used_twice():
    model = llama()
    watching = sl.watch(model)
    for _ in range(2):
        with watching:
            model(**inputs_for(model))


def of_a_layer(model):
    ids = inputs_for(model)["input_ids"]
    hidden = model.model.embed_tokens(ids)
    turned = model.model.rotary_emb(hidden, torch.arange(ids.shape[1])[None])
    return {"hidden_states": hidden, "position_embeddings": turned, "attention_mask": None}


def resets(model):
    model(**inputs_for(model))
    model.set_attn_implementation("eager")
    model(**inputs_for(model))


def idle():
    with sl.watch(llama()):
        pass


def silent():
    return build(lambda: Silent(hf.BertConfig()))


def of_silence():
    model = silent()
    with sl.watch(model):
        model(torch.ones(1, 3, dtype=torch.long))


def dropping():
    model = llama()
    model.model.layers[0].self_attn.train()
    model.model.layers[0].self_attn.attention_dropout = 0.1
    return model


def whole(model):
    with sl.watch(model, repeats=True):
        model(**inputs_for(model))


def behind_a_cache():
    model = llama()
    ids = inputs_for(model)["input_ids"]
    cache = model(ids[:, :5], use_cache=True).past_key_values
    named = {"cache", "past_key_values"} & set(inspect.signature(model.forward).parameters)
    whole(model)
    with sl.watch(model, repeats=True):
        model(ids[:, 5:], **{min(named): cache})


def of_vectors():
    model = llama()
    with sl.watch(model, repeats=True):
        model(inputs_embeds=torch.ones(1, 4, 24))


def of_patches():
    whole(build(FAMILIES["vit"]))


def aligned(**asked):
    """Return a call that has Whisper align its words, which must not begin to work."""

    def call():
        model = build(FAMILIES["whisper"])
        model.model.encoder.register_forward_pre_hook(lambda *_: 1 / 0)
        with sl.watch(model, **asked):
            model.generate(torch.zeros(1, 5, 22), return_token_timestamps=True)

    return call


REFUSALS = {
    "Falcon": (forward(lambda: build(falcon)), OptionError, "model",
               ["FalconForCausalLM", "another family"]),
    "DeBERTa": (forward(lambda: build(deberta)), OptionError, "model",
                ["DebertaV2Model", "another family"]),
    "no model": (lambda: sl.watch(torch.nn.Linear(2, 2)), DtypeError, "model",
                 ["Linear", "from_pretrained"]),
    "training": (forward(lambda: llama().train()), OptionError, "model",
                 ["LlamaForCausalLM", "model.eval()"]),
    "dropout": (forward(dropping), OptionError, "model", ["0.1", "model.eval()"]),
    "meta": (forward(on_meta), OptionError, "model", ["meta", "BertModel"]),
    "nothing runs": (idle, OptionError, "model", ["LlamaForCausalLM", "inside the with block"]),
    "no attention": (of_silence, OptionError, "model", ["Silent has none"]),
    "twice": (twice(watch_again), OptionError, "model", ["one at a time", "End that with block"]),
    "a capture within": (twice(lambda model: capture(model, inputs_for(model))), OptionError,
                         "model", ["one at a time", "End that with block"]),
    "beams": (generation(num_beams=3), OptionError, "num_beams", ["3", "num_beams=1"]),
    "configured beams": (generation(generation_config=hf.GenerationConfig(num_beams=2)),
                         OptionError, "num_beams", ["2"]),
    "guesses": (generation(prompt_lookup_num_tokens=2), OptionError, "prompt_lookup_num_tokens",
                ["takes tokens back"]),
    "an assistant": (generation(assistant_model=object()), OptionError, "assistant_model",
                     ["takes tokens back"]),
    "beams of the model": (of_configured_beams, OptionError, "num_beams", ["3"]),
    "beams beside it": (generation(generation_config=hf.GenerationConfig(max_length=9),
                                   num_beams=2), OptionError, "num_beams", ["2"]),
    "beams by position": (by_position(None, hf.GenerationConfig(num_beams=4)), OptionError,
                          "num_beams", ["4"]),
    "an assistant by position": (by_position(*[None] * 6, object()), OptionError,
                                 "assistant_model", ["takes tokens back"]),
    "guidance": (generation(guidance_scale=2.0), OptionError, "guidance_scale", ["second text"]),
    "words that are aligned": (aligned(), OptionError, "return_token_timestamps",
                               ["Whisper", "Generate without it"]),
    "words aligned by the model": (aligned(compute="model"), OptionError,
                                   "return_token_timestamps", ["Whisper"]),
    "repeats behind a cache": (behind_a_cache, OptionError, "repeats",
                               ["LlamaForCausalLM", "cache", "input_ids"]),
    "repeats of vectors": (of_vectors, OptionError, "repeats", ["LlamaForCausalLM", "input_ids"]),
    "repeats of patches": (of_patches, OptionError, "repeats", ["ViTModel", "leave repeats out"]),
    "a paged cache": (generation(cache_implementation="paged"), OptionError,
                      "cache_implementation", ["cannot be followed"]),
    "batches that never end": (twice(lambda model: model.generate_batch([[7, 8]])), OptionError,
                               "generate_batch", ["cannot be followed", "generate()"]),
    "who answers": (forward(compute="sdpa"), OptionError, "compute", ["'sdpa'", '"model"']),
    "a flag": (forward(entropy=1), DtypeError, "entropy", ["True or False"]),
    "facts": (forward(facts="all"), DtypeError, "facts", ["True or False", "all"]),
    "no keys": (forward(top=0), OptionError, "top", ["from 1", "0"]),
    "rows of nothing": (forward(received=False, from_rows=[0]), OptionError, "from_rows",
                        ["received=True"]),
    "rows of nowhere": (forward(from_rows=[0.5]), DtypeError, "from_rows", ["float64"]),
    "rows that no token has": (forward(from_rows=[3, 99]), OptionError, "from_rows",
                               ["0 ... 6", "99"]),
    "flags that no token has": (forward(from_rows=[False] * 8 + [True]), OptionError, "from_rows",
                                ["0 ... 6", "8"]),
    "rows that nobody writes": (generation(from_rows=[8]), OptionError, "from_rows",
                                ["0 ... 7", "8"]),
    "rows from the end": (forward(from_rows=[2, -1]), OptionError, "from_rows",
                          ["from 0", "-1"]),
    "a slice from the end": (forward(from_rows=slice(-2, None)), OptionError, "from_rows",
                             ["from 0", "-2"]),
    "a number of nothing": (forward(progress=3), DtypeError, "progress", ["function", "int"]),
    "no tokenizer": (forward(tokenizer=3), DtypeError, "tokenizer", ["tokenizer", "int"]),
    "half a layer": (forward(layers=3.5), OptionError, "layers", ["3.5"]),
    "layers of a kind": (forward(layers={0: None, "x": 2.5}), OptionError, "layers", ["'x'"]),
    "heads that are none": (forward(heads=[True]), OptionError, "heads", ["from 0", "True"]),
    "a path without attention": (forward(layers=["model.embed_tokens"]), OptionError, "layers",
                                 ["'model.embed_tokens'", "no attention"]),
    "one watch twice": (used_twice, OptionError, "model", ["anew in each block"]),
    "its forward": (twice(lambda model: model.model.layers[0].self_attn(**of_a_layer(model))),
                    OptionError, "model", ["model(...)", "1 attention call"]),
    "weights": (twice(lambda model: model(**inputs_for(model), output_attentions=True)),
                OptionError, "output_attentions", ['compute="model"']),
    "another setting": (twice(resets), OptionError, "model", ["'eager'", "before the block"]),
    "a layer": (forward(layers=[0, 2]), OptionError, "layers", ["0 ... 1", "2"]),
    "a path": (forward(layers=["model.layer.0"]), OptionError, "layers",
               ["'model.layer.0'", "print(model)"]),
    "no layers": (forward(layers=[]), OptionError, "layers", ["at least one"]),
    "a head": (forward(heads=[4]), OptionError, "heads", ["0 ... 3", "4"]),
    "no heads": (forward(heads=[]), OptionError, "heads", ["at least one"]),
    "labels that no token has": (forward(groups=[0] * 9), ShapeError, "groups",
                                 ["each of 7", "9", "generate()"]),
    "too few labels": (forward(groups=[0, 1]), ShapeError, "groups", ["7", "2"]),
    "labels that are none": (forward(groups=[0.5] * 7), DtypeError, "groups", ["integers"]),
    "too many labels": (forward(groups=list(range(250, 257))), OptionError, "groups", ["256"]),
    "sinks that are not there": (forward(sink=True), OptionError, "sink",
                                 ["LlamaForCausalLM", "Leave it out"]),
    "an unknown option": (forward(entropies=True), OptionNameError, "entropies", ["entropy="]),
    "too few texts": (forward(tokens=["a"]), ShapeError, "tokens", ["7", "1"]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name):
    assert_refuses(*REFUSALS[name])


def test_what_shapes_scores_in_unknown_ways_is_refused():
    model = llama()
    attention = model.model.layers[1].self_attn
    inner = attention.forward
    attention.forward = lambda *args, **more: inner(*args, **more, hues=torch.zeros(1))
    with pytest.raises(OptionError, match=r"'hues'.*not known here"), sl.watch(model):
        model(**inputs_for(model))
    assert model.config._attn_implementation == "sdpa"


def test_tokens_that_are_taken_back_are_refused(monkeypatch):
    """Whoever generates: a step that does not go on where the one before ended."""
    model = llama()
    ids = inputs_for(model)["input_ids"]
    named = {"cache", "past_key_values"} & set(inspect.signature(model.forward).parameters)

    def guess(model):
        cache = model(ids, use_cache=True).past_key_values
        cache.crop(-2)
        model(ids[:, 5:], **{min(named): cache})

    monkeypatch.setattr(type(model), "generate", guess)
    with pytest.raises(OptionError, match=r"token 7; it went to token 5"), sl.watch(model):
        model.generate()


def test_an_older_library_is_refused(monkeypatch):
    model = llama()
    module = sys.modules["transformers"]  # it replaces itself as it loads, hf may be its first self
    monkeypatch.setattr(module, "__version__", "4.57.6")
    with pytest.raises(PackageError, match=r"5\.0 or newer.*4\.57\.6.*--upgrade"):
        sl.watch(model)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(PackageError, match=r'pip install "softlookup\[transformers\]"'):
        sl.watch(None)
