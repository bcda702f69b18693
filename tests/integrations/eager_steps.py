"""The eager weights of all steps of a generation, joined into one matrix for each layer."""

import numpy as np
import torch
from eager import FIRST, LATER
from eager_facts import Eager

CACHES = {"dynamic": None, "static": "static"}


def prompt(given):
    """Return the inputs that a generation starts from."""
    return {name: one for name, one in given.items() if name != "decoder_input_ids"}


def generate(model, given, new=5, **asked):
    """Return what `model` writes, always as many tokens."""
    length = {"max_new_tokens": new, "min_new_tokens": new, "do_sample": False}
    return model.generate(**prompt(given), **length, return_dict_in_generate=True, **asked)


def joined(steps):
    """Return the weights of one layer over all positions, float64 (batch, heads, rows, keys).

    A step's keys are the last ones up to its last row, whichever cache holds them: a sliding one
    keeps no more than those, and what a static one holds after them is not filled yet.
    """
    total = sum(step.shape[2] for step in steps)
    whole, start = np.zeros((*steps[0].shape[:2], total, total)), 0
    for step in steps:
        stop = start + step.shape[2]
        first = max(0, stop - step.shape[3])
        whole[:, :, start:stop, first:stop] = step[..., : stop - first]
        start = stop
    return whole


def counted(mask, length):
    """Return which rows stand for a token, (batch, length): all but the padding of the prompt."""
    rows = np.ones((len(mask), length), bool)
    rows[:, : mask.shape[1]] = mask.bool().numpy()
    return rows


def eager_generation(model, given, **asked):
    """Return the tokens that are written with eager attention, and the weights of each layer.

    The layers are told by part and number, ("", 0), ("encoder", 0), ("decoder", 0), ("cross", 0).
    """
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out = generate(model, given, output_attentions=True, **asked)
    model.set_attn_implementation(before)
    mask, found = given.get("attention_mask"), {}

    def keep(part, weights, rows):
        for number, one in enumerate(weights):
            bound = FIRST if number == 0 and part != "cross" else LATER
            kept = np.ones(one.shape[::2], bool) if rows is None else rows(one.shape[2])
            found[part, number] = Eager(one, kept, bound)

    def of_prompt(length):
        return counted(mask, length)

    def each(steps):
        return [[one.double().numpy() for one in layer] for layer in zip(*steps, strict=True)]

    if not model.config.is_encoder_decoder:
        keep("", [joined(layer) for layer in each(out.attentions)], of_prompt)
        return out.sequences, found
    encoder = [one.double().numpy() for one in out.encoder_attentions]
    keep("encoder", encoder, None if mask is None else of_prompt)
    keep("decoder", [joined(layer) for layer in each(out.decoder_attentions)], None)
    cross = [np.concatenate(layer, 2) for layer in each(out.cross_attentions)]
    keep("cross", cross, None)
    return out.sequences, found
