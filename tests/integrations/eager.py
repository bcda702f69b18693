"""Compare a capture with the model's own eager weights, the N x N matrices it can return."""

import numpy as np
import torch

# Both runs are float32, but each rounds in its own order, and a layer reads what the layers below
# have rounded. In layer 0, which reads the same bits, a few units in the last place are left.
FIRST, LATER = 1e-6, 1e-5


def logits(outputs):
    """Return what a model answers."""
    return outputs.logits if hasattr(outputs, "logits") else outputs.last_hidden_state


def run(model, inputs, attention="sdpa", **asked):
    """Return what the model answers with one of its own kinds of attention."""
    before = model.config._attn_implementation
    model.set_attn_implementation(attention)
    with torch.no_grad():
        outputs = model(**inputs, **asked)
    model.set_attn_implementation(before)
    return outputs


def eager_weights(model, inputs):
    """Return the eager weights of each layer: encoder, decoder, cross."""
    outputs = run(model, inputs, "eager", output_attentions=True)
    if not model.config.is_encoder_decoder:
        return [one.numpy() for one in outputs.attentions]
    names = ("encoder_attentions", "decoder_attentions", "cross_attentions")
    return [one.numpy() for name in names for one in outputs[name]]


def visible_rows(layer, inputs):
    """Return which rows of each batch entry stand for a token, (batch, q_len).

    What a model computes in rows of padding depends on what it does in rows that see nothing, and
    eager attention spreads 1/N there.
    """
    problem = layer.look.problem
    rows = np.ones((problem.batch, problem.q_len), bool)
    mask = inputs.get("attention_mask")
    if layer.part in {"", "encoder"} and mask is not None:
        rows &= mask.numpy().astype(bool)
    return rows


def bound_of(layer):
    """Return how far a weight of that layer may be from the eager one."""
    return FIRST if layer.number == 0 and layer.part != "cross" else LATER


def assert_equal_to_eager(capture, model, inputs):
    """Assert that weights rebuilt from what was kept are the model's own."""
    theirs = eager_weights(model, inputs)
    assert len(capture.layers) == len(theirs)
    for layer, expected in zip(capture.layers, theirs, strict=True):
        weights = layer.look.weights()
        assert weights.shape == expected.shape
        rows = visible_rows(layer, inputs)[:, None, :, None] & np.ones_like(weights, bool)
        error = np.abs(weights - expected)[rows].max()
        bound = bound_of(layer)
        assert error <= bound, f"{layer.label}: {error}"
        mask = layer.look.problem.mask
        if mask is not None:
            dead = ~mask.array[mask.entry].any(-1)  # (batch, 1, q_len)
            assert (weights[np.broadcast_to(dead, weights.shape[:3])] == 0).all()
