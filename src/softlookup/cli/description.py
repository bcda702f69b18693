"""What ``softlookup info`` prints: a capture in a few lines."""

from typing import Any

from softlookup.captures import Capture, Layer
from softlookup.problem import Problem
from softlookup.tokens import listed, readable

MOST_TOKENS = 12


def describe(capture: Capture, what: str) -> str:
    """Return sizes, options and tokens of `capture`, which was opened as `what`."""
    lines = [readable(capture.title)]
    lines += [f"  {listed(name, 8):<8} {readable(said)}" for name, said in capture.about.items()]
    groups = _alike(capture)
    for layers in groups:
        if len(capture.layers) > 1:
            lines.append(f"  layers   {_named(layers)}")
        lines += _layer_lines(layers[0])
    if len(capture.layers) > 1:
        total = sum(_bytes(layer.look.problem) for layer in capture.layers)
        lines.append(f"  in all   {total:,} bytes of query, key and value")
    lines.append(f"  next     softlookup show {_quoted(what)}")
    return "\n".join(lines)


def _alike(capture: Capture) -> list[list[Layer]]:
    """Return the layers in groups that one description fits."""
    groups: dict[tuple[Any, ...], list[Layer]] = {}
    for layer in capture.layers:
        told = (*_layer_lines(layer), layer.part, layer.heads, layer.queries, layer.keys)
        groups.setdefault(told, []).append(layer)
    return list(groups.values())


def _named(layers: list[Layer]) -> str:
    numbers = ", ".join(str(layer.number) for layer in layers)
    part = f"{readable(layers[0].part)} " if layers[0].part else ""
    more = ", ..." if len(layers) > 1 else ""
    return f"{part}{numbers}" + (f" ({readable(layers[0].name)}{more})" if layers[0].name else "")


def _layer_lines(layer: Layer) -> list[str]:
    problem = layer.look.problem
    lines = [f"  sizes    {_sizes(problem)}"]
    if layer.heads != tuple(range(problem.heads)):
        lines.append(f"  heads    {', '.join(str(head) for head in layer.heads)}")
    return [
        *lines,
        f"  numbers  {problem.dtype}, {_bytes(problem):,} bytes of query, key and value",
        f"  options  {_options(problem)}",
        f"  queries  {_preview(layer.query_axis().tokens)}",
        f"  keys     {_preview(layer.key_axis().tokens)}",
    ]


def _sizes(problem: Problem) -> str:
    batch = f"batch {problem.batch_shape}, " if problem.batch_shape else ""
    value = problem.value_dim if problem.value is not None else "none (no value)"
    return (
        f"{batch}heads {problem.heads}, kv_heads {problem.kv_heads}, q_len {problem.q_len}, "
        f"kv_len {problem.kv_len}, head_dim {problem.head_dim}, value_dim {value}"
    )


def _bytes(problem: Problem) -> int:
    arrays = (problem.query, problem.key, problem.value)
    return sum(array.nbytes for array in arrays if array is not None)


def _options(problem: Problem) -> str:
    said = [f"scale {problem.scale:.6g}"]
    if problem.softcap is not None:
        said.append(f"softcap {problem.softcap:.6g}")
    if problem.causal:
        said.append("causal")
    if problem.window is not None:
        left, right = ("open" if side is None else side for side in problem.window)
        said.append(f"window ({left}, {right})")
    if problem.q_offset is not None and problem.q_offset.any():
        said.append(f"q_offset {_few(problem.q_offset.tolist())}")
    if problem.kv_lens is not None:
        said.append(f"kv_lens {_few(problem.kv_lens.tolist())}")
    said += [name for name in ("mask", "bias", "sinks") if getattr(problem, name) is not None]
    return ", ".join(said)


def _few(numbers: list[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:4])
    return shown if len(numbers) <= 4 else f"{shown}, and {len(numbers) - 4} more"


def _preview(tokens: tuple[str, ...]) -> str:
    if not tokens:
        return "none"
    shown = " ".join(listed(token) for token in tokens[:MOST_TOKENS])
    more = len(tokens) - MOST_TOKENS
    return shown if more <= 0 else f"{shown} and {more:,} more"


def _quoted(what: str) -> str:
    import shlex

    return shlex.quote(readable(what))
