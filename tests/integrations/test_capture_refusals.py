"""What cannot be recorded faithfully is refused by name: what it must say, and what to do."""

import sys

import pytest

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from tiny import FAMILIES, build, deberta, falcon, inputs_for  # noqa: E402 (it needs torch)

from refusals import assert_refuses  # noqa: E402
from softlookup.errors import DtypeError, OptionError, PackageError, ShapeError  # noqa: E402
from softlookup.integrations import recording  # noqa: E402
from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models


PAIRS = torch.ones(1, 1, 3, 3, dtype=torch.int32)


def bert():
    return build(FAMILIES["bert"])


def ids(*shape):
    return {"input_ids": torch.ones(*shape, dtype=torch.long)}


def on_meta():
    with torch.device("meta"):
        return hf.BertModel(bert().config).eval()


def unrouted(make):
    model = build(make)
    return lambda: capture(model, inputs_for(model))


def with_inputs(inputs, **options):
    return lambda: capture(bert(), inputs, **options)


REFUSALS = {
    "Falcon": (unrouted(falcon), OptionError, "model", ["FalconForCausalLM", "another family"]),
    "DeBERTa": (unrouted(deberta), OptionError, "model", ["DebertaV2Model", "another family"]),
    "no model": (lambda: capture(torch.nn.Linear(2, 2), ids(1, 3)), DtypeError, "model",
                 ["Linear", "from_pretrained"]),
    "training": (lambda: capture(bert().train(), ids(1, 3)), OptionError, "model",
                 ["BertModel", "model.eval()"]),
    "meta": (lambda: capture(on_meta(), ids(1, 3)), OptionError, "model", ["meta", "BertModel"]),
    "too long": (with_inputs(ids(1, 65)), OptionError, "inputs", ["64", "65", "BertModel"]),
    "a stranger's token": (with_inputs({"input_ids": torch.tensor([[99]])}), OptionError, "inputs",
                           ["vocabulary", "BertModel", "own tokenizer"]),
    "a mask of integers": (with_inputs(ids(1, 3) | {"attention_mask": PAIRS}), DtypeError, "inputs",
                           ["int32", "mask.bool()"]),
    "a text": (with_inputs("the bank"), DtypeError, "inputs", ["str", "return_tensors"]),
    "lists": (with_inputs({"input_ids": [[1, 2]]}), DtypeError, "inputs", ["return_tensors"]),
    "nothing": (with_inputs({}), DtypeError, "inputs", ["tokenizer("]),
    "beams": (with_inputs(ids(1, 3) | {"num_beams": 4}), OptionError, "inputs",
              ["num_beams", "generate()"]),
    "a cache": (with_inputs(ids(1, 3) | {"cache": hf.DynamicCache()}), OptionError, "inputs",
                ["cache", "whole text"]),
    "a layer": (with_inputs(ids(1, 3), layers=[0, 2]), OptionError, "layers", ["0 ... 1", "2"]),
    "a head": (with_inputs(ids(1, 3), heads=[4]), OptionError, "heads", ["0 ... 3", "4"]),
    "no layers": (with_inputs(ids(1, 3), layers=[]), OptionError, "layers", ["at least one"]),
    "a negative head": (with_inputs(ids(1, 3), heads=[-1]), OptionError, "heads", ["-1"]),
    "too few texts": (with_inputs(ids(1, 3), tokens=["a", "b"]), ShapeError, "tokens", ["3", "2"]),
    "too many lists": (with_inputs(ids(1, 3), tokens=[["a"] * 3] * 2), ShapeError, "tokens",
                       ["1 batch", "2 lists"]),
    "no text": (with_inputs(ids(1, 3), tokens=[1, 2, 3]), DtypeError, "tokens", ["text"]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name):
    assert_refuses(*REFUSALS[name])


@pytest.mark.parametrize(
    ("others", "fragments"),
    [
        ({"hues": torch.zeros(1)}, ["'hues'", "not known here"]),
        ({"dropout": 0.1}, ["0.1", "model.eval()"]),
        ({"s_aux": torch.zeros(3)}, ["4 heads", "3"]),
    ],
)
def test_what_shapes_scores_in_unknown_ways_is_refused(others, fragments):
    q = torch.ones(1, 4, 3, 2)
    with pytest.raises(OptionError) as refused:
        recording.Recorder(recording.Places({})).answer(
            torch.nn.Identity(), q, q, q, None, **others
        )
    for fragment in fragments:
        assert fragment in str(refused.value)


def test_what_is_none_is_not_unknown():
    q = torch.ones(1, 4, 3, 2)
    out, weights = recording.Recorder(recording.Places({})).answer(
        torch.nn.Identity(), q, q, q, None, hues=None
    )
    assert (out.shape, weights) == ((1, 3, 4, 2), None)


class Silent(hf.PreTrainedModel):
    """A model without attention, as those of linear layers are."""

    config_class = hf.BertConfig

    def __init__(self, config):
        super().__init__(config)
        self.layer = torch.nn.Embedding(61, 2)

    def forward(self, input_ids):
        return self.layer(input_ids)


def test_a_model_that_never_calls_its_attention_is_refused():
    with pytest.raises(OptionError, match="Silent has none"):
        capture(build(lambda: Silent(hf.BertConfig())), ids(1, 3))


@pytest.mark.parametrize("version", ["4.57.6", "4.53.0"])
def test_an_older_library_is_refused(monkeypatch, version):
    model = bert()
    module = sys.modules["transformers"]  # it replaces itself as it loads, hf may be its first self
    monkeypatch.setattr(module, "__version__", version)
    with pytest.raises(PackageError, match=rf"5\.0 or newer.*{version}.*--upgrade"):
        capture(model, ids(1, 3))


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(PackageError, match=r'pip install "softlookup\[transformers\]"') as refused:
        capture(None, None)
    assert isinstance(refused.value, ImportError)
