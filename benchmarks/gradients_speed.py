"""How fast are the output and its gradients, beside PyTorch's own attention?

Forward and backward together, one thread, through `softlookup.attend` on tensors that require grad
and through torch's scaled_dot_product_attention, in alternating order.
"""

import argparse
import os
from collections.abc import Callable

import measure

QUESTION = __doc__.splitlines()[0]
HEADS = 8
BARS = {  # times as long as ours that torch should take at least
    ("float32", False): 1.1,
    ("float32", True): 1.4,
    ("bfloat16", False): 1.8,
    ("bfloat16", True): 1.8,
}
CLOSE = {"float32": {"rtol": 0, "atol": 1e-4}, "bfloat16": {"rtol": 0.05, "atol": 0.05}}


def main() -> None:
    """Print a row for each dtype, length, head_dim and mask; gradients must agree first."""
    options = read_arguments()
    os.environ["SOFTLOOKUP_THREADS"] = "1"
    try:
        import torch  # noqa: PLC0415 (after the arguments, so that --help comes at once)
    except ImportError:
        raise SystemExit(
            "gradients_speed: it compares with PyTorch, which is not here; run make models."
        ) from None
    torch.set_num_threads(1)
    measure.announce(QUESTION, options, f"{options.rounds} interleaved pairs; {HEADS} heads")
    print(f"  {'peer':8} PyTorch {torch.__version__}")
    print(f"{'':36}  {'softlookup':>12} {'PyTorch':>12} {'times':>6} {'bar':>5}")
    for (dtype, causal), bar in BARS.items():
        for length in (70,) if options.quick else (512, 1024, 2048):
            for dim in (64, 128):
                ours, theirs = steps(torch, dtype, length, dim, causal=causal)
                for mine, other in zip(ours(), theirs(), strict=True):
                    torch.testing.assert_close(mine, other, **CLOSE[dtype])
                pair = measure.compare(theirs, ours, options)
                print(
                    f"{dtype:8} {'causal' if causal else 'full':6} "
                    f"{(1, HEADS, length, dim)!s:19}  {pair.theirs * 1e3:9.2f} ms "
                    f"{pair.ours * 1e3:9.2f} ms {pair.ratio:6.2f} {bar:5.1f}"
                    f"{'' if pair.quiet else ' (machine busy)'}",
                    flush=True,
                )


def read_arguments() -> argparse.Namespace:
    """Return the flags; one thread is what is compared."""
    parser = measure.arguments(QUESTION, rounds=9)
    parser.set_defaults(threads=[1])
    return measure.parsed(parser)


def steps(
    torch: "object", dtype: str, length: int, dim: int, *, causal: bool
) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return one training step of each side: the output, and the gradients of its inputs."""
    import softlookup as sl  # noqa: PLC0415 (the threads are set before)

    torch.manual_seed(7)
    shape, kind = (1, HEADS, length, dim), getattr(torch, dtype)
    tensors = [torch.randn(shape, dtype=kind, requires_grad=True) for _ in range(3)]
    grad = torch.randn(shape, dtype=kind)
    theirs = torch.nn.functional.scaled_dot_product_attention

    def step(out: object) -> object:
        return torch.autograd.grad(out, tensors, grad)

    return (
        lambda: step(sl.attend(*tensors, causal=causal)),
        lambda: step(theirs(*tensors, is_causal=causal)),
    )


if __name__ == "__main__":
    main()
