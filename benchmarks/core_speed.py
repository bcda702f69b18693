"""How fast is the C++ core, beside PyTorch and the hardware's own limit?

One row a shape: the whole call of `backend="cpu"` (the checks of `Lookup` are made before), the
share of the multiply-adds that this core can do at all, measured in the same run, and the median of
paired ratios against PyTorch's `scaled_dot_product_attention` in its best form (decode: the query
viewed per kv head, never `enable_gqa`). Only useful operations count: causal is a triangle.
"""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import measure
import ml_dtypes
import numpy as np

from softlookup import Lookup, machine
from softlookup.backends import cpu
from softlookup.facts import Facts, build_facts

try:
    import torch
except ImportError:  # the one peer; told so in `main`
    torch = None

SHAPES = [(1, 12, 128, 64), (1, 12, 512, 64), (1, 8, 2048, 64), (1, 8, 2048, 128), (1, 4, 8192, 64)]
QUICK = [(1, 12, 128, 64)]
DECODE = [(8192, 64), (8192, 128), (32768, 64), (32768, 128)]
DTYPES = {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16, "float16": np.float16,
          "float64": np.float64}  # fmt: skip
CODES = {"float16": 0, "bfloat16": 1, "float32": 2, "float64": 3}


def peak(name: str) -> float:
    """Return how many operations a second one thread can do in registers."""
    core, isa = machine.needed_core(), machine.active()
    rounds, best = 20_000_000, 0.0
    for _ in range(5):
        start = time.perf_counter()
        operations = core.spin(isa, CODES[name if name != "float16" else "float32"], rounds)
        best = max(best, operations / (time.perf_counter() - start))
    return best


def bandwidth() -> float:
    """Return how many bytes a second one thread reads."""
    numbers, best = np.ones(2**27, np.float32), 0.0
    for _ in range(5):
        start = time.perf_counter()
        numbers.max()
        best = max(best, numbers.nbytes / (time.perf_counter() - start))
    return best


def arrays(dtype: str, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Return standard normal numbers of each shape."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape, dtype=np.float32).astype(DTYPES[dtype]) for shape in shapes]


def torch_tensors(*given: np.ndarray) -> list[object]:
    """Return tensors that share memory with the arrays."""
    tensors = []
    for array in given:
        if array.dtype == ml_dtypes.bfloat16:
            tensors.append(torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16))
        else:
            tensors.append(torch.from_numpy(array))
    return tensors


def forward_rows(options: measure.argparse.Namespace, results: list[dict[str, object]]) -> None:
    """Measure the forward pass, full and causal."""
    attention = torch.nn.functional.scaled_dot_product_attention
    for dtype in options.dtypes:
        most = peak(dtype)
        for shape in QUICK if options.quick else SHAPES:
            batch, heads, length, dim = shape
            query, key, value = arrays(dtype, shape, shape, shape)
            tensors = torch_tensors(query, key, value)
            for causal in (False, True):
                problem = Lookup(query, key, value, causal=causal).problem
                pair = measure.compare(
                    lambda problem=problem: cpu.forward(problem, Facts()),
                    lambda tensors=tensors, causal=causal: attention(*tensors, is_causal=causal),
                    options.rounds,
                )
                pairs = length * (length + 1) / 2 if causal else length * length
                rate = 4 * batch * heads * pairs * dim / pair.ours
                mask = "causal" if causal else "full"
                report(results, pair, f"{dtype} {mask} {shape}", rate / most, "of peak")


def decode_rows(options: measure.argparse.Namespace, results: list[dict[str, object]]) -> None:
    """Measure one query a head over many keys, 32 heads over 8."""
    attention = torch.nn.functional.scaled_dot_product_attention
    most = bandwidth()
    for dtype in [name for name in options.dtypes if name in ("float32", "bfloat16")]:
        for length, dim in DECODE[:1] if options.quick else DECODE:
            kv = (1, 8, length, dim)
            query, key, value = arrays(dtype, (1, 32, 1, dim), kv, kv)
            tensors = torch_tensors(query, key, value)
            tensors[0] = tensors[0].view(1, 8, 4, dim)
            problem = Lookup(query, key, value).problem
            pair = measure.compare(
                lambda problem=problem: cpu.forward(problem, Facts()),
                lambda tensors=tensors: attention(*tensors),
                options.rounds,
            )
            rate = (key.nbytes + value.nbytes) / pair.ours
            report(results, pair, f"{dtype} decode 32/8 {length} x {dim}", rate / most, "of read")


def facts_rows(options: measure.argparse.Namespace, results: list[dict[str, object]]) -> None:
    """Measure what facts cost beside the output alone."""
    asked = {
        "entropy": {"entropy": True},
        "received": {"received": True},
        "top 8": {"top": 8},
        "entropy, received, top 8": {"entropy": True, "received": True, "top": 8},
        "groups": {"groups": True},
        "distance": {"distance": True},
    }
    for shape in QUICK if options.quick else [(1, 12, 512, 64), (1, 4, 2048, 64), (1, 1, 8192, 64)]:
        problem = Lookup(*arrays("float32", shape, shape, shape)).problem
        for name, wanted in asked.items():
            given = dict(wanted)
            if "groups" in given:
                given["groups"] = np.arange(shape[2]) % 8
            facts = build_facts(problem, **given)
            pair = measure.compare(
                lambda problem=problem, facts=facts: cpu.forward(problem, facts),
                lambda problem=problem: cpu.forward(problem, Facts()),
                options.rounds,
            )
            report(results, pair, f"float32 {shape} with {name}", pair.ratio - 1, "more")


def report(
    results: list[dict[str, object]], pair: measure.Pair, name: str, share: float, of: str
) -> None:
    """Print one row, and keep it."""
    busy = "" if pair.quiet else "  (machine busy)"
    times = f"{1e3 * pair.ours:9.3f} ms  {1e3 * pair.theirs:9.3f} ms"
    print(
        f"{name:48} {times}  x {1 / pair.ratio:5.2f}  {100 * share:5.1f} % {of}{busy}", flush=True
    )
    results.append(
        {"name": name, "ms": 1e3 * pair.ours, "other_ms": 1e3 * pair.theirs,
         "times_as_fast": 1 / pair.ratio, "share": share, "of": of, "quiet": pair.quiet}
    )  # fmt: skip


PARTS: dict[str, Callable[[measure.argparse.Namespace, list[dict[str, object]]], None]] = {
    "forward": forward_rows,
    "decode": decode_rows,
    "facts": facts_rows,
}


def main() -> None:
    """Measure what is asked for, on one thread."""
    parser = measure.arguments(__doc__.splitlines()[0], rounds=15)
    parser.add_argument(
        "--dtypes", type=lambda text: text.split(","), default=["float32", "bfloat16"]
    )
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    options = parser.parse_args()
    options.threads = [1]
    os.environ[machine.THREADS] = "1"
    measure.announce(__doc__.splitlines()[0], options)
    if torch is None:
        print("This comparison needs torch: pip install torch.")
        return
    torch.set_num_threads(1)
    print(f"  {'core':8} {machine.active()}, {peak('float32') / 1e9:.0f} GFLOP/s float32, "
          f"{peak('bfloat16') / 1e9:.0f} bfloat16; torch {torch.__version__}")  # fmt: skip
    results: list[dict[str, object]] = []
    for part in options.parts:
        PARTS[part](options, results)
    if options.json:
        told = {"conditions": dict(measure.conditions()), "rows": results}
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
