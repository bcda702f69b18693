"""A Llama with random weights, to be watched on the device; it needs transformers."""

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

import softlookup as sl
from gpu_check.checks import poisoned_call
from gpu_check.names import BLIND, CONTROL, EVERY
from gpu_check.session import Session

Tensor = Any
SMALL = {"vocab_size": 61, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
         "num_attention_heads": 2, "num_key_value_heads": 1,
         "max_position_embeddings": 512}  # fmt: skip
BILLION = {"vocab_size": 32_000, "hidden_size": 2048, "intermediate_size": 8192,
           "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8,
           "max_position_embeddings": 16_384}  # fmt: skip


def llama(session: Session, *, large: bool, layers: int | None = None) -> tuple[Any, Tensor]:
    """Return a model in half precision on the device, and ids for it to read."""
    sizes = BILLION if large else SMALL
    sizes = sizes | {"num_hidden_layers": layers or sizes["num_hidden_layers"]}
    config = LlamaConfig(**sizes, attn_implementation="sdpa")
    torch.manual_seed(session.seed)
    with torch.device(session.device):
        model = LlamaForCausalLM(config).to(session.dtype).eval()
    length = 16_384 if large else 12 if session.dry else 300
    shape = (1, length)
    ids = torch.randint(0, config.vocab_size, shape, generator=session.generator,
                        device=session.device)  # fmt: skip
    return model, ids


def words(model: Any) -> str:
    """Write how large the model is."""
    return f"Llama of {sum(p.numel() for p in model.parameters()) / 1e9:.2g} billion"


def ways(model: Any) -> dict[str, Callable[[], Any]]:
    """Return what the model is run inside of."""
    return {
        BLIND: contextlib.nullcontext,
        CONTROL: lambda: sl.watch(model, facts=None),
        EVERY: lambda: sl.watch(model),
    }


def check(session: Session) -> None:
    """Check that watching changes no bit, and tells what a layer's own queries and keys say."""
    model, ids = llama(session, large=False)

    def run(**options: Any) -> tuple[Tensor, Any]:
        with torch.no_grad(), sl.watch(model, **options) as seen:
            return model(ids, use_cache=False).logits, seen

    control = session.attempt("control", poisoned_call, run, facts=None)
    kept = session.attempt("watched", poisoned_call, run, keep=True)
    if control is None or kept is None:
        return
    session.same("the logits, watched and control", kept[0], control[0])
    if session.warming:
        return
    seen, capture = kept[1], kept[1].capture()
    for layer in (0, model.config.num_hidden_layers - 1):
        for head in (0, model.config.num_attention_heads - 1):
            exact = capture.lookup(layer, head).inspect(entropy=True, received=True, top=8)
            for fact in ("entropy", "received"):
                found = torch.as_tensor(getattr(seen[layer], fact)).cpu()[0, head]
                whole = torch.as_tensor(getattr(exact, fact)).reshape(found.shape)
                session.compare(f"layer {layer}, head {head}: {fact}", found, whole, 2e-3)


def check_waits(session: Session) -> None:
    """Check that no watched layer waits for the device: of four, as often as of two.

    Beside what the same model waits for unwatched.
    """
    found = []
    for layers in (2, 4):
        model, ids = llama(session, large=False, layers=layers)
        found.append({name: waits(_forward(model, ids, way)) for name, way in ways(model).items()})
    session.holds("a wait is counted", waits(lambda: ids.sum().item()) > 0, "torch tells of none")
    for name in (CONTROL, EVERY):
        two, four = (each[name] - each[BLIND] for each in found)
        session.holds(f"no layer waits: {name}", two == four,
                      f"{two} more waits in 2 layers, {four} in 4")  # fmt: skip


def waits(call: Callable[[], Any]) -> int:
    """Return how often a second call has the host wait for the device, as torch tells it."""
    call()  # what is new compiles, and may wait
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            call()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return sum("called a synchronizing" in str(each.message) for each in said)


def _forward(model: Any, ids: Tensor, way: Callable[[], Any]) -> Callable[[], None]:
    def call() -> None:
        with torch.no_grad(), way():
            model(ids, use_cache=False)

    return call
