"""`groups` and `from_rows` as functions of token ids: texts of any length, written tokens too."""

import numpy as np
import pytest

import softlookup as sl

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from tiny import FAMILIES, build, inputs_for  # noqa: E402 (they need torch)

from softlookup.errors import DtypeError, OptionError, ShapeError  # noqa: E402

pytestmark = pytest.mark.models
GROUPS = 3


def labels_of(ids):
    return np.where(ids % 4 == 3, -1, ids % 4)


def rows_of(ids):
    return ids % 2 == 0


@pytest.fixture
def llama():
    return build(FAMILIES["llama"])


def eager(make, ids, **more):
    """Return the weights (layers, batch, heads, rows, keys) of the model's eager attention."""
    model = build(make)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        return torch.stack(model(ids, output_attentions=True, **more).attentions).double().numpy()


def assert_shares(layer, weights, ids):
    """Assert that a layer saw the shares of the labels, and what the chosen rows read."""
    labels = labels_of(ids)
    shares = np.einsum(
        "bhij,bjg->bhig", weights, (labels[..., None] == range(GROUPS)).astype(float)
    )
    np.testing.assert_allclose(layer.groups, shares[..., : layer.groups.shape[-1]], atol=1e-5)
    rows = rows_of(ids)[:, : weights.shape[2]]
    np.testing.assert_allclose(
        layer.received, np.einsum("bhij,bi->bhj", weights, rows.astype(float)), atol=1e-5
    )


def test_texts_of_other_lengths_have_labels_and_rows_of_their_own(llama):
    texts = [torch.tensor([[7, 8, 9, 10, 11]]), torch.tensor([[3, 4, 6], [5, 2, 12]])]
    with torch.no_grad(), sl.watch(llama, groups=labels_of, from_rows=rows_of) as seen:
        for ids in texts:
            llama(ids)
    for number, ids in enumerate(texts):
        weights = eager(FAMILIES["llama"], ids)
        for layer, one in zip(seen.run(number), weights, strict=True):
            assert_shares(layer, one, ids.numpy())


def test_what_generate_writes_has_labels_too(llama):
    asked = []

    def labels(ids):
        asked.append(ids.shape)
        found = labels_of(ids)
        ids[:] = 0  # the model's own are others
        return found

    prompt = torch.tensor([[7, 8, 9, 10, 11]])
    with sl.watch(llama, groups=labels, from_rows=rows_of) as seen:
        whole = llama.generate(prompt, max_new_tokens=4, min_new_tokens=4, do_sample=False)
    assert asked == [(1, 5), (1, 6), (1, 7), (1, 8)], "once a pass, of all that is there"
    read = whole[:, :-1]
    for layer, weights in zip(seen, eager(FAMILIES["llama"], read), strict=True):
        assert_shares(layer, weights, read.numpy())


def test_an_encoder_labels_the_input_and_rows_are_of_their_own_text():
    model = build(FAMILIES["t5"])
    ids, target = torch.tensor([[7, 8, 9, 10, 11, 13]]), torch.tensor([[3, 4, 6, 9]])
    asked = {"groups": labels_of, "from_rows": rows_of}
    with torch.no_grad(), sl.watch(model, **asked) as seen:
        model(input_ids=ids, decoder_input_ids=target)
    with torch.no_grad(), sl.watch(model, layers=["decoder"], **asked) as cross:
        model(input_ids=ids, decoder_input_ids=target)
    fixed = labels_of(ids.numpy())
    with torch.no_grad(), sl.watch(model, groups=fixed) as labelled:
        model(input_ids=ids, decoder_input_ids=target)
    for layer in seen:
        own = ids if layer.part == "encoder" else target
        with torch.no_grad(), sl.watch(model, from_rows=rows_of(own.numpy())) as chosen:
            model(input_ids=ids, decoder_input_ids=target)
        np.testing.assert_array_equal(layer.received, chosen[layer.part, layer.number].received)
        if layer.part == "decoder":
            assert "groups" not in layer.asked
        else:
            np.testing.assert_array_equal(layer.groups, labelled[layer.part, layer.number].groups)
    np.testing.assert_array_equal(cross["cross", 0].groups, labelled["cross", 0].groups)
    with sl.watch(model, **asked) as written:
        model.generate(ids, max_new_tokens=3, min_new_tokens=3, do_sample=False)
    first = written["cross", 0].groups[:, :, :1].shape
    assert first == (1, 4, 1, 3)
    np.testing.assert_array_equal(written["encoder", 0].groups, labelled["encoder", 0].groups)


def test_padding_and_answers_by_the_model_change_nothing(llama):
    inputs = inputs_for(llama, (7, 4), "left")
    ids = inputs["input_ids"].numpy()
    with torch.no_grad(), sl.watch(llama, groups=labels_of(ids), from_rows=rows_of(ids)) as fixed:
        llama(**inputs)
    asked = {"groups": labels_of, "from_rows": rows_of}
    for compute in ("softlookup", "model"):
        with torch.no_grad(), sl.watch(llama, compute=compute, **asked) as seen:
            llama(**inputs)
        for layer, one in zip(seen, fixed, strict=True):
            np.testing.assert_allclose(layer.groups, one.groups, atol=1e-6)
            np.testing.assert_allclose(layer.received, one.received, atol=1e-6)


REFUSALS = {
    "too few labels": ({"groups": lambda ids: [0, 1]}, ShapeError, "groups",
                       ["(5,) or (1, 5)", "(2,)"]),
    "another batch": ({"groups": lambda ids: [[0] * 5] * 2}, ShapeError, "groups", ["(2, 5)"]),
    "labels that are none": ({"groups": lambda ids: ids / 2}, DtypeError, "groups", ["float64"]),
    "nothing": ({"groups": lambda ids: None}, DtypeError, "groups", []),
    "too many": ({"groups": lambda ids: ids + 300}, OptionError, "groups", ["256"]),
    "rows from the end": ({"from_rows": lambda ids: [-1]}, OptionError, "from_rows", ["from 0"]),
    "rows of nowhere": ({"from_rows": lambda ids: [0.5]}, DtypeError, "from_rows", ["float64"]),
    "rows beyond": ({"from_rows": lambda ids: [9]}, OptionError, "from_rows", ["0 ... 4", "9"]),
    "rows of nothing": ({"from_rows": rows_of, "received": False}, OptionError, "from_rows",
                        ["received=True"]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_what_a_function_returns_is_checked(llama, name):
    asked, kind, argument, fragments = REFUSALS[name]
    with pytest.raises(kind) as caught, sl.watch(llama, **asked):
        llama(torch.tensor([[7, 8, 9, 10, 11]]))
    assert caught.value.argument == argument
    for fragment in fragments:
        assert fragment in str(caught.value)


@pytest.mark.filterwarnings("ignore:.past_key_values. is deprecated:FutureWarning")
@pytest.mark.parametrize("name", ["groups", "from_rows"])
def test_where_no_ids_are_known_a_function_is_refused(llama, name):
    cache = llama(torch.tensor([[7, 8]]), use_cache=True).past_key_values
    given = {"embeds": {"inputs_embeds": torch.zeros(1, 5, 24)},
             "a cache": {"input_ids": torch.tensor([[9]]), "past_key_values": cache}}  # fmt: skip
    for inputs in given.values():
        with (
            pytest.raises(OptionError, match=f"^{name}: must not be a function where token ids"),
            sl.watch(llama, **{name: labels_of}),
        ):
            llama(**inputs)


def test_a_pass_that_was_cut_short_leaves_no_labels_behind(llama):
    short, long = torch.tensor([[7, 8, 9]]), torch.tensor([[7, 8, 9, 10, 11]])

    def stop(*_):
        raise KeyboardInterrupt

    with torch.no_grad(), sl.watch(llama, groups=labels_of) as seen:
        handle = llama.model.layers[1].register_forward_pre_hook(stop)
        with pytest.raises(KeyboardInterrupt):
            llama(long)
        handle.remove()
        llama(short)
    assert seen[0].groups.shape[2] == 3
