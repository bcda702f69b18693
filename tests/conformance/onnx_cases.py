"""The backend cases of the ONNX Attention operator, lowered onto the options of a lookup.

ONNX speaks a dialect: one float-or-bool mask, window counts with -1 for an open side, a causal
corner that depends on what else is given, a cache to be put before the keys. Here it becomes plain
``Lookup(query, key, value, **options)`` once.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx.helper import get_attribute_value

INPUTS = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
OUTPUTS = ("Y", "present_key", "present_value", "qk_matmul_output")
INNER = ("scaled", "capped", "masked_scores", "weights")  # by qk_matmul_output_mode


@dataclass(frozen=True)
class OnnxCase:
    """One call of the operator: what goes in and what must come out, by its names."""

    name: str
    attributes: dict[str, Any]
    inputs: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]

    @property
    def packed(self):
        """Whether heads are packed into the last axis: (batch, length, heads * dim)."""
        return self.inputs["Q"].ndim == 3

    @property
    def inner(self):
        """Which inner result is returned beside the output, by our name for it."""
        return INNER[self.attributes.get("qk_matmul_output_mode", 0)]


def load_cases():
    """Return the cases of the operator itself; those of its function body are left out."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        # Importing this one module collects its cases; the public loader runs all 1,884 of ONNX.
        from onnx.backend.test.case import node
        from onnx.backend.test.case.node import attention  # noqa: F401 (for its effect)

        tests = [
            test
            for test in node._NodeTestCases
            if test.name.startswith("test_attention_") and not test.name.endswith("_expanded")
        ]
    return sorted(map(_read, tests), key=lambda case: case.name)


def _read(test):
    (call,) = test.model.graph.node
    assert call.op_type == "Attention", call.op_type
    ((given, expected),) = test.data_sets
    attributes = {item.name: get_attribute_value(item) for item in call.attribute}
    named_in = [name for name, used in zip(INPUTS, call.input, strict=False) if used]
    named_out = [name for name, used in zip(OUTPUTS, call.output, strict=False) if used]
    return OnnxCase(
        test.name.removeprefix("test_attention_"),
        attributes,
        dict(zip(named_in, given, strict=True)),
        dict(zip(named_out, expected, strict=True)),
    )


def lower(case):
    """Return (query, key, value) and the options that say the same as the operator's call."""
    query, key, value = (case.inputs[name] for name in ("Q", "K", "V"))
    if case.packed:
        heads = case.attributes["q_num_heads"], *[case.attributes["kv_num_heads"]] * 2
        query, key, value = map(_unpack, (query, key, value), heads)
    if "past_key" in case.inputs:
        key = np.concatenate([case.inputs["past_key"], key], axis=2)
        value = np.concatenate([case.inputs["past_value"], value], axis=2)
    scale, softcap = case.attributes.get("scale"), case.attributes.get("softcap", 0.0)
    return (query, key, value), {
        **_positions(case, query.shape[2]),
        **_mask(case, key.shape[2]),
        "kv_lens": case.inputs.get("nonpad_kv_seqlen"),
        "scale": scale,
        "softcap": softcap or None,
    }


def pack(array):
    """Turn (batch, heads, length, dim) into (batch, length, heads * dim)."""
    batch, heads, length, dim = array.shape
    return array.swapaxes(1, 2).reshape(batch, length, heads * dim)


def _unpack(array, heads):
    batch, length, width = array.shape
    return array.reshape(batch, length, heads, width // heads).swapaxes(1, 2)


def _positions(case, q_len):
    causal = bool(case.attributes.get("is_causal", 0))
    sides = [case.attributes.get(f"{side}_window_size", -1) for side in ("left", "right")]
    window = tuple(None if side < 0 else side for side in sides)
    if "past_key" in case.inputs:
        q_offset = case.inputs["past_key"].shape[2]
    elif "nonpad_kv_seqlen" in case.inputs:
        q_offset = case.inputs["nonpad_kv_seqlen"] - q_len  # bottom-right, negative too
    else:
        q_offset = 0  # top-left
    return {"causal": causal, "window": window, "q_offset": q_offset}


def _mask(case, kv_len):
    mask = case.inputs.get("attn_mask")
    if mask is None:
        return {}
    missing = kv_len - mask.shape[-1]  # a short mask hides the keys behind its end
    hidden = False if mask.dtype == bool else -np.inf
    tail = np.full((*mask.shape[:-1], missing), hidden, mask.dtype)
    mask = np.concatenate([mask, tail], axis=-1)
    return {"mask" if mask.dtype == bool else "bias": mask}
