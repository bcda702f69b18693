"""Ask every family of models in transformers whether looking changes it.

Each family is built tiny, with random weights, and reads two texts, one of them padded: unwatched,
watched with compute="model" (every bit must be the same) and watched by default (the same within
the budget). Nothing is downloaded.

    python tools/sweep_families.py --quick                       # a handful, in seconds
    python tools/sweep_families.py --only llama bart             # these
    python tools/sweep_families.py --markdown docs/families.md   # all, as a page of the docs
"""

import argparse
import inspect
import os
import re
import signal
import sys
import textwrap
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before any library reads it

import torch
import transformers
from torch.utils._pytree import tree_leaves
from transformers.models.auto import modeling_auto

import softlookup as sl
from softlookup.errors import SoftlookupError

QUICK = ("bert", "llama", "mistral", "t5", "moonshine", "bigbird_pegasus")
LENGTHS = (7, 4)  # of the two texts
MOST = 60_000_000  # parameters of a model that is built
BUDGET = 1e-4  # of the largest number, in float32
EQUAL, REFUSED, FAILED, SKIPPED = "equal", "refused", "failed", "not built"

WORDS = {
    EQUAL: "Whatever their attention, watched as unwatched.",
    REFUSED: "By a sentence that says why.",
    FAILED: "Faults.",
    SKIPPED: "Not made tiny by these means, too slow, or of inputs of a form of their own.",
}

# Sizes of a tiny model, by the names that configurations give them; the first that fits counts.
SIZES: tuple[tuple[str, Any], ...] = (
    (r"vocab_size|.*_vocab_size", 128),
    (r"(num_)?(key_value|kv)_heads|num_key_value_heads|multi_query_group_num", 2),
    (r"(n|num|encoder|decoder).*heads?|nhead|attention_heads", 4),
    (r"head_dim|d_kv|attention_head_dim|.*_head_dim|kv_channels", 8),
    (r"qk_rope_head_dim|qk_nope_head_dim|v_head_dim|(q|kv)_lora_rank", 8),
    (r"((en|de)coder_|out(put)?_|vision_)?(hidden|embedding)_(size|dim)|d_model|n_embd|dim", 32),
    (r"embed_dim|word_embed_proj_dim|projection_(size|dim)|output_dim", 32),
    (r".*(intermediate|ffn|feed_?forward|mlp_hidden)_(size|dim)|d_ff|n_inner", 32),
    (r".*intermediate_size.*", 32),
    (r"num_((hidden|encoder|decoder|block)_)?layers|n_layers?|(en|de)coder_layers|depth|layers", 2),
    (r"num_(local_|routed_)?experts|n_routed_experts|moe_num_experts", 4),
    (r"num_experts_per_tok(en)?|moe_k|top_?k_experts|moe_topk", 2),
    (r"n_group|topk_group|num_nextn_predict_layers|n_shared_experts", 1),
    (r"sliding_window|attention_window|local_attention", 6),
    (r"attention_chunk_size", 6),
    (r"max_(source_|target_)?positions?|max_position_embeddings|n_positions|n_ctx", 128),
)  # fmt: skip
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
           "padding_idx": 0}  # fmt: skip


# Ways to be tiny: the first that is built, and reads, counts.
FORMS: tuple[dict[str, Any], ...] = (
    {"sizes": True},
    {"sizes": True, "num_key_value_heads": 4, "mrope_section": [2, 1, 1]},
    {"sizes": True, "num_key_value_heads": 4, "mrope_section": [1, 1, 0]},
    {"sizes": False},
)
OF_THE_LARGE = {"model_type", "transformers_version", "architectures", "out_features",
                "out_indices", "stage_names", "per_layer_config"}  # fmt: skip


class Outcome(NamedTuple):
    """What came of one family with one kind of attention."""

    family: str
    attention: str
    result: str
    layers: int
    said: str


class TimeError(Exception):
    """A family took too long."""


class UnbuiltError(Exception):
    """A family could not be built, or does not run without being watched."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Stop what takes longer."""

    def stop(*_: Any) -> None:
        raise TimeError(f"it took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def shrunk(given: Mapping[str, Any], form: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration's arguments for a tiny model of one of the `FORMS`."""
    depth = next((one for name, one in given.items() if _is_depth(name)), None)
    return {
        name: _shrunk_one(name, one, given, form, depth)
        for name, one in given.items() if name not in OF_THE_LARGE
    }  # fmt: skip


def _shrunk_one(name: str, one: Any, given: Mapping[str, Any], form: Mapping[str, Any],
                depth: Any) -> Any:  # fmt: skip
    size = form.get(name, _size_of(name))
    if isinstance(one, Mapping):
        return shrunk(one, form) if "config" in name else _turned(one, form)
    if isinstance(one, list) and len(one) == depth:
        other = next((kind for kind in one[1:] if kind != one[0]), one[1])
        return [one[0], other]  # two layers, of two kinds where there are
    if not isinstance(one, int) or isinstance(one, bool):
        return one
    if name in SPECIAL:
        return SPECIAL[name]
    if name.endswith("_token_id"):
        return 100 + sum(map(ord, name)) % 20
    if name == "image_size" and isinstance(given.get("patch_size"), int):
        return 2 * given["patch_size"]
    if size is None or one <= 0 or not (form["sizes"] or _is_depth(name) or "vocab" in name):
        return one
    return min(one, size)


def _is_depth(name: str) -> bool:
    return _size_of(name) == 2 and ("layer" in name or name == "depth")


def _size_of(name: str) -> int | None:
    return next((size for pattern, size in SIZES if re.fullmatch(pattern, name)), None)


def _turned(rope: Mapping[str, Any], form: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of rotary positions for heads of 8."""
    made = {name: _turned(one, form) if isinstance(one, Mapping) else one
            for name, one in rope.items()}  # fmt: skip
    if "rope_theta" in made and made["rope_theta"] is None:
        made["rope_theta"] = 10000.0
    if "rope_type" in made and "mrope_section" in form:
        made["mrope_section"] = form["mrope_section"]
    return made


def model_and_input(family: str, attention: str | None) -> tuple[Any, dict[str, Any]]:
    """Return a tiny model of a family, and what it reads."""
    reasons = []
    for form in FORMS:
        try:
            model = built(family, attention, form)
            return model, readable_input(model)
        except TimeError:
            raise
        except Exception as error:  # noqa: BLE001 (each way in which a family cannot be built)
            reasons.append(str(error) if isinstance(error, UnbuiltError) else said(error))
    raise UnbuiltError(reasons[0])


def built(family: str, attention: str | None, form: Mapping[str, Any]) -> Any:
    """Return a tiny model of a family, with weights that are drawn larger than fresh ones."""
    kind = transformers.CONFIG_MAPPING[family]
    config = kind(**shrunk(kind().to_dict(), form))
    made = modeling_auto.MODEL_MAPPING[kind]
    made = made[0] if isinstance(made, tuple) else made
    how = {} if attention is None else {"attn_implementation": attention}
    with torch.device("meta"):
        blank = made._from_config(config, **how)  # noqa: SLF001 (what AutoModel.from_config calls)
        count = sum(one.numel() for one in blank.parameters())
    if count > MOST:
        raise UnbuiltError(f"its smallest form has {count:,} parameters")
    torch.manual_seed(7)
    return drawn(made._from_config(config, **how).eval())  # noqa: SLF001 (as above)


def drawn(model: Any) -> Any:
    """Return the model with larger weights, so that its attention is far from uniform."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 2 and weight.is_floating_point():
                weight.normal_(0, 0.15)
            if "sink" in name:
                weight.normal_(0, 1)
    return model


def said(error: BaseException) -> str:
    """Return an error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]


def inputs_of(model: Any) -> Iterator[dict[str, Any]]:
    """Return what a model may read, the likeliest first."""
    known = inspect.signature(model.forward).parameters
    torch.manual_seed(11)
    ids = torch.randint(3, 90, (2, LENGTHS[0]))
    mask = torch.tensor([[1] * n + [0] * (LENGTHS[0] - n) for n in LENGTHS])
    text = {"input_ids": ids * mask, "attention_mask": mask}
    decoded = {"decoder_input_ids": torch.randint(3, 90, (2, 5))}
    config = model.config
    vision = getattr(config, "vision_config", None) or config
    size = getattr(vision, "image_size", None) or 32
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    channels = getattr(vision, "num_channels", 3) or 3
    pixels = {"pixel_values": torch.randn(2, channels, height, width)}
    named = ("num_mel_bins", "feature_size", "input_feat_per_channel")
    mels = next(
        (getattr(config, n) for n in named if isinstance(getattr(config, n, None), int)), 80
    )
    frames = 2 * (getattr(config, "max_source_positions", None) or 32)
    features = [torch.randn(2, mels, frames), torch.randn(2, frames, mels)]
    sound = torch.ones(2, frames, dtype=torch.long)
    sound[1, frames // 2 :] = 0
    wave = torch.ones(2, 4000, dtype=torch.long)
    wave[1, 2000:] = 0
    for some in (
        text, text | pixels, pixels,
        *({"input_features": one, "attention_mask": sound} for one in features),
        *({"input_features": one} for one in features),
        {"input_values": torch.randn(2, 4000), "attention_mask": wave},
        {"input_values": torch.randn(2, 1, 4000)},
    ):  # fmt: skip
        if next(iter(some)) not in known:
            continue
        given = some | decoded
        yield {name: one for name, one in given.items() if name in known}


def answer_of(model: Any, given: dict[str, Any], **asked: Any) -> tuple[list[Any], int]:
    """Return the numbers that a model answers with, and how many layers were seen."""
    torch.manual_seed(3)
    with torch.no_grad():
        if not asked:
            return numbers_of(model(**given)), 0
        with sl.watch(model, **asked) as seen:
            found = numbers_of(model(**given))
    return found, len(seen)


def numbers_of(outputs: Any) -> list[Any]:
    """Return the floats in what a model answered; caches are left out."""
    left_out = {"past_key_values", "cache", "cache_params", "rope_deltas"}
    kept = [one for name, one in outputs.items() if name not in left_out]
    return [
        one
        for one in tree_leaves(kept)
        if isinstance(one, torch.Tensor) and one.is_floating_point()
    ]


def readable_input(model: Any) -> dict[str, Any]:
    """Return what the model reads, and reads alike twice."""
    reasons = []
    for given in inputs_of(model):
        try:
            first, again = (answer_of(model, given)[0] for _ in range(2))
        except TimeError:
            raise
        except Exception as error:  # noqa: BLE001 (it wants something else)
            reasons.append(said(error))
            continue
        if not first:
            reasons.append("it answers with no numbers")
        elif not all(map(same, first, again)):
            reasons.append("it does not answer twice alike")
        elif not all(bool(one.isfinite().any()) for one in first):
            reasons.append("it answers with NaN")
        else:
            return given
    raise UnbuiltError(reasons[0] if reasons else "it reads neither text nor images nor sound")


def same(one: Any, other: Any) -> bool:
    """Return whether two tensors are equal, bit for bit, NaN too."""
    return one.shape == other.shape and bool(((one == other) | (one.isnan() & other.isnan())).all())


def distance(one: Any, other: Any) -> float:
    """Return how far tokens of two answers lie apart, in parts of the largest number."""
    rows: Any = ...
    if one.ndim > 2 and len(one) == 2:
        # The second half of the second is padding, whose rows may see no key at all.
        rows = torch.ones(one.shape[:2], dtype=torch.bool)
        rows[1, (one.shape[1] + 1) // 2 :] = False
    apart = (one - other)[rows].nan_to_num().abs()
    return float(apart.max() / one[rows].nan_to_num().abs().max().clamp(min=1e-6))


def asked_about(family: str, attention: str | None, seconds: int) -> Outcome:
    """Return what comes of one family."""
    name = attention or "as it loads"
    try:
        with limited(seconds):
            model, given = model_and_input(family, attention)
            name = model.config._attn_implementation  # noqa: SLF001 (its only name)
            plain, _ = answer_of(model, given)
            own, layers = answer_of(model, given, compute="model")
            ours, _ = answer_of(model, given, compute="softlookup")
    except (TimeError, UnbuiltError) as error:
        return Outcome(family, name, SKIPPED, 0, str(error))
    except SoftlookupError as error:
        return Outcome(family, name, REFUSED, 0, str(error))
    except Exception as error:  # noqa: BLE001 (whatever it is, it is told)
        return Outcome(family, name, FAILED, 0, said(error))
    if not all(map(same, plain, own)):
        return Outcome(family, name, FAILED, layers, 'compute="model" changes bits')
    apart = max(map(distance, plain, ours))
    if not apart <= BUDGET:
        return Outcome(family, name, FAILED, layers, f"softlookup's answer is {apart:.1e} away")
    return Outcome(family, name, EQUAL, layers, "")


def swept(families: list[str], seconds: int) -> Iterator[Outcome]:
    """Ask families one after the other; those that load with sdpa are asked as eager, too."""
    for family in families:
        first = asked_about(family, None, seconds)
        yield first
        if first.attention == "sdpa":
            yield asked_about(family, "eager", seconds)


def page(outcomes: list[Outcome]) -> str:
    """Return the outcomes as a page of the docs."""
    counts = Counter(one.result for one in outcomes)
    families = len({one.family for one in outcomes})
    versions = (
        f"transformers {transformers.__version__} and torch {torch.__version__.partition('+')[0]}"
    )
    lines = [
        "# Families of models",
        "",
        "Does looking change a model? `python tools/sweep_families.py` builds every family of",
        "transformers that can be made tiny, with random weights. Each reads two texts (or images,",
        'or sounds), one of them padded: unwatched; watched with `compute="model"`, where every',
        "bit of its answer must be the same; and watched by default, where it may lie",
        f"{BUDGET:.0e} of its largest number away. With the attention that it loads with, and",
        "eager where that is another.",
        "",
        f"It wrote this page with {versions}:",
        f"{families} families, asked {len(outcomes)} times.",
        "",
        "| result | times |",
        "|---|---|",
        *(f"| {result} | {counts[result]} |" for result in (EQUAL, REFUSED, FAILED, SKIPPED)),
    ]
    for result, words in WORDS.items():
        some = [one for one in outcomes if one.result == result]
        names = list(dict.fromkeys(one.family for one in some))
        if not some:
            continue
        lines += ["", f"## {result.capitalize()}", "", words, ""]
        if result in {EQUAL, SKIPPED}:
            lines += textwrap.wrap(", ".join(f"`{name}`" for name in names) + ".", 100)
            continue
        lines += ["| why | families |", "|---|---|"]
        for why in dict.fromkeys(_alike(one) for one in some):
            which = dict.fromkeys(f"`{one.family}`" for one in some if _alike(one) == why)
            lines.append(f"| {escaped(why)} | {', '.join(which)} |")
    return "\n".join(lines) + "\n"


def _alike(outcome: Outcome) -> str:
    """Return why, without the name of the class: alike for families that are alike."""
    return re.sub(r"; \w+ does its own", "; it does its own", outcome.said)


def escaped(text: str) -> str:
    """Return a text that is text in a cell of a table."""
    return re.sub(r"([|<>\[\]`*_])", r"\\\1", text)


def main() -> int:
    """Sweep, print a line a family, and say how many failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a handful of families")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these families")
    parser.add_argument("--seconds", type=int, default=60, help="the most that a family may take")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write a page")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    families = given.only or (QUICK if given.quick else modeling_auto.MODEL_MAPPING_NAMES)
    outcomes, begun = [], time.perf_counter()
    for one in swept(list(families), given.seconds):
        outcomes.append(one)
        print(
            f"{one.family:32} {one.attention:12} {one.result:10} {one.layers:3} {one.said}",
            flush=True,
        )
    counts = Counter(one.result for one in outcomes)
    seconds = time.perf_counter() - begun
    print(", ".join(f"{n} {result}" for result, n in counts.items()), f"in {seconds:.0f} s")
    if given.markdown is not None:
        given.markdown.write_text(page(outcomes), encoding="utf-8")
    return 1 if counts[FAILED] else 0


if __name__ == "__main__":
    sys.exit(main())
